"""The file of a recording is a valid MCAP file after every write, however the writer ends."""

import io
import struct
import warnings

import pytest

from pliant.base.errors import RecordingError
from pliant.recording import mcap as mcap_file
from pliant.recording.mcap import MESSAGE_HEADER, McapWriter
from pliant.recording.mcap_reader import read_mcap
from pliant.recording.record_file import HEAD, MESSAGE, PAGE

pytestmark = pytest.mark.quick

TEXT = "uint8[] data\n"


class Journal:
    """A file that notes its writes."""

    def __init__(self, file):
        self.file = file
        self.steps = []

    def write(self, data):
        self.steps.append((self.file.tell(), bytes(data)))
        return self.file.write(data)

    def truncate(self, size):
        self.steps.append((size, None))
        return self.file.truncate(size)

    def __getattr__(self, name):
        return getattr(self.file, name)


def body(number, size):
    """A message of the type above in CDR, which holds its own number."""
    data = struct.pack("<I", number) + bytes(range(size % 251)) + bytes(size - size % 251)
    return b"\0\1\0\0" + struct.pack("<I", len(data)) + data


class Writer(McapWriter):
    """A writer that flushes when the test says so, and at the end."""

    def _run(self):
        with self._condition:
            while not self._closing:
                self._condition.wait()
        super()._run()

    def flush(self):
        try:
            self._flush()
        except OSError as error:
            self._fail(error)


def write(path, sizes, flushes, journals, **options):
    """Write messages of some sizes with a flush after those that are named; return their bodies."""
    writer = Writer(path, keep_empty=False, **options)
    if writer._file._file is not None:
        journals.append(Journal(writer._file._file))
        writer._file._file = journals[-1]
    number = writer.add_schema("pliant_msgs/msg/Blob", "ros2msg", TEXT)
    channels = [writer.add_channel(number, f"/blob_{i}", "cdr", {"offered_qos_profiles": ""}) for i in range(2)]
    writer.add_metadata("pliant", {"seed": "1"})
    bodies = []
    for i, size in enumerate(sizes):
        data = body(i, size)
        head = MESSAGE_HEADER.pack(MESSAGE, 22 + len(data), channels[i % 2], i, i, i)
        writer.append(channels[i % 2], i, head + data)
        bodies.append(data)
        if i in flushes:
            writer.flush()
    writer.close()
    return bodies


def states(steps, first=b""):
    """Every content that a process which is killed can leave: a write ends whole, or after one of its pages."""
    content = bytearray(first)
    for offset, data in steps:
        if data is None:
            del content[offset:]
            yield bytes(content)
            continue
        cuts = [*range(PAGE - offset % PAGE, len(data), PAGE), len(data)]
        for begin, end in zip([0, *cuts], cuts, strict=False):
            if len(content) < offset + begin:
                content += bytes(offset + begin - len(content))
            content[offset + begin : offset + end] = data[begin:end]
            yield bytes(content)


def read_by_mcap(content):
    reader = pytest.importorskip("mcap.reader")
    whole = list(reader.make_reader(io.BytesIO(content), validate_crcs=True).iter_messages(log_time_order=False))
    linear = list(reader.NonSeekingReader(io.BytesIO(content), validate_crcs=True).iter_messages(log_time_order=False))
    assert [m.data for _, _, m in whole] == [m.data for _, _, m in linear]
    return [m.data for _, _, m in whole]


def read_by_rosbags(path):
    highlevel = pytest.importorskip("rosbags.highlevel")
    with highlevel.AnyReader([path]) as bag:
        return [bytes(raw) for _, _, raw in bag.messages()]


def read_by_pliant(path):
    channels = read_mcap(path).channels
    messages = [(t, d) for channel in channels for t, d in zip(channel.log_times, channel.data, strict=True)]
    return [bytes(d) for _, d in sorted(messages)]


CASES = {
    "many small messages, each flushed": ([40] * 60, set(range(60))),
    "heads at every place of a page": ([17 + i % 13 for i in range(400)], set(range(0, 400, 3))),
    "messages larger than a page and than a step of growth": ([5000, 70_000, 3, 9000, 200_000, 10], {0, 1, 2, 3, 4}),
    "several messages a flush": ([900] * 120, set(range(6, 120, 7))),
    "no flush before the end": ([300] * 50, set()),
}


