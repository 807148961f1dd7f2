"""Smooth surfaces: exact places, closed, outward."""

import numpy as np
import pytest

from pliant.franka.robots.surfaces import Ball, Box, Shape, Tube, surface

TUBE = Tube((0.0, 0.0, -0.05), (0.0, 0.0, 0.05), 0.04)
SHAPES = {
    "tube": Shape((TUBE,)),
    "cone": Shape((Tube((0.0, 0.0, -0.05), (0.0, 0.0, 0.05), 0.05, 0.004, 0.004, 0.03),)),
    "box": Shape((Box((0.01, 0.0, 0.0), (0.05, 0.04, 0.03), 0.01, 0.015, 0.3),)),
    "ball": Shape((Ball((0.0, 0.0, 0.0), (0.0, 0.08, 0.0), 0.04, 0.03),)),
    "blend": Shape((TUBE, Tube((0.0, 0.0, 0.0), (0.0, 0.1, 0.0), 0.035)), 0.04),
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_surface_is_closed_and_looks_outwards(shape):
    vertices, faces, normals = surface(shape)
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    there = {tuple(edge) for edge in edges.tolist()}
    assert len(there) == len(edges)
    assert all((b, a) in there for a, b in there)
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    assert float(np.einsum("ij,ij->", a, np.cross(b, c))) > 0.0
    across = np.cross(b - a, c - a)
    along = np.einsum("ij,ij->i", across, normals[faces].mean(axis=1))
    assert np.sum(np.linalg.norm(across, axis=1)[along < 0.0]) < 1e-3 * np.sum(np.linalg.norm(across, axis=1))


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_vertices_lie_on_the_surface_and_normals_are_its_own(shape):
    vertices, _, normals = surface(shape)
    assert np.abs(shape.distance(vertices)).max() < 2e-4
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-6)
    step = 1e-6
    gradient = np.stack([shape.distance(vertices + d) - shape.distance(vertices - d) for d in step * np.eye(3)], -1)
    gradient /= np.linalg.norm(gradient, axis=1, keepdims=True)
    assert np.quantile(np.einsum("ij,ij->i", gradient, normals), 0.01) > 0.999


def test_the_volume_of_a_ball_and_of_a_tube_are_the_geometric_ones():
    for shape, volume in (
        (Shape((Ball((0, 0, 0), (0, 0, 1e-9), 0.05, 0.05),)), 4.0 / 3.0 * np.pi * 0.05**3),
        (Shape((Tube((0, 0, -0.06), (0, 0, 0.06), 0.05, 1e-4, 1e-4),)), np.pi * 0.05**2 * 0.12),
    ):
        vertices, faces, _ = surface(shape)
        a, b, c = (vertices[faces[:, k]] for k in range(3))
        found = float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6.0
        assert found == pytest.approx(volume, rel=0.02)


def test_blended_solids_hold_both_and_round_the_edge_between_them():
    first, second = (Shape((solid,)) for solid in SHAPES["blend"].solids)
    points = np.random.default_rng(0).uniform(-0.1, 0.1, (2000, 3))
    both = np.minimum(first.distance(points), second.distance(points))
    blend = SHAPES["blend"].distance(points)
    assert (blend <= both + 1e-12).all()
    assert (both - blend).max() == pytest.approx(0.01, abs=1e-3)  # a quarter of the width, where both are as far
