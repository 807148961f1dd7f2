"""Recordings: nothing is lost, everybody can read them, equal runs give equal bytes."""

import csv
import json
import math
import subprocess
import sys
import warnings
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from fake_bridge import Recall
from fake_engine import Board, SpringJoint, SpringMassEngine
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.base.errors import DeviceError, RecordingError
from pliant.devices import Device, DeviceBase, FieldInfo, Noise, Sample, SampleSource, make_devices
from pliant.engine import MujocoEngine
from pliant.recording import Recorder, RecordingWarning, compare, export, read_recording, sample_message
from pliant.recording import mcap as mcap_file
from pliant.recording.mcap_reader import read_mcap
from pliant.replay.player import WallClock, replay
from pliant.robots.loading import load
from pliant.simulation import Simulation

HERE = Path(__file__).resolve().parent


def devices():
    noise = {"position": Noise(std=0.01)}
    return [
        SpringJoint(0, "elbow", noise=noise),
        SpringJoint(1, "wrist", period=0.002, sample_period=0.004),
        Board(3, noise=noise),
    ]


def simulation(path, seed=1, **options):
    result = Simulation(
        SpringMassEngine(3, damping=1.0),
        devices(),
        seed=seed,
        pacer="free",
        recorder=Recorder(path, overwrite=True, **options),
    )
    result.at(0.002, lambda s: s.devices["elbow"].inbox.put({"reference": 0.3}) and None)
    return result


def record(path, duration=0.1, seed=1, **options):
    """Record a run and return its samples as they were given out."""
    samples = []
    with simulation(path, seed, **options) as run:
        recall = Recall()
        recall.publish = samples.append
        run._publish.append(recall.publish)
        run._tick.append(recall.tick)
        run.run(duration)
    return samples


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    path = tmp_path_factory.mktemp("recording") / "run.mcap"
    return path, record(path)


def columns(samples, device, field):
    return np.array([s.values[field] for s in samples if s.device == device])


# ---------------------------------------------------------------------------- what is written is read
def test_every_sample_comes_back_bit_by_bit(recorded):
    path, samples = recorded
    recording = read_recording(path)
    assert recording.complete
    assert list(recording.devices) == ["elbow", "wrist", "board"]
    assert len(recording["elbow/time"]) == 100
    assert len(recording["wrist/time"]) == 25
    for device in devices():
        for field, info in device.samples.items():
            expected = columns(samples, device.name, field)
            assert np.array_equal(recording[f"{device.name}/{field}"], expected)
            assert recording[f"{device.name}/{field}"].shape[1:] == info.shape
            assert recording.unit(f"{device.name}/{field}") == info.unit
            assert recording.devices[device.name].samples[field].description == info.description
    assert recording["elbow/time"].tolist() == [n * 1_000_000 * 1e-9 for n in range(1, 101)]
    assert recording["wrist/seq"].tolist() == list(range(25))
    assert recording.duration == pytest.approx(0.1)
    with pytest.raises(RecordingError, match="has no 'elbow/postion'; did you mean 'elbow/position'"):
        recording["elbow/postion"]


def test_recordings_of_pliant_0_3_whose_arrays_have_no_length_are_read(recorded, tmp_path, monkeypatch):
    path, _ = recorded
    monkeypatch.setattr(sample_message, "_counted", lambda info: False)
    record(tmp_path / "before.mcap")
    monkeypatch.undo()
    assert (tmp_path / "before.mcap").stat().st_size < path.stat().st_size
    assert compare(path, tmp_path / "before.mcap") == []
    assert read_recording(tmp_path / "before.mcap")["board/position"].shape == (100, 3)


def test_the_length_of_a_recording_that_begins_later_is_that_of_what_it_holds(tmp_path):
    with Simulation(SpringMassEngine(3), devices(), pacer="free") as run:
        run.run(0.0305)
        run.record(tmp_path / "late.mcap")
        run.run(0.02)
        run.reset()
        run.run(0.03)
        run.stop_recording()
    recording = read_recording(tmp_path / "late.mcap")
    first, last = recording["elbow/time"][[0, -1]]
    assert first == pytest.approx(0.032)
    assert recording.duration == pytest.approx(0.05)
    assert recording.duration == pytest.approx(last - first + 0.001)
    assert recording.begin_ns == 31_000_000
    assert recording.end_ns == 81_000_000


