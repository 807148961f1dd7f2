"""The zenoh bridge with eclipse-zenoh sessions that do what a node of rmw_zenoh_cpp does; no ROS 2 takes part."""

import builtins
import itertools
import os
import socket
import threading
import time

import numpy as np
import pytest
from waiting import until

from pliant.base.errors import BridgeError, MissingDependency
from pliant.robots.loading import load
from pliant.ros.wire import Codec
from pliant.ros_zenoh import ZenohNode
from pliant.simulation import Simulation, sync
from pliant.simulation.bridges import make_bridge

pytestmark = pytest.mark.network
DOMAINS = itertools.count(1 + os.getpid() % 200)
# Hashes as ROS 2 Jazzy has them in share/<package>/<msg|srv>/<Type>.json.
JOINT_STATE = (
    "sensor_msgs::msg::dds_::JointState_/RIHS01_a13ee3a330e346c9d87b5aa18d24e11690752bd33a0350f11c5882bc9179260e"
)
CLOCK = "rosgraph_msgs::msg::dds_::Clock_/RIHS01_692f7a66e93a3c83e71765d033b60349ba68023a8c689a79e48078bcb5c58564"
TRIGGER = "std_srvs::srv::dds_::Trigger_/RIHS01_eeff2cd6fa5ad9d27cdf4dec64818317839b62f212a91e6b5304b634b2062c5f"
CODEC = Codec(2)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Client:
    """A node as rmw_zenoh_cpp 0.2.5 makes one, with the calls of eclipse-zenoh and keys written out here."""

    def __init__(self, zenoh, port, domain, name="client", mode="peer"):
        self.zenoh, self.domain, self.name = zenoh, domain, name
        config = zenoh.Config()
        for key, value in {
            "mode": f'"{mode}"',
            "connect/endpoints": f'["tcp/localhost:{port}"]',
            "listen/endpoints": '["tcp/127.0.0.1:0"]' if mode == "peer" else "[]",
            "scouting/multicast/enabled": "false",
            "scouting/delay": "0",  # zenoh waits 0.5 s for whom multicast would find, also where it is off
            "timestamping/enabled": "true",
        }.items():
            config.insert_json5(key, value)
        self.session = zenoh.open(config)
        end = time.monotonic() + 0.5
        while not (self.session.info.routers_zid() or self.session.info.peers_zid()) and time.monotonic() < end:
            time.sleep(0.002)
        self.zid = str(self.session.zid())
        self.numbers = itertools.count(10)
        self.kept = [self.token("NN")]

    def token(self, kind, topic="", type_and_hash="", qos="::,10:,:,:,,"):
        number = 0 if kind == "NN" else next(self.numbers)
        key = f"@ros2_lv/{self.domain}/{self.zid}/0/{number}/{kind}/%/%/{self.name}"
        if kind != "NN":
            key += f"/{topic.replace('/', '%')}/{type_and_hash}/{qos}"
        token = self.session.liveliness().declare_token(key)
        if kind != "NN":
            self.kept.append(token)
        return token

    def key(self, topic, type_and_hash):
        return f"{self.domain}{topic}/{type_and_hash}"

    def listen(self, topic, type_and_hash):
        """Return a list that grows: (payload, sequence number, time, identifier) of each message."""
        heard = []
        kinds = tuple[self.zenoh.ext.Int64, self.zenoh.ext.Int64, bytes]

        def arrived(sample):
            number, stamp, gid = self.zenoh.ext.z_deserialize(kinds, sample.attachment)
            heard.append((bytes(sample.payload), int(number), int(stamp), bytes(gid)))

        self.kept.append(self.session.declare_subscriber(self.key(topic, type_and_hash), arrived))
        self.token("MS", topic, type_and_hash)
        return heard

    def attachment(self, number=1):
        ext = self.zenoh.ext
        return ext.z_serialize((ext.Int64(number), ext.Int64(time.time_ns()), bytes(range(16))))

    def publisher(self, topic, type_and_hash):
        publisher = self.session.declare_publisher(self.key(topic, type_and_hash))
        self.kept.append(publisher)
        self.token("MP", topic, type_and_hash)
        until(lambda: publisher.matching_status.matching, f"pliant listens to {topic}")
        numbers = itertools.count(1)
        return lambda data: publisher.put(data, attachment=self.attachment(next(numbers)))

    def call(self, service, type_and_hash, payload, number=7, **options):
        """Return the replies to a request, as rmw_zenoh asks."""
        zenoh = self.zenoh
        querier = self.session.declare_querier(
            self.key(service, type_and_hash),
            target=zenoh.QueryTarget.ALL_COMPLETE,
            consolidation=zenoh.ConsolidationMode.NONE,
            timeout=30.0,
        )
        until(lambda: querier.matching_status.matching, f"pliant serves {service}")
        options.setdefault("attachment", self.attachment(number))
        return list(querier.get(payload=payload, **options))

    def tokens(self):
        replies = self.session.liveliness().get(f"@ros2_lv/{self.domain}/**", timeout=10.0)
        return sorted(str(reply.ok.key_expr) for reply in replies if reply.ok is not None)

    def close(self):
        self.session.close()


