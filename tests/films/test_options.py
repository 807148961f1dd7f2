"""Films of the command line: run, replay and experiments."""

import json

import numpy as np
import pytest
from guest_wings import guest_bridges
from PIL import Image

from pliant.cli import simulating
from pliant.films import film as room

SMALL = ("--video-size", "96x64")


def frames(path):
    with Image.open(path) as image:
        return image.n_frames, image.size


def test_speed_and_frame_rate_are_chosen(call, robot_file, tmp_path):
    film = tmp_path / "a.gif"
    code, out, err = call(
        "run", robot_file, "--duration", "0.1", "--video", film, *SMALL, "--video-speed", "0.25", "--video-fps", "20",
        "--json",
    )  # fmt: skip
    assert code == 0, err
    found = json.loads(out)["video"]
    assert (found["frames"], found["duration"], found["late"]) == (9, 0.45, 0)


def test_a_film_in_real_time_changes_no_byte_of_the_recording(call, robot_file, tmp_path):
    film = tmp_path / "a.gif"
    common = ("run", robot_file, "--duration", "0.2", "-r", "elbow/equilibrium_position=0.4", "--seed", "3")
    printed = ""
    for name, more in (("without", ()), ("with", ("--video", film, *SMALL))):
        code, printed, err = call(*common, *more, "--record", tmp_path / f"{name}.mcap")
        assert code == 0, err
    assert f"film: {film} (0.24 s)" in printed.replace("\n", "")
    assert frames(film)[1] == (96, 64)
    assert (tmp_path / "with.mcap").read_bytes() == (tmp_path / "without.mcap").read_bytes()


def test_options_of_a_film_need_a_film(call, robot_file):
    code, _, err = call("run", robot_file, "--video-fps", "10")
    assert code == 1
    assert "--video-fps has no effect without --video" in err


def test_a_wrong_film_is_refused_before_the_robot_is_loaded(call, tmp_path):
    for film, more, text in (
        ("a.avi", (), "must be one of .mp4, .gif"),
        ("none/a.gif", (), "does not exist"),
        ("a.gif", ("--video-size", "3x3"), "even numbers from 64 to 3840"),
        ("a.gif", ("--video-fps", "0"), "--video-fps"),
    ):
        code, _, err = call("run", tmp_path / "nowhere.urdf", "--video", tmp_path / film, *more)
        assert code == 1
        assert text in err
        assert "nowhere" not in err


def test_a_run_without_a_renderer_has_its_results_and_says_why_there_is_no_film(
    call, robot_file, tmp_path, monkeypatch
):
    monkeypatch.setenv("MUJOCO_GL", "off")
    code, out, err = call("run", robot_file, "--duration", "0.1", "--video", tmp_path / "a.gif")
    assert code == 1
    assert "there is no film" in out
    assert "100 steps, 0.1 s simulated" in out
    assert "MUJOCO_GL is 'off', which forbids it" in err.replace("\n", " ")


def test_a_run_whose_disk_fills_goes_on_and_says_where_the_film_ends(call, robot_file, tmp_path, monkeypatch):
    monkeypatch.setattr(room, "RESERVE", 2**60)
    code, out, err = call("run", robot_file, "--duration", "0.2", "--video", tmp_path / "a.gif", *SMALL)
    assert code == 1
    assert "200 steps, 0.2 s simulated" in out
    assert "are free in the folder, so the film ends at 0.0 s" in err.replace("\n", " ")


@pytest.mark.parametrize(("robot", "valid"), [("qbmove-1dof", "must be one of front, or"), ("", "the robot has none")])
def test_a_camera_that_does_not_exist_is_refused_before_the_run(call, robot_file, tmp_path, robot, valid):
    film = tmp_path / "a.gif"
    code, out, err = call("run", robot or robot_file, "--duration", "0.1", "--video", film, "--video-camera", "nope")
    assert code == 1
    assert f"there is no camera 'nope'; {valid}" in err
    assert "AZIMUTH,ELEVATION" in err
    assert "energy" not in out
    assert not film.exists()


def test_ctrl_c_keeps_the_film_of_what_was_simulated(call, robot_file, tmp_path):
    film = tmp_path / "a.gif"
    with guest_bridges(ctrl_c="wires:ctrl_c"):
        code, _, _ = call(
            "run", robot_file, "--bridge", "ctrl_c", "--rtf", "1000", "--duration", "100", "--video", film, *SMALL
        )
    assert code == 130
    assert frames(film)[0] >= 1


