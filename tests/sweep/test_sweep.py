"""Sweeps: plans, chunks, results that grow and go on."""

import csv
import json
import math
import multiprocessing
import subprocess
import sys
import time

import numpy as np
import pytest

from pliant import sweep
from pliant.base.errors import MissingDependency, ModelError, PliantError
from pliant.engine import MujocoEngine
from pliant.robots.loading import load
from pliant.sweep import SweepPlan, Variation, parse_variation, run_sweep, run_tasks

MODEL = """
<mujoco><option timestep="0.002"/><worldbody>
<body name="link"><joint name="elbow" axis="0 1 0" damping="0.05"/>
<geom type="capsule" fromto="0 0 0 0 0 -0.1" size="0.01" mass="0.5"/></body>
</worldbody></mujoco>
"""


@pytest.fixture
def robot_file(tmp_path):
    (tmp_path / "arm.xml").write_text(MODEL)
    path = tmp_path / "arm.yaml"
    path.write_text("model: arm.xml\nactuators:\n  elbow: {law: qbmove, mode: 3}\n")
    return str(path)


def plan(robot_file, *variations: str, **options) -> SweepPlan:
    defaults = {"commands": {"elbow/equilibrium_position": 0.5, "elbow/stiffness_preset": 0.4}, "duration": 0.5}
    return SweepPlan(
        source=robot_file, variations=tuple(parse_variation(v) for v in variations), **{**defaults, **options}
    )


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a.k=1,2,3", (1.0, 2.0, 3.0)),
        ("a.k=0:1:3", (0.0, 0.5, 1.0)),
        ("a.k=1:100:3:log", (1.0, 10.0, 100.0)),
        ("a.clip=flat,stop", ("flat", "stop")),
    ],
)
def test_a_grid_is_read_from_text(text, values):
    assert parse_variation(text).values == pytest.approx(values) if values[0] != "flat" else True
    assert parse_variation(text).path == text.split("=")[0]


@pytest.mark.parametrize(
    "text",
    ["k", "k=", "=1", "k=1:2", "k=1:2:x", "k=1:2:0", "k=0:1:3:log", "k=uniform(1)", "k=uniform(2,1)", "k=gauss(0,1)",
     "k=loguniform(0,1)", "k=normal(0,-1)", "k=1:2:3:cubic", "k=uniform(a,b)"],
)  # fmt: skip
def test_a_variation_that_cannot_be_read_is_refused_with_the_valid_forms(text):
    with pytest.raises(PliantError):
        parse_variation(text)


@pytest.mark.parametrize("count", [0, 100_000_000])
def test_a_grid_with_no_or_too_many_values_is_refused_with_both_limits(count):
    with pytest.raises(PliantError, match=f"count is {count}; must be from 1 to 10000000"):
        parse_variation(f"k=1:2:{count}")


def test_a_grid_combines_all_values_and_the_order_is_fixed(robot_file):
    points = list(plan(robot_file, "elbow.k1=0.001,0.002", "elbow.damping=0.1,0.2,0.3").points())
    assert len(points) == 6
    assert points[0] == {"elbow.k1": 0.001, "elbow.damping": 0.1}
    assert points[1] == {"elbow.k1": 0.001, "elbow.damping": 0.2}


def test_random_points_depend_on_the_seed_and_the_index_alone(robot_file):
    first = list(plan(robot_file, "elbow.k1=uniform(0.001,0.002)", samples=5, seed=3).points())
    again = list(plan(robot_file, "elbow.k1=uniform(0.001,0.002)", samples=5, seed=3).points())
    longer = list(plan(robot_file, "elbow.k1=uniform(0.001,0.002)", samples=8, seed=3).points())
    other = list(plan(robot_file, "elbow.k1=uniform(0.001,0.002)", samples=5, seed=4).points())
    assert first == again == longer[:5]
    assert first != other


@pytest.mark.parametrize("variation", ["elbow.k1=0.001,0.003", "link.pos=0 0 0", "elbow.damping=0.02,0.2"])
def test_a_swept_simulation_equals_the_same_simulation_alone(robot_file, variation):
    p = plan(robot_file, variation)
    result = run_sweep(p)
    for row, point in zip(result.rows, p.points(), strict=True):
        robot = load(robot_file)
        robot.update(point)
        engine = MujocoEngine(robot, check=False)
        engine.port("elbow/reference_1")[0] = 0.5
        engine.port("elbow/reference_2")[0] = 0.4
        engine.step(250)
        assert row[result.columns.index("elbow/final")] == engine.port("elbow/position")[0]


