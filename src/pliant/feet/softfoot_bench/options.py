"""Options of the bench: the foot, its load, and the three blocks under it."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.base.options import option
from pliant.feet.softfoot.options import MAX_SEPARATE, SoftFootOptions

_INFERRED = "inferred: relative errors of all three blocks in all trials need that they carry; here most do"
_LOST = "assumed: the number is missing in the text of Crotti et al. 2024"


@dataclass(frozen=True, slots=True, kw_only=True)
class SoftFootBenchOptions(SoftFootOptions):
    """Options of ``softfoot-bench``: those of the foot, and those of the bench."""

    n_chains: int = option(1, low=1, high=MAX_SEPARATE, source="Crotti et al. 2024, section III-A")
    """Number of chains of modules side by side; the measured foot had one."""
    sole_damping: float = option(
        3.2e5, unit="N s/m^3", low=0.0, high=1e12, source="of pliant: friction creeps to rest within the 5 s of a trial"
    )
    """Damping of the soles per area. The forces at rest do not depend on it but in trials with two equilibria."""
    load: float = option(50.0, unit="N", low=-1000.0, high=5000.0, source=_LOST)
    """Force that presses the ankle down; the control of the actuator ``load`` is added to it."""
    obstacle_height: float = option(0.01, unit="m", low=-0.05, high=0.06, source=_LOST)
    """Height of the fascia block above the two fixed blocks."""
    module: int = option(3, low=1, high=6, source="Crotti et al. 2024, section III-A")
    """Module of the plantar fascia whose centre the fascia block is under: 1 (next to the heel) to 6."""
    obstacle_shift: float = option(0.0, unit="m", low=-0.3, high=0.3, source="of pliant")
    """Displacement of the fascia block to the toes, from the centre of the module."""
    heel_block: float = option(-0.0625, unit="m", low=-0.3, high=0.3, source=_LOST)
    """Middle of the block under the heel, ahead of the ankle. The hinge of the heel is at -0.053 m, the middle of its
    sole at -0.065 m; some positions and pitches let trials creep for more than the 5 s of the paper."""
    metatarsus_block: float = option(0.1078, unit="m", low=-0.3, high=0.4, source=_LOST)
    """Middle of the block under the metatarsus, ahead of the ankle. Default: the middle of that module's sole."""
    pitch: float = option(0.0625, unit="rad", low=-0.5, high=0.5, source=_INFERRED)
    """Pitch at which the ankle is fixed to the slide; positive turns the toes down. At much smaller pitches the
    metatarsus block is free in some trials, at much larger ones the fascia block."""
    block_length: float = option(0.02, unit="m", low=0.0, above=True, high=0.2, source="assumed")
    """Length of the two fixed blocks along the foot."""
    obstacle_length: float = option(0.01, unit="m", low=0.0, above=True, high=0.2, source="assumed")
    """Length of the fascia block along the foot."""
    block_width: float = option(0.12, unit="m", low=1e-3, high=1.0, source="assumed")
    """Width of the blocks, across the foot."""
    edge_radius: float = option(0.002, unit="m", low=0.0, high=0.1, source="assumed")
    """Radius of the front and rear edges of the blocks; 0: sharp edges."""
    stand: float = option(0.12, unit="m", low=0.02, high=2.0, source="assumed")
    """Height of the tops of the fixed blocks above the table."""
    timestep: float = option(0.004, unit="s", low=1e-6, high=0.01, source="of pliant: equilibria are those of 1 ms")
    """Length of a simulation step."""
