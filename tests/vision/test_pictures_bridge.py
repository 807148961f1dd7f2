"""Pictures in files: what a reader in another place of the machine gets of a running camera."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest

from pliant import load
from pliant.base.errors import BridgeError, MissingDependency, PliantError
from pliant.devices import make_devices
from pliant.devices.base import Sample
from pliant.engine import MujocoEngine
from pliant.simulation import Simulation
from pliant.simulation.bridges import make_bridge
from pliant.vision.client import SharedPictures
from pliant.vision.pictures_bridge import Pictures, PicturesOptions
from pliant.vision.wire.pictures import HEADER_BYTES, PictureHeader, encode_header

SHAPE = (4, 6, 3)


def cameras(*names):
    return {name: SimpleNamespace(samples={"image": np.zeros(SHAPE, np.uint8)}) for name in names}


def sample(name, value, stamp):
    return Sample(name, 0, stamp, {"image": np.full(SHAPE, value, np.uint8)})


def test_a_reader_gets_the_newest_picture_with_its_stamp(tmp_path):
    bridge = Pictures(PicturesOptions(folder=str(tmp_path / "new")))
    bridge.start({**cameras("eye", "other"), "joint": SimpleNamespace(samples={"position": np.zeros(1)})})
    assert sorted(bridge.addresses) == ["eye", "other"]
    eye = SharedPictures(bridge.addresses["eye"])
    with pytest.raises(BridgeError, match="no picture yet"):
        eye.latest()
    for k in range(3):
        bridge.publish(sample("eye", 10 + k, 20_000_000 * k))
    bridge.publish(sample("joint", 1, 5))
    stamp, image = eye.latest()
    assert stamp == 40_000_000
    assert image.shape == SHAPE
    assert (image == 12).all()
    assert bridge.health() == {"pictures": {"eye": 3, "other": 0}}
    bridge.stop()
    assert list((tmp_path / "new").iterdir()) == []
    assert eye.latest()[0] == 40_000_000  # what was mapped stays
    eye.close()


def test_a_file_of_somebody_else_is_refused_and_kept(tmp_path):
    (tmp_path / "other").write_text("my data")
    bridge = Pictures(PicturesOptions(folder=str(tmp_path)))
    with pytest.raises(BridgeError, match="other is there and holds no picture of a camera"):
        bridge.start(cameras("eye", "other"))
    assert [path.name for path in tmp_path.iterdir()] == ["other"]
    assert (tmp_path / "other").read_text() == "my data"


def test_a_file_that_a_killed_run_has_left_is_used_again(tmp_path):
    (tmp_path / "eye").write_bytes(encode_header(PictureHeader(height=400, width=600)) + b"rest")
    bridge = Pictures(PicturesOptions(folder=str(tmp_path)))
    bridge.start(cameras("eye"))
    bridge.publish(sample("eye", 7, 1))
    eye = SharedPictures(tmp_path / "eye")
    assert (eye.latest()[1] == 7).all()
    eye.close()
    bridge.stop()


def test_a_picture_that_is_being_written_is_not_given_out(tmp_path):
    bridge = Pictures(PicturesOptions(folder=str(tmp_path)))
    bridge.start(cameras("eye"))
    bridge.publish(sample("eye", 7, 1))
    eye = SharedPictures(tmp_path / "eye")
    bridge._files["eye"].counter[0] += 1
    with pytest.raises(BridgeError, match="being written"):
        eye.latest()
    bridge.stop()


def test_a_reader_waits_for_a_writer_that_loses_its_core_in_the_middle_of_a_picture(tmp_path):
    bridge = Pictures(PicturesOptions(folder=str(tmp_path)))
    bridge.start(cameras("eye"))
    bridge.publish(sample("eye", 7, 1))
    eye = SharedPictures(tmp_path / "eye")
    bridge._files["eye"].counter[0] += 1

    def go_on():
        bridge._files["eye"].counter[0] += 1

    writer = threading.Timer(0.1, go_on)
    writer.start()
    assert eye.latest()[0] == 1
    writer.join()
    eye.close()
    bridge.stop()


def test_a_new_run_does_not_take_the_picture_from_whoever_has_mapped_the_old_one(tmp_path):
    old = Pictures(PicturesOptions(folder=str(tmp_path)))
    old.start(cameras("eye"))
    old.publish(sample("eye", 7, 1))
    eye = SharedPictures(tmp_path / "eye")
    new = Pictures(PicturesOptions(folder=str(tmp_path)))
    new.start(cameras("eye"))
    assert (eye.latest()[1] == 7).all()
    new.publish(sample("eye", 9, 2))
    assert (SharedPictures(tmp_path / "eye").latest()[1] == 9).all()
    assert [path.name for path in tmp_path.iterdir()] == ["eye"]
    eye.close()
    new.stop()
    old.stop()


def test_a_run_that_ends_leaves_the_file_of_a_later_one(tmp_path):
    old, new = (Pictures(PicturesOptions(folder=str(tmp_path))) for _ in range(2))
    old.start(cameras("eye"))
    new.start(cameras("eye"))
    new.publish(sample("eye", 9, 2))
    old.stop()
    eye = SharedPictures(tmp_path / "eye")
    assert (eye.latest()[1] == 9).all()
    eye.close()
    new.stop()
    assert list(tmp_path.iterdir()) == []


def test_two_cameras_with_the_same_file_are_refused(tmp_path):
    bridge = Pictures(PicturesOptions(folder=str(tmp_path)))
    with pytest.raises(BridgeError, match="'left/eye' and 'left_eye' have the same file"):
        bridge.start(cameras("left/eye", "left_eye"))
    assert list(tmp_path.iterdir()) == []
    one = Pictures(PicturesOptions(folder=str(tmp_path), camera="left_eye"))
    one.start(cameras("left/eye", "left_eye"))
    one.stop()


def test_the_home_folder_is_found(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    bridge = Pictures(PicturesOptions(folder="~/cell"))
    bridge.start(cameras("eye"))
    assert bridge.addresses["eye"] == str(tmp_path / "cell" / "eye")
    bridge.stop()


def test_no_picture_is_torn_while_another_thread_writes(tmp_path):
    bridge = Pictures(PicturesOptions(folder=str(tmp_path)))
    bridge.start(cameras("eye"))
    bridge.publish(sample("eye", 0, 0))
    eye = SharedPictures(tmp_path / "eye")
    done = threading.Event()

    def write():
        for k in range(1, 3000):
            bridge.publish(sample("eye", k % 256, k))
        done.set()

    writer = threading.Thread(target=write, name="pliant-test-writer")
    writer.start()
    last = 0
    while not done.is_set():
        stamp, image = eye.latest()
        assert (image == stamp % 256).all()
        assert stamp >= last
        last = stamp
    writer.join()
    bridge.stop()


def test_without_a_folder_it_makes_one_of_its_own_and_removes_it():
    bridge = Pictures()
    bridge.start(cameras("eye"))
    place = SharedPictures(bridge.addresses["eye"])
    path = bridge.addresses["eye"]
    bridge.stop()
    with pytest.raises(BridgeError, match="is the simulation running with --bridge pictures"):
        SharedPictures(path)
    place.close()


def test_a_camera_that_is_not_there_and_a_folder_that_cannot_be_made_are_named(tmp_path):
    with pytest.raises(BridgeError, match=r"no camera 'ear'; .*eye"):
        Pictures(PicturesOptions(camera="ear")).start(cameras("eye"))
    (tmp_path / "file").write_text("")
    with pytest.raises(BridgeError, match="pictures: "):
        Pictures(PicturesOptions(folder=str(tmp_path / "file"))).start(cameras("eye"))
    (tmp_path / "eye").symlink_to(tmp_path / "file")
    with pytest.raises(BridgeError, match="pictures: "):
        Pictures(PicturesOptions(folder=str(tmp_path))).start(cameras("eye"))


def test_other_files_are_refused_by_the_reader(tmp_path):
    (tmp_path / "text").write_text("no pictures")
    with pytest.raises(BridgeError, match="not the header of a picture file"):
        SharedPictures(tmp_path / "text")
    (tmp_path / "short").write_bytes(encode_header(PictureHeader(height=4, width=6)) + bytes(5))
    with pytest.raises(BridgeError, match=f"has {HEADER_BYTES + 5} bytes; must be {HEADER_BYTES + 72}"):
        SharedPictures(tmp_path / "short")
    with pytest.raises(BridgeError, match="this is a folder"):
        SharedPictures(tmp_path)


def test_each_cycle_of_a_simulated_camera_is_in_the_file(tmp_path):
    robot = load("franka", options={"camera": "wrist"})
    bridge = make_bridge(f"pictures:folder={tmp_path},camera=franka_camera", robot)
    try:
        simulation = Simulation(MujocoEngine(robot), make_devices(robot), [bridge], pacer="free")
    except MissingDependency as error:
        pytest.skip(str(error))
    except PliantError as error:
        pytest.skip(str(error))
    with simulation:
        simulation.step(1)
        eye = SharedPictures(tmp_path / "franka_camera")
        for _ in range(3):
            simulation.step(20)
            stamp, image = eye.latest()
            shown = simulation.sample("franka_camera")
            assert stamp == shown.stamp_ns
            np.testing.assert_array_equal(image, shown.values["image"])
        eye.close()
