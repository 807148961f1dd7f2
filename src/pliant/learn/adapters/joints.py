"""The joints of many worlds, whose torques another simulator asks for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.base.errors import LawError, importing, nearest
from pliant.laws import layout
from pliant.laws.actuator import CompliantActuator
from pliant.laws.modes import Mode
from pliant.learn.laws import WarpLaw, load_warp, warp_device, warp_law

if TYPE_CHECKING:
    import torch
    import warp as wp

SECOND = ("preset", "velocity_target")
"""Sources of the second reference in another simulator: `TorchJoints.preset`, or the simulator's velocity target."""
_OF_TORQUE = (Mode.LINK_TORQUE, Mode.MOTOR_TORQUES)

NEXT_STEP = f"""\
    a = after[i]
    w = rate[i]
    states = wp.int32(p[{layout.P_STATES}])
    if fresh[i]:
        place = x
        if from_zero:
            place = real(0.0)
        held_1, held_2 = hold(p, place, preset, a)
    else:
        for k in range(states):
            a[k] = before[i, k]
    advance(p, x, v, r1, r2, h, a, w)
    torque[i] = wp.float32(link_torque(p, x, v, r1, r2, h, a, w))
    for k in range(states):
        a[k] = a[k] + h * w[k]
"""
"""End of a kernel of `WarpLaw.kernel` for simulators that keep the states of two steps, ``before`` and ``after``:
thread i starts the motors of a ``fresh`` joint at rest, writes its torque and advances its motors."""


def check_second(second: object) -> None:
    """Refuse a source of the second reference that is none of `SECOND`.

    Raises:
        LawError: it is another one.
    """
    if second not in SECOND:
        raise LawError(f"second is {second!r}; must be one of {', '.join(SECOND)}", field="second")


def checked_dt(dt: float | None) -> float:
    """Return a time step [s].

    Raises:
        LawError: it is no number above 0.
    """
    if dt is None or isinstance(dt, bool | str) or not 0.0 < dt < np.inf:
        raise LawError(f"dt is {dt!r}; must be a number > 0 [s]", field="dt")
    return float(dt)


def takes_torque(actuator: CompliantActuator) -> bool:
    """Return whether the first reference of an actuator is a torque, in its mode."""
    return actuator.mode in _OF_TORQUE


def match_actuators(actuators: Mapping[str, CompliantActuator], joints: Sequence[str]) -> list[CompliantActuator]:
    """Return the actuator of each joint.

    Args:
        actuators: regular expression of whole joint names -> actuator; the first that matches counts.
        joints: names of the joints.

    Raises:
        LawError: a joint has no actuator, an expression matches no joint, or a value is no actuator.
    """
    if not isinstance(actuators, Mapping) or not actuators:
        raise LawError(f"actuators is {actuators!r}; must be joint name -> CompliantActuator", field="actuators")
    found = []
    used = set()
    for joint in joints:
        pattern = next((p for p in actuators if re.fullmatch(p, joint)), None)
        if pattern is None:
            raise LawError(f"joint {joint!r} has no actuator; {nearest(joint, list(actuators))}", field="actuators")
        used.add(pattern)
        found.append(actuators[pattern])
    unused = [p for p in actuators if p not in used]
    if unused:
        raise LawError(f"actuators has {unused[0]!r}; {nearest(unused[0], list(joints))}", field="actuators")
    return found


@dataclass(slots=True)
class _Group:
    """The joints of one law."""

    law: WarpLaw
    columns: NDArray[np.int64]
    table: NDArray[np.float64]
    rows: wp.array
    parameters: wp.array
    state: wp.array
    rate: wp.array


