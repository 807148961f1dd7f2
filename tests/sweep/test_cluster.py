"""Sweeps on a Dask cluster, whose workers and scheduler may be lost."""

import contextlib
import json
import logging
import subprocess
import sys
import threading
import time

import pytest

from pliant.base.errors import PliantError
from pliant.sweep import run_sweep
from pliant.tasks.executor import Executor, run_tasks


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
