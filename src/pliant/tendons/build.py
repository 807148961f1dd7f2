"""From the description of a tendon-driven robot to the arrays of its kernels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.base.errors import ModelError
from pliant.base.numerics import Array
from pliant.rods.checks import check_whole
from pliant.rods.failure import is_soft
from pliant.tendons.chain import Chain, Memory
from pliant.tendons.description import TendonRobotDescription

STEP_TURN = 2.0
"""Most turn of a tendon in a step [rad]: the tip of a robot of 200 mm is then 0.04 mm off, with 6 rad 14 mm."""
FRICTION_TURN = 0.1
"""Turn of a segment in a step of a large command [rad], where tendons rub: 0.45 mm of a tendon 4.5 mm from the axis."""
GAUSS = (0.5 - np.sqrt(3.0) / 6.0, 0.5 + np.sqrt(3.0) / 6.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """How finely strains are resolved. Each element has polynomials; -1 leaves a strain at its unloaded value."""

    elements: int = 0
    """Elements of each segment; must divide its disks; 0: one between each two disks."""
    steps: int = 1
    """Integration steps between two disks, >= 1."""
    bending: int = 1
    """Order of the polynomials of both curvatures, >= 0."""
    torsion: int = 0
    """Order of the torsion, or -1."""
    shear: int = -1
    """Order of both shear strains, or -1."""
    stretch: int = -1
    """Order of the extension, or -1."""

    def __post_init__(self) -> None:
        check_whole("resolution", 0, elements=self.elements, bending=self.bending)
        check_whole("resolution", 1, steps=self.steps)
        check_whole("resolution", -1, torsion=self.torsion, shear=self.shear, stretch=self.stretch)

    def columns(self) -> list[tuple[int, int]]:
        """Return (strain, order) of each unknown of an element."""
        orders = (self.bending, self.bending, self.torsion, self.shear, self.shear, self.stretch)
        return [(strain, order) for strain, top in enumerate(orders) for order in range(top + 1)]


def steps_for(order: int, per: int, steps: int) -> int:
    """Return the steps between two disks at which an element has more points than the order of its polynomials."""
    return steps * -(-(order + 1) // (2 * per))


def least_steps(description: TendonRobotDescription) -> int:
    """Return the integration steps between two disks in none of which a tendon turns by more than `STEP_TURN`."""
    if description.links == "chords":
        return 1
    turns = [abs(t.turn) / (len(description.holes_of(i)) - 1) for i, t in enumerate(description.tendons)]
    return max(1, int(np.ceil(max(turns, default=0.0) / STEP_TURN - 1e-9)))


def usual_resolution(description: TendonRobotDescription) -> Resolution:
    """Return the resolution of a robot of which none is given; rods of a soft material shear and stretch, too."""
    strain = 1 if any(is_soft(segment.rod) for segment in description.segments) else -1
    few = min((segment.disks for segment in description.segments), default=1)
    steps = max(least_steps(description), steps_for(3, few, 1))
    return Resolution(elements=1, bending=3, torsion=1, shear=strain, stretch=strain, steps=steps)


def build_chain(description: TendonRobotDescription, resolution: Resolution) -> Chain:
    """Return the arrays of a robot.

    The weight of the rod is lumped at the nodes with the end correction of Euler and Maclaurin, a shift of each half by
    a sixth of the step, so that it is exact to fourth order.
    """
    if resolution.steps < least_steps(description):
        raise ModelError(
            f"{description.name}: tendons turn by more than {STEP_TURN:g} rad in a step of {resolution.steps} between "
            f"two disks; steps must be at least {least_steps(description)}",
            field="steps",
        )
    columns = resolution.columns()
    m = len(columns)
    length, element, interval, basis, rest, stiffness = [], [], [], [], [], []
    masses: list[tuple[int, float, float]] = []
    for segment in description.segments:
        rod, count = segment.rod, resolution.elements or segment.disks
        if segment.disks % count:
            raise ModelError(
                f"{description.name}: {count} elements do not divide the {segment.disks} disks of a segment",
                field="elements",
            )
        per = segment.disks // count * resolution.steps
        top = max(order for _, order in columns)
        if top >= 2 * per:
            raise ModelError(
                f"{description.name}: polynomials of order {top} need more than the {2 * per} points of an element; "
                f"order must be at most {2 * per - 1}, or steps at least {steps_for(top, per, resolution.steps)}",
                field="steps",
            )
        steps = count * per
        h = rod.length / steps
        middle = rod.values(0.5)
        soft = float(np.sqrt(middle.bending[0] / middle.axial)) / rod.length
        for e in range(count):
            first = len(length)
            for k in range(per):
                at = [((e * per + k) + g) / steps for g in GAUSS]
                B = np.zeros((2, 6, m))
                for g in range(2):
                    sigma = 2.0 * (k + GAUSS[g]) / per - 1.0
                    for c, (strain, order) in enumerate(columns):
                        value = np.polynomial.legendre.legval(sigma, np.eye(order + 1)[order])
                        # Unknowns of shear and stretch are scaled so that forces on all unknowns compare.
                        B[g, strain, c] = value * (1.0 / (per * h) if strain < 3 else soft)
                basis.append(B)
                rest.append([[*rod.curvature(s), 0.0, 0.0, 1.0] for s in at])
                values = [rod.values(s) for s in at]
                stiffness.append([[*v.bending, v.torsion, *v.shear, v.axial] for v in values])
                # Each half of the step's mass, shifted inwards by h / 6.
                half = 0.25 * h * (values[0].mass + values[1].mass)
                masses += [(first + k, half, h / 6.0), (first + k + 1, half, -h / 6.0)]
                length.append(h)
            element.append((first, len(length), m * len(element), m))
            for v in range(per // resolution.steps):
                start = first + v * resolution.steps
                interval.append((start, start + resolution.steps, len(element) - 1))
                if segment.disk_mass:
                    masses.append((start + resolution.steps, segment.disk_mass, 0.0))
    if description.tip_mass:
        masses.append((len(length), description.tip_mass, 0.0))
    tendon, link, hole = _routing(description, np.array(interval), np.array(length))
    base = np.asarray(description.base, dtype=float)
    return Chain(
        length=np.array(length),
        element=np.array(element, dtype=np.int64),
        interval=np.array(interval, dtype=np.int64),
        basis=np.array(basis),
        rest=np.array(rest),
        stiffness=np.array(stiffness),
        mass=np.array([mass for _, mass, _ in masses]),
        mass_node=np.array([node for node, _, _ in masses], dtype=np.int64),
        mass_offset=np.array([[0.0, 0.0, shift] for _, _, shift in masses]),
        tendon=np.array(tendon, dtype=np.int64).reshape(-1, 2),
        link=np.array(link, dtype=np.int64).reshape(-1, 3),
        hole=np.array(hole, dtype=float).reshape(-1, 2, 3),
        base_rotation=np.ascontiguousarray(base[:3, :3]),
        base_position=base[:3, 3].copy(),
    )


def _routing(description: TendonRobotDescription, interval: Array, length: Array) -> tuple[list, list, list]:
    tendon, link, hole = [], [], []
    start = np.concatenate([[0.0], np.cumsum(length)])
    for i, entry in enumerate(description.tendons):
        first = len(link)
        holes = description.holes_of(i)
        end = start[interval[len(holes) - 2][1]]
        for v in range(len(holes) - 1):
            if description.links == "chords":
                link.append((v, -1, 0))
                hole.append(([*holes[v], 0.0], [*holes[v + 1], 0.0]))
                continue
            for k in range(interval[v][0], interval[v][1]):
                for g in range(2):
                    share = (start[k] + GAUSS[g] * length[k]) / end
                    link.append((v, k, g))
                    hole.append(([*entry.place(share), 0.0], [*(entry.slope(share) / end), 0.0]))
        tendon.append((first, len(link)))
    return tendon, link, hole


def fresh_memory(description: TendonRobotDescription, chain: Chain, straight: Array) -> Memory:
    """Return friction without history: the tendons never slid from the straight robot.

    Args:
        description: the robot.
        chain: its arrays.
        straight: length of each link of the straight robot [m], shape (L,).
    """
    distal = np.zeros(len(chain.link))
    for first, last in chain.tendon:
        distal[first:last] = np.cumsum(straight[first:last][::-1])[::-1]
    tendons = description.tendons
    return Memory(
        state=np.zeros(len(chain.link)),
        distal=distal,
        friction=np.array([t.friction for t in tendons], dtype=float),
        presliding=np.array([t.presliding for t in tendons], dtype=float),
        guide=np.array([t.guide_angle for t in tendons], dtype=float),
    )


def tendon_law(description: TendonRobotDescription, chain: Chain, straight: Array) -> Array:
    """Return the law of each tendon, shape (5, N).

    Free length [m], compliance of the drive [m/N] and of the strand by length [1/N], and the change of length [m] and
    of tension [N] in one step of a large command: those that bend the softest segment by `FRICTION_TURN`. Without
    friction the way does not matter, and a step is as large as it converges.
    """
    law = np.zeros((5, len(description.tendons)))
    stiffness = min(min(one.rod.values(0.5).bending) / one.rod.length for one in description.segments)
    rough = any(tendon.friction > 0.0 for tendon in description.tendons)
    for i, (tendon, (first, last)) in enumerate(zip(description.tendons, chain.tendon)):
        path = float(straight[first:last].sum())
        law[1, i] = 0.0 if tendon.drive_stiffness is None else 1.0 / tendon.drive_stiffness
        law[2, i] = 0.0 if tendon.axial_stiffness is None else 1.0 / tendon.axial_stiffness
        law[0, i] = path + tendon.slack - tendon.pretension * (law[1, i] + law[2, i] * path)
        radius = float(np.linalg.norm(chain.hole[first:last, 0], axis=1).max())
        law[3, i] = FRICTION_TURN * radius if rough and radius > 0.0 else np.inf
        law[4, i] = FRICTION_TURN * stiffness / radius if rough and radius > 0.0 else np.inf
    return law
