"""The ROS 1 bridge against a small master and a node of its own; conformance/ros has roscore and rospy."""

import math
import socket
import struct
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from fake_master import FakeMaster
from ros1_world import DATA, World, template, until

from pliant.base.errors import BridgeError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.robots.loading import load
from pliant.ros.ros1 import Ros1Node, sockets
from pliant.ros.wire import Codec, encode_header
from pliant.simulation import Simulation
from pliant.simulation.bridges import make_bridge

pytestmark = pytest.mark.network
MODE_TOPICS = {
    0: ("torque_command", "disabled"),
    1: ("link_command", "disabled"),
    2: ("reference_1", "reference_2"),
    3: ("equilibrium_position", "stiffness_preset"),
    4: ("torque_m1_command", "torque_m2_command"),
    5: ("reference_1", "reference_2"),
    6: ("equilibrium_position", "stiffness_preset"),
}


@pytest.mark.parametrize("mode", range(7))
def test_the_joint_has_the_toolbox_topics_of_its_mode(master, world, mode):
    item = world(mode)
    base = "/toBEassigned/joint/"
    out = {p.topic[len(base) :]: p.type for p in item.node.publications.values() if p.topic.startswith(base)}
    expected = {
        "link_state": "viactors_plugins/state_info",
        "torque_el1_state": "std_msgs/Float64",
        "torque_el2_state": "std_msgs/Float64",
    }
    if mode >= 4:
        expected |= {"motor_1_state": "sensor_msgs/JointState", "motor_2_state": "sensor_msgs/JointState"}
    # ours beside the toolbox's: qb_move's and dynamic_reconfigure's
    ours = {"joint_states", "parameter_descriptions", "parameter_updates"}
    assert {k: v for k, v in out.items() if k not in ours and not k.startswith("control/")} == expected
    into = {s.topic[len(base) :]: s.type for s in item.node.subscriptions.values() if s.topic.startswith(base)}
    names = {*MODE_TOPICS[mode], "external_torque"}
    assert {k: v for k, v in into.items() if not k.startswith("control/")} == dict.fromkeys(names, "std_msgs/Float64")
    until(lambda: set(item.node.publications) <= set(master.publishers), "the master knows them")
    for topic, publication in item.node.publications.items():
        assert master.types[topic] == publication.type


def test_the_state_message_has_the_sum_of_the_toolbox(world):
    # six float32: q, dq, ref_1, ref_2, tau, stiff
    import hashlib

    text = "float32 q\nfloat32 dq\nfloat32 ref_1\nfloat32 ref_2\nfloat32 tau\nfloat32 stiff"
    found = world().node.publications["/toBEassigned/joint/link_state"].md5sum
    assert found == hashlib.md5(text.encode()).hexdigest()


def test_flags_of_the_tag_switch_topics_off(master, tmp_path):
    item = World(master, template(tmp_path, flags=("false", "false", "false")))
    try:
        topics = {*item.node.publications, *item.node.subscriptions}
        for name in ("torque_el1_state", "torque_el2_state", "link_state", "external_torque"):
            assert f"/toBEassigned/joint/{name}" not in topics
        assert "/toBEassigned/joint/motor_1_state" in topics
    finally:
        item.close()


def test_aggregated_topics_clock_and_joint_states(world):
    publications = {t: p.type for t, p in world().node.publications.items()}
    for name in ("robot_state", "motor_1_state", "motor_2_state"):
        assert publications[f"/toBEassigned/{name}"] == "sensor_msgs/JointState"
    assert publications["/toBEassigned/stiffness_state"] == "std_msgs/Float64MultiArray"
    assert publications["/clock"] == "rosgraph_msgs/Clock"
    assert publications["/joint_states"] == "sensor_msgs/JointState"
    assert publications["/tf"] == "tf2_msgs/TFMessage"


