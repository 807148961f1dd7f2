"""MuJoCo Warp with the laws of pliant, on Warp's CPU device; what needs a GPU is skipped without one."""

import numpy as np
import pytest
from warp_devices import WARP_DEVICES

pytest.importorskip("mujoco_warp", reason="MuJoCo Warp is not installed: pip install 'pliant[warp]'")

import mujoco

from pliant.base.errors import LawError, MissingDependency, ModelError
from pliant.batch.worlds import CpuBatch
from pliant.engine import MujocoEngine
from pliant.learn import warp as module
from pliant.learn.warp import WarpBatch
from pliant.model.robot import Robot
from pliant.robots import build_robot


def swing(batch, engine, seconds):
    """Move all joints and return the largest difference of a position along the way [rad]."""
    worst = 0.0
    joints = batch.joints
    for k in range(round(seconds / 0.05)):
        for j, joint in enumerate(joints):
            value = 0.5 * np.sin(3.0 * 0.05 * k + j)
            batch.write(f"{joint}/reference_1", value)
            engine.port(f"{joint}/reference_1")[:] = value
        n = round(0.05 / batch.dt)
        batch.step(n)
        engine.step(n)
        worst = max(worst, abs(batch.read("state/qpos") - engine.port("state/qpos")).max())
    return worst


ROBOTS = ["qbmove-1dof", "qbmove-5dof", "sea-1dof", "bavs-1dof", "awas2-1dof"]


@pytest.mark.slow
@pytest.mark.parametrize("device", WARP_DEVICES)
@pytest.mark.parametrize(("precision", "limit"), [("float64", 1e-6), ("float32", 2e-5)])
@pytest.mark.parametrize("name", ROBOTS)
def test_a_robot_of_each_law_moves_as_in_the_engine_for_two_seconds(name, precision, limit, device):
    robot = build_robot(name)
    batch, engine = WarpBatch(robot, 2, device, precision=precision), MujocoEngine(robot)
    worst = swing(batch, engine, 2.0)
    print(f"{precision}: {worst:.3g} rad")
    assert abs(engine.port("state/qpos")).max() > 0.1
    assert 0.0 < worst <= limit


def test_a_callback_that_was_there_before_runs_too_and_one_that_comes_later():
    batch = WarpBatch(build_robot("qbmove-2dof", {"mounting": "vertical"}), 2)
    called = []
    batch.warp_model.callback.act_bias = lambda m, d: called.append("bias")
    batch.warp_model.callback.control = lambda m, d: d.ctrl.fill_(0.3)
    batch.step(40)
    assert len(called) == 40
    assert (batch.read("joint_1/reference_1") == np.float32(0.3)).all()
    assert (batch.read("joint_1/motor_1_position") > 0.1).all()  # the laws run beside theirs


def test_a_callback_that_calls_the_one_before_it_does_not_call_itself_for_ever():
    batch = WarpBatch(build_robot("qbmove-2dof", {"mounting": "vertical"}), 1)
    ours = batch.warp_model.callback.act_dyn
    called = []

    def theirs(m, d):
        called.append(1)
        ours(m, d)

    batch.warp_model.callback.act_dyn = theirs
    batch.step(3)
    assert len(called) == 3


def test_a_world_is_given_to_mujoco_with_its_motors():
    batch = WarpBatch(build_robot("qbmove-2dof", {"mounting": "vertical"}), 2)
    batch.write("joint_1/reference_1", [0.1, 0.4])
    batch.step(100)
    data = batch.get_data(1)
    np.testing.assert_allclose(data.qpos, batch.read("state/qpos")[1])
    model = batch.model
    first = int(model.actuator_actadr[model.actuator("joint_1").id])
    assert data.act[first] == pytest.approx(batch.read("joint_1/motor_1_position")[1, 0], abs=1e-6)


# -- bad input -------------------------------------------------------------------------------------------------

ONE = """<mujoco><option timestep="0.001" {option}/><worldbody><body>
<joint name="swing" axis="0 1 0"/><geom size="0.1"/></body></worldbody></mujoco>"""


def one(option=""):
    return mujoco.MjModel.from_xml_string(ONE.format(option=option))


