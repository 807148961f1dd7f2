"""The pages docs/options/*.md, from the declarations; run this file to write them."""

from __future__ import annotations

from pathlib import Path

from markdown_tables import markdown_table

from pliant.base.options import describe
from pliant.experiments import find_experiment, list_experiments
from pliant.feet.model.sole import Sole
from pliant.feet.softfoot import SoftFeetOptions, SoftFootOptions
from pliant.joints.benches.build import BENCHES, BenchOptions
from pliant.joints.qbmove import ArmOptions
from pliant.laws import (
    COMMANDS,
    JOINT_FIELDS,
    PID,
    Backlash,
    Cogging,
    CompliantActuator,
    Creep,
    DCMotor,
    Electrical,
    Gear,
    Hysteresis,
    JointCommand,
    JointField,
    Strength,
    Tendon,
    Thermal,
    registered_laws,
)
from pliant.laws.friction import PreslidingFriction
from pliant.laws.motor import LeverDrive
from pliant.model.sensors import Camera, ForceTorque, Imu, SensorDescription
from pliant.muscles import PneumaticDrive
from pliant.robots import find_robot
from pliant.ros.bridge import RosOptions
from pliant.simulation.bridges import bridge_options, list_bridges

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "options"
OWN_BRIDGES = ("dynamixel", "fci", "foxglove", "pictures", "ros1", "ros2", "yarp", "zenoh")
OWN_LAWS = ("sea", "qbmove", "bavs", "awas_ii", "sea_table", "pam", "cable")

HEAD = """\
# {title}

{about}

The tables are written from the declarations in the code: `pliant list NAME` prints the same for one robot,
experiment, bridge or law. Units are SI and radians. An unknown name or a value outside its limits is refused with the
nearest valid one. Other pages: {others}.
"""
TITLES = {
    "bridges": ("Options of bridges", "Written `--bridge NAME:KEY=VALUE,KEY=VALUE`."),
    "robots": ("Options of robots", "Written `--set robot.KEY=VALUE`, or `robot: {KEY: VALUE}` in YAML."),
    "actuators": ("Options of actuators", "Laws, motors and their blocks, fields and commands of a joint."),
    "sensors": ("Options of sensors", "Written `--set SENSOR.KEY=VALUE`, or below `sensors:` in YAML."),
    "experiments": (
        "Options of experiments",
        "Written `--set KEY=VALUE`, or `--set EXPERIMENT.KEY=VALUE` for one of several: see "
        "[Experiments](../papers/experiments.md).",
    ),
}
"""Page -> its title, and what is said first."""


def _own(kind: type, base: type) -> str:
    """Return the table of the options that a dataclass adds to a base, or changes."""
    shared = {info.name: info for info in describe(base)}
    names = [info.name for info in describe(kind) if shared.get(info.name) != info]
    return markdown_table(kind, names)


def _units(declared: JointField | JointCommand) -> str:
    """Return the unit, and those of laws with a lever or with pressures where they differ."""
    others = {"lever": declared.lever, "muscles": declared.pressure}
    return "; ".join(
        [declared.unit, *(f"{kind}: {unit or 'none'}" for kind, unit in others.items() if unit is not None)]
    )


def _fields() -> str:
    rows = ["| field | unit | meaning |", "|---|---|---|"]
    for field in JOINT_FIELDS.values():
        if field.sampled:
            rows.append(f"| `{field.name}` | {_units(field)} | {field.description} |")
    return "\n".join(rows)


def _commands() -> str:
    rows = ["| mode | name | first reference | second reference |", "|---|---|---|---|"]
    for mode, pair in COMMANDS.items():
        cells = ["" if c.name == "disabled" else f"`{c.name}` [{_units(c)}]" for c in pair]
        rows.append(f"| {mode.value} | `{mode.name.lower()}` | {cells[0]} | {cells[1]} |")
    return "\n".join(rows)


def _bridges() -> list[str]:
    parts = [f"## ros1, ros2, zenoh: what all three take\n\n{markdown_table(RosOptions)}\n"]
    for name in OWN_BRIDGES:
        kind = bridge_options(name)
        table = _own(kind, RosOptions) if issubclass(kind, RosOptions) else markdown_table(kind)
        parts.append(f"## {name}\n\n{list_bridges()[name]}.\n\n{table}\n")
    return parts


