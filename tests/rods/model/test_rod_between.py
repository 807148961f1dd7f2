"""A rod between two bodies in a robot's model: at rest in its statics, with its loads; an arm bends a clamped rod."""

import mujoco
import numpy as np
import pytest

import pliant
from pliant.base.errors import ModelError
from pliant.base.spatial import exp_so3, pose
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.engine.base import mujoco_state
from pliant.franka.wire import fci
from pliant.model import Robot
from pliant.rods import DistributedLoad, PointLoad, Rod, RodBetween, Round, attach_rod
from pliant.simulation import Simulation

ROD = Rod(length=0.5, section=Round(radius=1e-3))
SLIDER = """<mujoco><compiler angle="degree"/><worldbody><body name="slider"><joint name="z" type="slide" axis="0 0 1"/>
  <geom size="0.02" mass="0.5"/></body><geom name="post" type="capsule" size=".01 .1" pos="0 .3 .2" euler="0 90 0"/>
  </worldbody><actuator><position joint="z" kp="1e5" kv="1e3"/></actuator></mujoco>"""


def rest(robot):
    model = robot.compile()
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("rest").id)
    mujoco.mj_forward(model, data)
    return model, data


LOADS = {
    "none": (),
    "dead force": (PointLoad(at=1.0, force=(0.3, 0.1, 0.0)),),
    "follower force": (PointLoad(at=0.6, force=(0.3, 0.1, 0.0), follower=True),),
    "dead moment": (PointLoad(at=0.6, moment=(0.1, 0.1, 0.02)),),
    "follower moment": (PointLoad(at=0.6, moment=(0.1, 0.1, 0.02), follower=True),),
    "distributed": (DistributedLoad(force=(0.5, 0.0, 0.0), begin=0.2, end=0.8),),
    "follower distributed": (DistributedLoad(force=(0.5, 0, 0), moment=(0, 0.1, 0.03), follower=True),),
}


@pytest.mark.parametrize("loads", LOADS.values(), ids=LOADS)
def test_a_loaded_cantilever_stays_where_the_statics_have_it(loads):
    part = RodBetween(rod=ROD, body_b=None, loads=loads, segments=8)
    model, data = rest(attach_rod(Robot(mujoco.MjSpec()), part))
    tip = part.solve(model, data).tip[:3, 3]
    np.testing.assert_allclose(part.points(model, data)[-1], tip, atol=1e-9)
    for _ in range(300):
        mujoco.mj_step(model, data)
    # A distributed load acts at the middle of its part of each link.
    np.testing.assert_allclose(part.points(model, data)[-1], tip, atol=2e-5)


def test_loads_act_at_their_place_on_the_bent_rod():
    at = (0.0, 0.1234, 1.0 / 3.0, 1.0)
    loads = tuple(PointLoad(at=s, force=(0.1, 0.05, 0.0), follower=s == at[1]) for s in at)
    part = RodBetween(rod=ROD, body_b=None, loads=loads, segments=6)
    model, data = rest(attach_rod(Robot(mujoco.MjSpec()), part))
    expected = part.solve(model, data).at(np.array(at))
    for k in range(len(at)):
        site = data.site(f"rod/load{k}")
        np.testing.assert_allclose(site.xpos, expected.position[k], atol=1e-8)
        np.testing.assert_allclose(site.xmat.reshape(3, 3), expected.rotation[k], atol=1e-7)


def test_a_rod_pushes_a_slider_away_with_the_force_of_the_statics():
    robot = Robot(mujoco.MjSpec.from_string(SLIDER))
    # An arc of 1.4 rad, which no small change of a load makes leave its plane.
    part = RodBetween(
        rod=ROD, body_b="slider", pose_a=pose((0.0, 0.0, -0.45), exp_so3([0.0, 0.7, 0.0])), contact=False, damping=0.03,
        pose_b=pose((0.0, 0.0, 0.0), exp_so3([0.0, -0.7, 0.0])),
    )  # fmt: skip
    model, data = rest(attach_rod(robot, part))
    assert model.opt.integrator == mujoco.mjtIntegrator.mjINT_DISCRETE
    start = part.solve(model, data)
    data.ctrl[0] = -0.02
    for _ in range(1500):
        mujoco.mj_step(model, data)
    mujoco.mj_kinematics(model, data)
    statics = part.solve(model, data, start=start)
    expected, largest_moment = statics.wrench_b, np.abs(statics.centreline(51).moment).max()
    found = part.wrench_b(model, data)
    assert np.linalg.norm(found[:3] - expected[:3]) < 0.01 * np.linalg.norm(expected[:3])
    assert np.linalg.norm(found[3:] - expected[3:]) < 0.01 * largest_moment


def test_the_key_frames_of_a_robot_keep_their_positions_by_name():
    text = SLIDER.replace("</mujoco>", '<keyframe><key name="rest" qpos="0.01"/></keyframe></mujoco>')
    robot = attach_rod(
        Robot(mujoco.MjSpec.from_string(text)), RodBetween(rod=ROD, body_a="slider", body_b="world", segments=5,
        pose_b=pose((0.05, 0.0, 0.45)))
    )  # fmt: skip
    _, data = rest(robot)
    assert data.joint("z").qpos[0] == 0.01
    assert np.count_nonzero(data.qpos) == 1


