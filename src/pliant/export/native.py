"""Compliant actuators as elements of plain MuJoCo.

A motor becomes a body at the world with a hinge of its own, ``<joint>/motor``, the motor's inertia reflected to the
link, no shape and a mass of `MOTOR_MASS`. The spring becomes a fixed tendon ``<joint>/spring`` over
the joint (+1) and the motor (-1), so that its torques on the two are equal and opposite, as in pliant; what acts beyond
the largest deflection is a second tendon with a dead band, and so are the knots of a fitted cubic spline. Dampers are
fixed tendons, because MuJoCo's Euler integrator treats those explicitly, as pliant does. Controllers are
``<position>`` or ``<pid>`` actuators with the name of the joint; friction and cogging are a ``<dcmotor>`` without
winding.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
from typing import cast

import mujoco
import numpy as np

from pliant.base.errors import ModelError
from pliant.export.spring_fit import NO_SPRING, SpringFit, fit_spring
from pliant.laws import PID, SEA, Cogging, CompliantActuator, DCMotor, Drive, Mode, PreslidingFriction, layout
from pliant.model.defaults import neutral_defaults
from pliant.model.description import key_frames
from pliant.model.inertia import set_inertia
from pliant.model.robot import Robot

MOTOR_MASS = 1e-9
"""Mass of the body of a motor, which turns about its centre [kg]."""
_LOSSLESS = 1e-9
"""Motor constant of a ``<dcmotor>`` that carries friction and cogging alone: it damps with its square [N m s/rad]."""
# Fields that are written, have no effect, or are refused with a reason of their own.
_ACTUATOR = frozenset([
    "law", "mode", "motor_1", "motor_2", "pid_1", "pid_2", "link_friction", "link_damping", "link_preset_damping",
    "command_delay", "command_resolution", "reference_slew_1", "reference_slew_2", "initial_preset", "start",
])  # fmt: skip
_MOTOR = frozenset([
    "inertia", "damping", "max_torque", "max_velocity", "min_position", "max_position", "friction",
    "limit_velocity", "torque_speed", "preset_damping", "electrical", "cogging", "thermal",
])  # fmt: skip
_WINDING = frozenset([
    "resistance", "inductance", "torque_constant", "back_emf_constant", "supply_voltage", "supply_resistance",
    "max_current",
])  # fmt: skip
_TWO_MOTOR_MODES = (Mode.SPRING_REFS, Mode.MOTOR_TORQUES, Mode.PID_REFS)
_IMPLICIT = (mujoco.mjtIntegrator.mjINT_IMPLICITFAST, mujoco.mjtIntegrator.mjINT_IMPLICIT)


def replace_actuators(robot: Robot, spec: mujoco.MjSpec, model: mujoco.MjModel, fit: bool) -> list[str]:
    """Replace the user actuators of an assembled spec by elements of MuJoCo; return in which way the file differs.

    Args:
        robot: the robot.
        spec: its assembled spec, which is changed.
        model: its compiled model, which has the key frames.
        fit: whether what MuJoCo has approximately only is written; a law that it lacks becomes a cubic spline at the
            initial preset.

    Raises:
        ModelError: MuJoCo has no element for a block of an actuator; the message names all of them.
    """
    actuators = robot.actuators
    lacking, inexact = (_by_reason(actuators, reasons) for reasons in (_refusals, _approximations))
    if any(_has_velocity_terms(actuator) for actuator in actuators.values()):
        inexact += _step_explicitly(spec)
    if lacking or (inexact and not fit):
        approximately = "" if lacking else "--fit writes the nearest that MuJoCo has and measures the error; or export "
        raise ModelError(
            f"plain MuJoCo cannot move this robot as pliant does: {'; '.join([*lacking, *([] if fit else inexact)])}. "
            f"{approximately or 'Export '}without --native, and call pliant.engine.install(model) after loading",
            field="native",
        )
    springs = {joint: fit_spring(actuator) for joint, actuator in actuators.items() if actuator.mode.has_spring}
    elements = {element.name: element for element in spec.actuators}
    with neutral_defaults(spec):
        for joint, actuator in actuators.items():
            if f"{joint}/ref_2" in elements:
                spec.delete(elements[f"{joint}/ref_2"])
            _Joint(spec, joint, actuator, springs.get(joint, NO_SPRING)).write(elements[joint])
    spec.nuser_actuator = max((len(element.userdata) for element in spec.actuators), default=0)
    _fill_keys(spec, model, robot)
    return inexact + list(_fits(robot, springs))


# -- what MuJoCo lacks ---------------------------------------------------------------------------------------------


def _by_reason(
    actuators: Mapping[str, CompliantActuator], reasons: Callable[[CompliantActuator], Iterator[str]]
) -> list[str]:
    """Return each reason with the joints that have it."""
    joints: dict[str, list[str]] = {}
    for joint, actuator in actuators.items():
        for reason in reasons(actuator):
            joints.setdefault(reason, []).append(joint)
    return [f"joint{'s' if len(names) > 1 else ''} {_names(names)}: {reason}" for reason, names in joints.items()]


def _names(joints: list[str]) -> str:
    more = f", ... ({len(joints)} in all)" if len(joints) > 6 else ""
    return ", ".join(map(repr, joints[:6])) + more


def _refusals(actuator: CompliantActuator) -> Iterator[str]:
    """Yield the blocks of an actuator that MuJoCo does not have."""
    law, mode = actuator.law, actuator.mode
    yield from _unwritten(actuator, _ACTUATOR, "")
    if mode.has_spring and type(law) is not SEA:
        if law.second_input == "angle" and mode in _TWO_MOTOR_MODES:
            yield (
                f"mode {mode.name} commands both motors, and a fitted spring has one; the modes SPRING_EQ_PRESET and "
                "PID_EQ_PRESET command the equilibrium"
            )
        elif law.second_input == "angle" and mode.has_motors and not _equal_motors(actuator):
            yield "two different motors or controllers; a fitted spring has one motor, the mean of two equal ones"
    elif mode.has_spring and not mode.has_motors and law.stop > 0.0:
        yield f"law.clip 'stop' in the mode {mode.name}, where the spring is a servo"
    if actuator.command_delay > 0.0:
        yield "command_delay"
    if actuator.command_resolution > 0.0 and mode not in (Mode.LINK_TORQUE, Mode.MOTOR_TORQUES):
        yield "command_resolution"
    if min(actuator.reference_slew_1, actuator.reference_slew_2) < math.inf:
        yield "reference_slew"
    if mode == Mode.LINK_PID or mode in (Mode.PID_REFS, Mode.PID_EQ_PRESET):
        yield from _pid_refusals(actuator.pid_1)
    if mode.has_spring and isinstance(actuator.motor_1, Drive):
        yield "motor_1: muscles with valves and air"
    elif mode.has_motors:
        yield from _motor_refusals(_motor(actuator))
    if actuator.link_friction is not None:
        yield from _friction_refusals(actuator.link_friction, "link_friction")


def _approximations(actuator: CompliantActuator) -> Iterator[str]:
    """Yield what MuJoCo steps in another way than pliant, so that the motion differs."""
    law, mode = actuator.law, actuator.mode
    if mode.has_spring and type(law) is not SEA:
        yield (
            f"law {law.name} is not a linear spring, and MuJoCo's are polynomials of one length without a preset; it "
            "is a cubic spline at the initial preset"
        )
    if mode in (Mode.PID_REFS, Mode.PID_EQ_PRESET):
        yield (
            f"mode {mode.name}: in a step the spring takes the motor's angle before the step, in pliant that after it"
        )
    if (
        mode == Mode.LINK_PID
        and actuator.pid_1
        and actuator.pid_1.ki > 0.0
        and actuator.pid_1.integral_limit < math.inf
    ):
        yield "pid_1.integral_limit is reached one step later"
    frictions = [("link_friction", actuator.link_friction)]
    if mode.has_motors and isinstance(actuator.motor_1, DCMotor):
        frictions.append(("motor_1.friction", actuator.motor_1.friction))
        if _has_stops(actuator.motor_1):
            yield "the stops of motor_1 are soft limits of MuJoCo, not hard ones"
    for where, friction in frictions:
        if friction is not None and _coulomb(friction, _preset(actuator)) > 0.0:
            yield f"{where} is the bristle of MuJoCo's LuGre model, which slides before its largest force is reached"


def _unwritten(part: object, written: frozenset[str], prefix: str) -> Iterator[str]:
    """Yield the fields of a block that are set and have no counterpart here, so that a new block is refused."""
    for field in dataclasses.fields(part):  # type: ignore[arg-type]
        if field.name not in written and getattr(part, field.name) != field.default:
            yield f"{prefix}{field.name}"


def _equal_motors(actuator: CompliantActuator) -> bool:
    return (actuator.motor_1, actuator.pid_1) == (actuator.motor_2, actuator.pid_2)


def _pid_refusals(pid: PID | None) -> Iterator[str]:
    if pid is None:
        return
    if pid.velocity_feedforward and pid.kd > 0.0:
        yield "pid_1.velocity_feedforward (the derivative of the reference)"
    if pid.anti_windup and pid.ki > 0.0:
        yield "pid_1.anti_windup"


def _motor(actuator: CompliantActuator) -> DCMotor:
    """Return the first motor, which is electric where air is refused."""
    return cast(DCMotor, actuator.motor_1)


def _motor_refusals(motor: DCMotor) -> Iterator[str]:
    yield from _unwritten(motor, _MOTOR, "motor_1.")
    yield from _friction_refusals(motor.friction, "motor_1.friction")
    if motor.stall_torque == 0.0:
        yield "motor_1.max_torque of 0 (a range of MuJoCo is not empty)"
    if motor.torque_speed:
        yield "motor_1.torque_speed"
    if motor.limit_velocity:
        yield "motor_1.limit_velocity"
    if motor.cogging is not None and motor.cogging.ripple > 0.0:
        yield "motor_1.cogging.ripple"
    if motor.thermal is not None:
        yield "motor_1.thermal (MuJoCo's has no derating and no cut-off)"
    winding = motor.electrical
    if winding is not None:
        yield from _unwritten(winding, _WINDING, "motor_1.electrical.")
        if winding.inductance > 0.0:
            yield "motor_1.electrical.inductance"
        if winding.supply_resistance > 0.0:
            yield "motor_1.electrical.supply_resistance"
        if winding.max_current < math.inf:
            yield "motor_1.electrical.max_current"


def _friction_refusals(friction: PreslidingFriction, where: str) -> Iterator[str]:
    if friction.load_coefficient > 0.0:
        yield f"{where}.load_coefficient (friction that depends on the load)"


def _has_velocity_terms(actuator: CompliantActuator) -> bool:
    on_link = actuator.link_friction is not None or _link_damping(actuator) > 0.0
    return on_link or actuator.mode == Mode.LINK_PID or actuator.mode.has_motors


def _step_explicitly(spec: mujoco.MjSpec) -> list[str]:
    """Choose Euler, implicit in the damping of joints alone, where it steps the rest of the robot as before."""
    if spec.option.integrator == mujoco.mjtIntegrator.mjINT_EULER:
        return []
    others = [a.name for a in spec.actuators if a.biastype != mujoco.mjtBias.mjBIAS_USER and np.any(a.biasprm[2:])]
    same = (
        spec.option.integrator in _IMPLICIT[:1]
        and not others
        and not any(np.any(tendon.damping) for tendon in spec.tendons)
        and not list(spec.flexes)
        and spec.option.density == spec.option.viscosity == 0.0
    )
    if same:
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_EULER
        return []
    name = mujoco.mjtIntegrator(spec.option.integrator).name.removeprefix("mjINT_").lower()
    return [
        f"the integrator {name} treats the damping of motors and controllers implicitly, pliant explicitly: the "
        "difference is proportional to the timestep"
    ]


# -- one joint -----------------------------------------------------------------------------------------------------


def _preset(actuator: CompliantActuator) -> float:
    return 0.0 if actuator.law.second_input == "none" else float(actuator.initial_preset or 0.0)


def _link_damping(actuator: CompliantActuator) -> float:
    spring = actuator.mode.has_spring
    return actuator.link_damping + (actuator.link_preset_damping * abs(_preset(actuator)) if spring else 0.0)


def _coulomb(friction: PreslidingFriction, preset: float) -> float:
    return friction.torque + friction.preset_coefficient * abs(preset)


def _has_stops(motor: DCMotor) -> bool:
    return motor.min_position > -math.inf or motor.max_position < math.inf


class _Joint:
    """Writes the elements of one compliant joint."""

    def __init__(self, spec: mujoco.MjSpec, joint: str, actuator: CompliantActuator, spring: SpringFit) -> None:
        self.spec, self.joint, self.actuator, self.spring = spec, joint, actuator, spring
        self.motor_name = f"{joint}/motor"
        self.preset = _preset(actuator) if actuator.mode.has_spring else 0.0
        # A fitted antagonistic spring has one motor: the mean of two equal ones.
        self.count = 2.0 if actuator.law.second_input == "angle" else 1.0

    def write(self, element: mujoco.MjsActuator) -> None:
        mode = self.actuator.mode
        element.userdata = []
        element.biastype, element.dyntype = mujoco.mjtBias.mjBIAS_AFFINE, mujoco.mjtDyn.mjDYN_NONE
        element.actdim = -1
        damping = _link_damping(self.actuator)
        if damping > 0.0:
            self._tendon("link_damping", {self.joint: 1.0}).damping = [damping, 0.0, 0.0]
        if self.actuator.link_friction is not None:
            self._write_losses("link_friction", self.joint, self.actuator.link_friction, None, 1.0)
        if mode == Mode.LINK_TORQUE:
            element.set_to_motor()
        elif mode == Mode.LINK_PID:
            self._write_pid(element, 1.0)
        elif not mode.has_motors:
            self._write_ideal_spring(element)
        else:
            self._write_motor()
            self._write_spring()
            element.target = self.motor_name
            if mode == Mode.MOTOR_TORQUES:
                element.set_to_motor()
                self._limit(element, "ctrl", self._effort_limit())
            else:
                self._write_pid(element, self.count)
                self._limit(element, "force", self._effort_limit())

    def _tendon(self, suffix: str, coefficients: dict[str, float]) -> mujoco.MjsTendon:
        tendon = self.spec.add_tendon(name=f"{self.joint}/{suffix}")
        for joint, coefficient in coefficients.items():
            tendon.wrap_joint(joint, coefficient)
        tendon.springlength = [0.0, 0.0]
        return tendon

    @staticmethod
    def _limit(element: mujoco.MjsActuator | mujoco.MjsTendon, what: str, limit: float) -> None:
        if limit < math.inf:
            setattr(element, f"{what}limited", mujoco.mjtLimited.mjLIMITED_TRUE)
            setattr(element, f"{what}range", [-limit, limit])

    def _effort_limit(self) -> float:
        """Return the largest torque command, of the motor or of its supply voltage."""
        return self.count * _motor(self.actuator).stall_torque

    def _write_pid(self, element: mujoco.MjsActuator, count: float) -> None:
        pid = self.actuator.pid_1 or PID()
        ki, limit = count * pid.ki, pid.integral_limit
        if ki == 0.0:
            element.set_to_position(kp=count * pid.kp, kv=count * pid.kd)
            return
        element.set_to_pid(
            # pliant's integral has the error of this step already, MuJoCo's only of those before.
            kp=count * pid.kp + ki * self.spec.option.timestep,
            kv=count * pid.kd,
            ki=ki,
            imax=limit / pid.ki if limit < math.inf else 0.0,
            slewmax=0.0,
            ctrlspec=int(mujoco.mjtCtrlInput.mjINPUT_POS),
        )

    def _write_ideal_spring(self, element: mujoco.MjsActuator) -> None:
        """Write a spring whose motor is its reference: a position actuator that saturates as the spring does."""
        spring = self.spring
        element.set_to_position(kp=spring.stiffness[0])
        if spring.beyond == 0.0:
            self._limit(element, "force", spring.stiffness[0] * spring.limit)

    def _write_motor(self) -> None:
        motor, count = _motor(self.actuator), self.count
        link = next(j for j in self.spec.joints if j.name == self.joint)
        body = self.spec.worldbody.add_body(name=self.motor_name)
        set_inertia(body, MOTOR_MASS, count * motor.inertia)
        hinge = body.add_joint(name=self.motor_name, type=mujoco.mjtJoint.mjJNT_HINGE)
        hinge.ref = link.ref
        if motor.min_position > -math.inf or motor.max_position < math.inf:
            hinge.limited = mujoco.mjtLimited.mjLIMITED_TRUE
            ends = np.array([max(motor.min_position, -layout.BIG), min(motor.max_position, layout.BIG)])
            hinge.range = np.rad2deg(ends) if self.spec.compiler.degree else ends
            hinge.solref_limit = [2.0 * self.spec.option.timestep, 1.0]  # as stiff as MuJoCo's limits are
        damping = motor.damping + motor.preset_damping * abs(self.preset)
        if motor.electrical is not None:
            winding = motor.electrical
            damping += winding.torque_constant * winding.back_emf_constant / winding.resistance
        if damping > 0.0:
            self._tendon("motor_damping", {self.motor_name: 1.0}).damping = [count * damping, 0.0, 0.0]
        self._write_losses("motor_losses", self.motor_name, motor.friction, motor.cogging, count)

    def _write_losses(
        self, suffix: str, joint: str, friction: PreslidingFriction, cogging: Cogging | None, count: float
    ) -> None:
        """Write friction and cogging: a motor of MuJoCo without input and without a winding to speak of."""
        level = _coulomb(friction, self.preset)
        options: dict[str, object] = {}
        if level > 0.0:
            # Without Stribeck effect MuJoCo needs a velocity all the same; the level does not depend on it.
            forces = [friction.stiffness, friction.bristle_damping, level, level + friction.breakaway]
            options["lugre"] = [*(count * force for force in forces), friction.stribeck_velocity or 1.0]
        if cogging is not None:
            # MuJoCo adds the sine, pliant subtracts it.
            options["cogging"] = [count * cogging.torque, cogging.periods, cogging.phase + math.pi]
        if not options:
            return
        element = self.spec.add_actuator(name=f"{self.joint}/{suffix}", target=joint)
        element.trntype = mujoco.mjtTrn.mjTRN_JOINT
        element.set_to_dcmotor(
            motorconst=[_LOSSLESS, _LOSSLESS],
            resistance=1.0,
            ctrlspec=int(mujoco.mjtCtrlInput.mjINPUT_NONE),
            **options,
        )

    def _write_spring(self) -> None:
        ends = {self.joint: 1.0, self.motor_name: -1.0}
        spring = self.spring
        element = self._tendon("spring", ends)
        element.stiffness, element.springlength = list(spring.stiffness), [spring.rest, spring.rest]
        for i, (low, high, cubic) in enumerate(spring.bands):
            knot = self._tendon(f"spring_{i + 1}", ends)
            knot.stiffness, knot.springlength = [0.0, 0.0, cubic], [low, high]
        if spring.exact and spring.beyond != spring.stiffness[0]:
            # Beyond the largest deflection the slope changes to that of the stop, 0 where the torque stays constant.
            stop = self._tendon("spring_end", ends)
            stop.stiffness = [spring.beyond - spring.stiffness[0], 0.0, 0.0]
            stop.springlength = [-spring.limit, spring.limit]


# -- key frames ----------------------------------------------------------------------------------------------------


def _fill_keys(spec: mujoco.MjSpec, model: mujoco.MjModel, robot: Robot) -> None:
    """Write the key frames of the compiled model with the joints of the motors and the states of MuJoCo's actuators."""
    for key in spec.keys:
        key.qpos, key.qvel, key.act, key.ctrl = [], [], [], []
    native = spec.copy().compile()
    for key, k in key_frames(spec, model):
        qpos, qvel = native.qpos0.copy(), np.zeros(native.nv)
        qpos[: model.nq], qvel[: model.nv] = model.key_qpos[k], model.key_qvel[k]
        act, ctrl = np.zeros(native.na), np.zeros(native.nu)
        for i in range(native.nactuator):
            name = native.actuator(i).name
            if name.rpartition("/")[0] in robot.actuators:  # friction and cogging, whose bristle is at rest
                continue
            old = model.actuator(name).id
            _copy(
                ctrl,
                native.actuator_ctrladr[i],
                model.key_ctrl[k],
                model.actuator_ctrladr[old],
                native.actuator_ctrlnum[i],
            )
            if name not in robot.actuators:
                _copy(
                    act,
                    native.actuator_actadr[i],
                    model.key_act[k],
                    model.actuator_actadr[old],
                    native.actuator_actnum[i],
                )
        for joint, actuator in robot.actuators.items():
            if actuator.mode.has_motors:
                first = model.actuator(joint).actadr[0] + int(model.actuator(joint).user[layout.A_MOTOR_1])
                hinge = native.joint(f"{joint}/motor")
                angle, speed = model.key_act[k][first : first + 2]
                if actuator.law.second_input == "angle":
                    second = model.actuator(joint).actadr[0] + int(model.actuator(joint).user[layout.A_MOTOR_2])
                    angle, speed = (
                        0.5 * (x + y) for x, y in zip((angle, speed), model.key_act[k][second : second + 2])
                    )
                qpos[hinge.qposadr[0]], qvel[hinge.dofadr[0]] = angle, speed
        key.qpos, key.qvel, key.act, key.ctrl = qpos, qvel, act, ctrl


def _copy(into: np.ndarray, at: int, source: np.ndarray, first: int, count: int) -> None:
    if count > 0:
        into[at : at + count] = source[first : first + count]


# -- what the file says --------------------------------------------------------------------------------------------


def _fits(robot: Robot, springs: dict[str, SpringFit]) -> Iterator[str]:
    """Yield how near the fitted springs are, and that their presets stay."""
    for joint, spring in springs.items():
        if spring.exact:
            continue
        yield f"the spring of joint {joint!r} is {spring.describe()}"
        actuator = robot.actuators[joint]
        if actuator.law.second_input != "none":
            unit = "m" if actuator.law.second_input == "lever" else "rad"
            yield (
                f"the preset of joint {joint!r} stays at {_preset(actuator):g} {unit}, reference 2 has no actuator; "
                f"set {joint}.initial_preset and export again for another"
            )
