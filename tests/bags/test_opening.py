"""Bags that are whole, cut off, damaged, empty, or no bags at all."""

import contextlib
import shutil
import struct
import warnings
from pathlib import Path

import bag_files as bags
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcap.writer import CompressionType, Writer

from pliant.bags import is_bag, open_bag, read_traces
from pliant.base.errors import PliantError, RecordingError
from pliant.command_tables import read_commands
from pliant.recording import RecordingWarning

F64, STRING = "std_msgs/msg/Float64", "std_msgs/msg/String"


def rows(store):
    for k in range(20):
        yield "/arm/elbow/reference_1", F64, k * 10_000_000, bags.number(store, k)
        yield "/chatter", STRING, k * 10_000_000 + 1, store.types[STRING](data=f"message {k}")
        yield (
            "/joint_states",
            "sensor_msgs/msg/JointState",
            k * 10_000_000,
            bags.joint_state(store, k * 10_000_000 + 1, ["elbow"], [0.1 * k], [0.0], [0.2]),
        )


@pytest.mark.parametrize("kind", bags.KINDS)
def test_topics_types_and_messages_come_in_the_order_of_time(kind, tmp_path):
    path = bags.write_any(tmp_path, rows, kind)
    assert is_bag(path)
    with open_bag(path) as bag:
        assert [(t.name, t.type, t.count) for t in bag.topics] == [
            ("/arm/elbow/reference_1", "std_msgs/Float64", 20),
            ("/chatter", "std_msgs/String", 20),
            ("/joint_states", "sensor_msgs/JointState", 20),
        ]
        assert bag.fault == ""
        assert bag.count == 60
        assert bag.begin_ns == bags.EPOCH
        assert bag.duration == pytest.approx(0.19, abs=1e-6)
        messages = list(bag.messages())
        assert [m.log_ns for m in messages] == sorted(m.log_ns for m in messages)
        texts = [m.decode()["data"] for m in messages if m.topic.name == "/chatter"]
        assert texts == [f"message {k}" for k in range(20)]
        states = [m.decode() for m in bag.messages(["/joint_states"])]
        assert [s["name"] for s in states] == [["elbow"]] * 20
        assert states[3]["position"].tolist() == pytest.approx([0.3])
        assert {t.known_type() for t in bag.topics} == {"std_msgs/Float64", "std_msgs/String", "sensor_msgs/JointState"}


def test_a_type_of_the_same_name_with_other_fields_is_not_known(tmp_path):
    path = tmp_path / "run.mcap"
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start(profile="ros2")
        for number, text in enumerate((b"float64 data\n", b"float32 data\n", b"# a comment\nfloat64  data # here\n")):
            schema = writer.register_schema("std_msgs/msg/Float64", "ros2msg", text)
            channel = writer.register_channel(f"/arm/joint_{number}/reference_1", "cdr", schema)
            writer.add_message(channel, 0, b"\0\1\0\0" + struct.pack("<d", 0.5), 0)
        writer.finish()
    with open_bag(path) as bag:
        assert [t.known_type() for t in bag.topics] == ["std_msgs/Float64", "", "std_msgs/Float64"]
    assert set(read_commands(path).columns) == {"joint_0/reference_1", "joint_2/reference_1"}


@pytest.mark.parametrize("compression", [CompressionType.LZ4, CompressionType.ZSTD, CompressionType.NONE])
def test_ros_1_messages_in_an_mcap_are_read_too(tmp_path, compression):
    try:
        writer = Writer(str(tmp_path / "run.mcap"), compression=compression)
        writer.start(profile="ros1")
        schema = writer.register_schema("std_msgs/Float64", "ros1msg", b"float64 data\n")
        channel = writer.register_channel("/arm/elbow/reference_1", "ros1", schema)
        for k in range(3):
            writer.add_message(channel, k * 10**9, struct.pack("<d", k), 0)
        writer.finish()
    except ImportError as error:
        pytest.skip(f"the mcap package cannot compress here: {error}")
    table = read_commands(tmp_path / "run.mcap")
    assert table.time.tolist() == [0, 1, 2]
    assert table.columns["elbow/reference_1"].tolist() == [0, 1, 2]


