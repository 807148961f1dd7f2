"""The folder of a sweep: it grows, goes on, and refuses what is not its own."""

import csv
import json
import os

import pytest

from pliant.base.errors import PliantError
from pliant.sweep import run_sweep, runner

PART = '<include file="part.xml"/></body>'


def test_an_interrupted_sweep_goes_on_where_it_was(robot_file, tmp_path, monkeypatch, plan):
    p = plan(robot_file, "elbow.k1=0.001:0.003:12")
    out = tmp_path / "result"
    calls = []
    original = runner.run_chunk

    def stop_after_two(*args):
        if len(calls) == 2:
            raise KeyboardInterrupt
        calls.append(args[1])
        return original(*args)

    monkeypatch.setattr(runner, "run_chunk", stop_after_two)
    with pytest.raises(KeyboardInterrupt):
        run_sweep(p, out, chunk=4)
    with (out / "results.csv").open("a") as file:
        file.write("8,0.00")  # a line that a crash cut off
    monkeypatch.setattr(runner, "run_chunk", original)
    result = run_sweep(p, out, chunk=4)
    assert result.done_before == 8
    assert result.rows == run_sweep(p).rows
    with (out / "results.csv").open() as file:
        rows = list(csv.reader(file))
    assert len(rows) == 13
    assert json.loads((out / "plan.json").read_text())["plan"]["source"] == robot_file


def test_a_folder_of_another_sweep_is_refused(robot_file, tmp_path, plan):
    run_sweep(plan(robot_file, "elbow.k1=0.001"), tmp_path / "out")
    with pytest.raises(PliantError, match="another sweep"):
        run_sweep(plan(robot_file, "elbow.k1=0.002"), tmp_path / "out")


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("arm.xml", 'mass="0.5"', 'mass="0.6"'),
        ("part.xml", 'size="0.02"', 'size="0.03"'),
        ("spring.csv", "0.2,3", "0.2,4"),
        ("arm.yaml", "std: 0.1", "std: 0.2"),
    ],
)
def test_a_changed_file_of_the_robot_is_not_continued(robot_file, tmp_path, file, old, new, plan):
    (tmp_path / "part.xml").write_text('<mujoco><geom size="0.02" mass="0.1"/></mujoco>')
    (tmp_path / "arm.xml").write_text((tmp_path / "arm.xml").read_text().replace("</body>", PART, 1))
    (tmp_path / "spring.csv").write_text("deflection [rad],torque [N m]\n0,0\n0.1,1\n0.2,3\n")
    (tmp_path / "arm.yaml").write_text(
        "model: arm.xml\nactuators:\n  elbow: {law: sea_table, table: spring.csv, mode: 3}\n"
        "sensors:\n  imu: {kind: imu, body: link, angular_velocity_noise: {std: 0.1}}\n"
    )
    held = plan(robot_file, "elbow.torque_scale=1,2", commands={}, duration=0.02)
    first = run_sweep(held, tmp_path / "out")
    assert run_sweep(held, tmp_path / "out").done_before == len(first.rows) == 2
    text = (tmp_path / file).read_text()
    assert old in text
    (tmp_path / file).write_text(text.replace(old, new))
    with pytest.raises(PliantError, match="the robot, its files or the code of pliant have changed"):
        run_sweep(held, tmp_path / "out")


def test_a_full_disk_says_how_many_simulations_are_kept(robot_file, tmp_path, monkeypatch, plan):
    p = plan(robot_file, "elbow.k1=0.001:0.003:4", duration=0.01)
    chunks = []

    def fsync(_):
        chunks.append(None)
        if len(chunks) == 2:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(PliantError, match=r"results.csv: the table cannot be written: No space left.*holds 2 sim"):
        run_sweep(p, output=tmp_path, chunk=2)
    monkeypatch.undo()
    assert len(run_sweep(p, output=tmp_path, chunk=2).rows) == 4


@pytest.mark.parametrize(("line", "message"), [(b"\xff,1\n", "not UTF-8 text"), (b"\x07", "")])
def test_a_damaged_table_of_a_sweep_is_named(robot_file, tmp_path, line, message, plan):
    p = plan(robot_file, "elbow.k1=0.001:0.003:2", duration=0.01)
    run_sweep(p, output=tmp_path)
    table = tmp_path / "results.csv"
    cells = table.read_bytes().splitlines()[1].split(b",")
    table.write_bytes(table.read_bytes() + (line if message else b",".join([line, *cells[1:]]) + b"\n"))
    with pytest.raises(PliantError, match=r"results.csv.*" + (message or "the index is")):
        run_sweep(p, output=tmp_path)
