"""The electronics of a compliant joint and of the whole robot, on the real engine."""

import math

import mujoco
import numpy as np
import pytest

from pliant.base.errors import DeviceError, LawError, ModelError
from pliant.devices import Board, CompliantJoint, make_devices
from pliant.engine import MujocoEngine
from pliant.laws import COMMAND_NAMES, SEA, AwAS2, CompliantActuator, Mode, QbMove, Strength, registered_laws
from pliant.model import Robot
from pliant.model.parameters import MODE_NAMES
from pliant.simulation import Simulation

pytestmark = pytest.mark.quick


def arm(*actuators: CompliantActuator) -> Robot:
    """A chain of links in the horizontal plane, one actuator a joint."""
    spec = mujoco.MjSpec()
    spec.option.timestep = 0.001
    body = spec.worldbody
    for i in range(len(actuators)):
        body = body.add_body(name=f"link{i}", pos=[0.1 if i else 0.0, 0, 0])
        body.add_joint(name=f"joint{i}", axis=[0, 0, 1], damping=0.065)
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_CAPSULE,
            fromto=[0, 0, 0, 0.1, 0, 0],
            size=[0.01, 0, 0],
            mass=0.2,
            contype=0,
            conaffinity=0,
        )
    return Robot(spec, {f"joint{i}": a for i, a in enumerate(actuators)})


def simulate(robot: Robot, **options) -> Simulation:
    return Simulation(MujocoEngine(robot, check=False), make_devices(robot, **options), pacer="sync")


@pytest.mark.parametrize("mode", list(Mode))
def test_a_joint_holds_its_pose_until_the_first_command(mode):
    robot = arm(CompliantActuator(QbMove(), mode))
    engine = MujocoEngine(robot, check=False)
    engine.set_pose({"joint0": 0.4})
    simulation = Simulation(engine, [CompliantJoint("joint0", robot.actuators["joint0"])])
    engine.set_pose({"joint0": 0.4})
    engine.step(500)
    assert engine.port("joint0/position")[0] == pytest.approx(0.4, abs=1e-12)
    simulation.close()


@pytest.mark.parametrize(("toolbox", "mode"), MODE_NAMES.items())
def test_a_mode_is_switched_by_its_number_and_by_the_names_that_files_use(toolbox, mode):
    with simulate(arm(CompliantActuator(QbMove(), mode))) as simulation:
        names = (int(mode), str(int(mode)), mode.name, mode.name.lower(), toolbox, toolbox.lower())
        answers = [simulation.request("joint0", "set_mode", mode=name) for name in names]
        wrong = simulation.request("joint0", "set_mode", mode="PIDRef")
        simulation.step(1)
        assert [answer.result(0) for answer in answers] == [int(mode)] * len(names)
        with pytest.raises(DeviceError, match="joint0: there is no mode 'PIDRef'; must be one of 0 link_torque"):
            wrong.result(0)


@pytest.mark.parametrize("mode", list(Mode))
def test_the_commands_of_a_mode_have_the_names_of_the_toolbox(mode):
    device = CompliantJoint("joint0", CompliantActuator(QbMove(), mode))
    fields = device.commands[mode.name.lower()]
    expected = {COMMAND_NAMES[mode][0], "external_torque"}
    if mode.has_spring:
        expected.add(COMMAND_NAMES[mode][1])
    assert set(fields) == expected


def test_an_external_torque_moves_the_link_by_what_the_spring_gives():
    robot = arm(CompliantActuator(SEA(k=10.0), Mode.SPRING_EQ_PRESET))
    with simulate(robot) as simulation:
        simulation.devices["joint0"].inbox.put({"external_torque": 0.5})
        simulation.run(3.0)
        values = simulation.sample("joint0").values
    assert values["position"] == pytest.approx(0.5 / 10.0, abs=1e-6)
    assert values["torque"] == pytest.approx(-0.5, abs=1e-6)
    assert values["external_torque"] == 0.5
    assert values["stiffness"] == pytest.approx(10.0)


def test_the_state_reports_the_true_stiffness_where_the_original_reports_the_clipped_one():
    robot = arm(CompliantActuator(QbMove(), Mode.SPRING_REFS))
    with simulate(robot, joint_sample_period=0.001) as simulation:
        # Motor 1 stands 1.2 rad off, beyond the 0.8 rad of its spring.
        simulation.devices["joint0"].inbox.put({"reference_1": 1.2, "reference_2": 0.0})
        simulation.step()
        values = simulation.sample("joint0").values
    law = QbMove()
    q = values["position"]
    assert values["stiffness"] == pytest.approx(law.a2 * law.k2 * math.cosh(law.a2 * q), rel=1e-9)
    assert values["reported_stiffness"] > 10.0 * values["stiffness"]