def test_messages_say_what_the_samples_say(world):
    item = world()
    item.connect()
    state = item.hear("/toBEassigned/joint/link_state", "viactors_plugins/state_info")
    robot = item.hear("/toBEassigned/robot_state", "sensor_msgs/JointState")
    motor = item.hear("/toBEassigned/joint/motor_1_state", "sensor_msgs/JointState")
    clock = item.hear("/clock", "rosgraph_msgs/Clock")
    stiffness = item.hear("/toBEassigned/stiffness_state", "std_msgs/Float64MultiArray")
    item.simulation.devices["joint"].inbox.put({"equilibrium_position": 0.4, "stiffness_preset": 0.3})
    item.simulation.step(100)
    until(lambda: len(clock) == 100 and len(robot) == 100 and len(state) == 10 and len(motor) == 10 and stiffness)
    sample = item.simulation.sample("joint").values
    last = state[-1]
    for name, field in (("q", "position"), ("dq", "velocity"), ("tau", "elastic_torque")):
        assert last[name] == pytest.approx(sample[field], rel=1e-6)
    assert last["ref_1"] == pytest.approx(0.4)
    assert last["ref_2"] == pytest.approx(0.3)
    assert last["stiff"] == pytest.approx(sample["reported_stiffness"], rel=1e-6)
    assert motor[-1]["name"] == []
    assert motor[-1]["position"].tolist() == [sample["motor_1_position"]]
    assert robot[-1]["name"] == ["joint"]
    assert robot[-1]["header"]["stamp"] == 100_000_000
    assert robot[-1]["position"].tolist() == [sample["position"]]
    assert [m["header"]["seq"] for m in robot] == list(range(100))
    assert [m["clock"] for m in clock] == [1_000_000 * (k + 1) for k in range(100)]
    until(lambda: len(stiffness) == 100)
    assert stiffness[-1]["data"].tolist() == [sample["stiffness"]]


def test_commands_reach_the_joint_and_wrong_ones_do_not(world):
    item = world()
    item.connect()
    base = "/toBEassigned/joint/"
    equilibrium = item.speak(base + "equilibrium_position", "std_msgs/Float64")
    external = item.speak(base + "external_torque", "std_msgs/Float64")
    arrays = item.speak("/toBEassigned/reference_1", "std_msgs/Float64MultiArray")
    equilibrium(data=0.5)
    external(data=-0.25)
    item.simulation.step()
    port = item.simulation.engine.port
    assert port("joint/reference_1")[0] == 0.5
    assert port("joint/external_torque")[0] == -0.25
    equilibrium(data=math.nan)
    arrays(data=[0.1, 0.2])
    arrays(data=[math.inf])
    item.simulation.step()
    assert port("joint/reference_1")[0] == 0.5
    health = item.bridge.health()
    assert health["rejected"] == 3
    assert any("equilibrium_position" in f and "nan" in f for f in health["last_faults"])
    assert any("shape (2,)" in f for f in health["last_faults"])
    arrays(data=[0.1])
    item.simulation.step()
    assert port("joint/reference_1")[0] == 0.1


def test_a_command_that_nobody_takes_is_told(world):
    item = world()
    item.connect()
    item.client.advertise("/toBEassigned/jont/equilibrium_position", "std_msgs/Float64")
    item.client.advertise("/toBEassigned/joint/torque_command", "std_msgs/Float64")
    item.client.advertise("/toBEassigned/joint/of_the_users_own", "std_msgs/Float64")

    def told():
        return [f for f in item.bridge.health()["last_faults"] if "/client" in f]

    faults = until(lambda: len(told()) == 2 and told(), "both are told")
    assert any("jont" in f and "did you mean 'joint'" in f for f in faults)
    assert any("torque_command" in f and "equilibrium_position, stiffness_preset" in f for f in faults)
    assert item.bridge.health()["rejected"] == 0


