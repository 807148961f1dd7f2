"""Following a robot on the console: windows, notes and the summary, also as JSON lines; a source that falls silent."""

import json
import re

import pytest
from shadow_logs import described, log_of, messages_of

from pliant.base.errors import PliantError
from pliant.base.wing import BridgeEntry, Wing, declare, withdraw
from pliant.shadow import LiveShadow, following
from pliant.shadow.following import follow, listen
from pliant.shadow.options import Beside, Judged

SOFT = {"actuator.link_friction.torque": 0.05, "actuator.k": 10.0}
PLAYED = []


class Player:
    """A source that plays messages and ends, as a file does."""

    stopped = False

    def __init__(self, messages):
        self._messages = messages

    def start(self, inbox):
        for message in self._messages:
            inbox.put(message)
        inbox.end()

    def stop(self):
        self.stopped = True

    def where(self):
        return "a player"

    def lost(self):
        return ""

    def silent(self):
        return "other states are published: /other/joint/link_state"


def make(robot, whole: bool = True):
    """Return a player of what the test wants to be heard."""
    return Player(PLAYED)


@pytest.fixture(scope="module")
def robot():
    return described("sea-1dof", **SOFT)


@pytest.fixture(scope="module")
def heavier(robot):
    return messages_of(log_of(robot, seed=3, duration=7.0, changes={"link.mass": 0.24}))


@pytest.fixture
def player(heavier):
    declare(Wing(name="players", summary="plays", listeners={"played": BridgeEntry("plays", f"{__name__}:make")}))
    PLAYED[:] = heavier
    yield
    withdraw("players")


JUDGED = Judged(watch=("joint spring", "link load"), window=4.0, commands="held")


def test_windows_and_the_summary_are_told(robot, player, capsys):
    assert follow(robot, "played", "", JUDGED, Beside()) == 0
    out = capsys.readouterr().out
    assert "listening to a player; nothing is sent (Ctrl-C ends)" in out
    assert re.search(r"link load x 1\.(19|2)", out)  # it was changed by a fifth
    assert "0 sent; 1 window, 0 without drift" in out
    assert "link load was named in 1 window" in out


def test_json_is_one_object_a_line(robot, player, capsys):
    assert follow(robot, "played", "", JUDGED, Beside(), json=True) == 0
    *rows, last = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    windows = [row["window"] for row in rows if "window" in row]
    assert [window["drifted"][0] for window in windows] == ["link load"]
    assert windows[0]["estimates"][0]["value"] == pytest.approx(1.2, abs=0.02)
    assert last["summary"]["named"] == {"link load": 1}
    assert last["summary"]["messages"] == len(PLAYED)
    assert last["summary"]["dropped"] == 0


def test_it_ends_after_the_time_of_the_robot_that_is_asked_for(robot, player, capsys):
    follow(robot, "played", "", Judged(watch=("link load",)), Beside(duration=2.0), json=True)
    summary = json.loads(capsys.readouterr().out.splitlines()[-1])["summary"]
    assert summary["windows"] == 0
    with pytest.raises(PliantError, match="--duration is 0"):
        follow(robot, "played", "", Judged(), Beside(duration=0.0))


def test_silence_is_told_once_with_what_else_could_be_heard(robot, heavier, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(following.time, "monotonic", lambda: now[0])

    class Quiet:
        """An inbox into which nothing comes for ten seconds."""

        def take(self, timeout):
            now[0] += 1.0
            return (heavier[:1] if now[0] in (1.0, 9.0) else []), [], now[0] > 12.0

    shadow = LiveShadow(robot, watched=["link load"])
    notes = [note for _, found in listen(shadow, Player([]), Quiet()) for note in found]
    silent = [note for note in notes if "nothing is heard for 2 s" in note]
    assert len(silent) == 2
    assert silent[0].endswith(": other states are published: /other/joint/link_state")
    assert "the robot is heard again" in notes