class LawJoints:
    """The compliant joints of equal robots in many worlds, as arrays of Warp.

    Parameters and motor states are kept in double precision; positions, velocities, references and torques are float32,
    as those of simulators on a GPU. The joints may have different laws.

    Args:
        actuators: the actuator of each joint, n of them.
        worlds: number of worlds.
        dt: time step of the simulator [s].
        device: device of Warp, "cpu" or "cuda:0".

    Raises:
        LawError: no actuators, an object that is none, no worlds, a time step that is not positive.

    Example:
        >>> joints = LawJoints([CompliantActuator(QbMove())] * 6, worlds=4096, dt=0.001, device="cuda:0")
        >>> joints.step(q, dq, references, torque)
    """

    def __init__(self, actuators: Sequence[CompliantActuator], worlds: int, dt: float, *, device: str = "cpu") -> None:
        if not actuators:
            raise LawError("actuators is empty; must be one actuator for each joint", field="actuators")
        for i, actuator in enumerate(actuators):
            if not isinstance(actuator, CompliantActuator):
                kind = type(actuator).__name__
                raise LawError(f"actuators[{i}] is a {kind}; must be a CompliantActuator", field="actuators")
        if isinstance(worlds, bool) or not isinstance(worlds, int) or worlds < 1:
            raise LawError(f"worlds is {worlds!r}; must be a whole number >= 1", field="worlds")
        self.actuators = tuple(actuators)
        """The actuator of each joint."""
        self.worlds = worlds
        """Number of worlds."""
        self.dt = checked_dt(dt)
        """Time step [s]."""
        self.device = warp_device(device)
        """Device of Warp."""
        self.presets = np.array([float(a.initial_preset or 0.0) for a in actuators])
        """Second reference of each joint before the first command, shape (joints,)."""
        self._from_zero = np.array([a.start == "zero" for a in actuators])
        kinds = list(dict.fromkeys(type(a.law) for a in actuators))
        self._groups = [self._group(cls) for cls in kinds]
        self.reset(np.zeros((worlds, self.joints)))

    @property
    def joints(self) -> int:
        """Number of joints of a world."""
        return len(self.actuators)

    def _group(self, cls: type) -> _Group:
        wp = load_warp()
        columns = np.array([i for i, a in enumerate(self.actuators) if type(a.law) is cls])
        packed = [self.actuators[i].pack(self.dt) for i in columns]
        width = max(row.size for row in packed)
        table = np.tile(np.stack([np.pad(row, (0, width - row.size)) for row in packed]), (self.worlds, 1))
        rows = (np.arange(self.worlds)[:, None] * self.joints + columns).ravel().astype(np.int32)
        states = max(1, int(table[:, layout.P_STATES].max()))
        put = lambda value, kind: wp.array(value, dtype=kind, device=self.device)  # noqa: E731
        zero = np.zeros((rows.size, states))
        law = warp_law(cls)
        return _Group(
            law, columns, table, put(rows, wp.int32), put(table, law.real), put(zero, law.real), put(zero, law.real)
        )

    def reset(self, positions: ArrayLike, worlds: ArrayLike | None = None) -> None:
        """Put the motors of some worlds at rest, where the springs are not deflected.

        Args:
            positions: positions of all joints, shape (worlds, joints) [rad].
            worlds: mask of the worlds, shape (worlds,); None for all.

        Raises:
            LawError: another shape, or numbers that are not finite.
        """
        wp = load_warp()
        q = np.asarray(positions, dtype=float)
        mask = np.ones(self.worlds, dtype=bool) if worlds is None else np.asarray(worlds)
        if q.shape != (self.worlds, self.joints) or not np.isfinite(q).all():
            raise LawError(
                f"positions has shape {q.shape}; must be finite numbers of shape {(self.worlds, self.joints)}",
                field="positions",
            )
        if mask.shape != (self.worlds,) or mask.dtype != bool:
            raise LawError(f"worlds has shape {mask.shape}; must be a mask of shape ({self.worlds},)", field="worlds")
        if not mask.any():
            return
        q = np.where(self._from_zero, 0.0, q)
        for group in self._groups:
            chosen = np.repeat(mask, group.columns.size)
            presets = np.tile(self.presets[group.columns], int(mask.sum()))
            start = q[mask][:, group.columns].ravel()
            act, _ = group.law.hold(group.table[chosen], start, presets, device=str(self.device))
            state = group.state.numpy()
            state[chosen, : act.shape[1]] = act
            state[chosen, act.shape[1] :] = 0.0
            group.state.assign(wp.array(state, dtype=group.law.real, device=self.device))

    def step(self, q: wp.array, dq: wp.array, references: wp.array, torque: wp.array) -> None:
        """Compute the torques of all joints, and advance their motors by one step.

        Args:
            q: positions, float32 array of Warp, shape (worlds * joints,), the joints of a world side by side [rad].
            dq: velocities, the same [rad/s].
            references: both references of each joint in the units of its mode, shape (worlds * joints, 2).
            torque: receives the torques, shape (worlds * joints,) [N m].

        Raises:
            LawError: an array has another shape or type.
        """
        count = self.worlds * self.joints
        if getattr(q, "shape", None) != (count,):
            raise LawError(
                f"q has shape {getattr(q, 'shape', None)}; must be ({count},): {self.worlds} worlds of {self.joints} "
                "joints",
                field="q",
            )
        for g in self._groups:
            g.law.step(g.parameters, g.state, g.rate, (q, dq), references, self.dt, torque, rows=g.rows)


