"""Films: files that others can read, what goes wrong is said, the simulation goes on."""

import io
import signal
import threading

import mujoco
import numpy as np
import pytest
from PIL import Image

from pliant.base.errors import MissingDependency, PliantError
from pliant.films import film as room
from pliant.films import motions
from pliant.films.encoders import GifEncoder
from pliant.films.film import FilmOptions, FilmWriter, Panel, check_film
from pliant.films.process import _Page, view_angles
from pliant.model.scene import sky
from pliant.recording.motion import Motion

SWING = """<mujoco><worldbody><light pos="0 -2 2"/><camera name="side" pos="0 -2 0" xyaxes="1 0 0 0 0 1"/>
<body name="link"><joint name="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.05"
rgba="0.9 0.3 0 1"/></body></worldbody></mujoco>"""
SMALL = FilmOptions(size="96x64", fps=25.0)


@pytest.fixture
def model():
    return mujoco.MjModel.from_xml_string(SWING)


@pytest.fixture(autouse=True)
def _nothing_is_left():
    before = set(threading.enumerate())
    yield
    assert not [t.name for t in set(threading.enumerate()) - before if t.name.startswith("pliant-film")]


def swing(path, model, options=SMALL, frames=5, **more):
    film = FilmWriter(path, [Panel(model=model)], options, **more)
    for angle in np.linspace(0.0, 1.5, frames):
        film.add([film.pose(0, np.array([angle]))])
    return film.close()


# -- files: every film starts a process, so that tests share two of them -----------------------------------------


@pytest.fixture(scope="module")
def film(tmp_path_factory):
    """A film of five frames by a camera of the model: its file and its report."""
    path = tmp_path_factory.mktemp("film") / "a.gif"
    options = FilmOptions(size="96x64", fps=25.0, camera="side")
    return path, swing(path, mujoco.MjModel.from_xml_string(SWING), options)


@pytest.fixture(scope="module")
def panels(tmp_path_factory):
    """A film of two panels by a camera of angles, whose first frame is shown three times as long: its file, report."""
    path, model = tmp_path_factory.mktemp("panels") / "a.gif", mujoco.MjModel.from_xml_string(SWING)
    shown = [Panel(model=model, title="soft", color="#d55e00"), Panel(model=model, title="stiff", color="#0072b2")]
    film = FilmWriter(path, shown, FilmOptions(size="96x96", camera="90,-10,2"), clock=True)
    film.add([film.pose(0, np.array([0.0])), film.pose(1, np.array([1.5]))], 3)
    film.add([film.pose(0, np.array([1.0])), film.pose(1, np.array([1.5]))], 2)
    return path, film.close()


def test_a_gif_has_every_frame_at_its_time(film):
    path, report = film
    assert (report.frames, report.duration, report.fault) == (5, 0.2, "")
    image = Image.open(path)
    assert (image.n_frames, image.size, image.info["loop"]) == (5, (96, 64), 0)
    assert image.info["duration"] == 40
    assert [p.name for p in path.parent.iterdir()] == ["a.gif"]


def test_a_model_without_a_floor_stands_before_a_floor_and_a_sky(film):
    pixels = np.asarray(Image.open(film[0]).convert("RGB")).astype(int)
    assert np.abs(pixels[2, 5] - sky(*pixels.shape[:2])[2, 5].astype(float)).max() <= 4
    assert np.abs(pixels[-3, 5] - sky(*pixels.shape[:2])[-3, 5].astype(float)).max() > 30


def test_what_moves_in_the_model_moves_in_the_film(film):
    image = Image.open(film[0])
    centers = []
    for k in range(image.n_frames):
        image.seek(k)
        pixels = np.asarray(image.convert("RGB")).astype(int)
        orange = pixels[..., 0] - pixels[..., 2] > 80
        assert orange.sum() > 20
        centers.append(np.argwhere(orange).mean(axis=0)[0])
    assert all(np.diff(centers) < 0.0)  # the link swings up


def test_an_mp4_is_h264_of_the_asked_size_and_rate(tmp_path, model):
    av = pytest.importorskip("av", reason="PyAV is not installed")
    report = swing(tmp_path / "a.mp4", model)
    assert report.fault == ""
    with av.open(str(tmp_path / "a.mp4")) as container:
        stream = container.streams.video[0]
        assert (stream.codec_context.name, stream.width, stream.height) == ("h264", 96, 64)
        assert stream.average_rate == 25
        frames = [f.to_ndarray(format="rgb24") for f in container.decode(video=0)]
    assert len(frames) == 5
    assert np.abs(frames[0].astype(int) - frames[-1]).max() > 50


def test_panels_stand_side_by_side_below_their_titles(panels):
    assert panels[1].fault == ""
    pixels = np.asarray(Image.open(panels[0]).convert("RGB")).astype(int)
    assert pixels.shape == (96, 192, 3)
    title = pixels[:8]
    assert (title[:, :96, 0] - title[:, :96, 2] > 60).any()  # orange letters
    assert (title[:, 96:, 2] - title[:, 96:, 0] > 60).any()  # blue letters
    assert np.abs(pixels[12:, :90] - pixels[12:, 96:186]).max() > 80


