"""Many calls of one function: in this process, in threads or processes of this machine, or on a Dask cluster.

An `Executor` says where tasks run; `run_tasks` runs them. Whatever calls a function many times, such as a sweep, the
walks of an experiment or a map of a workspace, uses these two. `pliant.tasks.journal` keeps results between runs.

A task is begun only when a worker is free for it, so an interruption loses only the tasks in progress. A task whose
process was killed runs again in a new process. Ctrl-C ends processes at once, and threads where they ask
`is_interrupted`.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import logging
import os
import pickle
import re
import signal
import socket
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pliant.base.errors import PliantError, importing

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    import distributed

T = TypeVar("T")
Task = tuple[Any, ...]
Answer = tuple[bool, Any]
"""Whether a call returned, and its result or its exception."""

MAX_DEATHS = 3
"""Number of processes that one task may end; then the run ends with an error."""

CONNECT_TIMEOUT_S = 10.0
"""How long a scheduler may take to answer at first [s]."""

NO_WORKERS_S = 2.0
"""Time between two looks whether a cluster has workers [s]."""

_ADDRESS = re.compile(
    r"inproc://[\w./:-]+|(?:(?:tcp|tls|ucxx?|wss?)://)?(?:[A-Za-z0-9][\w.-]*|\[[\w:.%]+\]):(\d{1,5})", re.ASCII
)
"""Addresses of a scheduler, as distributed writes them; the port is the group."""

_log = logging.getLogger("pliant.executor")
_local = threading.local()


@dataclass(frozen=True, slots=True, kw_only=True)
class Executor:
    """Place where tasks run. The default is this process, one task after the other.

    Raises:
        PliantError: a number is negative, more than one kind of worker is chosen, or an address has another form.
    """

    processes: int = 1
    """Number of processes of this machine; 1: this process; 0: one for each core."""
    threads: int = 1
    """Number of threads of this process; 1: the calling thread; 0: one for each core. For functions that release the
    interpreter lock."""
    dask: str | None = None
    """Address of the scheduler of a `distributed` cluster, whose workers have pliant; None: this machine."""

    def __post_init__(self) -> None:
        for name in ("processes", "threads"):
            if getattr(self, name) < 0:
                raise PliantError(f"{name} is {getattr(self, name)}; must be >= 0", field=name)
        if self.dask is not None:
            found = _ADDRESS.fullmatch(self.dask)
            if found is None or not 0 < int(found[1] or 1) < 65536:
                raise PliantError(
                    f"dask is {self.dask!r}; must be the address of a scheduler, HOST:PORT or tcp://HOST:PORT with a "
                    "port of 1 to 65535: the program 'dask scheduler' prints it",
                    field="dask",
                )
            if (self.processes, self.threads) != (1, 1):
                raise PliantError(
                    "processes and threads have no effect with dask, because the cluster has its own; omit one of them",
                    field="dask",
                )
        if self.processes != 1 and self.threads != 1:
            raise PliantError(
                f"processes is {self.processes} and threads is {self.threads}; one of them must be 1", field="threads"
            )

    @property
    def workers(self) -> int:
        """Number of tasks that this machine runs at the same time."""
        chosen = self.threads if self.processes == 1 else self.processes
        return chosen or os.cpu_count() or 1


def run_tasks(
    function: Callable[..., T],
    tasks: Iterable[Task],
    finish: Callable[[Task, T], None],
    *,
    executor: Executor | None = None,
) -> None:
    """Call a function once per task and pass on each result as soon as it is available.

    Args:
        function: called with the arguments of a task. For processes and clusters it is a function at module level, and
            arguments and results can be pickled.
        tasks: arguments of each call; read as workers become free.
        finish: called in this thread with each task and its result, in the order of completion.
        executor: where the tasks run; None: in this process, one after the other.

    Raises:
        PliantError: the scheduler of a cluster does not answer or was lost, or a task ended its process `MAX_DEATHS`
            times.
        MissingDependency: a cluster is chosen and `distributed` is not installed.
        BaseException: any exception of the function or of ``finish``; no other task is begun then, and processes end.
    """
    executor = executor or Executor()
    if executor.dask is None and executor.workers == 1:
        for task in tasks:
            finish(task, function(*task))
        return
    queue = iter(tasks)
    with _open_pool(executor, function) as pool:
        for task in itertools.islice(queue, pool.room):
            pool.submit(task)
        while pool.waiting:
            for ended, value in pool.collect():
                for task in itertools.islice(queue, 1):  # before `finish`, which may write to a disk
                    pool.submit(task)
                finish(ended, value)


def is_interrupted() -> bool:
    """Return whether the run that this thread works for has ended early, by Ctrl-C or by an error.

    A task of some seconds asks now and then, and returns or raises if so; outside of an executor's threads it is False.
    """
    return getattr(_local, "stop", None) is not None and _local.stop.is_set()


def _open_pool(
    executor: Executor, function: Callable[..., T]
) -> contextlib.AbstractContextManager[_Pool[T] | _Cluster[T]]:
    if executor.dask is not None:
        return _open_cluster(executor.dask, function)
    return _open_threads(executor.workers, function, processes=executor.threads == 1)


# -- this machine: threads, each of which calls the function itself or has a process that does so ----------------------


class _Pool(Generic[T]):
    """Threads of this machine."""

    def __init__(self, threads: ThreadPoolExecutor, room: int, call: Callable[..., T]) -> None:
        self.room = room
        self.waiting: dict[Future[T], Task] = {}
        self._threads, self._call = threads, call

    def submit(self, task: Task) -> None:
        """Begin a task."""
        self.waiting[self._threads.submit(self._call, *task)] = task

    def collect(self) -> Iterator[tuple[Task, T]]:
        """Wait until a task has ended; yield those that have, with their results."""
        done, _ = wait(self.waiting, return_when=FIRST_COMPLETED)
        for future in done:
            result = future.result()
            yield self.waiting.pop(future), result


@contextlib.contextmanager
def _open_threads(count: int, function: Callable[..., T], *, processes: bool) -> Iterator[_Pool[T]]:
    stop = threading.Event()
    begin = {"initializer": setattr, "initargs": (_local, "stop", stop)}
    workers = _Processes() if processes else None
    with ThreadPoolExecutor(count, thread_name_prefix="pliant-task", **begin) as threads:
        early = True
        try:
            yield _Pool(threads, count, functools.partial(workers.call, function) if workers else function)
            early = False
        finally:
            stop.set()
            if workers:
                workers.close(kill=early)


class _Processes:
    """Processes, one for each thread that calls a function."""

    def __init__(self) -> None:
        self._own = threading.local()
        self._all: set[_Process] = set()
        self._lock = threading.Lock()
        self._closed = False

    def call(self, function: Callable[..., T], *task: object) -> T:
        """Call a function in the process of this thread; if it is killed, in another one.

        Raises:
            PliantError: the call ended `MAX_DEATHS` processes.
            BaseException: any exception of the function.
        """
        data, end = pickle.dumps((function, task)), ""
        for _ in range(MAX_DEATHS):
            process = self._process()
            try:
                process.connection.send_bytes(data)
                returned, value = pickle.loads(process.connection.recv_bytes())
            except (EOFError, OSError):
                end = self._bury(process)
                continue
            if returned:
                return value
            raise value
        raise PliantError(
            f"a task ended its process {MAX_DEATHS} times, the last time by {end}; if the machine is short of memory, "
            "use fewer processes or smaller tasks"
        )

    def _process(self) -> _Process:
        with self._lock:
            if self._closed:
                raise CancelledError
            if getattr(self._own, "process", None) is None:
                self._own.process = _Process()
                self._all.add(self._own.process)
            return self._own.process

    def _bury(self, process: _Process) -> str:
        """Forget a dead process and return how it ended."""
        with self._lock:
            if self._closed:
                raise CancelledError
            self._own.process = None
            self._all.discard(process)
            process.connection.close()
            code = process.join()
        end = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        _log.warning("a process of a task ended by %s", end)
        return end

    def close(self, *, kill: bool) -> None:
        """End all processes; with ``kill`` also during their tasks, which may take minutes and are not wanted now."""
        with self._lock:
            self._closed = True
            for process in self._all:
                if kill:
                    process.terminate()
                else:
                    process.connection.close()
            for process in self._all:
                process.join()


class _Process:
    """A process that answers one task at a time."""

    def __init__(self) -> None:
        from multiprocessing import get_context

        context = get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), name="pliant-task")
        self._process.start()
        theirs.close()  # so that the death of the process closes the connection
        self.terminate = self._process.terminate

    def join(self) -> int:
        """Wait until the process has ended and return its exit code, below 0 for a signal."""
        self._process.join()
        return self._process.exitcode or 0


def _serve(connection: Connection) -> None:
    """Answer the tasks of a connection until the other side is gone."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # the processes share the cores; before a task imports numpy
    # Ctrl-C and the end of a terminal reach every process of it: the one that started this one decides what follows.
    for name in ("SIGINT", "SIGHUP"):
        if hasattr(signal, name):  # Windows has no SIGHUP
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    with contextlib.suppress(EOFError, OSError):
        while True:
            data = connection.recv_bytes()
            try:
                answer = pickle.dumps(_attempt(*pickle.loads(data)))
            except Exception as error:  # a function that cannot be imported here, a result that cannot be pickled
                answer = pickle.dumps((False, PliantError(f"{type(error).__name__}: {error}")))
            connection.send_bytes(answer)


