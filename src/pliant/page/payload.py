"""Payloads on the page: a point mass at a place of a body, changed while the robot moves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from pliant.base.errors import PliantError, nearest
from pliant.engine.base import MujocoState
from pliant.engine.payload import Payload
from pliant.model.scene import PAYLOAD_COLOR, payload_radius
from pliant.page.controls import REQUEST_TIMEOUT, Say, by_hand, guarded, plain_name
from pliant.page.pull import shape_reach
from pliant.page.ranges import round_up, step_of
from pliant.page.server import PageServer
from pliant.simulation.answers import answered
from pliant.simulation.bridge import SimulationControl

if TYPE_CHECKING:
    import viser

MAX_BODIES = 300
"""Longest list of bodies."""
ENDS = ("plate", "platform", "hand", "palm", "gripper", "tool", "tip", "torso", "chest", "trunk")
"""Words in names of bodies that usually carry something, the best first."""


class PayloadBalls:
    """Payloads as balls of steel with their mass, at their places on the bodies.

    Args:
        server: the page's server.
        model: the model.
        size: size of the robot [m].
    """

    def __init__(self, server: PageServer, model: mujoco.MjModel, size: float) -> None:
        self._server, self._model, self._size = server, model, size
        self._shown: dict[str, tuple[float, tuple[float, ...]]] = {}
        self._balls: dict[str, viser.IcosphereHandle] = {}

    def draw(self, loads: Mapping[str, tuple[float, Sequence[float] | np.ndarray]]) -> None:
        """Draw the payloads, which are few and seldom change.

        Args:
            loads: body -> mass [kg] and place in its frame [m].
        """
        fresh = {name: (mass, tuple(place)) for name, (mass, place) in loads.items()}
        if fresh == self._shown:
            return
        self._shown = fresh
        for name in [name for name in self._balls if name not in fresh]:
            self._balls.pop(name).remove()
        for name, (mass, place) in fresh.items():
            body = mujoco.mj_name2id(self._model, mujoco.mjtObj.mjOBJ_BODY, name)
            if body <= 0:
                continue
            self._balls[name] = self._server.scene.add_icosphere(
                f"/body/{body}/payload", payload_radius(mass, self._size), PAYLOAD_COLOR[:3], position=np.array(place),
                receive_shadow=False,
            )  # fmt: skip


class PayloadPanel:
    """Body, mass and place of a payload, in a GUI container.

    Args:
        gui: viser's GUI.
        server: the page's server, which draws a ball for each payload.
        engine: the physics.
        simulation: changes the payload between two steps.
        say: tells what was refused.
        size: size of the robot [m].
    """

    def __init__(
        self,
        gui: viser.GuiApi,
        server: PageServer,
        engine: MujocoState,
        simulation: SimulationControl,
        say: Say,
        size: float,
    ) -> None:
        self._engine, self._simulation = engine, simulation
        payloads = engine.payloads
        self._names = {plain_name(name): name for name in payloads.bodies()[:MAX_BODIES]}
        first = plain_name(end_effector(engine.model, list(self._names.values())))
        self._body = gui.add_dropdown("body", list(self._names), initial_value=first, hint="What carries the payload")
        largest = largest_payload(engine.model, self._names[first])
        self._mass = gui.add_slider("mass [kg]", min=0.0, max=largest, step=step_of(0.0, largest), initial_value=0.0)
        self._size = size
        hint = "Place of the payload along {} of the body's frame"
        self._offset = [gui.add_slider(f"{axis} [m]", -1.0, 1.0, 0.01, 0.0, hint=hint.format(axis)) for axis in "xyz"]
        self._remove = gui.add_button("Remove all payloads", color="gray")
        self._shown: dict[str, Payload] = {}
        self._balls = PayloadBalls(server, engine.model, size)
        self._body.on_update(by_hand(say, lambda _: self._choose()))
        for handle in (self._mass, *self._offset):
            handle.on_update(by_hand(say, lambda _: self._put()))
        self._remove.on_click(guarded(say, lambda _: self._clear()))
        self._choose()

    def draw(self) -> None:
        """Draw the payloads, and follow what others, or a reset, have changed."""
        loads = dict(self._engine.payloads.loads)
        if loads == self._shown:
            return
        mine = self._names.get(str(self._body.value), "")
        if loads.get(mine) != self._shown.get(mine):
            self._follow(loads.get(mine))
        self._shown = loads
        self._balls.draw({name: (load.mass, load.offset) for name, load in loads.items()})

    def _chosen(self) -> str:
        """Return the name of the chosen body.

        Raises:
            PliantError: the page has no such body.
        """
        shown = str(self._body.value)
        if shown not in self._names:
            raise PliantError(f"there is no body {shown!r}; {nearest(shown, list(self._names))}", field="body")
        return self._names[shown]

    def _choose(self) -> None:
        """Show the payload of the chosen body."""
        name = self._chosen()
        largest = largest_payload(self._engine.model, name)
        self._mass.value = 0.0
        self._mass.max, self._mass.step = largest, step_of(0.0, largest)
        reach = largest_offset(self._engine.model, name, self._size)
        for handle in self._offset:
            handle.value = 0.0
            handle.min, handle.max, handle.step = -reach, reach, step_of(-reach, reach)
        self._follow(self._engine.payloads.loads.get(name))

    def _follow(self, load: Payload | None) -> None:
        name = self._chosen()
        payloads = self._engine.payloads
        place = payloads.centre(name) if load is None else load.offset
        mass = 0.0 if load is None else load.mass
        if mass > self._mass.max:  # a program put a heavier one
            self._mass.max = round_up(mass)
        self._mass.value = mass
        fixed = payloads.only_at_centre(name)
        for handle, value in zip(self._offset, place):
            if abs(value) > handle.max:
                handle.min, handle.max = -round_up(abs(value)), round_up(abs(value))
            handle.value = float(f"{value:.3g}")
            handle.disabled = fixed

    def _put(self) -> None:
        name = self._chosen()
        mass = float(self._mass.value)
        if not 0.0 <= mass <= self._mass.max:
            raise PliantError(f"mass is {mass:g} kg; must be from 0 to {self._mass.max:g} kg on the page", field="mass")
        offset = [float(handle.value) for handle in self._offset]
        place = None if self._engine.payloads.only_at_centre(name) else offset
        self._do(lambda: self._engine.set_payload(name, mass, place))

    def _clear(self) -> None:
        def clear() -> None:
            for name in list(self._engine.payloads.loads):
                self._engine.set_payload(name, 0.0)

        self._do(clear)

    def _do(self, work: Callable[[], None]) -> None:
        answered(self._simulation.submit(work), REQUEST_TIMEOUT)


def end_effector(model: mujoco.MjModel, names: list[str]) -> str:
    """Return the body that usually carries something: by its name, else the one at the end of the longest chain.

    Args:
        model: the model.
        names: bodies to choose from; at least one.
    """
    for word in ENDS:
        found = [name for name in names if word in name.lower()]
        if found:
            return min(found, key=len)

    def depth(name: str) -> int:
        body, count = model.body(name).id, 0
        while body:
            body, count = int(model.body_parentid[body]), count + 1
        return count

    return max(names, key=depth)


def largest_payload(model: mujoco.MjModel, name: str) -> float:
    """Return the end of the mass slider of a body [kg]: twice what it carries, or a third of its tree if that is more.

    Args:
        model: the model.
        name: the body.
    """
    body = model.body(name).id
    root = int(model.body_rootid[body])
    return round_up(max(2.0 * float(model.body_subtreemass[body]), 0.3 * float(model.body_subtreemass[root]), 1e-3))


def largest_offset(model: mujoco.MjModel, name: str, size: float) -> float:
    """Return the end of the sliders of the place of a payload [m]: where the shapes of its body end, or a little more.

    A heavy payload far from a light body turns with the speed of its joint on a long lever: it pulls the arm along.

    Args:
        model: the model.
        name: the body.
        size: size of the robot [m].
    """
    body = model.body(name).id
    return round_up(max(float(np.abs(model.body_ipos[body]).max()) + shape_reach(model, body), 0.05 * size))
