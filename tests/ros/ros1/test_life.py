"""How a node of ROS 1 comes, goes, and meets others: registrations, names, a second robot on one master."""

import signal
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest
from ros1_world import DATA, World, template, until

from pliant.base.errors import BridgeError
from pliant.ros.ros1 import Ros1Node

pytestmark = pytest.mark.network


@contextmanager
def running(tmp_path, *arguments):
    """Run pliant's command line in a process of its own; what it says is in ``out`` and ``err``."""
    with (tmp_path / "out").open("wb") as out, (tmp_path / "err").open("wb") as err:
        process = subprocess.Popen(
            [sys.executable, "-m", "pliant", *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=out, stderr=err
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait(30)


def registered(master):
    return {
        *(t for t, nodes in master.publishers.items() if nodes),
        *(t for t, nodes in master.subscribers.items() if nodes),
        *master.services,
    }


def registered_nodes(master):
    return [*master.publishers.values(), *master.subscribers.values()]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_run_that_is_ended_leaves_nothing_in_the_master(master, tmp_path, number):
    with running(tmp_path, "run", template(tmp_path), "--bridge", f"ros1:master={master.uri}", "--no-check") as process:
        client = Ros1Node("/client", master=master.uri, host="127.0.0.1")
        client.start()
        try:
            client.announce()
            clock = []
            client.subscribe("/clock", "rosgraph_msgs/Clock", clock.append)
            until(lambda: clock or process.poll() is not None, "it runs", 60.0)
        finally:
            client.stop()
        process.send_signal(number)
        assert process.wait(60) in (0, 130)
    assert registered(master) == set()
    assert "s simulated" in (tmp_path / "out").read_text()  # the results are said


def test_a_second_robot_is_told_how_to_live_beside_the_first_and_then_does(master, tmp_path, world):
    first = world()
    until(lambda: "/clock" in registered(master))
    with pytest.raises(BridgeError, match=r"\(ros1:namespace=NAME,clock=false\)"):
        World(master, template(tmp_path), ",node=second")
    with pytest.raises(BridgeError, match=r"/clock is already published by /pliant_toBEassigned.*\(ros1:clock=false\)"):
        World(master, template(tmp_path), ",namespace=right")
    with pytest.raises(BridgeError, match=r"/joint_states has the joint 'joint' of .*\(ros1:prefix=NAME_\)"):
        World(master, template(tmp_path), ",namespace=right,clock=false")
    assert "/pliant_right" not in {n for nodes in registered_nodes(master) for n in nodes}
    second = World(master, template(tmp_path), ",namespace=right,clock=false,prefix=right_")
    try:
        second.connect("/listener")
        states = second.hear("/right/robot_state", "sensor_msgs/JointState")
        command = second.speak("/right/joint/equilibrium_position", "std_msgs/Float64")
        command(data=0.3)
        second.simulation.step(10)
        first.simulation.step(10)
        until(lambda: len(states) == 10)
        assert second.simulation.engine.port("joint/reference_1")[0] == 0.3
        assert first.simulation.engine.port("joint/reference_1")[0] != 0.3
        assert set(master.publishers["/clock"]) == {"/pliant_toBEassigned"}
        assert set(master.publishers["/joint_states"]) == {"/pliant_toBEassigned", "/pliant_right"}
        assert master.params["/namespace"] == "toBEassigned"  # the first one's
    finally:
        second.close()


def test_a_node_that_died_without_a_word_does_not_stand_in_the_way(master, world):
    master.publishers["/clock"] = {"/dead": "http://127.0.0.1:9/"}
    master.nodes["/dead"] = "http://127.0.0.1:9/"
    master.nodes["/pliant_toBEassigned"] = "http://127.0.0.1:9/"
    assert world().bridge.health()["master_state"] == "ok"


@pytest.mark.parametrize("old", ["gone_robot", "", 7, ["x"]])
def test_the_name_space_of_a_robot_that_is_gone_is_taken_over(master, world, old):
    master.params["/namespace"] = old
    master.publishers["/gone_robot/robot_state"] = {"/dead": "http://127.0.0.1:9/"}
    master.nodes["/dead"] = "http://127.0.0.1:9/"
    world()
    until(lambda: master.params["/namespace"] == "toBEassigned")


def test_a_rate_that_does_not_divide_the_steps_is_kept_on_average(world):
    item = world(options=",aggregate_rate=300,joint_states=8")
    item.connect()
    fast = item.hear("/toBEassigned/robot_state", "sensor_msgs/JointState")
    slow = item.hear("/joint_states", "sensor_msgs/JointState")
    item.simulation.step(2000)
    until(lambda: len(fast) == 600 and len(slow) == 16)
    for k, message in enumerate(fast, start=1):  # the first step at or after the exact time
        assert message["header"]["stamp"] == -(-k * 1000 // 300) * 1_000_000
        assert message["header"]["seq"] == k - 1


def test_a_rate_above_the_samples_is_refused(master, tmp_path):
    with pytest.raises(BridgeError, match=r"joint_states is 2000 Hz; .* must be at most 1000 Hz"):
        World(master, template(tmp_path), ",joint_states=2000")


@pytest.mark.parametrize(("mode", "moves"), [(5, True), (6, False)])
def test_an_array_moves_only_the_joints_that_its_topics_are_meant_for(master, tmp_path, mode, moves):
    """The manager sends element i to ``<joint>/reference_1``, which a joint in mode 6 does not have."""
    item = World(master, template(tmp_path, mode), manager=DATA / "manager.yaml")
    try:
        item.connect()
        forwarded = item.hear("/bench/joint/reference_1", "std_msgs/Float64")
        item.simulation.step()
        before = item.simulation.engine.port("joint/reference_1")[0]
        item.speak("/bench/reference_1", "std_msgs/Float64MultiArray")(data=[0.25])
        until(lambda: item.simulation.step() or forwarded)
        item.simulation.step(2)
        assert forwarded[0]["data"] == 0.25
        assert item.simulation.engine.port("joint/reference_1")[0] == (0.25 if moves else before)
    finally:
        item.close()


def test_after_a_switch_and_a_reset_the_joint_is_reached_on_its_topics(world):
    item = world(6)
    item.connect()
    motors = item.hear("/toBEassigned/joint/motor_1_state", "sensor_msgs/JointState")
    device, port = item.simulation.devices["joint"], item.simulation.engine.port

    def moved(topic):
        item.simulation.step()
        item.speak(f"/toBEassigned/joint/{topic}", "std_msgs/Float64")(data=0.125)
        item.simulation.step(2)
        return port("joint/reference_1")[0] == 0.125

    assert moved("equilibrium_position")
    device.request("set_mode", mode=5)
    item.simulation.step()
    assert moved("reference_1")
    item.simulation.reset()
    item.simulation.step()
    mode = int(device.mode)
    assert mode == int(item.simulation.engine.mode("joint"))
    assert moved("reference_1" if mode == 5 else "equilibrium_position")
    for mode in (4, 5, 6):
        device.request("set_mode", mode=mode)
        before = len(motors)
        item.simulation.step(20)
        until(lambda before=before: len(motors) == before + 2, f"motor states in mode {mode}")


def test_pause_step_and_reset_are_topics_too(world):
    item = world()
    runner = threading.Thread(target=lambda: item.simulation.run(None), daemon=True)
    runner.start()
    try:
        item.connect()
        pause = item.speak("/pliant/pause", "std_msgs/Bool")
        step = item.speak("/pliant/step", "std_msgs/UInt64")
        reset = item.speak("/pliant/reset", "std_msgs/Empty")
        step(data=1)
        until(lambda: any("/pliant/step" in f and "pause" in f for f in item.bridge.health()["last_faults"]))
        pause(data=True)
        until(lambda: item.simulation.paused)
        reset()
        until(lambda: item.simulation.time_ns == 0)
        step(data=25)
        until(lambda: item.simulation.time_ns == 25_000_000)
        step(data=0)
        until(lambda: any("count is 0" in f for f in item.bridge.health()["last_faults"]))
        pause(data=False)
        until(lambda: item.simulation.time_ns > 30_000_000)
    finally:
        item.simulation.stop()
        runner.join(30)


def test_names_with_slashes_and_strange_signs_become_names_of_ros(master, tmp_path):
    item = World(master, template(tmp_path), ",namespace=/cell-3/left arm/")
    try:
        assert "/cell_3/left_arm/joint/link_state" in item.node.publications
        until(lambda: "/cell_3/left_arm/robot_state" in registered(master))
        assert item.node.name == "/pliant_cell_3_left_arm"
    finally:
        item.close()
