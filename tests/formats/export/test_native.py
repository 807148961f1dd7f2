"""Compliant actuators as elements of MuJoCo: the file moves as the robot does in pliant, or is refused by block."""

import subprocess
import sys
from dataclasses import replace

import mujoco
import numpy as np
import pytest
from daily import robots_by_day

from pliant import load
from pliant.base.errors import MissingDependency, ModelError
from pliant.engine import MujocoEngine
from pliant.formats.export.mjcf import describe_mjcf
from pliant.laws import (
    BAVS,
    PID,
    SEA,
    AwAS2,
    Backlash,
    Cogging,
    CompliantActuator,
    DCMotor,
    Electrical,
    Gear,
    Mode,
    PreslidingFriction,
    QbMove,
    Thermal,
)
from pliant.model import Robot
from pliant.robots import list_robots

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


def difference(actuator, kind="step", h=1e-3):
    robot, controls = arm(actuator, h), reference(kind, h)
    own = in_pliant(robot, controls)
    assert np.ptp(own) > 0.05
    return np.abs(natively(describe_mjcf(robot, native=True).text, controls) - own).max()


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


@pytest.mark.parametrize(
    ("options", "bound"),
    [
        ({"mode": Mode.PID_REFS, "motor_1": FREE}, 0.02),
        ({"mode": Mode.PID_EQ_PRESET, "motor_1": FREE, "pid_1": PID(ki=200.0)}, 0.02),
        (
            {
                "mode": Mode.MOTOR_TORQUES,
                "motor_1": replace(
                    FREE, friction=PreslidingFriction(stribeck_velocity=0.1, breakaway=0.02, bristle_damping=1.0)
                ),
            },
            5e-4,
        ),
    ],
    ids=["controller", "integral", "LuGre"],
)
def test_what_is_stepped_in_another_order_differs_in_proportion_to_the_step(options, bound):
    coarse, fine = (difference(CompliantActuator(SEA(), **options), h=h) for h in (1e-3, 1e-4))
    assert coarse < bound
    assert fine < coarse / 8.0


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
def test_every_catalogue_robot_is_exported_natively_or_refused_with_the_block(name, tmp_path):
    try:
        robot = load(name)
    except MissingDependency as missing:
        pytest.skip(str(missing))
    laws = {type(actuator.law) for actuator in robot.actuators.values()}
    if laws - {SEA}:
        with pytest.raises(ModelError, match=r"law \w+ is not a linear spring"):
            describe_mjcf(robot, native=True)
        return
    export = describe_mjcf(robot, native=True)
    model = mujoco.MjModel.from_xml_string(export.text)
    assert model.nuser_actuator == 0 or not robot.actuators
    if not robot.actuators:
        return
    controls = reference("chirp", robot.timestep)
    np.save(tmp_path / "in.npy", controls)
    arguments = [sys.executable, "-c", PLAIN, str(tmp_path / "in.npy"), str(tmp_path / "out.npy")]
    subprocess.run(arguments, input=export.text, text=True, check=True)
    own = in_pliant(robot, controls)
    assert np.ptp(own) > 0.1
    assert np.abs(np.load(tmp_path / "out.npy") - own).max() < 1e-6


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
    (said,) = [warning for warning in export.warnings if "'j' is a cubic spline" in warning]
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
