"""Find experiments, run them and write their reports."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pliant.base.documents.files import writable_folder
from pliant.base.errors import PliantError, nearest, require
from pliant.base.options import describe, parse
from pliant.base.wing import Listed, offers
from pliant.experiments.base import Change, Context, Experiment, Progress, Result, registered_experiments
from pliant.experiments.films import Video, write_film
from pliant.tasks.executor import Executor


def list_experiments() -> list[Experiment]:
    """Return all experiments in the order of their names: those in the packages that wings declare."""
    for offer in offers("experiments"):
        for module in pkgutil.iter_modules(offer.load().__path__):
            if not module.ispkg and not module.name.startswith("_"):
                importlib.import_module(f"{offer.value}.{module.name}")
    return [found for _, found in sorted(registered_experiments().items())]


def listed() -> list[Listed]:
    """Return the experiments as `pliant list` shows them."""
    return [
        Listed(e.name, e.summary, e.options_class, f"pliant reproduce {e.name} --set KEY=VALUE")
        for e in list_experiments()
    ]


def completed() -> tuple[list[str], bool]:
    """Return what completes the arguments of ``pliant reproduce``."""
    return ["all", *(e.name for e in list_experiments())], False


def find_experiment(name: str) -> Experiment:
    """Return an experiment by name.

    Raises:
        PliantError: the experiment does not exist. The message suggests the nearest name.
    """
    file = str(name).replace("-", "_")
    for offer in offers("experiments") if file.isidentifier() and name not in registered_experiments() else []:
        if importlib.util.find_spec(f"{offer.value}.{file}"):
            importlib.import_module(f"{offer.value}.{file}")
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
    options: Mapping[str, object] | None = None,
    curves: str | Path | None = None,
    video: Video | None = None,
    executor: Executor | None = None,
    progress: Callable[[str, float, str], None] | None = None,
    on_result: Callable[[Result], None] | None = None,
) -> list[Result]:
    """Run experiments and write a report of each: ``<output>/<name>.html``, ``.json``, and an index of all reports.

    If an experiment fails, its result has ``error`` set, and the other experiments still run. An experiment with
    changed options runs twice, first with the default options, and `Result.changes` has the verdicts that differ.
    The options listed in ``SCOPE`` of the options class select what is examined, such as the robot. They are the same
    in both runs, and if only these are changed, the experiment runs once.

    Args:
        names: names of experiments, or "all".
        output: folder of the reports, created if it does not exist.
        quick: run the short versions.
        seed: seed of all random numbers.
        options: changed options by name: "friction" for every chosen experiment that has it, "box.friction" for one.
        curves: folder of measured curves, ``<curves>/<name>/<place>.csv``, see `pliant.experiments.curves`.
        video: format and settings of films; None writes no films.
        executor: where experiments of many simulations run them; None: on all cores, short versions in this process.
        progress: called with the name of the experiment, the completed fraction, 0 to 1, and a text.
        on_result: called with each result as soon as its report is written.

    Returns:
        One result for each experiment, in the order of ``names``.

    Raises:
        PliantError: before any experiment runs, if a name or an option is unknown, an experiment refuses its options
            (`Experiment.check`), the folder cannot be written, films are requested of a named experiment that has
            none, the films of an experiment do not have the camera, or an executor is given and no experiment uses it.
    """
    from pliant.experiments.report import write_index, write_report

    chosen = _chosen([names] if isinstance(names, str) else list(names), video)
    if executor is not None and not any(found.uses_executor for found in chosen.values()):
        raise PliantError(
            "processes and a cluster have no effect: none of these experiments runs many simulations; omit them",
            field="processes",
        )
    settings = _settings(chosen, options or {})
    if seed < 0:
        raise PliantError(f"seed is {seed}; must be a whole number >= 0", field="seed")
    if curves is not None and not Path(curves).is_dir():
        raise PliantError(f"the folder of curves {str(curves)!r} does not exist", field="curves")
    _check_options(chosen, settings, None if video is None else video.camera)
    folder = writable_folder(output)
    results = []
    for found in chosen.values():
        context = Context(
            output=writable_folder(folder / found.name),
            quick=quick,
            seed=seed,
            executor=executor or Executor(processes=1 if quick else 0),
            report=None if progress is None else _reporter(progress, found.name),
            curves=None if curves is None else Path(curves) / found.name,
        )
        context.progress(0.0, "starting")
        result = _run_and_compare(found, context, settings[found.name])
        if video is not None:
            film_experiment(found, context, settings[found.name], result, video)
        write_report(result, folder)
        write_index(folder)
        context.progress(1.0, "done")
        results.append(result)
        if on_result is not None:
            on_result(result)
    return results


def _chosen(wanted: Sequence[str], video: Video | None) -> dict[str, Experiment]:
    """Return the named experiments, each once; refuse films of those that are named and have none."""
    if not wanted:
        raise PliantError(
            "no experiment is named; valid names: 'all' or " + ", ".join(e.name for e in list_experiments())
        )
    for package in ("matplotlib", "scipy"):
        require(package, extra="reproduce", purpose="reproducing published results")
    chosen: dict[str, Experiment] = {}
    for name in wanted:
        for found in list_experiments() if name == "all" else [find_experiment(name)]:
            chosen.setdefault(found.name, found)
    named = [found for name, found in chosen.items() if name in wanted]
    still = [f"{found.name} has no film: {found.films}" for found in named if isinstance(found.films, str)]
    if video is not None and still:
        raise PliantError("; ".join([*still, "name it without --video"]), field="video")
    return chosen


def _check_options(chosen: Mapping[str, Experiment], settings: Mapping[str, object], camera: str | None) -> None:
    """Let experiments refuse their options, and check that their films have the camera, if one is named."""
    for found in chosen.values():
        if found.check is not None:
            found.check(settings[found.name])
    for found in chosen.values() if camera else ():
        check_film_camera(found, camera)


def _run_and_compare(found: Experiment, context: Context, options: object) -> Result:
    """Run an experiment; with changed options run it with the default ones first, and compare the verdicts."""
    scope = {name: getattr(options, name) for name in getattr(found.options_class, "SCOPE", ())}
    default = found.options_class(**scope)
    if options == default:
        return _run(found, context, default)
    report = context.report
    with tempfile.TemporaryDirectory(prefix="pliant-") as scratch:
        first = replace(context, output=Path(scratch), report=_part(report, 0.0, 0.5, "defaults"))
        before = _run(found, first, default)
    result = _run(found, replace(context, report=_part(report, 0.5, 1.0, "")), options)
    result.changes = changed_verdicts(before, result)
    return result


def check_film_camera(found: Experiment, camera: str) -> None:
    """Check that the films of an experiment have a camera; experiments without films accept any camera.

    Args:
        found: the experiment.
        camera: name of a camera, or AZIMUTH,ELEVATION[,DISTANCE].

    Raises:
        PliantError: the films have no camera with this name. The message lists the cameras that exist.
    """
    from pliant.films.process import view_angles

    if isinstance(found.films, str) or camera in found.cameras or view_angles(camera) is not None:
        return
    valid = f"{nearest(camera, found.cameras)}, or" if found.cameras else "they have none; must be"
    raise PliantError(
        f"--video-camera: the films of {found.name!r} have no camera {camera!r}; {valid} AZIMUTH,ELEVATION[,DISTANCE]",
        field="video-camera",
    )


def film_experiment(found: Experiment, context: Context, options: object, result: Result, video: Video) -> None:
    """Write the films of an experiment and add them to its result, or the reason why there are none.

    Args:
        found: the experiment.
        context: context of its run.
        options: options of its run.
        result: result of its run, which is extended.
        video: format and settings of the films.
    """
    if isinstance(found.films, str):
        result.no_film = found.films
        return
    try:
        films = found.films(context, options)
    except PliantError as error:
        result.no_film = str(error)
        return
    except Exception as error:  # the verdicts must not be lost with a film
        result.no_film = f"{type(error).__name__}: {error}"
        return
    result.films = [write_film(film, context.output, video, context.progress) for film in films]
    faults = [f"{film.name}: {film.fault}" for film in result.films if film.fault]
    result.no_film = "; ".join(faults)


def changed_verdicts(before: Result, after: Result) -> list[Change]:
    """Return the statements and checks whose verdict differs between two runs of an experiment.

    A statement or check that exists in only one of the runs has the verdict "absent" in the other.
    """
    found: list[dict[str, tuple[str, str]]] = []
    for result in (before, after):
        entries = {s.what: (str(s.verdict), s.found) for s in result.statements}
        entries |= {
            t.name: ("pass" if t.passed else "fail", "" if t.measured is None else f"{t.measured:.6g} {t.unit}".strip())
            for t in result.targets
        }
        if result.error:
            entries["the run"] = ("not finished", result.error)
        elif before.error or after.error:
            entries["the run"] = ("finished", "")
        found.append(entries)
    absent = ("absent", "")
    old, new = found
    return [
        Change(
            name=name,
            before=old.get(name, absent)[0],
            after=new.get(name, absent)[0],
            found_before=old.get(name, absent)[1],
            found=new.get(name, absent)[1],
        )
        for name in dict.fromkeys([*old, *new])
        if old.get(name, absent)[0] != new.get(name, absent)[0]
    ]


def _run(found: Experiment, context: Context, options: object) -> Result:
    """Run one experiment; a fault becomes the ``error`` of its result."""
    from pliant.engine.guard import dumps_into  # listing experiments must not load the physics

    start = time.perf_counter()
    try:
        with dumps_into(context.output):
            result = found.run(context, options)
    except PliantError as error:
        result = found.stamp(Result(error=str(error)), context, options)
    except Exception as error:  # a fault in one experiment must not lose the others
        text = "".join(traceback.format_exception(error, limit=-6))
        result = found.stamp(Result(error=f"{type(error).__name__}: {error}", notes=[text]), context, options)
    result.duration = time.perf_counter() - start
    return result


def _settings(chosen: Mapping[str, Experiment], options: Mapping[str, object]) -> dict[str, object]:
    """Return an instance of each experiment's options; "name.key" is for one experiment, "key" for all that have it."""
    names = {name: [info.name for info in describe(found.options_class)] for name, found in chosen.items()}
    given: dict[str, dict[str, object]] = {name: {} for name in chosen}
    for key, value in options.items():
        head, dot, rest = str(key).rpartition(".")
        owners = [name for name in chosen if rest in names[name] and (not dot or head == name)]
        if dot and head not in chosen and any(head == found.name for found in list_experiments()):
            raise PliantError(
                f"{str(key)!r} is an option of {head}, which does not run; also name it after {', '.join(chosen)}",
                field=str(key),
            )
        if not owners:
            known = sorted({f"{head}.{n}" for n in names[head]} if head in chosen else set().union(*names.values()))
            which = head if head in chosen else ", ".join(chosen)
            raise PliantError(f"{which}: no option {str(key)!r}; {nearest(str(key), known, limit=40)}", field=str(key))
        for name in owners:
            given[name][rest] = value
    return {name: parse(found.options_class, given[name], where=f"{name}: ") for name, found in chosen.items()}


def _part(report: Progress | None, low: float, high: float, note: str) -> Progress | None:
    """Return a receiver of progress for a part of the whole."""
    if report is None:
        return None
    return lambda fraction, text: report(low + (high - low) * fraction, f"{note}: {text}" if note else text)


def _reporter(progress: Callable[[str, float, str], None], name: str) -> Progress:
    return lambda fraction, text: progress(name, fraction, text)
