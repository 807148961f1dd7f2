"""Blocks and values of the catalogue's compliant joints with ``realistic=true``.

Motors with current, temperature, cogging, Stribeck friction, elastic gears and backlash; springs with hysteresis. The
source of each value stands beside it; "assumed" where nothing has been published.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pliant.base.errors import ModelError

if TYPE_CHECKING:
    from pliant.laws import CompliantActuator, DCMotor, Law


def _motor(law: Law) -> DCMotor:
    """Return the motor of a law, with its gear."""
    from pliant.laws import Backlash, Cogging, DCMotor, Electrical, Gear, PreslidingFriction, Thermal

    cube = law.name == "qbmove"
    coil = Electrical(  # R, K_t, K_b: Maker Pro paper draft; the other joints have no published winding: the same
        max_current=1.5 if cube else 6.0,  # firmware of qbMove Advanced 6.1, default; others assumed
        max_current_rate=2000.0,  # assumed: full current in about 1 ms
        supply_resistance=0.2,  # assumed: battery and 2 m of cable
    )
    return DCMotor(
        friction=PreslidingFriction(  # level: toolbox; Stribeck effect assumed
            torque=0.02, stiffness=200.0, stribeck_velocity=0.1, breakaway=0.01, bristle_damping=0.05
        ),
        electrical=coil,
        thermal=Thermal(  # resistance and capacity assumed
            derating_temperature=373.15,  # assumed
            max_temperature=403.15,  # thermal class 130 of IEC 60085
        ),
        cogging=Cogging(
            torque=0.01,  # assumed
            periods=12.0 * 205.0,  # 12 per turn assumed; gear ratio 205: the authors' package of the qbMove
            ripple=0.02,  # assumed
        ),
        gear=Gear(inertia=0.001, stiffness=500.0, damping=0.2)  # assumed: a planetary gear in a cube of 66 mm
        if cube
        else Gear(inertia=0.002, stiffness=6700.0, damping=0.5),  # stiffness: least of WALK-MAN's gears; rest assumed
        backlash=Backlash(width=0.0029 if cube else 0.0003, damping=0.01),  # assumed: 10 arcmin; strain wave 1 arcmin
    )


def realistic(actuator: CompliantActuator) -> CompliantActuator:
    """Return an actuator with the blocks of its kind; modes 2 and 3, whose motors are ideal, become 5 and 6."""
    from pliant.laws import Backlash, Hysteresis, LeverDrive, Mode

    law = actuator.law
    if law.second_input == "pressure":
        raise ModelError(
            "realistic=true is for robots with motors; muscles have valves, air and hysteresis without it",
            field="realistic",
        )
    motors: dict[str, DCMotor] = {"motor_1": _motor(law)}
    if isinstance(actuator.motor_2, LeverDrive):
        # assumed: a ball screw
        motors["motor_2"] = LeverDrive(
            max_position=actuator.motor_2.max_position, backlash=Backlash(width=2e-5, damping=100.0)
        )
    elif law.motors == 2:
        motors["motor_2"] = _motor(law)
    # Maker Pro: a loop 0.11 rad wide at preset 0.46 rad and 0.5 N m (figure of the Maker Pro paper draft), times the
    # 3.5 N m/rad of its law there, is 0.39 N m high: half of it. The others: assumed.
    torque = 0.02
    if law.name == "qbmove" and getattr(law, "k1", 0.0) == 0.022:
        torque = 0.2
    return actuator.replace(
        mode={Mode.SPRING_REFS: Mode.PID_REFS, Mode.SPRING_EQ_PRESET: Mode.PID_EQ_PRESET}.get(
            actuator.mode, actuator.mode
        ),
        hysteresis=Hysteresis(torque=torque, deflection=0.05),  # deflection assumed
        command_resolution=1.9175e-4 if law.name == "qbmove" else 0.0,  # qb_move packages: pi / 2^14 rad per tick
        **motors,
    )