@pytest.mark.parametrize(("more", "message"), [({"device": "cuda:9"}, "cuda:9"), ({"precision": "half"}, "half")])
def test_a_device_or_precision_that_does_not_exist_is_refused(more, message):
    with pytest.raises(LawError, match=message):
        WarpBatch(one(), 1, **more)


def test_a_feature_that_mujoco_warp_lacks_is_named():
    with pytest.raises(ModelError, match=r"MuJoCo Warp cannot run this model: .*PGS"):
        WarpBatch(one('solver="PGS"'), 1)


def test_too_many_worlds_are_refused_before_they_are_allocated(monkeypatch):
    monkeypatch.setattr(module, "free_memory", lambda device: 10_000_000)
    with pytest.raises(
        ModelError, match=r"1000000 worlds need .* GB on cpu, where 0.01 GB are free; must be at most \d+"
    ):
        WarpBatch(one(), 1_000_000)


def test_the_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "mujoco_warp", None)
    with pytest.raises(MissingDependency, match=r'a batch in MuJoCo Warp needs .*pip install "pliant\[warp\]"'):
        WarpBatch(one(), 1)


@pytest.mark.parametrize("device", [device for device in WARP_DEVICES if device != "cpu"])
def test_steps_replayed_from_a_cuda_graph_equal_plain_steps(device):
    robot = build_robot("qbmove-5dof")
    replayed, plain = WarpBatch(robot, 64, device), WarpBatch(robot, 64, device)
    for batch in (replayed, plain):
        batch.write("joint_1/reference_1", np.linspace(-0.6, 0.6, 64))
        batch.write("joint_3/reference_1", 0.4)
    replayed.step(200)
    for _ in range(200):
        plain._graph = None
        plain.step()
    assert replayed._graph is not None
    # The order in which threads add up forces differs from run to run: 1e-9 rad.
    np.testing.assert_allclose(replayed.read("state/qpos"), plain.read("state/qpos"), rtol=0.0, atol=1e-6)
    np.testing.assert_allclose(replayed.field("observed"), plain.field("observed"), rtol=1e-5, atol=1e-4)
    assert replayed.steps().tolist() == plain.steps().tolist()[:1] * 64


@pytest.mark.parametrize("device", [device for device in WARP_DEVICES if device != "cpu"])
def test_a_gpu_that_does_not_exist_is_not_called_a_missing_driver(device):
    with pytest.raises(LawError, match=r"device is 'cuda:9'; did you mean 'cuda:0'"):
        WarpBatch(one(), 1, "cuda:9")


@pytest.mark.parametrize("device", WARP_DEVICES)
def test_a_field_that_is_fetched_keeps_its_values_when_the_batch_goes_on(device):
    batch = WarpBatch(build_robot("qbmove-2dof", {"mounting": "vertical"}), 3, device)
    batch.write("joint_1/reference_1", 0.5)
    batch.step(20)
    if device != "cpu":
        fetched = {name: batch.field(name) for name in ("qpos", "observed", "xpos")}
        kept = {name: values.copy() for name, values in fetched.items()}
        batch.step(20)
        for name, values in fetched.items():
            np.testing.assert_array_equal(values, kept[name])
            assert abs(batch.field(name) - values).max() > 0.0
    for place in ("joint_1/torque", "joint_2/position", "state/qpos"):
        at = batch.place(place)
        np.testing.assert_array_equal(batch.read(place), batch.field(at.field)[(slice(None), *at.index)])


@pytest.mark.parametrize("device", WARP_DEVICES)
def test_a_robot_without_compliant_joints_moves_as_in_the_engine(device):
    text = (
        '<mujoco><option timestep="0.002"/><worldbody><body><joint name="j" axis="0 1 0" damping="0.1"/>'
        '<geom size="0.1" mass="1" pos="0.2 0 0"/></body></worldbody>'
        '<actuator><motor name="m" joint="j"/></actuator></mujoco>'
    )
    robot = Robot(mujoco.MjSpec.from_string(text))
    batches = [WarpBatch(robot, 2, device), CpuBatch(robot, 2)]
    for batch in batches:
        batch.write("m/control", 0.5)
        batch.step(100)
    q = [batch.read("j/position") for batch in batches]
    np.testing.assert_allclose(q[0], q[1], atol=1e-5)
    assert np.abs(q[1]).min() > 0.5