def test_versions_seed_step_and_command_line_are_in_the_file(tmp_path):
    class Hashed(SpringMassEngine):
        model_hash = "abc123"

    recorder = Recorder(tmp_path / "run.mcap", command_line="pliant run arm.urdf", metadata={"operator": "me"})
    with Simulation(Hashed(dt=0.002), [SpringJoint()], recorder=recorder, seed=17) as run:
        run.step()
    metadata = read_recording(tmp_path / "run.mcap").metadata
    assert {"pliant", "mujoco", "numpy", "numba", "python"} <= set(metadata)
    assert (metadata["seed"], metadata["dt"], metadata["model_hash"]) == ("17", "0.002", "abc123")
    assert (metadata["command_line"], metadata["operator"]) == ("pliant run arm.urdf", "me")


def test_equal_runs_give_equal_bytes_whenever_the_disk_was_written(tmp_path):
    files = []
    for name, interval in (("a", 1e-4), ("b", 60.0), ("c", 0.01)):
        path = tmp_path / f"{name}.mcap"
        record(path, 3.0, flush_interval=interval)
        files.append(path.read_bytes())
    assert files[0] == files[1] == files[2]
    record(tmp_path / "d.mcap", 3.0, seed=2)
    assert (tmp_path / "d.mcap").read_bytes() != files[0]
    assert len(files[0]) > 2 * mcap_file.CHUNK_SIZE  # several chunks


def test_time_goes_on_through_a_reset_while_the_stamp_starts_again(tmp_path):
    with simulation(tmp_path / "run.mcap") as run:
        run.step(5)
        run.reset()
        run.step(3)
    recording = read_recording(tmp_path / "run.mcap")
    assert np.round(recording["elbow/time"] * 1e3).tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert np.round(recording["elbow/stamp"] * 1e3).tolist() == [1, 2, 3, 4, 5, 1, 2, 3]


def test_only_the_named_devices_are_recorded(tmp_path):
    recorder = Recorder(tmp_path / "run.mcap", ["board"])
    with Simulation(SpringMassEngine(3), devices(), recorder=recorder) as run:
        run.step(3)
    assert list(read_recording(tmp_path / "run.mcap").devices) == ["board"]
    recorder = Recorder(tmp_path / "other.mcap", ["bord"])
    with pytest.raises(RecordingError, match=r"'bord' should be recorded.*did you mean 'board'"):
        Simulation(SpringMassEngine(3), devices(), recorder=recorder).step()


class Odd(DeviceBase):
    """Names that ROS would not take."""

    def __init__(self):
        super().__init__("2nd hand/Finger-1", samples={"Temp (C)": FieldInfo(), "temp_c": FieldInfo((2,))})

    def _measure(self):
        return {"Temp (C)": 1.0, "temp_c": np.array([2.0, 3.0])}


def test_images_are_left_out_and_asking_for_them_is_refused(tmp_path):
    class Eye(SpringJoint):
        def __init__(self):
            super().__init__(0, "eye")
            self.samples = {"image": FieldInfo((4, 6, 3), dtype="uint8")}

        def read(self, stamp_ns):
            return Sample(self.name, 0, stamp_ns, {"image": np.zeros((4, 6, 3), np.uint8)})

    path = tmp_path / "run.mcap"
    with Simulation(SpringMassEngine(3), [Eye(), SpringJoint(1)], recorder=path) as run:
        run.step(3)
    assert list(read_recording(path).devices) == ["joint_1"]
    with (
        pytest.raises(RecordingError, match="'eye' should be recorded, but gives images, which are not recorded"),
        Simulation(SpringMassEngine(3), [Eye()], recorder=Recorder(tmp_path / "b.mcap", devices=["eye"])) as run,
    ):
        run.step()


def test_names_that_ros_does_not_take_are_kept_for_us_and_changed_for_ros(tmp_path):
    reader = pytest.importorskip("rosbags.highlevel").AnyReader
    with Simulation(SpringMassEngine(), [Odd()], recorder=tmp_path / "run.mcap") as run:
        run.step(2)
    recording = read_recording(tmp_path / "run.mcap")
    assert recording["2nd hand/Finger-1/Temp (C)"].tolist() == [1.0, 1.0]
    assert recording["2nd hand/Finger-1/temp_c"].tolist() == [[2.0, 3.0]] * 2
    with reader([tmp_path / "run.mcap"]) as bag:
        ((connection, _, raw), *_) = bag.messages()
        message = bag.deserialize(raw, connection.msgtype)
    assert connection.topic == "/_2nd_hand/Finger_1"
    assert message.temp_c == 1.0
    assert message.temp_c0.tolist() == [2.0, 3.0]


