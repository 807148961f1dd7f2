"""Whatever stands in a field of a rod or a load, it is taken or named with what is valid."""

import dataclasses

import numpy as np
import pytest
from wrong_values import NAN, NUMBERS, POSES, VECTORS, WORDS

from pliant.base.errors import PliantError
from pliant.base.spatial import pose
from pliant.rods import ContinuumParallelRobot, Rod, Round, load_robot
from pliant.rods.between.loads import DistributedLoad, PointLoad
from pliant.rods.between.statics import solve_rod
from pliant.rods.description import BaseJoint, GivenStiffness, Rectangular
from pliant.rods.model.rod_between import RodBetween

ROD = Rod(length=0.2, section=Round(radius=5e-4))

FIELDS = [
    (ROD, "length young_modulus shear_modulus density", (*NUMBERS, -1.0)),
    (ROD, "distributed_force distributed_moment", VECTORS),
    (ROD, "precurvature", (5.0, "bent", ((0.0, 1.0),), ((0.0, NAN, 0.0, 0.0),))),
    (ROD.section, "radius", (*NUMBERS, 0.0)),
    (Rectangular(width=1e-3, height=1e-3), "width height", (*NUMBERS, 0.0)),
    (GivenStiffness(bending=(1.0, 1.0), torsion=1.0, axial=1e4, shear=(1e4, 1e4)), "torsion axial", (*NUMBERS, 0.0)),
    (BaseJoint(kind="prismatic"), "axis", (*VECTORS, (0.0, 0.0, 0.0))),
    (PointLoad(at=0.5), "at", (*NUMBERS, -0.1, 1.1)),
    (PointLoad(at=0.5), "force moment", VECTORS),
    (DistributedLoad(), "begin end", (*NUMBERS, -0.1, 1.1)),
    (RodBetween(name="r", rod=ROD, body_a="world", body_b=None), "name", WORDS),
    (RodBetween(name="r", rod=ROD, body_a="world", body_b=None), "damping", (*NUMBERS, -1.0)),
    (RodBetween(name="r", rod=ROD, body_a="world", body_b=None), "contact", ("x", None, 1)),
    (RodBetween(name="r", rod=ROD, body_a="world", body_b=None), "body_a", (None, 5)),
    (RodBetween(name="r", rod=ROD, body_a="world", body_b=None), "pose_a pose_b", POSES),
    (RodBetween(name="r", rod=ROD, body_a="world", body_b=None), "loads", (5, (1,), "x")),
]


@pytest.mark.parametrize(
    ("whole", "name", "values"),
    [pytest.param(w, name, v, id=f"{type(w).__name__}.{name}") for w, names, v in FIELDS for name in names.split()],
)
def test_a_wrong_value_of_a_field_is_named(whole, name, values):
    for value in values:
        with pytest.raises(PliantError) as caught:
            dataclasses.replace(whole, **{name: value})
        assert caught.value.field == name or name in str(caught.value), value


@pytest.mark.parametrize("X", POSES[:4], ids=["3 x 3", "not finite", "zero", "mirror"])
def test_a_rod_between_no_poses_is_refused(X):
    with pytest.raises(PliantError, match="X_b"):
        solve_rod(ROD, np.eye(4), X)
    assert solve_rod(ROD, np.eye(4), pose((0.02, 0.0, 0.19))).wrench_b.shape == (6,)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"precurvature": ((0.0, 0.1, 0.0, 0.0),)}, "limb1: the rod's precurvature leaves the plane"),
        ({"precurvature": ((0.0, 0.0, 0.1, 0.2),)}, "limb1: the rod's precurvature leaves the plane"),
        ({"distributed_force": (0.0, 0.0, 1.0)}, "limb1: distributed_force must be in the plane"),
        ({"distributed_moment": (0.1, 0.0, 0.0)}, "distributed_moment about z"),
    ],
)
def test_what_bends_a_rod_of_a_planar_robot_out_of_its_plane_is_refused(fields, words):
    d = load_robot("3RR").description
    limb = dataclasses.replace(d.limbs[0], rod=dataclasses.replace(d.limbs[0].rod, **fields))
    with pytest.raises(PliantError, match=words):
        ContinuumParallelRobot(dataclasses.replace(d, limbs=(limb, *d.limbs[1:])))