def test_a_manager_gives_name_space_rates_and_parameters(master, tmp_path):
    item = World(master, template(tmp_path, 5), manager=DATA / "manager.yaml")
    try:
        item.connect()
        robot = item.hear("/bench/robot_state", "sensor_msgs/JointState")
        forwarded = item.hear("/bench/joint/reference_1", "std_msgs/Float64")
        send = item.speak("/bench/reference_1", "std_msgs/Float64MultiArray")
        send(data=[0.25])
        item.simulation.step(100)
        until(lambda: len(robot) == 10 and len(forwarded) == 10)  # T_sample is 0.01
        assert {m["data"] for m in forwarded} == {0.25}
        assert item.simulation.engine.port("joint/reference_1")[0] == 0.25
        until(lambda: "/ref2_topic_name" in master.params)
        assert master.params["/namespace"] == "bench"
        assert master.params["/T_sample"] == 0.01
        assert master.params["/joints_number"] == 1
        assert master.params["/joints_name"] == ["joint"]
        assert master.params["/ref1_topic_name"] == ["/reference_1"]
        assert master.params["/use_sim_time"] is True
    finally:
        item.close()


def test_a_late_subscriber_gets_what_is_latched(world):
    item = world()
    item.connect()
    got = item.hear("/toBEassigned/joint/parameter_updates", "dynamic_reconfigure/Config")
    until(lambda: got)
    assert {d["name"]: d["value"] for d in got[0]["doubles"]}["kp_1"] == 125.0


def test_a_message_of_another_type_is_refused_on_both_sides(world):
    item = world()
    client = item.connect()
    client.subscribe("/toBEassigned/robot_state", "std_msgs/Float64", lambda m: None)
    client.advertise("/toBEassigned/joint/equilibrium_position", "sensor_msgs/JointState")
    until(lambda: any("wants std_msgs/Float64" in e for e in item.node.errors))
    until(lambda: any("wants std_msgs/Float64" in e and "refused" in e for e in client.errors) or client.errors)
    until(lambda: item.node.subscriptions["/toBEassigned/joint/equilibrium_position"].connections == {})
    until(lambda: any("equilibrium_position" in e for e in item.node.errors))
    item.simulation.step(5)


def test_two_robots_in_one_name_space_are_refused(master, world, tmp_path):
    world()
    until(lambda: "/clock" in master.publishers)
    with pytest.raises(BridgeError, match="another node is called /pliant_toBEassigned"):
        World(master, template(tmp_path))
    with pytest.raises(BridgeError, match="name space /toBEassigned"):
        World(master, template(tmp_path), ",node=second,clock=false")


def test_a_host_without_an_address_is_refused(master):
    with pytest.raises(BridgeError, match="no node could connect"):
        Ros1Node("/lost", master=master.uri, host="not a host").start()


def test_no_master_is_said_with_what_to_do(tmp_path):
    with pytest.raises(BridgeError, match=r"no ROS master answers at http://127.0.0.1:9 .*roscore"):
        make_bridge("ros1:master=http://127.0.0.1:9", load(template(tmp_path))).start({})


@pytest.mark.parametrize(
    "address",
    ["foo", "127.0.0.1:11311", "https://127.0.0.1:11311", "http://127.0.0.1:99999", "http://:11311", "http://["],
)
def test_what_is_no_address_of_a_master_is_refused(tmp_path, address):
    with pytest.raises(BridgeError, match=r"the address of the ROS master is .*must be http://HOST:PORT"):
        make_bridge(f"ros1:master={address}", load(template(tmp_path))).start({})


@pytest.mark.usefixtures("fast_heartbeat")
@pytest.mark.parametrize("policy", ["continue", "halt"])
def test_a_master_that_vanishes_and_comes_back(world, master, policy):
    item = world(options=f",on_lost={policy}")
    item.connect()
    clock = item.hear("/clock", "rosgraph_msgs/Clock")
    port = master.port
    master.close()
    until(lambda: item.bridge.health()["master_state"] == "gone")
    if policy == "halt":
        with pytest.raises(BridgeError, match=r"master at .* is gone"):
            item.simulation.step(3)
        again = FakeMaster(port)
    else:
        item.simulation.step(3)
        until(lambda: len(clock) == 3, "known subscribers are served on")
        again = FakeMaster(port)
        item.node.master.pid = -1  # the pid of this process is that of both masters
        until(lambda: "/clock" in again.publishers, "everything is registered again")
        until(lambda: item.bridge.health()["master_state"] == "ok")
        assert again.params["/use_sim_time"] is True
    item.close()
    again.close()
    master.__init__()  # the fixture closes it once more


