"""Bags that are written: on a full disk there is no bag, and one that was there is as it was."""

import pytest

from pliant.bags.writing import BagWriter
from pliant.base.errors import RecordingError

pytest.importorskip("rosbags")


@pytest.mark.parametrize("suffix", [".bag", ""])
def test_a_full_disk_leaves_no_bag_or_the_one_that_was_there(tmp_path, suffix):
    path = tmp_path / f"run{suffix}"

    def write(**options):
        def full(*_):
            raise OSError(28, "No space left on device")

        with BagWriter(path, **options) as writer:
            writer.add_topic("/elbow", "std_msgs/Float64")
            writer.write("/elbow", 1, bytes(12))
            if options:
                writer._writer.write = full
            writer.write("/elbow", 2, bytes(12))

    with pytest.raises(RecordingError, match=r"No space left on device; no bag is left"):
        write(overwrite=True)
    assert list(tmp_path.iterdir()) == []
    write()
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    with pytest.raises(RecordingError, match=r"No space left on device; the bag that was there is as it was"):
        write(overwrite=True)
    assert before == {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
