"""The torso with two arms: places, gravity, sensor, tag, post."""

import importlib.util
import math

import mujoco
import numpy as np
import pytest

from pliant.base.errors import ModelError
from pliant.base.spatial import inverse, pose
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.engine.base import mujoco_state
from pliant.franka.client import FrankaRobot
from pliant.franka.robots.build import ArmMount, HeldTag, build_arms
from pliant.franka.robots.kinematics import forward_kinematics
from pliant.franka.robots.parameters import EE_OF_HAND, FRANKA_HAND
from pliant.franka.robots.torso import CAMERA, POST_FACE, POST_STIFFNESS, Q_LEFT, Q_RIGHT, TAG, base, torso
from pliant.robots import build_robot
from pliant.simulation import Simulation
from pliant.vision.vision_force import ToolLoad

needs_tags = pytest.mark.skipif(importlib.util.find_spec("pyapriltags") is None, reason="pyapriltags is not installed")


def simulated(**options):
    robot = build_robot("franka-torso", options)
    return Simulation(MujocoEngine(robot), make_devices(robot), pacer="free")


def test_the_bases_are_mirrored_and_their_axes_point_to_the_sides():
    left, right = base("left"), base("right")
    np.testing.assert_allclose(left[:3, 2], [0.0, 1.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(right[:3, 2], [0.0, -1.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(left[:3, 3] * [1, -1, 1], right[:3, 3], atol=1e-12)


def test_arms_and_sensors_have_names_of_their_side():
    assert list(simulated().devices) == ["left", "right", "right_wrench"]


def test_both_arms_hold_their_weight_with_level_bases():
    with simulated() as simulation, FrankaRobot.of(simulation, "left") as left:
        right = FrankaRobot.of(simulation, "right")
        before = left.get_position(), right.get_position()
        left.wait(0.5)
        np.testing.assert_allclose(left.get_position(), before[0], atol=1e-4)
        np.testing.assert_allclose(right.get_position(), before[1], atol=1e-4)
        # gravity in the two bases points to opposite sides of their y axes
        np.testing.assert_allclose(left.backend.get("O_ddP_O"), [0.0, 9.81, 0.0], atol=1e-5)
        np.testing.assert_allclose(right.backend.get("O_ddP_O"), [0.0, -9.81, 0.0], atol=1e-5)


def test_the_wrench_sensor_measures_the_weight_of_the_hand_alone():
    with simulated() as simulation, FrankaRobot.of(simulation, "right") as right:
        right.wait(0.1)
        values = simulation.sample("right_wrench").values
        R = base("right")[:3, :3] @ forward_kinematics(right.get_position(), "flange")[:3, :3]
        load = ToolLoad(FRANKA_HAND.mass, FRANKA_HAND.center_of_mass)
        contact = load.contact(np.concatenate([values["force"], values["torque"]]), R)
        np.testing.assert_allclose(contact, np.zeros(6), atol=2e-3)


@needs_tags
def test_the_tag_in_the_left_hand_is_where_the_kinematics_puts_it():
    robot = build_robot("franka-torso", {"tag": "held"})
    model = robot.compile()
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("rest").id)
    mujoco.mj_kinematics(model, data)
    site = data.site("left_tag")
    X = base("left") @ forward_kinematics(np.array(Q_LEFT), F_T_EE=EE_OF_HAND) @ TAG.EE_T_O
    np.testing.assert_allclose(pose(site.xpos, site.xmat.reshape(3, 3)), X, atol=1e-6)


@needs_tags
@pytest.mark.parametrize("meshes", ["", "shapes"])
def test_the_tag_in_the_left_hand_is_drawn(meshes):
    model = torso(tag=True, meshes=meshes).compile()
    assert {int(model.geom(f"left_tag/{part}").group[0]) for part in ("print", "plate")} == {2}


def test_the_right_camera_sees_the_tag_at_the_start():
    X_WO = base("left") @ forward_kinematics(np.array(Q_LEFT), F_T_EE=EE_OF_HAND) @ TAG.EE_T_O
    X_WC = base("right") @ forward_kinematics(np.array(Q_RIGHT), F_T_EE=CAMERA.F_T_C)
    X_CO = inverse(X_WC) @ X_WO
    half = math.tan(0.5 * math.radians(CAMERA.fovy))
    assert 0.25 < X_CO[2, 3] < 0.35
    assert np.abs(X_CO[:2, 3]).max() / X_CO[2, 3] < 0.5 * half
    assert X_CO[2, 2] < -0.9  # the print looks at the camera


@pytest.mark.parametrize("obstacle", [True, False])
def test_the_post_stands_on_the_table_and_touches_nothing_at_the_start(obstacle):
    with simulated(obstacle=obstacle) as simulation, FrankaRobot.of(simulation, "right") as right:
        right.wait(0.01)
        state = mujoco_state(simulation.engine, "post")
        names = {state.model.geom(i).name for i in range(state.model.ngeom)}
        assert ("obstacle" in names) == obstacle
        assert state.data.ncon == 0


def test_a_finger_that_slides_along_the_post_never_leaves_it():
    """MuJoCo's friction cones lift what slides: with pyramids the contact opens for single steps at a force of 8 N."""
    force, speed = 8.0, 0.08
    spec = torso().spec.copy()
    finger = spec.worldbody.add_body(name="slider", pos=[POST_FACE + 0.01, -0.03, 0.97])
    finger.add_geom(name="slider", type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.01, 0.006, 0.03], mass=2.0)
    finger.add_joint(name="across", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[1, 0, 0], damping=[20.0, 0, 0])
    finger.add_joint(name="along", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[0, 0, 1])
    model = spec.compile()
    model.opt.gravity = 0.0
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("rest").id)
    along = data.joint("along")
    slider, post = model.geom("slider").id, model.geom("obstacle").id
    touching = []
    for _ in range(600):
        data.joint("across").qfrc_applied[0] = -force
        along.qvel[0] = speed
        mujoco.mj_step(model, data)
        touching.append(any(set(map(int, contact.geom)) == {slider, post} for contact in data.contact))
    assert data.joint("obstacle").qpos[0] == pytest.approx(-force / POST_STIFFNESS, rel=0.1)
    assert all(touching[5:])


def test_a_sensor_or_a_tag_without_a_hand_is_refused():
    with pytest.raises(ModelError, match="force/torque sensor with hand 'none'"):
        build_arms([ArmMount(hand="none", wrench_sensor=True)])
    with pytest.raises(ModelError, match="tag with hand 'vacuum'"):
        build_arms([ArmMount(hand="vacuum", tag=HeldTag())])
