"""Engines under the contract: each case is an undamped mass on a spring, small enough to know the answer."""

from dataclasses import dataclass
from typing import Any

from fake_engine import SpringMassEngine


@dataclass(frozen=True, kw_only=True)
class EngineCase:
    engine: Any
    joint: str
    position: str
    velocity: str
    external_torque: str
    inertia: float
    stiffness: float
    start: float = 0.0


def spring_mass():
    return EngineCase(
        engine=SpringMassEngine(2, dt=0.001, mass=0.5, k=200.0),
        joint="joint_0",
        position="joint_0/position",
        velocity="joint_0/velocity",
        external_torque="joint_0/external_torque",
        inertia=0.5,
        stiffness=200.0,
    )


CASES = {"spring-mass": spring_mass}
