"""The viewer: pages that show a run or a recording, from the wing that declares one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pliant.base.errors import PliantError
from pliant.base.numerics import Array
from pliant.base.wing import offers
from pliant.simulation.bridge import Bridge

if TYPE_CHECKING:
    import mujoco

    from pliant.engine.base import MujocoState
    from pliant.recording import Recording
    from pliant.recording.motion import Motion


class BesidePage(Protocol):
    """Page of a robot that runs elsewhere and the simulation beside it."""

    url: str
    """Address of the page."""

    def show(self, time: float, qpos: Array, curves: Mapping[str, tuple[Array, Array, Array]]) -> None:
        """Show a common state.

        Args:
            time: the robot's time [s].
            qpos: positions of the simulation, shape (nq,).
            curves: by joint, times [s], measured and simulated positions since the last call, shapes (n,); the last
                measured ones are those of the robot now.
        """
        ...

    def tell(self, text: str, *, kind: str) -> None:
        """Show a sentence: of kind ``well``, ``drift`` or ``note``."""
        ...

    def stop(self) -> None:
        """Close the page; may be called twice."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewer:
    """Declaration of a viewer."""

    run: Callable[[MujocoState, tuple[str, int], str, Mapping[str, str]], Bridge]
    """Function of the engine, the address and port of the page (0: the first free port), the title, and texts for
    recordings that are made on the page; it returns the page of a run."""
    recording: Callable[[Recording, mujoco.MjModel, tuple[str, int], Callable[[Sequence[str]], None]], None]
    """Function of a recording, the model that it shows, the address and port, and what tells the joints that were not
    recorded; it shows the recording until Ctrl-C."""
    beside: Callable[[mujoco.MjModel, Sequence[str], tuple[str, int], str], BesidePage]
    """Function of the model, its measured joints, the address and port, and the title; it returns the page of a robot
    that runs elsewhere and the simulation beside it."""
    write: Callable[[Path, Motion, str], int]
    """Function of a file, a motion and a title that writes a page which plays by itself; it returns the size
    [bytes]."""
    period: Callable[[float], float]
    """Period of the poses of such a page [s], for a length [s]."""


def find_viewer(option: str) -> Viewer:
    """Return the viewer of the first wing that declares one.

    Args:
        option: the option that asks for it, for the message.

    Raises:
        PliantError: no wing has a viewer.
    """
    for offer in offers("viewer"):
        return offer.load()
    raise PliantError(f"{option} needs a wing with a viewer, and none is installed; omit it", field=option.lstrip("-"))
