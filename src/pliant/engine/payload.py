"""Payloads: point masses attached to bodies of a compiled model, which can be changed or removed during a run.

Mass, centre of mass and inertia tensor of the body become those of the body and the point mass together. The model is
not recompiled and no array moves in memory. All quantities that the compiler derives from these three are updated too:

* The principal axes of the new tensor define the inertial frame of the body. MuJoCo stores the bounding boxes of the
  collision tree in this frame, and may mark frames of geoms and sites as coincident with it.
* MuJoCo computes the stiffness of constraints from the masses of the subtrees and from inertia and inverse inertia at
  the initial pose. ``mj_setConst`` computes these on a copy of the model, because on the original it would also
  overwrite what devices change during a run.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from pliant.base.errors import ModelError, nearest
from pliant.base.numerics import Array
from pliant.base.spatial import hat, quaternion_from_rotation, rotation_from_quaternion

MAX_PAYLOAD = 1e4
"""Largest payload [kg]."""
MAX_OFFSET = 100.0
"""Largest magnitude of a coordinate of a payload in the body frame [m]."""
DERIVED = ("body_subtreemass", "dof_M0", "dof_invweight0", "body_invweight0", "tendon_invweight0", "actuator_acc0")
"""Fields of the model that ``mj_setConst`` computes from masses and inertias."""
_NONE = int(mujoco.mjtSameFrame.mjSAMEFRAME_NONE)
_INERTIAL = (int(mujoco.mjtSameFrame.mjSAMEFRAME_INERTIA), int(mujoco.mjtSameFrame.mjSAMEFRAME_INERTIAROT))


@dataclass(frozen=True, slots=True)
class Payload:
    """A point mass on a body."""

    mass: float
    """Mass [kg], > 0."""
    offset: tuple[float, float, float]
    """Position in the body frame [m]."""


@dataclass(frozen=True, slots=True, eq=False)
class _Compiled:
    """Compiled properties of a body that a payload changes."""

    mass: float
    position: Array
    quaternion: Array
    inertia: Array
    same: int
    geoms: NDArray[np.intp]
    geoms_same: Array
    sites: NDArray[np.intp]
    sites_same: Array
    boxes: slice
    aabb: Array


class Payloads:
    """Payloads of one compiled model. Only the thread that steps the model may use it.

    Args:
        model: the model; only `put` and `clear` write to it.
    """

    def __init__(self, model: mujoco.MjModel) -> None:
        self._model = model
        self._loads: dict[int, Payload] = {}
        self.changes = 0
        """How often the payloads have changed."""
        self._compiled: dict[int, _Compiled] = {}
        self._derived: dict[str, Array] = {}
        self._copy: tuple[mujoco.MjModel, mujoco.MjData] | None = None

    def __bool__(self) -> bool:
        return bool(self._loads)

    @property
    def loads(self) -> Mapping[str, Payload]:
        """Body name -> payload."""
        return {self._model.body(body).name: load for body, load in dict(self._loads).items()}  # the loop changes it

    def bodies(self) -> list[str]:
        """Return the names of the bodies that can carry a payload: moving bodies on which gravity acts."""
        m = self._model
        return [
            m.body(b).name for b in range(1, m.nbody) if m.body(b).name and m.body_weldid[b] and not m.body_gravcomp[b]
        ]

    def centre(self, body: str) -> tuple[float, float, float]:
        """Return the centre of mass of a body without payload, in the body frame [m].

        Raises:
            ModelError: there is no such body, or it cannot carry a payload.
        """
        b = self._body(body)
        compiled = self._compiled.get(b)
        x, y, z = self._model.body_ipos[b] if compiled is None else compiled.position
        return float(x), float(y), float(z)

    def only_at_centre(self, body: str) -> bool:
        """Return whether the body can carry a payload only at its centre of mass.

        For a single body whose inertial frame is the body frame, MuJoCo omits the inertial coupling of its degrees of
        freedom.

        Raises:
            ModelError: there is no such body, or it cannot carry a payload.
        """
        return bool(self._model.body_simple[self._body(body)])

    def check(self, body: str, mass: float, offset: Sequence[float] | None = None) -> Payload:
        """Return the payload that `put` would attach, of 0 kg if it would remove one.

        Raises:
            ModelError: there is no such body, it cannot carry a payload, or a number is not valid.
        """
        centre = self.centre(body)
        kilograms, place = _checked(mass, centre if offset is None else offset)
        if self.only_at_centre(body) and np.abs(np.subtract(place, centre)).max() > 1e-12:
            raise ModelError(
                f"payload of {body!r}: offset is {list(place)}; must be {list(centre)} (its centre of mass), because "
                "MuJoCo treats this body as one whose degrees of freedom are not coupled",
                field="offset",
            )
        return Payload(kilograms, place)

    def put(self, body: str, mass: float, offset: Sequence[float] | None = None) -> None:
        """Attach a point mass to a body, replacing its current payload.

        Args:
            body: name of the body.
            mass: mass of the payload [kg], from 0 to `MAX_PAYLOAD`; 0 removes it.
            offset: position in the body frame [m]; None for the centre of mass of the body.

        Raises:
            ModelError: there is no such body, it cannot carry a payload, or a number is not valid.
        """
        b = self._body(body)
        load = self.check(body, mass, offset)
        before = self._loads.get(b)
        after = load if load.mass > 0.0 else None
        if after == before:
            return
        self.changes += 1
        if b not in self._compiled:
            self._keep(b)
        if after is None:
            del self._loads[b]
            self._restore(b)
        else:
            self._loads[b] = after
            self._load(b, after)
        self._derive()

    def clear(self) -> None:
        """Remove all payloads; this restores the compiled model bit by bit."""
        if not self._loads:
            return
        self.changes += 1
        for b in self._loads:
            self._restore(b)
        self._loads.clear()
        self._derive()

    # -- inside -------------------------------------------------------------------------------------------------

    def _body(self, name: str) -> int:
        b = mujoco.mj_name2id(self._model, mujoco.mjtObj.mjOBJ_BODY, str(name))
        if b > 0 and self._model.body_weldid[b] and not self._model.body_gravcomp[b]:
            return b
        known = self.bodies()
        if b < 0:
            raise ModelError(f"payload: there is no body {name!r}; {nearest(str(name), known)}", field="body")
        why = "does not move" if not self._model.body_weldid[b] else "is free of gravity (gravcomp)"
        raise ModelError(f"payload: body {name!r} {why}; {nearest(str(name), known)}", field="body")

    def _keep(self, b: int) -> None:
        """Take down what the compiler wrote for a body, the first time that it is changed."""
        m = self._model
        if not self._derived:
            self._derived = {name: getattr(m, name).copy() for name in DERIVED}
        geoms, sites = np.flatnonzero(m.geom_bodyid == b), np.flatnonzero(m.site_bodyid == b)
        first = max(int(m.body_bvhadr[b]), 0)
        boxes = slice(first, first + int(m.body_bvhnum[b]))
        self._compiled[b] = _Compiled(
            mass=float(m.body_mass[b]), position=m.body_ipos[b].copy(), quaternion=m.body_iquat[b].copy(),
            inertia=m.body_inertia[b].copy(), same=int(m.body_sameframe[b]), geoms=geoms,
            geoms_same=m.geom_sameframe[geoms], sites=sites, sites_same=m.site_sameframe[sites], boxes=boxes,
            aabb=m.bvh_aabb[boxes].copy(),
        )  # fmt: skip

    def _restore(self, b: int) -> None:
        m, c = self._model, self._compiled[b]
        m.body_mass[b], m.body_ipos[b], m.body_iquat[b], m.body_inertia[b] = c.mass, c.position, c.quaternion, c.inertia
        m.body_sameframe[b] = c.same
        m.geom_sameframe[c.geoms], m.site_sameframe[c.sites] = c.geoms_same, c.sites_same
        m.bvh_aabb[c.boxes] = c.aabb

    def _load(self, b: int, load: Payload) -> None:
        """Write the body together with its payload."""
        m, c = self._model, self._compiled[b]
        if m.body_simple[b]:
            m.body_mass[b] = c.mass + load.mass
            return
        turn, place = rotation_from_quaternion(c.quaternion), np.array(load.offset)
        mass = c.mass + load.mass
        centre = (c.mass * c.position + load.mass * place) / mass
        tensor = turn @ np.diag(c.inertia) @ turn.T
        for kilograms, at in ((c.mass, c.position), (load.mass, place)):
            arm = hat(at - centre)
            tensor -= kilograms * arm @ arm
        moments, axes = np.linalg.eigh(tensor)
        axes = axes[:, ::-1] * (1.0, 1.0, np.sign(np.linalg.det(axes[:, ::-1])))
        m.body_mass[b], m.body_ipos[b], m.body_inertia[b] = mass, centre, moments[::-1]
        m.body_iquat[b] = quaternion_from_rotation(axes)
        m.body_sameframe[b] = _NONE
        m.geom_sameframe[c.geoms] = np.where(np.isin(c.geoms_same, _INERTIAL), _NONE, c.geoms_same)
        m.site_sameframe[c.sites] = np.where(np.isin(c.sites_same, _INERTIAL), _NONE, c.sites_same)
        # Boxes around the old ones, in the new inertial frame.
        back = axes.T @ turn
        m.bvh_aabb[c.boxes, :3] = c.aabb[:, :3] @ back.T + axes.T @ (c.position - centre)
        m.bvh_aabb[c.boxes, 3:] = c.aabb[:, 3:] @ np.abs(back).T

    def _derive(self) -> None:
        """Bring up to date what is derived from masses and inertias."""
        m = self._model
        if not self._loads:
            for name, values in self._derived.items():
                getattr(m, name)[:] = values
            return
        if self._copy is None:
            import copy

            twin = copy.copy(m)
            self._copy = twin, mujoco.MjData(twin)
        twin, scratch = self._copy
        for name in ("body_mass", "body_ipos", "body_iquat", "body_inertia", "body_sameframe"):
            getattr(twin, name)[:] = getattr(m, name)
        mujoco.mj_setConst(twin, scratch)
        for name in DERIVED:
            getattr(m, name)[:] = getattr(twin, name)


def _checked(mass: float, offset: Sequence[float]) -> tuple[float, tuple[float, float, float]]:
    kilograms, numbers = math.nan, list[float]()
    with contextlib.suppress(TypeError, ValueError):
        kilograms = float(mass)
    with contextlib.suppress(TypeError, ValueError):
        numbers = [float(x) for x in offset]
    if not 0.0 <= kilograms <= MAX_PAYLOAD:
        raise ModelError(f"payload: mass is {mass!r} kg; must be from 0 to {MAX_PAYLOAD:g} kg", field="mass")
    if len(numbers) != 3 or not all(abs(x) <= MAX_OFFSET for x in numbers):
        raise ModelError(
            f"payload: offset is {offset!r}; must be three numbers from {-MAX_OFFSET:g} to {MAX_OFFSET:g} m",
            field="offset",
        )
    x, y, z = numbers
    return kilograms, (x, y, z)
