"""Mutations of experiments: a broken cause, and the targets whose result it must turn around.

Each experiment has a file in ``tests/papers/mutations`` with a list ``MUTATIONS``; the file is named as the module
of the experiment. `tests/papers/test_mutations.py` runs them, and checks that each target occurs in one.
"""

from __future__ import annotations

import dataclasses
import fcntl
import fnmatch
import functools
import pickle
import runpy
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pliant.base.options import parse
from pliant.experiments import Context, Result, Statement, Target, find_experiment
from pliant.experiments.curves import draw_curves

FOLDER = Path(__file__).resolve().parents[1] / "papers" / "mutations"
LONG = frozenset({
    "cpr-dynamics", "cpr-planar", "franka-dual-arm", "franka-dynamic-servo", "franka-visual-servo", "ilc", "maker-pro",
    "softfoot-bench", "softfoot-standing", "yarp-impedance",
})  # fmt: skip
"""Experiments whose quick version takes more than 4 s: it runs at night, that of others of the same robots by day."""
SHARED: Path | None = None
"""Folder of the results of `quick` that all processes of a session of tests share; None keeps them in each process."""


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
    missing: Callable[[], str] = str
    """Returns which optional part of the targets is not installed; "" if none."""

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


@dataclass(frozen=True)
class Run:
    """A run of an experiment's quick version with the default options."""

    result: Result
    """What it returned; without the pictures of its figures."""
    progress: list[float]
    """The fractions that it reported."""
    curves: list[str]
    """The places at which it draws measured curves."""


def quick(experiment: str) -> Result:
    """Return the result of `quick_run`."""
    return quick_run(experiment).result


@functools.cache
def quick_run(experiment: str) -> Run:
    """Return the run of an experiment's quick version, one in a session of tests: of the process that asks first."""
    if SHARED is None:
        return _run(experiment)
    file = SHARED / f"{experiment}.pickle"
    with file.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not file.exists():
            file.write_bytes(pickle.dumps(_run(experiment)))
        return pickle.loads(file.read_bytes())


def _run(experiment: str) -> Run:
    progress: list[float] = []
    curves: list[str] = []
    found = find_experiment(experiment)

    def draw(context: Context, axis: Any, place: str) -> None:
        assert axis.plot
        curves.append(place)
        draw_curves(context, axis, place)

    with tempfile.TemporaryDirectory() as scratch, pytest.MonkeyPatch.context() as patch:
        patch.setattr("pliant.experiments.panels.draw_curves", draw)
        context = Context(output=Path(scratch), quick=True, report=lambda fraction, text: progress.append(fraction))
        result = found.run(context)
    result.figures = [dataclasses.replace(figure, figure=b"") for figure in result.figures]
    return Run(result, progress, curves)


def mutations() -> list[Mutation]:
    """Return the mutations of all files."""
    return [m for path in sorted(FOLDER.glob("*.py")) for m in runpy.run_path(str(path))["MUTATIONS"]]
