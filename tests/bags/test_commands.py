"""Bags on the command line: replayed, exported, played into a run, fitted."""

import json
import signal

import bag_files as bags
import pytest
from daily import by_day
from wires import LONG, Wire

F64 = "std_msgs/msg/Float64"
MS = 1_000_000


def commands(store):
    for k in range(5):
        yield "/arm/elbow/equilibrium_position", F64, k * 10 * MS, bags.number(store, 0.05 * k)
        yield "/arm/ankle/equilibrium_position", F64, k * 10 * MS, bags.number(store, 0.05 * k)
    yield (
        "/depth",
        "sensor_msgs/msg/FluidPressure",
        40 * MS,
        store.types["sensor_msgs/msg/FluidPressure"](bags.joint_state(store, 0, [], []).header, 1e5, 0.0),
    )


@pytest.fixture
def recording(robot_file, call, tmp_path):
    path = tmp_path / "run.mcap"
    code, _, err = call(
        "run", robot_file, "-r", "elbow/equilibrium_position=0.4", "--duration", 0.2, "--record", path, "--json"
    )
    assert code == 0, err
    return path


@pytest.mark.parametrize("kind", ["bag", "mcap", "db3", "folder"])
def test_a_run_says_which_topics_of_a_bag_command_it_and_which_do_not(robot_file, call, tmp_path, kind):
    bag = bags.write_any(tmp_path, commands, kind)
    code, out, err = call("run", robot_file, "--command", bag, "--duration", 0.1, "--json")
    assert code == 0, err
    assert "elbow/equilibrium_position from /arm/elbow/equilibrium_position" in err
    assert "no device of this robot takes: /arm/ankle/equilibrium_position" in err
    assert "not commands: /depth (sensor_msgs/FluidPressure)" in err
    assert json.loads(out)["joints"]["elbow"]["equilibrium"] > 0.01


def test_a_bag_is_summarised_by_its_topics(call, tmp_path):
    bag = bags.write_any(tmp_path, commands, "bag")
    code, out, _ = call("replay", bag)
    assert code == 0
    assert "/arm/elbow/equilibrium_position" in out
    assert "0.04 s" in out
    code, out, _ = call("replay", bag, "--json")
    row = json.loads(out)["topics"][1]
    assert row["topic"] == "/arm/elbow/equilibrium_position"
    assert (row["type"], row["messages"], row["rate"]) == ("std_msgs/Float64", 5, pytest.approx(100.0))


@pytest.mark.parametrize("name", by_day(["out.bag", "out.mcap", "out.db3", "out"], {"out.bag", "out"}.__contains__))
def test_a_recording_becomes_a_bag_that_is_replayed_and_fitted(recording, call, tmp_path, name):
    out_file = tmp_path / name
    code, out, err = call("export", "bag", recording, out_file, "--namespace", "left")
    assert code == 0, err
    assert "/left/elbow/link_state" in out
    assert "written: " in out
    code, out, err = call("export", "bag", recording, out_file)
    assert code == 1
    assert "the bag exists; replace it with --overwrite, or name another" in err
    code, out, _ = call("export", "bag", recording, out_file, "--overwrite", "--json")
    assert code == 0
    topics = {row["topic"]: row["count"] for row in json.loads(out)["topics"]}
    assert topics["/clock"] == topics["/joint_states"]
    code, out, _ = call("replay", out_file, "--speed", "inf", "--start", 0.1, "--json")
    assert code == 0
    done = json.loads(out)
    assert 0 < done["published"] < sum(topics.values())
    code, out, err = call("identify", out_file, "--json")
    assert code == 0, err
    assert "link_position from " in err
    assert "link_state" in err
    # It moved under its own motors only: the springs are there, the numbers as good as such data.
    assert json.loads(out)


def test_a_recording_itself_is_fitted(recording, call):
    code, out, err = call("identify", recording, "--device", "elbow", "--json")
    assert code == 3, err  # 20 rows of a joint at rest determine no spring
    assert "position from elbow/position" in err
    assert json.loads(out)["identified"] is False
    code, _, err = call("identify", recording, "--device", "elbo")
    assert code == 1
    assert "no device 'elbo' with a position; did you mean 'elbow'" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--loop",), "--loop has no effect without --bridge"),
        (("--delay", 1), "--delay has no effect without --bridge"),
        (("--wait",), "--wait has no effect without --bridge"),
        (("--start", 1), "--start has no effect without --bridge or --speed"),
        (("--speed", 0), "the speed of the replay is 0.0; must be a number above 0"),
        (("--speed", 1, "--start", 50), "starts at 50 s; the recording has"),
        (("--bridge", "ros9"), "no bridge 'ros9'"),
        (("--bridge", "ros1:sync=trigger"), "waits for answers; a replay has none"),
    ],
)
def test_wrong_options_of_a_replay_are_refused(recording, call, words, message):
    code, _, err = call("replay", recording, *words)
    assert code == 1
    assert message in " ".join(err.split())


def test_what_is_for_recordings_is_refused_for_bags(call, tmp_path):
    bag = bags.write_any(tmp_path, commands, "bag")
    for option, file in (("--export", "out.csv"), ("--plot", "out.png"), ("--compare", "out.mcap")):
        code, _, err = call("replay", bag, option, tmp_path / file)
        assert code == 1
        assert f"{option} is for recordings of pliant, and this file is a bag" in " ".join(err.split())
    code, _, err = call("export", "bag", bag)
    assert code == 1
    assert "the output is missing: pliant export bag" in " ".join(err.split())


@pytest.mark.parametrize(("words", "code"), [((), 130), (("--loop",), 0)])
def test_ctrl_c_ends_a_replay_and_says_what_was_published(recording, call, monkeypatch, words, code):
    wire = Wire(at=50, act=lambda: signal.raise_signal(signal.SIGINT))
    monkeypatch.setattr("pliant.replay.commands.make_bridge", lambda name, robot: wire)
    found, out, err = call("replay", recording, "--bridge", "wire", "--speed", "inf", *words)
    assert found == code, err
    assert wire.stopped == 1
    assert wire.steps == 50
    assert LONG in "".join(out.split())
    assert "published: " in out
    # Without an end of its own, Ctrl-C is how a replay ends.
    assert ("interrupted at 0.049 s" in out) is (code == 130)


def test_the_bridges_of_a_replay_get_the_recorded_names(recording, call, monkeypatch):
    robots = []

    def make(name, robot):
        robots.append(robot.interface.namespace)
        return Wire()

    monkeypatch.setattr("pliant.replay.commands.make_bridge", make)
    code, out, err = call("replay", recording, "--bridge", "wire", "--speed", "inf", "--duration", 0.05, "--json")
    assert code == 0, err
    assert robots == ["toBEassigned"]
    done = json.loads(out)
    assert done["health"]["wire"]["steps"] == 51  # 0 to 50 ms after the first sample
    assert done["served"]["wire"][0]["peers"]
    assert not done["interrupted"]


@pytest.mark.parametrize("command", ["replay", "identify"])
def test_a_folder_that_is_no_bag_is_said_to_be_none(call, tmp_path, command):
    code, _, err = call(command, tmp_path)
    assert code == 1
    assert "the folder has no metadata.yaml and no .mcap or .db3 file" in err
