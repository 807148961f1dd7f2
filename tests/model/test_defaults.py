"""The defaults of a robot's file act on its own elements only, whatever pliant adds to the model."""

import mujoco
import numpy as np
import pytest

from pliant.base.spatial import pose
from pliant.export.mjcf import describe_mjcf
from pliant.laws import SEA, CompliantActuator, DCMotor, PreslidingFriction, QbMove
from pliant.model import Robot
from pliant.model.defaults import neutral_defaults
from pliant.model.sensors import Camera, ForceTorque, Imu, Laser
from pliant.objects import add_world

OTHERS = {
    "joint": """damping="0.7" armature="0.3" stiffness="5" frictionloss="0.2" springref="0.4" range="-0.3 0.3"
        limited="true" margin="0.01" group="3" actuatorfrcrange="-1 1" actuatorgravcomp="true" solreflimit="0.1 1" """,
    "geom": """contype="0" conaffinity="0" density="77" friction="0.3 0.001 0.00001" margin="0.004" condim="1"
        rgba="1 0 0 1" group="2" solref="0.05 1" priority="3" euler="0.3 0.1 0.2" """,
    "site": 'group="2" size="0.05" rgba="0 1 0 0.5" type="box"',
    "camera": 'fovy="20"',
    "mesh": 'scale="2 3 4"',
    "material": 'rgba="1 0 0 0.5" specular="0.1"',
    "equality": 'solref="0.2 1" active="false"',
    "tendon": 'stiffness="11" damping="0.3" frictionloss="0.4" springlength="0.1" range="-1 1" limited="true"',
    "general": """gear="3" ctrlrange="-0.2 0.2" ctrllimited="true" forcerange="-0.1 0.1" forcelimited="true"
        biastype="affine" biasprm="1 2 3" group="2" """,
}
"""Element -> attributes of its defaults, all other than MuJoCo's own."""
BODIES = """<worldbody>
 <body name="arm" pos="0 0 0.6"><joint name="shoulder" class="own" axis="0 1 0"/>
  <geom class="own" type="capsule" size="0.02 0.15 0" pos="0 0 -0.15"/>
  <body name="hand" pos="0 0 -0.3"><joint name="wrist" class="own" axis="0 1 0"/>
   <geom class="own" type="box" size="0.02 0.02 0.1" pos="0 0 -0.1"/></body></body>
</worldbody>"""
OWN = """damping="0.05" armature="0.001" stiffness="0" frictionloss="0" springref="0" range="-2 2" limited="true"
    margin="0" group="0" actuatorfrcrange="0 0" actuatorfrclimited="false" actuatorgravcomp="false"
    solreflimit="0.02 1" """
SHAPE = """contype="1" conaffinity="1" density="800" friction="1 0.005 0.0001" margin="0" condim="3"
    rgba="0.5 0.5 0.5 1" group="0" solref="0.02 1" priority="0" euler="0 0 0" """
CLASS = f'<default class="own"><joint {OWN}/><geom {SHAPE}/></default>'


def described(place):
    """Return the spec of an arm whose file has defaults at a place: "nowhere", "main" or "childclass"."""
    others = "".join(f"<{kind} {values}/>" for kind, values in OTHERS.items())
    bodies = BODIES
    if place == "childclass":
        others = f'<default class="others">{others}</default>'
        bodies = BODIES.replace('<body name="arm"', '<body name="arm" childclass="others"')
    text = "" if place == "nowhere" else others
    return mujoco.MjSpec.from_string(
        f'<mujoco model="arm"><compiler angle="radian"/><default>{text}{CLASS}</default>{bodies}</mujoco>'
    )


def actuators(robot):
    motor = DCMotor(friction=PreslidingFriction(torque=0.0))
    robot.add_actuator("shoulder", CompliantActuator(SEA(), mode=4, motor_1=motor))
    robot.add_actuator("wrist", CompliantActuator(QbMove(), mode=6))


def sensors(robot):
    robot.devices += [
        Imu(name="imu", body="hand", pos=(0.01, 0.0, 0.0)),
        ForceTorque(name="wrench", body="hand"),
        Laser(name="laser", body="hand"),
        Camera(name="camera", body="hand"),
    ]


def rod(robot):
    from pliant.rods import Rod, RodBetween, Round, attach_rod

    steel = Rod(length=0.3, section=Round(radius=2e-3), young_modulus=2e9, shear_modulus=1e9, density=8000)
    attach_rod(robot, RodBetween(rod=steel, body_a="hand", pose_a=pose((0, 0, -0.2)), body_b=None, segments=3))


def tag(robot):
    pytest.importorskip("pyapriltags")
    from pliant.vision.tags import add_tag

    add_tag(robot.spec, 3, 0.05, body="hand")


def differences(a, b):
    """Return the names of the arrays in which two models differ; widths of tendons are for drawing only."""
    found = []
    for name in dir(a):
        x, y = getattr(a, name), getattr(b, name)
        if (
            name.startswith("_")
            or not isinstance(x, np.ndarray)
            or x.dtype.kind not in "fiub"
            or name == "tendon_width"
        ):
            continue
        if x.shape != y.shape or not np.allclose(x, y, rtol=1e-9, atol=1e-12, equal_nan=True):
            found.append(name)
    return found


ADDED = (actuators, sensors, add_world, rod, tag)


@pytest.mark.parametrize("place", ["main", "childclass"])
@pytest.mark.parametrize("add", ADDED, ids=lambda add: add.__name__)
def test_what_is_added_has_no_defaults_of_the_file(add, place):
    models = []
    for where in ("nowhere", place):
        robot = Robot(described(where))
        robot.set("option.timestep", 5e-4)
        add(robot)
        models.append(robot.compile())
    assert not differences(*models)


@pytest.mark.parametrize("mode", range(5))
def test_elements_of_plain_mujoco_have_no_defaults_of_the_file(mode):
    models = []
    for place in ("nowhere", "main"):
        robot = Robot(described(place))
        motor = DCMotor(friction=PreslidingFriction(torque=0.0))
        robot.add_actuator("wrist", CompliantActuator(SEA(), mode=mode, motor_1=motor))
        exported = describe_mjcf(robot, native=True)
        models.append(mujoco.MjModel.from_xml_string(exported.text))
    assert not differences(*models)


@pytest.mark.parametrize("place", ["main", "childclass"])
def test_the_defaults_return(place):
    spec = described(place)
    before = spec.copy().to_xml()
    with neutral_defaults(spec):
        assert spec.default.actuator.gear[0] == 1.0
    assert spec.to_xml() == before
    assert spec.default.actuator.gear[0] == (3.0 if place == "main" else 1.0)
