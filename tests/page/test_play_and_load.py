"""Scenarios and payloads on the page: what its lists, buttons and sliders do to the simulation."""

import numpy as np
import pytest
from running import eventually, running

from pliant.base.errors import PliantError
from pliant.events import Scenario
from pliant.events.scenario import ExternalTorque, Set
from pliant.page.payload import end_effector, largest_payload

pytestmark = pytest.mark.network
PUSH = Scenario(
    description="a push",
    events=[
        Set(at=0.0, device="joint", values={"equilibrium_position": 0.4}),
        ExternalTorque(at=0.1, device="joint", torque=0.2, duration=100.0),
    ],
)


def offer(view):
    view.offer("push.yaml", PUSH)


def press(panel, name):
    panel._buttons._impl.value = name
    panel._pressed(None)


def measured(simulation, field):
    """Return a field of the newest sample, NaN before the first."""
    try:
        return simulation.sample("joint").values[field]
    except PliantError:
        return float("nan")


def torque(simulation):
    return measured(simulation, "external_torque")


def test_a_scenario_is_started_stopped_and_begun_again_on_the_page():
    with running("sea-1dof", prepare=offer) as (simulation, view):
        panel = view._scenarios
        assert "push.yaml" in panel._choice.options
        assert "A push. 2 events" in panel._about.content
        press(panel, "Start")
        eventually(lambda: torque(simulation) == pytest.approx(0.2))
        eventually(lambda: "push.yaml" in panel._status.content and "of 100.1 s" in panel._status.content)
        press(panel, "Stop")
        eventually(lambda: torque(simulation) == 0.0)
        eventually(lambda: "push.yaml: ended" in panel._status.content)
        before = simulation.time
        press(panel, "Restart")
        time = simulation.time  # since the reset
        assert simulation.steps * simulation.engine.dt - time > before - 1e-9
        eventually(lambda: torque(simulation) == pytest.approx(0.2))
        view._run._buttons._impl.value = "Reset"
        view._run._pressed(None)
        assert panel.run is None
        before = simulation.time
        eventually(lambda: simulation.time > before + 0.2)
        assert torque(simulation) == 0.0
        assert view.health()["last_error"] == ""


def test_a_scenario_that_does_not_fit_is_told_and_the_simulation_goes_on():
    wrong = Scenario(events=[Set(at=0.0, device="elbow", values={"x": 1.0})])
    with running("sea-1dof", prepare=lambda view: view.offer("wrong.yaml", wrong)) as (simulation, view):
        panel = view._scenarios
        from pliant.page.controls import guarded

        panel._buttons._impl.value = "Start"
        guarded(view._say, panel._pressed)(None)
        assert "there is no device 'elbow'" in view.health()["last_error"]
        before = simulation.time
        eventually(lambda: simulation.time > before + 0.05)


def test_a_button_that_does_not_exist_starts_nothing():
    with running("sea-1dof", prepare=offer) as (_, view):
        with pytest.raises(PliantError, match="there is no button 'Bogus'"):
            press(view._scenarios, "Bogus")
        assert view._scenarios.run is None


def test_the_scenario_of_the_command_line_is_first_in_the_list_and_can_be_stopped():
    with running("sea-1dof", prepare=offer, install=("push.yaml", PUSH)) as (simulation, view):
        panel = view._scenarios
        assert str(panel._choice.value) == "push.yaml"
        eventually(lambda: torque(simulation) == pytest.approx(0.2))
        press(panel, "Stop")
        eventually(lambda: torque(simulation) == 0.0)


def load_it(panel, mass, offset):
    panel._mass._impl.value = mass
    for handle, value in zip(panel._offset, offset):
        handle._impl.value = value
    panel._put()


def test_the_sliders_of_the_payload_bend_the_joint_and_a_reset_removes_it():
    with running("sea-1dof") as (simulation, view):
        panel = view._payload
        eventually(lambda: abs(measured(simulation, "velocity")) < 1e-4)
        before = measured(simulation, "position")
        load_it(panel, 0.5, (0.05, 0.0, 0.0))
        assert {n: (x.mass, x.offset) for n, x in simulation.engine.payloads.loads.items()} == {
            "link": (0.5, (0.05, 0.0, 0.0))
        }
        sag = 0.5 * 9.81 * 0.05 / 200.0
        eventually(lambda: measured(simulation, "position") < before - 0.9 * sag)
        eventually(lambda: list(panel._balls._balls) == ["link"])
        view._run._buttons._impl.value = "Reset"
        view._run._pressed(None)
        assert not simulation.engine.payloads
        eventually(lambda: panel._balls._balls == {} and panel._mass.value == 0.0)
        assert view.health()["last_error"] == ""


def test_a_heavy_payload_of_a_program_widens_the_slider_and_stays_when_its_place_changes():
    with running("sea-1dof") as (simulation, view):
        panel = view._payload
        heavy = 3.0 * panel._mass.max
        simulation.submit(lambda: simulation.engine.set_payload("link", heavy, (0.05, 0.0, 0.0))).result(60.0)
        eventually(lambda: panel._mass.value == heavy)
        panel._offset[0]._impl.value = 0.02
        panel._put()
        load = simulation.engine.payloads.loads["link"]
        assert (load.mass, load.offset[0]) == (heavy, 0.02)


def test_masses_and_bodies_that_the_page_does_not_offer_are_refused_in_words():
    with running("sea-1dof") as (simulation, view):
        panel = view._payload
        with pytest.raises(PliantError, match="mass is 1000 kg; must be from 0 to"):
            load_it(panel, 1000.0, (0.05, 0.0, 0.0))
        panel._body._impl.value = "nosuch"
        with pytest.raises(PliantError, match="there is no body 'nosuch'"):
            panel._choose()
        assert not simulation.engine.payloads


def test_what_the_page_writes_into_a_slider_is_no_command():
    with running("sea-1dof") as (simulation, view):
        panel = view._payload
        panel._mass.value = 0.3  # its callbacks run without a browser's client
        before = simulation.time
        eventually(lambda: simulation.time > before + 0.1)
        assert not simulation.engine.payloads


@pytest.mark.parametrize(
    ("name", "body"), [("qbmove-5dof", "link_5"), ("franka", "franka_hand"), ("biped", "l_hand"), ("sea-1dof", "link")]
)
def test_a_payload_hangs_on_the_end_effector_at_first(name, body):
    from pliant.engine import MujocoEngine
    from pliant.robots.loading import load

    engine = MujocoEngine(load(name), check=False)
    names = engine.payloads.bodies()
    assert end_effector(engine.model, names) == body
    largest = largest_payload(engine.model, body)
    assert 0.0 < largest <= 10.0 * float(np.sum(engine.model.body_mass))


def test_a_point_that_comes_while_a_curve_is_drawn_is_no_fault():
    from collections import deque

    from pliant.page.plots import Signal, _data

    class Busy(deque):
        """Points to which one is added while they are first copied."""

        grown = False

        def __iter__(self):
            if not self.grown:
                self.grown = True
                self.append((3_000_000, 3.0))
                raise RuntimeError("deque mutated during iteration")
            return super().__iter__()

    signal = Signal("joint", "position", None, "rad", points=Busy([(1_000_000, 1.0), (2_000_000, 2.0)]))
    times, values = _data([signal])
    np.testing.assert_allclose(times, [0.001, 0.002, 0.003])
    np.testing.assert_allclose(values, [1.0, 2.0, 3.0])