@pytest.fixture
def zenoh():
    pytest.importorskip("zenoh", reason="no eclipse-zenoh; type: pip install 'pliant[zenoh]'")
    import zenoh
    import zenoh.ext

    return zenoh


@pytest.fixture
def world(zenoh):
    from pliant.devices import make_devices
    from pliant.engine import MujocoEngine

    open_ = []

    class World:
        def __init__(self):
            self.port, self.domain = free_port(), next(DOMAINS) % 232

        def pliant(self, options="", mode="router", robot="qbmove-2dof"):
            address = "listen" if mode == "router" else "connect"
            robot = load(robot)
            bridge = make_bridge(
                f"zenoh:mode={mode},{address}=tcp/127.0.0.1:{self.port},domain={self.domain},aggregate_rate=1000"
                f"{options}",
                robot,
            )
            simulation = Simulation(MujocoEngine(robot, check=False), make_devices(robot), [bridge], pacer=sync())
            open_.append(simulation.close)
            simulation.start()
            return simulation, bridge

        def node(self, name="node", mode="router", **options):
            address = {"listen" if mode == "router" else "connect": (f"tcp/127.0.0.1:{self.port}",)}
            node = ZenohNode(name, domain=self.domain, mode=mode, **address, **options)
            open_.append(node.stop)
            node.start()
            return node

        def client(self, name="client", mode="peer"):
            client = Client(zenoh, self.port, self.domain, name, mode)
            open_.append(client.close)
            return client

        def closes(self, call):
            open_.append(call)

    yield World()
    for close in reversed(open_):
        close()


def run_in_background(simulation, world):
    runner = threading.Thread(target=lambda: simulation.run(None), daemon=True)
    runner.start()

    def end():
        simulation.stop()
        runner.join(20)

    world.closes(end)


def test_the_topics_are_those_of_ros_2(world):
    from pliant.ros.bridge import RosBridge, RosOptions
    from pliant.ros.ros2.node import Ros2Node
    from pliant.ros_zenoh import ZenohNode

    simulation, bridge = world.pliant()

    class Recorder(Ros2Node):
        """Takes what would be advertised, without a wire."""

        def __init__(self):
            self.codec, self.out, self.into = CODEC, {}, {}

        def advertise(self, topic, type_name, *, latch=False, reliable=True):
            self.out[topic] = type_name
            return self

        active, type = False, ""

        def send(self, data):
            pass

        def subscribe(self, topic, type_name, callback):
            self.into[topic] = type_name

        def serve(self, name, type_name, callback):
            pass

        serve_later = serve

        def set_param(self, name, value):
            pass

    assert isinstance(bridge.node, ZenohNode)
    recorder = Recorder()
    other = RosBridge(bridge.robot, recorder, RosOptions(aggregate_rate=1000))
    other.bind(simulation)
    other.plan(simulation.devices)
    node = bridge.node
    told = {"/pliant/robots": "std_msgs/String"}  # what a robot has on the graph is told when all is planned
    assert {p.topic: p.type for p in node.publications.values()} == recorder.out | told
    assert set(node._subscriptions) == set(recorder.into)


def test_states_are_heard_and_commands_obeyed(world):
    simulation, bridge = world.pliant()
    client = world.client()
    states = client.listen("/qbmove_2dof/robot_state", JOINT_STATE)
    clock = client.listen("/clock", CLOCK)
    floats = CODEC.types.rihs01("std_msgs/Float64MultiArray")
    send = client.publisher("/qbmove_2dof/reference_1", f"std_msgs::msg::dds_::Float64MultiArray_/{floats}")
    publications = bridge.node.publications
    until(lambda: publications["/qbmove_2dof/robot_state"].matched and publications["/clock"].matched)
    item = bridge.topics.incoming["/qbmove_2dof/reference_1"]
    for values, expected in (([0.1, 0.2], [0.1, 0.2]), ([0.3], [0.1, 0.2]), ([np.nan, 0.0], [0.1, 0.2])):
        before = item["count"]
        send(CODEC.encode("std_msgs/Float64MultiArray", {"data": values}))
        until(lambda before=before: item["count"] > before)
        simulation.step(20)
        found = [simulation.engine.port(f"{j}/reference_1")[0] for j in simulation.devices["board"].joints]
        assert found == expected
    until(lambda: len(states) == len(clock) == 60)
    decoded = [CODEC.decode("sensor_msgs/JointState", data) for data, *_ in states]
    assert [m["header"]["stamp"] for m in decoded] == [1_000_000 * (k + 1) for k in range(60)]
    assert decoded[-1]["position"].tolist() == simulation.sample("board").values["position"].tolist()
    assert bridge.health()["rejected"] == 2
    rows = {row["topic"]: row for row in bridge.report()}
    assert rows["/clock"]["peers"] == ["/client"]


