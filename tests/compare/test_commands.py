"""`pliant compare`, and the figures of sweeps."""

import dataclasses
import json

import pytest

SOFT_STIFF = ("qbmove-1dof", "qbmove-1dof", "--set-a", "robot.preset=0.1", "--set-b", "robot.preset=0.6")


def test_two_settings_of_a_robot_are_compared(call, tmp_path):
    plot = tmp_path / "both.png"
    code, out, err = call("compare", *SOFT_STIFF, "--names", "soft,stiff", "--duration", "0.2", "--plot", plot)
    assert code == 0, err
    assert "soft" in out
    assert "joint/preset" in out
    assert "common signals differ" in out
    assert "sampled 1000 times a second" in out
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_json_has_every_signal_with_its_numbers(call):
    code, out, err = call("compare", *SOFT_STIFF, "--duration", "0.2", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert found["names"] == ["qbmove-1dof robot.preset=0.1", "qbmove-1dof robot.preset=0.6"]
    preset = next(s for s in found["signals"] if s["name"] == "joint/preset")
    assert preset["final"] == [pytest.approx(0.1, abs=0.01), pytest.approx(0.6, abs=0.01)]
    assert preset["unit"] == "rad"


def test_recordings_are_compared_with_recordings_and_with_robots(call, robot_file, tmp_path):
    file = tmp_path / "a.mcap"
    assert call("run", robot_file, "--duration", "0.1", "--record", file)[0] == 0
    code, out, err = call("compare", file, file)
    assert code == 0, err
    assert "0 of" in out
    code, out, err = call("compare", file, robot_file, "--duration", "0.1", "--json")
    assert code == 0, err
    assert all(s["largest"] == 0.0 for s in json.loads(out)["signals"])


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("{a}", "{a}", "--duration", "1"), "--duration has no effect without a robot: both are recordings"),
        (("{a}", "qbmove-1dof", "--set-a", "x=1"), "--set-a has no effect without a robot: the first is a recording"),
        (("{a}", "nowhere.mcap"), "the recording does not exist"),
        (("qbmove-1dof", "qbmove-1dof", "--names", "a"), "must be two names with a comma"),
        (("qbmove-1dof", "qbmove-1dof", "--plot", "a.jpg"), "must be one of .pdf, .png, .svg"),
        (("qbmove-1dof", "qbmove-1dof", "--duration", "nan"), "--duration"),
        (("qbmove-1dof", "qbmov-1dof"), "qbmov-1dof"),
        (("qbmove-1dof", "sea-1dof", "--scenario", "stes"), "did you mean 'steps'?"),
        (("qbmove-1dof", "3PR"), "share no device: qbmove-1dof has joint, board; 3PR has cpr"),
        (("qbmove-1dof", "{csv}"), "must be an .mcap recording of pliant or a robot"),
    ],
)
def test_wrong_options_are_refused(call, robot_file, tmp_path, options, text):
    file = tmp_path / "a.mcap"
    file.write_bytes(b"")
    table = tmp_path / "run.csv"
    table.write_text("time,a\n0,1\n")
    code, _, err = call("compare", *(o.format(a=file, csv=table) for o in options))
    assert code == 1
    assert text in err.replace("\n", " ")


def test_the_title_of_a_sweep_says_what_was_commanded():
    from pliant.sweep import SweepPlan, parse_variation
    from pliant.sweep.commands import _title

    plan = SweepPlan(source="folder/arm.yaml", variations=(parse_variation("elbow.k1=1,2"),), duration=0.5)
    assert _title(plan) == "arm.yaml, 0.5 s, no command"
    plan = dataclasses.replace(plan, commands={"elbow/equilibrium_position": "0.3"}, command_file="there/steps.csv")
    assert _title(plan) == "arm.yaml, 0.5 s, elbow/equilibrium_position = 0.3, commands of steps.csv"


def test_a_sweep_draws_its_curve_and_its_map(call, robot_file, tmp_path):
    common = ("sweep", robot_file, "--duration", "0.05", "-r", "elbow/equilibrium_position=0.3")
    for name, vary in (("curve", ("elbow.k1=0.01,0.02",)), ("map", ("elbow.k1=0.01,0.02", "link.mass=0.5,1"))):
        plot = tmp_path / f"{name}.png"
        more = [word for v in vary for word in ("--vary", v)]
        code, out, err = call(*common, *more, "--plot", plot, "--metric", "final")
        assert code == 0, err
        assert f"plot: {plot}" in out.replace("\n", "")
        assert plot.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--metric", "final"), "--metric has no effect without --plot"),
        (("--plot", "a.png", "--metric", "fnal"), "no such metric; did you mean 'final'"),
        (("--plot", "a.png", "--vary", "b.k=1,2", "--vary", "c.k=1,2"), "one or two varied parameters; found 3"),
        (("--plot", "none/a.png"), "the folder none does not exist"),
    ],
)
def test_a_figure_of_a_sweep_that_cannot_be_drawn_is_refused_before_it_runs(call, options, text):
    code, _, err = call("sweep", "nowhere.urdf", "--vary", "a.k=1,2", *options)
    assert code == 1
    assert text in err.replace("\n", " ")