def test_power_and_energy_agree_with_motor_torque_and_speed():
    robot = arm(CompliantActuator(QbMove(), Mode.PID_EQ_PRESET))
    with simulate(robot, joint_sample_period=0.001) as simulation:
        simulation.devices["joint0"].inbox.put({"equilibrium_position": 0.5, "stiffness_preset": 0.3})
        simulation.run(0.05)
        v = simulation.sample("joint0").values
    expected = v["motor_1_effort"] * v["motor_1_velocity"] + v["motor_2_effort"] * v["motor_2_velocity"]
    assert v["motor_power"] == pytest.approx(expected, rel=1e-12)
    assert v["energy"] == pytest.approx(
        QbMove().evaluate(v["position"], v["motor_1_position"], v["motor_2_position"]).energy, rel=1e-12
    )


def test_a_spring_that_breaks_ends_the_run_and_names_joint_time_and_torque():
    actuator = CompliantActuator(SEA(k=10.0), mode=Mode.SPRING_EQ_PRESET, strength=Strength(break_torque=2.0))
    words = r"joint 'joint0' broke at t = 0\.\d+ s: its torque -?\d[.\d]* N m reached .* of 2 N m"
    with simulate(arm(actuator)) as simulation:
        simulation.devices["joint0"].inbox.put({"equilibrium_position": 0.15})
        simulation.run(0.2)
        simulation.devices["joint0"].inbox.put({"equilibrium_position": 1.0})
        with pytest.raises(DeviceError, match=words):
            simulation.run(0.5)
        assert simulation.engine.time_ns < 250_000_000


def test_a_lever_at_or_beyond_its_length_is_refused():
    device = CompliantJoint("joint0", CompliantActuator(AwAS2(), Mode.SPRING_EQ_PRESET))
    with pytest.raises(DeviceError, match="stiffness_preset"):
        device.inbox.put({"stiffness_preset": 0.05}, mode="spring_eq_preset")
    device.inbox.put({"stiffness_preset": 0.04}, mode="spring_eq_preset")


def test_nan_and_unknown_commands_are_refused_with_the_valid_names():
    robot = arm(CompliantActuator(QbMove(), Mode.PID_EQ_PRESET))
    with simulate(robot) as simulation:
        joint = simulation.devices["joint0"]
        with pytest.raises(DeviceError, match="finite number"):
            joint.inbox.put({"equilibrium_position": float("nan")})
        with pytest.raises(DeviceError, match="did you mean 'equilibrium_position'"):
            joint.inbox.put({"equilibrium": 0.1})


def test_modes_switch_inside_a_family_and_the_pose_is_held():
    robot = arm(CompliantActuator(QbMove(), Mode.PID_EQ_PRESET))
    with simulate(robot) as simulation:
        joint = simulation.devices["joint0"]
        joint.inbox.put({"equilibrium_position": 0.3, "stiffness_preset": 0.4})
        simulation.run(2.0)
        before = simulation.engine.port("joint0/position")[0]
        future = simulation.request("joint0", "set_mode", mode=5)
        simulation.run(2.0)
        assert future.result(timeout=0) == 5
        assert joint.inbox.accepted == {"pid_refs"}
        assert simulation.engine.port("joint0/position")[0] == pytest.approx(before, abs=0.01)
        refused = simulation.request("joint0", "set_mode", mode=3)
        simulation.step()
        with pytest.raises(ModelError, match="compile the robot with mode 3"):
            refused.result(timeout=0)


def test_gains_change_while_it_runs():
    robot = arm(CompliantActuator(QbMove(), Mode.PID_EQ_PRESET))
    with simulate(robot) as simulation:
        done = simulation.request("joint0", "set_gains", motor=1, kp=50.0)
        wrong = simulation.request("joint0", "set_gains", motor=1, kp=-1.0)
        simulation.step()
        done.result(timeout=0)
        with pytest.raises(LawError, match="kp is -1"):
            wrong.result(timeout=0)


@pytest.mark.parametrize(
    "laws", [[QbMove(), QbMove()], [QbMove(), SEA(), AwAS2()], [SEA()]], ids=["qb", "mixed", "one"]
)
def test_a_sample_of_the_board_is_that_of_its_joints_and_stays_as_it_was(laws):
    simulation = simulate(arm(*map(CompliantActuator, laws)), joint_sample_period=0.001)
    board = simulation.devices["board"]
    board.inbox.put({"reference_1": [0.02] * len(laws)})
    simulation.step(20)
    values = simulation.sample("board").values
    before = {name: array.tobytes() for name, array in values.items()}
    assert list(values) == list(board.samples)
    assert len(values) == len(before)
    for name, array in values.items():
        source = {"effort": "torque"}.get(name, name)
        joints = [simulation.sample(f"joint{i}").values.get(source, np.nan) for i in range(len(laws))]
        np.testing.assert_array_equal(array, joints)
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.0
    simulation.step(5)
    assert {name: array.tobytes() for name, array in values.items()} == before
    assert simulation.sample("board").values["position"].tobytes() != before["position"]
    with pytest.raises(KeyError):
        values["force"]


