"""Actuators of the model itself are ports and devices: every transmission with every kind that MuJoCo compiles."""

import math

import mujoco
import numpy as np
import pytest
from native_actuators import KINDS, TRANSMISSIONS, continuum_robot, model_of

from pliant.base.errors import DeviceError
from pliant.base.options import check_unit
from pliant.devices import NativeActuator, make_devices
from pliant.engine import MujocoEngine
from pliant.engine.native import NATIVE_FIELDS
from pliant.laws import CompliantActuator, QbMove
from pliant.model import Robot
from pliant.robots import build_robot
from pliant.simulation import Simulation

STEPS = 50


def compiled(transmission, kind):
    """Return the model, or None if MuJoCo has no such pair."""
    try:
        return mujoco.MjModel.from_xml_string(model_of(transmission, kind))
    except ValueError:
        return None


PAIRS = [(t, k) for t in TRANSMISSIONS for k in KINDS if compiled(t, k) is not None]


def simulation_of(text, **actuators):
    robot = Robot(mujoco.MjSpec.from_string(text), actuators)
    return Simulation(MujocoEngine(robot), make_devices(robot), pacer="free")


def plain_run(model, control):
    """Return the state after some steps of MuJoCo alone with a constant control."""
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    data.ctrl[:] = control
    mujoco.mj_step(model, data, STEPS)
    return np.concatenate([data.qpos, data.qvel, data.act])


def state_of(engine):
    return np.concatenate([engine.port(f"state/{part}") for part in ("qpos", "qvel", "act")])


def test_every_kind_and_every_transmission_is_in_the_sweep():
    assert {kind for _, kind in PAIRS} == set(KINDS)
    assert {transmission for transmission, _ in PAIRS} == set(TRANSMISSIONS)
    assert {compiled(*pair).actuator_trntype[0] for pair in PAIRS} == set(range(7))


@pytest.mark.parametrize(("transmission", "kind"), PAIRS)
def test_a_command_moves_what_the_same_control_moves_in_mujoco(transmission, kind):
    model = compiled(transmission, kind)
    control = [0.5, 0.2, 0.1][: model.nu]
    with simulation_of(model_of(transmission, kind)) as simulation:
        simulation.start()
        device = simulation.devices["driven"]
        device.inbox.put({"control": control if device.commands["control"]["control"].shape else control[0]})
        simulation.step(STEPS)
        engine = simulation.engine
        np.testing.assert_array_equal(state_of(engine), plain_run(model, control))
        assert (state_of(engine) != plain_run(model, 0.0)).any()
        values, data = simulation.sample("driven").values, engine.data
        for field, array in (
            ("control", data.ctrl), ("force", data.actuator_force), ("length", data.actuator_length),
            ("velocity", data.actuator_velocity), ("activation", data.act),
        ):  # fmt: skip
            assert (field in values) == bool(array.size)
            np.testing.assert_array_equal(np.ravel(values.get(field, [])), array)


@pytest.mark.parametrize(("transmission", "kind"), PAIRS)
def test_port_and_device_have_the_units_and_the_range_of_one_table(transmission, kind):
    with simulation_of(model_of(transmission, kind)) as simulation:
        device, ports = simulation.devices["driven"], simulation.engine.ports()
        fields = {field: ports[f"driven/{declared.port}"] for field, declared in NATIVE_FIELDS.items()
                  if f"driven/{declared.port}" in ports}  # fmt: skip
        assert set(fields) == set(device.samples)
        for field, info in fields.items():
            check_unit(info.unit, field, DeviceError)
            assert info.unit == device.samples[field].unit
        control = device.commands["control"]["control"]
        assert (control.low, control.high) == (fields["control"].low, fields["control"].high)
        limited = simulation.engine.model.actuator_ctrllimited[0]
        assert math.isfinite(control.high) == bool(limited)


