"""Tendon-driven robots over ROS 2, in batches, in exported files and in MuJoCo Warp, beside one engine."""

import mujoco
import numpy as np
import pytest
from ros2_clients import DOMAINS, until

from pliant import load
from pliant.base.errors import PliantError
from pliant.batch import CpuBatch
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.engine.base import mujoco_state
from pliant.export.mjcf import describe_mjcf
from pliant.ros.ros2 import Ros2Node
from pliant.simulation import Simulation, sync
from pliant.simulation.bridges import make_bridge

PULL = np.array([0.004, -0.002, -0.002, 0.0, 0.001, -0.001])
JOINTS = [f"tendon{i + 1}" for i in range(6)]


@pytest.fixture(scope="module")
def robot():
    return load("tdcr")


def pull(target, joint, value):
    """Command one servo of an engine or of all worlds of a batch [m]; its spool has a radius of 10 mm."""
    if isinstance(target, MujocoEngine):
        target.port(f"{joint}/reference_1")[0] = value / 0.01
    else:
        target.write(f"{joint}/reference_1", value / 0.01)


@pytest.mark.network
def test_commands_tensions_joint_states_and_tip_pass_over_ros_2(robot):
    domain = next(DOMAINS)
    bridge = make_bridge(f"ros2:domain={domain}", robot)
    client = Ros2Node("client", domain=domain)
    heard = {name: [] for name in ("pull", "tension", "tip_position", "tip_orientation")}
    states = []
    with Simulation(MujocoEngine(robot), make_devices(robot), [bridge], pacer=sync()) as simulation:
        simulation.start()
        client.start()
        try:
            for name, into in heard.items():
                client.subscribe(f"/tdcr/tendons/{name}", "std_msgs/Float64MultiArray", into.append)
            client.subscribe("/joint_states", "sensor_msgs/JointState", states.append)
            command = client.advertise("/tdcr/tendons/command/pull", "std_msgs/Float64MultiArray")
            sent = bridge.node.publications
            until(lambda: command.matched and all(sent[f"/tdcr/tendons/{name}"].matched for name in heard))
            item = bridge.topics.incoming["/tdcr/tendons/command/pull"]
            for values in (PULL, np.append(PULL[:5], np.nan)):
                before = item["count"]
                command.send(client.codec.encode("std_msgs/Float64MultiArray", {"data": values.tolist()}))
                until(lambda before=before: item["count"] > before)
                simulation.step(150)
            sample = simulation.sample("tendons").values
            until(lambda: all(len(messages) == 30 for messages in heard.values()))
            until(lambda: states and states[-1]["header"]["stamp"] == 300_000_000)
            for name, messages in heard.items():
                assert np.array(messages[-1]["data"]).tolist() == sample[name].tolist()
            assert states[-1]["name"] == JOINTS
            positions = [simulation.sample(joint).values["position"] for joint in JOINTS]
            assert states[-1]["position"] == pytest.approx(positions, abs=1e-12)
        finally:
            client.stop()
    assert sample["pull"] == pytest.approx(PULL, abs=1e-9)  # the message with NaN was not taken
    assert bridge.health()["rejected"] == 1
    assert sample["tension"][0] > 4.0
    assert sample["tip_position"][0] > 0.04


def test_the_worlds_of_a_batch_move_as_the_engine(robot):
    engine, batch = MujocoEngine(robot), CpuBatch(robot, 2)
    for joint, value in zip(JOINTS, PULL):
        pull(engine, joint, value)
        pull(batch, joint, np.array([value, 0.0])[:, None])
    engine.step(200)
    batch.step(200)
    for port in ("state/qpos", *(f"{joint}/{name}" for joint in JOINTS for name in ("load_1", "motor_1_position"))):
        assert batch.read(port)[0] == pytest.approx(engine.port(port), abs=1e-10), port
    assert np.abs(batch.read("state/qpos")[1] - engine.port("state/qpos")).max() > 0.05


def test_an_exported_file_has_the_shape_and_the_springs_of_the_robot_and_says_who_pulls(robot):
    engine = MujocoEngine(robot)
    for joint, value in zip(JOINTS, PULL):
        pull(engine, joint, value)
    engine.step(200)
    state = mujoco_state(engine, "test")
    found = describe_mjcf(robot)
    assert any("plain MuJoCo applies no torque" in line for line in found.warnings)
    model = mujoco.MjModel.from_xml_string(found.text)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = state.data.qpos, state.data.qvel
    mujoco.mj_forward(model, data)
    mujoco.mj_forward(state.model, state.data)
    np.testing.assert_allclose(data.site("tip").xpos, state.data.site("tip").xpos, atol=1e-9)
    np.testing.assert_allclose(data.ten_length, state.data.ten_length, atol=1e-9)
    np.testing.assert_allclose(data.qfrc_passive, state.data.qfrc_passive, atol=1e-7)
    with pytest.raises(PliantError, match="law cable is not a linear spring"):
        describe_mjcf(robot, native=True)


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_mujoco_warp_moves_the_robot_as_the_engine(robot, precision):
    pytest.importorskip("mujoco_warp", reason="MuJoCo Warp is not installed: pip install 'pliant[warp]'")
    from pliant.learn.warp import WarpBatch

    engine, batch = MujocoEngine(robot), WarpBatch(robot, 2, "cpu", precision=precision)
    for k in range(10):
        for joint, value in zip(JOINTS, PULL):
            pull(engine, joint, value * min(1.0, (k + 1) / 5.0))
            pull(batch, joint, value * min(1.0, (k + 1) / 5.0))
        engine.step(20)
        batch.step(20)
        np.testing.assert_allclose(batch.read("state/qpos")[0], engine.port("state/qpos"), atol=1e-5)
    for joint in JOINTS:
        assert batch.read(f"{joint}/load_1")[0] == pytest.approx(engine.port(f"{joint}/load_1"), abs=1e-5)