def test_the_board_takes_arrays_and_gives_arrays():
    robot = arm(CompliantActuator(QbMove(), Mode.PID_EQ_PRESET), CompliantActuator(SEA(k=50.0), Mode.PID_EQ_PRESET))
    with simulate(robot) as simulation:
        board = simulation.devices["board"]
        board.inbox.put({"reference_1": [0.2, -0.3], "reference_2": [0.5, 0.0]})
        simulation.run(4.0)
        values = simulation.sample("board").values
    np.testing.assert_allclose(values["equilibrium"], [0.2, -0.3], atol=2e-3)
    np.testing.assert_allclose(values["position"], [0.2, -0.3], atol=5e-3)
    assert values["preset"][0] == pytest.approx(0.5, abs=2e-3)
    assert math.isnan(values["motor_2_position"][1])
    assert values["stiffness"][1] == pytest.approx(50.0)


@pytest.mark.parametrize("length", [0, 1, 3])
def test_an_array_of_the_wrong_length_is_refused(length):
    board = Board({f"j{i}": CompliantActuator(QbMove()) for i in range(2)})
    with pytest.raises(DeviceError, match="array of 2 finite numbers"):
        board.inbox.put({"reference_1": np.zeros(length)}, mode="references")


def test_two_runs_with_the_same_seed_give_the_same_bytes():
    def run() -> bytes:
        robot = arm(CompliantActuator(QbMove(), Mode.PID_EQ_PRESET))
        with simulate(robot) as simulation:
            simulation.devices["board"].inbox.put({"reference_1": [0.4], "reference_2": [0.2]})
            simulation.run(0.5)
            return simulation.engine.save().tobytes()

    assert run() == run()


def test_an_element_that_is_routed_to_another_modes_command_moves_nothing():
    robot = arm(CompliantActuator(QbMove(), Mode.PID_EQ_PRESET), CompliantActuator(QbMove(), Mode.PID_EQ_PRESET))
    routes = {
        "joint0": ("equilibrium_position", "stiffness_preset"),
        "joint1": ("reference_1", "stiffness_preset"),
    }
    board = Board(robot.actuators, routes=routes)
    engine = MujocoEngine(robot, check=False)
    with Simulation(engine, [board], pacer="sync") as simulation:
        before = engine.port("joint1/reference_1")[0]
        board.inbox.put({"reference_1": [0.3, 0.4], "reference_2": [0.1, 0.2]})
        simulation.step(2)
        assert engine.port("joint0/reference_1")[0] == 0.3
        assert engine.port("joint1/reference_1")[0] == before
        assert [engine.port(f"joint{i}/reference_2")[0] for i in (0, 1)] == [0.1, 0.2]
        engine.set_mode("joint1", Mode.PID_REFS)
        board.inbox.put({"reference_1": [0.3, 0.4]})
        simulation.step(2)
        assert engine.port("joint1/reference_1")[0] == 0.4


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("law", ["awas_ii", "bavs", "cable", "pam", "qbmove", "sea", "sea_table"])
def test_a_joint_that_slides_has_metres_and_newtons_wherever_a_user_reads_them(law, mode):
    length = {"rad": "m", "rad/s": "m/s", "N m": "N", "N m/rad": "N/m"}
    turning, sliding = (arm(CompliantActuator(registered_laws()[law](), mode)) for _ in range(2))
    sliding.spec.joint("joint0").type = mujoco.mjtJoint.mjJNT_SLIDE
    (joint, board), (slide, slides) = (make_devices(robot) for robot in (turning, sliding))
    fields = [(device.samples, *device.commands.values()) for device in (joint, board)]
    others = [(device.samples, *device.commands.values()) for device in (slide, slides)]
    for table, other in zip(sum(fields, ()), sum(others, ()), strict=True):
        for name, info in table.items():
            assert other[name].unit == length.get(info.unit, info.unit), name
    ports, found = (MujocoEngine(robot, check=False).ports() for robot in (turning, sliding))
    for name, info in ports.items():
        assert found[name].unit == length.get(info.unit, info.unit), name
    for field in slide.samples.keys() & {"position", "torque", "stiffness", "motor_1_position", "motor_2_effort"}:
        assert slide.samples[field].unit == found[f"joint0/{field}"].unit


def test_a_board_of_joints_that_turn_and_slide_names_both_units():
    robot = arm(CompliantActuator(QbMove()), CompliantActuator(AwAS2()), CompliantActuator(QbMove()))
    robot.spec.joint("joint0").type = mujoco.mjtJoint.mjJNT_SLIDE
    samples = make_devices(robot)[-1].samples
    assert (samples["position"].unit, samples["effort"].unit) == ("m or rad", "N or N m")
    assert samples["preset"].unit == samples["motor_2_position"].unit == "m or rad"
    assert make_devices(arm(CompliantActuator(AwAS2())))[-1].samples["preset"].unit == "m"
