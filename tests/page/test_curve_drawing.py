"""Drawing rods with the colours of their strain."""

import numpy as np
import pytest

from pliant.engine import MujocoEngine
from pliant.page.curve_drawing import CurveDrawing, curve_thickness, round_scale, scale_bar
from pliant.page.server import PageServer
from pliant.recording.drawing import curves_of
from pliant.robots.loading import load
from pliant.rods import load_robot


@pytest.mark.network
def test_rods_of_a_simulation_have_the_strain_of_the_statics():
    engine = MujocoEngine(load("2RR"), check=False)
    with PageServer() as server:
        curves = curves_of(engine.model, engine.data, 33)
        drawing = CurveDrawing(server, curve_thickness(curves.radius, 1.0))
        drawing.draw_curves(curves)
        handle = drawing._handle
        assert handle.points.shape[1:] == (2, 3)
        assert len(np.unique(handle.colors.reshape(-1, 3), axis=0)) > 3  # bent, so not of one colour
        exact = max(line.bending_strain.max() for line in load_robot("2RR").home().centrelines(41))
        assert drawing.scale == pytest.approx(round_scale(exact), rel=0.35)  # a step of the scale


@pytest.mark.network
def test_an_earlier_state_is_drawn_faint():
    lines = np.array([[[0.0, 0, 0], [0, 0, 1], [0, 0, 2]]])
    strain = np.array([[0.0, 1e-3, 2e-3]])
    with PageServer() as server:
        drawing = CurveDrawing(server, 0.01)
        drawing.draw(lines, strain)
        bright = drawing._handle.colors.astype(float)
        drawing.draw(lines, strain, faint=True)
        faint = drawing._handle.colors.astype(float)
    assert np.ptp(faint, axis=-1).max() < 0.5 * np.ptp(bright, axis=-1).max()
    assert drawing.scale == 2e-3


@pytest.mark.parametrize(
    ("largest", "scale"), [(0.0, 1e-6), (1e-3, 1e-3), (1.01e-3, 1.5e-3), (4.2e-3, 5e-3), (0.09, 0.1)]
)
def test_the_scale_is_the_next_round_number(largest, scale):
    assert round_scale(largest) == pytest.approx(scale)


def test_the_scale_is_shown_in_thousandths():
    text = scale_bar(4e-3, "strain")
    assert "strain [1/1000]" in text
    assert "<span>0</span><span>2</span><span>4</span>" in text