@pytest.mark.parametrize("variation", ["elbow.initial_preset=0.1,0.5", "elbow.mode=2,3", "elbow.mode=5,6"])
@pytest.mark.parametrize("start", ["pose", "zero"])
def test_without_commands_a_swept_simulation_starts_at_rest_as_alone(robot_file, tmp_path, variation, start):
    (tmp_path / "arm.xml").write_text(
        MODEL.replace("</mujoco>", '<keyframe><key name="rest" qpos="0.3"/></keyframe></mujoco>')
    )
    settings = {"elbow.start": start, "elbow.initial_preset": 0.2}
    p = plan(robot_file, variation, commands={}, duration=0.1, settings=settings)
    result = run_sweep(p)
    for row, point in zip(result.rows, p.points(), strict=True):
        robot = load(robot_file)
        robot.update({**settings, **point})
        engine = MujocoEngine(robot, check=False)
        engine.step(50)
        assert row[result.columns.index("elbow/final")] == engine.port("elbow/position")[0]


def test_actuators_and_bodies_vary_together(robot_file):
    result = run_sweep(plan(robot_file, "elbow.k1=0.001,0.003", "elbow.damping=0.02,0.2"))
    finals = result.column("elbow/final")
    assert len(set(finals)) == 4


def test_modes_may_differ_between_simulations(robot_file):
    result = run_sweep(plan(robot_file, "elbow.mode=3,6"))
    assert len(result.rows) == 2
    assert result.rows[0][2] != result.rows[1][2]


def test_metrics_are_those_of_the_trajectory(robot_file):
    result = run_sweep(plan(robot_file, "elbow.k1=0.0019", duration=3.0))
    row = dict(zip(result.columns, result.rows[0], strict=True))
    assert row["elbow/min"] <= row["elbow/final"] <= row["elbow/max"]
    assert row["elbow/final_error"] == pytest.approx(0.5 - row["elbow/final"])
    assert 0.0 < row["elbow/settling_time"] < 3.0
    assert row["diverged"] is False


def test_a_simulation_that_diverges_is_marked_and_the_others_go_on(robot_file):
    # 200 N m/rad on 1.7e-3 kg m^2 is beyond the bound at 20 ms; 0.0019 N m springs are not.
    result = run_sweep(plan(robot_file, "elbow.k1=0.0019,500", duration=2.0, timestep=0.02))
    marks = result.column("diverged")
    speeds = result.column("elbow/peak_velocity")
    assert not marks[0]
    assert marks[1] or speeds[1] > 10.0 * speeds[0]


@pytest.mark.parametrize(
    "variations",
    [
        ("elbow.k1=0.001,0.003", "elbow.damping=0.02,0.2"),
        ("link.mass=0.3,0.6", "elbow.mode=3,6"),
        ("elbow.k1=0.001,0.003", "option.gravity=0 0 0,0 0 -9.81"),
    ],
)
def test_a_sweep_in_warp_gives_the_same_table_as_on_the_cores(robot_file, tmp_path, variations):
    pytest.importorskip("mujoco_warp", reason="MuJoCo Warp is not installed: pip install 'pliant[warp]'")
    table = tmp_path / "commands.csv"
    table.write_text("time,elbow/equilibrium_position\n0,0.1\n0.1,0.5\n")
    options = {"commands": {"elbow/stiffness_preset": 0.4}, "command_file": str(table), "duration": 0.3}
    cpu = run_sweep(plan(robot_file, *variations, **options))
    warp = run_sweep(plan(robot_file, *variations, **options, device="warp-cpu"), output=tmp_path / "warp")
    assert warp.columns == cpu.columns
    assert len(warp.rows) == len(cpu.rows) == 4
    for name in cpu.columns:
        # The time after which a position stays in a band is that of a step; one step may differ.
        atol = 0.004 if name.endswith("settling_time") else 1e-4
        if "option" in name:
            assert list(warp.column(name)) == list(cpu.column(name))
        else:
            np.testing.assert_allclose(warp.column(name), cpu.column(name), rtol=0.0, atol=atol, err_msg=name)
    with pytest.raises(PliantError, match="another sweep"):
        run_sweep(plan(robot_file, *variations, **options), output=tmp_path / "warp")


def test_a_world_that_diverges_in_warp_is_marked_and_the_others_go_on(robot_file):
    pytest.importorskip("mujoco_warp", reason="MuJoCo Warp is not installed: pip install 'pliant[warp]'")
    options = {"duration": 2.0, "timestep": 0.02, "device": "warp-cpu"}
    result = run_sweep(plan(robot_file, "elbow.k1=0.0019,500", **options))
    marks, speeds = result.column("diverged"), result.column("elbow/peak_velocity")
    assert not marks[0]
    assert marks[1] or speeds[1] > 10.0 * speeds[0]


