"""Throws with a budget of motor work."""

import numpy as np
import pytest

from pliant.learn.compliance.tasks.throw import BUDGET, PARAMETERS, TASK, evaluate, landing

RULE = np.array([[p.rule for p in PARAMETERS]])


def changed(**values):
    return np.array([[values.get(p.name, p.rule) for p in PARAMETERS]])


def test_the_flight_is_a_parabola():
    place, velocity = np.array([[0.1, 0.0, 0.4]]), np.array([[2.0, 0.0, 1.0]])
    (x,) = landing(place, velocity)
    t = (x - 0.1) / 2.0
    assert 0.4 + t - 0.5 * 9.81 * t**2 == pytest.approx(0.0, abs=1e-12)


def test_a_throw_ends_when_the_budget_is_used_whatever_the_joint():
    rows = np.concatenate([RULE, changed(springs=20.0, preset_back=0.6, preset_ahead=0.6, back_1=-1.5, back_2=-1.5)])
    found = evaluate(rows, [3, 4])
    # 4 ms at the largest power of four motors, 6 N m and 6 rad/s, may be added.
    assert (found["work"] <= BUDGET + 0.004 * 4 * 36.0).all()
    assert found["exhausted"][1].all()


def test_the_world_of_a_throw_follows_from_its_seed_alone():
    both = evaluate(np.concatenate([RULE, changed(release=0.2)]), [5, 6])["distance"]
    one = evaluate(changed(release=0.2), [6])["distance"]
    assert both[1, 1] == one[0, 0]
    assert both[1, 0] != both[1, 1]


def test_a_throw_that_is_released_before_it_moves_falls_below_the_hand():
    still = changed(back_1=0.0, back_2=0.0, ahead_1=0.0, ahead_2=0.0)
    assert evaluate(still, [7])["distance"][0, 0] == pytest.approx(0.0, abs=0.02)


def test_only_the_stiff_joint_has_other_springs():
    for method in TASK.methods:
        values = dict(zip((p.name for p in PARAMETERS), TASK.values(method, np.full((1, 20), 0.5))[0], strict=True))
        assert (values["springs"] > 1.0) == (method.name == "stiff")