def _robots() -> list[str]:
    parts = [f"## The benches of one joint\n\n{markdown_table(BenchOptions)}\n"]
    parts += [f"## {bench.name}\n\n{_own(bench.options, BenchOptions)}\n" for bench in BENCHES]
    parts.append(f"## The arms of qbMoves\n\n{markdown_table(ArmOptions)}\n")
    parts += [f"## {n}\n\n{_own(find_robot(n).options_class, ArmOptions)}\n" for n in ("qbmove-2dof", "qbmove-5dof")]
    for name, title in (
        ("franka", "franka, fr3, franka-dual"), ("franka-torso", "franka-torso"),
        ("6PFR", "The continuum parallel robots"), ("softfoot", "softfoot"), ("biped", "biped"), ("icub", "icub"),
    ):  # fmt: skip
        parts.append(f"## {title}\n\n{markdown_table(find_robot(name).options_class)}\n")
    bench = find_robot("softfoot-bench").options_class
    parts.append(f"## softfoot-bench\n\nBeside what `softfoot` takes of the foot:\n\n{_own(bench, SoftFootOptions)}\n")
    parts.append(
        "## soft_feet\n\nSoftFeet on any robot, `--set soft_feet.KEY=VALUE` or `soft_feet:` in a YAML file; "
        f"beside what `softfoot` takes of the foot:\n\n{_own(SoftFeetOptions, SoftFootOptions)}\n"
    )
    return parts


def _actuators() -> list[str]:
    parts = ["## Laws\n\nWritten `--set JOINT.KEY=VALUE`.\n"]
    laws = registered_laws()
    parts += [f"### {name}\n\n{markdown_table(laws[name])}\n" for name in OWN_LAWS]
    parts.append(
        "## Blocks of an actuator\n\nWritten `--set JOINT.motor_1.KEY=VALUE`, `--set JOINT.pid_1.KEY=VALUE`.\n"
    )
    blocks = (
        ("The actuator itself", CompliantActuator), ("Motor", DCMotor), ("Drive of a lever", LeverDrive),
        ("Valve and air of a muscle", PneumaticDrive), ("Electrical part of a motor", Electrical),
        ("Cogging and ripple", Cogging),
        ("Temperature of the winding", Thermal), ("Elastic gear", Gear), ("Backlash", Backlash), ("Tendons", Tendon),
        ("Hysteresis of the spring", Hysteresis), ("Creep of the spring", Creep), ("Yield and breakage", Strength),
        ("Friction", PreslidingFriction), ("Controller", PID),
    )  # fmt: skip
    parts += [f"### {title}\n\n{markdown_table(kind)}\n" for title, kind in blocks]
    parts.append(
        "## Fields of a joint\n\nSamples, recordings, plots and messages have these names.\n\n" + _fields() + "\n"
    )
    parts.append("## Commands of a joint\n\nEach mode also takes `external_torque` [N m].\n\n" + _commands() + "\n")
    return parts


def _sensors() -> list[str]:
    parts = [f"## What every sensor takes\n\n{markdown_table(SensorDescription)}\n"]
    for kind in (Imu, ForceTorque, Camera, Sole):
        parts.append(f"## {kind.__name__}\n\n{_own(kind, SensorDescription)}\n")
    return parts


def _experiments() -> list[str]:
    parts = []
    for listed in list_experiments():
        kind = find_experiment(listed.name).options_class
        if kind.__module__.startswith("pliant.") and describe(kind):
            parts.append(f"## {listed.name}\n\n{markdown_table(kind)}\n")
    return parts


def pages() -> dict[Path, str]:
    """Return file -> text of all pages."""
    texts = {}
    for name, (title, about) in TITLES.items():
        others = ", ".join(f"[{other}]({other}.md)" for other in TITLES if other != name)
        parts = {
            "bridges": _bridges, "robots": _robots, "actuators": _actuators, "sensors": _sensors,
            "experiments": _experiments,
        }[name]()  # fmt: skip
        texts[FOLDER / f"{name}.md"] = "\n".join([HEAD.format(title=title, about=about, others=others), *parts])
    return texts


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for file, text in pages().items():
        file.write_text(text, encoding="utf-8")
