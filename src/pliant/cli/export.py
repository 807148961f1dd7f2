"""`pliant export`: write a robot for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pliant.cli.options import Debug, Imports, Packages, Settings, import_modules, load_robot
from pliant.cli.output import make_console
from pliant.errors import PliantError, nearest

__all__ = ["export"]


def export(
    format: Annotated[str, Parameter(help="urdf")],
    source: str,
    *,
    output: Annotated[Path | None, Parameter(help="The file; without it the text is printed.")] = None,
    set: Settings = [],
    package_path: Packages = [],
    import_: Imports = [],
    debug: Debug = False,
) -> int:
    """Write a robot as URDF, with limits, transmissions, ros2_control tags and the toolbox's plugin tags."""
    import_modules(import_)
    from pliant.model.export import export_urdf

    if format != "urdf":
        raise PliantError(f"export {format}: no such format; {nearest(format, ['urdf'])}", field="format")
    text = export_urdf(load_robot(source, set, None, package_path), output)
    if output is None:
        print(text, end="")
    else:
        make_console().print(f"written: {output}", soft_wrap=True)
    return 0
