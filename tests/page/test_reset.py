"""The page after a reset, whoever asked for it: its controls show what the run began with, and work."""

import pytest
from running import enter, eventually, free_port, running

from pliant.page import PageServer

pytestmark = pytest.mark.network


def handles(server):
    """Return the controls by their labels: uuid and handle."""
    return {str(handle.label): (uuid, handle) for uuid, handle in server.gui._gui_input_handle_from_uuid.items()}


def numbers(server):
    """Return the value of every number and switch of the devices."""
    return {
        label: handle.value
        for label, (_, handle) in handles(server).items()
        if isinstance(handle.value, int | float)
        and (label.startswith(("kp", "ki", "kd", "equilibrium", "stiffness", "reference")) or label == "user stop")
    }


@pytest.mark.parametrize("by_the_page", [False, True])
def test_after_a_reset_sliders_modes_and_gains_are_those_of_the_start(by_the_page):
    with PageServer(port=free_port()) as server, running("qbmove-2dof", server=server) as (simulation, view):
        joint = simulation.devices["joint_2"]
        eventually(lambda: view._filled)
        first, gains = numbers(server), dict(joint.gains)
        (gain, _) = next(item for label, item in handles(server).items() if label.startswith("kp"))
        (equilibrium, _) = next(item for label, item in handles(server).items() if label.startswith("equilibrium"))
        for _ in range(2):  # what a client sets works again after a reset
            enter(server, gain, 17.0)
            eventually(lambda: 17.0 in joint.gains.values())
            (equilibrium, _) = next(item for label, item in handles(server).items() if label.startswith("equilibrium"))
            enter(server, equilibrium, 0.5)
            eventually(lambda: simulation.engine.port("joint_2/reference_1")[0] == 0.5)
            assert numbers(server) != first
            simulation.request("simulation", "reset").result(30.0)
            if by_the_page:
                view._was_reset()
            eventually(lambda: numbers(server) == first)
            assert dict(joint.gains) == gains
            assert simulation.engine.port("joint_2/reference_1")[0] != 0.5
        assert view.health()["last_error"] == ""


def test_after_a_reset_the_switches_of_an_arm_are_those_of_the_start():
    with PageServer(port=free_port()) as server, running("fr3", server=server) as (simulation, view):
        eventually(lambda: view._filled)
        before = {
            label: handle.value for label, (_, handle) in handles(server).items() if isinstance(handle.value, bool)
        }
        (box, _) = handles(server)["user stop"]
        enter(server, box, True)
        eventually(lambda: simulation.sample("franka").values["robot_mode"] == 5)
        simulation.request("simulation", "reset").result(30.0)
        eventually(lambda: simulation.time > 0.01 and simulation.sample("franka").values["robot_mode"] != 5)
        eventually(
            lambda: (
                before
                == {
                    label: handle.value
                    for label, (_, handle) in handles(server).items()
                    if isinstance(handle.value, bool)
                }
            )
        )
        assert view.health()["last_error"] == ""