def test_a_device_that_cannot_be_is_refused_in_words(robot_file, monkeypatch):
    with pytest.raises(PliantError, match="device is 'gpu'; must be cpu, cuda, cuda:N or warp-cpu"):
        plan(robot_file, "elbow.k1=0.001", device="gpu")
    monkeypatch.setitem(sys.modules, "mujoco_warp", None)
    with pytest.raises(MissingDependency, match=r"pliant\[warp\]"):
        run_sweep(plan(robot_file, "elbow.k1=0.001", device="cuda"))


def test_a_gpu_that_is_not_there_is_named(robot_file):
    warp = pytest.importorskip("warp", reason="Warp is not installed: pip install 'pliant[warp]'")
    pytest.importorskip("mujoco_warp", reason="MuJoCo Warp is not installed: pip install 'pliant[warp]'")
    missing = f"cuda:{warp.get_cuda_device_count()}"
    with pytest.raises(PliantError, match=f"device is '{missing}'"):
        run_sweep(plan(robot_file, "elbow.k1=0.001", device=missing))
    with pytest.raises(PliantError, match="one batch at a time"):
        run_sweep(plan(robot_file, "elbow.k1=0.001", device="warp-cpu"), processes=2)


def test_an_interrupted_sweep_goes_on_where_it_was(robot_file, tmp_path, monkeypatch):
    p = plan(robot_file, "elbow.k1=0.001:0.003:12")
    out = tmp_path / "result"
    calls = []
    original = sweep.run_chunk

    def stop_after_two(*args):
        if len(calls) == 2:
            raise KeyboardInterrupt
        calls.append(args[1])
        return original(*args)

    monkeypatch.setattr(sweep, "run_chunk", stop_after_two)
    with pytest.raises(KeyboardInterrupt):
        run_sweep(p, out, chunk=4)
    with (out / "results.csv").open("a") as file:
        file.write("8,0.00")  # a line that a crash cut off
    monkeypatch.setattr(sweep, "run_chunk", original)
    result = run_sweep(p, out, chunk=4)
    assert result.done_before == 8
    assert result.rows == run_sweep(p).rows
    with (out / "results.csv").open() as file:
        rows = list(csv.reader(file))
    assert len(rows) == 13
    assert json.loads((out / "plan.json").read_text())["plan"]["source"] == robot_file


def test_a_folder_of_another_sweep_is_refused(robot_file, tmp_path):
    run_sweep(plan(robot_file, "elbow.k1=0.001"), tmp_path / "out")
    with pytest.raises(PliantError, match="another sweep"):
        run_sweep(plan(robot_file, "elbow.k1=0.002"), tmp_path / "out")


def test_processes_give_the_same_table(robot_file):
    p = plan(robot_file, "elbow.k1=0.001:0.003:6", duration=0.05)
    assert run_sweep(p, processes=2, chunk=3).rows == run_sweep(p).rows


@pytest.mark.parametrize("processes", [1, 2])
def test_tasks_of_any_function_give_their_results_one_by_one_and_a_fault_ends_them(processes):
    found = {}
    run_tasks(divmod, [(7, 2), (9, 4), (8, 3), (5, 5), (6, 4)], found.__setitem__, processes=processes)
    assert found == {(7, 2): (3, 1), (9, 4): (2, 1), (8, 3): (2, 2), (5, 5): (1, 0), (6, 4): (1, 2)}
    with pytest.raises(ZeroDivisionError):
        run_tasks(divmod, [(7, 2), (1, 0), (3, 2)], found.__setitem__, processes=processes)
    assert not any(child.is_alive() for child in multiprocessing.active_children())


def test_tasks_without_a_process_are_refused():
    with pytest.raises(PliantError, match="processes is 0; must be >= 1"):
        run_tasks(divmod, [], {}.__setitem__, processes=0)


@pytest.mark.slow
@pytest.mark.network
def test_a_cluster_gives_the_same_table(robot_file):
    distributed = pytest.importorskip("distributed")
    p = plan(robot_file, "elbow.k1=0.001:0.003:6", duration=0.05)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster:
        result = run_sweep(p, dask=cluster.scheduler_address, chunk=3)
    assert result.rows == run_sweep(p).rows


