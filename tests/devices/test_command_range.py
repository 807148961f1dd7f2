"""References that a joint cannot follow are taken, and answered with one warning that names the command."""

import math

import mujoco
import pytest

from pliant.base.errors import DeviceError
from pliant.command_tables import read_commands
from pliant.devices import Board, CompliantJoint, make_devices
from pliant.engine import MujocoEngine
from pliant.engine.guard import MAX_SPEED
from pliant.events import read_scenario
from pliant.laws import SEA, CompliantActuator, Mode, QbMove
from pliant.model import Robot
from pliant.simulation import Simulation

INERTIA = 0.002
ARM = """
<mujoco model="arm"><option timestep="0.001"/>
<worldbody><body><joint name="elbow" axis="0 0 1" {limits}/>
<inertial pos="0 0 0" mass="0.2" diaginertia="0.001 0.001 {inertia}"/></body></worldbody></mujoco>
"""


def arm(law, mode, *, limits='range="-1.5 1.5" limited="true"', **options) -> Robot:
    spec = mujoco.MjSpec.from_string(ARM.format(limits=limits, inertia=INERTIA))
    spec.compiler.degree = False
    return Robot(spec, {"elbow": CompliantActuator(law, mode, **options)})


def joint_simulation(robot: Robot) -> Simulation:
    return Simulation(MujocoEngine(robot), [CompliantJoint("elbow", robot.actuators["elbow"])])


def warnings_of(caplog) -> list[str]:
    return [r.getMessage() for r in caplog.records if r.levelname == "WARNING"]


