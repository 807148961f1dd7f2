"""`--plot` of `pliant run` and `pliant replay`."""

import json
from pathlib import Path

import pytest

from pliant.base.errors import PliantError
from pliant.plots.options import Plot


def test_a_run_names_its_recording_first_and_then_its_figure(call, robot_file, tmp_path):
    record, plot = tmp_path / "run.mcap", tmp_path / "run.svg"
    common = ("run", robot_file, "--duration", "0.05", "--record", record, "--plot", plot)
    code, out, err = call(*common)
    assert code == 0, err
    assert out.splitlines()[-2:] == [f"recording: {record}", f"plot: {plot}"]
    assert "<svg" in plot.read_text()
    code, out, err = call(*common, "--overwrite", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert (found["recording"], found["plot"]) == (str(record), str(plot))
    names = list(found)
    assert names[names.index("recording") : names.index("fault")] == ["recording", "plot", "video"]


def test_a_run_without_a_recording_leaves_the_figure_alone(call, robot_file, tmp_path):
    kept = {p.name for p in tmp_path.iterdir()}
    code, out, err = call("run", robot_file, "--duration", "0.05", "--plot", tmp_path / "run.png")
    assert code == 0, err
    assert {p.name for p in tmp_path.iterdir()} - kept == {"run.png"}
    assert f"plot: {tmp_path / 'run.png'}" in out
    assert "recording:" not in out


def test_a_recording_is_drawn_though_its_robot_is_gone(call, robot_file, tmp_path):
    record, plot = tmp_path / "run.mcap", tmp_path / "again.png"
    assert call("run", robot_file, "--duration", "0.05", "--record", record)[0] == 0
    Path(robot_file).unlink()
    code, out, err = call("replay", record, "--export", tmp_path / "run.csv", "--plot", plot)
    assert code == 0, err
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert out.splitlines()[-2:] == [f"export: {tmp_path / 'run.csv'}", f"plot: {plot}"]
    code, out, err = call("replay", record, "--plot", plot, "--compare", record, "--json")
    assert code == 0, err
    assert list(json.loads(out))[-2:] == ["plot", "differences"]


def test_a_run_without_a_step_names_no_figure(call, robot_file, tmp_path):
    code, out, err = call("run", robot_file, "--duration", "0", "--plot", tmp_path / "run.png")
    assert code == 0, err
    assert "plot:" not in out
    assert not (tmp_path / "run.png").exists()


@pytest.mark.parametrize("option", [("--contacts",), ("--robot", "2PR")])
def test_what_needs_a_film_has_no_effect_with_a_figure(call, robot_file, tmp_path, option):
    command = ("run", robot_file) if option == ("--contacts",) else ("replay", tmp_path / "run.mcap")
    code, _, err = call(*command, "--plot", tmp_path / "a.png", *option)
    assert code == 1
    said = " ".join(err.split())
    assert f"{option[0]} has no effect without" in said
    assert "--plot" not in said


def test_a_figure_that_cannot_be_written_is_refused_before_the_run(tmp_path):
    for file, words in (("a.gif", "must be one of .pdf, .png, .svg"), ("no/a.png", "does not exist")):
        with pytest.raises(PliantError, match=words):
            Plot(plot=tmp_path / file)
    assert Plot().file is None
