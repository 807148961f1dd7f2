"""The laws as joints of MuJoCo Playground, or of any program that steps MJX."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from pliant.base.errors import LawError, importing
from pliant.laws.actuator import CompliantActuator
from pliant.learn.adapters.joints import NEXT_STEP, checked_dt, match_actuators
from pliant.learn.laws import load_warp, warp_law

if TYPE_CHECKING:
    import mujoco
    import warp as wp

with importing("MuJoCo Playground", command="pip install playground", purpose="the laws as its joints"):
    import jax
    from mujoco import mjx

_COMPUTE = f"""\
def joints_kernel(
    par: wp.array2d(dtype=real),
    presets: wp.array(dtype=real),
    zeros: wp.array(dtype=wp.bool),
    h: real,
    fresh: wp.array(dtype=wp.bool),
    motion: wp.array2d(dtype=wp.float32),
    references: wp.array2d(dtype=wp.float32),
    before: wp.array2d(dtype=real),
    after: wp.array2d(dtype=real),
    rate: wp.array2d(dtype=real),
    torque: wp.array(dtype=wp.float32),
):
    i = wp.tid()
    j = i % par.shape[0]
    p = par[j]
    preset = presets[j]
    from_zero = zeros[j]
    x = real(motion[i, 0])
    v = real(motion[i, 1])
    r1 = real(references[i, 0])
    r2 = real(references[i, 1])
{NEXT_STEP}"""


Motors: TypeAlias = "tuple[jax.Array, ...]"
"""States of the motors, an array for each law."""


class CompliantJoints:
    """The compliant joints of a model of MJX, for functions that JAX compiles and maps over worlds.

    The motors have their states in double precision. In arrays of JAX, which is in single precision, they are kept as
    pairs of uint32: copy and select them, and do not compute with them. They are put at rest where the links are in
    each step that begins at time 0, so that a reset of `mjx.Data` alone starts them again, too.

    Args:
        model: the model; joints with an actuator of pliant have none of MuJoCo's.
        actuators: regular expression of whole joint names -> actuator; the first that matches counts. Joints that
            none matches are left as they are.
        dt: time step; None for that of the model [s].

    Raises:
        LawError: an expression matches no joint, or a joint is neither a hinge nor a slide.

    Example:
        >>> joints = CompliantJoints(mj_model, {".*knee": CompliantActuator(QbMove())})
        >>> motors = joints.motors()
        >>> data, motors = joints.step(mjx_model, data, references, motors, n_substeps=4)
    """

    def __init__(
        self, model: mujoco.MjModel, actuators: Mapping[str, CompliantActuator], dt: float | None = None
    ) -> None:
        joints = {model.joint(k).name: k for k in range(model.njnt)}
        kept = [name for name in joints if any(re.fullmatch(pattern, name) for pattern in actuators)]
        found = match_actuators(actuators, kept or list(joints))
        self.names = tuple(kept)
        """Names of the joints."""
        for name in kept:
            if model.jnt_type[joints[name]] < 2:
                raise LawError(f"joint {name!r} is a free or ball joint; must be a hinge or slide", field="actuators")
        self.dt = checked_dt(float(model.opt.timestep) if dt is None else dt)
        """Time step [s]."""
        self.presets = np.array([float(a.initial_preset or 0.0) for a in found], dtype=np.float32)
        """Second references before the first command, shape (joints,)."""
        self._q = np.array([model.jnt_qposadr[joints[name]] for name in kept])
        self._v = np.array([model.jnt_dofadr[joints[name]] for name in kept])
        laws = list(dict.fromkeys(type(a.law) for a in found))
        groups = [np.array([k for k, a in enumerate(found) if type(a.law) is law]) for law in laws]
        self._groups = [(columns, _group([found[k] for k in columns], self.dt)) for columns in groups]

    def motors(self) -> Motors:
        """Return motors that the first step puts at rest: opaque arrays, to be carried from step to step."""
        return tuple(
            jax.numpy.zeros((len(columns), 2 * states), dtype=np.uint32) for columns, (_, states) in self._groups
        )

    def torques(
        self, fresh: jax.Array, q: jax.Array, dq: jax.Array, references: jax.Array, motors: Motors
    ) -> tuple[jax.Array, Motors]:
        """Return the torques of the joints [N m], and the motors one step later.

        Args:
            fresh: whether to put the motors at rest first, a boolean.
            q: positions of the joints, shape (joints,) [rad].
            dq: their velocities [rad/s].
            references: both references in the units of the modes, shape (joints, 2).
            motors: what the last step returned.
        """
        jnp = jax.numpy
        torque, after = jnp.zeros(len(self.names), dtype=np.float32), []
        motion = jnp.stack([q, dq], axis=-1).astype(np.float32)
        given = jnp.asarray(references, dtype=np.float32)
        for (columns, (compute, states)), before in zip(self._groups, motors, strict=True):
            n = len(columns)
            shapes = {"after": (n, 2 * states), "rate": (n, 2 * states), "torque": (n,)}
            new, _, values = compute(
                jnp.broadcast_to(fresh, (n,)), motion[columns], given[columns], before, output_dims=shapes
            )
            torque = torque.at[columns].set(values)
            after.append(new)
        return torque, tuple(after)

    def step(
        self, model: mjx.Model, data: mjx.Data, references: jax.Array, motors: Motors, n_substeps: int = 1
    ) -> tuple[mjx.Data, Motors]:
        """Return the data and the motors after some steps of MJX with constant references.

        Args:
            model: model of MJX.
            data: its data.
            references: both references of the joints, shape (joints, 2).
            motors: what the last step returned, or `motors`.
            n_substeps: number of steps.
        """

        def advance(carry: tuple[mjx.Data, Motors], _: None) -> tuple[tuple[mjx.Data, Motors], None]:
            data, motors = carry
            fresh = data.time < 0.5 * self.dt
            torque, motors = self.torques(fresh, data.qpos[self._q], data.qvel[self._v], references, motors)
            data = data.replace(qfrc_applied=data.qfrc_applied.at[self._v].set(torque))
            return (mjx.step(model, data), motors), None

        return jax.lax.scan(advance, (data, motors), None, n_substeps)[0]


def _group(actuators: list[CompliantActuator], dt: float) -> tuple[Callable[..., tuple[jax.Array, ...]], int]:
    """Return the function of JAX for joints of one law, and the number of their states."""
    wp, law = load_warp(), warp_law(type(actuators[0].law))
    rows = [a.pack(dt) for a in actuators]
    states = max(1, *(a.states(dt) for a in actuators))
    kernel = law.kernel(_COMPUTE)
    constant = [
        np.stack([np.pad(row, (0, max(map(len, rows)) - len(row))) for row in rows]),
        np.array([float(a.initial_preset or 0.0) for a in actuators]),
        np.array([a.start == "zero" for a in actuators]),
    ]
    placed: dict[str, list[wp.array]] = {}

    def joints(fresh, motion, references, before, after, rate, torque):  # type: ignore[no-untyped-def]
        device = fresh.device
        if str(device) not in placed:
            placed[str(device)] = [wp.array(value, device=device) for value in constant]
        states_of = [
            wp.array(ptr=a.ptr, shape=(a.shape[0], states), dtype=law.real, device=device)
            for a in (before, after, rate)
        ]
        inputs = [*placed[str(device)], dt, fresh, motion, references, *states_of, torque]
        law.launch(kernel, fresh.shape[0], inputs, device)

    pairs, table = wp.array2d(dtype=wp.uint32), wp.array2d(dtype=wp.float32)
    joints.__annotations__ = {
        "fresh": wp.array(dtype=wp.bool),
        "motion": table,
        "references": table,
        "before": pairs,
        "after": pairs,
        "rate": pairs,
        "torque": wp.array(dtype=wp.float32),
    }
    return wp.jax_callable(joints, num_outputs=3, graph_mode=wp.JaxCallableGraphMode.NONE), states
