"""Drive of a pneumatic muscle: its proportional valve, the supply and the air in it."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.base.errors import LawError
from pliant.base.options import check_values, option
from pliant.laws.motor import Drive
from pliant.laws.pid import PID

REFERENCE_PRESSURE = 1.0e5
"""Pressure of the standard reference atmosphere of ISO 8778, on which conductances are based [Pa]."""

VALVE_GAINS = PID(kp=2.0e-5, kd=0.0)
"""Gains of the controller of a pressure, whose output is the opening of the valve: fully open at an error of 0.5 bar.
Assumed."""


@dataclass(frozen=True, slots=True)
class PneumaticDrive(Drive):
    """Proportional valve of a muscle, and the air in the muscle and its tube.

    The opening x of the valve follows the command u in [-1, 1]: time_constant dx/dt = u - x. For x > 0 the muscle is
    connected to the supply, for x < 0 to the ambient air. The mass flow is that of ISO 6358-1: from a pressure P_u to a
    lower one P_d, with r = P_d / P_u,

        m' = |x| conductance rho_0 P_u phi(r),   phi = 1 for r <= critical_ratio (choked), else
        phi = sqrt(1 - ((r - critical_ratio) / (1 - critical_ratio))^2)

    and linear in 1 - r for r > 0.999, so that the flow is laminar where the pressures are almost equal. rho_0 is the
    density of the standard reference atmosphere of ISO 8778 (100 kPa, 20 degrees), and all air has its temperature, so
    that R T m' = 100 kPa |x| conductance P_u phi.

    The air in the volume V of muscle and tube is an ideal gas with the polytropic exponent n: with the absolute
    pressure P, P' V = n (R T m' - P V'). The state is the content W = V (P / P_a)^(1/n) [m^3], the volume that the air
    would have at the ambient pressure P_a; closed valves keep it, whatever the joint does. The energy of the air is the
    work that it can do against the ambient air,

        E = P_a (V ((W / V)^n - W / V) / (n - 1) - (W - V)),   of n = 1: P_a (W log(W / V) - (W - V))

    and air that flows in at the pressure P brings the power w(P) R T m', w(P) = n / (n - 1) (1 - (P_a / P)^(1 - 1/n)).
    The supply delivers w(supply_pressure) R T m'; the difference, and all that flows out, is lost in the valve.
    """

    supply_pressure: float = option(7.0e5, unit="Pa", low=1.0e3, high=1.0e6, source="assumed")
    """Absolute pressure of the supply."""
    ambient_pressure: float = option(101325.0, unit="Pa", low=1.0e3, high=5.0e5, source="standard atmosphere")
    """Absolute pressure of the ambient air."""
    conductance: float = option(1.4e-8, unit="m^3/(s Pa)", low=0.0, above=True, high=1.0e-5, source="assumed")
    """Sonic conductance of the open valve (ISO 6358): about that of a proportional valve with a nominal flow of 350
    l/min."""
    critical_ratio: float = option(0.3, low=0.0, high=0.9, source="assumed")
    """Critical pressure ratio b (ISO 6358): at or below it the flow is choked."""
    time_constant: float = option(0.002, unit="s", low=0.0, source="assumed")
    """Time constant of the valve's opening; 0 for a valve without delay."""
    dead_volume: float = option(1.0e-5, unit="m^3", low=1.0e-9, source="assumed")
    """Volume of tube and fittings between valve and muscle."""
    exponent: float = option(1.2, low=1.0, high=1.5, source="assumed")
    """Polytropic exponent: 1 isothermal (slow), 1.4 adiabatic (fast)."""

    def __post_init__(self) -> None:
        check_values(self, LawError)
        if self.supply_pressure <= self.ambient_pressure:
            raise LawError(
                f"PneumaticDrive: supply_pressure {self.supply_pressure:g} Pa must be above ambient_pressure "
                f"{self.ambient_pressure:g} Pa; both are absolute",
                field="supply_pressure",
            )

    @property
    def min_position(self) -> float:
        """Least gauge pressure that a reference can ask for [Pa]."""
        return 0.0

    @property
    def max_position(self) -> float:
        """Largest gauge pressure that a reference can ask for, that of the supply [Pa]."""
        return self.supply_pressure - self.ambient_pressure

    @property
    def max_torque(self) -> float:
        """Largest command of the valve: 1 is fully open."""
        return 1.0

    def pack(self) -> list[float]:
        """Return its numbers in the order of `pliant.muscles.kernels`."""
        flow = self.conductance * REFERENCE_PRESSURE
        valve = [self.supply_pressure, self.ambient_pressure, flow, self.critical_ratio, self.time_constant]
        return [*map(float, valve), float(self.dead_volume), float(self.exponent)]
