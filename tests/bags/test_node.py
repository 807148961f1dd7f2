"""Exported bags: the topics of the bridges, in files that other programs read."""

import bag_files as bags
import numpy as np
import pytest
from mcap.reader import make_reader
from mcap.stream_reader import StreamReader
from rosbags.highlevel import AnyReader
from rosbags.interfaces import QosDurability, QosReliability
from rosbags.typesys import Stores, get_typestore

from pliant.bags import open_bag, read_traces
from pliant.bags.node import export_bag
from pliant.base.errors import RecordingError
from pliant.command_tables import read_commands
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.recording import Recorder, read_recording
from pliant.recording.recording import recorded_names
from pliant.robots.loading import load
from pliant.simulation import Simulation

FORMS = ("run.bag", "run.mcap", "run.db3", "run")
F64 = "std_msgs/msg/Float64"


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """Half a second of the two joints."""
    path = tmp_path_factory.mktemp("recorded") / "run.mcap"
    robot = load("qbmove-2dof")
    recorder = Recorder(path, metadata={"interface": recorded_names(robot.interface)})
    with Simulation(MujocoEngine(robot, check=False), make_devices(robot), pacer="free", recorder=recorder) as run:
        for name in robot.actuators:
            run.devices[name].inbox.put({"equilibrium_position": 0.3, "stiffness_preset": 0.2})
        run.run(0.5)
    return path, robot.interface.namespace, list(robot.actuators)


@pytest.fixture(scope="module")
def exported(recording, tmp_path_factory):
    folder = tmp_path_factory.mktemp("exported")
    return {form: (folder / form, export_bag(recording[0], folder / form)) for form in FORMS}


@pytest.mark.parametrize("form", FORMS)
def test_the_bag_has_the_toolboxs_topics_with_types_and_rates(recording, exported, form):
    _, space, joints = recording
    path, topics = exported[form]
    state = "viactors_plugins/state_info" if form == "run.bag" else "viactors_plugins/StateInfo"
    expected = {"/clock": ("rosgraph_msgs/Clock", 500), "/joint_states": ("sensor_msgs/JointState", 500)}
    for joint in joints:
        expected[f"/{space}/{joint}/link_state"] = (state, 50)
        for k in (1, 2):
            expected[f"/{space}/{joint}/torque_el{k}_state"] = ("std_msgs/Float64", 50)
            expected[f"/{space}/{joint}/motor_{k}_state"] = ("sensor_msgs/JointState", 50)
    for name in ("robot_state", "motor_1_state", "motor_2_state"):
        expected[f"/{space}/{name}"] = ("sensor_msgs/JointState", 50)  # the manager's 10 ms
    expected[f"/{space}/stiffness_state"] = ("std_msgs/Float64MultiArray", 50)
    assert {t.topic: t.type for t in topics} == {name: kind for name, (kind, _) in expected.items()}
    with open_bag(path) as bag:
        assert bag.fault == ""
        counts = {t.name: t.count for t in bag.topics}
        assert {t.topic: t.count for t in topics} == counts
        assert all(t.known_type() for t in bag.topics)
    assert counts == {name: count for name, (_, count) in expected.items()}
    assert path.parent.exists()
    assert not [p for p in path.parent.iterdir() if p.name.startswith(".")]


@pytest.mark.parametrize("form", FORMS)
def test_rosbags_reads_the_values_of_the_run_at_their_times(recording, exported, form):
    source, space, joints = recording
    path, _ = exported[form]
    run = read_recording(source)
    with AnyReader([path]) as reader:
        rows = {}
        for connection, time, raw in reader.messages():
            rows.setdefault(connection.topic, []).append((time, reader.deserialize(raw, connection.msgtype)))
    joint = joints[-1]
    states = rows[f"/{space}/{joint}/link_state"]
    assert [t for t, _ in states] == run.log_times[joint].tolist()
    assert [m.q for _, m in states] == pytest.approx(run[f"{joint}/position"].astype(np.float32))
    assert [m.stiff for _, m in states] == pytest.approx(run[f"{joint}/reported_stiffness"].astype(np.float32))
    whole = rows["/joint_states"]
    assert np.array([m.position for _, m in whole]) == pytest.approx(run["board/position"])
    assert [m.header.stamp.sec * 10**9 + m.header.stamp.nanosec for _, m in whole] == run.log_times["board"].tolist()
    assert list(whole[0][1].name) == joints
    clock = [m.clock.sec * 10**9 + m.clock.nanosec for _, m in rows["/clock"]]
    assert clock == [t for t, _ in rows["/clock"]]