def test_a_bag_of_several_files_is_one_bag(tmp_path):
    def part(first):
        def some(store):
            for k in range(first, first + 5):
                yield "/arm/elbow/reference_1", F64, k * 10**9, bags.number(store, k)

        return some

    folder = bags.write_2(tmp_path / "run", part(0))
    other = bags.write_2(tmp_path / "other", part(5))
    shutil.copy(next(other.glob("*.mcap")), folder / "run_1.mcap")
    text = (folder / "metadata.yaml").read_text()
    line = next(line for line in text.splitlines() if line.endswith("- run.mcap"))
    (folder / "metadata.yaml").write_text(text.replace(line, f"{line}\n{line.replace('run', 'run_1')}", 1))
    with open_bag(folder) as bag:
        assert bag.fault == ""
        assert [(t.name, t.count) for t in bag.topics] == [("/arm/elbow/reference_1", 10)]
        assert [m.decode()["data"] for m in bag.messages()] == list(range(10))


# ---------------------------------------------------------------------------- not closed, cut off
def test_a_bag_that_was_not_closed_is_read_and_told_with_what_saves_it(tmp_path):
    path = bags.write_1(tmp_path / "run.bag", rows)
    data = bytearray(path.read_bytes())
    place = data.index(b"index_pos=") + len(b"index_pos=")
    data[place : place + 8] = bytes(8)
    active = tmp_path / "run.bag.active"
    active.write_bytes(data)
    with pytest.warns(RecordingWarning, match=r"was not closed.*rosbag reindex.*read are 60 messages"):
        assert len(read_commands(active).time) == 20
    folder = bags.write_2(tmp_path / "run", rows)
    (folder / "metadata.yaml").unlink()
    with pytest.warns(RecordingWarning, match=r"has no metadata\.yaml.*ros2 bag reindex"), open_bag(folder) as bag:
        assert bag.count == 60
    file = next(folder.glob("*.mcap"))
    whole = file.read_bytes()
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(whole[: whole.rindex(b"\x0f\x04\0\0\0\0\0\0\0")])  # before DataEnd: a killed ros2 bag
    with pytest.warns(RecordingWarning, match="it has no end: the writer was interrupted"), open_bag(cut) as bag:
        assert bag.count == 60


@pytest.mark.parametrize("kind", ["bag", "lz4", "mcap"])
def test_of_a_truncated_bag_everything_before_the_cut_is_read(kind, tmp_path):
    def many(store):
        for k in range(60_000):
            yield "/arm/elbow/reference_1", F64, k * 1_000_000, bags.number(store, k)

    path = bags.write_any(tmp_path, many, kind)
    cut = tmp_path / f"cut{path.suffix}"
    cut.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])
    with pytest.warns(RecordingWarning, match=rf"cut{path.suffix}: it .*; read are \d+ messages"):
        table = read_commands(cut)
    assert 10_000 < len(table.time) < 60_000
    assert table.columns["elbow/reference_1"].tolist() == list(range(len(table.time)))


