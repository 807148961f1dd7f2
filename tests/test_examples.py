"""Every example runs by itself, without a display, and says what its docstring promises."""

from __future__ import annotations

import ast
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from forks import forks

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "PYTHONPATH")}
EXAMPLES = sorted((ROOT / "examples").rglob("[0-9]*.py"))


RUN = """
import os, runpy, sys
os.dup2(os.open("stderr", os.O_WRONLY | os.O_CREAT), 2)
runpy.run_path(sys.argv.pop(1), run_name="__main__")
"""


def said(text: str) -> list[str]:
    """Return what an example wrote to stderr, without the compilations that are told where the cache is empty."""
    return [line for line in text.splitlines() if not line.startswith("warning: compiling ")]


@pytest.fixture(scope="module")
def run() -> Iterator[Callable[..., str]]:
    """Return a function that runs an example in a folder of its own and returns what it prints.

    Each runs in a fork of a process that has imported what all of them do, which saves more than a second each.
    """
    modules = ("pliant.devices", "pliant.engine", "pliant.simulation", "pliant.robots", "numba")

    def one(path: Path, folder: Path, *words: str) -> str:
        stderr = folder / "stderr"
        try:
            printed = found.run(RUN, folder, str(path), *words)
        except AssertionError as error:
            raise AssertionError(f"{path.name} failed: {error}\n{stderr.read_text()}") from None
        assert not said(stderr.read_text()), f"{path.name} wrote to stderr:\n{stderr.read_text()}"
        stderr.unlink()
        return printed

    with forks(*modules, environment=ENVIRONMENT) as found:
        yield one


def numbers(text: str) -> list[float]:
    """Return all numbers of a text."""
    return [float(n) for n in re.findall(r"[-+]?\d+\.?\d*(?:e[-+]?\d+)?", text)]


def test_the_stiff_arm_sags_less_than_the_soft_one(tmp_path):
    command = [sys.executable, str(ROOT / "examples" / "01_run_a_robot.py")]  # as a user types it
    done = subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    assert not said(done.stderr)
    lines = done.stdout.splitlines()
    link = [float(line.split("link at ")[1].split(",")[0]) for line in lines]
    assert len(lines) == 4
    assert link[0] < link[2] < 0.8
    assert link[1] < link[3] < 0.4


def test_the_urdf_example_reports_the_defaults_and_settles(run, tmp_path):
    out = run(ROOT / "examples" / "02_load_a_urdf.py", tmp_path)
    assert "motor damping is 0.2698, the default of the toolbox's code" in out
    assert "error" not in out
    q = float(out.splitlines()[-1].split("elbow at ")[1].split(" ")[0])
    assert 0.3 < q < 0.5


def test_actuators_on_an_mjcf_have_their_states_in_mujoco(run, tmp_path):
    out = run(ROOT / "examples" / "03_add_an_actuator.py", tmp_path)
    assert "'shoulder': 8 states" in out
    assert "'elbow': 4 states" in out
    shoulder, elbow = numbers(out.splitlines()[-1])[1:]
    assert 0.3 < shoulder < 0.6
    assert elbow == pytest.approx(-0.4, abs=0.02)


def test_a_law_from_its_energy_carries_the_load(run, tmp_path):
    lines = run(ROOT / "examples" / "04_a_law_of_your_own.py", tmp_path).splitlines()
    for line, d in zip(lines, (0.0, 0.1, 0.2), strict=False):
        _, torque, stiffness = numbers(line)
        assert torque == pytest.approx(-(2.0 * d + 60.0 * d**3), abs=1e-3)
        assert stiffness == pytest.approx(2.0 + 180.0 * d**2, abs=1e-2)
    carried = float(lines[-1].split("carries ")[1].split(" ")[0])
    angle = float(lines[-1].split("link at ")[1].split(" ")[0])
    assert carried == pytest.approx(9.81 * 0.1 * math.cos(angle), abs=2e-3)


def test_the_batch_spreads_the_sag(run, tmp_path):
    out = run(ROOT / "examples" / "05_batch.py", tmp_path)
    low, middle, high = (float(re.search(rf"{name} (\S+)", out)[1].strip(",")) for name in ("5 %", "median", "95 %"))
    assert low < middle < high
    assert "1,000,000 steps" in out