def test_strict_readers_take_the_mcap_with_all_checksums(exported):
    path, topics = exported["run.mcap"]
    with path.open("rb") as file:
        reader = make_reader(file, validate_crcs=True)
        assert reader.get_header().profile == "ros2"
        summary = reader.get_summary()
        assert {s.encoding for s in summary.schemas.values()} == {"ros2msg"}
        assert {c.message_encoding for c in summary.channels.values()} == {"cdr"}
        assert (
            sum(1 for _ in reader.iter_messages()) == summary.statistics.message_count == sum(t.count for t in topics)
        )
    with path.open("rb") as file:
        assert sum(1 for _ in StreamReader(file, validate_crcs=True).records) > 100


def test_definitions_and_hashes_are_those_of_rosbags(exported):
    stores = {"run.bag": get_typestore(Stores.ROS1_NOETIC), "run.mcap": get_typestore(Stores.ROS2_JAZZY)}
    for form, store in stores.items():
        with AnyReader([exported[form][0]]) as reader:
            compared = 0
            for connection in reader.connections:
                if connection.msgtype not in store.types:
                    continue
                if form == "run.bag":
                    assert connection.digest == store.generate_msgdef(connection.msgtype)[1]
                # Of the text in the file: rosbags parses it and makes the hash that ROS 2 compares.
                assert reader.typestore.hash_rihs01(connection.msgtype) == store.hash_rihs01(connection.msgtype)
                compared += 1
            assert compared > 5


@pytest.mark.parametrize("form", ["run.mcap", "run.db3", "run"])
def test_every_topic_is_offered_reliable_so_that_every_subscriber_is_reached(exported, form):
    with AnyReader([exported[form][0]]) as reader:
        for connection in reader.connections:
            (quality,) = connection.ext.offered_qos_profiles
            assert quality.reliability == QosReliability.RELIABLE, connection.topic
            assert quality.durability == QosDurability.VOLATILE
            assert quality.depth == 10
    if form == "run":
        assert "version: 8" in (exported[form][0] / "metadata.yaml").read_text()


def test_an_exported_bag_gives_the_same_traces_as_its_recording(recording, exported):
    source, _, joints = recording
    run = read_recording(source)
    for form in FORMS:
        columns = read_traces(exported[form][0], joints[0]).columns
        assert columns["link_position"] == pytest.approx(run[f"{joints[0]}/position"], abs=1e-6)
        assert columns["motor_1_position"] == pytest.approx(run[f"{joints[0]}/motor_1_position"], abs=1e-6)
        assert columns["torque"] == pytest.approx(run[f"{joints[0]}/elastic_torque"], abs=1e-6)
        assert columns["time"] == pytest.approx(run[f"{joints[0]}/time"] - run[f"{joints[0]}/time"][0])


def test_a_joint_whose_mode_has_no_motors_shows_none(tmp_path):
    robot = load("qbmove-1dof")
    assert not next(iter(robot.actuators.values())).mode.has_motors
    recorder = Recorder(tmp_path / "run.mcap", metadata={"interface": recorded_names(robot.interface)})
    with Simulation(MujocoEngine(robot, check=False), make_devices(robot), pacer="free", recorder=recorder) as run:
        run.run(0.05)
    topics = {t.topic for t in export_bag(tmp_path / "run.mcap", tmp_path / "out.bag")}
    assert "/qbmove_1dof/joint/link_state" in topics
    assert "/qbmove_1dof/joint/motor_1_state" not in topics