def test_every_message_bears_number_time_and_the_hash_of_the_publishers_token(world, zenoh):
    before = time.time_ns()
    simulation, bridge = world.pliant()
    client = world.client()
    clock = client.listen("/clock", CLOCK)
    until(lambda: bridge.node.publications["/clock"].matched)
    simulation.step(5)
    until(lambda: len(clock) == 5)
    assert [number for _, number, _, _ in clock] == [1, 2, 3, 4, 5]
    assert all(before < stamp <= time.time_ns() for _, _, stamp, _ in clock)
    token = next(t for t in client.tokens() if "/MP/" in t and "%clock" in t)
    from pliant.ros_zenoh.wire.rmw_zenoh import Endpoint

    assert {gid for *_, gid in clock} == {Endpoint.parse(token).gid}


def test_graph_tools_see_the_node_its_topics_and_services(world):
    _, bridge = world.pliant(",node=sim")
    client = world.client()
    zid = bridge.node.publications["/clock"].endpoint.session
    tokens = {t.split("/", 5)[0] + "/…/" + t.split("/", 5)[5] for t in client.tokens() if f"/{zid}/" in t}
    assert "@ros2_lv/…/NN/%/%/sim" in tokens
    assert f"@ros2_lv/…/MP/%/%/sim/%clock/{CLOCK}/::,1000:,:,:,," in tokens
    assert f"@ros2_lv/…/SS/%/%/sim/%pliant%pause/{TRIGGER}/::,10:,:,:,," in tokens
    assert any(t.startswith("@ros2_lv/…/MS/%/%/sim/%qbmove_2dof%reference_1/") for t in tokens)
    numbers = [t.split("/")[4] for t in client.tokens() if f"/{zid}/" in t]
    assert len(set(numbers)) == len(numbers)


def test_services_pause_step_and_reset(world):
    simulation, _ = world.pliant()
    run_in_background(simulation, world)
    client = world.client()
    empty = CODEC.encode("std_srvs/srv/Trigger_Request", {})

    def call(name, number=7):
        (reply,) = client.call(name, TRIGGER, empty, number)
        kinds = tuple[client.zenoh.ext.Int64, client.zenoh.ext.Int64, bytes]
        back = client.zenoh.ext.z_deserialize(kinds, reply.ok.attachment)
        assert int(back[0]) == number
        assert bytes(back[2]) == bytes(range(16))
        return CODEC.decode("std_srvs/srv/Trigger_Response", bytes(reply.ok.payload))

    assert call("/pliant/pause") == {"success": True, "message": "paused"}
    until(lambda: simulation.paused)
    step = f"pliant_msgs::srv::dds_::Step_/{CODEC.types.rihs01('pliant_msgs/Step')}"
    (reply,) = client.call("/pliant/step", step, CODEC.encode("pliant_msgs/srv/Step_Request", {"count": 7}))
    assert CODEC.decode("pliant_msgs/srv/Step_Response", bytes(reply.ok.payload))["success"]
    reached = simulation.time
    assert call("/pliant/step_once", 8)["message"] == f"time is {reached + 0.001:.9g} s"
    assert call("/pliant/reset", 9)["success"]
    assert simulation.steps == 0 or simulation.time == 0.0
    assert call("/pliant/resume", 10)["success"]
    until(lambda: simulation.time > 0.01)
    assert not call("/pliant/step_once")["success"]


def dds(name, room="msg"):
    """Return type and hash as they stand in a key."""
    package, _, kind = name.rpartition("/")
    package, _, room = package.partition("/") if "/" in package else (package, "/", room)
    return f"{package}::{room}::dds_::{kind}_/{CODEC.types.rihs01(name)}"


