"""The learning experiment of section 4.3."""

import numpy as np
import pytest

from pliant.control import IterativeLearning, MinimumJerk
from pliant.experiments import Context
from pliant.experiments._render import snapshots, strip
from pliant.experiments.ilc import ARM, DURATION, GOAL, REFERENCE_ERRORS, learn, make_plant
from pliant.experiments.runner import find_experiment


def motion(step):
    return MinimumJerk(start=(0.0, 0.0), goal=GOAL, duration=DURATION)(
        np.arange(round(DURATION / step)) * step
    ).position


def test_two_runs_with_the_same_input_are_equal():
    plant = make_plant(ARM, 2e-3)
    first = plant(motion(2e-3))
    np.testing.assert_array_equal(plant(motion(2e-3)), first)
    assert first[0].tolist() == [0.0, 0.0]


def test_the_first_run_ends_where_springs_and_gravity_balance():
    options = {**ARM, "friction": 0.0, "mode": 3}
    end = make_plant(options, 2e-3)(motion(2e-3))[-1]
    from pliant.robots.qbmove import spring_law

    def torque(name, q, eq):
        law = spring_law(name)
        return type(law).torques(q, *law.map_references(eq, 0.2), law.parameters())[0]

    q1, q12 = end[0], end[0] + end[1]
    load_2 = 1.0 * 9.81 * 0.04 * np.sin(q12)
    load_1 = load_2 + 9.81 * (0.04 + 0.085) * np.sin(q1)
    assert torque("identified-1", end[0], 0.8) == pytest.approx(load_1, abs=2e-3)
    assert torque("identified-2", end[1], 0.8) == pytest.approx(load_2, abs=2e-3)


def test_two_learning_steps_give_the_published_kind_of_progress():
    result = learn(ARM, 1e-3, IterativeLearning(tolerance=0.08, max_runs=3))
    np.testing.assert_allclose(result.max_errors[:, 0], REFERENCE_ERRORS[:3], atol=1e-3)
    assert result.monotone
    assert not result.converged


@pytest.mark.slow
def test_the_experiment_passes(tmp_path):
    result = find_experiment("ilc").run(Context(output=tmp_path, quick=True))
    assert [t.name for t in result.failures] == []
    assert result.targets[0].measured == 11
    assert {f.name for f in result.figures} >= {"learning", "inputs"}
    assert result.traces["max_error_rad"].shape == (11, 2)


def test_pictures_are_made_or_the_reason_is_told(monkeypatch):
    import mujoco

    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><light pos='0 0 3'/>"
        "<body><joint/><geom size='.5 .1 .1' type='box'/></body></worldbody></mujoco>"
    )
    pictures, reason = snapshots(model, [[0.0], [1.2]], width=64, height=48)
    if pictures:
        assert [p.shape for p in pictures] == [(48, 64, 3)] * 2
        assert np.any(pictures[0] != pictures[1])
        assert strip(pictures, ["row"], ["a", "b"]).axes
    else:
        assert reason
    monkeypatch.setenv("MUJOCO_GL", "nothing")
    pictures, reason = snapshots(model, [[0.0]])
    assert pictures == []
    assert reason.startswith("nothing: ")
