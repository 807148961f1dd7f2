"""Pulling a body with the pointer: a damped spring between the held point and the pointer."""

from __future__ import annotations

import math
from dataclasses import dataclass

import mujoco
import numpy as np

from pliant.base.numerics import Array
from pliant.base.spatial import cross
from pliant.engine.base import MujocoState

FREQUENCY = 1.2
"""Natural frequency of what hangs on the held body, on the pointer's spring [Hz]."""
DAMPING = 0.7
"""Its damping ratio."""
MAX_ACCELERATION = 60.0
"""Largest force of the pointer, for each kilogram of what hangs on the body [N/kg]."""
STABLE = 0.25
"""Largest impulse of spring or damper in one step, as a part of the momentum that the point has at its speed."""
RAMP = 0.2
"""How long the force of a button grows and falls [s]."""
MAX_FORCE = 2000.0
"""Largest force of the pointer [N]."""
MAX_SPEED = 4.0
"""Speed of the point above which the pointer no longer pulls it on, as fast as a hand moves [m/s]."""
MAX_KICK = 0.5
"""Largest speed that the force of one step gives to the point [m/s]."""


@dataclass(frozen=True, slots=True)
class _Held:
    """Held point of a body, and its target."""

    body: int
    """The body."""
    local: Array
    """The held point in its frame, shape (3,) [m]."""
    target: Array
    """Where the pointer is, shape (3,) [m, world]."""


@dataclass(frozen=True, slots=True)
class _Push:
    """A force of a button."""

    body: int
    """The body, pulled at its centre of mass."""
    force: Array
    """The force, shape (3,) [N, world]."""
    duration: float
    """How long [s]."""


def shape_reach(model: mujoco.MjModel, body: int) -> float:
    """Return how far the shapes of a body reach from its centre of mass [m]; 0 of a body without shapes.

    Args:
        model: the model.
        body: number of the body.
    """
    geoms = range(model.body_geomadr[body], model.body_geomadr[body] + model.body_geomnum[body])
    centre, radius = model.body_ipos[body], model.geom_rbound
    return max((math.dist(model.geom_pos[g], centre) + float(radius[g]) for g in geoms if radius[g] > 0.0), default=0.0)


