"""The rod of a limb as a chain that begins at its base joint and ends at the plate."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from pliant.base.numerics import Array
from pliant.parallel.model.assembly import Assembly
from pliant.parallel.model.extension import SlidingNodes
from pliant.parallel.model.fastening import fasten_tip
from pliant.rods.model.chain import SAMPLES, SOFT, add_links, strains

if TYPE_CHECKING:
    from mujoco import MjsBody

    from pliant.rods.description import Limb


def add_chain(out: Assembly, limb: Limb, i: int, root: tuple[MjsBody, Array]) -> Callable[[Limb], None]:
    """Add one rod as links with hinges; return what joins its tip to the plate."""
    name, line = out.limb_name(i), out.solution.centreline(i, SAMPLES)
    spools = [label for label in out.actuators if label.startswith(f"{name}/extension")]
    nodes = None
    if spools:
        limits = next(joint.limits for joint in limb.joints if joint.kind == "extension")
        base = np.asarray(limb.base, dtype=float)[:3, 3]
        nodes = SlidingNodes(out=out, joint=spools[-1], base=base, length=float(line.length), limits=limits)
    found = strains(limb.rod, line)
    soft = out.options.stretch if out.options.stretch is not None else found > SOFT
    if not soft and found > 0.1 * SOFT:
        out.notes.append(
            f"{name}: stretching and shear of the rod (strain up to {found:.1e} at the start) are left out"
        )
    chain = add_links(
        line, limb.rod, name, root, segments=out.options.segments, planar=out.description.planar,
        contact=out.contact_bits, soft=soft, nodes=nodes,
    )  # fmt: skip
    out.elastic |= chain.joints
    out.rods.append(chain.shape)
    if nodes is not None:
        out.extensions.append(nodes.finish())
    return lambda one: fasten_tip(out, one, chain.tip, name, chain.X_tip, chain.X_body_tip)
