"""The cross-entropy search finds what a pencil finds, and refuses what it cannot use."""

import numpy as np
import pytest

from pliant.base.errors import PliantError
from pliant.learn.envs.search import CrossEntropy


def test_the_search_finds_the_top_of_a_hill_where_the_pencil_puts_it():
    search = CrossEntropy(3, 32, np.random.default_rng(1), floor=0.005)
    top = np.array([0.5, -1.0, 0.2])
    for _ in range(60):
        draws = search.ask()
        search.tell(-np.sum((draws - top) ** 2, axis=1))
    assert search.mean == pytest.approx(top, abs=0.03)


def test_equal_generators_give_equal_searches():
    first, second = (CrossEntropy(2, 8, np.random.default_rng(4)) for _ in range(2))
    assert (first.ask() == second.ask()).all()


def test_the_first_draw_of_a_round_is_the_centre():
    search = CrossEntropy(2, 8, np.random.default_rng(4))
    search.ask()
    search.tell(np.arange(8.0))
    assert (search.ask()[0] == search.mean).all()


@pytest.mark.parametrize(
    "arguments",
    [
        {"size": 0},
        {"population": 4},
        {"spread": 0.0},
        {"spread": float("nan")},
        {"spread": [1.0, 0.0]},
        {"spread": [1.0] * 3},
        {"floor": -1.0},
    ],
)
def test_a_search_that_cannot_be_is_refused(arguments):
    with pytest.raises(PliantError, match="must be"):
        CrossEntropy(**({"size": 2, "population": 8, "rng": np.random.default_rng(1)} | arguments))


def test_scores_that_do_not_fit_are_refused():
    search = CrossEntropy(2, 8, np.random.default_rng(1))
    with pytest.raises(PliantError, match="before ask"):
        search.tell(np.zeros(8))
    search.ask()
    for scores in (np.zeros(7), np.full(8, np.nan)):
        with pytest.raises(PliantError, match=r"must be \(8,\), without NaN"):
            search.tell(scores)