@pytest.mark.parametrize(
    ("transmission", "kind", "unit", "force"),
    [
        ("hinge", "motor", "N m", "N m"),
        ("slide", "motor", "N", "N"),
        ("spatial tendon", "position", "m", "N"),
        ("hinge", "velocity", "rad/s", "N m"),
        ("slide", "intvelocity", "m/s", "N"),
        ("site", "motor", "N", "N"),
        ("free", "motor", "N", "N"),
        ("slider-crank", "position", "m", "N"),
        ("hinge", "pid", "rad, rad/s", "N m"),
        ("hinge", "muscle", "", "N m"),
        ("hinge", "general", "", "N m"),
        ("fixed tendon", "motor", "", ""),
        ("spatial tendon", "cylinder", "Pa", "N"),
        ("hinge", "dcmotor", "V", "N m"),
        ("rotation of a ball", "orientation", "rad", "N m"),
        ("body", "adhesion", "", "N"),
    ],
)
def test_the_units_follow_from_the_transmission_and_the_kind(transmission, kind, unit, force):
    with simulation_of(model_of(transmission, kind)) as simulation:
        ports = simulation.engine.ports()
        assert (ports["driven/control"].unit, ports["driven/force"].unit) == (unit, force)


def test_the_energy_of_a_cable_is_its_force_times_the_way_of_its_port():
    with simulation_of(continuum_robot()) as simulation:
        simulation.start()
        simulation.devices["pull_0"].inbox.put({"control": -5.0})
        force, rate = (simulation.engine.port(f"pull_0/{name}") for name in ("force", "length_rate"))
        length, work, start = simulation.engine.port("pull_0/length"), 0.0, None
        for _ in range(300):
            simulation.step()
            start = float(length[0]) if start is None else start
            work += float(force[0] * rate[0]) * simulation.engine.dt
        assert work == pytest.approx(-5.0 * (float(length[0]) - start), rel=0.02)
        assert work > 0.01


def test_a_control_outside_the_range_is_refused_with_the_range():
    with simulation_of(continuum_robot()) as simulation, pytest.raises(DeviceError, match=r"\[N\] from -20 to 0"):
        simulation.devices["pull_0"].inbox.put({"control": 1.0})


def test_without_commands_nothing_is_written_and_the_watchdog_returns_to_the_start():
    robot = Robot(mujoco.MjSpec.from_string(continuum_robot()))
    devices = make_devices(robot, watchdog=0.01)
    with Simulation(MujocoEngine(robot), devices, pacer="free") as simulation:
        simulation.start()
        port = simulation.engine.port("pull_1/control")
        port[0] = -3.0  # an environment writes the port
        simulation.step(20)
        assert port[0] == -3.0
        simulation.devices["pull_1"].inbox.put({"control": -4.0})
        simulation.step(5)
        assert port[0] == -4.0
        simulation.step(20)
        assert port[0] == 0.0


def test_an_actuator_without_a_name_is_called_after_what_it_drives():
    text = model_of("hinge", "motor").replace('name="driven" ', "")
    robot = Robot(mujoco.MjSpec.from_string(text))
    assert robot.notes == ["the actuator of 'hinge' has no name; it is called 'hinge_actuator'"]
    assert [device.name for device in make_devices(robot)] == ["hinge_actuator"]
    assert robot.copy().notes == robot.notes


def test_an_actuator_may_have_the_name_of_its_joint_or_of_the_board():
    text = model_of("slide", "position").replace('name="driven"', 'name="slide"')
    with simulation_of(text) as simulation:
        ports = simulation.engine.ports()
        assert ports["slide/velocity"].description == "joint velocity"
        assert ports["slide/length_rate"].unit == "m/s"
    text = model_of("slide", "position").replace('name="driven"', 'name="board"')
    with simulation_of(text, hinge=CompliantActuator(QbMove())) as simulation:
        assert list(simulation.devices) == ["hinge", "board", "board_"]


@pytest.mark.parametrize("name", ["2RR", "softfoot", "qbmove-2dof", "biped", "franka"])
def test_a_motor_that_a_device_drives_has_no_second_one(name):
    robot = build_robot(name)
    assert not [device for device in make_devices(robot) if isinstance(device, NativeActuator)]


def test_a_compliant_joint_behind_an_actuator_with_several_controls_holds_its_pose_in_the_key_frame():
    robot = Robot(mujoco.MjSpec.from_string(model_of("slide", "pid")), {"hinge": CompliantActuator(QbMove())})
    for key in robot.spec.keys:
        key.qpos = [0.2, 1, 0, 0, 0, 0, 0, -2, -1.9, 1, 0, 0, 0]
    model = robot.compile()
    np.testing.assert_allclose(model.key_ctrl[0], [0.0, 0.0, 0.2, 0.0])