@pytest.mark.parametrize("case", CASES)
def test_a_writer_killed_at_any_write_leaves_a_file_that_everybody_reads(tmp_path, monkeypatch, case):
    monkeypatch.setattr(mcap_file, "CHUNK_SIZE", 6000)
    sizes, flushes = CASES[case]
    journals = []
    bodies = write(tmp_path / "run.mcap", sizes, flushes, journals)
    head = McapWriter(tmp_path / "head.mcap", flush_interval=60.0)
    first = (tmp_path / "head.mcap").read_bytes()
    head.close()
    part = tmp_path / "part.mcap"
    seen, closed = [0], []
    for content in states(journals[0].steps, first):
        messages = read_by_mcap(content)
        assert messages == bodies[: len(messages)]
        part.write_bytes(content)
        assert read_by_pliant(part) == messages
        closed.append(read_mcap(part).fault == "")
        if messages:  # rosbags wants a message type
            assert read_by_rosbags(part) == messages
        seen.append(len(messages))
    assert seen == sorted(seen), "a message that was in the file went away"
    assert seen[-1] == len(bodies)
    assert content == (tmp_path / "run.mcap").read_bytes()
    assert closed[-1]
    assert closed == sorted(closed), "the file was called closed, and something was written afterwards"
    assert closed.count(True) <= 4
    assert len(set(seen)) > len(flushes) * 0.9


def test_a_write_that_makes_records_visible_stays_inside_one_page(tmp_path, monkeypatch):
    monkeypatch.setattr(mcap_file, "CHUNK_SIZE", 3000)
    journals = []
    sizes = [10 + 7 * i % 97 for i in range(3000)]
    write(tmp_path / "run.mcap", sizes, set(range(3000)), journals)
    heads = [offset for offset, data in journals[0].steps if data is not None and len(data) == HEAD.size]
    assert len(heads) > 3000
    assert all(offset // PAGE == (offset + HEAD.size - 1) // PAGE for offset in heads)


def test_the_bytes_of_the_closed_file_do_not_depend_on_the_flushes(tmp_path, monkeypatch):
    monkeypatch.setattr(mcap_file, "CHUNK_SIZE", 6000)
    sizes = [17 + i % 13 for i in range(2000)]
    files = []
    for i, flushes in enumerate((set(), set(range(2000)), set(range(0, 2000, 7)))):
        write(tmp_path / f"{i}.mcap", sizes, flushes, [])
        files.append((tmp_path / f"{i}.mcap").read_bytes())
    (tmp_path / "old.mcap").write_bytes(b"something else")
    write(tmp_path / "old.mcap", sizes, {5, 6, 7}, [], overwrite=True)
    files.append((tmp_path / "old.mcap").read_bytes())
    assert all(data == files[0] for data in files)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_mcap(tmp_path / "0.mcap").fault == ""


@pytest.mark.parametrize("room", range(0, 300_000, 23_456))
def test_a_disk_that_fills_up_at_any_place_leaves_a_readable_file(tmp_path, monkeypatch, room):
    monkeypatch.setattr(mcap_file, "CHUNK_SIZE", 20_000)

    class FullDisk(Journal):
        left = room

        def write(self, data):
            if len(data) > HEAD.size:  # a head replaces bytes that have their place on the disk
                data = bytes(data)[: self.left]
                if not data:
                    raise OSError(28, "No space left on device")
                self.left -= len(data)
            return super().write(data)

    path = tmp_path / "run.mcap"
    monkeypatch.setattr(f"{__name__}.Journal", FullDisk)
    with pytest.raises(RecordingError, match="No space left on device; it is readable"):
        write(path, [1000] * 400, set(range(0, 400, 5)), [])
    messages = read_by_mcap(path.read_bytes())
    assert read_by_pliant(path) == messages == [body(i, 1000) for i in range(len(messages))]
    assert len(messages) * 1000 > 0.8 * room - 30_000
