"""Compliant actuators as elements of MuJoCo: the file moves as the robot does in pliant, or is refused by block."""

import itertools
import subprocess
import sys
from dataclasses import replace

import mujoco
import numpy as np
import pytest
from daily import robots_by_day

from pliant import load
from pliant.base.errors import LawError, MissingDependency, ModelError
from pliant.engine import MujocoEngine
from pliant.export.mjcf import describe_mjcf
from pliant.laws import (
    BAVS,
    PID,
    SEA,
    AwAS2,
    Backlash,
    Cogging,
    CompliantActuator,
    Creep,
    DCMotor,
    Electrical,
    Gear,
    Hysteresis,
    Mode,
    PreslidingFriction,
    QbMove,
    Strength,
    Tendon,
    Thermal,
)
from pliant.model import Robot
from pliant.muscles import McKibben
from pliant.robots import list_robots
from pliant.spring_tables import TableSEA
from pliant.tendons.cable import Cable

FREE = DCMotor(friction=PreslidingFriction(torque=0.0))
ARM = """<mujoco><option timestep="{h}" integrator="implicitfast"/><worldbody><body><joint name="j" axis="0 1 0"
  damping="0.05"/><geom type="capsule" fromto="0 0 0 0.2 0 0" size="0.02" mass="0.5"/></body></worldbody></mujoco>"""
PLAIN = """
import sys
import numpy as np, mujoco
model = mujoco.MjModel.from_xml_string(sys.stdin.read())
data = mujoco.MjData(model)
mujoco.mj_resetDataKeyframe(model, data, model.key("rest").id)
angles = []
for u in np.load(sys.argv[1]):
    data.ctrl[0] = u
    mujoco.mj_step(model, data)
    angles.append(data.qpos[0])
assert not any(name.startswith("pliant") for name in sys.modules)
np.save(sys.argv[2], angles)
"""


def arm(actuator, h=1e-3):
    robot = Robot(mujoco.MjSpec.from_string(ARM.format(h=h)))
    robot.add_actuator("j", actuator)
    return robot


def reference(kind, h, seconds=2.0):
    t = np.arange(round(seconds / h)) * h
    return 0.3 * (t >= 0.1 - 1e-9) if kind == "step" else 0.3 * np.sin(2.0 * np.pi * (0.5 * t + t * t))


def in_pliant(robot, controls):
    engine, angles = MujocoEngine(robot), []
    for u in controls:
        engine.data.ctrl[0] = u
        engine.step(1)
        angles.append(engine.data.qpos[0])
    return np.array(angles)


def natively(text, controls):
    model = mujoco.MjModel.from_xml_string(text)
    data, angles = mujoco.MjData(model), []
    mujoco.mj_resetDataKeyframe(model, data, model.key("rest").id)
    for u in controls:
        data.ctrl[0] = u
        mujoco.mj_step(model, data)
        angles.append(data.qpos[0])
    return np.array(angles)


def difference(actuator, kind="step", h=1e-3, fit=False):
    robot, controls = arm(actuator, h), reference(kind, h)
    own = in_pliant(robot, controls)
    assert np.ptp(own) > 0.05
    return np.abs(natively(describe_mjcf(robot, native=True, fit=fit).text, controls) - own).max()


def natively_or_why(robot):
    """Return the exported file, of which nothing is said, or why there is none."""
    try:
        export = describe_mjcf(robot, native=True)
    except ModelError as error:
        return "", str(error)
    assert not export.warnings
    return export.text, ""


EXACT = {
    "link torque": {"mode": Mode.LINK_TORQUE},
    "link controller": {"mode": Mode.LINK_PID, "pid_1": PID(kp=3.0, ki=2.0, kd=0.2)},
    "spring": {"mode": Mode.SPRING_REFS, "link_damping": 0.02},
    "equilibrium": {"mode": Mode.SPRING_EQ_PRESET},
    "clipped spring": {"mode": Mode.SPRING_EQ_PRESET, "law": SEA(max_deflection=0.02)},
    "motor": {"mode": Mode.MOTOR_TORQUES},
    "motor behind a clipped spring": {"mode": Mode.MOTOR_TORQUES, "law": SEA(max_deflection=0.02)},
    "end stop": {"mode": Mode.MOTOR_TORQUES, "law": SEA(max_deflection=0.02, clip="stop")},
    "torque limit": {"mode": Mode.MOTOR_TORQUES, "motor_1": replace(FREE, max_torque=0.2)},
    "winding": {"mode": Mode.MOTOR_TORQUES, "motor_1": replace(FREE, electrical=Electrical(supply_voltage=0.5))},
    "cogging": {"mode": Mode.MOTOR_TORQUES, "motor_1": replace(FREE, cogging=Cogging(phase=0.4))},
}


