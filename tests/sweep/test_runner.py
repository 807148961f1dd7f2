"""Sweeps: each simulation equals the same one alone, whatever runs it; metrics; wrong names."""

import pytest

from pliant.base.errors import ModelError, PliantError
from pliant.base.executor import Executor
from pliant.engine import MujocoEngine
from pliant.robots.loading import load
from pliant.sweep import SweepPlan, parse_variation, run_sweep


@pytest.mark.parametrize("variation", ["elbow.k1=0.001,0.003", "link.pos=0 0 0", "elbow.damping=0.02,0.2"])
def test_a_swept_simulation_equals_the_same_simulation_alone(robot_file, variation, plan):
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
def test_without_commands_a_swept_simulation_starts_at_rest_as_alone(
    robot_file, tmp_path, variation, start, plan, model
):
    (tmp_path / "arm.xml").write_text(
        model.replace("</mujoco>", '<keyframe><key name="rest" qpos="0.3"/></keyframe></mujoco>')
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


def test_actuators_and_bodies_vary_together(robot_file, plan):
    result = run_sweep(plan(robot_file, "elbow.k1=0.001,0.003", "elbow.damping=0.02,0.2"))
    finals = result.column("elbow/final")
    assert len(set(finals)) == 4


def test_modes_may_differ_between_simulations(robot_file, plan):
    result = run_sweep(plan(robot_file, "elbow.mode=3,6"))
    assert len(result.rows) == 2
    assert result.rows[0][2] != result.rows[1][2]


def test_metrics_are_those_of_the_trajectory(robot_file, plan):
    result = run_sweep(plan(robot_file, "elbow.k1=0.0019", duration=3.0))
    row = dict(zip(result.columns, result.rows[0], strict=True))
    assert row["elbow/min"] <= row["elbow/final"] <= row["elbow/max"]
    assert row["elbow/final_error"] == pytest.approx(0.5 - row["elbow/final"])
    assert 0.0 < row["elbow/settling_time"] < 3.0
    assert row["diverged"] is False


def test_a_simulation_that_diverges_is_marked_and_the_others_go_on(robot_file, plan):
    # 200 N m/rad on 1.7e-3 kg m^2 is beyond the bound at 20 ms; 0.0019 N m springs are not.
    result = run_sweep(plan(robot_file, "elbow.k1=0.0019,500", duration=2.0, timestep=0.02))
    marks = result.column("diverged")
    speeds = result.column("elbow/peak_velocity")
    assert not marks[0]
    assert marks[1] or speeds[1] > 10.0 * speeds[0]


def test_processes_give_the_same_table(robot_file, plan):
    p = plan(robot_file, "elbow.k1=0.001:0.003:6", duration=0.05)
    assert run_sweep(p, executor=Executor(processes=2), chunk=3).rows == run_sweep(p).rows


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
def test_wrong_names_fail_before_anything_runs(robot_file, variation, options, message, plan):
    with pytest.raises((PliantError, ModelError), match=message):
        run_sweep(plan(robot_file, variation, **options))


def test_options_of_a_catalogue_robot_are_set_for_all_simulations():
    hanging = run_sweep(SweepPlan(source="qbmove-1dof", variations=(parse_variation("joint.k1=0.0019"),),
                                  settings={"robot.mounting": "hanging"}, duration=0.5))  # fmt: skip
    lying = run_sweep(SweepPlan(source="qbmove-1dof", variations=(parse_variation("joint.k1=0.0019"),), duration=0.5))
    assert hanging.column("joint/final")[0] == pytest.approx(0.0, abs=1e-6)
    assert abs(lying.column("joint/final")[0]) > 0.1
