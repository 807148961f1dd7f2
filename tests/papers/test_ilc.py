"""The learning experiment of section 4.3."""

import numpy as np
import pytest
from mutations import quick

from pliant.control import IterationRecord, LearningResult
from pliant.experiments import Verdict
from pliant.experiments.pictures import frames
from pliant.model.snapshots import snapshots
from pliant.papers.ilc import (
    REFERENCE_ERRORS,
    IlcOptions,
    Transfer,
    judge_learning,
    judge_transfer,
    learn,
    make_plant,
    motion,
)

ARM = IlcOptions().robot


def test_two_runs_with_the_same_input_are_equal():
    plant = make_plant(ARM, 2e-3)
    first = plant(motion(2e-3))
    np.testing.assert_array_equal(plant(motion(2e-3)), first)
    assert first[0].tolist() == [0.0, 0.0]


def test_the_first_run_ends_where_springs_and_gravity_balance():
    options = {**ARM, "friction": 0.0, "mode": 3}
    end = make_plant(options, 2e-3)(motion(2e-3))[-1]
    from pliant.joints.qbmove import spring_law

    def torque(name, q, eq):
        law = spring_law(name)
        return type(law).torques(q, *law.map_references(eq, 0.2), law.parameters())[0]

    q1, q12 = end[0], end[0] + end[1]
    load_2 = 1.0 * 9.81 * 0.04 * np.sin(q12)
    load_1 = load_2 + 9.81 * (0.04 + 0.085) * np.sin(q1)
    assert torque("identified-1", end[0], 0.8) == pytest.approx(load_1, abs=2e-3)
    assert torque("identified-2", end[1], 0.8) == pytest.approx(load_2, abs=2e-3)


def test_two_learning_steps_give_the_published_kind_of_progress():
    result = learn(max_runs=3)
    np.testing.assert_allclose(result.max_errors[:, 0], REFERENCE_ERRORS[:3], atol=1e-3)
    assert result.monotone
    assert not result.converged


def stopped_after(runs):
    """A learning that needs so many runs, its error falling in each."""
    errors = np.linspace(0.5, 0.07, runs)
    records = tuple(
        IterationRecord(run=n, command=np.zeros((2, 2)), response=np.zeros((2, 2)), error=np.full((2, 2), e), gain=0.5)
        for n, e in enumerate(errors, 1)
    )
    return LearningResult(records=records, converged=True, tolerance=0.08)


@pytest.mark.parametrize(("runs", "verdict"), [(6, "not reproduced"), (11, "consistent"), (16, "not reproduced")])
def test_neither_a_fast_nor_a_slow_learning_is_the_published_one(runs, verdict):
    judged = judge_learning(stopped_after(runs))
    assert judged[0].verdict == verdict
    # The time saved is the number of runs again: it is not judged, so a slow learning gains nothing by it.
    assert judged[2].verdict is Verdict.NOT_JUDGED


def test_statements_about_the_real_arm_are_not_judged_on_simulated_ones():
    error = np.zeros((2000, 2))
    for begin, end, text in ((6, 8, "1 of 1 simulated arms"), (0, 0, "None of 1 simulated arms")):
        error[:] = (0.0, 0.09)
        error[100 * begin : 100 * end, 0] = 0.1
        judged = judge_transfer([Transfer(stiffness=1.0, mass=1.0, friction=1.0, error=error, timestep=0.01)])
        assert [s.verdict for s in judged] == [Verdict.NOT_JUDGED] * 3
        assert "largest error is 0.090 rad" in judged[0].found
        assert text in judged[1].found


@pytest.mark.nightly
@pytest.mark.slow
def test_the_experiment_passes():
    result = quick("ilc")
    assert [t.name for t in result.failures] == []
    assert result.statements[0].targets[0].measured == 11
    assert result.verdicts == {"reproduced": 0, "consistent": 2, "not reproduced": 0, "not judged": 4}
    assert {t.measured for t in result.targets if t.name.startswith("learned input on an arm equal")} == {0.0}
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
    else:
        assert reason
    scene = (model, [[0.0], [1.2]], {"width": 64, "height": 48})
    drawn = frames("two", "Two poses.", [scene], ["row"], ["a", "b"])
    assert [axis.get_title("left") for axis in drawn.figure.axes] == ["a", "b"] if pictures else drawn == reason
    monkeypatch.setenv("MUJOCO_GL", "nothing")
    pictures, reason = snapshots(model, [[0.0]])
    assert pictures == []
    assert reason.startswith("nothing: ")
    assert frames("two", "Two poses.", [scene], ["row"], ["a", "b"]) == reason