# ---------------------------------------------------------------------------- others read it
def test_rosbags_reads_the_single_file_with_all_fields(recorded):
    rosbags = pytest.importorskip("rosbags.highlevel")
    path, samples = recorded
    elbow = [s for s in samples if s.device == "elbow"]
    with rosbags.AnyReader([path]) as bag:
        topics = {c.topic: (c.msgtype, c.msgcount) for c in bag.connections}
        assert topics["/elbow"] == ("pliant_msgs/msg/Elbow", 100)
        assert topics["/elbow/joint_states"] == ("sensor_msgs/msg/JointState", 100)
        assert topics["/board/joint_states"] == ("sensor_msgs/msg/JointState", 100)
        wanted = {"/elbow": [], "/elbow/joint_states": [], "/board/joint_states": []}
        for connection, time, raw in bag.messages():
            if connection.topic in wanted:
                wanted[connection.topic].append((time, bag.deserialize(raw, connection.msgtype)))
    for (time, message), sample in zip(wanted["/elbow"], elbow, strict=True):
        assert time == sample.stamp_ns
        assert message.header.stamp.sec * 10**9 + message.header.stamp.nanosec == sample.stamp_ns
        assert message.seq == sample.seq
        assert {name: getattr(message, name) for name in sample.values} == dict(sample.values)
    for (_, message), sample in zip(wanted["/elbow/joint_states"], elbow, strict=True):
        assert message.name == ["elbow"]
        assert message.position.tolist() == [sample.values["position"]]
        assert message.velocity.tolist() == [sample.values["velocity"]]
        assert message.effort.tolist() == [sample.values["torque"]]
    board = [s for s in samples if s.device == "board"]
    for (_, message), sample in zip(wanted["/board/joint_states"], board, strict=True):
        assert message.name == ["joint_0", "joint_1", "joint_2"]
        for field in ("position", "velocity", "effort"):
            assert np.array_equal(getattr(message, field), sample.values[field])


def test_the_mcap_package_reads_it_by_its_index_with_all_checksums(recorded):
    reader = pytest.importorskip("mcap.reader")
    path, samples = recorded
    with path.open("rb") as file:
        bag = reader.make_reader(file, validate_crcs=True)
        summary = bag.get_summary()
        assert summary.statistics.message_count == 100 + 25 + 100 + 100 + 25 + 100
        assert summary.statistics.message_start_time == 1_000_000
        assert summary.statistics.message_end_time == 100_000_000
        assert len(summary.chunk_indexes) == summary.statistics.chunk_count == 1
        times = [m.log_time for _, c, m in bag.iter_messages(topics=["/wrist"])]
        assert times == [s.stamp_ns for s in samples if s.device == "wrist"]
        late = list(bag.iter_messages(topics=["/elbow"], starting_at=90_000_000))
        assert len(late) == 11
        assert [m.name for m in bag.iter_metadata()] == ["pliant"]


def test_payloads_and_resets_during_a_recording_are_in_it_and_everyone_reads_them(tmp_path, monkeypatch):
    monkeypatch.setattr(mcap_file, "CHUNK_SIZE", 2000)  # events stand in several chunks
    robot = load("qbmove-1dof")
    path = tmp_path / "run.mcap"
    engine = MujocoEngine(robot)
    with Simulation(engine, make_devices(robot), pacer="free", recorder=path, seed=3) as run:
        run.run(0.1)
        engine.set_payload("link", 0.1, (0.03, 0.02, -0.05))
        run.run(0.1)
        engine.set_payload("link", 0.1, (0.03, 0.02, -0.05))  # no change
        run.run(0.1)
        run.reset()
        run.run(0.1)
        engine.set_payload("link", 0.2, (0.0, 0.0, 0.0))
        run.run(0.05)
    recording = read_recording(path)
    assert [(round(e.time, 9), e.name, e.values) for e in recording.events] == [
        (0.1, "payloads", {"payloads": {"link": {"mass": 0.1, "offset": [0.03, 0.02, -0.05]}}}),
        (0.3, "reset", {"seed": 3}),
        (0.3, "payloads", {"payloads": {}}),
        (0.4, "payloads", {"payloads": {"link": {"mass": 0.2, "offset": [0.0, 0.0, 0.0]}}}),
    ]
    assert str(recording.events[0]) == "0.1 s: payloads: 0.1 kg on link at (0.03, 0.02, -0.05) m"
    assert str(recording.events[2]) == "0.3 s: payloads: none"
    assert len(recording["joint/time"]) == 45
    with pytest.importorskip("rosbags.highlevel").AnyReader([path]) as bag:
        texts = [bag.deserialize(r, c.msgtype).data for c, _, r in bag.messages() if c.topic == "/pliant/events"]
    assert [json.loads(text)["event"] for text in texts] == [e.name for e in recording.events]
    reader = pytest.importorskip("mcap.reader")
    with path.open("rb") as file:
        found = list(reader.make_reader(file, validate_crcs=True).iter_messages(topics=["/pliant/events"]))
    assert [message.log_time for _, _, message in found] == [100_000_000, 300_000_000, 300_000_000, 400_000_000]


