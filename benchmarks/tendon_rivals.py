"""Print the statics of a steel wire with known answers, by pliant and, where it is installed, by SoRoMoX.

    python benchmarks/tendon_rivals.py
    pip install soromox                     # piecewise constant strain, with JAX

The wire is clamped at its base: 200 mm long, radius 0.5 mm, E = 50 GPa, density 7800 kg/m^3. It lies and bends by its
weight (Bernoulli's beam), or it stands and one tendon 4.5 mm beside its axis pulls with 5 N (a circle). SoRoMoX's
equilibrium is found by Newton's method on its own forces with its own derivatives.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
from collections.abc import Iterator

import numpy as np

from pliant.rods.description import Rod, Round
from pliant.tendons import Resolution, Segment, Tendon, TendonRobot, TendonRobotDescription

LENGTH, RADIUS, YOUNG, DENSITY = 0.2, 0.5e-3, 50e9, 7800.0
OFFSET, TENSION, GRAVITY = 4.5e-3, 5.0, 9.81
BENDING = YOUNG * math.pi * RADIUS**4 / 4.0
"""E I [N m^2]."""


def expected() -> tuple[str, str]:
    """Return what the two cases give in closed form, the stretch left out."""
    weight = DENSITY * math.pi * RADIUS**2 * GRAVITY
    curvature = TENSION * OFFSET / BENDING
    aside = (1.0 - math.cos(curvature * LENGTH)) / curvature
    return f"{1e3 * weight * LENGTH**4 / (8.0 * BENDING):.3f}", tip(aside, math.sin(curvature * LENGTH) / curvature)


def tip(aside: float, height: float) -> str:
    """Return a tip in millimetres."""
    return f"{1e3 * abs(aside):.3f}, {1e3 * height:.3f}"


def pliant() -> Iterator[tuple[str, str, str]]:
    """Yield name, weight and tendon of pliant's model."""
    rod = Rod(
        length=LENGTH, section=Round(radius=RADIUS), young_modulus=YOUNG, shear_modulus=YOUNG / 2.6, density=DENSITY
    )
    found = []
    for gravity, tension in ((-GRAVITY, 0.0), (0.0, TENSION)):
        description = TendonRobotDescription(
            name="wire",
            segments=(Segment(rod=rod, disks=20, disk_radius=6e-3),),
            tendons=(Tendon(segment=0, radius=OFFSET, angle=0.0),),
            gravity=(gravity, 0.0, 0.0),
            links="curves",
        )
        found.append(
            TendonRobot(description, resolution=Resolution(bending=1, shear=0, stretch=0)).solve(tension=[tension]).tip
        )
    yield "pliant", f"{1e3 * abs(found[0][0]):.3f}", tip(found[1][0], found[1][2])


def soromox() -> Iterator[tuple[str, str, str]]:
    """Yield name, weight and tendon of SoRoMoX with 1, 2 and 4 segments; the tendon needs one only."""
    import jax

    jax.config.update("jax_enable_x64", True)
    import jax.numpy as jnp
    from soromox.actuation import ThreadlikeActuator, ThreadlikeRouting
    from soromox.systems import PCS, LinkSpec

    def solved(segments: int, gravity: float, tension: float) -> np.ndarray:
        link = LinkSpec.circular(
            length=LENGTH / segments, radius=RADIUS, density=DENSITY, young_modulus=YOUNG, poisson_ratio=0.3,
            material_damping_coefficient=1e7, reference_strain=[0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
        )  # fmt: skip
        routing = ThreadlikeRouting.linear(
            intercept=jnp.array([[0.0, OFFSET, 0.0]]), start_segment_index=0, end_segment_index=segments - 1
        )
        robot = PCS.from_links(
            [link] * segments,
            gravity=jnp.array([gravity, 0.0, 0.0]),
            actuators=(ThreadlikeActuator.tendons(routing),),
        )

        @jax.jit
        def residual(q):
            pull = robot.actuation_matrix(q) @ jnp.array([tension])
            return robot.elastic_force(q) + robot.gravitational_force(q) - pull

        derivative = jax.jit(jax.jacfwd(residual))
        q = jnp.zeros(6 * segments)
        for _ in range(40):
            step = jnp.linalg.solve(derivative(q), -residual(q))
            q = q + step
            if float(jnp.abs(step).max()) < 1e-10:
                break
        return np.asarray(robot.forward_kinematics(q, jnp.array(LENGTH)))[:3, 3]

    for segments in (1, 2, 4):
        lying = solved(segments, -GRAVITY, 0.0)
        bent = solved(segments, 0.0, TENSION) if segments == 1 else None
        shown = "" if bent is None else tip(float(np.hypot(bent[0], bent[1])), float(bent[2]))
        yield f"SoRoMoX, {segments} segments", f"{1e3 * np.linalg.norm(lying[:2]):.3f}", shown


def main() -> None:
    """Print the table."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    print(f"{'tip of the wire [mm]':<24}{'by its weight':>16}{'one tendon: aside, height':>30}")
    rows = [("closed form", *expected()), *pliant()]
    if importlib.util.find_spec("soromox") is None:
        print("SoRoMoX is not measured; type: pip install soromox")
    else:
        rows += soromox()
    for name, weight, pulled in rows:
        print(f"{name:<24}{weight:>16}{pulled:>30}")


if __name__ == "__main__":
    main()