class TorchJoints:
    """`LawJoints` on tensors of PyTorch, for simulators that ask a group of actuators for its torques.

    Args:
        actuators: the actuator of each joint.
        worlds: number of worlds.
        dt: time step of the simulator [s].
        device: device of PyTorch, "cpu" or "cuda:0".

    Raises:
        MissingDependency: PyTorch or Warp is not installed.
    """

    def __init__(self, actuators: Sequence[CompliantActuator], worlds: int, dt: float, *, device: str = "cpu") -> None:
        with importing("PyTorch", command="pip install torch", purpose="laws on its tensors"):
            import torch
        self._torch = torch
        self.laws = LawJoints(actuators, worlds, dt, device=str(device))
        """Parameters and states."""
        shape = (worlds, self.laws.joints)
        self.references = torch.zeros((*shape, 2), dtype=torch.float32, device=device)
        """Both references of the last step, shape (worlds, joints, 2)."""
        self.torque = torch.zeros(shape, dtype=torch.float32, device=device)
        """Torques of the last step, shape (worlds, joints) [N m]."""
        self.preset = torch.tensor(self.laws.presets, dtype=torch.float32, device=device).repeat(worlds, 1)
        """Second reference while none is given, shape (worlds, joints)."""
        self._of_torque = torch.tensor([takes_torque(a) for a in actuators], device=device)
        self._waiting = torch.ones(worlds, dtype=torch.bool, device=device)
        self._any_waiting = True

    def reset(self, worlds: Sequence[int] | torch.Tensor | None = None) -> None:
        """Put the motors of some worlds at rest before the next step, at the positions that it then has.

        Args:
            worlds: indices or mask of the worlds; None for all.
        """
        self._waiting[slice(None) if worlds is None else worlds] = True
        self._any_waiting = True

    def compute(
        self,
        position: torch.Tensor,
        effort: torch.Tensor,
        second: torch.Tensor | None,
        q: torch.Tensor,
        dq: torch.Tensor,
    ) -> torch.Tensor:
        """Return the torques of all joints, shape (worlds, joints) [N m], and advance the motors by one step.

        Args:
            position: first reference of the modes of positions, shape (worlds, joints) [rad].
            effort: first reference of the modes of torques [N m].
            second: second reference in the unit of the mode; None for `preset`.
            q: positions of the links [rad].
            dq: velocities of the links [rad/s].

        Raises:
            LawError: a tensor has another shape or type.
        """
        torch, wp = self._torch, load_warp()
        second = self.preset if second is None else second
        given = {"position": position, "effort": effort, "second": second, "q": q, "dq": dq}
        for name, value in given.items():
            if tuple(value.shape) != tuple(self.torque.shape) or value.dtype is not torch.float32:
                raise LawError(
                    f"{name} has shape {tuple(value.shape)} of {value.dtype}; must be {tuple(self.torque.shape)} of "
                    "torch.float32",
                    field=name,
                )
        if self._any_waiting:
            self.laws.reset(q.detach().cpu().numpy(), self._waiting.cpu().numpy())
            self._waiting[:] = False
            self._any_waiting = False
        self.references[..., 0] = torch.where(self._of_torque, effort, position)
        self.references[..., 1] = second
        flat = lambda tensor: wp.from_torch(tensor.detach().contiguous().view(-1))  # noqa: E731
        references = wp.from_torch(self.references.view(-1, 2))
        self.laws.step(flat(q), flat(dq), references, wp.from_torch(self.torque.view(-1)))
        return self.torque.clone()