class Pull:
    """The pointer's force on the bodies of one engine; what others apply to the same body stays.

    ``hold`` and ``release`` may be called by any thread; ``apply`` by the loop's, once per step.

    Args:
        engine: the physics.
    """

    def __init__(self, engine: MujocoState) -> None:
        self._model, self._data = engine.model, engine.data
        self._held: _Held | None = None
        self._push: _Push | None = None
        self._since: float | None = None
        self._applied: tuple[int, Array] | None = None
        self._time = -math.inf
        self._velocity = np.zeros(6)
        self._jacobian, self._solved = np.zeros((2, 3, max(engine.model.nv, 1)))
        self.force = np.zeros(3)
        """The force of the last step [N, world]."""
        self.reach: tuple[Array, Array] | None = None
        """Where the pulled point was at first, and where it was the farthest from there, each of shape (3,) [m, world];
        None before the first step of a pull."""

    @property
    def active(self) -> bool:
        """Whether a step has something to do."""
        return self._held is not None or self._push is not None or self._applied is not None

    @property
    def held(self) -> tuple[int, Array, Array] | None:
        """The body, the held point in its frame, and where the pointer is; None if nothing is held."""
        held = self._held
        return None if held is None else (held.body, held.local, held.target)

    def hold(self, body: int, point: Array, target: Array, *, position: Array, rotation: Array) -> None:
        """Hold a point of a body, or go on holding it with the pointer elsewhere.

        Args:
            body: the body.
            point: where it is held [m, world]; taken at the beginning only, and no farther from the body than its
                shapes reach.
            target: where the pointer is [m, world].
            position: where the body is in the picture [m, world].
            rotation: how it is turned there, shape (3, 3).
        """
        if not (np.isfinite(point).all() and np.isfinite(target).all()) or not 0 < body < self._model.nbody:
            return
        held = self._held
        if held is None or held.body != body:
            self.reach = None
        if held is not None and held.body == body:
            local = held.local
        else:
            local = self._on_body(body, rotation.T @ (point - position))
        self._held = _Held(body, local, np.array(target, dtype=float))

    def _on_body(self, body: int, local: Array) -> Array:
        """Return a place in the frame of a body, or the nearest to it in the ball that holds the body's shapes [m]."""
        centre, reach = self._model.body_ipos[body], shape_reach(self._model, body)
        away = local - centre
        far = float(np.linalg.norm(away))
        return local if reach == 0.0 or far <= reach else centre + away * (reach / far)

    def release(self) -> None:
        """Let go."""
        self._held = self._push = None

    def push(self, body: int, force: Array, duration: float) -> None:
        """Pull the centre of mass of a body, as a button does; a pointer that holds a body goes first.

        Args:
            body: the body.
            force: the force, which grows and falls within `RAMP`, shape (3,) [N, world].
            duration: how long [s].
        """
        self._since = self.reach = None
        self._push = _Push(body, force, duration)

    def point(self, data: mujoco.MjData) -> Array | None:
        """Return where a body is pulled in a state [m, world]; None if nothing is."""
        held, push = self._held, self._push
        if held is not None:
            return data.xpos[held.body] + data.xmat[held.body].reshape(3, 3) @ held.local
        return None if push is None else data.xipos[push.body].copy()

    def apply(self, time: float) -> None:
        """Put the force of this step on the body.

        Args:
            time: simulation time [s].
        """
        data, model = self._data, self._model
        if time < self._time:  # a reset has cleared all forces
            self._applied = None
        self._time = time
        if self._applied is not None:
            body, old = self._applied
            data.xfrc_applied[body] -= old
            self._applied = None
        held = self._held
        if held is None:
            self._apply_push(time)
            return
        body = held.body
        mass = max(float(model.body_subtreemass[body]), 1e-3)
        point = data.xpos[body] + data.xmat[body].reshape(3, 3) @ held.local
        self._note(point)
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_XBODY, body, self._velocity, 0)
        speed = self._velocity[3:] + cross(self._velocity[:3], point - data.xpos[body])
        rate, step = 2.0 * math.pi * FREQUENCY, float(model.opt.timestep)
        mobility = self._mobility(body, point)
        most = float(np.linalg.eigvalsh(mobility)[-1])
        light = STABLE / most if most > 0.0 else math.inf
        stiffness = min(mass * rate**2, light / step**2)
        damping = min(2.0 * DAMPING * mass * rate, light / step)
        force = stiffness * (held.target - point) - damping * speed
        if (size := float(np.linalg.norm(force))) > 0.0:
            along = force / size
            kick = step * float(along @ mobility @ along)
            largest = min(MAX_ACCELERATION * mass, MAX_FORCE, MAX_KICK / kick if kick > 0.0 else math.inf)
            largest *= min(1.0, max(0.0, 2.0 - 2.0 * float(speed @ along) / MAX_SPEED))
            force = along * min(size, largest)
        self._put(body, force, cross(point - data.xipos[body], force))

    def _apply_push(self, time: float) -> None:
        push = self._push
        if push is None:
            return
        since = self._since
        if since is None or time < since:
            self._since = since = time
        gone = time - since
        if gone > push.duration:
            self._push = None
            return
        self._note(self._data.xipos[push.body].copy())
        self._put(push.body, push.force * min(1.0, gone / RAMP, (push.duration - gone) / RAMP), np.zeros(3))

    def _note(self, point: Array) -> None:
        start, end = self.reach or (point, point)
        if math.dist(start, point) >= math.dist(start, end):
            end = point
        self.reach = start, end

    def _mobility(self, body: int, point: Array) -> Array:
        """Return the velocity that a unit impulse gives to a point, shape (3, 3) [1/kg].

        The force of one step acts without those of the next: a light part of a heavy chain, such as an element of a
        rod, would be driven to and fro by a spring and a damper for the whole chain.
        """
        model, data = self._model, self._data
        mujoco.mj_jac(model, data, self._jacobian, None, point, body)
        mujoco.mj_solveM(model, data, self._solved, self._jacobian)
        return self._jacobian @ self._solved.T

    def _put(self, body: int, force: Array, torque: Array) -> None:
        wrench = np.concatenate([force, torque])
        self._data.xfrc_applied[body] += wrench
        self._applied = body, wrench
        self.force = force