def test_a_recording_that_begins_under_a_payload_says_so_and_one_without_has_no_events(tmp_path):
    robot = load("qbmove-1dof")
    engine = MujocoEngine(robot)
    with Simulation(engine, make_devices(robot), pacer="free") as run:
        run.run(0.02)
        run.record(tmp_path / "free.mcap")
        run.run(0.02)
        run.stop_recording()
        engine.set_payload("link", 0.1)
        run.run(0.02)
        run.record(tmp_path / "loaded.mcap")
        run.run(0.02)
        run.stop_recording()
    assert read_recording(tmp_path / "free.mcap").events == ()
    assert "/pliant/events" not in [c.topic for c in read_mcap(tmp_path / "free.mcap").channels]
    (event,) = read_recording(tmp_path / "loaded.mcap").events
    assert event.time == pytest.approx(0.06)
    assert event.values["payloads"]["link"]["mass"] == 0.1


def test_joint_states_may_be_left_out(tmp_path):
    record(tmp_path / "run.mcap", joint_states=False)
    assert [c.topic for c in read_mcap(tmp_path / "run.mcap").channels] == ["/elbow", "/wrist", "/board"]


# ---------------------------------------------------------------------------- nothing is lost
CHILD = """
import os, signal, sys
sys.path[:0] = [{here!r}, {helpers!r}]
from test_recording import simulation
run = simulation({path!r}, flush_interval=0.001)
{body}
"""


def child(tmp_path, body):
    path = tmp_path / "run.mcap"
    code = CHILD.format(here=str(HERE), helpers=str(HERE.parent / "helpers"), path=str(path), body=body)
    return path, subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240, check=False)


def test_a_killed_run_is_readable_up_to_the_last_flush_by_everyone(tmp_path):
    body = f"""
while os.stat({str(tmp_path / "run.mcap")!r}).st_size < 700_000:
    run.step(50)
os.kill(os.getpid(), signal.SIGKILL)
"""
    path, result = child(tmp_path, body)
    assert result.returncode == -9, result.stderr
    with pytest.warns(RecordingWarning, match="it was not closed: the run that wrote it was interrupted; read are"):
        recording = read_recording(path)
    count = len(recording["elbow/time"])
    assert count > 500
    assert not recording.complete
    reference = tmp_path / "whole.mcap"
    record(reference, count * 1e-3)
    whole = read_recording(reference)
    assert np.array_equal(recording["elbow/position"], whole["elbow/position"])
    assert np.array_equal(recording["board/position"], whole["board/position"][: len(recording["board/time"])])
    highlevel = pytest.importorskip("rosbags.highlevel")
    with highlevel.AnyReader([path]) as bag:
        assert next(c.msgcount for c in bag.connections if c.topic == "/elbow") == count
    reader = pytest.importorskip("mcap.reader")
    with path.open("rb") as file:
        assert sum(1 for _ in reader.make_reader(file, validate_crcs=True).iter_messages(topics=["/elbow"])) == count