def _attempt(function: Callable[..., object], task: Task) -> Answer:
    """Call a function; return its exception with the traceback as a note, in a form that can be sent."""
    try:
        return True, function(*task)
    except BaseException as error:  # the other side raises it
        error.add_note(f"in a worker: {traceback.format_exc()}")
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # not every exception can be sent
            return False, PliantError(f"{type(error).__name__}: {error}")
        return False, error


# -- a cluster ---------------------------------------------------------------------------------------------------------


class _Cluster(Generic[T]):
    """Workers of a Dask cluster; the scheduler replaces those that are lost."""

    room = None

    def __init__(
        self, client: distributed.Client, completed: distributed.as_completed, function: Callable[..., T]
    ) -> None:
        self.waiting: dict[distributed.Future, Task] = {}
        self._client, self._completed, self._function = client, completed, function

    def submit(self, task: Task) -> None:
        """Begin a task as soon as a worker is free."""
        future = self._client.submit(_attempt, self._function, task, pure=False)
        self._completed.add(future)
        self.waiting[future] = task

    def _wait(self) -> None:
        """Wait until a task has ended; warn where the cluster has no worker that could end one."""
        warned, look = False, time.monotonic() + NO_WORKERS_S
        while not self._completed.has_ready() and self._client.status == "running":
            time.sleep(0.01)
            if time.monotonic() > look:
                look += NO_WORKERS_S
                info = self._client.scheduler_info()
                if not info["workers"] and not warned:
                    warned = True
                    _log.warning(
                        "the cluster has no workers; waiting for one: dask worker %s (a worker whose Python has no "
                        "pliant ends at its first task)",
                        info["address"],
                    )

    def collect(self) -> Iterator[tuple[Task, T]]:
        """Wait until a task has ended; yield it with its result."""
        self._wait()
        future, answer = next(self._completed)
        if isinstance(answer, BaseException):  # of a future that was cancelled, it is given and not raised
            raise answer
        returned, value = answer
        if not returned:
            raise value
        yield self.waiting.pop(future), value