@pytest.mark.parametrize("kind", ["step", "chirp"])
@pytest.mark.parametrize("block", EXACT)
def test_a_linear_joint_moves_in_plain_mujoco_as_in_pliant_at_equal_step(block, kind):
    options = {"law": SEA(), "motor_1": FREE, **EXACT[block]}
    assert difference(CompliantActuator(**options), kind) < 1e-10


APPROXIMATE = {
    "mode PID_REFS": ({"mode": Mode.PID_REFS}, 0.02),
    "mode PID_EQ_PRESET": ({"mode": Mode.PID_EQ_PRESET, "pid_1": PID(ki=200.0)}, 0.02),
    "motor_1.friction": (
        {"motor_1": DCMotor(friction=PreslidingFriction(stribeck_velocity=0.1, breakaway=0.02))},
        5e-4,
    ),
    "link_friction": ({"mode": Mode.LINK_TORQUE, "link_friction": PreslidingFriction()}, 2e-3),
    "the stops of motor_1": ({"motor_1": replace(FREE, max_position=0.1)}, 2e-3),
    "pid_1.integral_limit": ({"mode": Mode.LINK_PID, "pid_1": PID(kp=3.0, ki=9.0, kd=0.2, integral_limit=0.05)}, 2e-3),
}


@pytest.mark.parametrize("block", APPROXIMATE)
def test_what_mujoco_steps_in_another_way_is_refused_and_written_on_request_with_the_measured_error(block):
    options, bound = APPROXIMATE[block]
    actuator = CompliantActuator(**{"law": SEA(), "mode": Mode.MOTOR_TORQUES, "motor_1": FREE, **options})
    with pytest.raises(ModelError, match=rf"joint 'j': {block}.*--fit writes") as caught:
        describe_mjcf(arm(actuator), native=True)
    assert caught.value.field == "native"
    export = describe_mjcf(arm(actuator), native=True, fit=True)
    assert any(warning.startswith(f"joint 'j': {block}") for warning in export.warnings)
    assert export.warnings[-1] in " ".join(export.text.split())
    said = float(export.warnings[-1].split("'j' ")[1].split(" rad")[0])
    h, t = 1e-3, np.arange(2000) * 1e-3
    controls = 0.3 * np.where(t < 1.0, 1.0, np.cos(2.0 * np.pi * (0.5 * t + t * t)))
    found = np.abs(natively(export.text, controls) - in_pliant(arm(actuator, h), controls)).max()
    assert said == pytest.approx(found, rel=0.06)  # two digits
    assert 1e-6 < found < bound


@pytest.mark.parametrize("block", ["mode PID_REFS", "mode PID_EQ_PRESET", "motor_1.friction"])
def test_what_is_stepped_in_another_order_differs_in_proportion_to_the_step(block):
    actuator = CompliantActuator(**{"law": SEA(), "mode": Mode.MOTOR_TORQUES, "motor_1": FREE, **APPROXIMATE[block][0]})
    coarse, fine = (difference(actuator, h=h, fit=True) for h in (1e-3, 1e-4))
    assert fine < coarse / 8.0


def test_a_robot_that_diverges_in_the_test_motion_is_written_with_the_reason():
    actuator = CompliantActuator(SEA(k=1e6), Mode.PID_EQ_PRESET, motor_1=FREE)
    said = describe_mjcf(arm(actuator, 1e-2), native=True, fit=True).warnings[-1]
    assert said.startswith("the difference could not be measured: in pliant, ")


LAWS = (SEA(), SEA(max_deflection=0.02), SEA(clip="stop", max_deflection=0.02), QbMove(), BAVS(), AwAS2(), TableSEA(),
        Cable(), McKibben())  # fmt: skip
BLOCKS = [
    {}, {"link_friction": PreslidingFriction()}, {"link_damping": 0.05, "link_preset_damping": 0.1},
    {"pid_1": PID(kp=3.0, ki=2.0, kd=0.2)}, {"pid_1": PID(kp=3.0, ki=2.0, kd=0.2, integral_limit=0.01)},
    {"hysteresis": Hysteresis()}, {"creep": Creep()}, {"strength": Strength(yield_torque=0.5)},
    {"link_backlash": Backlash()}, {"command_delay": 0.01}, {"command_resolution": 0.01}, {"reference_slew_1": 1.0},
    {"initial_preset": 0.2}, {"start": "zero"},
]  # fmt: skip
BLOCKS += [
    {"motor_1": replace(FREE, **options)}
    for options in (
        {"friction": PreslidingFriction()}, {"preset_damping": 0.1}, {"min_position": -0.1, "max_position": 0.1},
        {"max_torque": 0.2}, {"max_torque": 0.0}, {"electrical": Electrical(supply_voltage=0.5)}, {"gear": Gear()},
        {"cogging": Cogging(phase=0.4)}, {"limit_velocity": True}, {"torque_speed": True}, {"backlash": Backlash()},
        {"tendon": Tendon()}, {"friction": PreslidingFriction(breakaway=0.05, stribeck_velocity=0.1)},
    )
]  # fmt: skip


