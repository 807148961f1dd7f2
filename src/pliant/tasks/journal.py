"""Results that are kept on disk while tasks run, and found again when the same tasks are asked for later.

The key of a result holds the arguments of its task and a digest of the code that it depends on. A later run that asks
for more tasks computes the new ones only, and a change of the code makes all of them new.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import importlib.util
import json
import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Generic, Self, TextIO, TypeVar

import msgspec

from pliant.base.documents.files import exists, read_text
from pliant.base.errors import PliantError
from pliant.tasks.executor import Executor, Task, run_tasks

MAX_BYTES = 1 << 28
"""Largest table or journal [bytes]."""

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


@functools.cache
def code_digest(*names: str) -> str:
    """Return a digest of the source of modules and packages.

    Args:
        names: dotted names.

    Raises:
        PliantError: there is no such module, or its source is not at hand.
    """
    digest = hashlib.sha256()
    for name in names:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise PliantError(f"no module {name!r} whose source can be read", field=name)
        place = Path(spec.origin)
        for file in sorted(place.parent.rglob("*.py")) if spec.submodule_search_locations else [place]:
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


class FolderLock:
    """A folder held by one run; the system releases it when the process ends, however it ends.

    Args:
        folder: an existing folder.
        what: the kind of run, for the message.

    Raises:
        PliantError: another process holds the folder.
        OSError: the folder cannot be written.
    """

    def __init__(self, folder: Path, what: str) -> None:
        self._file: TextIO | None = None
        try:
            import fcntl
        except ImportError:  # not on Windows: there nothing is locked
            return
        self._file = (folder / ".lock").open("a")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.release()
            raise PliantError(
                f"another {what} is running in this folder; wait until it ends, or name another folder", file=folder
            ) from None

    def release(self) -> None:
        """Release the folder; may be called twice."""
        if self._file is not None:
            self._file.close()
            self._file = None


class GrowingFile:
    """A text file that results are appended to. A line that a crash cut off is dropped when the file is read.

    Args:
        path: the file; it need not exist.
        kind: what the file is, for messages: "table".
        content: plural of what it holds: "simulations".
    """

    def __init__(self, path: Path, *, kind: str, content: str) -> None:
        self.path = path
        self.count = 0
        """Number of results that the file holds."""
        self._kind, self._content = kind, content

    def read(self) -> str:
        """Return the whole lines of the file, "" if there is none.

        Raises:
            PliantError: the file is not UTF-8 text.
        """
        if not exists(self.path):
            return ""
        try:
            text = read_text(self.path, PliantError, max_bytes=MAX_BYTES, allow_empty=True)
        except PliantError as error:
            what = error.message.replace("the file", f"the {self._kind}", 1)
            raise PliantError(f"{what}; name another folder", file=self.path) from None
        text = text.replace("\r\n", "\n")
        whole = text[: text.rfind("\n") + 1]
        if whole != text:
            self.path.write_text(whole, encoding="utf-8")
        return whole

    def append(self, text: str, count: int) -> None:
        """Append lines and push them to the disk.

        Args:
            text: the lines.
            count: number of results that they hold.

        Raises:
            PliantError: the file cannot be written; the message says how many results it holds.
        """
        try:
            with self.path.open("a", encoding="utf-8", newline="") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            # The last line may be cut; `read` drops it, and its task runs again.
            raise PliantError(
                f"the {self._kind} cannot be written: {error.strerror}; it holds {self.count} {self._content}, and "
                "the same command continues",
                file=self.path,
            ) from None
        self.count += count


class Journal(Generic[T]):
    """Results by key in a file, one JSON object per line; used in a ``with`` block, which holds the folder.

    Args:
        path: the file; its folder exists.
        kind: type of the results: a dataclass, or what JSON holds. Numbers that are not finite are written as in
            Python: NaN, Infinity.

    Raises:
        PliantError: the file cannot be read or written, or another run holds its folder.
    """

    def __init__(self, path: str | Path, kind: type[T]) -> None:
        self._kind = kind
        self._file = GrowingFile(Path(path), kind="journal", content="results")
        self._lock: FolderLock | None = None
        self.results: dict[str, T] = {}
        """Results by key; those of other types are left out."""

    def __enter__(self) -> Self:
        path = self._file.path
        try:
            self._lock = FolderLock(path.parent, "run")
            text = self._file.read()
        except OSError as error:
            raise PliantError(f"the file cannot be used: {error.strerror}", file=path) from None
        for line in text.splitlines():
            with contextlib.suppress(ValueError, KeyError, TypeError):  # msgspec's errors are ValueErrors
                entry = json.loads(line)
                self.results[str(entry["key"])] = msgspec.convert(entry["result"], self._kind)
        self._file.count = len(self.results)
        return self

    def __exit__(self, *_: object) -> None:
        if self._lock is not None:
            self._lock.release()

    def add(self, key: str, result: T) -> None:
        """Keep a result on disk.

        Raises:
            PliantError: the file cannot be written.
        """
        self._file.append(json.dumps({"key": key, "result": msgspec.to_builtins(result)}) + "\n", 1)
        self.results[key] = result


def read_journal(path: str | Path, kind: type[T]) -> dict[str, T]:
    """Return the results of a journal by their keys."""
    with Journal(path, kind) as journal:
        return journal.results


def map_tasks(
    function: Callable[..., T],
    tasks: Mapping[K, Task],
    *,
    code: Sequence[str] = (),
    journal: Journal[T] | None = None,
    executor: Executor | None = None,
    progress: Callable[[int, int, K], None] | None = None,
) -> dict[K, T]:
    """Call a function once per task, except for tasks whose result is in a journal.

    Args:
        function: as for `run_tasks`.
        tasks: name of each task -> arguments of its call: dataclasses, and what JSON holds.
        code: dotted names of the modules and packages that the results depend on, for the keys of the journal.
        journal: open journal that has results of earlier runs and gets the new ones; None keeps nothing.
        executor: where the tasks run; None: in this process.
        progress: called with the number of finished tasks, the number of all, and the name of the one that ended.

    Returns:
        The results by name, in the order of completion, those of earlier runs first.

    Raises:
        PliantError: as for `run_tasks`, or the journal cannot be written.
    """
    write = functools.partial(json.dumps, sort_keys=True, default=dataclasses.asdict)
    keys = {} if journal is None else {name: write([code_digest(*code), *task]) for name, task in tasks.items()}
    kept = {} if journal is None else journal.results
    results = {name: kept[key] for name, key in keys.items() if key in kept}
    pending = {name: task for name, task in tasks.items() if name not in results}

    def finish(task: Task, result: T) -> None:
        name: K = task[1]
        results[name] = result
        if journal is not None:
            journal.add(keys[name], result)
        if progress is not None:
            progress(len(results), len(tasks), name)

    run_tasks(_call, ((function, name, task) for name, task in pending.items()), finish, executor=executor)
    return results


def _call(function: Callable[..., T], _: object, task: Task) -> T:
    return function(*task)
