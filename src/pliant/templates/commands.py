"""`pliant new`: write a robot, a law, a bridge or an experiment to start from, with its test."""

from __future__ import annotations

import importlib.util
import keyword
import re
from importlib import resources
from pathlib import Path
from string import Template as Text
from typing import Annotated

from cyclopts import Parameter

from pliant.base.errors import PliantError, nearest
from pliant.base.wing import Template, offers
from pliant.cli.options import Debug, Json
from pliant.cli.output import emit

TEMPLATES = {
    "robot": Template(
        package="pliant.templates",
        files={
            "$name.xml": "robot.xml.txt",
            "$name.yaml": "robot.yaml.txt",
            "test_$module.py": "robot_test.py.txt",
        },
        steps=("pliant view $name.yaml", "python -m pytest test_$module.py"),
    ),
    "law": Template(
        package="pliant.templates",
        files={"$module.py": "law.py.txt", "test_$module.py": "law_test.py.txt"},
        steps=(
            "pliant run sea-1dof --import $module.py --set joint.law=$module -r joint/equilibrium_position=0.3",
            "python -m pytest test_$module.py",
        ),
    ),
    "bridge": Template(
        package="pliant.templates",
        files={"$module.py": "bridge.py.txt", "test_$module.py": "bridge_test.py.txt"},
        steps=("pliant run sea-1dof --import $module.py --bridge $name", "python -m pytest test_$module.py"),
    ),
}
"""Kinds that every installation has; those of other wings are in `Wing.templates`."""


def kinds_of_files() -> tuple[list[str], bool]:
    """Return what completes the first argument: the kinds, and no files."""
    return [*TEMPLATES, *(offer.key for offer in offers("templates"))], False


def new(
    kind: Annotated[str, Parameter(help="What to write: robot, law, bridge or experiment.")],
    name: Annotated[str, Parameter(help="Its name: lower-case letters, digits, - and _.")],
    /,
    *,
    folder: Annotated[Path, Parameter(help="Folder to write into; it is made if it is not there.")] = Path(),
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Write a working robot, law, bridge or experiment to start from, with its test.

    Files that exist are not replaced.

    Examples:
        pliant new robot finger
        pliant new law hardening --folder my_laws
    """
    kinds = {**TEMPLATES, **{offer.key: offer.load() for offer in offers("templates")}}
    if kind not in kinds:
        raise PliantError(f"there is no template {kind!r}; {nearest(kind, kinds)}", field="kind")
    words = _words(kind, name)
    template = kinds[kind]
    texts = resources.files(template.package) / "templates"
    written = {
        folder / Text(path).substitute(words): Text((texts / text).read_text(encoding="utf-8")).substitute(words)
        for path, text in template.files.items()
    }
    there = [str(path) for path in written if path.exists()]
    if there:
        raise PliantError(
            f"{', '.join(there)} {'exist' if len(there) > 1 else 'exists'}; choose another name or another --folder",
            field="name",
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in written.items():
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        remedy = "--folder must be a folder that you may write to"
        raise PliantError(
            f"cannot be written ({error.strerror}); {remedy}", file=error.filename, field="folder"
        ) from error
    steps = [Text(step).substitute(words) for step in template.steps]
    if importlib.util.find_spec("pytest") is None:
        steps.insert(-1, "python -m pip install pytest")
    if json:
        emit({"files": [str(path) for path in written], "next": steps})
        return 0
    print("written: " + ", ".join(str(path) for path in written))
    print("\n".join(["next:", *([f"  cd {folder}"] if folder != Path() else []), *(f"  {step}" for step in steps)]))
    return 0


def _words(kind: str, name: str) -> dict[str, str]:
    """Return what stands for the placeholders.

    Raises:
        PliantError: the name cannot be one, or is taken.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*([-_][a-z0-9]+)*", name):
        raise PliantError(
            f"the name is {name!r}; must be lower-case letters and digits, with - or _ between, such as my-finger",
            field="name",
        )
    module = name.replace("-", "_")
    if keyword.iskeyword(module) or keyword.issoftkeyword(module):
        raise PliantError(f"the name is {name!r}, a word of Python; choose another", field="name")
    if {name, module} & {*_taken(kind)}:
        raise PliantError(
            f"pliant has {'an' if kind[0] == 'e' else 'a'} {kind} {name!r}; choose another name", field="name"
        )
    return {"name": name, "module": module, "Class": "".join(part.capitalize() for part in module.split("_"))}


def _taken(kind: str) -> list[str]:
    """Return the names of this kind that exist."""
    if kind == "law":
        from pliant.laws import registered_laws

        return list(registered_laws())
    if kind == "bridge":
        from pliant.simulation.bridges import list_bridges

        return list(list_bridges())
    if kind == "robot":
        from pliant.robots import list_robots

        return [name for robot in list_robots() for name in (robot.name, *robot.aliases)]
    return [row.name for offer in offers("lists") if offer.key == f"{kind}s" for row in offer.load()()]