PAIRS = list(itertools.product(LAWS, BLOCKS))
MODES = list(Mode)


@pytest.mark.parametrize(
    ("mode", "pairs"),
    [pytest.param(mode, PAIRS[k % 4 :: 4], id=f"{mode.name}-quarter") for k, mode in enumerate(MODES)]
    + [pytest.param(mode, PAIRS, id=f"{mode.name}-all", marks=pytest.mark.nightly) for mode in MODES],
)
def test_every_law_and_block_moves_as_in_pliant_or_is_refused_with_the_joint(mode, pairs):
    moved = refused = 0
    for law, options in pairs:
        motor = {} if law.second_input == "pressure" else {"motor_1": FREE}
        try:
            robot = arm(CompliantActuator(law, mode, **{**motor, **options}))
        except LawError:  # a preset that the law does not have, a motor on a muscle
            continue
        text, reason = natively_or_why(robot)
        if reason:
            assert "joint 'j': " in reason
            refused += 1
            continue
        controls = np.concatenate([reference(kind, 1e-3, 0.4) for kind in ("step", "chirp")])
        assert np.abs(natively(text, controls) - in_pliant(robot, controls)).max() < 1e-6, (law, options)
        moved += 1
    assert refused > 0
    assert moved > 0 or mode in (Mode.PID_REFS, Mode.PID_EQ_PRESET)


@pytest.mark.parametrize(
    ("options", "block"),
    [
        ({"law": QbMove()}, "law qbmove"),
        ({"command_delay": 0.01}, "command_delay"),
        ({"command_resolution": 0.01}, "command_resolution"),
        ({"reference_slew_1": 1.0}, "reference_slew"),
        ({"pid_1": PID(velocity_feedforward=True)}, "pid_1.velocity_feedforward"),
        ({"pid_1": PID(ki=1.0, anti_windup=True)}, "pid_1.anti_windup"),
        ({"motor_1": DCMotor(torque_speed=True)}, "motor_1.torque_speed"),
        ({"motor_1": DCMotor(limit_velocity=True)}, "motor_1.limit_velocity"),
        ({"motor_1": DCMotor(cogging=Cogging(ripple=0.1))}, "motor_1.cogging.ripple"),
        ({"motor_1": DCMotor(electrical=Electrical(inductance=1e-3))}, "motor_1.electrical.inductance"),
        ({"motor_1": DCMotor(electrical=Electrical(max_current=1.0))}, "motor_1.electrical.max_current"),
        ({"motor_1": DCMotor(electrical=Electrical(supply_resistance=1.0))}, "motor_1.electrical.supply_resistance"),
        ({"motor_1": DCMotor(electrical=Electrical(), thermal=Thermal())}, "motor_1.thermal"),
        ({"motor_1": DCMotor(friction=PreslidingFriction(load_coefficient=0.1))}, "motor_1.friction.load_coefficient"),
        ({"motor_1": DCMotor(backlash=Backlash())}, "motor_1.backlash"),
        ({"motor_1": DCMotor(gear=Gear())}, "motor_1.gear"),
        ({"motor_1": DCMotor(electrical=Electrical(max_current_rate=1.0))}, "motor_1.electrical.max_current_rate"),
        ({"link_backlash": Backlash()}, "link_backlash"),
        ({"link_friction": PreslidingFriction(load_coefficient=0.1)}, "link_friction.load_coefficient"),
        ({"law": SEA(clip="stop"), "mode": Mode.SPRING_REFS}, "law.clip 'stop' in the mode SPRING_REFS"),
    ],
)
def test_a_block_that_mujoco_lacks_is_refused_by_name(options, block):
    with pytest.raises(ModelError) as caught:
        describe_mjcf(arm(CompliantActuator(**{"law": SEA(), **options})), native=True)
    assert f"joint 'j': {block}" in str(caught.value)


