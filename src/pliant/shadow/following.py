"""`pliant shadow` beside a robot that runs: console, JSON lines and page while it is listened to."""

from __future__ import annotations

import contextlib
import math
import time
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pliant.base.errors import PliantError
from pliant.cli.output import counted, emit, make_console, plain
from pliant.recording.live import Inbox, Listener, make_listener
from pliant.shadow.live import LiveShadow, Pose
from pliant.shadow.options import Beside, Judged

if TYPE_CHECKING:
    from pliant.model.robot import Robot
    from pliant.shadow.drift import Drift
    from pliant.simulation.viewer import BesidePage

PERIOD = 0.05
"""Longest wait for what is heard [s of wall time]."""
SILENCE = 2.0
"""Wall time without a message after which the robot is called silent [s]."""
WINDOW = 10.0
"""Length of a window where none is asked for [s]."""
PATIENCE = 5.0
"""Wall time after which is told what is not heard yet [s]."""


def listen(
    shadow: LiveShadow, listener: Listener, inbox: Inbox, duration: float | None = None
) -> Iterator[tuple[list[Drift], list[str]]]:
    """Follow a robot until its source ends; yield the windows that were judged and the notes, many times a second.

    Args:
        shadow: the simulation beside it.
        listener: what hears the robot; it is started.
        inbox: where it puts what it hears.
        duration: time of the robot after which it ends [s]; None for no end.
    """
    heard_at = told_at = time.monotonic()
    silent = False
    ended = False
    while not ended:
        messages, notes, ended = inbox.take(0.0 if shadow.behind > 1.0 else PERIOD)
        now = time.monotonic()
        if messages:
            heard_at = now
            if silent:
                notes.append("the robot is heard again")
            silent = False
            shadow.hear(messages)
        elif not silent and not ended and now - heard_at > SILENCE:
            silent = True
            why = listener.lost() or listener.silent()
            notes.append(f"nothing is heard for {SILENCE:g} s" + (f": {why}" if why else ""))
        found = shadow.advance()
        while ended and shadow.behind > 0.0 and (before := shadow.heard) >= 0.0:  # the rest of a file
            found += shadow.advance()
            if shadow.heard == before:
                break
        if not ended:
            shadow.keep_up()
        if messages and shadow.missing() and now - told_at > PATIENCE:
            told_at = math.inf
            why = listener.silent()
            notes.append(f"{shadow.missing()} yet" + (f"; {why}" if why else ""))
        notes += shadow.notes
        shadow.notes.clear()
        yield found, notes
        if duration is not None and shadow.heard >= duration:
            return


def follow(robot: Robot, name: str, text: str, judged: Judged, beside: Beside, *, json: bool = False) -> int:
    """Listen to a robot until Ctrl-C, and tell of each window; return the exit code.

    Args:
        robot: the robot as described.
        name: name of the listener.
        text: its options.
        judged: which parameters and which part of the motion are judged; windows have `WINDOW` where none is given.
        beside: until when, and whether a page shows it.
        json: whether windows, notes and the summary are JSON objects, one a line.

    Raises:
        PliantError: the listener cannot connect, or an option is wrong.
    """
    if beside.duration is not None and not (math.isfinite(beside.duration) and beside.duration > 0.0):
        raise PliantError(f"--duration is {beside.duration:g}; must be more than 0 s", field="duration")
    listener = make_listener(name, text, robot)
    window = WINDOW if judged.window is None else judged.window
    shadow = LiveShadow(robot, watched=judged.watch, window=window, settle=judged.settle, commands=judged.commands)
    report = _Report(json)
    inbox = Inbox()
    with contextlib.ExitStack() as stack:
        stack.callback(listener.stop)
        listener.start(inbox)
        page = _page(robot, shadow, beside, stack)
        report.say(f"listening to {listener.where()}; nothing is sent (Ctrl-C ends)")
        if page is not None:
            report.say(f"view: {page.url}")
        drawn: Pose | None = None
        with contextlib.suppress(KeyboardInterrupt):
            for found, notes in listen(shadow, listener, inbox, beside.duration):
                for note in notes:
                    report.note(note)
                for drift in found:
                    report.window(drift)
                if page is not None:
                    drawn = _draw(page, shadow, found, notes, drawn)
    report.summary(shadow, inbox)
    return 0


def _page(robot: Robot, shadow: LiveShadow, beside: Beside, stack: contextlib.ExitStack) -> BesidePage | None:
    if not beside.view:
        return None
    from pliant.simulation.viewer import find_viewer

    page = find_viewer("--view").beside(
        shadow.model, list(robot.actuators), ("127.0.0.1", beside.port or 0), robot.name or "robot"
    )
    stack.callback(page.stop)
    return page


def _draw(
    page: BesidePage, shadow: LiveShadow, found: list[Drift], notes: list[str], drawn: Pose | None
) -> Pose | None:
    """Show what is new; return the state that is shown."""
    pose = shadow.pose
    if pose is not None and pose is not drawn:
        page.show(pose.time, pose.qpos, pose.curves)
    for text in notes:
        page.tell(text, kind="note")
    for drift in found:
        page.tell(_line(drift), kind="drift" if drift.drifted else "well")
    return pose


def _line(drift: Drift) -> str:
    return f"{drift.begin:.4g} to {drift.end:.4g} s: {drift.verdict}"


class _Report:
    """Tells of windows and notes: lines for people, or JSON objects, one a line, on standard output."""

    def __init__(self, as_json: bool) -> None:
        self._json = as_json
        self._console = make_console(quiet=as_json)
        self._named: Counter[str] = Counter()
        self._last: dict[str, str] = {}
        self._windows, self._clear = 0, 0

    def say(self, text: str) -> None:
        self._console.print(plain(text), soft_wrap=True)

    def note(self, text: str) -> None:
        if self._json:
            emit({"note": text}, line=True)
        else:
            self.say(f"note: {text}")

    def window(self, drift: Drift) -> None:
        self._windows += 1
        self._clear += not drift.drifted
        for name in drift.drifted[:1]:
            self._named[name] += 1
            self._last[name] = str(drift.estimates[0])
        if self._json:
            emit({"window": drift.row()}, line=True)
        else:
            self.say(_line(drift))

    def summary(self, shadow: LiveShadow, inbox: Inbox) -> None:
        """Tell what was found in all windows."""
        if self._json:
            row = {
                "seconds": shadow.heard,
                "messages": inbox.count,
                "dropped": inbox.dropped,
                "restarts": shadow.restarts,
                "windows": self._windows,
                "without_drift": self._clear,
                "named": dict(self._named),
            }
            emit({"summary": row}, line=True)
            return
        self.say(
            f"{shadow.heard:.1f} s beside the robot, {counted(inbox.count, 'message')} heard, 0 sent; "
            f"{counted(self._windows, 'window')}, {self._clear} without drift"
        )
        for name, count in self._named.most_common():
            self.say(f"{name} was named in {counted(count, 'window')}; last: {self._last[name]}")