def test_a_full_disk_ends_the_run_with_an_error_and_leaves_the_rest_readable(tmp_path):
    body = """
import resource
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (700_000, 700_000))
try:
    run.run(60.0)
except Exception as error:
    print(type(error).__name__, error, run.health()["closed"])
"""
    pytest.importorskip("resource")
    path, result = child(tmp_path, body)
    assert "RecordingError" in result.stdout, result.stdout + result.stderr
    assert "File too large; it is readable up to what was written before" in result.stdout
    assert result.stdout.rstrip().endswith("True")
    assert path.stat().st_size <= 700_000
    with pytest.warns(RecordingWarning, match="it was not closed"):
        recording = read_recording(path)
    assert len(recording["elbow/time"]) > 300
    highlevel = pytest.importorskip("rosbags.highlevel")
    with highlevel.AnyReader([path]) as bag:
        assert next(c.msgcount for c in bag.connections if c.topic == "/elbow") == len(recording["elbow/time"])


def test_an_interpreter_that_ends_without_close_still_closes_the_recording(tmp_path):
    path, result = child(tmp_path, "run.step(200)\nraise RuntimeError('not ours')")
    assert "not ours" in result.stderr
    recording = read_recording(path)
    assert recording.complete
    assert len(recording["elbow/time"]) == 200


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_file_that_is_cut_anywhere_gives_the_samples_before_the_cut(recorded, tmp_path_factory, data):
    path, _ = recorded
    whole = path.read_bytes()
    cut = data.draw(st.integers(8, len(whole) - 1))
    part = tmp_path_factory.mktemp("cut") / "cut.mcap"
    part.write_bytes(whole[:cut])
    full = read_recording(path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        recording = read_recording(part)
    assert len(caught) == 1
    assert "lost" in str(caught[0].message)
    for name in recording:
        count = len(recording[name])
        assert np.array_equal(recording[name], full[name][:count])
    elbow = read_mcap(path).channels[0].data
    written = sum(whole.index(body) + len(body) <= cut for body in elbow)
    assert len(recording.get("elbow/time", [])) == written


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_a_damaged_file_never_breaks_the_reader(recorded, tmp_path_factory, data):
    path, _ = recorded
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 5))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    part = tmp_path_factory.mktemp("damage") / "damaged.mcap"
    part.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with suppress(RecordingError):
            read_recording(part)


class SlowDisk:
    """A file that stands still until the loop waits for it."""

    def __init__(self, writer, file):
        self.writer, self.file = writer, file

    def write(self, data):
        while not self.writer.blocked:
            pass
        return self.file.write(data)

    def __getattr__(self, name):
        return getattr(self.file, name)


def test_a_disk_that_cannot_follow_makes_the_loop_wait_and_loses_nothing(tmp_path):
    run = simulation(tmp_path / "run.mcap", flush_interval=60.0, pending_limit=1_000_000)
    with run:
        run.start()
        writer = run.recorder._writer
        writer._file._file = SlowDisk(writer, writer._file._file)
        run.run(4.0)
        health = run.health()["recorder"]
    assert health["blocked"] >= 1
    assert health["blocked_time"] >= health["worst_block"] > 0.0
    assert read_recording(tmp_path / "run.mcap")["elbow/seq"].tolist() == list(range(4000))


# ---------------------------------------------------------------------------- refusals
def test_a_recording_is_not_overwritten_unless_asked(tmp_path):
    record(tmp_path / "run.mcap")
    before = (tmp_path / "run.mcap").read_bytes()
    with pytest.raises(RecordingError, match=r"run\.mcap: the file exists; replace it with --overwrite"):
        Recorder(tmp_path / "run.mcap")
    assert (tmp_path / "run.mcap").read_bytes() == before


def test_a_file_is_replaced_with_the_first_sample_and_not_by_a_run_that_never_begins(tmp_path):
    path = tmp_path / "run.mcap"
    record(path)
    before = path.read_bytes()
    Recorder(path, overwrite=True).close()
    assert path.read_bytes() == before

    class Refusing(Recall):
        def start(self, devices):
            raise DeviceError("no such wire")

    with pytest.raises(DeviceError, match="no such wire"):
        Simulation(SpringMassEngine(), devices()[:1], [Refusing()], recorder=Recorder(path, overwrite=True)).run(0.1)
    assert path.read_bytes() == before
    path.chmod(0o640)
    record(path, seed=2)
    assert path.read_bytes() != before
    assert read_recording(path).complete
    assert path.stat().st_mode & 0o777 == 0o640
    assert [p.name for p in tmp_path.iterdir()] == ["run.mcap"]


