"""The laws as a drive of Newton's actuators, for `newton.ModelBuilder.add_actuator`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np

from pliant.base.errors import LawError, importing
from pliant.laws.actuator import CompliantActuator
from pliant.learn.adapters.joints import NEXT_STEP, check_second, checked_dt, takes_torque
from pliant.learn.laws import WarpLaw, load_warp, warp_law

if TYPE_CHECKING:
    import warp as wp

with importing("Newton", command='pip install "newton[sim]"', purpose="the laws as its actuators"):
    from newton.actuators import DriveBase

_COMPUTE = f"""\
def drive_kernel(
    par: wp.array2d(dtype=real),
    q: wp.array(dtype=wp.float32),
    dq: wp.array(dtype=wp.float32),
    target_q: wp.array(dtype=wp.float32),
    target_dq: wp.array(dtype=wp.float32),
    feedforward: wp.array(dtype=wp.float32),
    presets: wp.array(dtype=wp.float32),
    q_of: wp.array(dtype=wp.uint32),
    dq_of: wp.array(dtype=wp.uint32),
    target_q_of: wp.array(dtype=wp.uint32),
    target_dq_of: wp.array(dtype=wp.uint32),
    of_torque: wp.bool,
    of_velocity: wp.bool,
    preset: real,
    from_zero: wp.bool,
    h: real,
    fresh: wp.array(dtype=wp.bool),
    before: wp.array2d(dtype=real),
    after: wp.array2d(dtype=real),
    rate: wp.array2d(dtype=real),
    torque: wp.array(dtype=wp.float32),
):
    i = wp.tid()
    p = par[i]
    x = real(q[q_of[i]])
    v = real(dq[dq_of[i]])
    r1 = real(target_q[target_q_of[i]])
    if of_torque:
        r1 = real(feedforward[target_dq_of[i]])
    r2 = real(presets[i])
    if of_velocity:
        r2 = real(target_dq[target_dq_of[i]])
{NEXT_STEP}"""

_MARK = """\
def mark_kernel(mask: wp.array(dtype=wp.bool), fresh: wp.array(dtype=wp.bool)):
    i = wp.tid()
    fresh[i] = fresh[i] or mask[i]
"""


class CompliantDrive(DriveBase):
    """Compliant joints of one kind; Newton makes it from the arguments of `add_actuator`.

    The position target of a joint is its first reference, or the feedforward effort in modes of torques. Joints with
    equal arguments share a drive.

    Example:
        >>> knee = CompliantActuator(QbMove(k1=0.002))
        >>> builder.add_actuator(CompliantDrive, index=6, actuator=knee, dt=0.001, second="velocity_target")
    """

    SHARED_PARAMS: ClassVar[set[str]] = {"actuator", "dt", "second"}

    @dataclass
    class State(DriveBase.State):
        """States of the motors."""

        law: WarpLaw
        """The law."""
        motors: wp.array
        """Its states, float64, shape (joints, states)."""
        fresh: wp.array
        """Joints whose motors are put at rest before the next step, where the links then are, shape (joints,)."""

        def reset(self, mask: wp.array | None = None) -> None:
            """Put the motors of some joints at rest before the next step; of all without a mask, shape (joints,)."""
            if mask is None:
                self.fresh.fill_(True)
            else:
                self.law.launch(self.law.kernel(_MARK), self.fresh.size, [mask, self.fresh], self.fresh.device)

    @classmethod
    def resolve_arguments(cls, args: Mapping[str, object]) -> dict[str, object]:
        """Return the arguments of a joint with defaults.

        Args:
            args: ``actuator``, a `CompliantActuator`; ``dt``, the time step of the actuators [s]; ``second``, the
                source of the second reference: "preset", for `CompliantDrive.preset`, or "velocity_target".

        Raises:
            LawError: an argument is missing or no valid one.
        """
        actuator, second = args.get("actuator"), args.get("second", "preset")
        if not isinstance(actuator, CompliantActuator):
            raise LawError(f"actuator is a {type(actuator).__name__}; must be a CompliantActuator", field="actuator")
        check_second(second)
        return {"actuator": actuator, "dt": checked_dt(cast("float | None", args.get("dt"))), "second": second}

    def __init__(self, actuator: CompliantActuator, dt: float, second: str = "preset") -> None:
        self.actuator = actuator
        """The actuator of all joints."""
        self.dt = dt
        """Time step [s]."""
        self.second = second
        """Source of the second reference."""
        self.preset: wp.array | None = None
        """Second reference while it is not the velocity target, float32, shape (joints,)."""
        self._start = float(actuator.initial_preset or 0.0)
        self.law = warp_law(type(actuator.law))
        self._kernel = self.law.kernel(_COMPUTE)

    def finalize(self, device: wp.Device, num_actuators: int) -> None:
        """Make the arrays of all joints on a device."""
        wp, n = load_warp(), num_actuators
        row, states = self.actuator.pack(self.dt), max(1, self.actuator.states(self.dt))
        self.preset = wp.full(n, self._start, dtype=wp.float32, device=device)
        self._parameters = wp.array(np.tile(row, (n, 1)), dtype=wp.float64, device=device)
        self._after, self._rate = (wp.zeros((n, states), dtype=wp.float64, device=device) for _ in range(2))
        self._kernel.module.load(device)

    def state(self, num_actuators: int, device: wp.Device) -> State:
        """Return the state of motors that are at rest where the links are in the first step."""
        wp = load_warp()
        motors = wp.zeros((num_actuators, self._after.shape[1]), dtype=wp.float64, device=device)
        return self.State(self.law, motors, wp.full(num_actuators, True, dtype=wp.bool, device=device))

    def compute(
        self,
        positions: wp.array,
        velocities: wp.array,
        target_pos: wp.array,
        target_vel: wp.array,
        feedforward: wp.array | None,
        pos_indices: wp.array,
        vel_indices: wp.array,
        target_pos_indices: wp.array,
        target_vel_indices: wp.array,
        forces: wp.array,
        state: State,
        dt: float,
        device: wp.Device | None = None,
        **_: object,
    ) -> None:
        """Write the torques of the joints [N m], and the states of the motors at the end of the step.

        Raises:
            LawError: another time step, or a mode of torques without feedforward efforts.
        """
        of_torque = takes_torque(self.actuator)
        if dt != self.dt:
            raise LawError(f"the actuators are stepped with dt = {dt} s; must be {self.dt:g} s, as made", field="dt")
        if of_torque and feedforward is None:
            raise LawError(
                f"the mode {self.actuator.mode.name} takes torques, and there are no feedforward efforts",
                field="feedforward",
            )
        inputs = [self._parameters, positions, velocities, target_pos, target_vel, feedforward, self.preset]
        inputs += [pos_indices, vel_indices, target_pos_indices, target_vel_indices]
        inputs += [of_torque, self.second == "velocity_target", self._start, self.actuator.start == "zero", self.dt]
        inputs += [state.fresh, state.motors, self._after, self._rate, forces]
        self.law.launch(self._kernel, forces.size, inputs, device)

    def update_state(self, current_state: State, next_state: State) -> None:
        """Copy the states of the motors at the end of the step."""
        load_warp().copy(next_state.motors, self._after)
        next_state.fresh.fill_(False)

    def is_stateful(self) -> bool:
        """Return True: the motors have states."""
        return True

    def is_graphable(self) -> bool:
        """Return True: a step reads nothing back."""
        return True
