"""Read mutated files of every format, and note all that does not end in a value or in a PliantError.

Also a program. Long runs are split into parts, each in a process of its own, and a journal keeps what is done:

    python tests/helpers/file_fuzz.py 100000 --seed 1 --journal fuzz.jsonl
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import io
import json
import logging
import os
import random
import resource
import signal
import tempfile
import time
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import mujoco
from file_kinds import Kind, kinds

import pliant
from pliant.base.errors import PliantError

MAX_SECONDS = 5.0
"""Longest time of a file [s]: processor time, as other programs run beside."""
MAX_GROWTH = 1 << 30
"""Most memory that reading files may take [bytes]."""
KILL_SECONDS = 60
"""After this time a part ends at a file that is not read to its end [s]."""
SOURCE = Path(pliant.__file__).parent
PARSERS = ("base/documents/", "recording/mcap_reader.py", "bags/rosbag1.py", "bags/sqlite.py",
           "bags/mcap_bag.py", "bags/format.py")  # fmt: skip
"""Where a file is refused before it has values."""


@dataclass
class Found:
    """Outcome of some mutations."""

    cases: int = 0
    refused: int = 0
    unparsed: int = 0
    """How many of the refused ones the parser of the format refused."""
    faults: list[str] = field(default_factory=list)
    slowest: float = 0.0
    grown: int = 0

    def add(self, other: Found) -> None:
        """Add the outcome of other mutations."""
        self.cases += other.cases
        self.refused += other.refused
        self.unparsed += other.unparsed
        self.faults += other.faults
        self.slowest = max(self.slowest, other.slowest)
        self.grown = max(self.grown, other.grown)


def _is_of_parser(error: BaseException) -> bool:
    places = [Path(frame.filename) for frame in traceback.extract_tb(error.__traceback__)]
    inside = [path.relative_to(SOURCE).as_posix() for path in places if path.is_relative_to(SOURCE)]
    return bool(inside) and inside[-1].startswith(PARSERS)


def try_one(kind: Kind, seed: str, found: Found) -> None:
    """Read one mutated file; note anything but a PliantError, and what takes too long."""
    data = kind.mutate(random.Random(seed), kind.seed)
    found.cases += 1
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = kind.write(Path(folder), data)
        began = time.process_time()
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                kind.read(path)
        except PliantError as error:
            found.refused += 1
            found.unparsed += _is_of_parser(error)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            places = [f"{Path(f.filename).name}:{f.lineno}" for f in traceback.extract_tb(error.__traceback__)[-2:]]
            found.faults.append(f"{seed}: {type(error).__name__}: {str(error)[:150]} at {' '.join(places)}")
        took = time.process_time() - began
    found.slowest = max(found.slowest, took)
    if took > MAX_SECONDS:
        found.faults.append(f"{seed}: took {took:.1f} s at {kind.name}")


def fuzz_kind(kind: Kind, count: int, seed: int, first: int = 0, current: Path | None = None) -> Found:
    """Read mutated files of one format.

    Args:
        kind: the format.
        count: how many.
        seed: of all.
        first: number of the first.
        current: file that gets the seed of each before it is read.
    """
    found = Found()
    with tempfile.TemporaryDirectory() as folder:
        path = kind.write(Path(folder), kind.seed)
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            kind.read(path)  # imports and compiles
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for i in range(first, first + count):
        name = f"{kind.name}-{seed}-{i}"
        if current is not None:
            current.write_text(name)
            signal.alarm(KILL_SECONDS)
        try_one(kind, name, found)
    found.grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    if found.grown > MAX_GROWTH:
        found.faults.append(f"{kind.name}-{seed}-{first}: memory grew by {found.grown} bytes at {kind.name}")
    return found


def _part(kind: Kind, count: int, seed: int, first: int) -> Found:
    """Read files in a process of its own, and go on behind each file that ends it."""
    total = Found()
    with tempfile.TemporaryDirectory() as folder:
        current, answer = Path(folder) / "current", Path(folder) / "answer"
        at, end = first, first + count
        while at < end:
            child = os.fork()
            if child == 0:
                try:
                    answer.write_text(json.dumps(dataclasses.asdict(fuzz_kind(kind, end - at, seed, at, current))))
                    os._exit(0)
                finally:
                    os._exit(1)
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            if code == 0:
                total.add(Found(**json.loads(answer.read_text())))
                break
            name = current.read_text()
            total.faults.append(f"{name}: the process ended with {code} at {kind.name}")
            total.cases += int(name.rpartition("-")[2]) + 1 - at
            at = int(name.rpartition("-")[2]) + 1
    return total


def fuzz_all(count: int, seed: int, journal: Path | None = None, part: int = 500, only: str = "") -> dict[str, Found]:
    """Read mutated files, the same number of each format; parts that a journal holds are not repeated."""
    totals: dict[str, Found] = {}
    held: dict[str, dict] = {}
    if journal is not None and journal.exists():
        held = {entry["part"]: entry["found"] for entry in map(json.loads, journal.read_text().splitlines())}
    chosen = [kind for kind in kinds() if only in ("", kind.name)]
    each = -(-count // len(chosen))
    for first in range(0, each, part):
        for kind in chosen:
            key = f"{kind.name}-{seed}-{first}-{min(part, each - first)}"
            if key in held:
                found = Found(**held[key])
            else:
                found = _part(kind, min(part, each - first), seed, first)
                if journal is not None:
                    with journal.open("a") as file:
                        file.write(json.dumps({"part": key, "found": dataclasses.asdict(found)}) + "\n")
            totals.setdefault(kind.name, Found()).add(found)
    return totals


def _table(totals: dict[str, Found]) -> str:
    total = Found()
    lines = [f"{'format':22}{'files':>8}{'past the parser':>17}{'read':>8}{'slowest':>10}{'memory':>9}{'faults':>8}"]
    for name, found in [*totals.items(), ("all", total)]:
        if found is not total:
            total.add(found)
        cases = max(found.cases, 1)
        shares = f"{1 - found.unparsed / cases:>17.0%}{1 - (found.refused + len(found.faults)) / cases:>8.0%}"
        size = f"{found.grown >> 20} MB"
        lines.append(f"{name:22}{found.cases:>8}{shares}{found.slowest:>8.2f} s{size:>9}{len(found.faults):>8}")
    places = Counter(fault.rsplit(" at ", 1)[-1] for fault in total.faults)
    seen: set[str] = set()
    for fault in total.faults:
        place = fault.rsplit(" at ", 1)[-1]
        if place not in seen:
            seen.add(place)
            lines.append(f"{places[place]} x {fault}")
    return "\n".join(lines)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--journal", type=Path)
    given = parser.parse_args()
    logging.disable()
    mujoco.set_mju_user_warning(lambda _: None)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = folder
        print(_table(fuzz_all(given.count, given.seed, given.journal, only=given.only)))


if __name__ == "__main__":
    main()
