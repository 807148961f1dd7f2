"""Options of a humanoid that is read from a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pliant.base.options import option

_SCALED = "scaled from the biped's with mass and height"


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanoidOptions:
    """Options of a humanoid on the ground with position servos."""

    controller: Literal["walking", "none"] = option("none", source="of pliant")
    """none: the joints take the controls; walking: a device that walks moves them, from a pose with bent knees."""
    actuation: Literal["position", "torque"] = option("position", source="assumed")
    """position: each joint has a position servo, its control is the reference [rad]; torque: the control is the torque
    [N m], up to the limit of the file."""
    feet: Literal["rigid", "soft"] = option("rigid", source="Crotti et al. 2024, section IV")
    """rigid: the feet of the file; soft: a pair of SoftFeet of one lumped chain, with the pitch at which the robot
    stands level."""
    foot_forward: float | None = option(None, unit="m", low=-0.2, high=0.2, source="assumed")
    """Place of the soft foot's ankle ahead of the robot's ankle; none: 10 mm behind the middle of the rigid sole, as on
    the biped."""
    foot_closure_compliance: float = option(7.7e-6, unit="m/N", low=0.0, above=True, high=1.0, source="as softfoot")
    """Compliance between frontal arch and metatarsus of a soft foot, as `closure_compliance` of softfoot."""
    foot_scale: float = option(1.0, low=0.5, high=2.0, source="of pliant")
    """Size of the soft feet; the ankle stays at its height over the sole."""
    walk_start: float = option(1.0, unit="s", low=-1.0, high=1e6, source="assumed")
    """When the walking controller starts by itself; negative: it waits for the request `walk`."""
    rate_noise: float = option(0.0, unit="rad/s", low=0.0, high=10.0, source="assumed")
    """Standard deviation of the angular velocity that the walking controller measures."""
    load_noise: float = option(0.0, unit="N", low=0.0, high=100.0, source="assumed")
    """Standard deviation of the load of a foot that the walking controller measures."""
    step_length: float | None = option(None, unit="m", low=-0.3, high=0.4, source=_SCALED)
    """Length of a step."""
    single_support: float | None = option(None, unit="s", low=0.2, high=2.0, source=_SCALED)
    """Time on one foot."""
    double_support: float | None = option(None, unit="s", low=0.02, high=2.0, source=_SCALED)
    """Time in which the centre of pressure goes from one foot to the other."""
    lift: float | None = option(None, unit="m", low=0.01, high=0.2, source=_SCALED)
    """Height of the swinging sole over the stance sole."""
    dcm_rate: float | None = option(None, unit="1/s", low=0.0, high=100.0, source=_SCALED)
    """Rate at which an error of the divergent component of motion decays."""
    ankle_stiffness: float | None = option(None, unit="N m/rad", low=0.0, high=5000.0, source=_SCALED)
    """Stiffness of a loaded ankle towards a level foot, as that of the biped."""
    swing_frequency: float | None = option(None, unit="rad/s", low=0.0, high=1e3, source=_SCALED)
    """Frequency of the impedance of the swinging leg, torso and arms, as that of `WalkSettings`."""
    bar_height: float = option(0.0, unit="m", low=0.0, high=0.1, source="assumed")
    """Height and length of the square bars across the path; 0: none."""
    bar_positions: tuple[float, ...] = option((), unit="m", low=-10.0, high=100.0, source="assumed")
    """Middle of each bar ahead of the ankles at the start; empty: `bar_count` bars at random."""
    bar_count: int = option(1, low=0, high=100, source="assumed")
    """Number of bars at random positions."""
    bar_range: tuple[float, float] = option((0.25, 1.15), unit="m", low=-10.0, high=100.0, source="assumed")
    """First and last position of random bars; each of `bar_count` equal sections has one."""
    bar_seed: int = option(0, low=0, high=2**31 - 1, source="of pliant")
    """Seed of the random positions."""
    stiffness: float | None = option(None, unit="N m/rad", low=0.0, above=True, high=1e6, source="assumed")
    """Stiffness of the position servo of every joint; none: 4000 for Talos, 500 for G1."""
    damping: float | None = option(None, unit="N m s/rad", low=0.0, high=1e4, source="assumed")
    """Damping of every servo; none: 98 for Talos, 20 for G1."""
    armature: float | None = option(None, unit="kg m^2", low=0.0, high=10.0, source="assumed")
    """Inertia of the rotor, seen at every joint; none: 0.1 for Talos, 0.03 for G1."""
    friction: float = option(0.9, low=0.0, high=10.0, source="assumed")
    """Sliding friction of the ground."""
    timestep: float = option(0.001, unit="s", low=1e-6, high=0.01, source="assumed")
    """Length of a simulation step."""
