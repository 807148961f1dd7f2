"""Centre lines of simulated rods, against the statics that they start from."""

import mujoco
import numpy as np
import pytest

from pliant.parallel.model import build_parallel, mechanism_of
from pliant.rods.model.rod_lines import RodLines


def lines_of(name, **options):
    robot = build_parallel(name, **options)
    model = robot.compile()
    state = mechanism_of(robot).bind(model, mujoco.MjData(model))
    state.start()
    return state, RodLines(model, state.data, 101)


@pytest.mark.parametrize(
    ("name", "options", "tolerance"),
    [
        ("Stewart_Gough_6PFR", {}, 2e-5),
        ("Stewart_Gough_6PFR", {"segments": 4}, 2e-3),
        ("Stewart_Gough_6PFS", {}, 1e-5),
        ("Stewart_Gough_6EFR", {}, 1e-4),
        ("3RR", {}, 2e-4),
        # vertices are no collocation points: half an element's sag
        ("Stewart_Gough_6PFR", {"variant": "flex", "segments": 16}, 2e-3),
    ],
)
def test_lines_at_the_start_are_those_of_the_statics(name, options, tolerance):
    state, lines = lines_of(name, **options)
    expected = np.array([line.position for line in state.mechanism.solution.centrelines(101)])
    found = lines()
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, atol=tolerance)


def test_lines_of_extensible_limbs_grow_with_their_length():
    state, lines = lines_of("Stewart_Gough_6EFR")
    for k in range(150):
        state.set_joints(state.mechanism.solution.q + 0.05 * min(1.0, k / 100))
        state.step()
    mujoco.mj_forward(state.model, state.data)
    drawn = np.linalg.norm(np.diff(lines(), axis=1), axis=2).sum(axis=1)
    np.testing.assert_allclose(drawn, state.joints(), rtol=2e-3)


def test_nodes_are_the_ends_and_the_hinges():
    state, lines = lines_of("Stewart_Gough_6PFR", segments=5)
    nodes = lines.nodes()
    assert nodes.shape == (6, 7, 3)
    expected = np.array([line.position[[0, -1]] for line in state.mechanism.solution.centrelines(101)])
    np.testing.assert_allclose(nodes[:, [0, -1]], expected, atol=1e-9)
    np.testing.assert_array_equal(nodes[2, 3], state.data.body("limb3/link3").xpos)
