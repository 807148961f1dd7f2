"""The page of a robot and its shadow: both poses, curves and verdicts, and nothing that moves the robot."""

import numpy as np
import pytest

import pliant
from pliant.simulation.viewer import find_viewer

pytestmark = pytest.mark.network


@pytest.fixture
def page():
    robot = pliant.load("qbmove-1dof")
    made = find_viewer("--view").beside(robot.compile(), ["joint"], ("127.0.0.1", 0), "arm")
    yield made
    made.stop()


def curves(begin, count=5):
    time = begin + 0.02 * np.arange(count)
    return {"joint": (time, np.full(count, 0.3), np.full(count, 0.1))}


def test_the_measured_pose_is_the_ghost_and_the_simulated_one_is_solid(page):
    model = page._model
    qpos = np.zeros(model.nq)
    qpos[0] = 0.1
    page.show(1.0, qpos, curves(1.0))
    body = int(model.jnt_bodyid[model.joint("joint").id])
    solid, ghost = page._scene.bodies[body].wxyz, page._ghost.bodies[body].wxyz
    turn = 2.0 * np.arccos(min(1.0, abs(float(np.dot(solid, ghost)))))
    assert turn == pytest.approx(0.2, abs=1e-6)
    assert page._ghost.bodies.keys() < page._scene.bodies.keys()  # the stand has no ghost


def test_measured_predicted_and_their_difference_are_curves(page):
    page.show(1.0, np.zeros(page._model.nq), curves(1.0))
    found = {signal.label: signal.snapshot() for signal in page._plots.signals}
    assert set(found) == {"joint/position", "joint/predicted", "joint/deviation"}
    assert [value for _, value in found["joint/deviation"]] == pytest.approx([0.2] * 5)
    page.show(0.2, np.zeros(page._model.nq), curves(0.2))  # the robot was started again
    assert found["joint/position"][0][0] == 1_000_000_000
    assert page._plots.signals[0].snapshot()[0][0] == 200_000_000


def test_the_newest_verdict_stands_above_and_text_is_not_taken_for_formatting(page):
    page.tell("no parameter has drifted", kind="well")
    page.tell("<b>link load</b> x 1.2", kind="drift")
    page.tell("a gap", kind="note")
    text = page._text.content
    assert text.index("&lt;b&gt;link load") < text.index("a gap") < text.index("no parameter has drifted")
    assert "<b>" not in text


def test_the_page_has_no_control_that_commands(page):
    from viser import GuiButtonHandle, GuiSliderHandle

    handles = page._server.gui._gui_input_handle_from_uuid.values()
    assert not [one for one in handles if isinstance(one, GuiSliderHandle)]
    buttons = {one.label for one in handles if isinstance(one, GuiButtonHandle)}
    assert buttons == {"light or dark"}