def test_a_trajectory_goal_is_followed_cancelled_and_reported(world):
    simulation, bridge = world.pliant()
    run_in_background(simulation, world)
    client = world.client()
    motors = ["joint_1_motor_1_joint", "joint_1_motor_2_joint"]
    control = "/qbmove_2dof/joint_1/control/joint_1_motor_positions_trajectory_controller"
    action, kind = f"{control}/follow_joint_trajectory/_action", "control_msgs/action/FollowJointTrajectory"

    def ask(service, name, take, **request):
        service_type = CODEC.types.service(name)
        key = client.key(f"{action}/{service}", dds(name, "srv"))
        querier = client.session.declare_querier(key, timeout=60.0)
        client.kept.append(querier)
        until(lambda: querier.matching_status.matching)
        payload = CODEC.encode(service_type.request, request)
        querier.get(
            lambda reply: take.append(CODEC.decode(service_type.response, bytes(reply.ok.payload))),
            payload=payload,
            attachment=client.attachment(),
        )

    def call(service, name, **request):
        answers = []
        ask(service, name, answers, **request)
        return until(lambda: answers)[0]

    feedback = client.listen(f"{action}/feedback", dds(f"{kind}_FeedbackMessage"))
    until(lambda: bridge.node.publications[f"{action}/feedback"].matched)
    first, second = bytes(range(16)), bytes(range(16, 32))
    loose = [{"name": motor, "position": -1.0} for motor in motors]

    def goal(seconds):
        points = [{"positions": [0.1, 0.1], "time_from_start": int(seconds * 1e9)}]
        trajectory = {"joint_names": motors, "points": points}
        return {"trajectory": trajectory, "path_tolerance": loose, "goal_tolerance": loose}

    assert not call("send_goal", f"{kind}_SendGoal", goal_id={"uuid": second[::-1]}, goal={})["accepted"]
    assert call("send_goal", f"{kind}_SendGoal", goal_id={"uuid": first}, goal=goal(0.2))["accepted"]
    done = call("get_result", f"{kind}_GetResult", goal_id={"uuid": first})
    assert (done["status"], done["result"]["error_code"]) == (4, 0)
    assert call("send_goal", f"{kind}_SendGoal", goal_id={"uuid": second}, goal=goal(1000.0))["accepted"]
    results = []
    ask("get_result", f"{kind}_GetResult", results, goal_id={"uuid": second})
    until(lambda: any(second in data for data, *_ in feedback))
    assert not results
    answer = call("cancel_goal", "action_msgs/CancelGoal", goal_info={"goal_id": {"uuid": second}})
    assert answer["return_code"] == 0
    assert until(lambda: results)[0]["status"] == 5
    # The list of goals is latched.
    zenoh, told = client.zenoh, []
    client.kept.append(
        zenoh.ext.declare_advanced_subscriber(
            client.session,
            client.key(f"{action}/status", dds("action_msgs/GoalStatusArray")),
            lambda sample: told.append(CODEC.decode("action_msgs/GoalStatusArray", bytes(sample.payload))),
            history=zenoh.ext.HistoryConfig(detect_late_publishers=True, max_samples=1),
        )
    )
    until(lambda: told and [g["status"] for g in told[-1]["status_list"]][-1:] == [5])


def test_the_parameters_of_the_node_are_those_of_ros_2(world):
    simulation, bridge = world.pliant(",node=sim")
    run_in_background(simulation, world)
    client = world.client()

    def call(what, request):
        kind = f"rcl_interfaces::srv::dds_::{what}_/{CODEC.types.rihs01(f'rcl_interfaces/{what}')}"
        data = CODEC.encode(f"rcl_interfaces/srv/{what}_Request", request)
        service = {"ListParameters": "list_parameters", "GetParameters": "get_parameters"}[what]
        (reply,) = client.call(f"/sim/{service}", kind, data)
        return CODEC.decode(f"rcl_interfaces/srv/{what}_Response", bytes(reply.ok.payload))

    names = call("ListParameters", {})["result"]["names"]
    assert "use_sim_time" in names
    (value,) = call("GetParameters", {"names": ["use_sim_time"]})["values"]
    assert value["bool_value"] == bridge.options.clock


@pytest.mark.parametrize(
    ("payload", "attached", "says"),
    [
        (b"", True, "bytes"),
        (b"\x00\x01", True, "2 bytes"),
        (b"\x00\x07\x00\x00\x00", True, "encapsulation"),
        (b"\x00\x01\x00\x00" + bytes(50), True, "follow the end"),
        (b"\x00\x01\x00\x00\x00", False, "without attachment"),
        (b"\x00\x01\x00\x00\x00", b"short", "attachment of 5 bytes"),
    ],
)
def test_wrong_requests_get_an_error_and_the_service_lives_on(world, payload, attached, says):
    node = world.node()
    node.serve("/trigger", "std_srvs/Trigger", lambda _: {"success": True, "message": "ok"})
    client = world.client()
    options = {} if attached is True else {"attachment": attached or None}
    (reply,) = client.call("/trigger", TRIGGER, payload, **options)
    assert says in bytes(reply.err.payload).decode()
    assert says in node.errors[-1]
    (reply,) = client.call("/trigger", TRIGGER, b"\x00\x01\x00\x00\x00")
    assert CODEC.decode("std_srvs/srv/Trigger_Response", bytes(reply.ok.payload))["message"] == "ok"


def test_what_a_service_raises_reaches_the_client(world):
    node = world.node()

    def answer(request):
        raise BridgeError("not now") if request == {} else ValueError

    node.serve("/trigger", "std_srvs/Trigger", answer)
    (reply,) = world.client().call("/trigger", TRIGGER, b"\x00\x01\x00\x00\x00")
    assert bytes(reply.err.payload) == b"not now"
    node.serve("/broken", "std_srvs/Trigger", lambda _: {"success": "maybe"} and {"wrong": 1})
    (reply,) = world.client("second").call("/broken", TRIGGER, b"\x00\x01\x00\x00\x00")
    assert b"wrong" in bytes(reply.err.payload)