def test_a_rod_stops_at_an_object_of_the_world():
    robot = Robot(mujoco.MjSpec.from_string(SLIDER))
    part = RodBetween(rod=ROD, pose_a=pose((0.0, 0.25, 0.0)), body_b=None)
    model, data = rest(attach_rod(robot, part))
    data.body("rod/link10").xfrc_applied[1] = 1.5  # bends it by 8 cm at the height of the post, which is 4 cm away
    touched = False
    for _ in range(600):
        mujoco.mj_step(model, data)
        touched |= any(model.geom("post").id in contact.geom for contact in data.contact[: data.ncon])
    assert touched
    assert min([contact.dist for contact in data.contact[: data.ncon]], default=0.0) > -3e-4


def test_a_rod_follows_its_robot_under_a_prefix():
    robot = attach_rod(
        Robot(mujoco.MjSpec.from_string(SLIDER)), RodBetween(rod=ROD, body_b="slider", pose_a=pose((0.03, 0, -0.47)))
    )
    both = Robot(mujoco.MjSpec()).attach(robot, prefix="left/")
    model = both.compile()
    assert model.body("left/rod/link10").id > 0
    assert [p for p in both.check() if p.severity == "error"] == []


@pytest.mark.slow
def test_a_franka_arm_bends_a_clamped_rod_with_the_force_of_the_statics():
    robot = pliant.load("fr3")
    _, data = rest(robot)
    palm = pose((0.0, 0.0, 0.1034), exp_so3([np.pi, 0.0, 0.0]))  # the rod comes from below
    hand = data.body("franka_hand")
    X = pose(hand.xpos, hand.xmat.reshape(3, 3)) @ palm
    # The rod is an arc of 1.4 rad; the hand pushes on it by moving.
    way = X[:3, :3] @ exp_so3([0.0, 0.7, 0.0])
    clamp = pose(X[:3, 3] - 0.455 * way[:, 2], X[:3, :3] @ exp_so3([0.0, 1.4, 0.0]))
    rod = Rod(length=0.5, section=Round(radius=1.2e-3))
    part = RodBetween(rod=rod, pose_a=clamp, body_b="franka_hand", pose_b=palm, damping=0.03)
    attach_rod(robot, part)
    engine = MujocoEngine(robot)
    with Simulation(engine, make_devices(robot), pacer="free") as simulation:
        state = mujoco_state(engine, "the arm")
        first = part.solve(state.model, state.data)
        simulation.request(
            "franka", "move", controller=fci.Controller.JOINT_IMPEDANCE,
            motion_generator=fci.MotionGenerator.JOINT_VELOCITY,
        )  # fmt: skip
        simulation.step()
        arm, ramp = simulation.devices["franka"], 1500
        for k in range(ramp):
            speed = 0.05 * (1.0 - np.cos(2.0 * np.pi * k / ramp))
            arm.inbox.put({"dq_c": speed * np.array([1, 0.5, 0, 0.3, 0, 0, 0])})
            simulation.step()
        arm.inbox.put({"dq_c": np.zeros(7), "finished": 1.0})
        simulation.run(1.5)
        mujoco.mj_kinematics(state.model, state.data)
        statics = part.solve(state.model, state.data, start=first)
        expected, largest_moment = statics.wrench_b, np.abs(statics.centreline(51).moment).max()
        found = part.wrench_b(state.model, state.data)
    assert np.linalg.norm(expected[:3] - first.wrench_b[:3]) > 0.5  # the arm has bent it
    assert np.linalg.norm(found[:3] - expected[:3]) < 0.01 * np.linalg.norm(expected[:3])
    assert np.linalg.norm(found[3:] - expected[3:]) < 0.01 * largest_moment
    assert simulation.sample("franka").values["errors"].sum() == 0.0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"body_b": "slidr"}, "no body 'slidr'; did you mean 'slider'"),
        ({"pose_a": pose((0.0, 0.0, -0.6))}, "length must be at least 0.6 m"),
        ({"segments": 2}, "from 3 to 200"),
        ({"damping": -1.0}, ">= 0"),
        ({"name": ""}, "must be a word"),
        ({"loads": (1.0,)}, "PointLoad and DistributedLoad"),
        ({"pose_b": np.zeros((4, 4))}, "rigid 4x4 pose"),
        ({"rod": "steel"}, "must be a pliant.rods.Rod"),
    ],
)
def test_wrong_rods_are_named_and_leave_the_robot_as_it_was(changes, message):
    robot = Robot(mujoco.MjSpec.from_string(SLIDER))
    given = {"rod": ROD, "body_b": "slider", "pose_a": pose((0.03, 0.0, -0.47))} | changes
    with pytest.raises(ModelError, match=message):
        attach_rod(robot, RodBetween(**given))
    assert robot.devices == []
