"""`pliant shadow` on recordings that `pliant run` made."""

import json
import socket

import pytest

RECORDED = []


@pytest.fixture
def recorded(call, tmp_path_factory):
    """Return a recording of a heavier robot, which the first test makes."""
    if RECORDED:
        return RECORDED[0]
    folder = tmp_path_factory.mktemp("recorded")
    rows = "".join(f"{0.01 * k},{0.3 * ((k // 40) % 2)}\n" for k in range(400))
    (folder / "steps.csv").write_text("time,joint/equilibrium_position\n" + rows)
    path = folder / "run.mcap"
    code, _, err = call(
        "run", "qbmove-1dof", "--set", "link.mass=0.25", "--command", folder / "steps.csv", "--duration", "4",
        "--record", path,
    )  # fmt: skip
    assert code == 0, err
    RECORDED.append(path)
    return path


def test_a_heavier_load_is_named_and_nothing_is_sent(call, recorded, tmp_path, monkeypatch):
    def refused(*args, **options):
        raise AssertionError("a shadow opens no connection")

    for name in ("connect", "bind", "sendto", "sendmsg"):
        monkeypatch.setattr(socket.socket, name, refused)
    code, out, err = call("shadow", "qbmove-1dof", recorded, "--json", "--plot", tmp_path / "shadow.png")
    assert code == 0, err
    found = json.loads(out)
    (window,) = found["windows"]
    assert window["drifted"][0] == "link load"
    assert window["estimates"][0]["value"] == pytest.approx(1.25, abs=0.02)
    assert (tmp_path / "shadow.png").stat().st_size > 10_000


def test_the_robot_of_the_recording_itself_has_not_drifted(call, recorded):
    code, out, err = call("shadow", "qbmove-1dof", recorded, "--set", "link.mass=0.25")
    assert code == 0, err
    assert "no parameter has drifted" in out
    assert "commands are taken as latched" in out


def test_a_robot_without_compliant_joints_is_refused(call, recorded):
    code, _, err = call("shadow", "softfoot", recorded)
    assert code != 0
    assert "has no compliant joint" in err


def test_a_log_and_a_robot_that_is_listened_to_exclude_each_other(call, tmp_path):
    for arguments in ((), (tmp_path / "log.csv", "--ros1"), ("--ros1", "--ros2")):
        code, _, err = call("shadow", "sea-1dof", *arguments)
        assert code != 0
        assert "give one source: a log, or one of --" in err
    code, _, err = call("shadow", "sea-1dof", tmp_path / "log.csv", "--view")
    assert code != 0
    assert "--view is for a robot that is listened to" in err
    code, _, err = call("shadow", "sea-1dof", "--ros1", "nobody=1")
    assert code != 0
    assert "--ros1: no option 'nobody'" in err
