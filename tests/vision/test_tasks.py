import numpy as np
import pytest

from pliant.camera.conditions import Condition, VisionError
from pliant.vision import SmoothStart, Task, norm_projector, solve, stack

TASK = Task(error=np.array([1.0, -2.0]), interaction=np.array([[1.0, 0.0, 1.0], [0.0, 2.0, 0.0]]))


def test_the_velocity_makes_the_error_fall_with_the_gain():
    np.testing.assert_allclose(TASK.interaction @ solve(TASK, 3.0), -3.0 * TASK.error, atol=1e-14)


def test_stacked_tasks_keep_their_rows_and_weights():
    both = stack(TASK, TASK.rows([1]).weighted(0.5))
    np.testing.assert_array_equal(both.error, [1.0, -2.0, -1.0])
    np.testing.assert_array_equal(both.interaction[2], [0.0, 1.0, 0.0])
    np.testing.assert_allclose(solve(both, 1.0, rank=2), solve(TASK, 1.0), atol=1e-14)


def test_a_weight_of_zero_drops_a_row():
    assert solve(TASK.weighted([1.0, 0.0]), 1.0, rank=1)[1] == 0.0


def test_tasks_that_do_not_fit_are_named():
    for call in (
        lambda: stack(),
        lambda: stack(TASK, Task(error=np.zeros(1), interaction=np.zeros((1, 6)))),
        lambda: Task(error=np.zeros(2), interaction=np.zeros((3, 6))),
        lambda: TASK.through(np.eye(6)),
    ):
        with pytest.raises(VisionError) as e:
            call()
        assert e.value.condition is Condition.SHAPE
    with pytest.raises(VisionError, match="0 to 1"):
        TASK.rows([2])


def test_lost_rank_is_named_with_the_singular_values():
    with pytest.raises(VisionError, match="rank 1; must be 2") as e:
        solve(Task(error=np.ones(2), interaction=np.ones((2, 3))), 1.0)
    assert e.value.condition is Condition.SINGULAR
    with pytest.raises(VisionError, match="rank 0"):
        solve(Task(error=np.ones(2), interaction=np.zeros((2, 3))), 1.0)


def test_the_norm_projector_is_a_projector_of_one_rank_less():
    P = norm_projector(TASK)
    np.testing.assert_allclose(P @ P, P, atol=1e-15)
    assert np.trace(P) == pytest.approx(2.0)
    np.testing.assert_array_equal(norm_projector(Task(error=np.zeros(2), interaction=TASK.interaction)), np.eye(3))


def test_a_smooth_start_begins_at_zero_and_forgets_exponentially():
    smooth = SmoothStart(4.0)
    np.testing.assert_array_equal(smooth([2.0], 1.0), [0.0])
    np.testing.assert_allclose(smooth([3.0], 1.5), [3.0 - 2.0 * np.exp(-2.0)])
    with pytest.raises(VisionError, match=r"t is 0\.5"):
        smooth([3.0], 0.5)
    smooth.reset()
    np.testing.assert_array_equal(smooth([5.0], 9.0), [0.0])