def test_two_equal_runs_record_the_same(run, tmp_path):
    out = run(ROOT / "examples" / "06_record_and_plot.py", tmp_path)
    assert "differences between the two runs: []" in out
    assert (tmp_path / "out_06" / "first.png").stat().st_size > 10_000


def test_the_push_measures_the_stiffness_that_the_joint_reports(run, tmp_path):
    lines = run(ROOT / "examples" / "07_external_torque.py", tmp_path).splitlines()
    for line in lines[:3]:
        reported = float(line.split("reports ")[1].split(" ")[0])
        measured = float(line.split("measures ")[1].split(",")[0])
        assert measured == pytest.approx(reported, rel=0.01)


def test_the_fit_finds_the_springs_within_three_standard_errors(run, tmp_path):
    out = run(ROOT / "examples" / "08_identify_springs.py", tmp_path)
    found = re.findall(r"true (\S+), found (\S+) \+- (\S+)", out)
    assert len(found) == 4
    for true, value, error in found:
        assert abs(float(value) - float(true)) <= 3.0 * float(error)


def test_the_scenario_pushes_the_link_away_and_lets_it_return(run, tmp_path):
    lines = run(ROOT / "examples" / "09_scenario.py", tmp_path).splitlines()
    link = [float(line.split("link ")[1].split(" ")[0]) for line in lines]
    assert link[1] < link[0] - 0.05
    assert link[2] == pytest.approx(link[0], abs=0.01)


def test_the_sensors_measure_gravity_the_weight_and_the_ball(run, tmp_path):
    lines = {line.partition(":")[0]: line for line in run(ROOT / "examples" / "10_sensors.py", tmp_path).splitlines()}
    assert numbers(lines["imu"].partition("m/s")[0]) == pytest.approx([0, 0, 9.81], abs=2e-3)
    assert numbers(lines["cell"]) == pytest.approx([0, 0, -6.867, 6.867], abs=2e-3)
    if "eye" in lines:  # where there is a graphics library
        column, row, x, y, away = numbers(lines["eye"])
        assert (column, row) == pytest.approx((x, y), abs=1.0)
        assert away == pytest.approx(0.95, abs=0.005)


def test_the_biped_falls_from_the_bar_on_flat_feet_and_stands_on_soft_ones(run, tmp_path):
    lines = run(ROOT / "examples" / "feet" / "11_soft_feet.py", tmp_path).splitlines()
    for line in lines[:2]:
        assert float(line.split("on one foot, ")[1].split(" times")[0]) > 3.0
    flat, soft = (float(line.split("by ")[1].split(" deg")[0]) for line in lines[2:])
    assert flat > 60.0
    assert soft < 3.0


def test_the_camera_comes_to_its_pose_before_the_tag(run, tmp_path):
    pytest.importorskip("pyapriltags", reason="finding tags needs pyapriltags: pip install 'pliant[vision]'")
    lines = run(ROOT / "examples" / "vision" / "12_visual_servo.py", tmp_path).splitlines()
    if len(lines) == 1:
        pytest.skip(f"no picture can be rendered here: {lines[0]}")
    errors = [float(line.rpartition(" ")[2]) for line in lines]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > 0.3
    assert "converged" in lines[-1]
    assert float(lines[-1].split()[0]) == pytest.approx(2.6, abs=0.4)


def test_the_search_throws_farther_from_round_to_round(run, tmp_path):
    pytest.importorskip("gymnasium", reason="environments need Gymnasium: pip install 'pliant[learn]'")
    lines = run(ROOT / "examples" / "learn" / "13_learn_to_throw.py", tmp_path).splitlines()
    assert len(lines) == 3
    for line in lines:
        far = numbers(line)[-5:]
        assert far[-1] > far[0]
        assert far[-1] > 0.4


def test_plans_from_a_state_bring_the_arm_near_its_target(run, tmp_path):
    pytest.importorskip("gymnasium", reason="environments need Gymnasium: pip install 'pliant[learn]'")
    lines = run(ROOT / "examples" / "learn" / "16_plan_from_a_state.py", tmp_path).splitlines()
    assert len(lines) == 4
    assert numbers(lines[-1])[1] < 0.15  # it starts 0.5 rad away


