"""Figures of sweeps: what stands where."""

import itertools
import math

import numpy as np
import pytest

from pliant.base.errors import PliantError
from pliant.sweep.plot import _edges, _logarithmic, plot_sweep

COLUMNS = ("index", "a.k", "elbow/final", "elbow/rms_error", "wrist/final", "wrist/rms_error", "diverged")


def curve():
    return [[i, k, k * k, math.nan, -k, math.nan, k == 3.0] for i, k in enumerate((1.0, 2.0, 3.0, 4.0))]


def test_one_parameter_gives_a_curve_for_each_joint_and_metric_that_has_values(tmp_path):
    figure = plot_sweep(COLUMNS, curve(), ["a.k"], tmp_path / "a.png")
    elbow, wrist = figure.axes
    assert (elbow.get_title(loc="left"), wrist.get_title(loc="left")) == ("elbow", "wrist")
    assert (elbow.get_xlabel(), elbow.get_ylabel()) == ("a.k", "final [rad]")
    np.testing.assert_allclose(elbow.lines[0].get_xdata(), [1, 2, 3, 4])
    np.testing.assert_allclose(elbow.lines[0].get_ydata(), [1, 4, np.nan, 16])  # the third one diverged
    np.testing.assert_allclose(wrist.lines[0].get_ydata(), [-1, -2, np.nan, -4])


def test_without_a_choice_there_are_the_error_the_torque_and_the_time():
    metrics = ("final", "min", "rms_error", "peak_torque", "settling_time")
    columns = ("index", "a.k", *(f"elbow/{m}" for m in metrics), "diverged")
    for error, first in ((0.1, "rms error [rad]"), (math.nan, "final [rad]")):
        rows = [[i, k, k, k, error, k, k, False] for i, k in enumerate((1.0, 2.0, 3.0))]
        figure = plot_sweep(columns, rows, ["a.k"], title="elbow/position = 0.5")
        assert [axis.get_ylabel() for axis in figure.axes] == [first, "peak torque [N m]", "settling time [s]"]
        assert figure.get_suptitle() == "elbow/position = 0.5"
    assert len(plot_sweep(columns, rows, ["a.k"], metrics=["min", "final"]).axes) == 2


def test_noise_of_the_computation_is_drawn_as_0():
    rows = [[i, k, k * 1e-18, math.nan, k, math.nan, False] for i, k in enumerate((1.0, 2.0, 3.0))]
    elbow, wrist = plot_sweep(COLUMNS, rows, ["a.k"]).axes
    assert elbow.lines[0].get_ydata().tolist() == [0.0, 0.0, 0.0]
    assert wrist.lines[0].get_ydata().tolist() == [1.0, 2.0, 3.0]


def test_one_value_is_a_point_with_one_tick():
    axis = plot_sweep(COLUMNS, [[0, 0.02, 0.4, 0.0, 0.0, 0.0, False]], ["a.k"]).axes[0]
    assert axis.get_xticks().tolist() == [0.02]
    assert axis.lines[0].get_marker() == "."
    columns = ("index", "a.k", "b.m", "elbow/final", "diverged")
    axis = plot_sweep(columns, [[0, 0.02, m, m, False] for m in (1.0, 2.5, 3.0)], ["a.k", "b.m"]).axes[0]
    assert axis.get_xticks().tolist() == [0.02]
    assert axis.get_yticks().tolist() == [1.0, 2.5, 3.0]


def test_names_and_ratios_have_their_axes(tmp_path):
    rows = [[i, law, float(i), 0.0, 0.0, 0.0, False] for i, law in enumerate(("sea", "qbmove"))]
    axis = plot_sweep(COLUMNS, rows, ["a.k"], metrics=["final"]).axes[0]
    assert [t.get_text() for t in axis.get_xticklabels()] == ["sea", "qbmove"]
    rows = [[i, 10.0**i, float(i), 0.0, 0.0, 0.0, False] for i in range(4)]
    assert plot_sweep(COLUMNS, rows, ["a.k"]).axes[0].get_xscale() == "log"
    assert plot_sweep(COLUMNS, curve(), ["a.k"]).axes[0].get_xscale() == "linear"


def test_two_parameters_give_a_map_with_the_value_of_each_cell():
    columns = ("index", "a.k", "b.m", "elbow/final", "diverged")
    points = list(itertools.product((1.0, 2.0, 3.0), (10.0, 20.0)))
    rows = [[i, a, b, a + b, (a, b) == (2.0, 20.0)] for i, (a, b) in enumerate(points)]
    figure = plot_sweep(columns, rows, ["a.k", "b.m"])
    axis = figure.axes[0]
    (mesh,) = axis.collections
    found = np.ma.filled(mesh.get_array().reshape(2, 3), np.nan)
    np.testing.assert_allclose(found, [[11, 12, 13], [21, np.nan, 23]])
    assert (axis.get_xlabel(), axis.get_ylabel()) == ("a.k", "b.m")
    assert figure.axes[1].get_ylabel() == "final [rad]"


