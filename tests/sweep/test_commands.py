"""`pliant sweep`: the figures of sweeps."""

import dataclasses

import pytest

from pliant.sweep import SweepPlan, parse_variation
from pliant.sweep.commands import _title


def test_the_title_of_a_sweep_says_what_was_commanded():
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