def test_a_subscriber_that_blocks_costs_its_own_messages_only(world):
    item = world()
    item.connect()
    good = item.hear("/clock", "rosgraph_msgs/Clock")
    publication = item.node.publications["/clock"]
    stuck = socket.socket()
    stuck.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    stuck.connect(("127.0.0.1", item.node.tcp_port))
    md5sum = publication.md5sum
    stuck.sendall(encode_header({"callerid": "/stuck", "topic": "/clock", "md5sum": md5sum, "type": publication.type}))
    until(lambda: len(publication.connections) == 2)
    connection = next(c for c in publication.connections if c.name == "/stuck")
    connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    data = Codec(1).encode("rosgraph_msgs/Clock", {"clock": 5})
    worst = 0.0
    sent = 0
    while publication.drops < 10 and sent < 2_000_000:
        began = time.perf_counter()
        publication.send(data)
        worst = max(worst, time.perf_counter() - began)
        sent += 1
        if sent % 500 == 0:
            until(lambda sent=sent: len(good) == sent, "the good one gets everything")
    assert publication.drops >= 10
    assert item.bridge.health()["dropped"] == publication.drops
    assert len(connection.out) <= connection.limit
    stuck.close()
    until(lambda: len(publication.connections) == 1)


@pytest.fixture
def patient(monkeypatch):
    """Give a reader that gets no processor the time that a slow one gets."""
    monkeypatch.setattr(sockets, "MAX_DRAIN_S", 60.0)
    monkeypatch.setattr(sockets, "IDLE_DRAIN_S", 1.0)


def slow_subscriber(item, name):
    """Connect a subscriber of /clock that does not read yet; queue 900 messages of 1000 bytes for it."""
    publication = item.node.publications["/clock"]
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.connect(("127.0.0.1", item.node.tcp_port))
    said = {"callerid": name, "topic": "/clock", "md5sum": publication.md5sum, "type": publication.type}
    sock.sendall(encode_header(said))
    until(lambda: publication.connections)
    publication.connections[0].sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    for _ in range(900):
        publication.send(bytes(1000))
    return sock, publication


@pytest.mark.usefixtures("patient")
def test_a_slow_subscriber_gets_all_messages_of_the_end(world):
    item = world()
    sock, publication = slow_subscriber(item, "/slow")
    with ThreadPoolExecutor(1) as pool:
        ended = pool.submit(item.bridge.stop)
        got = b""
        while piece := sock.recv(4096):
            got += piece
            time.sleep(0.006)  # 1.3 s in all: longer than nobody may take anything
        ended.result()
    sock.close()
    assert len(got) > 900 * 1000
    assert publication.drops == 0


@pytest.mark.usefixtures("patient")
def test_a_subscriber_that_leaves_when_the_master_forgets_the_publisher_has_read_everything(world, monkeypatch):
    """As rospy does: what its socket holds when the master says that the publisher has gone is lost."""
    item, forgotten = world(), threading.Event()
    unregister = item.node.master.unregister_all

    def forget():
        forgotten.set()
        unregister()

    monkeypatch.setattr(item.node.master, "unregister_all", forget)
    sock, publication = slow_subscriber(item, "/leaves")
    with ThreadPoolExecutor(1) as pool:
        ended = pool.submit(item.bridge.stop)
        got = b""
        while not forgotten.is_set() and (piece := sock.recv(4096)):
            got += piece
            time.sleep(0.002)
        sock.close()
        ended.result()
    assert len(got) > 900 * 1000
    assert publication.drops == 0


