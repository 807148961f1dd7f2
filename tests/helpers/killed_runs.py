"""Kill recording runs at random instants and open what they leave.

    python tests/helpers/killed_runs.py 200

Each run is a process of its own (``pliant run ... --record``), killed by SIGKILL at a random instant after its file has
appeared. Every second run replaces a recording that exists. pliant and the library `mcap` must open each file and find
the same messages.
"""

import signal
import subprocess
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

COMMAND = ("run", "qbmove-2dof", "--duration", "1e6", "--reference", "joint_1/equilibrium_position=0.5")
ROBOT = "qbmove-2dof"


@dataclass(frozen=True)
class Killed:
    """What a killed run left."""

    delay: float
    """Time between the first byte of the file and the kill [s]."""
    size: int
    """Size of the file [bytes]."""
    messages: int
    """Messages that both readers found."""
    last: float
    """Time of the last sample [s]."""


def kill_a_run(path: Path, delay: float, *, replace: bytes = b"", size: int = 0) -> Killed:
    """Start a recording run, kill it, and open its file with pliant and with mcap.

    Args:
        path: the recording.
        delay: time from the first byte of the run's own file to the kill [s].
        replace: content of a recording that the run replaces; none if empty.
        size: kill it not before its file has so many bytes, however busy the machine is.

    Raises:
        AssertionError: the file does not open, or the readers disagree.
    """
    if replace:
        path.write_bytes(replace)
    before = path.stat().st_ino if replace else None
    words = [sys.executable, "-m", "pliant", *COMMAND, "--record", str(path), *(["--overwrite"] if replace else [])]
    run = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        deadline = time.monotonic() + 120.0
        while not path.exists() or path.stat().st_ino == before or path.stat().st_size < size:
            assert run.poll() is None, run.stderr.read().decode() if run.stderr else ""
            assert time.monotonic() < deadline, "the run wrote no file, or too little"
            time.sleep(0.001)
        time.sleep(delay)
    finally:
        run.kill()
        run.communicate()
    assert run.returncode == -signal.SIGKILL
    messages, last = read_with_both(path)
    return Killed(delay, path.stat().st_size, messages, last)


def read_with_both(path: Path) -> tuple[int, float]:
    """Return how many messages pliant and mcap find in a file, and the last time; they must agree."""
    import mcap.reader

    from pliant.recording import read_recording

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        recording = read_recording(path)
    found = {}
    with path.open("rb") as file:
        for _, channel, _ in mcap.reader.make_reader(file, validate_crcs=True).iter_messages():
            found[channel.topic] = found.get(channel.topic, 0) + 1
    last = 0.0
    for topic, count in found.items():
        if topic.count("/") > 1:  # a standard message beside each sample of the same device; the end may lie between
            assert abs(count - found[topic[: topic.rindex("/")]]) <= 1, f"{topic}: {found}"
            continue
        times = recording[f"{topic.removeprefix('/')}/time"]
        assert len(times) == count, f"{topic}: pliant reads {len(times)}, mcap {count}"
        steps = np.diff(times)
        assert np.allclose(steps, steps[0] if len(steps) else 0.0, atol=1e-9), f"{topic} lacks samples"
        last = max(last, float(times[-1]))
    return sum(found.values()), last


def main(count: int, folder: Path, seed: int = 1, *, grown: int = 0) -> list[Killed]:
    """Kill a number of runs at random instants, the last one when its file has at least ``grown`` bytes."""
    rng = np.random.default_rng(seed)
    whole = folder / "whole.mcap"
    subprocess.run(
        [sys.executable, "-m", "pliant", "run", ROBOT, "--duration", "0.5", "--record", str(whole)],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    results = []
    for i in range(count):
        path = folder / f"run_{i}.mcap"
        delay, replace = float(rng.uniform(0.0, 1.0)), whole.read_bytes() if i % 2 else b""
        results.append(kill_a_run(path, delay, replace=replace, size=grown if i == count - 1 else 0))
        path.unlink()
        if (i + 1) % 20 == 0:
            print(f"{i + 1} runs killed, every file opens", flush=True)
    return results


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        done = main(int(sys.argv[1]) if len(sys.argv) > 1 else 200, Path(name))
    sizes, numbers = [r.size for r in done], [r.messages for r in done]
    print(
        f"{len(done)} runs killed, every file opens: {min(sizes)} to {max(sizes)} bytes, {min(numbers)} to "
        f"{max(numbers)} messages, {sum(n == 0 for n in numbers)} without messages, "
        f"last sample at {min(r.last for r in done):.3f} to {max(r.last for r in done):.3f} s"
    )
