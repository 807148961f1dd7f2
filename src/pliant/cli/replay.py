"""`pliant replay`: look at a recording, or publish it again."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from pliant.cli.options import Debug, Json, make_bridge
from pliant.cli.output import emit, make_console, number, plain
from pliant.errors import PliantError

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["replay"]


def replay(
    recording: Path,
    *,
    speed: Annotated[float, Parameter(help="Recorded seconds per wall second; default: do not wait.")] = math.inf,
    bridge: Annotated[list[str], Parameter(negative=(), consume_multiple=False, help="Publish on a bridge.")] = [],
    export: Annotated[Path | None, Parameter(help="Write the recording as .csv or .npz.")] = None,
    plot: Annotated[Path | None, Parameter(help="Draw the recording (.png, .svg, .pdf).")] = None,
    compare: Annotated[Path | None, Parameter(help="Compare with another recording, number by number.")] = None,
    overwrite: Annotated[bool, Parameter(negative=(), help="Replace an export that exists.")] = False,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Look at a recording: summarise, export, plot, compare, or publish it again.

    Also takes the dump that a diverged simulation leaves (.npz).
    """
    import numpy as np

    from pliant.simulation import read_recording
    from pliant.simulation import replay as replay_samples

    console = make_console(quiet=json)
    if recording.suffix == ".npz":
        return _show_dump(recording, json, console)
    found = read_recording(recording)
    done: dict[str, Any] = {"recording": str(recording), "complete": found.complete, "duration": found.duration}
    if export is not None:
        from pliant.simulation import export as export_recording

        done["export"] = str(export_recording(found, export.suffix.lstrip("."), export, overwrite=overwrite))
    if plot is not None:
        from pliant.simulation import plot_recording

        plot_recording(found, plot)
        done["plot"] = str(plot)
    if bridge:
        bridges = [make_bridge(name, None) for name in bridge]
        count = sum(1 for _ in replay_samples(found, speed=1.0 if math.isinf(speed) else speed, bridges=bridges))
        done["published"] = count
    elif not math.isinf(speed):
        for _ in replay_samples(found, speed=speed):
            pass
    code = 0
    if compare is not None:
        from pliant.simulation import compare as compare_recordings

        differences = compare_recordings(found, compare)
        done["differences"] = [str(d) for d in differences]
        code = 3 if differences else 0
    if json:
        emit(done)
        return code
    from rich.table import Table

    table = Table(box=None)
    for name in ("signal", "samples", "min", "max", "last"):
        table.add_column(name, justify="left" if name == "signal" else "right")
    for name in found:
        values = np.asarray(found[name], dtype=float)
        finite = values[np.isfinite(values)]
        if name.endswith("time") or not finite.size:
            continue
        last = values[-1] if values.ndim == 1 else values[-1][0]
        table.add_row(name, str(len(values)), *(number(float(v)) for v in (finite.min(), finite.max(), last)))
    console.print(table)
    state = "" if found.complete else " (cut off: what was written before is all there)"
    console.print(f"{recording}: {found.duration:g} s{state}")
    for key in ("export", "plot", "published"):
        if key in done:
            console.print(f"{key}: {done[key]}")
    if compare is not None:
        for line in done["differences"]:
            console.print(plain(line))
        console.print("identical" if not done["differences"] else f"{len(done['differences'])} signals differ")
    return code


def _show_dump(path: Path, as_json: bool, console: Console) -> int:
    import numpy as np

    try:
        with np.load(path, allow_pickle=False) as file:
            data = {name: file[name] for name in file.files}
        joints, qvel, qpos, times = (data[name] for name in ("joints", "qvel", "qpos", "time"))
    except (OSError, ValueError, KeyError) as error:
        raise PliantError(f"not a dump of a diverged simulation ({error})", file=path) from None
    if as_json:
        emit({name: values for name, values in data.items() if name != "states"})
        return 0
    from rich.table import Table

    table = Table(title="the last states before the simulation diverged", title_justify="left", box=None)
    for name in ("t \\[s]", *(f"{j} velocity" for j in joints)):
        table.add_column(name, justify="right")
    for i in sorted({*range(0, len(times), max(1, len(times) // 15)), len(times) - 1}):
        table.add_row(f"{times[i]:.6g}", *(number(float(v)) for v in qvel[i]))
    console.print(table)
    console.print(f"{path}: {len(times)} states, {qpos.shape[1]} positions each")
    return 0