@pytest.mark.parametrize("begins", [False, True])
def test_a_killed_run_has_replaced_the_file_by_a_readable_one_or_left_it(tmp_path, begins):
    path = tmp_path / "run.mcap"
    record(path)
    before = path.read_bytes()
    wait = f"""
import time
from pathlib import Path
path = Path({str(path)!r})
end = time.monotonic() + 30
while path.stat().st_size == {len(before)} and time.monotonic() < end:
    run.step(50)
"""
    kill = "\nos.kill(os.getpid(), signal.SIGKILL)"
    _, result = child(tmp_path, (wait if begins else "run.start()") + kill)
    assert result.returncode == -9, result.stderr
    if not begins:
        assert path.read_bytes() == before
        return
    with pytest.warns(RecordingWarning, match="it was not closed"):
        assert len(read_recording(path)["elbow/time"]) > 0
    assert [p.name for p in tmp_path.iterdir()] == ["run.mcap"]


def test_a_run_without_a_sample_leaves_no_file(tmp_path):
    recorder = Recorder(tmp_path / "run.mcap")
    with Simulation(SpringMassEngine(), devices()[:1], recorder=recorder) as run:
        run.start()
    assert list(tmp_path.iterdir()) == []
    _, result = child(tmp_path, "raise RuntimeError('before the first step')")
    assert "before the first step" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_refused_at_construction(tmp_path):
    (tmp_path / "folder.mcap").mkdir()
    (tmp_path / "file").write_text("")
    for path, message in (
        (tmp_path / "no" / "run.mcap", "the folder .* does not exist"),
        (tmp_path / "file" / "run.mcap", "the folder .* does not exist"),
        (tmp_path / "run.bag", r"must end in \.mcap"),
        (tmp_path / "folder.mcap", "the file exists"),
    ):
        with pytest.raises(RecordingError, match=message) as caught:
            Recorder(path)
        assert caught.value.file == str(path)
    with pytest.raises(RecordingError, match="cannot be written: Is a directory"):
        Recorder(tmp_path / "folder.mcap", overwrite=True)
    with pytest.raises(RecordingError, match="cannot be written: File name too long"):
        Recorder(tmp_path / ("x" * 300 + ".mcap"))


def test_a_recorder_serves_one_simulation(tmp_path):
    recorder = Recorder(tmp_path / "run.mcap")
    Simulation(SpringMassEngine(), [], recorder=recorder).step()
    with pytest.raises(RecordingError, match="can be used for one simulation only"):
        Simulation(SpringMassEngine(), [], recorder=recorder).step()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"hello, this is not a recording", "an MCAP file begins with"),
        (None, "there is no such file"),
    ],
)
def test_what_is_no_recording_is_refused(tmp_path, content, message):
    path = tmp_path / "x.mcap"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(RecordingError, match=message):
        read_recording(path)


def test_an_mcap_of_somebody_else_is_refused_with_its_topics(tmp_path):
    writer = mcap_file.McapWriter(tmp_path / "other.mcap")
    writer.add_channel(writer.add_schema("std_msgs/msg/String", "ros2msg", "string data\n"), "/chatter", "cdr", {})
    writer.close()
    with pytest.raises(RecordingError, match="no pliant recorder wrote this file; its topics: /chatter"):
        read_recording(tmp_path / "other.mcap")


def test_a_file_that_another_program_compressed_is_still_read(recorded, tmp_path):
    module = pytest.importorskip("mcap.writer")
    source = read_mcap(recorded[0])
    for compression in (module.CompressionType.ZSTD, module.CompressionType.LZ4):
        path = tmp_path / f"{compression.name}.mcap"
        try:
            writer = module.Writer(str(path), compression=compression)
            writer.start(profile="ros2")
            for channel in source.channels:
                schema = writer.register_schema(channel.type, "ros2msg", b"")
                number = writer.register_channel(channel.topic, "cdr", schema, channel.metadata)
                for time, body in zip(channel.log_times, channel.data, strict=True):
                    writer.add_message(number, time, body, time)
            writer.finish()
        except ImportError:
            continue
        ours, theirs = read_recording(recorded[0]), read_recording(path)
        assert compare(ours, theirs) == []


