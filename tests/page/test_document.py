"""What the served document does in a browser that draws without a graphics card."""

import importlib.util
import math
import time
from pathlib import Path

import pytest
from running import eventually, running

from pliant.page.document import MOVING_PIXELS, document

pytestmark = pytest.mark.network

_spec = importlib.util.spec_from_file_location("chromium", Path(__file__).with_name("chromium.py"))
chromium = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(chromium)

SCENE = (
    "(() => { const c = document.querySelector('canvas[data-engine]');"
    " return [c.width, c.height, c.clientWidth, c.clientHeight]; })()"
)
FRAME = "window.__viserTestpoints.rendererInfo.render.frame"


def test_the_limit_of_pixels_is_in_the_document():
    assert f"Math.sqrt({MOVING_PIXELS} /".encode() in document("elbow")


@pytest.mark.skipif(chromium.find() is None, reason="no Chromium is installed")
def test_without_a_graphics_card_a_scene_is_drawn_with_fewer_pixels_while_it_moves_and_sharp_when_it_is_still():
    with running("qbmove-1dof") as (simulation, view), chromium.Page(view.url, 1280, 800, webgl=True) as browser:
        browser.until("document.querySelectorAll('[role=slider]').length > 0")
        joint = simulation.devices["joint"]

        def drawn_while_it_swings():
            side = math.copysign(0.3, math.sin(8.0 * time.monotonic()))
            joint.inbox.put({"equilibrium_position": side, "stiffness_preset": 0.2})
            width, height, shown, high = browser.run(SCENE)
            return width < shown and width * height <= MOVING_PIXELS < shown * high

        def sharp():
            width, height, shown, high = browser.run(SCENE)
            return (width, height) == (shown, high)

        eventually(drawn_while_it_swings, 60.0)
        eventually(sharp, 60.0)
        eventually(drawn_while_it_swings, 60.0)  # again, and not only when the page is new
        # Somebody who chooses a number of pixels in viser's settings keeps it.
        browser.run("window.__viserTestpoints.devSettings.set({fixedDpr: 0.5}); true")
        eventually(lambda: abs(2 * browser.run(SCENE)[0] - browser.run(SCENE)[2]) <= 2, 60.0)
        frame = browser.run(FRAME)
        eventually(lambda: browser.run(FRAME) > frame + 2, 60.0)  # viser draws once a second
        width, _, shown, _ = browser.run(SCENE)
        assert abs(2 * width - shown) <= 2
        assert browser.errors == []