def test_the_training_lessens_the_error_and_writes_a_policy_that_can_be_loaded(run, tmp_path):
    pytest.importorskip("gymnasium", reason="environments need Gymnasium: pip install 'pliant[learn]'")
    from pliant.learn.policy import Policy

    lines = run(ROOT / "examples" / "learn" / "14_train.py", tmp_path, "1", "2").splitlines()
    for line in lines[:2]:
        for before, after in re.findall(r"(\d\.\d+)->(\d\.\d+)", line):
            assert float(after) < 0.7 * float(before)
    assert "95 %, 2 seeds" in lines[2]
    policy = Policy.load(tmp_path / "touch.npz")
    assert policy.inputs == ("target", "touch")
    assert policy.commands == ("joint/equilibrium_position", "joint/stiffness_preset")


@pytest.mark.parametrize("counts", [["0", "2"], ["12", "9"], ["many", "2"]])
def test_the_training_refuses_counts_that_cannot_be_compared(tmp_path, counts):
    pytest.importorskip("gymnasium", reason="environments need Gymnasium: pip install 'pliant[learn]'")
    command = [sys.executable, str(ROOT / "examples" / "learn" / "14_train.py"), *counts]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert done.stderr.startswith("14_train.py ROUNDS SEEDS: must be 1 round or more and 2 to 5 seeds")
    assert list(tmp_path.iterdir()) == []


def test_ppo_raises_the_return_and_writes_a_policy_that_can_be_loaded(run, tmp_path):
    pytest.importorskip("stable_baselines3", reason="needs Stable-Baselines3: pip install 'pliant[sb3]'")
    from pliant.learn.policy import Policy

    lines = run(ROOT / "examples" / "learn" / "15_train_with_sb3.py", tmp_path).splitlines()
    before, after = (float(x) for x in re.findall(r"return (-\d+\.\d+) before, (-\d+\.\d+) after", lines[0])[0])
    assert after > 0.7 * before  # returns are negative
    assert (tmp_path / "sb3.png").stat().st_size > 10_000
    policy = Policy.load(tmp_path / "touch.npz")
    assert [len(bias) for _, bias in policy.layers] == [32, 32, 2]
    assert policy.commands == ("joint/equilibrium_position", "joint/stiffness_preset")


def test_ppo_in_one_file_raises_the_return_and_writes_a_policy(run, tmp_path):
    pytest.importorskip("torch", reason="needs PyTorch: pip install torch")
    pytest.importorskip("gymnasium", reason="environments need Gymnasium: pip install 'pliant[learn]'")
    from pliant.learn.policy import Policy

    (line,) = run(ROOT / "examples" / "learn" / "17_ppo_in_one_file.py", tmp_path).splitlines()
    before, after = (float(x) for x in re.findall(r"return (-\d+\.\d+) before, (-\d+\.\d+) after", line)[0])
    assert after > 0.7 * before  # returns are negative
    assert [len(bias) for _, bias in Policy.load(tmp_path / "touch.npz").layers] == [32, 32, 2]


@pytest.mark.network
def test_the_sdk_moves_both_servos_to_their_goal(run, tmp_path):
    pytest.importorskip("dynamixel_sdk", reason="needs ROBOTIS' SDK: pip install dynamixel-sdk")
    lines = run(ROOT / "examples" / "dynamixel" / "16_dynamixel_sdk.py", tmp_path).splitlines()
    assert [line.split()[-1] for line in lines[:2]] == ["1020", "1020"]
    assert numbers(lines[-1]) == pytest.approx([2500, 2500], abs=3)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_an_example_is_short_and_says_first_what_one_will_see(path):
    text = path.read_text()
    assert len(text.splitlines()) < 80
    assert "You will see" in (ast.get_docstring(ast.parse(text)) or "")


def test_every_example_is_run_here():
    source = Path(__file__).read_text()
    missing = [p.name for p in EXAMPLES if f'"{p.name}"' not in source]
    assert not missing
