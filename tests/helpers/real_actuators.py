"""The figures of the page docs/real-actuators.md: each block of an actuator, with and without it.

    python tests/helpers/real_actuators.py [NAME ...]

`make gallery` draws them all.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pliant.base.figures import COLORS, label, legend, new_figure
from pliant.laws import (
    SEA,
    ActuatorTraces,
    Backlash,
    Cogging,
    CompliantActuator,
    Creep,
    DCMotor,
    Electrical,
    Gear,
    Hysteresis,
    Mode,
    PreslidingFriction,
    Strength,
    Tendon,
    Thermal,
)

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "images" / "real-actuators"
DT = 2e-4
NO_FRICTION = PreslidingFriction(torque=0.0)
HEIGHT = 2.3


def run(
    q: Any, command: Any, *, mode: Mode = Mode.MOTOR_TORQUES, k: float = 40.0, motor: Any = None, **blocks: Any
) -> ActuatorTraces:
    """Run one series elastic actuator along a motion of its link."""
    made = CompliantActuator(SEA(k=k), mode=mode, motor_1=motor or DCMotor(), **blocks)
    q = np.asarray(q, dtype=float)
    return made.simulate(q, None, np.broadcast_to(command, q.shape), 0.0, DT)


def time_of(seconds: float) -> Any:
    return DT * np.arange(round(seconds / DT))


def draw(name: str, x: str, y: str, curves: dict[str, tuple[Any, Any]], place: str = "best") -> None:
    """Write one figure with a curve without and one with the block."""
    figure, axes = new_figure(1, 1, height=HEIGHT, width=4.6)
    axis = axes[0] if isinstance(axes, list | np.ndarray) else axes
    for (text, (a, b)), color in zip(curves.items(), (COLORS["reference"], COLORS["soft"], COLORS["stiff"])):
        axis.plot(a, b, color=color, label=text)
    label(axis, x, y)
    legend(axis, loc=place)
    FOLDER.mkdir(parents=True, exist_ok=True)
    figure.savefig(FOLDER / f"{name}.png", dpi=110)


def friction() -> None:
    t = time_of(2.0)
    lugre = PreslidingFriction(torque=0.3, stiffness=200.0, stribeck_velocity=0.2, breakaway=0.2, bristle_damping=0.5)
    plain = PreslidingFriction(torque=0.3, stiffness=200.0)
    found = {}
    for text, block in (("Coulomb, 0.3 N m", plain), ("with Stribeck effect", lugre)):
        # The torque rises slowly: the motor breaks away.
        traces = run(0.0 * t, 0.35 * t, k=0.0, motor=DCMotor(friction=block))
        found[text] = (t, traces.motor_1_velocity)
    draw("friction", "time [s], torque 0.35 N m/s", "motor velocity [rad/s]", found)


def cogging() -> None:
    t = time_of(2.0)
    found = {}
    for text, block in (("without", None), ("cogging and ripple", Cogging(torque=0.1, periods=30.0, ripple=0.1))):
        motor = DCMotor(friction=NO_FRICTION, cogging=block)
        found[text] = (t, run(0.0 * t, 0.17, k=0.0, motor=motor).motor_1_velocity)
    draw("cogging", "time [s], torque 0.17 N m", "motor velocity [rad/s]", found)


def drive() -> None:
    t = time_of(0.02)
    coil = {"resistance": 2.0, "inductance": 2e-4, "torque_constant": 0.5, "back_emf_constant": 0.3}
    limits = {"max_current": 3.0, "max_current_rate": 600.0, "supply_resistance": 0.5}
    found = {}
    for text, more in (("without limits", {}), ("3 A, 600 A/s, bus of 0.5 ohm", limits)):
        motor = DCMotor(max_torque=50.0, inertia=1e3, electrical=Electrical(**coil, **more))
        found[text] = (1e3 * t, run(0.0 * t, 2.5, motor=motor).motor_1_effort)
    draw("drive", "time [ms]", "motor torque [N m]", found)


def thermal() -> None:
    t = time_of(60.0)
    warm = Thermal(resistance=3.0, capacity=8.0, derating_temperature=350.0, max_temperature=380.0)
    found = {}
    for text, block in (("without", None), ("winding that heats and derates", warm)):
        coil = Electrical(resistance=2.0, torque_constant=0.5, back_emf_constant=0.3, max_current=6.0)
        motor = DCMotor(max_torque=50.0, inertia=1e4, electrical=coil, thermal=block)
        found[text] = (t, run(0.0 * t, 2.6, motor=motor).motor_1_effort)
    draw("thermal", "time [s], stalled", "motor torque [N m]", found, "center right")


def gear() -> None:
    t = time_of(0.25)
    found = {}
    for text, block in (("rigid", None), ("elastic, 300 N m/rad", Gear(inertia=0.01, stiffness=300.0, damping=0.1))):
        motor = DCMotor(inertia=0.02, friction=NO_FRICTION, gear=block)
        found[text] = (1e3 * t, run(0.0 * t, np.where(t < 0.05, 3.0, 0.0), motor=motor).motor_1_velocity)
    draw("gear", "time [ms], 3 N m for 50 ms", "rotor velocity [rad/s]", found)


def backlash() -> None:
    t = time_of(4.0)
    q = 0.1 * np.sin(2.0 * math.pi * t / 2.0)
    found = {}
    for text, block in (("without", None), ("play of 0.06 rad", Backlash(width=0.06))):
        found[text] = (q, run(q, 0.0, mode=Mode.SPRING_REFS, link_backlash=block).torque)
    draw("backlash", "link angle [rad], motor fixed", "torque on the link [N m]", found)


def tendon() -> None:
    t = time_of(4.0)
    q = 0.12 * np.sin(2.0 * math.pi * t / 2.0)
    found = {}
    blocks = {
        "rigid": None,
        "pretension 1 N m": Tendon(stiffness=20.0, damping=0.02, pretension=1.0),
        "slack 0.05 rad": Tendon(stiffness=60.0, damping=0.02, slack=0.05),
    }
    for text, block in blocks.items():
        motor = DCMotor(inertia=1e6, tendon=block)
        found[text] = (q, run(q, 0.0, motor=motor).torque)
    draw("tendon", "link angle [rad], motor fixed", "torque on the link [N m]", found)


def hysteresis() -> None:
    t = time_of(6.0)
    q = 0.1 * np.sin(2.0 * math.pi * t / 2.0) * (1.0 - t / 8.0)
    found = {}
    for text, block in (("without", None), ("0.8 N m, all slip at 0.05 rad", Hysteresis(torque=0.8, deflection=0.05))):
        found[text] = (q, run(q, 0.0, mode=Mode.SPRING_REFS, k=20.0, hysteresis=block).torque)
    draw("hysteresis", "link angle [rad], motor fixed", "torque on the link [N m]", found)


def creep() -> None:
    t = time_of(8.0)
    found = {}
    for text, block in (("without", None), ("20 N m/rad that relax in 1 s", Creep(stiffness=20.0, time=1.0))):
        motor = DCMotor(friction=NO_FRICTION)
        traces = run(0.0 * t, np.where(t < 4.0, 2.0, 0.0), motor=motor, creep=block)
        found[text] = (t, traces.motor_1_position)
    draw("creep", "time [s], load 2 N m for 4 s", "deflection [rad]", found)


def strength() -> None:
    t = time_of(4.0)
    q = np.interp(t, [0.0, 1.0, 2.0, 4.0], [0.0, 0.15, 0.0, 0.3])
    found = {}
    blocks = {
        "without": None,
        "yields at 4 N m": Strength(yield_torque=4.0),
        "breaks at 7 N m": Strength(break_torque=7.0),
    }
    for text, block in blocks.items():
        found[text] = (q, run(q, 0.0, mode=Mode.SPRING_REFS, strength=block).torque)
    draw("strength", "link angle [rad], motor fixed", "torque on the link [N m]", found, "lower left")


def slew() -> None:
    t = time_of(0.5)
    found = {}
    for text, rate in (("without", math.inf), ("3 rad/s", 3.0)):
        traces = run(0.0 * t, 0.8, mode=Mode.PID_EQ_PRESET, k=1.0, reference_slew_1=rate)
        found[text] = (t, traces.motor_1_position)
    draw("slew", "time [s], step of 0.8 rad", "motor position [rad]", found, "lower right")


FIGURES: tuple[Callable[[], None], ...] = (
    friction, cogging, drive, thermal, gear, backlash, tendon, hysteresis, creep, strength, slew,
)  # fmt: skip


if __name__ == "__main__":
    for figure in FIGURES:
        if not sys.argv[1:] or figure.__name__ in sys.argv[1:]:
            figure()
