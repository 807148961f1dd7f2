"""Films of experiments: who has one, what is shown when, and that a film cannot cost a verdict."""

from dataclasses import replace

import mujoco
import numpy as np
import pytest
from PIL import Image

from pliant.base.errors import PliantError
from pliant.experiments import find_experiment, list_experiments, reproduce
from pliant.experiments.base import Context, Result, Target, experiment, registered_experiments
from pliant.experiments.films import (
    NO_SCENE,
    Film,
    Shot,
    Video,
    WrittenFilm,
    film_of_tracks,
    joint_poses,
    write_film,
)
from pliant.experiments.report import render_report
from pliant.experiments.runner import check_film_camera, film_experiment
from pliant.films.film import check_camera
from pliant.recording.motion import rows_at
from pliant.simulation.pose_track import PoseTrack

SWING = """<mujoco><worldbody><body><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.05"/>
</body></worldbody></mujoco>"""
GIF = Video(suffix=".gif", size="64x64")


@pytest.fixture
def film():
    model = mujoco.MjModel.from_xml_string(SWING)
    time = np.linspace(0.0, 0.2, 41)
    poses = np.linspace(0.0, 1.0, 41)[:, None]
    shots = [Shot(title=name, model=model, poses=scale * poses) for name, scale in (("soft", 1.0), ("stiff", 0.2))]
    return Film(name="swing", caption="It swings.", time=time, shots=shots)


def test_every_experiment_in_which_something_moves_has_films():
    still = {found.name: found.films for found in list_experiments() if isinstance(found.films, str)}
    assert set(still) == {"cpr-accuracy", "franka-errors", "tdcr", "yarp-clock"}
    assert all(reason != NO_SCENE and len(reason) > 20 for reason in still.values())


def test_an_experiment_without_a_film_that_is_named_is_refused_before_anything_runs(tmp_path):
    with pytest.raises(PliantError, match=r"cpr-accuracy has no film: it compares solvers.*without --video"):
        reproduce(["cpr-accuracy", "box"], tmp_path / "reports", quick=True, video=GIF)
    assert not (tmp_path / "reports").exists()


def test_a_frame_shows_the_pose_of_its_time(film):
    assert rows_at(film.time, 0.04, 0.2).tolist() == [0, 8, 16, 24, 32, 40]
    assert rows_at(film.time, 0.08, 0.2).tolist() == [0, 16, 32]
    assert rows_at(film.time, 0.01, 0.2).tolist() == list(range(0, 41, 2))
    assert rows_at(film.time, 0.1, 0.4).tolist() == [0, 20, 40, 40, 40]  # beside a longer motion the last pose stays


def track_of(seconds, period):
    """Follow a pendulum for a time."""
    model = mujoco.MjModel.from_xml_string(SWING)
    data = mujoco.MjData(model)
    data.qpos[0] = 1.0
    track = PoseTrack(period).watch(model, data)
    while data.time < seconds - 1e-9:
        mujoco.mj_step(model, data)
        track.take()
    return track


def test_a_track_keeps_the_poses_of_a_run_at_equal_times():
    track = track_of(0.1, 0.02)
    assert np.allclose(track.times, np.arange(6) * 0.02)
    assert track.poses[0][0] == 1.0
    assert (np.diff(np.array(track.poses)[:, 0]) < 0.0).all()  # it falls


def test_runs_of_different_length_share_the_time_of_a_film():
    long, short = track_of(0.1, 0.02), track_of(0.05, 0.02)
    film = film_of_tracks({"soft": long, "stiff": short}, name="fall", caption="They fall.", speed=0.5)
    assert np.allclose(film.time, long.times)
    assert [len(shot.poses) for shot in film.shots] == [6, 6]
    assert np.array_equal(film.shots[1].poses[:3], film.shots[0].poses[:3])
    assert (film.shots[1].poses[3:] == short.poses[-1]).all()
    assert film.speed == 0.5


def test_joints_that_are_named_move_and_the_others_rest():
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body><joint name='a'/><geom size='1'/></body><body>"
        "<joint name='b' type='slide' ref='0.3'/><geom size='1'/></body></worldbody></mujoco>"
    )
    poses = joint_poses(model, ["a"], np.array([[0.1], [0.2]]))
    assert np.allclose(poses, [[0.1, 0.3], [0.2, 0.3]])