@contextlib.contextmanager
def _open_cluster(address: str, function: Callable[..., T]) -> Iterator[_Cluster[T]]:
    with importing(
        "distributed", command="pip install 'pliant[cluster]'", purpose="running tasks on a cluster (--dask)"
    ):
        import distributed  # noqa: F401
    with contextlib.ExitStack() as levels:
        for name in ("distributed", "distributed.client"):  # the messages below say what its tracebacks do
            logger = logging.getLogger(name)
            levels.callback(logger.setLevel, logger.level)
            logger.setLevel(logging.CRITICAL)
        yield from _connect(address, function)


def _connect(address: str, function: Callable[..., T]) -> Iterator[_Cluster[T]]:
    import asyncio

    import distributed
    from distributed.comm.core import CommClosedError

    try:
        if not address.startswith("inproc:"):  # distributed tries a port that nobody serves again for 15 s
            host, _, port = address.rpartition("://")[2].rpartition(":")
            socket.create_connection((host.strip("[]"), int(port)), CONNECT_TIMEOUT_S).close()
        client = distributed.Client(address, timeout=CONNECT_TIMEOUT_S)
    except (OSError, TimeoutError, ValueError) as error:
        raise PliantError(
            f"no scheduler answers at {address!r} ({type(error).__name__}); start one with: dask scheduler",
            field="dask",
        ) from None
    with client:
        try:
            yield _Cluster(client, distributed.as_completed(loop=client.loop, with_results=True), function)
        except distributed.KilledWorker as error:
            raise PliantError(
                f"a task ended the workers of the cluster that ran it ({error}); if they are short of memory, use "
                "smaller tasks",
                field="dask",
            ) from None
        except (CancelledError, asyncio.CancelledError, CommClosedError) as error:
            raise PliantError(
                f"the scheduler at {address!r} was lost. Results that were finished before are in the output folder, "
                "if there is one; start the scheduler again and repeat the command, and it continues",
                field="dask",
            ) from error
