"""Concentric-tube robots by name."""

from __future__ import annotations

from pliant.tubes.description import Tube, TubesDescription


def ctr_3() -> TubesDescription:
    """Return three nitinol tubes of 431, 332 and 174 mm with curved ends of 103, 113 and 134 mm.

    Lengths, diameters, curvatures, E and G as published with the code of Khadem, Da Cruz and Bergeles, "Force/velocity
    manipulability analysis for 3D continuum robots", IROS 2018; the density is left out there too.
    """
    rows = (
        (0.431, 0.103, 21.3, 1.10e-3 / 2, 0.70e-3 / 2, 6.4359738368e10, 2.5091302912e10),
        (0.332, 0.113, 13.108, 1.80e-3 / 2, 1.40e-3 / 2, 5.2548578304e10, 2.1467424256e10),
        (0.174, 0.134, 3.5, 2.40e-3 / 2, 2.00e-3 / 2, 4.7163091968e10, 2.9788923392e10),
    )
    tubes = tuple(
        Tube(
            length=length, curved_length=curved, curvature=curvature, outer_radius=outer, inner_radius=inner,
            young_modulus=E, shear_modulus=G,
        )
        for length, curved, curvature, outer, inner, E, G in rows
    )  # fmt: skip
    return TubesDescription(name="ctr-3", tubes=tubes, translation=(-0.2858, -0.2025, -0.0945))


ROBOTS = {"ctr-3": ctr_3}
"""Descriptions by name."""
