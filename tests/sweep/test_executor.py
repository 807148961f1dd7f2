"""Executors: tasks of any function, in threads, in processes that may be killed, and on a cluster that may be lost."""

import contextlib
import json
import logging
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
import task_functions

from pliant.base.errors import MissingDependency, PliantError
from pliant.base.executor import MAX_DEATHS, Executor, is_interrupted, run_tasks
from pliant.sweep import run_sweep

PLACES = [Executor(), Executor(processes=2), Executor(threads=2)]


@pytest.mark.parametrize("executor", PLACES, ids=["here", "processes", "threads"])
def test_tasks_of_any_function_give_their_results_one_by_one_and_a_fault_ends_them(executor):
    found = {}
    run_tasks(divmod, [(7, 2), (9, 4), (8, 3), (5, 5), (6, 4)], found.__setitem__, executor=executor)
    assert found == {(7, 2): (3, 1), (9, 4): (2, 1), (8, 3): (2, 2), (5, 5): (1, 0), (6, 4): (1, 2)}
    with pytest.raises(ZeroDivisionError):
        run_tasks(divmod, [(7, 2), (1, 0), (3, 2)], found.__setitem__, executor=executor)
    assert not any(child.is_alive() for child in multiprocessing.active_children())


@pytest.mark.parametrize("executor", PLACES, ids=["here", "processes", "threads"])
def test_tasks_are_read_only_as_workers_become_free(executor):
    read, finished = [], []

    def tasks():
        for k in range(12):
            read.append(k)
            yield k, 1

    def finish(task, _):
        finished.append(task)
        assert len(read) <= len(finished) + executor.workers

    run_tasks(divmod, tasks(), finish, executor=executor)
    assert len(finished) == 12


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"processes": -1}, "processes is -1; must be >= 0"),
        ({"threads": -2}, "threads is -2; must be >= 0"),
        ({"processes": 2, "threads": 2}, "one of them must be 1"),
        ({"processes": 2, "dask": "localhost:1"}, "no effect with dask"),
    ],
)
def test_workers_that_cannot_be_are_refused(options, message):
    with pytest.raises(PliantError, match=message):
        Executor(**options)


def test_zero_processes_are_one_for_each_core():
    assert Executor(processes=0).workers == Executor(threads=0).workers == os.cpu_count()


# -- processes ---------------------------------------------------------------------------------------------------------


def test_a_killed_process_costs_nothing(tmp_path, caplog):
    finished = []
    with caplog.at_level(logging.WARNING, "pliant.executor"):
        run_tasks(
            task_functions.killed_once,
            [(str(tmp_path), str(k)) for k in range(5)],
            lambda _, name: finished.append(name),
            executor=Executor(processes=2),
        )
    assert sorted(finished) == ["0", "1", "2", "3", "4"]
    calls = {path.name: path.read_text().split() for path in tmp_path.iterdir()}
    assert [len(calls[name]) for name in "01234"] == [1, 2, 1, 1, 1]
    assert len(set(calls["1"])) == 2
    assert "a process of a task ended by signal SIGKILL" in caplog.text


def test_a_task_that_ends_every_process_is_given_up():
    with pytest.raises(PliantError, match=f"ended its process {MAX_DEATHS} times, the last time by exit code 5"):
        run_tasks(task_functions.leave, [()], print, executor=Executor(processes=2))
    assert not multiprocessing.active_children()


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (task_functions.return_a_function, "pickle"),
        (task_functions.raise_missing, "MissingDependency: breakfast needs"),
    ],
)
def test_what_cannot_be_sent_between_processes_is_an_error_in_words(function, message):
    with pytest.raises(PliantError, match=message):
        run_tasks(function, [()], print, executor=Executor(processes=2))


def test_an_error_of_a_process_keeps_its_traceback():
    with pytest.raises(ZeroDivisionError) as caught:
        run_tasks(divmod, [(1, 0)], print, executor=Executor(processes=2))
    assert "in a worker: Traceback" in "".join(caught.value.__notes__)


def test_ctrl_c_ends_processes_during_their_tasks(tmp_path):
    def press():
        while len(list(tmp_path.iterdir())) < 2:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        run_tasks(task_functions.sleep, [(str(tmp_path),)] * 2, print, executor=Executor(processes=2))
    thread.join()
    assert not multiprocessing.active_children()


def test_threads_see_that_their_run_has_ended_early():
    begun = threading.Event()

    def work(fails):
        if fails:
            begun.wait()
            raise ZeroDivisionError
        begun.set()
        while not is_interrupted():
            time.sleep(0.001)

    assert not is_interrupted()
    with pytest.raises(ZeroDivisionError):
        run_tasks(work, [(True,), (False,)], print, executor=Executor(threads=2))
    assert not is_interrupted()


# -- a cluster ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.network
def test_a_cluster_gives_the_same_table(robot_file, plan):
    distributed = pytest.importorskip("distributed")
    p = plan(robot_file, "elbow.k1=0.001:0.003:6", duration=0.05)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster:
        executor = Executor(dask=cluster.scheduler_address)
        result = run_sweep(p, executor=executor, chunk=3)
        with pytest.raises(ZeroDivisionError):
            run_tasks(divmod, [(1, 0)], print, executor=executor)
    assert result.rows == run_sweep(p).rows


