"""Mutations of experiments: a broken cause, and the targets whose result it must turn around.

Each experiment has a file in ``tests/experiments/mutations`` with a list ``MUTATIONS``; the file is named as the module
of the experiment. `tests/experiments/test_mutations.py` runs them, and checks that each target occurs in one.
"""

from __future__ import annotations

import fnmatch
import functools
import runpy
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pliant.experiments import Context, Result, Statement, Target, find_experiment
from pliant.options import parse

FOLDER = Path(__file__).resolve().parents[1] / "experiments" / "mutations"


@dataclass(frozen=True, kw_only=True)
class Mutation:
    """One broken cause."""

    experiment: str
    """Name of the experiment."""
    name: str
    """What is broken, such as "the joint has no friction"; unique in the experiment."""
    turns: tuple[str, ...]
    """Names of targets, those of statements included, whose result changes; with wildcards as in file names, where
    "[" stands for itself. Every target that matches must change."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Changed options of the experiment."""
    patch: Callable[[pytest.MonkeyPatch], None] | None = None
    """Breaks a law, a gain, a constant of the module."""
    run: Callable[[Context, Any], Iterable[Target | Statement]] | None = None
    """A part of the experiment that gives the targets named in ``turns``; None runs the whole quick version. It
    is called with a context and the options."""

    def results(self, monkeypatch: pytest.MonkeyPatch) -> dict[str, bool]:
        """Run the broken experiment; whether each target is met, by name."""
        found = find_experiment(self.experiment)
        options = parse(found.options_class, self.options)
        with tempfile.TemporaryDirectory() as scratch:
            context = Context(output=Path(scratch), quick=True)
            if self.patch is not None:
                self.patch(monkeypatch)
            if self.run is None:
                return passed(found.run(context, options).every_target)
            given = list(self.run(context, options))
        targets = [t for item in given for t in (item.targets if isinstance(item, Statement) else (item,))]
        return passed(targets)


def passed(targets: Iterable[Target]) -> dict[str, bool]:
    """Return whether each target is met, by name."""
    return {target.name: target.passed for target in targets}


def matching(pattern: str, names: Iterable[str]) -> list[str]:
    """Return the names that a pattern of `Mutation.turns` matches."""
    literal = pattern.replace("[", "[[]")
    return [name for name in names if fnmatch.fnmatchcase(name, literal)]


@functools.cache
def quick(experiment: str) -> Result:
    """Return the result of an experiment's quick version with the default options, run once in a process."""
    with tempfile.TemporaryDirectory() as scratch:
        return find_experiment(experiment).run(Context(output=Path(scratch), quick=True))


def mutations() -> list[Mutation]:
    """Return the mutations of all files."""
    return [m for path in sorted(FOLDER.glob("*.py")) for m in runpy.run_path(str(path))["MUTATIONS"]]