def test_what_a_subscriber_never_reads_is_counted_and_told_at_the_end(world):
    item = world()
    sock, publication = slow_subscriber(item, "/stuck")
    item.bridge.stop()
    sock.close()
    assert 0 < publication.drops < 900
    told = item.bridge.health()["last_faults"][-1]
    assert told.startswith(f"/clock: the last {publication.drops} messages did not reach /stuck")


def test_broken_bytes_close_the_connection_and_nothing_else(world):
    item = world()
    for garbage in (b"\xff" * 64, struct.pack("<I", 5) + b"\x40\0\0\0x", b"GET / HTTP/1.1\r\n\r\n"):
        sock = socket.create_connection(("127.0.0.1", item.node.tcp_port), timeout=5)
        sock.sendall(garbage)
        assert sock.recv(100) == b""
        sock.close()
    item.connect()
    clock = item.hear("/clock", "rosgraph_msgs/Clock")
    item.simulation.step(3)
    until(lambda: len(clock) == 3)


def test_services_pause_step_and_reset(world):
    item = world()
    runner = threading.Thread(target=lambda: item.simulation.run(None), daemon=True)
    runner.start()
    until(lambda: "/gazebo/reset_world" in item.master.services)
    answer = item.call("/pliant/step", "pliant_msgs/Step", count=1)
    assert not answer["success"]
    assert "pause" in answer["message"]
    assert item.call("/pliant/pause", "std_srvs/Trigger")["success"]
    until(lambda: item.simulation.paused)
    assert item.call("/gazebo/reset_simulation", "std_srvs/Empty") == {}
    assert item.simulation.time_ns == 0
    answer = item.call("/pliant/step", "pliant_msgs/Step", count=25)
    assert answer["success"]
    assert answer["time"] == 25_000_000
    assert item.call("/pliant/step_once", "std_srvs/Trigger")["success"]
    assert item.simulation.time_ns == 26_000_000
    item.call("/gazebo/unpause_physics", "std_srvs/Empty")
    until(lambda: item.simulation.time_ns > 30_000_000)
    item.simulation.stop()
    runner.join(10)


def test_gains_and_mode_are_set_as_dynamic_reconfigure_does(world):
    item = world()
    runner = threading.Thread(target=lambda: item.simulation.run(None), daemon=True)
    runner.start()
    name = "/toBEassigned/joint/set_parameters"
    until(lambda: name in item.master.services)
    kind = "dynamic_reconfigure/Reconfigure"
    answer = item.call(name, kind, config={"doubles": [{"name": "kp_1", "value": 80.0}]})
    assert {d["name"]: d["value"] for d in answer["config"]["doubles"]}["kp_1"] == 80.0
    item.call(name, kind, config={"ints": [{"name": "operation_mode", "value": 5}]})
    assert item.simulation.devices["joint"].mode == 5
    until(lambda: "/toBEassigned/joint/reference_1" in item.node.subscriptions, "the new mode's topic")
    assert "/toBEassigned/joint/equilibrium_position" not in item.node.subscriptions
    with pytest.raises(BridgeError, match="kp_1"):
        item.call(name, kind, config={"doubles": [{"name": "kp1", "value": 80.0}]})
    with pytest.raises(BridgeError, match="mode"):
        item.call(name, kind, config={"ints": [{"name": "operation_mode", "value": 3}]})
    for wrong in ({"ints": [{"name": "kp_1", "value": 6}]}, {"bools": [{"name": "operation_mode", "value": True}]}):
        with pytest.raises(BridgeError, match=r"must be among (ints|doubles)"):
            item.call(name, kind, config=wrong)
    assert item.simulation.devices["joint"].mode == 5  # a gain among whole numbers is no mode
    item.simulation.stop()
    runner.join(10)


