"""Files that are dropped on the page: which robots and recordings open, and what is refused in which words."""

import importlib.util
import io
import json
import re
import struct
import threading
import time
import zipfile
from pathlib import Path

import pytest
from running import eventually, free_port

from pliant.base.errors import PliantError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.page import PageServer
from pliant.page import dropped as module
from pliant.page.commands import show_robots
from pliant.page.dropped import open_dropped
from pliant.page.loaded import LoadedRobots
from pliant.robots.loading import load
from pliant.simulation import Simulation

_spec = importlib.util.spec_from_file_location("chromium", Path(__file__).with_name("chromium.py"))
chromium = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(chromium)

INERTIAL = "<inertial><mass value='1'/><inertia ixx='.01' iyy='.01' izz='.01' ixy='0' ixz='0' iyz='0'/></inertial>"


def urdf(mesh: str) -> bytes:
    shape = f"<geometry><mesh filename='{mesh}'/></geometry>"
    return (
        f"<robot name='arm'><link name='base'>{INERTIAL}</link><link name='tip'>{INERTIAL}"
        f"<visual>{shape}</visual><collision>{shape}</collision></link><joint name='elbow' type='revolute'>"
        "<parent link='base'/><child link='tip'/><axis xyz='0 1 0'/><limit lower='-1' upper='1' effort='5' "
        "velocity='5'/></joint></robot>"
    ).encode()


MJCF = b"<mujoco><worldbody><body><joint name='elbow'/><geom size='.1'/></body></worldbody></mujoco>"
MJCF_MESH = (
    b"<mujoco><compiler meshdir='assets'/><asset><mesh name='m' file='tip.stl'/></asset><worldbody><body>"
    b"<joint name='elbow'/><geom type='mesh' mesh='m'/></body></worldbody></mujoco>"
)
CORNERS = ((0, 0, 0), (0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1))
STL = bytes(80) + struct.pack("<I", 4)
for face in ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)):
    STL += struct.pack("<12fH", 0, 0, 0, *(x for k in face for x in CORNERS[k]), 0)


