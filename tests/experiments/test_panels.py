"""Figures from declared panels."""

import numpy as np
import pytest

from pliant.base.figures import COLORS, CYCLE, MUTED
from pliant.experiments.base import Context, Table
from pliant.experiments.panels import Band, Level, Line, Note, Panel, Picture, color_of, draw, lines
from pliant.experiments.trace import Trace


def axes(figure):
    return [axis for axis in figure.figure.axes if axis.get_visible()]


def test_a_column_is_drawn_scaled_in_the_colour_of_its_meaning():
    trace = Trace({"time": np.arange(3.0), "p": np.arange(6.0).reshape(3, 2)}, {"p": "m"})
    panel = Panel([trace.line("p", 1, scale=1e3, color="soft", label="tip"), Level(2.0)], "time [s]", "tip [mm]", "T")
    (axis,) = axes(draw("tip", "The tip. It moves.", [panel]))
    line, level = axis.get_lines()
    np.testing.assert_array_equal(line.get_ydata(), [1e3, 3e3, 5e3])
    assert (line.get_color(), level.get_color()) == (COLORS["soft"], MUTED)
    assert (axis.get_xlabel(), axis.get_ylabel(), axis.get_title(loc="left")) == ("time [s]", "tip [mm]", "T")


def test_a_shared_axis_is_labelled_once():
    panels = [Panel([Line([0, 1], [0, 1])], "time [s]", "y") for _ in range(4)]
    found = axes(draw("four", "Four.", panels, rows=2, sharex=True, sharey="row"))
    assert [axis.get_xlabel() for axis in found] == ["", "", "time [s]", "time [s]"]
    assert [axis.get_ylabel() for axis in found] == ["y", "", "y", ""]
    found = axes(draw("four", "Four.", panels, rows=2))
    assert [axis.get_xlabel() for axis in found] == ["time [s]"] * 4


def test_panels_that_do_not_fill_the_last_row_leave_it_empty():
    figure = draw("three", "Three.", [Panel([Line([0, 1], [0, 1])], "x") for _ in range(3)], rows=2, sharex=True)
    assert [axis.get_xlabel() for axis in axes(figure)] == ["", "x", "x"]


def test_limits_ticks_and_logarithmic_axes_are_declared():
    panel = Panel([Line([1, 10], [1, 2])], log="x", xticks=([1, 10], ["one", "ten"]), ylim=(0.0, None), legend=None)
    (axis,) = axes(draw("log", "A.", [panel]))
    assert axis.get_xscale() == "log"
    assert [text.get_text() for text in axis.get_xticklabels()] == ["one", "ten"]
    assert axis.get_ylim()[0] == 0.0


def test_bands_notes_pictures_and_nothing_are_items():
    items = [Band(0.0, 1.0), None, Note(0.5, 0.5, "here"), [Level(1.0, vertical=True)], Picture(None, "no renderer")]
    (axis,) = axes(draw("all", "A.", [Panel(items)]))
    assert {text.get_text() for text in axis.texts} == {"here", "no renderer"}


def test_each_column_has_a_label_and_a_colour():
    found = lines([0, 1], np.zeros((2, 3)), "xyz")
    assert [line.style["label"] for line in found] == ["x", "y", "z"]
    assert [line.style["color"] for line in found] == list(CYCLE[:3])
    assert color_of(7) == CYCLE[1]
    assert color_of("#123456") == "#123456"


def test_measured_curves_are_drawn_below(tmp_path):
    (tmp_path / "figure1.csv").write_text("0,1\n1,2\n")
    context = Context(output=tmp_path, curves=tmp_path)
    panel = Panel([Line([0, 1], [0, 1], label="ours")], measured="figure1", legend="best")
    (axis,) = axes(draw("m", "M.", [panel], context=context))
    assert [text.get_text() for text in axis.get_legend().get_texts()] == ["measured", "ours"]


def test_the_legend_of_a_panel_is_that_of_the_figure():
    figure = draw("l", "L.", [Panel([Line([0], [0], label="a")]), Panel([])], legend=0).figure
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a"]


def test_a_table_of_rows_that_name_their_cells():
    table = Table.of("T", [{"a": 1, "b [m]": 2.0}, {"a": 3, "b [m]": None}], "note")
    assert list(table.columns) == ["a", "b [m]"]
    assert table.rows == [[1, 2.0], [3, None]]
    assert Table.of("T", []).columns == []


@pytest.mark.parametrize("kind", ["step", "bar"])
def test_other_methods_of_the_axis_draw_lines(kind):
    (axis,) = axes(draw("k", "K.", [Panel([Line([0, 1], [1, 2], kind=kind)])]))
    assert axis.has_data()