def test_draws_beside_a_grid_are_a_band_and_not_an_axis():
    columns = ("index", "a.k", "b.m", "elbow/final", "diverged")
    rng = np.random.default_rng(0)
    rows = [[i, k, float(m), k + float(m), k == 3.0 and n == 0] for i, (k, n, m) in enumerate(
        (k, n, rng.uniform(0.0, 0.5)) for k in (1.0, 2.0, 3.0) for n in range(9))]  # fmt: skip
    (axis,) = plot_sweep(columns, rows, ["a.k", "b.m"], random=["b.m"]).axes
    assert axis.get_xlabel() == "a.k"
    middle = axis.lines[-1].get_ydata()
    expected = [np.nanmedian([r[3] for r in rows if r[1] == k and not r[4]]) for k in (1.0, 2.0, 3.0)]
    np.testing.assert_allclose(middle, expected)
    assert len(axis.collections) == 1  # the band


def test_three_parameters_are_drawn_if_only_two_are_a_grid():
    columns = ("index", "a.k", "b.m", "c.d", "elbow/final", "diverged")
    points = list(itertools.product((1.0, 2.0), (10.0, 20.0), (0.1, 0.3)))
    rows = [[i, a, b, c, a + b + c, False] for i, (a, b, c) in enumerate(points)]
    axis = plot_sweep(columns, rows, ["a.k", "b.m", "c.d"], random=["c.d"]).axes[0]
    (mesh,) = axis.collections
    np.testing.assert_allclose(mesh.get_array().reshape(2, 2), [[11.2, 12.2], [21.2, 22.2]])
    assert not axis.patches  # nothing diverged, nothing is hatched


def test_only_cells_in_which_all_diverged_are_hatched():
    columns = ("index", "a.k", "b.m", "elbow/final", "diverged")
    points = [(1.0, 1.0), (1.0, 2.0), (2.0, 1.0)]  # (2, 2) was not simulated
    rows = [[i, a, b, a + b, (a, b) == (1.0, 2.0)] for i, (a, b) in enumerate(points)]
    (patch,) = plot_sweep(columns, rows, ["a.k", "b.m"]).axes[0].patches
    assert patch.get_hatch() == "////"
    assert (patch.get_x(), patch.get_y()) == (0.5, 1.5)


def test_the_quantities_to_draw_and_their_units_can_be_given():
    columns = ("index", "a.k", "foot/force[0]/final", "foot/force[1]/final", "diverged")
    rows = [[i, k, k, -k, False] for i, k in enumerate((1.0, 2.0, 3.0))]
    units = {"foot/force[1]/final": "N"}
    (axis,) = plot_sweep(columns, rows, ["a.k"], units=units, show=["foot/force[1]"]).axes
    assert axis.get_ylabel() == "final [N]"
    assert len(plot_sweep(columns, rows, ["a.k"], units=units, show=["foot/*"]).axes) == 2
    with pytest.raises(PliantError, match=r"nothing is named 'fot\*'; must be one of"):
        plot_sweep(columns, rows, ["a.k"], show=["fot*"])


def test_cells_end_half_way_between_their_places():
    np.testing.assert_allclose(_edges(np.array([1.0, 2.0, 4.0, 5.0])), [0.5, 1.5, 3.0, 4.5, 5.5])
    np.testing.assert_allclose(_edges(np.array([1.0, 100.0, 1e4])), [0.1, 10.0, 1e3, 1e5])
    assert _edges(np.array([3.0])).tolist() == [1.5, 4.5]
    assert _edges(np.array([0.0])).tolist() == [-0.5, 0.5]
    np.testing.assert_allclose(_edges(np.array([1.0, 5.0])), [0.0, 3.0, 7.0])  # a mass or a stiffness is positive
    assert _logarithmic(np.geomspace(0.001, 0.1, 12))
    assert not _logarithmic(np.linspace(0.5, 2.0, 5))


@pytest.mark.parametrize("varied", [[], ["a", "b", "c"]])
def test_more_or_fewer_parameters_are_refused(varied):
    with pytest.raises(PliantError, match="one or two varied parameters"):
        plot_sweep(COLUMNS, curve(), varied)


def test_what_cannot_be_drawn_is_said():
    with pytest.raises(PliantError, match=r"no metric 'finl'; did you mean 'final'"):
        plot_sweep(COLUMNS, curve(), ["a.k"], metrics=["finl"])
    with pytest.raises(PliantError, match="no simulation"):
        plot_sweep(COLUMNS, [], ["a.k"])
    with pytest.raises(PliantError, match="all simulations diverged"):
        plot_sweep(COLUMNS, [[*row[:-1], True] for row in curve()], ["a.k"])
