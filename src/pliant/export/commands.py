"""`pliant export`: write a robot for other programs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from pliant.base.errors import PliantError, nearest
from pliant.base.warn import print_warning
from pliant.base.wing import offer, offers
from pliant.cli.checks import refuse_unused
from pliant.cli.options import NO_SETTINGS, Debug, Json, RobotOptions, import_modules
from pliant.cli.output import make_console

if TYPE_CHECKING:
    from rich.console import Console

    from pliant.export.written import RobotExport
    from pliant.model import Robot


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class PlainMujoco:
    """How MJCF holds compliant actuators."""

    native: Annotated[
        bool, Parameter(negative=(), help="For mjcf: write compliant actuators as elements of plain MuJoCo.")
    ] = False
    fit: Annotated[
        bool,
        Parameter(negative=(), help="With --native: write what MuJoCo has approximately only, and measure the error."),
    ] = False

    def refuse(self) -> None:
        """Raise an error for an option of another format than MJCF."""
        refuse_unused(self.native or self.fit, "--native" if self.native else "--fit", "the format mjcf")


COMPLIANT = PlainMujoco()


def completed() -> tuple[list[str], bool]:
    """Return what completes the arguments of ``pliant export``: formats, robots of the catalogue, and files."""
    from pliant.cli.options import robots_and_files

    robots, files = robots_and_files()
    return [*_formats(), *robots], files


def _formats() -> list[str]:
    return ["urdf", "mjcf", *(found.key for kind in ("exports", "robot_exports") for found in offers(kind))]


def export(
    format: Annotated[str, Parameter(help="urdf, mjcf or ros-package for a robot, bag for a recording as a ROS bag.")],
    source: Annotated[str, Parameter(help="A robot; for bag a recording, or a bag of another kind.")],
    output: Annotated[
        Path | None,
        Parameter(
            help="The file; without it, a robot is printed. A bag is a .bag (ROS 1), .mcap, .db3 or a new folder; "
            "packages of ROS are put into a folder."
        ),
    ] = None,
    *,
    package: Annotated[
        str | None, Parameter(help="Name of the ROS package in mesh addresses; the folder of the file is the package.")
    ] = None,
    namespace: Annotated[
        str | None, Parameter(help="For bag and ros-package: prefix of the topics; default: the robot's.")
    ] = None,
    plain: PlainMujoco = COMPLIANT,
    overwrite: Annotated[bool, Parameter(negative=(), help="Replace existing files.")] = False,
    robot: RobotOptions = NO_SETTINGS,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Write a robot as URDF or MJCF, or a recording as a ROS bag.

    A URDF has meshes, limits, transmissions, ros2_control tags and the toolbox's plugin tags. A bag has the topics of
    the bridges. Packages of ROS have the robot's message types, URDF, launch file, controllers and RViz configuration.

    Examples:
        pliant export urdf qbmove-2dof --output arm.urdf
        pliant export mjcf sea-1dof --native --output arm.xml
        pliant export bag run.mcap --output run.bag
        pliant export ros-package qbmove-2dof src
    """
    import_modules(robot.import_)
    of_robot = offer("robot_exports", format)
    if of_robot is not None:
        refuse_unused(package is not None, "--package", "the format urdf")
        plain.refuse()
        loaded = robot.load(source)
        return of_robot.load()(loaded, source, output, namespace=namespace or "", overwrite=overwrite, json=json)
    exporter = offer("exports", format)
    if exporter is not None:
        for option, given in (("--package", package), ("--set", robot.set), ("--package-path", robot.package_path)):
            refuse_unused(bool(given), option, "the format urdf or mjcf")
        plain.refuse()
        write = exporter.load()
        return write(Path(source), output, namespace=namespace or "", overwrite=overwrite, json=json)
    if format not in ("urdf", "mjcf"):
        table = "; `pliant replay FILE --export` writes a table" if format in ("csv", "npz") else ""
        raise PliantError(f"export {format}: no such format; {nearest(format, _formats())}{table}", field="format")
    of_recordings = "the format " + " or ".join(found.key for found in offers("exports"))
    refuse_unused(namespace is not None, "--namespace", of_recordings)
    refuse_unused(json, "--json", of_recordings)
    loaded = robot.load(source)
    if format == "mjcf":
        refuse_unused(package is not None, "--package", "the format urdf")
        refuse_unused(plain.fit and not plain.native, "--fit", "--native")
        _write_mjcf(loaded, output, overwrite, plain)
    else:
        plain.refuse()
        _write_urdf(loaded, output, package, overwrite)
    return 0


def _write_mjcf(robot: Robot, output: Path | None, overwrite: bool, plain: PlainMujoco) -> None:
    from pliant.export.mjcf import describe_mjcf

    described = describe_mjcf(robot, native=plain.native, fit=plain.fit)
    console = _deliver(described, "MJCF", output, overwrite)
    for warning in described.warnings:
        print_warning(warning)
    _print_notes(described, console)


def _deliver(described: RobotExport, format: str, output: Path | None, overwrite: bool) -> Console:
    """Print the text or write the files; return the console of messages, standard error where the text is printed."""
    console = make_console(quiet=output is None)
    if output is None:
        _print_text(described, format)
    else:
        _write(described, output, overwrite, console)
    return console


def _print_notes(described: RobotExport, console: Console) -> None:
    for note in described.notes:
        console.print(f"note: {note}", soft_wrap=True, markup=False)


def _print_text(described: RobotExport, format: str) -> None:
    if described.meshes:
        raise PliantError(
            f"the robot has meshes, which are written to files next to the {format}; give its name with --output",
            field="output",
        )
    print(described.text, end="")


def _write(described: RobotExport, output: Path, overwrite: bool, console: Console) -> None:
    files = described.write(output, overwrite=overwrite)
    meshes = len(files) - 1
    more = f" and {meshes} mesh {'file' if meshes == 1 else 'files'} in {files[1].parent}" if meshes else ""
    console.print(f"written: {output}{more}", soft_wrap=True, markup=False)


def _write_urdf(robot: Robot, output: Path | None, package: str | None, overwrite: bool) -> None:
    from pliant.export.urdf import describe_urdf

    described = describe_urdf(robot, package=package)
    _print_notes(described, _deliver(described, "URDF", output, overwrite))