def test_an_answer_may_come_later_from_any_thread_and_only_once(world):
    node = world.node()
    waiting = []
    node.serve_later("/trigger", "std_srvs/Trigger", lambda request, respond: waiting.append(respond))
    client = world.client()
    asking = client.session.declare_querier(client.key("/trigger", TRIGGER), timeout=60.0)
    until(lambda: asking.matching_status.matching)
    replies = []
    for k in range(10):  # more than there are threads
        asking.get(replies.append, payload=b"\x00\x01\x00\x00\x00", attachment=client.attachment(k))
    until(lambda: len(waiting) == 10)
    assert not replies
    for respond in waiting:
        respond({"success": True, "message": "done"})
        respond({"success": False, "message": "again"})
    until(lambda: len(replies) == 10)
    texts = [CODEC.decode("std_srvs/srv/Trigger_Response", bytes(r.ok.payload))["message"] for r in replies]
    assert texts == ["done"] * 10
    numbers = sorted(int.from_bytes(bytes(r.ok.attachment)[:8], "little") for r in replies)
    assert numbers == list(range(10))
    waiting.clear()
    asking.get(replies.append, payload=b"\x00\x01\x00\x00\x00", attachment=client.attachment())
    until(lambda: waiting)
    waiting[0]({"wrong": 1})
    until(lambda: len(replies) == 11)
    assert b"wrong" in bytes(replies[-1].err.payload)


def test_a_slow_service_does_not_hold_up_others_and_the_queue_is_bounded(world, zenoh):
    node = world.node()
    free = threading.Event()
    world.closes(free.set)

    def slow(_):
        free.wait(60)
        return {"success": True}

    node.serve("/slow", "std_srvs/Trigger", slow)
    node.serve("/quick", "std_srvs/Trigger", lambda _: {"success": True})
    client = world.client()
    until(lambda: client.session.declare_querier(client.key("/slow", TRIGGER)).matching_status.matching)
    replies = []
    ask = client.session.declare_querier(client.key("/slow", TRIGGER), timeout=60.0)
    for k in range(3):
        ask.get(replies.append, payload=b"\x00\x01\x00\x00\x00", attachment=client.attachment(k))
    (reply,) = client.call("/quick", TRIGGER, b"\x00\x01\x00\x00\x00")
    assert reply.ok is not None
    for k in range(100):
        ask.get(replies.append, payload=b"\x00\x01\x00\x00\x00", attachment=client.attachment(k))
    refusals = 103 - 64 - 4  # 64 wait, and each of the 4 threads has one
    until(lambda: node.refused_requests == refusals)
    free.set()
    until(lambda: len(replies) == 103)
    refused = [r for r in replies if r.err is not None]
    assert len(refused) == node.refused_requests == refusals
    assert b"64 requests wait already" in bytes(refused[0].err.payload)


@pytest.mark.parametrize(
    ("payload", "attachment", "says"),
    [
        (b"\x00\x01\x00\x00", True, "ends at byte 4"),
        (bytes(4) + bytes(20), True, "follow the end"),
        (b"", True, "0 bytes"),
        (b"\x00\x01\x00\x00" + bytes(8), None, "without attachment"),
        (b"\x00\x01\x00\x00" + bytes(8), b"x" * 33, "attachment of 33 bytes"),
    ],
)
def test_wrong_messages_are_refused_and_told(world, payload, attachment, says):
    node = world.node()
    taken = []
    node.subscribe("/x", "std_msgs/Float64", taken.append)
    client = world.client()
    hashed = CODEC.types.rihs01("std_msgs/Float64")
    key = client.key("/x", f"std_msgs::msg::dds_::Float64_/{hashed}")
    publisher = client.session.declare_publisher(key)
    until(lambda: publisher.matching_status.matching)
    publisher.put(payload, attachment=client.attachment() if attachment is True else attachment)
    until(lambda: node.errors)
    assert node.errors[-1].startswith("/x: ")
    assert says in node.errors[-1]
    publisher.put(CODEC.encode("std_msgs/Float64", {"data": 2.0}), attachment=client.attachment())
    until(lambda: taken == [{"data": 2.0}])


def test_random_bytes_from_the_network_leave_the_node_alive(world):
    node = world.node()
    taken = []
    node.subscribe("/x", "sensor_msgs/JointState", taken.append)
    node.serve("/trigger", "std_srvs/Trigger", lambda _: {"success": True})
    client = world.client()
    publisher = client.session.declare_publisher(client.key("/x", JOINT_STATE))
    until(lambda: publisher.matching_status.matching)
    random = np.random.default_rng(3)
    good = CODEC.encode("sensor_msgs/JointState", {"name": ["a"], "position": [1.0]})
    for k in range(300):
        payload = bytearray(good) if k % 2 else bytearray(random.bytes(random.integers(0, 80)))
        for at in random.integers(0, max(1, len(payload)), 3) if payload else ():
            payload[at] = random.integers(256)
        attachment = client.attachment() if k % 3 else random.bytes(random.integers(0, 40))
        publisher.put(bytes(payload), attachment=attachment)
        if not k % 10:
            client.session.get(
                client.key("/trigger", TRIGGER), lambda _: None, payload=bytes(payload), attachment=attachment
            )
    publisher.put(CODEC.encode("sensor_msgs/JointState", {"name": ["last"]}), attachment=client.attachment())
    until(lambda: taken and taken[-1]["name"] == ["last"])
    assert node.error_count > 50
    (reply,) = client.call("/trigger", TRIGGER, b"\x00\x01\x00\x00\x00")
    assert reply.ok is not None


