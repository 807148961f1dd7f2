"""`pliant policy`: show a trained policy, and run it as the controller of a robot."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from pliant.base.errors import PliantError, nearest, printable
from pliant.base.wing import offer, offers
from pliant.cli.options import Debug, Json
from pliant.cli.output import emit, make_console, plain, print_table
from pliant.learn.running import Safety

policy = App(name="policy", help="Show a trained policy, or run it on a robot, real or simulated.")

File = Annotated[Path, Parameter(help="Policy: an archive (.npz) or an ONNX file.")]


@policy.command
def show(file: File, /, *, json: Json = False, debug: Debug = False) -> int:
    """Print what a policy observes and commands.

    Examples:
        pliant policy show touch.npz
    """
    from pliant.learn.policy import Policy

    found = Policy.load(file)
    if json:
        emit(
            {
                "robot": found.robot,
                "settings": dict(found.settings),
                "namespace": found.namespace,
                "joints": list(found.joints),
                "period": found.period,
                "observations": list(found.observations),
                "commands": [
                    {"name": name, "low": low, "high": high}
                    for name, low, high in zip(found.commands, found.low.tolist(), found.high.tolist(), strict=True)
                ],
                "start": None if found.start is None else found.start.tolist(),
                "ranges": None
                if found.range_low is None or found.range_high is None
                else [found.range_low.tolist(), found.range_high.tolist()],
                "layers": [list(weight.shape) for weight, _ in found.layers],
                "version": found.version,
            }
        )
        return 0
    from rich.table import Table

    sizes = " x ".join(str(n) for n in [len(found.observations), *(len(bias) for _, bias in found.layers)])
    title = f"{printable(found.robot)}: layers {sizes}, every {found.period:g} s"
    table = Table(title=title, title_justify="left", box=None)
    for column in ("", "name", "limits"):
        table.add_column(column)
    for k, name in enumerate(found.observations):
        low, high = found.range_low, found.range_high
        trained = "" if low is None or high is None else f"{low[k]:g} to {high[k]:g} in the training"
        table.add_row("observes", plain(printable(name)), trained)
    for name, low, high in zip(found.commands, found.low, found.high, strict=True):
        table.add_row("commands", plain(printable(name)), f"{low:g} to {high:g}")
    print_table(make_console(), table)
    return 0


def _inputs(given: tuple[str, ...]) -> dict[str, float]:
    values = {}
    for text in given:
        name, equals, number = text.partition("=")
        try:
            values[name] = float(number)
        except ValueError:
            equals = ""
        if not equals or not name:
            raise PliantError(f"--input {text}: must be NAME=NUMBER", field="input")
    return values


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class RosOptions:
    """The joint topics of a robot on ROS."""

    namespace: str = ""
    """Prefix of the robot's topics, or first part of its ports' names; default: that of the policy."""
    clock: str = "auto"
    """auto: /clock where it is published, as by a simulation; wall; or ros: /clock."""


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class FciOptions:
    """The connection to a Franka arm."""

    host: str = ""
    """fci: address of the arm."""
    arm: str = ""
    """fci: fer or fr3; default: the type of the policy's robot."""
    realtime: Annotated[bool, Parameter(negative=())] = False
    """fci: require a real-time kernel."""


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class YarpOptions:
    """The connection to a robot on YARP."""

    server: str = ""
    """yarp: address HOST:PORT of the name server; default: that of YARP's configuration."""


NO_SAFETY = Safety()
NO_ROS, NO_FCI, NO_YARP = RosOptions(), FciOptions(), YarpOptions()


@policy.command
def run(
    file: File,
    /,
    *,
    bridge: Annotated[
        str, Parameter(help="ros1 or ros2; ROS_MASTER_URI or ROS_DOMAIN_ID say where the robot is; yarp, or fci.")
    ] = "ros1",
    input: Annotated[  # the name of the flag
        tuple[str, ...], Parameter(help="NAME=NUMBER for each input of the policy.", negative=())
    ] = (),
    ros: RosOptions = NO_ROS,
    fci: FciOptions = NO_FCI,
    yarp: YarpOptions = NO_YARP,
    duration: Annotated[float | None, Parameter(help="Time to run [s]; default: until interrupted.")] = None,
    safety: Annotated[Safety, Parameter(name="*")] = NO_SAFETY,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Run a policy as the controller of a robot, real or simulated: over its topics or ports, or a Franka arm.

    Examples:
        pliant policy run touch.npz --bridge ros2 --input target=-0.6 --duration 5
    """
    from pliant.learn.policy import Policy

    found = Policy.load(file)
    if duration is not None and not duration > 0.0:
        raise PliantError(f"--duration is {duration:g}; must be > 0 s", field="duration")
    chosen = offer("controllers", bridge)
    if chosen is None:
        bridges = [other.key for other in offers("controllers")]
        raise PliantError(f"a policy does not run on the bridge {bridge!r}; {nearest(bridge, bridges)}", field="bridge")
    driver = chosen.load()
    options = {}
    for given, defaults in ((ros, NO_ROS), (fci, NO_FCI), (yarp, NO_YARP)):
        for field in fields(given):
            options[field.name] = getattr(given, field.name)
            if field.name not in driver.options and options[field.name] != getattr(defaults, field.name):
                raise PliantError(
                    f"--{field.name} has no meaning on the bridge {bridge}; must be left out", field=field.name
                )
    limit = math.inf if duration is None else duration
    done, text = driver.run(found, _inputs(input), {name: options[name] for name in driver.options}, limit, safety)
    if json:
        emit(done)
    else:
        print(text)
    return 0
