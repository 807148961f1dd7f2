"""Options of the biped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pliant.base.options import option
from pliant.walking.control.settings import WalkSettings

_FOOT = "as the option of softfoot"


@dataclass(frozen=True, slots=True, kw_only=True)
class BipedOptions(WalkSettings):
    """Options of the biped, of the ground that it stands on and of its walking controller."""

    feet: Literal["rigid", "padded", "soft"] = option("rigid", source="Crotti et al. 2024, section IV; padded: ours")
    """rigid: flat box soles; padded: these on 20 mm of foam that 300 N compress by 3 mm; soft: a pair of SoftFeet."""
    actuation: Literal["position", "torque"] = option("position", source="assumed")
    """position: each joint has a position servo, its control is the reference [rad]; torque: the control is the torque
    [N m]."""
    servo_gain: float = option(1.0, low=0.0, above=True, high=10.0, source="assumed")
    """Factor on the stiffness of all position servos; their damping has its square root."""
    controller: Literal["boards", "walking", "none"] = option("boards", source="of pliant")
    """boards: each part has a control board, which YARP serves; walking: a device that walks moves the joints; none:
    the joints take the controls."""
    walk_start: float = option(1.0, unit="s", low=-1.0, high=1e6, source="assumed")
    """When the walking controller starts by itself; negative: it waits for the request `walk`."""
    rate_noise: float = option(0.0, unit="rad/s", low=0.0, high=10.0, source="assumed")
    """Standard deviation of the angular velocity that the walking controller measures."""
    load_noise: float = option(0.0, unit="N", low=0.0, high=100.0, source="assumed")
    """Standard deviation of the load of a foot that the walking controller measures."""
    foot_chains: int = option(1, low=1, high=5, source=_FOOT)
    """Number of lumped chains of each soft foot."""
    foot_coupling: Literal["exact", "midpoint"] = option("midpoint", source=_FOOT)
    """Hinges of the modules of the soft feet, as `coupling` of softfoot."""
    foot_tendon: Literal["spatial", "fixed"] = option("fixed", source=_FOOT)
    """Tendons of the soft feet, as `tendon` of softfoot."""
    foot_tendon_slack: float = option(0.0019572020875, unit="m", low=-0.02, high=0.2, source=_FOOT)
    """Tendon slack of the soft feet, as `tendon_slack` of softfoot."""
    foot_closure_compliance: float = option(7.7e-6, unit="m/N", low=0.0, above=True, high=1.0, source=_FOOT)
    """Compliance between frontal arch and metatarsus of a soft foot, as `closure_compliance` of softfoot."""
    foot_scale: float = option(1.0, low=0.5, high=1.5, source="of pliant")
    """Size of the soft feet; the ankle stays at its height over the sole."""
    foot_forward: float = option(0.02, unit="m", low=-0.1, high=0.1, source="assumed")
    """Position of the soft foot's ankle ahead of the robot's ankle."""
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
    timestep: float = option(0.002, unit="s", low=1e-6, high=0.01, source="assumed: the default of MuJoCo")
    """Length of a simulation step."""