def test_messages_that_are_too_long_are_not_read(world, monkeypatch):
    monkeypatch.setattr("pliant.ros_zenoh.node.PAYLOAD_LIMIT", 1000)
    node = world.node()
    node.subscribe("/x", "std_msgs/Float64", lambda _: None)
    client = world.client()
    publisher = client.publisher("/x", f"std_msgs::msg::dds_::Float64_/{CODEC.types.rihs01('std_msgs/Float64')}")
    publisher(bytes(1001))
    until(lambda: node.errors)
    assert "1001 bytes; must be at most 1000" in node.errors[-1]


def test_an_endpoint_of_another_type_is_told(world):
    node = world.node()
    node.advertise("/out", "std_msgs/Float64")
    client = world.client()
    client.token("MS", "/out", "std_msgs::msg::dds_::Float32_/RIHS01_ab")
    until(lambda: node.errors)
    assert node.errors[-1] == (
        "/out: the subscription of /client is not connected: its type is std_msgs/msg/Float32, here it is "
        "std_msgs/msg/Float64"
    )
    client.token("MP", "/in", "std_msgs::msg::dds_::Float64_/TypeHashNotSupported")
    until(lambda: node.taken(["/in"], 0.0))
    node.subscribe("/in", "std_msgs/Float64", lambda _: None)
    assert "/in: the publisher of /client is not connected: the hash" in node.errors[-1]
    assert "TypeHashNotSupported" in node.errors[-1]


def test_a_token_of_nonsense_is_told_once_and_harms_nothing(world):
    node = world.node()
    client = world.client()
    client.kept.append(client.session.liveliness().declare_token(f"@ros2_lv/{node.domain}/nonsense"))
    until(lambda: node.errors)
    assert "not a token of rmw_zenoh" in node.errors[-1]


def test_late_joiners_get_what_is_latched(world, zenoh):
    node = world.node()
    latched = node.advertise("/latched", "std_msgs/String", latch=True)
    plain = node.advertise("/plain", "std_msgs/String")
    for text in ("old", "last"):
        latched.send(CODEC.encode("std_msgs/String", {"data": text}))
        plain.send(CODEC.encode("std_msgs/String", {"data": text}))
    until(lambda: not len(node.outbox) and latched.sequence == 2)
    client = world.client()
    heard, unwanted = [], []
    key = client.key("/latched", f"std_msgs::msg::dds_::String_/{CODEC.types.rihs01('std_msgs/String')}")
    client.kept.append(
        zenoh.ext.declare_advanced_subscriber(
            client.session,
            key,
            lambda s: heard.append((bytes(s.payload), bytes(s.attachment)[0])),
            history=zenoh.ext.HistoryConfig(detect_late_publishers=True, max_samples=1),
            recovery=zenoh.ext.RecoveryConfig(periodic_queries=None, heartbeat=True),
            subscriber_detection=True,
        )
    )
    client.kept.append(client.session.declare_subscriber(key.replace("latched", "plain"), unwanted.append))
    until(lambda: heard)
    latched.send(CODEC.encode("std_msgs/String", {"data": "new"}))
    until(lambda: len(heard) == 2)
    assert [(CODEC.decode("std_msgs/String", data)["data"], number) for data, number in heard] == [
        ("last", 2),
        ("new", 3),
    ]
    assert not unwanted
    assert any("/MP/" in t and t.endswith("/:1:,1:,:,:,,") for t in client.tokens())


def test_a_publisher_knows_whether_anybody_listens(world):
    node = world.node()
    publication = node.advertise("/x", "std_msgs/Float64")
    node.subscribe("/x", "std_msgs/Float64", lambda _: None)
    assert not publication.active  # its own ears do not count
    kind = f"std_msgs::msg::dds_::Float64_/{CODEC.types.rihs01('std_msgs/Float64')}"
    client = world.client("ear")
    client.listen("/x", kind)
    until(lambda: publication.active and publication.subscribers == ["/ear"])
    client.close()
    until(lambda: not publication.active)
    assert publication.subscribers == ["/ear"]  # it has listened


def test_a_client_and_two_peers_meet_through_the_router(world):
    router = world.node("router")
    one = world.node("one", mode="peer")
    client = world.client("two", mode="client")
    kind = f"std_msgs::msg::dds_::Float64_/{CODEC.types.rihs01('std_msgs/Float64')}"
    publication = one.advertise("/x", "std_msgs/Float64")
    heard = client.listen("/x", kind)
    until(lambda: publication.matched)
    publication.send(CODEC.encode("std_msgs/Float64", {"data": 1.5}))
    until(lambda: heard)
    assert CODEC.decode("std_msgs/Float64", heard[0][0]) == {"data": 1.5}
    until(lambda: router.connected == 2)


