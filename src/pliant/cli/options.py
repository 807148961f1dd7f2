"""Options that several commands have, and how their values are read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from pliant.errors import PliantError

__all__ = [
    "Bridges",
    "Debug",
    "Imports",
    "Json",
    "OnTimeout",
    "Overwrite",
    "Packages",
    "Plot",
    "RealTimeFactor",
    "Realtime",
    "Record",
    "Settings",
    "SyncTimeout",
    "View",
    "ViewPort",
    "assignments",
    "import_modules",
    "load_robot",
    "make_bridge",
]

Json = Annotated[bool, Parameter(name="--json", negative=(), help="Print one JSON object instead of tables.")]
Debug = Annotated[bool, Parameter(name="--debug", negative=(), help="Show the traceback of an error.")]
Settings = Annotated[
    list[str],
    Parameter(
        name="--set",
        help="A parameter, PATH=VALUE, such as elbow.k1=0.002 or option.timestep=0.0005; repeat.",
        negative=(),
        consume_multiple=False,
    ),
]
Imports = Annotated[
    list[str],
    Parameter(
        name="--import",
        negative=(),
        consume_multiple=False,
        help="Python file or module with laws, robots or experiments of your own; repeat.",
    ),
]
Packages = Annotated[
    list[Path], Parameter(name="--package-path", negative=(), consume_multiple=False, help="Folder with ROS packages.")
]

# What `run` and `cpr run` have alike.
Bridges = Annotated[
    list[str],
    Parameter(negative=(), consume_multiple=False, help="Serve an interface: NAME or NAME:KEY=VALUE,...; repeat."),
]
Record = Annotated[Path | None, Parameter(help="Write a recording (.mcap).")]
Overwrite = Annotated[bool, Parameter(negative=(), help="Replace a recording that exists.")]
Plot = Annotated[Path | None, Parameter(help="Draw the recorded signals (.png, .svg, .pdf).")]
View = Annotated[bool, Parameter(negative=(), help="Show the simulation in the browser.")]
ViewPort = Annotated[
    int | None, Parameter(help="Port of the page; without it, or with 0, the first free one from 8080 on.")
]
RealTimeFactor = Annotated[
    float | None,
    Parameter(
        help="Simulated seconds per wall second; default: as fast as possible, 1 with a bridge that does not wait."
    ),
]
SyncTimeout = Annotated[
    float | None,
    Parameter(help="Longest wait for the answer of a bridge in lock-step [s of wall time]; default 5."),
]
OnTimeout = Annotated[
    str | None,
    Parameter(
        help="What happens then: error (default) ends with an error, halt ends the run and keeps its results, "
        "hold goes on with the last command."
    ),
]
Realtime = Annotated[
    bool,
    Parameter(negative=(), help="Ask for real-time scheduling (SCHED_FIFO) of the loop; needs the right to it."),
]


FORMS = {"--reference": "JOINT/COMMAND=VALUE", "--column": "QUANTITY=COLUMN", "--unit": "QUANTITY=UNIT"}


def assignments(items: list[str], option: str = "--set") -> dict[str, str]:
    out: dict[str, str] = {}
    for item in items:
        path, eq, value = item.partition("=")
        if not eq or not path.strip() or not value.strip():
            form = FORMS.get(option, "PATH=VALUE")
            raise PliantError(f"{option} {item!r}; valid: {option} {form}", field=option)
        out[path.strip()] = value.strip()
    return out


def import_modules(names: list[str]) -> None:
    if names:
        from pliant.plugins import import_user_module

        for name in names:
            import_user_module(name)


def load_robot(
    source: str, settings: list[str], timestep: float | None, packages: list[Path], manager: Path | None = None
):
    from pliant.loading import load

    for folder in packages:
        if not folder.is_dir():
            raise PliantError("--package-path: there is no such folder", file=folder, field="package-path")
    assigned = assignments(settings)
    options = {p.removeprefix("robot."): v for p, v in assigned.items() if p.startswith("robot.")}
    robot = load(source, timestep=timestep, manager=manager, package_paths=packages, options=options)
    robot.update({p: v for p, v in assigned.items() if not p.startswith("robot.")})
    return robot


def make_bridge(name: str, robot: Any) -> Any:
    from pliant import bridges

    return bridges.make_bridge(name, robot)