def packed(**files: bytes) -> bytes:
    """Return an archive; a double underscore in a name is a slash, a single one at its end nothing."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in files.items():
            archive.writestr(name.replace("__", "/"), data)
    return stream.getvalue()


def archive(files: dict[str, bytes]) -> bytes:
    return packed(**files)


def names(opened):
    return [one.name for one in opened]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("arm.xml", MJCF),
        ("arm.yaml", b"model: qbmove-1dof\n"),
        ("arm.zip", archive({"arm.urdf": urdf("tip.stl"), "tip.stl": STL})),
        ("arm.zip", archive({"arm.urdf": urdf("package://arm_description/meshes/tip.stl"), "tip.stl": STL})),
        ("arm.zip", archive({"arm_description/urdf/arm.urdf": urdf("package://arm_description/meshes/tip.stl"),
                             "arm_description/meshes/tip.stl": STL})),
        ("arm.zip", archive({"arm.xml": MJCF_MESH, "tip.stl": STL, "plan.yaml": b"a: 1\n"})),
    ],
)  # fmt: skip
def test_a_robot_opens_alone_or_with_its_meshes_wherever_they_lie_in_the_archive(name, data):
    opened = open_dropped(data, name)
    assert names(opened) == ["arm"]
    assert opened[0].build().compile().njnt == 1


def test_the_robot_that_is_made_of_the_others_is_shown_first_and_the_others_are_offered():
    scene = b"<mujoco><include file='arm.xml'/></mujoco>"
    data = archive({"kit/arm.xml": MJCF, "kit/scene.xml": scene, "kit/soft.yaml": b"model: arm.xml\n"})
    assert names(open_dropped(data, "kit.zip")) == ["soft", "scene", "arm"]


def test_a_robot_whose_name_is_taken_gets_another_one():
    assert names(open_dropped(MJCF, "fr3.xml", ["fr3"])) == ["fr3 (fr3.xml)"]


def test_the_files_go_with_the_last_robot_that_needs_them():
    opened = open_dropped(MJCF, "arm.xml")
    folder = opened[0].build.__defaults__[0]
    assert Path(folder.name).is_dir()
    path = Path(folder.name)
    del opened, folder
    assert not path.exists()


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("arm.urdf", urdf("meshes/tip.stl"), "arm.urdf:1: link .* mesh .meshes/tip.stl. is not found"),
        ("arm.urdf", urdf("meshes/tip.stl"), "drop the robot together with its meshes"),
        ("arm.urdf", b"<robot", "arm.urdf"),
        ("arm.exe", b"MZ", "arm.exe: this opens nothing on the page; must be one of .*urdf.*mcap.*zip"),
        ("arm.urdf.xacro", b"<robot/>", "xacro FILE > robot.urdf"),
        ("run.bag", b"#ROSBAG", "pliant replay FILE"),
        ("tip.stl", STL, "together with the description of the robot"),
        ("run.mcap", b"nonsense", "run.mcap"),
        ("arm.zip", b"nonsense", "not a zip archive that can be read"),
        ("arm.zip", archive({"tip.stl": STL}), "holds neither a robot nor a recording"),
        ("arm.zip", archive({"../arm.xml": MJCF}), "outside of its own folder"),
        ("arm.zip", archive({"/etc/arm.xml": MJCF}), "outside of its own folder"),
    ],
)  # fmt: skip
def test_what_cannot_be_opened_is_refused_by_name_and_with_a_remedy(name, data, words):
    with pytest.raises(PliantError, match=words) as refused:
        open_dropped(data, f"C:\\robots\\{name}")
    assert name in str(refused.value)
    assert "pliant-page-" not in str(refused.value)


@pytest.mark.parametrize(
    ("limit", "value", "words"),
    [("MAX_DROPPED_BYTES", 10, "bytes; must be at most 10"), ("MAX_FILES", 1, "has 2 files; must be at most 1"),
     ("MAX_EXPANDED_BYTES", 20, "expands to more than 20 bytes")],
)  # fmt: skip
def test_files_and_archives_are_bounded(monkeypatch, limit, value, words):
    monkeypatch.setattr(module, limit, value)
    with pytest.raises(PliantError, match=words):
        open_dropped(archive({"arm.xml": MJCF, "b.txt": b"x" * 30}), "arm.zip")


def recording(path, metadata):
    engine = MujocoEngine(load("qbmove-1dof"))
    with Simulation(engine, make_devices(engine.robot)) as simulation:
        simulation.start()
        simulation.record(path, metadata)
        simulation.run(0.02)
    return path.read_bytes()


def test_a_recording_opens_on_its_robot_and_one_that_names_none_says_how_it_is_shown(tmp_path):
    data = recording(tmp_path / "run.mcap", {"command_line": "pliant view qbmove-1dof"})
    found, model = open_dropped(data, "run.mcap")[0].open()
    assert (found.duration > 0.0, model.njnt) == (True, load("qbmove-1dof").compile().njnt)
    data = recording(tmp_path / "other.mcap", {})
    with pytest.raises(PliantError, match=r"pliant replay other\.mcap --view --robot SOURCE"):
        open_dropped(data, "other.mcap")


DROP = """(() => {
  const given = new DataTransfer();
  for (const [name, text] of Object.entries(FILES))
    given.items.add(new File([Uint8Array.from(atob(text), c => c.charCodeAt(0))], name));
  for (const kind of ["dragover", "drop"])
    document.body.dispatchEvent(new DragEvent(kind, {dataTransfer: given, bubbles: true, cancelable: true}));
})()"""


def drop(browser, **files: bytes) -> None:
    import base64

    given = {name.replace("__", "."): base64.b64encode(data).decode() for name, data in files.items()}
    browser.run(DROP.replace("FILES", json.dumps(given)))


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.skipif(chromium.find() is None, reason="no Chromium is installed")
def test_robots_and_recordings_that_are_dropped_on_a_running_page_are_shown_one_after_the_other(tmp_path):
    button = "!!document.querySelector('input[type=file]')"
    shown = f"[...document.querySelectorAll('input')].some(e => e.value === {{!r}}) && {button}"
    data = recording(tmp_path / "run.mcap", {"command_line": "pliant view qbmove-1dof"})
    with PageServer(port=free_port()) as server, chromium.Page(server.url, 900, 700, webgl=True) as browser:
        running = threading.Thread(
            target=show_robots, args=(server, load("sea-1dof"), "sea-1dof", LoadedRobots(["sea-1dof"]))
        )
        simulations = []
        begin = Simulation.start
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Simulation, "start", lambda self: (simulations.append(self), begin(self))[1])
            running.start()
            browser.until(shown.format("sea-1dof"))
            drop(browser, arm__exe=b"MZ")
            browser.until("document.body.innerText.includes('this opens nothing on the page')")
            drop(browser, arm__urdf=urdf("package://arm/meshes/tip.stl"), tip__stl=STL)  # several files
            browser.until(shown.format("arm"))
            drop(browser, run__mcap=data)
            browser.until(shown.format("run.mcap"))
            browser.until("document.body.innerText.includes('time [s]')")
            drop(browser, one__xml=MJCF)
            browser.until(shown.format("one"))
            eventually(lambda: len(simulations) == 3)
            simulations[-1].stop()
        running.join(60.0)
        assert not running.is_alive()
        assert browser.errors == []


PATTERNS = {name: value for name, value in vars(module).items() if isinstance(value, re.Pattern)}
BEGINNINGS = (b"<uri>", b"<include ", b"<include file=", b"file=", b"file='", b"filename", b"uri =", b"meshdir='")


@pytest.mark.parametrize("begin", BEGINNINGS)
@pytest.mark.parametrize("name", PATTERNS)
def test_no_file_keeps_the_search_for_its_references_busy(name, begin):
    for text in (begin + b" " * 2000, begin * 8000, (begin + b" ") * 4000):
        before = time.process_time()
        PATTERNS[name].findall(text)
        assert time.process_time() - before < 1.0


def test_spaces_around_an_address_of_sdf_are_not_part_of_it(tmp_path):
    (tmp_path / "tip.stl").write_bytes(STL)
    robot = tmp_path / "arm.sdf"
    robot.write_text("<sdf><uri>\n  model://arm/meshes/tip.stl\n</uri></sdf>")
    module._bring_meshes(tmp_path.resolve(), robot)
    assert (tmp_path / "arm/meshes/tip.stl").read_bytes() == STL