CASES = {
    "45 for 45 degrees": (
        Mode.PID_EQ_PRESET,
        {"equilibrium_position": 45.0},
        "elbow/equilibrium_position is 45 rad; expected -1.5 to 1.5 rad (the range of 'elbow'). "
        "Likely cause: degrees; 45 degrees are 0.785398 rad",
    ),
    "a negative preset": (
        Mode.PID_EQ_PRESET,
        {"stiffness_preset": -0.2},
        "elbow/stiffness_preset is -0.2 rad; expected 0 to 0.8 rad (from no preset to where both springs of 'elbow' "
        "are at their ends). Likely cause: a wrong sign; a negative preset exchanges the two motors",
    ),
    "a preset that clips both springs": (
        Mode.SPRING_EQ_PRESET,
        {"stiffness_preset": 0.9},
        "elbow/stiffness_preset is 0.9 rad; expected 0 to 0.8 rad",
    ),
    "a stiffness for a preset": (Mode.SPRING_EQ_PRESET, {"stiffness_preset": 20.0}, "20 degrees are 0.349066 rad"),
    "a motor beyond joint and spring": (Mode.SPRING_REFS, {"reference_1": 2.4}, "expected -2.3 to 2.3 rad"),
    "motors so far apart that both springs clip": (
        Mode.SPRING_REFS,
        {"reference_1": 0.9, "reference_2": -0.9},
        "1.8 rad apart; expected less than 1.6 rad",
    ),
    "a link command out of range": (Mode.LINK_PID, {"link_command": -1.6}, "elbow/link_command is -1.6 rad"),
    "a torque that ends the run": (Mode.LINK_TORQUE, {"torque_command": 1e4}, "expected -200 to 200 N m"),
    "an external torque that ends the run": (
        Mode.PID_EQ_PRESET,
        {"external_torque": -1e3},
        "Likely cause: a wrong unit",
    ),
    "more than the motor gives": (Mode.MOTOR_TORQUES, {"torque_m1_command": 7.0}, "expected -6 to 6 N m"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_reference_out_of_range_is_taken_with_one_warning_that_names_it(case, caplog):
    mode, values, text = CASES[case]
    simulation = joint_simulation(arm(QbMove(), mode))
    device = simulation.devices["elbow"]
    for _ in range(3):
        device.inbox.put(values)
        simulation.step()
    found = warnings_of(caplog)
    assert len(found) == 1
    assert text in found[0]
    simulation.close()


FINE = {
    Mode.LINK_TORQUE: {"torque_command": 5.0, "external_torque": 1.0},
    Mode.LINK_PID: {"link_command": 1.5},
    Mode.SPRING_REFS: {"reference_1": 0.7, "reference_2": -0.7},
    Mode.SPRING_EQ_PRESET: {"equilibrium_position": -1.5, "stiffness_preset": 0.8},
    Mode.MOTOR_TORQUES: {"torque_m1_command": 1.0, "torque_m2_command": -6.0},
    Mode.PID_REFS: {"reference_1": 1.6, "reference_2": 1.2},
    Mode.PID_EQ_PRESET: {"equilibrium_position": 1.5, "stiffness_preset": 0.0},
}


@pytest.mark.parametrize("mode", list(Mode))
def test_references_in_range_are_answered_with_nothing(mode, caplog):
    simulation = joint_simulation(arm(QbMove(), mode))
    simulation.devices["elbow"].inbox.put(FINE[mode])
    simulation.step()
    assert warnings_of(caplog) == []
    simulation.close()


def test_a_joint_without_limits_expects_one_turn(caplog):
    simulation = joint_simulation(arm(SEA(), Mode.PID_EQ_PRESET, limits='limited="false"'))
    device = simulation.devices["elbow"]
    device.inbox.put({"equilibrium_position": 6.2})
    simulation.step()
    assert warnings_of(caplog) == []
    device.inbox.put({"equilibrium_position": 90.0})
    simulation.step()
    assert "one turn; 'elbow' has no limits" in caplog.text
    assert "90 degrees are 1.5708 rad" in caplog.text
    simulation.close()


def test_the_torque_that_is_warned_about_is_the_one_that_ends_the_run_within_a_second():
    """With I = 0.002 kg m2, speed 1e5 rad/s after 1 s asks for tau = I w / t = 200 N m."""
    robot = arm(QbMove(), Mode.LINK_TORQUE)
    assert MujocoEngine(robot).ports()["elbow/external_torque"].high == pytest.approx(INERTIA * MAX_SPEED)


def test_a_reset_and_another_mode_are_warned_about_again(caplog):
    simulation = joint_simulation(arm(QbMove(), Mode.SPRING_REFS))
    device = simulation.devices["elbow"]
    device.inbox.put({"reference_1": 45.0})
    simulation.step()
    device.request("set_mode", mode=3)
    simulation.step()
    device.inbox.put({"equilibrium_position": 45.0})
    simulation.step()
    simulation.reset()
    device.inbox.put({"reference_1": 45.0})
    simulation.step()
    names = [text.split(" is ")[0] for text in warnings_of(caplog)]
    assert names == ["elbow/reference_1", "elbow/equilibrium_position", "elbow/reference_1"]
    simulation.close()


def test_the_board_names_the_joint(caplog):
    robot = arm(QbMove(), Mode.PID_EQ_PRESET)
    board = Board(robot.actuators)
    simulation = Simulation(MujocoEngine(robot), [board])
    for _ in range(2):
        board.inbox.put({"reference_1": [45.0], "reference_2": [-0.1]})
        simulation.step()
    assert [text.split(";")[0] for text in warnings_of(caplog)] == [
        "board: stiffness_preset of 'elbow' is -0.1 rad",
        "board: equilibrium_position of 'elbow' is 45 rad",
    ]
    simulation.close()


SCENARIO = "events:\n- {event: set, at: 0.0, device: elbow, values: {stiffness_preset: -0.3}}\n"


def test_a_command_file_and_a_scenario_are_warned_about_as_well(caplog, tmp_path):
    (tmp_path / "steps.csv").write_text("time,elbow/equilibrium_position\n0,45\n0.001,50\n")
    (tmp_path / "scenario.yaml").write_text(SCENARIO)
    simulation = joint_simulation(arm(QbMove(), Mode.PID_EQ_PRESET))
    simulation.play(read_commands(tmp_path / "steps.csv"))
    read_scenario(tmp_path / "scenario.yaml").install(simulation)
    simulation.run(0.005)
    names = [text.split(" is ")[0] for text in warnings_of(caplog)]
    assert sorted(names) == ["elbow/equilibrium_position", "elbow/stiffness_preset"]
    simulation.close()


def test_nan_is_refused_as_before(caplog):
    simulation = joint_simulation(arm(QbMove(), Mode.PID_EQ_PRESET))
    with pytest.raises(DeviceError, match="must be a finite number"):
        simulation.devices["elbow"].inbox.put({"equilibrium_position": math.nan})
    assert warnings_of(caplog) == []
    simulation.close()


@pytest.mark.parametrize(
    ("mode", "values", "message"),
    [
        (Mode.PID_EQ_PRESET, {"equilibrium_position": 80.0}, "is 80 m; expected -0.1 to 0.1 m (the range of 'elbow')"),
        (Mode.PID_EQ_PRESET, {"stiffness_preset": 20.0}, "is 20 m; expected 0 to 0.05 m"),
        (Mode.SPRING_REFS, {"reference_2": -120.0}, "is -120 m; expected -0.15 to 0.15 m"),
        (Mode.LINK_PID, {"link_command": 80.0}, "Likely cause: millimetres; 80 mm are 0.08 m"),
        (Mode.SPRING_REFS, {"reference_1": 0.1, "reference_2": -0.1}, "are 0.1 and -0.1 m, 0.2 m apart"),
    ],
)
def test_millimetres_for_a_joint_that_slides_are_named(caplog, mode, values, message):
    robot = arm(QbMove(max_deflection=0.05), mode, limits='type="slide" range="-0.1 0.1" limited="true"')
    with Simulation(MujocoEngine(robot, check=False), make_devices(robot)) as simulation:
        simulation.devices["elbow"].inbox.put(values)
        simulation.step()
    assert message in "".join(warnings_of(caplog))


def test_a_joint_that_slides_without_limits_takes_any_place(caplog):
    robot = arm(QbMove(), Mode.PID_EQ_PRESET, limits='type="slide"')
    with Simulation(MujocoEngine(robot, check=False), make_devices(robot)) as simulation:
        simulation.devices["elbow"].inbox.put({"equilibrium_position": 80.0})
        simulation.step()
    assert not warnings_of(caplog)
