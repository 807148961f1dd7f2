"""Cases of a test that run by day, and those that only `make nightly` runs.

CONTRIBUTING.md lists the tests whose cases are split, and what each half has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain, combinations
from typing import TypeVar

import pytest
from _pytest.mark import ParameterSet
from _pytest.mark.expression import Expression

T = TypeVar("T")

SIBLINGS = {
    "3PR": "2PR",
    "3RR": "2RR",
    "Stewart_Gough_6EFR": "3ER",
    "Stewart_Gough_6FFR_Till": "3ER",
    "Stewart_Gough_6PFF": "Stewart_Gough_6PFR",
    "Stewart_Gough_6PFS": "Stewart_Gough_6PFR",
    "fp3": "fr3",
    "fr3-tdcr": "tdcr",
    "fr3v2": "fr3",
    "fr3-workcell": "franka-dual",
    "franka": "fr3",
    "franka-torso": "franka-dual",
    "tdcr-v4": "tdcr",
    "tdcr-v6": "tdcr",
}
"""Robots of the catalogue that sweeps over all of it leave to the night, and the robot of the same kind that stays."""


night = True
"""Whether nightly cases are collected; `tests/conftest.py` sets it. Where they are left out, thousands are not made."""


def selects_nightly(expression: str, markers: Iterable[str]) -> bool:
    """Return whether `pytest -m EXPRESSION` selects a nightly test that has any of the other markers."""
    if not expression:
        return True
    others = [name for name in markers if name != "nightly"]
    sets = chain.from_iterable(combinations(others, n) for n in range(len(others) + 1))
    chosen = Expression.compile(expression)
    return any(chosen.evaluate(lambda name, given=("nightly", *some), **_: name in given) for some in sets)


def by_day(cases: Iterable[T], day: Callable[[T], bool]) -> list[T | ParameterSet]:
    """Return the cases of a parametrised test; those that are not of the day are marked `nightly`, or left out.

    Args:
        cases: a value each, or a tuple with the values of all parameters.
        day: whether a case is one of the day.
    """
    return [
        case if day(case) else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.nightly)
        for case in cases
        if night or day(case)
    ]


def robots_by_day(names: Iterable[str]) -> list[str | ParameterSet]:
    """Return names of robots; those of `SIBLINGS` are marked `nightly`."""
    return by_day(names, lambda name: name not in SIBLINGS)