def process_of_dask(kind, *arguments):
    return subprocess.Popen(
        [sys.executable, "-m", f"distributed.cli.dask_{kind}", *arguments],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.network
def test_a_scheduler_that_is_lost_is_named_and_what_is_done_is_kept(robot_file, tmp_path):
    pytest.importorskip("distributed")
    settings = tmp_path / "scheduler.json"
    started = [process_of_dask("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
                               "--scheduler-file", str(settings))]  # fmt: skip
    p = plan(robot_file, "elbow.k1=0.001:0.003:400", duration=0.5)
    try:
        deadline = time.monotonic() + 240.0
        while not settings.exists() or not settings.read_text():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        address = json.loads(settings.read_text())["address"]
        started.append(process_of_dask("worker", address, "--nthreads", "1", "--no-dashboard", "--no-nanny",
                                       "--death-timeout", "60"))  # fmt: skip

        def kill_after_the_first_chunk(done, total):
            if 0 < done < total:
                started[0].kill()

        with pytest.raises(PliantError, match=r"scheduler at .* was lost.*the sweep continues"):
            run_sweep(p, output=tmp_path / "out", dask=address, chunk=2, progress=kill_after_the_first_chunk)
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()
    kept = (tmp_path / "out" / "results.csv").read_text().splitlines()
    assert 2 <= len(kept) - 1 < 400


def test_a_full_disk_says_how_many_simulations_are_kept(robot_file, tmp_path, monkeypatch):
    p = plan(robot_file, "elbow.k1=0.001:0.003:4", duration=0.01)
    chunks = []

    def fsync(_):
        chunks.append(None)
        if len(chunks) == 2:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(sweep.os, "fsync", fsync)
    with pytest.raises(PliantError, match=r"results.csv: the table cannot be written: No space left.*holds 2 sim"):
        run_sweep(p, output=tmp_path, chunk=2)
    monkeypatch.undo()
    assert len(run_sweep(p, output=tmp_path, chunk=2).rows) == 4


@pytest.mark.parametrize(("line", "message"), [(b"\xff,1\n", "not UTF-8 text"), (b"\x07", "")])
def test_a_damaged_table_of_a_sweep_is_named(robot_file, tmp_path, line, message):
    p = plan(robot_file, "elbow.k1=0.001:0.003:2", duration=0.01)
    run_sweep(p, output=tmp_path)
    table = tmp_path / "results.csv"
    cells = table.read_bytes().splitlines()[1].split(b",")
    table.write_bytes(table.read_bytes() + (line if message else b",".join([line, *cells[1:]]) + b"\n"))
    with pytest.raises(PliantError, match=r"results.csv.*" + (message or "the index is")):
        run_sweep(p, output=tmp_path)


@pytest.mark.network
def test_a_scheduler_that_does_not_answer_is_named(robot_file):
    pytest.importorskip("distributed")
    with pytest.raises(PliantError, match="no scheduler"):
        run_sweep(plan(robot_file, "elbow.k1=0.001"), dask="not-an-address")


@pytest.mark.parametrize(
    ("variation", "options", "message"),
    [
        ("elbow.kk=1", {}, "did you mean"),
        ("elbo.k1=1", {}, "did you mean 'elbow'"),
        ("elbow.k1=0.001", {"commands": {"elbow/equilibrium": 1.0}}, "did you mean"),
        ("elbow.k1=0.001", {"commands": {"elbow/equilibrium_position": "x"}}, "must be a number"),
        ("elbow.k1=-1", {}, "k1 is -1"),
        ("robot.preset=0.1,0.2", {}, "cannot be varied"),
    ],
)
def test_wrong_names_fail_before_anything_runs(robot_file, variation, options, message):
    with pytest.raises((PliantError, ModelError), match=message):
        run_sweep(plan(robot_file, variation, **options))


def test_a_plan_checks_its_numbers(robot_file):
    with pytest.raises(PliantError, match="duration"):
        plan(robot_file, duration=0.0)
    with pytest.raises(PliantError, match="samples"):
        plan(robot_file, samples=0)
    with pytest.raises(PliantError, match="is varied twice"):
        plan(robot_file, "elbow.k1=1", "elbow.k1=2")


def test_a_distribution_draws_what_it_says():
    rng = np.random.default_rng(0)
    draws = [Variation(path="x", distribution="loguniform", a=1.0, b=100.0).draw(rng) for _ in range(2000)]
    assert min(draws) >= 1.0
    assert max(draws) <= 100.0
    assert np.mean(np.log10(draws)) == pytest.approx(1.0, abs=0.05)
    assert not math.isnan(np.mean(draws))


def test_options_of_a_catalogue_robot_are_set_for_all_simulations():
    hanging = run_sweep(SweepPlan(source="qbmove-1dof", variations=(parse_variation("joint.k1=0.0019"),),
                                  settings={"robot.mounting": "hanging"}, duration=0.5))  # fmt: skip
    lying = run_sweep(SweepPlan(source="qbmove-1dof", variations=(parse_variation("joint.k1=0.0019"),), duration=0.5))
    assert hanging.column("joint/final")[0] == pytest.approx(0.0, abs=1e-6)
    assert abs(lying.column("joint/final")[0]) > 0.1