def test_soft_and_stiff_have_the_colours_of_every_figure(film):
    from pliant.base.figures import COLORS, INK

    assert [shot.color for shot in film.shots] == [COLORS["soft"], COLORS["stiff"]]
    for title, name in (("qbMove stiff", "stiff"), ("Soft feet", "soft")):
        assert replace(film.shots[0], title=title).color == COLORS[name]
    assert replace(film.shots[0], title="first run").color == INK


def test_a_film_is_written_with_its_scenes_side_by_side(film, tmp_path):
    told = []
    done = write_film(film, tmp_path, GIF, lambda fraction, text: told.append((fraction, text)))
    assert (done.file, done.fault) == (f"{tmp_path.name}/swing.gif", "")
    assert done.duration == pytest.approx(6 / 25)
    with Image.open(tmp_path / "swing.gif") as image:
        assert image.size == (128, 64)
    assert told[0] == (0.0, "film swing")


def test_a_film_that_fails_leaves_the_verdicts(film, tmp_path, monkeypatch):
    monkeypatch.setenv("MUJOCO_GL", "off")
    done = write_film(film, tmp_path, GIF)
    assert (done.file, done.duration) == ("", 0.0)
    assert "MUJOCO_GL is 'off'" in done.fault


@pytest.mark.parametrize("error", [PliantError("the arm is out of reach"), ZeroDivisionError("division by zero")])
def test_films_that_cannot_be_computed_are_said(tmp_path, error):
    def films(context, options):
        raise error

    @experiment("test-no-film", films=films)
    def _one(context: Context) -> Result:
        return Result(targets=[Target("one", 1.0, equals=1.0, source="ours: test")])

    from pliant.experiments import base

    try:
        found = registered_experiments()["test-no-film"]
        result = found.run(Context(output=tmp_path))
        film_experiment(found, Context(output=tmp_path), None, result, GIF)
    finally:
        base._EXPERIMENTS.pop("test-no-film")
    assert result.passed
    assert str(error) in result.no_film


@pytest.mark.parametrize("name", ["box", "chirp", "cpr-planar", "softfoot-walk", "franka-dual-arm"])
def test_a_camera_that_the_films_do_not_have_is_refused_before_anything_runs(tmp_path, name):
    cameras = find_experiment(name).cameras
    with pytest.raises(PliantError, match="no camera 'nope'") as caught:
        reproduce(name, tmp_path / "reports", video=Video(camera="nope"))
    assert all(camera in str(caught.value) for camera in cameras)
    assert not (tmp_path / "reports").exists()
    for camera in (*cameras, "120,-20", "120,-20,1.5"):
        check_film_camera(find_experiment(name), camera)


def test_an_experiment_without_films_takes_any_camera():
    found = next(one for one in list_experiments() if isinstance(one.films, str))
    check_film_camera(found, "nope")


def _models():
    """Yield scenes of films that are cheap to build, with their experiment."""
    from pliant.papers import box, viactors_step
    from pliant.robots import build_robot

    yield "box", box._scene(box.BoxOptions())
    for name, mounting in (("two-dof", "vertical"), ("ilc", "vertical")):
        yield name, build_robot("qbmove-2dof", {"mounting": mounting}).compile()
    for case in viactors_step.CASES:
        yield "viactors-step", case.build(viactors_step.BODIES[0]).compile()


def test_the_cameras_of_films_are_those_of_their_scenes():
    for name, model in _models():
        for camera in find_experiment(name).cameras:
            check_camera(model, camera)


def test_the_camera_of_a_film_is_declared_where_it_is_computed(tmp_path):
    """The quick films of the cheapest experiment; those of others take minutes."""
    found = find_experiment("viactors-step")
    for film in found.films(Context(output=tmp_path, quick=True), found.options_class()):
        assert film.camera in ("", *found.cameras)
        for shot in film.shots:
            for camera in found.cameras:
                check_camera(shot.model, camera)


def test_the_report_shows_films_and_escapes_their_captions():
    films = [
        WrittenFilm(name=kind, caption="<b>soft</b>", file=f"box/a.{kind}", duration=1.0, fault="")
        for kind in ("mp4", "gif")
    ]
    text = render_report(Result(name="box", title="t", films=films))
    assert '<video src="box/a.mp4" controls' in text
    assert '<img src="box/a.gif" alt="&lt;b&gt;soft&lt;/b&gt;">' in text
    assert "<b>soft" not in text