MODULE = """
import mujoco
import numpy as np
from pliant.experiments import Context, Result, Target, experiment
from pliant.experiments.films import Film, Shot


def _films(context, options):
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body><joint axis='0 1 0'/><geom size='0.1' pos='0 0 1'/></body></worldbody></mujoco>"
    )
    poses = np.linspace(0.0, 1.0, 5)[:, None]
    return [Film(name="turn", caption="It turns.", time=np.arange(5) * 0.04, shots=[Shot(title="soft", model=model,
        poses=poses)], size="64x64")]


@experiment("own-film", films=_films)
def own(context: Context) -> Result:
    return Result(targets=[Target("one", 1.0, equals=1.0, source="ours: test")])


@experiment("own-table")
def table(context: Context) -> Result:
    return Result(targets=[Target("one", 1.0, equals=1.0, source="ours: test")])
"""


def test_reproduce_films_what_moves_and_refuses_what_does_not(call, tmp_path):
    module, output = tmp_path / "own_films.py", tmp_path / "reports"
    module.write_text(MODULE)
    common = ("reproduce", "own-film", "--import", module, "--output", output)
    from pliant.experiments import base

    try:
        code, _, err = call("reproduce", "own-table", *common[1:], "--video")
        assert code == 1
        assert "own-table has no film: it compares numbers and has no moving scene" in " ".join(err.split())
        assert not output.exists()
        code, out, err = call(*common, "--video", "--video-format", "gif", "--video-fps", "50")
        assert code == 0, err
        text = " ".join(out.split())
        assert "turn.gif (0.18 s)" in text
        assert '<img src="own-film/turn.gif"' in (output / "own-film.html").read_text()
        found = json.loads((output / "own-film.json").read_text())
        assert found["films"][0]["duration"] == pytest.approx(9 / 50)
        assert call(*common, "--video-fps", "20")[0] == 1
        assert "even numbers from 64 to 3840" in call(*common, "--video", "--video-size", "5x5")[2]
        assert "<= 50 in a GIF" in call(*common, "--video", "--video-format", "gif", "--video-fps", "60")[2]
    finally:
        for name in ("own-film", "own-table"):
            base._EXPERIMENTS.pop(name, None)


# -- two runs side by side ---------------------------------------------------------------------------------------


def test_two_runs_are_filmed_side_by_side_in_the_same_time(call, robot_file, tmp_path, monkeypatch):
    monkeypatch.setattr(simulating, "command_line", lambda: f"pliant run {robot_file} --duration 0.2")
    file, film = tmp_path / "short.mcap", tmp_path / "both.gif"
    code, _, err = call("run", robot_file, "--duration", "0.15", "-r", "elbow/equilibrium_position=1", "--record", file)
    assert code == 0, err
    code, out, err = call(
        "compare", file, robot_file, "--duration", "0.3", "-r", "elbow/equilibrium_position=-1",
        "--names", "soft,stiff", "--video", film, "--video-size", "96x96", "--json",
    )  # fmt: skip
    assert code == 0, err
    assert json.loads(out)["video"]["duration"] == pytest.approx(0.32)  # as long as the longer run
    with Image.open(film) as image:
        assert image.size == (192, 96)
        pictures = []
        for k in (0, 5, image.n_frames - 1):
            image.seek(k)
            pictures.append(np.asarray(image.convert("RGB")).astype(int)[12:75])
    first, middle, last = ((picture[:, 2:90], picture[:, 98:186]) for picture in pictures)

    def change(one, other):
        return float(np.mean(np.abs(one - other).max(axis=2) > 15))

    assert change(*first) < 0.005  # they start in the same pose
    assert change(*middle) > 0.03  # and go to different sides
    assert change(last[0], middle[0]) < 0.005  # the shorter run stays where it ended
    assert change(last[1], middle[1]) > 0.005


@pytest.mark.parametrize(
    ("more", "text"),
    [
        (("--video-fps", "10"), "--video-fps has no effect without --video"),
        (("--video", "{}.avi"), "must be one of .mp4, .gif"),
        (("--video", "{}.gif", "--video-camera", "nope"), "there is no camera 'nope'"),
    ],
)
def test_a_film_of_two_runs_is_refused_before_they_are_simulated(call, tmp_path, more, text):
    asked = [word.format(tmp_path / "a") for word in more]
    code, out, err = call("compare", "qbmove-1dof", "qbmove-1dof", "--duration", "100000", *asked)
    assert code == 1
    assert text in err
    assert not out


# -- pages -------------------------------------------------------------------------------------------------------


@pytest.mark.network
def test_a_recording_becomes_a_page_that_plays(call, robot_file, tmp_path):
    file, page = tmp_path / "a.mcap", tmp_path / "a.html"
    assert call("run", robot_file, "--duration", "0.1", "--record", file)[0] == 0
    code, out, err = call("replay", file, "--html", page, "--robot", robot_file)
    assert code == 0, err
    assert f"html: {page}" in out.replace("\n", "")
    assert "__VISER_EMBED_DATA__" in page.read_text()
    assert "must be .html" in call("replay", file, "--html", tmp_path / "a.txt")[2]
    assert "does not exist" in call("replay", file, "--html", tmp_path / "none" / "a.html")[2]