def test_two_nodes_of_ros_meet_through_a_pliant_that_is_the_router(world):
    world.node("router")
    one, two = world.client("one"), world.client("two")
    kind = f"std_msgs::msg::dds_::Float64_/{CODEC.types.rihs01('std_msgs/Float64')}"
    heard = two.listen("/x", kind)
    publisher = one.session.declare_publisher(one.key("/x", kind))
    until(lambda: publisher.matching_status.matching)
    publisher.put(CODEC.encode("std_msgs/Float64", {"data": 2.5}), attachment=one.attachment())
    until(lambda: heard)
    assert CODEC.decode("std_msgs/Float64", heard[0][0]) == {"data": 2.5}


def test_topics_that_every_node_of_ros_publishes_are_not_taken(world):
    world.node("router")
    client = world.client()
    for topic, name in (("/rosout", "rcl_interfaces/Log"), ("/parameter_events", "rcl_interfaces/ParameterEvent")):
        package, kind = name.split("/")
        client.token("MP", topic, f"{package}::msg::dds_::{kind}_/{CODEC.types.rihs01(name)}")
    _, bridge = world.pliant(mode="peer")
    node = bridge.node
    until(lambda: node.taken(["/rosout"], 0.0))
    assert not [text for text in node.errors if "not connected" in text]


def test_a_vanished_router_is_told_and_found_again(world):
    router = world.node("router")
    node = world.node("node", mode="peer")
    until(lambda: node.connected)
    assert node.lost_text == ""
    router.stop()
    until(lambda: node.lost_text)
    assert f"tcp/127.0.0.1:{world.port} is gone" in node.lost_text
    world.node("router")
    until(lambda: not node.lost_text)
    assert "connected again" in node.errors[-1]


def test_a_run_halts_where_the_router_is_lost_if_it_is_to(world):
    router = world.node("router")
    simulation, bridge = world.pliant(",on_lost=halt", mode="peer")
    until(lambda: bridge.node.connected)
    simulation.step(3)
    router.stop()
    until(lambda: bridge.node.lost())
    with pytest.raises(BridgeError, match="is gone"):
        simulation.step(1)


def test_a_peer_without_a_router_says_what_to_do(world):
    node = world.node("alone", mode="peer")
    until(lambda: node.errors)
    assert "rmw_zenohd" in node.errors[-1]
    assert "mode=router" in node.errors[-1]


def test_two_robots_in_one_name_space_are_refused(world):
    world.pliant()
    with pytest.raises(BridgeError, match=r"name space /qbmove_2dof.*zenoh:namespace=NAME,clock=false") as caught:
        world.pliant(mode="peer")
    assert "/pliant_qbmove_2dof" in str(caught.value)
    with pytest.raises(BridgeError, match=r"the joint 'joint_1' of pliant_qbmove_2dof already.*zenoh:prefix=NAME_"):
        world.pliant(",namespace=second,clock=false", mode="peer")
    _, other = world.pliant(",namespace=second,clock=false,prefix=second_", mode="peer")
    assert other.namespace == "second"
    assert not other.node.errors


def test_lock_step_gives_the_same_states_twice(world):
    results = []
    for _ in range(2):
        world.port, world.domain = free_port(), next(DOMAINS) % 232
        simulation, bridge = world.pliant(",sync=reference_1,tf=false")
        client = world.client()
        floats = CODEC.types.rihs01("std_msgs/Float64MultiArray")
        send = client.publisher("/qbmove_2dof/reference_1", f"std_msgs::msg::dds_::Float64MultiArray_/{floats}")
        states = client.listen("/qbmove_2dof/robot_state", JOINT_STATE)
        until(lambda bridge=bridge: bridge.node.publications["/qbmove_2dof/robot_state"].matched)
        runner = threading.Thread(target=lambda s=simulation: s.run(0.2), daemon=True)
        runner.start()
        answered, stamps, positions = 0, [], []
        while runner.is_alive():
            if len(states) > answered:
                message = CODEC.decode("sensor_msgs/JointState", states[answered][0])
                answered += 1
                stamps.append(message["header"]["stamp"])
                positions.append(message["position"].tolist())
                target = 0.3 * np.sin(2e-8 * stamps[-1])
                send(CODEC.encode("std_msgs/Float64MultiArray", {"data": [target, -target]}))
            else:
                os.sched_yield()
        runner.join(20)
        # The first state is sent again until the controller is there.
        assert sorted(set(stamps)) == [1_000_000 * (k + 1) for k in range(200)]
        results.append(dict(zip(stamps, positions, strict=True)))
        assert bridge.health()["dropped"] == 0
    assert results[0] == results[1]


def test_a_controller_that_comes_late_gets_the_first_state_again(world):
    simulation, _ = world.pliant(",sync=reference_1,tf=false")
    runner = threading.Thread(target=lambda: simulation.run(0.003), daemon=True)
    runner.start()
    until(lambda: simulation.steps == 1)
    client = world.client()
    states = client.listen("/qbmove_2dof/robot_state", JOINT_STATE)
    until(lambda: states)  # of the step that was taken before
    floats = CODEC.types.rihs01("std_msgs/Float64MultiArray")
    send = client.publisher("/qbmove_2dof/reference_1", f"std_msgs::msg::dds_::Float64MultiArray_/{floats}")
    answered, stamps = 0, set()
    while runner.is_alive():
        if len(states) > answered:
            stamps.add(CODEC.decode("sensor_msgs/JointState", states[answered][0])["header"]["stamp"])
            answered += 1
            send(CODEC.encode("std_msgs/Float64MultiArray", {"data": [0.1, 0.1]}))
        else:
            os.sched_yield()
    runner.join(20)
    assert stamps >= {1_000_000, 2_000_000}
    assert simulation.steps == 3