@pytest.mark.parametrize("mode", [5, 6])
def test_a_trajectory_of_qb_move_is_followed(world, mode):
    item = world(mode)
    item.connect()
    base = "/toBEassigned/joint/control/joint_position_and_preset_trajectory_controller/command"
    send = item.speak(base, "trajectory_msgs/JointTrajectory")
    joints = ["joint_stiffness_preset_virtual_joint", "joint_shaft_joint"]  # any order
    send(joint_names=joints, points=[{"positions": [0.5, 0.6], "time_from_start": 200_000_000}])
    item.simulation.step(101)
    port = item.simulation.engine.port
    preset = 0.5 * 3000 * math.pi / 2**14

    def commanded():
        r = port("joint/reference_1")[0], port("joint/reference_2")[0]
        return r if mode == 6 else ((r[0] + r[1]) / 2, (r[0] - r[1]) / 2)

    # The trajectory begins where the first sample says; what is put at the end of a step acts in the next.
    assert commanded()[0] == pytest.approx(0.6 * 98 / 200, abs=0.007)
    item.simulation.step(150)
    assert commanded() == pytest.approx((0.6, preset))
    send(joint_names=["joint_shaft_joint", "other"], points=[{"positions": [0.5, 0.6]}])
    item.simulation.step()
    send(joint_names=joints, points=[{"positions": [2.0, 0.6], "time_from_start": 1}])
    item.simulation.step(3)
    assert commanded() == pytest.approx((0.6, preset))
    faults = " ".join(item.bridge.health()["last_faults"])
    assert "joint_shaft_joint" in faults
    assert "must be 0 to 1" in faults


def test_lock_step_waits_for_the_controller(master, tmp_path):
    item = World(master, template(tmp_path), ",sync=equilibrium_position", sync_timeout=0.05)
    item.close()
    # a name under the name space: the joint's own command topic
    item = World(master, template(tmp_path), ",sync=joint/equilibrium_position", sync_timeout=60.0)
    try:
        client = item.connect()
        publication = client.advertise("/toBEassigned/joint/equilibrium_position", "std_msgs/Float64")
        until(lambda: publication.connections)
        sent = []

        def answer(message):
            value = 1e-3 * len(sent)
            sent.append(message["clock"])
            if len(sent) <= 50:
                publication.send(client.codec.encode("std_msgs/Float64", {"data": value}))

        client.subscribe("/clock", "rosgraph_msgs/Clock", answer)
        until(lambda: item.node.publications["/clock"].connections)
        item.simulation.step(50)
        assert len(sent) == 50
        assert item.simulation.engine.port("joint/reference_1")[0] == pytest.approx(0.048)
        item.simulation._answers.timeout = 0.2  # from here on nobody answers
        with pytest.raises(BridgeError, match=r"no answer within 0\.2 s"):
            item.simulation.step(1)
    finally:
        item.close()


def test_a_replay_is_published(master, tmp_path):
    from pliant.recording import read_recording
    from pliant.replay.player import replay

    robot = load(template(tmp_path))
    path = tmp_path / "run.mcap"
    with Simulation(MujocoEngine(robot, check=False), make_devices(robot), pacer="free", recorder=path) as simulation:
        simulation.devices["joint"].inbox.put({"equilibrium_position": 0.3})
        simulation.run(0.5)
    bridge = make_bridge(f"ros1:master={master.uri},namespace=again", None)
    client = Ros1Node("/client", master=master.uri, host="127.0.0.1")
    client.start()
    client.announce()
    got = []
    client.subscribe("/again/robot_state", "sensor_msgs/JointState", got.append)
    samples = replay(read_recording(path), bridges=[bridge])
    try:
        next(samples)
        until(lambda: bridge.node.publications["/again/robot_state"].connections)
        for _ in samples:
            pass
        until(lambda: len(got) >= 490)
        assert got[-1]["name"] == ["joint"]
        assert np.isfinite(got[-1]["position"][0])
    finally:
        samples.close()
        client.stop()


def test_no_thread_and_no_socket_is_left(world):
    item = world()
    before = {t.name for t in threading.enumerate()}
    assert {"ros1-io", "ros1-slave", "ros1-master"} <= before
    item.close()
    left = {t.name for t in threading.enumerate()}
    assert not {name for name in left if name.startswith("ros1-") and "service" not in name}
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", item.node.tcp_port), timeout=1)
