"""Options that several commands share, and the parsing of their values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from pliant.base.errors import PliantError

if TYPE_CHECKING:
    from pliant.model import Robot
    from pliant.simulation import Bridge
    from pliant.simulation.replayed import Replayed


def repeated(**options: Any) -> Parameter:
    """Return the parameter of an option that takes one value and may be given again.

    Args:
        options: further arguments of `Parameter`, such as help.
    """
    return Parameter(negative=(), consume_multiple=False, show_default=False, **options)


VIEW_HOST = "127.0.0.1"
"""Address of this machine that a page is served on unless another is named."""
Source = Annotated[str, Parameter(help="A URDF, MJCF, SDF or YAML file, or the name of a catalogue robot.")]
Timestep = Annotated[float | None, Parameter(help="Time step [s].")]
Seed = Annotated[int, Parameter(help="Seed of all randomness.")]
Json = Annotated[bool, Parameter(name="--json", negative=(), help="Print one JSON object instead of tables.")]
Debug = Annotated[bool, Parameter(name="--debug", negative=(), help="Show the traceback of an error.")]
Settings = Annotated[
    tuple[str, ...],
    repeated(
        name="--set",
        help="Set a parameter, PATH=VALUE, such as elbow.k1=0.002 or option.timestep=0.0005; may be repeated.",
    ),
]
References = Annotated[
    tuple[str, ...],
    repeated(
        name="--reference",
        alias="-r",
        help="Constant command from t = 0, DEVICE/COMMAND=VALUE; several numbers with commas; may be repeated.",
    ),
]
Imports = Annotated[
    tuple[str, ...],
    repeated(
        name="--import", help="Python file or module with laws, robots or experiments of your own; may be repeated."
    ),
]
Packages = Annotated[
    tuple[Path, ...], repeated(name="--package-path", help="Folder with ROS packages; may be repeated.")
]

Workers = Annotated[int | None, Parameter(help="Threads; default one per core.")]

FORMS = {"--reference": "JOINT/COMMAND=VALUE", "--column": "QUANTITY=COLUMN", "--unit": "QUANTITY=UNIT"}


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class RobotOptions:
    """How a robot is found and changed."""

    set: Settings = ()
    package_path: Packages = ()
    import_: Imports = ()

    def load(self, source: str, timestep: float | None = None, manager: Path | None = None) -> Robot:
        """Load a robot; modules of the user are imported before, by `import_modules`."""
        return load_robot(source, self.set, timestep, self.package_path, manager)


NO_SETTINGS = RobotOptions()


def option_name(field: str) -> str:
    """Return the command-line name of a field of an options dataclass."""
    return "--" + field.replace("_", "-")


def assignments(items: Iterable[str], option: str = "--set") -> dict[str, str]:
    out: dict[str, str] = {}
    for item in items:
        path, eq, value = item.partition("=")
        if not eq or not path.strip() or not value.strip():
            form = FORMS.get(option, "PATH=VALUE")
            raise PliantError(f"{option} {item!r}; must be {option} {form}", field=option)
        if option != "--set" and path.strip() in out:
            raise PliantError(f"{option} {path.strip()} is given twice", field=option)
        out[path.strip()] = value.strip()
    return out


def import_modules(names: Sequence[str]) -> None:
    if names:
        from pliant.base.plugins import import_user_module

        for name in names:
            import_user_module(name)


def check_bridges(texts: Sequence[str]) -> None:
    """Raise an error for a bridge that does not exist, and for a wrong option of one."""
    if texts:
        from pliant.simulation.bridges import check_bridge

        for text in texts:
            check_bridge(text)


def load_robot(
    source: str,
    settings: Sequence[str],
    timestep: float | None,
    packages: Sequence[Path],
    manager: Path | None = None,
) -> Robot:
    from pliant.robots.loading import load_with_settings

    for folder in packages:
        if not folder.is_dir():
            raise PliantError("--package-path: the folder does not exist", file=folder, field="package-path")
    return load_with_settings(
        source, assignments(settings), timestep=timestep, manager=manager, package_paths=list(packages)
    )


def check_workers(workers: int | None) -> None:
    """Raise an error for a number of threads that is not 1 or more."""
    if workers is not None and workers < 1:
        raise PliantError(f"--workers is {workers}; must be >= 1", field="workers")


def robots_and_files() -> tuple[list[str], bool]:
    """Return what completes an argument that is a robot: names of the catalogue, and files."""
    from pliant.robots import list_robots

    return [name for entry in list_robots() for name in (entry.name, *entry.aliases)], True


def make_bridge(name: str, robot: Robot | Replayed | None) -> Bridge:
    from pliant.simulation import bridges

    return bridges.make_bridge(name, robot)
