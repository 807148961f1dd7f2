"""The curves that a page draws before somebody chooses others."""

from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

from pliant.devices import make_devices
from pliant.devices.base import FieldInfo, Sample
from pliant.page.plots import Plots
from pliant.robots.loading import load


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("qbmove-1dof", ["joint/position", "joint/torque", "joint/stiffness"]),
        (
            "softfoot-bench",
            ["load/force", "heel_force/force[2]", "fascia_force/force[2]", "metatarsus_force/force[2]"],
        ),
    ],
)
def test_the_first_curves_are_those_that_a_user_of_the_robot_looks_at(name, expected):
    devices = {device.name: device for device in make_devices(load(name))}
    assert [signal.label for signal in Plots(MagicMock(), devices, print).signals] == expected


def test_ticks_of_both_axes_are_never_finer_than_their_labels():
    gui = MagicMock()
    Plots(gui, {device.name: device for device in make_devices(load("qbmove-1dof"))}, print)
    axes = [call.kwargs["axes"] for call in gui.add_uplot.call_args_list]
    assert axes
    assert all(min(axis["incrs"]) == 1e-3 for pair in axes for axis in pair)


def test_the_legend_of_an_array_of_several_units_has_none_of_them():
    gui = MagicMock()
    gui.add_html.side_effect = lambda _: MagicMock()
    device = SimpleNamespace(samples={"pose": FieldInfo((3,), "m, rad"), "q": FieldInfo((2,), "rad")})
    plots = Plots(gui, {"robot": device}, print)
    plots.take(Sample("robot", 0, 1, {"pose": [0.25, 0.5, 0.75], "q": [0.125, 0.0]}))
    plots.draw()
    legends = [chart[1].content for chart in plots._charts.values()]
    assert [">0.25<" in legend for legend in legends] == [True, False]
    assert [">0.125 rad<" in legend for legend in legends] == [False, True]