@pytest.mark.parametrize(("width", "above"), [(400, True), (64, False)])
def test_the_time_never_covers_a_title(width, above):
    job = {"titles": ["soft", "a stiff one"], "colors": ["#000000"] * 2, "clock": True, "speed": 0.5, "fps": 25.0}
    made = {}
    for clock in (True, False):
        page = _Page({**job, "clock": clock, "width": 2 * width, "height": 200})
        wide, high = page.panel
        made[clock] = page.compose([np.full((high, wide, 3), 255, np.uint8)] * 2, 30).astype(int)
    rows = np.flatnonzero((made[True] != made[False]).any(axis=(1, 2)))
    assert rows.size
    assert (rows.max() < page.header) == above
    assert (rows.min() > 200 - 2 * page.header) != above


def test_a_frame_that_is_shown_longer_keeps_the_time(panels):
    assert panels[1].frames == 5
    image = Image.open(panels[0])
    durations = []
    for k in range(image.n_frames):
        image.seek(k)
        durations.append(image.info["duration"])
    assert durations == [120, 80]


def test_a_gif_shows_the_pixels_that_it_was_given():
    rng = np.random.default_rng(3)
    colors = rng.integers(0, 256, (40, 3), dtype=np.uint8)
    pictures = [colors[rng.integers(0, 40, (24, 32))] for _ in range(2)]
    third = pictures[1].copy()
    third[5:9, 7:20] = colors[0]
    file = _Kept()
    encoder = GifEncoder(file, 32, 24, 20.0)
    for pixels in (*pictures, third):
        encoder.add(pixels, 1)
    encoder.close()
    image = Image.open(io.BytesIO(file.content))
    for k, pixels in enumerate((*pictures, third)):
        image.seek(k)
        assert np.abs(np.asarray(image.convert("RGB")).astype(int) - pixels).max() <= 4


class _Kept(io.BytesIO):
    content = b""

    def close(self):
        self.content = self.getvalue()
        super().close()


# -- cameras ---------------------------------------------------------------------------------------------------


def test_a_camera_is_a_name_or_angles(film, panels):
    assert view_angles("120,-20") == {"azimuth": 120.0, "elevation": -20.0}
    assert view_angles("120,-20,3") == {"azimuth": 120.0, "elevation": -20.0, "distance": 3.0}
    assert view_angles("side") is None
    assert view_angles("1") is None
    assert film[1].fault == panels[1].fault == ""


def test_a_camera_that_does_not_exist_is_refused_with_the_names(tmp_path, model):
    with pytest.raises(PliantError, match=r"no camera 'sid'; did you mean 'side'"):
        FilmWriter(tmp_path / "a.gif", [Panel(model=model)], FilmOptions(camera="sid"))


# -- wrong options ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", ["640", "640x", "x480", "641x480", "2x2", "99999x480", "640x480x3", "640X-480", "axb"])
def test_a_wrong_size_is_refused(size):
    with pytest.raises(PliantError, match="even numbers from 64 to 3840"):
        FilmOptions(size=size)


def test_what_cannot_be_written_is_refused_before_the_run(tmp_path):
    with pytest.raises(PliantError, match=r"must be one of \.mp4, \.gif"):
        check_film(tmp_path / "a.avi", FilmOptions())
    with pytest.raises(PliantError, match="does not exist"):
        check_film(tmp_path / "none" / "a.gif", FilmOptions())
    with pytest.raises(PliantError, match="must be <= 50 in a GIF"):
        check_film(tmp_path / "a.gif", FilmOptions(fps=60.0))
    (tmp_path / "b.gif").mkdir()
    with pytest.raises(PliantError, match="name is that of a folder"):
        check_film(tmp_path / "b.gif", FilmOptions())


def test_without_pyav_an_mp4_names_the_package_and_the_other_way(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "av", None)
    with pytest.raises(MissingDependency, match=r"pliant\[video\].*GIF films need nothing more"):
        check_film(tmp_path / "a.mp4", FilmOptions())


# -- what goes wrong later -------------------------------------------------------------------------------------


def test_a_disk_that_fills_ends_the_film_in_words_and_leaves_the_older_one(tmp_path, model, monkeypatch):
    (tmp_path / "a.gif").write_bytes(b"older")
    monkeypatch.setattr(room, "RESERVE", 2**60)
    report = swing(tmp_path / "a.gif", model)
    assert report.frames == 0
    assert "are free in the folder, so the film ends at 0.0 s" in report.fault
    assert (tmp_path / "a.gif").read_bytes() == b"older"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_renderer_that_dies_is_said_and_adding_goes_on(tmp_path, model):
    film = FilmWriter(tmp_path / "a.gif", [Panel(model=model)], SMALL)
    film._process.send_signal(signal.SIGKILL)
    film._process.wait()
    state = film.pose(0, np.array([0.3]))
    for _ in range(2 * room.QUEUE):
        film.add([state])
    report = film.close()
    assert "the renderer ended by itself" in report.fault
    assert report.frames == 0
    assert not list(tmp_path.iterdir())


