"""The handle on the plate: what is dragged is a target, and otherwise it follows."""

import asyncio
from types import SimpleNamespace

import numpy as np
import pytest

from pliant.base.spatial import exp_so3, pose, quaternion_from_rotation
from pliant.page.handle import PlateHandle, WrenchArrow
from pliant.page.server import PageServer

pytestmark = pytest.mark.network
GOAL = pose([0.1, 0.2, 1.3], exp_so3([0.1, 0.2, 0.3]))


@pytest.fixture
def server():
    with PageServer() as made:
        yield made


def event(phase, client=1):
    return SimpleNamespace(phase=phase, client_id=client)


def test_the_handle_follows_what_was_found_unless_somebody_holds_it(server):
    targets = []
    handle = PlateHandle(server, planar=False, size=1.0, moved=targets.append)
    handle.follow(GOAL)
    np.testing.assert_allclose(handle._gizmo.position, GOAL[:3, 3])
    asyncio.run(handle._changed(event("start")))
    assert handle.held
    handle.follow(np.eye(4))
    np.testing.assert_allclose(handle._gizmo.position, GOAL[:3, 3])
    handle._gizmo.position = (0.5, 0.0, 1.0)
    asyncio.run(handle._changed(event("update")))
    np.testing.assert_allclose(targets[-1], pose([0.5, 0.0, 1.0], GOAL[:3, :3]), atol=1e-6)
    asyncio.run(handle._changed(event("end")))
    handle.follow(GOAL)  # dragged too far: back to what was found
    np.testing.assert_allclose(handle._gizmo.position, GOAL[:3, 3])


def test_a_turned_handle_turns_the_target(server):
    targets = []
    handle = PlateHandle(server, planar=False, size=1.0, moved=targets.append)
    handle._gizmo.wxyz = tuple(quaternion_from_rotation(GOAL[:3, :3]))
    asyncio.run(handle._changed(event("update")))
    np.testing.assert_allclose(targets[0][:3, :3], GOAL[:3, :3], atol=1e-6)


def test_the_plate_of_a_planar_robot_has_no_handle_out_of_its_plane(server):
    handle = PlateHandle(server, planar=True, size=1.0, moved=print)
    assert tuple(handle._gizmo.active_axes) == (True, True, False)
    handle.visible = False
    assert not handle.visible


def test_the_arrow_is_as_long_as_the_root_of_the_force(server):
    arrow = WrenchArrow(server, size=2.0, largest=10.0)
    arrow.draw(np.zeros(3), np.zeros(6))
    assert arrow._arrow is None
    arrow.draw(np.ones(3), np.array([0.0, 0.0, -10.0, 1.0, 0.0, 0.0]))
    np.testing.assert_allclose(arrow._arrow.points, [[[1, 1, 1], [1, 1, 0.4]]], atol=1e-6)
    arrow.draw(np.zeros(3), np.array([2.5, 0.0, 0.3]))  # planar: fx, fy, mz
    np.testing.assert_allclose(arrow._arrow.points, [[[0, 0, 0], [0.3, 0, 0]]], atol=1e-6)
    arrow.draw(np.zeros(3), np.zeros(3))
    assert not arrow._arrow.visible


def test_a_pose_that_is_none_never_reaches_the_handle(server):
    from viser import _messages

    targets = []
    handle = PlateHandle(server, planar=False, size=1.0, moved=targets.append)
    handle.follow(GOAL)
    (guard,) = server.viser._websock_server._incoming_handlers[_messages.TransformControlsUpdateMessage]

    def message(position=(0.1, 0.2, 1.3), wxyz=(1.0, 0.0, 0.0, 0.0)):
        return _messages.TransformControlsUpdateMessage("/plate-handle", wxyz, position)

    for wrong in (
        message(position=(0.0, 0.0, float("nan"))),
        message(position=(0.0, 0.0)),
        message(position=(0.0, 1e9, 0.0)),
        message(position=("x", 0.0, 0.0)),
        message(wxyz=(0.0, 0.0, 0.0, 0.0)),
        message(wxyz=(float("inf"), 0.0, 0.0, 0.0)),
    ):
        asyncio.run(guard(1, wrong))
    assert targets == []
    np.testing.assert_allclose(handle._gizmo.position, GOAL[:3, 3])
    asyncio.run(guard(1, message(position=(0.3, 0.0, 1.0))))
    np.testing.assert_allclose(targets[0][:3, 3], [0.3, 0.0, 1.0])
