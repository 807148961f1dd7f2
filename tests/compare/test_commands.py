"""`pliant compare`: two runs in numbers and in one figure."""

import json

import pytest

SOFT_STIFF = ("qbmove-1dof", "qbmove-1dof", "--set-a", "robot.preset=0.1", "--set-b", "robot.preset=0.6")


def test_two_settings_of_a_robot_are_compared(call, tmp_path):
    plot = tmp_path / "both.png"
    code, out, err = call("compare", *SOFT_STIFF, "--names", "soft,stiff", "--duration", "0.2", "--plot", plot)
    assert code == 0, err
    assert "soft" in out
    assert "joint/preset" in out
    assert "common signals differ" in out
    assert "sampled 1000 times a second" in out
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_json_has_every_signal_with_its_numbers(call):
    code, out, err = call("compare", *SOFT_STIFF, "--duration", "0.2", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert found["names"] == ["qbmove-1dof robot.preset=0.1", "qbmove-1dof robot.preset=0.6"]
    preset = next(s for s in found["signals"] if s["name"] == "joint/preset")
    assert preset["final"] == [pytest.approx(0.1, abs=0.01), pytest.approx(0.6, abs=0.01)]
    assert preset["unit"] == "rad"


def test_recordings_are_compared_with_recordings_and_with_robots(call, robot_file, tmp_path):
    file = tmp_path / "a.mcap"
    assert call("run", robot_file, "--duration", "0.1", "--record", file)[0] == 0
    code, out, err = call("compare", file, file)
    assert code == 0, err
    assert "0 of" in out
    code, out, err = call("compare", file, robot_file, "--duration", "0.1", "--json")
    assert code == 0, err
    assert all(s["largest"] == 0.0 for s in json.loads(out)["signals"])


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("{a}", "{a}", "--duration", "1"), "--duration has no effect without a robot: both are recordings"),
        (("{a}", "{a}", "--scenario", "steps"), "--scenario has no effect without a robot: both are recordings"),
        (("{a}", "{a}", "--objects", "2"), "--objects has no effect without a robot: both are recordings"),
        (("{a}", "qbmove-1dof", "--set-a", "x=1"), "--set-a has no effect without a robot: the first is a recording"),
        (("{a}", "nowhere.mcap"), "the recording does not exist"),
        (("qbmove-1dof", "qbmove-1dof", "--names", "a"), "must be two names with a comma"),
        (("qbmove-1dof", "qbmove-1dof", "--plot", "a.jpg"), "must be one of .pdf, .png, .svg"),
        (("qbmove-1dof", "qbmove-1dof", "--duration", "nan"), "--duration"),
        (("qbmove-1dof", "qbmov-1dof"), "qbmov-1dof"),
        (("qbmove-1dof", "sea-1dof", "--scenario", "stes"), "did you mean 'steps'?"),
        (("qbmove-1dof", "3PR"), "share no device: qbmove-1dof has joint, board; 3PR has cpr"),
        (("qbmove-1dof", "{csv}"), "must be an .mcap recording of pliant or a robot"),
    ],
)
def test_wrong_options_are_refused(call, robot_file, tmp_path, options, text):
    file = tmp_path / "a.mcap"
    file.write_bytes(b"")
    table = tmp_path / "run.csv"
    table.write_text("time,a\n0,1\n")
    code, _, err = call("compare", *(o.format(a=file, csv=table) for o in options))
    assert code == 1
    assert text in err.replace("\n", " ")


def test_a_scenario_that_makes_objects_is_compared(call, tmp_path):
    ball = {"radius": 0.1, "position": [1.0, 1.0, 2.0], "name": "ball"}
    event = {"event": "request", "at": 0.01, "device": "world", "request": "make_sphere", "args": ball}
    (tmp_path / "ball.yaml").write_text(json.dumps({"events": [event]}))
    words = (*SOFT_STIFF, "--scenario", tmp_path / "ball.yaml", "--duration", "0.1", "--json")
    code, out, err = call("compare", *words, "--objects", "2")
    assert code == 0, err
    count = next(s for s in json.loads(out)["signals"] if s["name"] == "world/count")
    assert count["final"] == [1.0, 1.0]
    assert "there is no device 'world'" in call("compare", *words)[1]


def test_a_laser_that_sees_a_wall_in_one_run_alone_differs_in_both_commands(call, tmp_path):
    (tmp_path / "room.xml").write_text(
        '<mujoco><worldbody><geom name="wall" type="box" size="0.1 1 1" pos="2.1 0 0"/></worldbody></mujoco>'
    )
    scan = "{kind: laser, body: world, rays: 3, min_angle: -0.1, max_angle: 0.1, rate: 50}"
    (tmp_path / "room.yaml").write_text(f"model: room.xml\nsensors:\n  scan: {scan}\n")
    files = [tmp_path / f"{name}.mcap" for name in ("near", "far")]
    for file, place in zip(files, ("2.1 0 0", "90 0 0")):
        run = ("run", tmp_path / "room.yaml", "--duration", "0.1", "--record", file, "--set", f"wall.pos={place}")
        assert call(*run)[0] == 0
    code, out, err = call("compare", *files)
    assert code == 0, err
    assert "3 of 3 common signals differ" in out
    assert out.count("inf") == 2 * 4  # last value, peak and differences of two rays; the third repeats one
    code, out, err = call("replay", files[0], "--compare", files[1])
    assert code == 3, err
    row = next(line for line in out.splitlines() if line.split()[:1] == ["scan/ranges"] and "inf" in line)
    assert row.split()[2:4] == ["inf", "0.02"]