# ---------------------------------------------------------------------------- export, replay, compare
def test_csv_has_a_row_a_time_and_empty_cells_where_a_device_was_not_due(recorded, tmp_path):
    path, samples = recorded
    with export(path, "csv", tmp_path / "run.csv").open() as file:
        rows = list(csv.reader(file))
    header = rows[0]
    assert header[:3] == ["time", "elbow/position", "elbow/velocity"]
    assert "board/position[2]" in header
    assert len(rows) == 101
    assert float(rows[10][0]) == 0.01
    wrist = header.index("wrist/position")
    assert [row[wrist] != "" for row in rows[1:9]] == [False, False, False, True] * 2
    board = [float(row[header.index("board/position[1]")]) for row in rows[1:]]
    assert board == columns(samples, "board", "position")[:, 1].tolist()


def test_npz_holds_the_arrays_with_units_and_metadata(recorded, tmp_path):
    path, _ = recorded
    recording = read_recording(path)
    with np.load(export(recording, "npz", tmp_path / "run.npz")) as archive:
        for name in recording:
            assert np.array_equal(archive[name], recording[name])
        assert json.loads(str(archive["units"]))["elbow/torque"] == "N m"
        assert json.loads(str(archive["metadata"]))["seed"] == "1"


def test_an_export_goes_beside_the_recording_and_overwrites_only_when_asked(tmp_path):
    record(tmp_path / "run.mcap", 0.01)
    assert export(tmp_path / "run.mcap", "csv") == tmp_path / "run.csv"
    with pytest.raises(RecordingError, match="the file exists"):
        export(tmp_path / "run.mcap", "csv")
    export(tmp_path / "run.mcap", "csv", overwrite=True)
    with pytest.raises(RecordingError, match="cannot be written: No such file"):
        export(tmp_path / "run.mcap", "npz", tmp_path / "no" / "run.npz")
    with pytest.raises(RecordingError, match="'cvs' is not known; did you mean 'csv'"):
        export(tmp_path / "run.mcap", "cvs")


def test_a_replay_gives_the_samples_of_the_run_in_its_order(recorded):
    path, samples = recorded
    again = list(replay(path))
    assert [(s.device, s.seq, s.stamp_ns) for s in again] == [(s.device, s.seq, s.stamp_ns) for s in samples]
    for old, new in zip(samples, again, strict=True):
        assert list(old.values) == list(new.values)
        for name in old.values:
            assert np.array_equal(old.values[name], new.values[name])
            assert type(old.values[name]) is type(new.values[name])


def test_a_replay_feeds_bridges_and_stops_them(recorded):
    path, samples = recorded
    bridge = Recall()
    iterator = replay(path, bridges=[bridge])
    for _ in range(10):
        next(iterator)
    iterator.close()
    names = bridge.names()
    assert names[:4] == ["start", "tick", "publish", "publish"]
    assert names[-1] == "stop"
    assert set(bridge.devices) == {"elbow", "wrist", "board"}
    assert all(isinstance(device, SampleSource) for device in bridge.devices.values())
    assert bridge.devices["wrist"].period_ns == 2_000_000
    assert bridge.devices["wrist"].sample_period_ns == 4_000_000
    assert list(bridge.devices["elbow"].samples) == list(samples[0].values)
    assert not any(isinstance(device, Device) for device in bridge.devices.values())
    assert not any(device.commands for device in bridge.devices.values())


@pytest.mark.parametrize("speed", [0.5, 2.0])
def test_a_replay_keeps_its_speed_on_the_clock_it_is_given(recorded, speed):
    now = [0.0]

    def sleep(seconds):
        now[0] += seconds

    times = [now[0] for _ in replay(recorded[0], speed=speed, wall=WallClock(lambda: now[0], sleep))]
    assert times[0] == 0.0
    assert times[-1] == pytest.approx(0.099 / speed)
    for wrong in (0.0, -1.0, math.nan, "fast"):
        with pytest.raises(RecordingError, match="must be a number above 0"):
            replay(recorded[0], speed=wrong)


def test_a_repeated_run_compares_equal_and_another_seed_does_not(recorded, tmp_path):
    record(tmp_path / "same.mcap")
    assert compare(recorded[0], tmp_path / "same.mcap") == []
    record(tmp_path / "other.mcap", seed=2)
    different = compare(recorded[0], tmp_path / "other.mcap")
    assert {item.name for item in different} == {"elbow/position", "board/position"}
    assert different[0].largest >= different[1].largest > 0.0
    assert different[0].samples == 100
    record(tmp_path / "longer.mcap", 0.12)
    assert {item.missing for item in compare(recorded[0], tmp_path / "longer.mcap")} == {5, 20}
