"""The page as the viewer of runs and recordings (`pliant.simulation.viewer.Viewer`)."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Mapping, Sequence

import mujoco

from pliant.engine.base import MujocoState
from pliant.page.beside import BesideView
from pliant.page.page import PageView
from pliant.page.playable import picture_period, write_page
from pliant.page.replay import ReplayView
from pliant.page.server import PageServer
from pliant.recording import Recording
from pliant.simulation.viewer import Viewer


def _run(engine: MujocoState, place: tuple[str, int], title: str, metadata: Mapping[str, str]) -> PageView:
    return PageView(engine, host=place[0], port=place[1], title=title, metadata=metadata)


def _recording(
    found: Recording, model: mujoco.MjModel, place: tuple[str, int], missing: Callable[[Sequence[str]], None]
) -> None:
    with PageServer(host=place[0], port=place[1], title=found.path.name) as server:
        page = ReplayView(found, model, server)
        missing(page.missing)
        with contextlib.suppress(KeyboardInterrupt):
            print(f"view: {server.url} (Ctrl-C ends)", file=sys.stderr, flush=True)
            page.run()


def _beside(model: mujoco.MjModel, joints: Sequence[str], place: tuple[str, int], title: str) -> BesideView:
    return BesideView(model, joints, host=place[0], port=place[1], title=title)


VIEWER = Viewer(run=_run, recording=_recording, beside=_beside, write=write_page, period=picture_period)
"""The page in the browser."""
