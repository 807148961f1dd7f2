"""A mass that falls onto a hand."""

import dataclasses

import numpy as np
import pytest
from audited import AuditedEngine

from pliant.learn.compliance import Budget, Claim, run_benchmark
from pliant.learn.compliance.episodes import Episodes
from pliant.learn.compliance.task import register_task
from pliant.learn.compliance.tasks.catch import LEVEL, PARAMETERS, TASK, build_catcher, evaluate


def changed(**values):
    return [values.get(p.name, p.rule) for p in PARAMETERS]


def test_a_stiff_joint_gives_way_less_and_its_motors_push_more():
    soft = changed(preset_after=0.1)
    stiff = changed(springs=20.0, preset_before=0.6, preset_after=0.6)
    found = evaluate(np.array([soft, stiff]), [1, 2])
    assert (found["deflection"][0] > 2.0 * found["deflection"][1]).all()
    assert (found["peak_torque"][0] < found["peak_torque"][1]).all()


def test_a_joint_that_lets_the_mass_fall_has_the_error_of_a_hanging_link():
    found = evaluate(np.array([changed(give=-0.6, give_time=0.4, lift=0.0, preset_before=0.0, preset_after=0.0)]), [8])
    assert found["error"][0, 0] <= LEVEL
    assert found["cost"][0, 0] > found["peak_torque"][0, 0]


def test_the_power_that_is_summed_is_that_of_the_energy_audit():
    engine = AuditedEngine(build_catcher())
    engine.set_pose({"joint": LEVEL})
    engine.port("joint/reference_1")[:] = LEVEL + 0.3
    work = 0.0
    for _ in range(300):
        engine.step(1)
        work += engine.dt * float(engine.port("joint/motor_power")[0])
    assert abs(work) > 0.05
    assert work == pytest.approx(engine.audit.balance().motors, rel=0.02)  # the audit takes the mean of two velocities


def blind(made):
    """Return `Episodes.__init__` with a plant that ignores presets and springs."""

    def init(self, build, parameters, names, seeds):
        rows = parameters.copy()
        for name, value in (("springs", 1.0), ("preset_before", 0.3), ("preset_after", 0.3)):
            rows[:, list(names).index(name)] = value
        made(self, build, rows, names, seeds)

    return init


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("plant", "verdict"), [("has its stiffness", "better"), ("ignores stiffness", "no difference")]
)
def test_the_soft_joint_is_better_than_the_stiff_one_only_if_the_plant_has_its_stiffness(
    tmp_path, monkeypatch, plant, verdict
):
    if plant == "ignores stiffness":
        monkeypatch.setattr(Episodes, "__init__", blind(Episodes.__init__))
    methods = tuple(TASK.method(name) for name in ("fixed", "stiff"))
    register_task(dataclasses.replace(TASK, name="catch-small", methods=methods, claims=(Claim("fixed", "stiff"),)))
    budget = Budget(runs=9, population=8, rounds=1, episodes=1, held_out=2)  # 9 runs: the fewest that can be judged
    (claim,) = run_benchmark(["catch-small"], tmp_path, budget=budget, seed=2).claims()
    assert claim.verdict == verdict
