"""Find experiments, run them and write their reports."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
import pkgutil
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pliant.errors import PliantError, nearest
from pliant.experiments.base import Context, Experiment, Progress, Result, registered_experiments

__all__ = ["ENTRY_POINTS", "find_experiment", "list_experiments", "reproduce", "writable_folder"]

ENTRY_POINTS = "pliant.experiments"
"""Entry point group of experiments from other packages: each entry names a module or an experiment."""


def list_experiments() -> list[Experiment]:
    """Return all experiments, by name, those of other packages included."""
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        if not module.name.startswith("_"):
            importlib.import_module(f"pliant.experiments.{module.name}")
    for entry in importlib.metadata.entry_points(group=ENTRY_POINTS):
        entry.load()
    return [found for _, found in sorted(registered_experiments().items())]


def find_experiment(name: str) -> Experiment:
    """Return an experiment.

    Raises:
        PliantError: there is none of that name; the message has the nearest.
    """
    module = f"pliant.experiments.{str(name).replace('-', '_')}"
    known = name in registered_experiments()
    if not known and str(name).replace("-", "_").isidentifier() and importlib.util.find_spec(module):
        importlib.import_module(module)
    if name not in registered_experiments():
        list_experiments()
    found = registered_experiments()
    if name not in found:
        raise PliantError(f"there is no experiment {name!r}; {nearest(name, [*found, 'all'])}", field=str(name))
    return found[name]


def reproduce(
    names: str | Sequence[str] = "all",
    output: str | Path = "reports",
    *,
    quick: bool = False,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    progress: Callable[[str, float, str], None] | None = None,
    on_result: Callable[[Result], None] | None = None,
) -> list[Result]:
    """Run experiments and write a report of each: ``<output>/<name>.html``, ``.json``, and an index of all.

    An experiment that breaks gives a result with ``error`` set, and the others still run.

    Args:
        names: names of experiments; "all" for every one.
        output: folder of the reports; made where it does not exist.
        quick: run the short versions.
        seed: seed for everything random.
        options: changed options of the robots, by name.
        progress: called with the experiment's name, the fraction done and a text.
        on_result: called with each result as soon as its report is written.

    Returns:
        One result an experiment, in the order asked for.

    Raises:
        PliantError: an unknown name, or a folder that cannot be written; nothing has been run then.
    """
    from pliant.experiments.report import write_index, write_report

    wanted = [names] if isinstance(names, str) else list(names)
    if not wanted:
        raise PliantError(
            "no experiment is named; valid names: 'all' or " + ", ".join(e.name for e in list_experiments())
        )
    chosen: dict[str, Experiment] = {}
    for name in wanted:
        for found in list_experiments() if name == "all" else [find_experiment(name)]:
            chosen.setdefault(found.name, found)
    folder = writable_folder(output)
    results = []
    for found in chosen.values():
        report = None if progress is None else _reporter(progress, found.name)
        context = Context(
            output=writable_folder(folder / found.name), quick=quick, seed=seed, report=report, options=options or {}
        )
        context.progress(0.0, "starting")
        start = time.perf_counter()
        try:
            result = found.run(context)
        except PliantError as error:
            result = found.stamp(Result(error=str(error)), context)
        except Exception as error:  # a fault in one experiment must not lose the others
            text = "".join(traceback.format_exception(error, limit=-6))
            result = found.stamp(Result(error=f"{type(error).__name__}: {error}", notes=[text]), context)
        result.duration = time.perf_counter() - start
        write_report(result, folder)
        write_index(folder)
        context.progress(1.0, "done")
        results.append(result)
        if on_result is not None:
            on_result(result)
    return results


def _reporter(progress: Callable[[str, float, str], None], name: str) -> Progress:
    return lambda fraction, text: progress(name, fraction, text)


def writable_folder(path: str | Path) -> Path:
    """Return a folder that exists and can be written to, made where it was missing.

    Raises:
        PliantError: it cannot be made, is a file, or cannot be written to; the message names it.
    """
    folder = Path(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".pliant-{os.getpid()}"
        probe.write_bytes(b"")
        probe.unlink()
    except FileExistsError:
        raise PliantError(
            f"the output folder {str(folder)!r} is a file; give another --output", field="output"
        ) from None
    except OSError as error:
        raise PliantError(
            f"the output folder {str(folder)!r} cannot be written: {error.strerror}; give another --output",
            field="output",
        ) from None
    return folder
