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


MODEL = """
<mujoco>
  <option timestep="0.001" gravity="0 0 0" integrator="implicitfast"/>
  <worldbody>
    <body><joint name="swing" axis="0 1 0" stiffness="200"/>
      <inertial pos="0 0 0" mass="1" diaginertia="0.5 0.5 0.5"/></body>
    <body><joint name="slide" type="slide" axis="1 0 0" stiffness="50"/>
      <inertial pos="0 0 0" mass="2" diaginertia="0.1 0.1 0.1"/></body>
  </worldbody>
</mujoco>
"""


def oscillator(name):
    """A registered engine with a mass on a hinge and one on a slide."""
    from mujoco import MjModel

    from pliant.engine import ENGINES

    return EngineCase(
        engine=ENGINES[name](MjModel.from_xml_string(MODEL)),
        joint="swing",
        position="swing/position",
        velocity="swing/velocity",
        external_torque="swing/external_torque",
        inertia=0.5,
        stiffness=200.0,
    )


def names():
    """Every registered engine, and the engine of these tests that is not MuJoCo."""
    from pliant.engine import ENGINES

    return ["spring-mass", *ENGINES]


def make(name):
    """Return the case of an engine."""
    return spring_mass() if name == "spring-mass" else oscillator(name)