def test_a_subscriber_that_blocks_holds_up_neither_the_steps_nor_the_others(world):
    simulation, bridge = world.pliant()
    free = threading.Event()
    blocked, other = world.client("blocked"), world.client("other")
    entered = threading.Event()

    def block(_):
        entered.set()
        free.wait(60)

    direct = blocked.zenoh.handlers.Callback(block, indirect=False)
    blocked.kept.append(blocked.session.declare_subscriber(blocked.key("/clock", CLOCK), direct))
    world.closes(free.set)
    clock = other.listen("/clock", CLOCK)
    blocked.token("MS", "/clock", CLOCK)
    publication = bridge.node.publications["/clock"]
    until(lambda: publication.subscribers == ["/blocked", "/other"])
    until(lambda: simulation.step(1) or (entered.is_set() and clock))
    first = clock[0][1]
    simulation.step(400)
    until(lambda: clock[-1][1] == publication.sequence == publication.count)
    assert [number for _, number, *_ in clock] == list(range(first, publication.count + 1))
    assert bridge.health()["dropped"] == 0


def test_a_wire_that_stands_still_costs_messages_not_time(world):
    node = world.node()
    publication = node.advertise("/clock", "rosgraph_msgs/Clock", latch=True)
    stuck = threading.Event()
    world.closes(stuck.set)

    class Stuck:
        def put(self, data, attachment):
            stuck.wait(60)

    publication.publisher = Stuck()
    data = CODEC.encode("rosgraph_msgs/Clock", {})
    for _ in range(5000):
        publication.send(data)
    assert len(node.outbox) <= 2000
    assert publication.drops >= 2900
    assert node.outbox.dropped == publication.drops
    stuck.set()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("domain=233", "0 to 232"),
        ("domain=-2", "0 to 232"),
        ("mode=broker", "router"),
        ("connect=localhost", "PROTOCOL/ADDRESS"),
        ("listen=7447", "listen has '7447'"),
        ("mode=client,listen=tcp/127.0.0.1:1", "does not listen"),
        ("node=a/b", "node is 'a/b'"),
        ("joint_states=-1", r"must be a number >= 0 \[Hz\]"),
        ("distro=jazzy", "no option 'distro'"),
    ],
)
def test_wrong_options_are_refused(options, says):
    with pytest.raises(BridgeError, match=says):
        make_bridge(f"zenoh:{options}", None)


@pytest.mark.parametrize("name", ["", "*", "a b", "1a", "a/b", "a#", "x" * 300])
def test_names_that_would_break_a_key_are_refused(name):
    with pytest.raises(BridgeError, match="letters, digits and underscores"):
        ZenohNode(name, domain=1)


def test_a_domain_from_the_environment_is_checked(monkeypatch):
    monkeypatch.setenv("ROS_DOMAIN_ID", "many")
    with pytest.raises(BridgeError, match="ROS_DOMAIN_ID is 'many'"):
        make_bridge("zenoh", None)
    monkeypatch.setenv("ROS_DOMAIN_ID", "12")
    assert make_bridge("zenoh", None).node.domain == 12


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("mode=router,listen=tcp/127.0.0.1:{port}", r"port is in use.*mode=peer"),
        ("mode=client,connect=tcp/127.0.0.1:{port}", "no zenoh router answers.*mode=router"),
        ("mode=router,listen=tcp/127.0.0.1:9999999", "invalid port"),
        ("mode=router,listen=pigeon/1", "cannot listen to pigeon/1"),
    ],
)
def test_addresses_that_cannot_be_had_are_told(zenoh, options, says):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        if "router" in options:
            taken.listen()
        bridge = make_bridge("zenoh:" + options.format(port=taken.getsockname()[1]), None)
        with pytest.raises(BridgeError, match=says):
            bridge.start({})
    bridge.stop()


def test_without_the_package_the_message_says_what_to_type(monkeypatch):
    real = builtins.__import__

    def missing(name, *args, **kwargs):
        if name == "zenoh" or name.startswith("zenoh."):
            raise ImportError("no zenoh")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(MissingDependency, match=r"pip install 'pliant\[zenoh\]'"):
        make_bridge("zenoh:domain=5", None).start({})


def test_a_session_that_is_closed_leaves_no_threads_and_no_tokens(world):
    before = set(threading.enumerate())
    node = world.node()
    node.advertise("/x", "std_msgs/Float64")
    client = world.node("client", mode="peer")
    until(lambda: client.taken(["/x"], 0.0))
    client.stop()
    node.stop()
    node.stop()
    ours = [t for t in threading.enumerate() if t not in before and t.name.startswith("zenoh-")]
    assert not ours