# ---------------------------------------------------------------------------- no bags
@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("run.bag", b"", r"run\.bag: the file is empty"),
        ("run.mcap", b"", r"run\.mcap: the file is empty"),
        ("run.db3", b"", r"run\.db3: the file is empty"),
        ("run.bag", b"no bag at all", "begins with b'no bag at all'; a ROS 1 bag begins with"),
        ("run.mcap", b"no bag at all", "begins with b'no bag a'; an MCAP file begins with"),
        ("run.db3", b"no bag at all", "begins with b'no bag at all'; a .db3 file begins with"),
        ("run.bag", b"#ROSBAG V1.2\n", "has the format '#ROSBAG V1.2'; must be '#ROSBAG V2.0'"),
        (
            "run.bag",
            b"#ROSBAG V2.0\n\xff\xff\xff\xff",
            "no message that can be read: .* byte 13",
        ),
        ("run.mcap", b"\x89MCAP0\r\n\x05" + b"\xff" * 8, "no message that can be read: .* byte 8 of 17"),
        ("run.db3", b"SQLite format 3\0" + bytes(84), "cannot be read: "),
        ("run.txt", b"text", r"a bag ends in '\.txt'; .*must be one of \.bag, \.db3, \.mcap"),
    ],
)
def test_what_is_no_bag_is_refused_with_the_place(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(RecordingError, match=message):
        open_bag(path)


def test_a_missing_file_or_an_empty_folder_is_refused(tmp_path):
    for name in ("no.bag", "no.mcap", "no.db3"):
        with pytest.raises(RecordingError, match="there is no such file"):
            open_bag(tmp_path / name)
    with pytest.raises(RecordingError, match=r"the folder has no metadata\.yaml and no \.mcap or \.db3 file"):
        open_bag(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "metadata.yaml:1: the file is not valid YAML"),
        ("other: 1\n", "lacks 'rosbag2_bagfile_information'"),
        ("rosbag2_bagfile_information: 3\n", "it must have rosbag2_bagfile_information: with relative_file_paths"),
        ("rosbag2_bagfile_information:\n  relative_file_paths: []\n", "lists no file"),
        (
            "rosbag2_bagfile_information:\n  relative_file_paths:\n  - a.mcap\n",
            "yaml:3: it lists a.mcap, which",
        ),
        (
            "rosbag2_bagfile_information:\n  compression_mode: FILE\n  relative_file_paths: [a]\n",
            "metadata.yaml:2: the bag is compressed by file",
        ),
    ],
)
def test_wrong_metadata_is_refused_with_its_line(tmp_path, text, message):
    (tmp_path / "metadata.yaml").write_text(text)
    with pytest.raises(RecordingError, match=message):
        open_bag(tmp_path)


def test_metadata_do_not_lead_out_of_the_folder(tmp_path):
    folder = bags.write_2(tmp_path / "run", rows)
    (folder / "metadata.yaml").write_text(
        "rosbag2_bagfile_information:\n  relative_file_paths: [../../../etc/run.mcap]\n"
    )
    with open_bag(folder) as bag:
        assert bag.parts[0].path == folder / "run.mcap"


def test_a_database_of_somebody_else_is_refused_with_its_tables(tmp_path):
    import sqlite3

    with contextlib.closing(sqlite3.connect(tmp_path / "run.db3")) as connection:
        connection.execute("CREATE TABLE pets(name TEXT)")
        connection.commit()
    with pytest.raises(RecordingError, match=r"no table 'messages'; .* its tables: pets"):
        open_bag(tmp_path / "run.db3")


def test_a_chunk_that_states_a_huge_length_is_refused(tmp_path):
    path = bags.write_any(tmp_path, rows, "lz4")
    data = bytearray(path.read_bytes())
    place = data.index(b"size=") + 5
    data[place : place + 4] = b"\xff\xff\xff\xff"
    path.write_bytes(data)
    with pytest.raises(RecordingError, match=r"a chunk states 4294967295 bytes of messages; must be at most"):
        open_bag(path)


# ---------------------------------------------------------------------------- fuzz
@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    found = {}
    for kind in ("bag", "bz2", "lz4", "mcap", "db3"):
        (folder / kind).mkdir()
        found[kind] = bags.write_any(folder / kind, rows, kind)
    return found


@pytest.mark.parametrize("kind", ["bag", "bz2", "lz4", "mcap", "db3"])
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_mutated_files_raise_our_errors_only(whole, tmp_path_factory, kind, data):
    source = whole[kind]
    content = bytearray(source.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        patch = data.draw(st.binary(min_size=1, max_size=8))
        content[place : place + len(patch)] = patch
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content))) :]
    path = tmp_path_factory.mktemp("fuzz") / source.name
    path.write_bytes(content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RecordingWarning)
            for read in (read_commands, read_traces, everything):
                with contextlib.suppress(PliantError):
                    read(path)
    finally:
        shutil.rmtree(path.parent)


def everything(path: Path) -> None:
    with open_bag(path) as bag:
        for message in bag.messages():
            if message.topic.known_type():
                message.decode()