def commands(store):
    for k in range(5):
        yield "/arm/elbow/reference_1", F64, k * 10**8, bags.number(store, k)
        yield (
            "/joint_states",
            "sensor_msgs/msg/JointState",
            k * 10**8,
            bags.joint_state(store, k * 10**8, ["elbow"], [0.5 * k], [0.1], [0.2]),
        )
        yield "/arm/elbow/link_state", "viactors_plugins/msg/StateInfo", k * 10**8, bags.state(store, k, 1, 2, 3, 4, 5)
    header = bags.joint_state(store, 0, [], []).header
    kind = "sensor_msgs/msg/FluidPressure"  # none of pliant's
    yield "/depth", kind, 4 * 10**8, store.types[kind](header, 1e5, 0.0)


@pytest.mark.parametrize("kind", ["bag", "mcap", "db3"])
@pytest.mark.parametrize("form", FORMS)
def test_a_bag_of_any_kind_becomes_one_of_another(tmp_path, kind, form):
    source = bags.write_any(tmp_path, commands, kind)
    out = tmp_path / "out" / form
    out.parent.mkdir()
    topics = {t.topic: t.count for t in export_bag(source, out)}
    # The unknown type is left away; the log time is the clock where the bag has none.
    assert topics == {"/arm/elbow/reference_1": 5, "/joint_states": 5, "/arm/elbow/link_state": 5, "/clock": 5}
    table = read_commands(out)
    assert table.columns["elbow/reference_1"].tolist() == [0, 1, 2, 3, 4]
    with open_bag(out) as bag:
        states = [m.decode() for m in bag.messages(["/joint_states"])]
        assert [s["position"].tolist() for s in states] == [[0.5 * k] for k in range(5)]
        assert [s["header"]["stamp"] for s in states] == [k * 10**8 for k in range(5)]
        assert [m.decode()["stiff"] for m in bag.messages(["/arm/elbow/link_state"])] == [5.0] * 5


def test_what_cannot_be_written_is_refused_and_leaves_nothing(recording, tmp_path):
    (tmp_path / "there.bag").write_bytes(b"mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "photo.png").write_bytes(b"mine")
    for name, overwrite, message in (
        (
            "run.txt",
            False,
            r"the name of the bag is 'run.txt'; .*must be one of .bag, .db3, .mcap, or a name without suffix",
        ),
        ("no/run.bag", False, "the folder .* does not exist"),
        ("there.bag", False, "the bag exists; replace it with --overwrite"),
        ("folder", True, "the folder is not a bag; it is not replaced"),
    ):
        with pytest.raises(RecordingError, match=message):
            export_bag(recording[0], tmp_path / name, overwrite=overwrite)
    assert (tmp_path / "there.bag").read_bytes() == b"mine"
    assert (tmp_path / "folder" / "photo.png").exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["folder", "there.bag"]


def test_a_bag_keeps_its_names(recording, tmp_path):
    export_bag(recording[0], tmp_path / "run.bag")
    with pytest.raises(RecordingError, match=r"run\.bag: the name space 'left' is for recordings of pliant"):
        export_bag(tmp_path / "run.bag", tmp_path / "run.mcap", namespace="left")
    assert not (tmp_path / "run.mcap").exists()


def test_an_export_that_fails_leaves_the_old_bag(recording, tmp_path):
    class Enough(Exception):
        pass

    def stop(done, total):
        raise Enough

    for form in FORMS:
        export_bag(recording[0], tmp_path / form)
        before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
        with pytest.raises(Enough):
            export_bag(recording[0], tmp_path / form, overwrite=True, progress=stop)
        assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before
        export_bag(recording[0], tmp_path / form, overwrite=True, namespace="other")
        with open_bag(tmp_path / form) as bag:
            assert "/other/robot_state" in {t.name for t in bag.topics}


def test_a_device_without_a_message_of_its_own_is_exported_by_its_fields(tmp_path):
    from fake_engine import SpringJoint, SpringMassEngine

    path = tmp_path / "run.mcap"
    with Simulation(SpringMassEngine(), [SpringJoint(0, "elbow")], recorder=path) as run:
        run.run(0.01)
    topics = {t.topic: t.type for t in export_bag(path, tmp_path / "out.bag", namespace="arm") if t.topic != "/clock"}
    fields = ("position", "velocity", "reference", "torque")
    assert topics == {f"/arm/elbow/{field}": "std_msgs/Float64" for field in fields}