class Cluster:
    """A scheduler and workers in processes of their own."""

    def __init__(self, folder):
        pytest.importorskip("distributed")
        settings = folder / "scheduler.json"
        self.processes = []
        self.start("scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(settings))
        deadline = time.monotonic() + 240.0
        while not settings.exists() or not settings.read_text():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        self.address = json.loads(settings.read_text())["address"]

    def start(self, kind, *arguments):
        self.processes.append(
            subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.dask_{kind}", "--no-dashboard", *arguments],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )
        )  # fmt: skip

    def start_worker(self):
        self.start("worker", self.address, "--nthreads", "1", "--no-nanny", "--death-timeout", "60")

    def close(self):
        for process in reversed(self.processes):
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path):
    with contextlib.closing(Cluster(tmp_path)) as found:
        yield found


@pytest.mark.slow
@pytest.mark.network
def test_a_scheduler_that_is_lost_is_named_and_what_is_done_is_kept(robot_file, tmp_path, plan, cluster, capfd):
    p = plan(robot_file, "elbow.k1=0.001:0.003:400", duration=0.5)
    cluster.start_worker()

    def kill_after_the_first_chunk(done, total):
        if 0 < done < total:
            cluster.processes[0].kill()

    with pytest.raises(PliantError, match=r"scheduler at .* was lost.*repeat the command, and it continues"):
        run_sweep(
            p,
            output=tmp_path / "out",
            executor=Executor(dask=cluster.address),
            chunk=2,
            progress=kill_after_the_first_chunk,
        )
    assert "Traceback" not in capfd.readouterr().err
    kept = (tmp_path / "out" / "results.csv").read_text().splitlines()
    assert 2 <= len(kept) - 1 < 400


@pytest.mark.slow
@pytest.mark.network
def test_a_worker_of_a_cluster_that_is_killed_costs_nothing(robot_file, plan, cluster):
    p = plan(robot_file, "elbow.k1=0.001:0.003:12", duration=0.05)
    cluster.start_worker()

    def kill_the_worker_after_the_first_chunk(done, total):
        if done and len(cluster.processes) == 2:
            cluster.processes[1].kill()
            cluster.start_worker()

    executor = Executor(dask=cluster.address)
    found = run_sweep(p, executor=executor, chunk=2, progress=kill_the_worker_after_the_first_chunk)
    assert len(cluster.processes) == 3
    assert found.rows == run_sweep(p).rows


@pytest.mark.slow
@pytest.mark.network
def test_a_cluster_without_workers_says_that_it_waits_for_one(robot_file, plan, cluster, caplog):
    """Also: the run goes on as soon as there is one."""
    late = threading.Timer(4.0, cluster.start_worker)
    late.start()
    p = plan(robot_file, "elbow.k1=0.001:0.003:4", duration=0.05)
    found = run_sweep(p, executor=Executor(dask=cluster.address))
    late.join()
    assert found.rows == run_sweep(p).rows
    (said,) = (record.getMessage() for record in caplog.records if "no workers" in record.getMessage())
    assert f"dask worker {cluster.address}" in said


@pytest.mark.network
def test_a_scheduler_that_does_not_answer_is_named_at_once(robot_file, plan, monkeypatch):
    pytest.importorskip("distributed")
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client")]
    for logger in loggers:
        monkeypatch.setattr(logger, "level", logging.INFO)
    began = time.process_time()
    with pytest.raises(PliantError, match="no scheduler"):
        run_sweep(plan(robot_file, "elbow.k1=0.001"), executor=Executor(dask="tcp://127.0.0.1:1"))
    assert time.process_time() - began < 5.0  # distributed alone takes a minute of the processor
    assert {logger.level for logger in loggers} == {logging.INFO}  # for other clusters of the process


ADDRESSES = (
    "localhost:8786",
    "tcp://127.0.0.1:8786",
    "tls://[::1]:1",
    "ws://a-b.example:65535",
    "inproc://10.0.0.1/7/1",
)
WRONG_ADDRESSES = (
    "", " ", "=:?!", "host", "host:", ":8786", "host:0", "host:65536", "host:-1", "host:1.5", "host:port", "host:8786 ",
    "host:8786\n", "tcp://", "tcp:/host:1", "http://host:1", "tcp://host:1/x", "[::1]", "::1:8786", "a b:1", "h\0st:1",
    "host:٣", "host:999999999999", "inproc://", "../x:1", "$(x):1",
)  # fmt: skip


def test_an_address_of_another_form_is_refused_before_anything_runs():
    assert [Executor(dask=address).dask for address in ADDRESSES] == list(ADDRESSES)
    for address in WRONG_ADDRESSES:
        with pytest.raises(PliantError, match="must be the address of a scheduler"):
            Executor(dask=address)


@pytest.mark.parametrize(
    "command", [("reproduce", "chirp", "--quick"), ("sweep", "qbmove-1dof", "--vary", "robot.preset=0,0.1")]
)
def test_a_command_refuses_an_address_of_another_form(call, command):
    code, _, err = call(*command, "--dask", "=:?!")
    assert code == 1
    assert "must be the address of a scheduler" in err


def test_a_cluster_without_its_package_names_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingDependency, match=r"pliant\[cluster\]"):
        run_tasks(divmod, [(1, 1)], print, executor=Executor(dask="localhost:1"))