@pytest.mark.parametrize("name", robots_by_day(robot.name for robot in list_robots()))
def test_every_catalogue_robot_moves_natively_as_in_pliant_or_is_refused_with_the_joint(name, tmp_path):
    try:
        robot = load(name)
    except MissingDependency as missing:
        pytest.skip(str(missing))
    for mode in Mode if robot.actuators else (None,):
        if mode is not None:
            robot = load(name)
            robot.set("actuator.mode", int(mode))
        text, reason = natively_or_why(robot)
        if reason or mode is None:
            assert next(iter(robot.actuators), "") in reason
            continue
        assert mujoco.MjModel.from_xml_string(text).nuser_actuator == 0
        controls = reference("chirp", robot.timestep)
        np.save(tmp_path / "in.npy", controls)
        arguments = [sys.executable, "-c", PLAIN, str(tmp_path / "in.npy"), str(tmp_path / "out.npy")]
        subprocess.run(arguments, input=text, text=True, check=True)
        own = in_pliant(robot, controls)
        assert np.ptp(own) > 0.1
        assert np.abs(np.load(tmp_path / "out.npy") - own).max() < 1e-6


def test_joints_with_the_same_reason_are_named_together():
    robot = load("qbmove-5dof")
    with pytest.raises(ModelError, match=r"joints 'joint_1', 'joint_2', .*'joint_5': law qbmove") as caught:
        describe_mjcf(robot, native=True)
    assert str(caught.value).count("law qbmove") == 1


def forces(model, joint, deflections):
    """Return the torque on a joint of the tendons ``<joint>/spring*`` of a model of plain MuJoCo."""
    data, angle, out = mujoco.MjData(model), model.joint(joint).qposadr[0], []
    for x in deflections:
        mujoco.mj_resetData(model, data)
        data.qpos[angle] = x
        mujoco.mj_forward(model, data)
        out.append(data.qfrc_spring[model.joint(joint).dofadr[0]])
    return np.array(out)


@pytest.mark.parametrize("preset", [0.0, 0.2, 0.5])
@pytest.mark.parametrize(
    "law",
    [
        QbMove(),
        QbMove(k1=0.0026, a1=8.9995, k2=0.0011, a2=8.9989),
        QbMove(k1=0.01038, a1=6.257, k2=0.08918, a2=3.9),
        QbMove(k1=0.1015, a1=3.383, k2=0.05944, a2=7.011),
        BAVS(),
        AwAS2(),
    ],
    ids=["equal", "kit", "joint 1", "joint 2", "bavs", "awas2"],
)
def test_a_fitted_spring_has_the_torque_of_the_law_within_the_error_that_the_file_states(law, preset):
    preset = {"bavs": 0.4 * preset, "awas_ii": 0.005 + 0.02 * preset}.get(law.name, preset)
    actuator = CompliantActuator(law, Mode.PID_EQ_PRESET, initial_preset=preset)
    export = describe_mjcf(arm(actuator), native=True, fit=True)
    (said,) = [warning for warning in export.warnings if "of joint 'j' is a cubic spline" in warning]
    assert said in export.text
    limit = law.max_deflection - (preset if law.second_input == "angle" else 0.0)
    x = np.linspace(-limit, limit, 401)
    torque = law.evaluate(x, *law.map_references(0.0, preset)).torque
    found = forces(mujoco.MjModel.from_xml_string(export.text), "j", x)
    error = np.abs(found - torque).max()
    assert error < 0.002 * np.abs(torque).max()
    slope, wanted = (np.gradient(values, x)[2:-2] for values in (found, torque))
    np.testing.assert_allclose(slope, wanted, rtol=0.04)
    assert float(said.split("largest error ")[1].split()[0]) == pytest.approx(error, rel=0.02)


def test_the_file_of_a_fitted_joint_says_that_its_preset_stays():
    actuator = CompliantActuator(QbMove(), Mode.PID_EQ_PRESET, motor_1=FREE, motor_2=FREE, initial_preset=0.2)
    text = " ".join(describe_mjcf(arm(actuator), native=True, fit=True).text.split())
    assert "the preset of joint 'j' stays at 0.2 rad, reference 2 has no actuator" in text
    assert "set j.initial_preset and export again" in text


def test_a_fitted_joint_moves_as_the_joint_of_the_law_does():
    actuator = CompliantActuator(QbMove(), Mode.PID_EQ_PRESET, motor_1=FREE, motor_2=FREE, initial_preset=0.2)
    robot, controls = arm(actuator), reference("step", 1e-3)
    robot.set("option.gravity", [0.0, 0.0, 0.0])  # the spring stays within the range of its fit
    own = in_pliant(robot, controls)
    found = natively(describe_mjcf(robot, native=True, fit=True).text, controls)
    assert np.abs(found - own).max() < 1e-3
