"""Options of `pliant shadow`: what is judged, and how a robot is followed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from pliant.base.errors import PliantError


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """Which parameters and which part of the motion are judged."""

    watch: Annotated[
        tuple[str, ...],
        Parameter(
            negative=(),
            consume_multiple=False,
            show_default=False,
            help='Parameter to watch, such as "elbow spring", elbow.k1 or link.mass; may be repeated. Default: all.',
        ),
    ] = ()
    window: Annotated[
        float | None, Parameter(help="Length of a window [s]; default: the whole log; 10 s beside a robot.")
    ] = None
    settle: Annotated[float, Parameter(help="Begin of the log that is not judged [s].")] = 1.0
    commands: Annotated[str, Parameter(help="Commands between samples: held, sampled, latched or auto.")] = "auto"


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """Options beside a robot that is listened to."""

    duration: Annotated[float | None, Parameter(help="Beside a robot: end after this time of the robot [s].")] = None
    view: Annotated[bool, Parameter(negative=(), help="Beside a robot: show both on a page in the browser.")] = False
    port: Annotated[
        int | None, Parameter(name="--view-port", help="Port of the page; default: the first free one from 8080 on.")
    ] = None

    def refuse(self) -> None:
        """Raise an error for each of them that is given for a log."""
        given = {"duration": self.duration is not None, "view": self.view, "view-port": self.port is not None}
        for option, is_given in given.items():
            if is_given:
                raise PliantError(f"--{option} is for a robot that is listened to; omit it", field=option)
