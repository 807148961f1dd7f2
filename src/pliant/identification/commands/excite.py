"""`pliant excite`: design a motion that makes parameters identifiable."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pliant.base.errors import PliantError
from pliant.base.options import check_values, option
from pliant.cli.checks import check_folder
from pliant.cli.options import NO_SETTINGS, Debug, Json, RobotOptions, Seed, import_modules, option_name
from pliant.cli.output import emit, make_console, number, plain, print_table
from pliant.cli.progress import Bar


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class MotionOptions:
    """Motion that is designed."""

    identify: str
    """Parameters to identify, separated by commas, such as motor.inertia,law.k."""
    joint: str | None = None
    """Joint that moves; default: the only compliant one."""
    duration: float = option(4.0, unit="s", low=0.5, high=120.0)
    """Length of the motion [s]."""
    max_frequency: float = option(5.0, unit="Hz", low=0.5, high=50.0)
    """Highest frequency of the motion [Hz]."""
    reach: float = option(0.5, unit="rad", low=0.0, above=True)
    """Largest distance of the equilibrium position from the initial one, beside the limits of the joint [rad]."""
    preset: float | None = option(None, low=0.0)
    """Preset of joints with two motors [rad, or m of a lever]; default: the initial one."""
    candidates: int = option(40, low=1, high=10_000)
    """Motions that are tried."""
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_values(self, names=option_name)


def excite(
    source: Annotated[str, Parameter(help="Robot: a file or a name of the catalogue.")],
    output: Annotated[Path, Parameter(help="Command table to write (.csv); `pliant run --command` plays it.")],
    /,
    *,
    motion: MotionOptions,
    robot: RobotOptions = NO_SETTINGS,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Design a safe motion that makes parameters of a joint identifiable.

    Examples:
        pliant excite qbmove-1dof motion.csv --identify motor.inertia,motor.damping
    """
    import_modules(robot.import_)
    import numpy as np

    from pliant.base.documents.tables import write_table
    from pliant.identification.excitation import ExcitationOptions, design_excitation

    if output.suffix.lower() != ".csv":
        raise PliantError(f"the suffix is {output.suffix!r}; must be .csv", file=output)
    check_folder(output, "OUTPUT")
    found_robot = robot.load(source)
    joints = list(found_robot.actuators)
    if motion.joint is None and len(joints) != 1:
        raise PliantError(f"name one compliant joint by --joint; found: {', '.join(joints) or 'none'}", field="joint")
    joint = motion.joint or joints[0]
    free = [name.strip() for name in motion.identify.split(",") if name.strip()]
    options = ExcitationOptions(
        duration=motion.duration,
        max_frequency=motion.max_frequency,
        reach=motion.reach,
        preset=motion.preset,
        candidates=motion.candidates,
        seed=motion.seed,
    )
    console = make_console(quiet=json)
    with Bar(console, "designing", "motions", shown=not json) as bar:
        found = design_excitation(found_robot, joint, free, options, progress=bar)
    columns = found.table.columns
    rows = np.column_stack([found.table.time, *columns.values()]).round(9).tolist()
    write_table(output, ["time", *columns], rows)
    values = {
        "joint": joint,
        "table": str(output),
        "expected_errors": dict(found.errors),
        "expected_errors_of_chirp": dict(found.naive),
        "peaks": {name: {"peak": peak, "limit": limit} for name, (peak, limit) in found.peaks.items()},
    }
    if json:
        emit(values)
        return 0
    from rich.table import Table

    errors = Table("parameter", "expected standard error", "after a chirp", box=None)
    for name, e in found.errors.items():
        errors.add_row(plain(name), f"{e:.2g}", f"{found.naive[name]:.2g}")
    print_table(console, errors)
    limits = Table("quantity", "peak", "limit", box=None)
    for name, (peak, limit) in found.peaks.items():
        limits.add_row(name, f"{peak:.3g}", number(limit, 3))
    print_table(console, limits)
    console.print(f"commands: {plain(str(output))}")
    return 0
