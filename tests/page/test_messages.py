"""What the page tells: messages of the run, curves with names, units, values and colours that stay."""

import logging

import numpy as np
import pytest
from running import eventually, running

from pliant.devices.base import FieldInfo, Sample
from pliant.page.messages import Messages
from pliant.page.plots import Plots

pytestmark = pytest.mark.network


class Html:
    content = ""


class Gui:
    def add_html(self, text):
        return Html()


@pytest.fixture
def messages():
    made = Messages()
    made.open(Gui())
    yield made
    made.close()


def test_a_warning_of_the_log_is_listed_once_and_told_once(messages):
    for _ in range(2):
        logging.getLogger("pliant.device").warning("the reference of <joint> is %g rad", 9.0)
    logging.getLogger("pliant.view").warning("told by the page itself")
    logging.getLogger("pliant").info("not a warning")
    assert messages.draw() == [("warning", "the reference of <joint> is 9 rad")] * 2
    assert messages._text.content.count("the reference of &lt;joint&gt; is 9 rad") == 1
    assert "told by" not in messages._text.content
    assert messages.draw() == []
    messages.close()
    logging.getLogger("pliant").warning("later")
    assert messages.draw() == []


def test_a_command_beyond_the_joint_is_a_warning_on_the_page():
    with running("qbmove-1dof") as (simulation, view):
        simulation.devices["joint"].inbox.put({"equilibrium_position": 40.0})
        eventually(lambda: "40" in view._messages._text.content)
        assert "joint" in view._messages._text.content


FIELDS = {
    "position": FieldInfo(unit="rad", description="angle"),
    "predicted": FieldInfo(unit="rad", description="angle"),
    "torque": FieldInfo(unit="N m", description="torque"),
}


class Source:
    samples = FIELDS


@pytest.fixture
def plots():
    from viser import ViserServer

    server = ViserServer(port=0, verbose=False)
    try:
        yield Plots(server.gui, {"one": Source(), "two": Source()}, print)
    finally:
        server.stop()


def sample(device, stamp, **values):
    return Sample(device=device, stamp_ns=round(stamp * 1e9), seq=1, values=values)


def colours(plots):
    return {signal.label: signal.colour for signal in plots.signals}


def test_charts_have_names_and_units_and_legends_have_the_newest_values(plots):
    plots.take(sample("one", 0.1, position=0.5, predicted=0.25, torque=-1.5))
    plots.draw()
    (angle, legend), (torque, other) = plots._charts["rad"], plots._charts["N m"]
    assert angle.title == "position, predicted [rad]"
    assert torque.title == "torque [N m]"
    assert "one/position" in legend.content
    assert "0.5 rad" in legend.content
    assert "-1.5 N m" in other.content


def test_the_colour_of_a_curve_stays_while_others_come_and_go(plots):
    before = colours(plots)
    assert len({before[f"{d}/{f}"] for d in ("one", "two") for f in ("position", "predicted")}) == 4
    plots.remove("one/position")
    assert colours(plots) == {label: colour for label, colour in before.items() if label != "one/position"}
    plots.add("one/position")
    assert colours(plots) == before


def test_after_a_reset_the_curves_restart(plots):
    for stamp in (1.0, 2.0, 3.0):
        plots.take(sample("one", stamp, position=stamp, predicted=0.0, torque=0.0))
    plots.restart()
    plots.draw()
    assert np.isnan(plots._charts["rad"][0].data[1]).all()
    for stamp in (0.1, 0.2):
        plots.take(sample("one", stamp, position=stamp, predicted=0.0, torque=0.0))
    plots.draw()
    np.testing.assert_allclose(plots._charts["rad"][0].data[0], [0.1, 0.2])