def test_without_a_graphics_library_the_words_say_what_to_install(tmp_path, model, monkeypatch):
    monkeypatch.setenv("MUJOCO_GL", "glfw")
    monkeypatch.delenv("DISPLAY", raising=False)
    with pytest.raises(MissingDependency, match="a graphics library that works"):
        FilmWriter(tmp_path / "a.gif", [Panel(model=model)], SMALL)
    monkeypatch.setenv("MUJOCO_GL", "off")
    with pytest.raises(PliantError, match="MUJOCO_GL is 'off'"):
        FilmWriter(tmp_path / "a.gif", [Panel(model=model)], SMALL)


def test_frames_that_come_too_fast_are_left_out_without_losing_time(tmp_path, model, monkeypatch):
    monkeypatch.setattr(room, "QUEUE", 4)
    film = FilmWriter(tmp_path / "a.gif", [Panel(model=model)], FilmOptions(size="96x64"), wait=False)
    state = film.pose(0, np.array([0.3]))
    for _ in range(40):
        assert film.add([state])
    report = film.close()
    assert report.late > 0
    assert report.frames == 40
    assert report.fault == ""


def test_the_film_of_a_motion_has_the_payloads_and_forces_of_its_time_and_leaves_the_model(monkeypatch, model):
    seen, wrenches, bare = [], np.zeros((model.nbody, 6)), model.body_ipos[1].copy()
    wrenches[1, 0] = 5.0

    class Film:
        def __init__(self, path, panels, *_, **__):
            (self.panel,) = panels

        def pose(self, panel, qpos, force, contacts):
            return float(self.panel.model.body_mass[1]), self.panel.model.body_ipos[1].copy(), float(force[1, 0])

        def add(self, states):
            seen.extend(states)
            return True

        def close(self, progress):
            return None

    monkeypatch.setattr(motions, "FilmWriter", Film)
    mass, place = float(model.body_mass[1]), np.array([0.1, 0.0, -0.2])

    def acting(time):
        return ({"link": (9.0, place)} if 0.1 < time < 0.3 else {}), wrenches * (time > 0.3), np.zeros((0, 6))

    time, poses = np.array([0.0, 0.2, 0.4]), np.zeros((3, model.nq))
    motion = Motion(model=model, time=time, poses=poses, acting=acting)
    motions.film_motions("a.gif", [motion], FilmOptions(size="96x96", fps=5.0))
    assert [(m, f) for m, _, f in seen] == [(mass, 0.0), (mass + 9.0, 0.0), (mass, 5.0)]
    np.testing.assert_allclose(seen[1][1], (mass * bare + 9.0 * place) / (mass + 9.0))
    np.testing.assert_array_equal(seen[2][1], bare)
    assert model.body_mass[1] == mass


PLATE = """<mujoco><worldbody><geom type="plane" size="1 1 .1"/><body name="plate" pos="0.3 0.1 0.01"><freejoint/>
<geom type="box" size=".1 .1 .01" mass="2" rgba="0.2 0.2 0.9 1"/></body></worldbody></mujoco>"""


def test_recorded_contact_forces_carry_the_weight_and_are_arrows_of_a_film(tmp_path):
    from pliant.devices import make_devices
    from pliant.engine import MujocoEngine
    from pliant.recording import Recorder, read_recording
    from pliant.recording.recorded_motion import recorded_actions
    from pliant.robots.loading import load
    from pliant.simulation import Simulation

    (tmp_path / "plate.xml").write_text(PLATE)
    engine = MujocoEngine(load(str(tmp_path / "plate.xml")), check=False)
    robot = MujocoEngine(load("sea-1dof"))  # has samples, without which there is no recording
    recorder = Recorder(tmp_path / "run.mcap", contacts=True)
    with Simulation(robot, make_devices(robot.robot), recorder=recorder) as simulation:
        simulation._log._engine = engine  # the plate lies on the ground beside it
        for _ in range(1000):
            engine.step()
            simulation.step()
    recording = read_recording(tmp_path / "run.mcap")
    assert recording.has_contacts
    contacts = recorded_actions(recording, engine.model)(1.0)[2]
    weight = 2.0 * abs(engine.model.opt.gravity[2])
    np.testing.assert_allclose(contacts[:, 3:].sum(axis=0), [0.0, 0.0, weight], atol=0.05 * weight)
    assert not len(recorded_actions(recording, engine.model)(-1.0)[2])

    options = FilmOptions(size="96x96", camera="90,-10,0.4", contacts=True)
    film = FilmWriter(tmp_path / "a.gif", [Panel(model=engine.model)], options)
    film.add([film.pose(0, engine.data.qpos)])
    film.add([film.state(0, engine.data)])
    assert film.close().fault == ""
    image, red = Image.open(tmp_path / "a.gif"), []
    for k in range(2):
        image.seek(k)
        pixels = np.asarray(image.convert("RGB")).astype(int)
        red.append(int((pixels[..., 0] - pixels[..., 1:].max(axis=-1) > 30).sum()))
    assert red[0] == 0
    assert red[1] > 10
