"""Mutated files of every format end in a robot, a table or a PliantError, in bounded time and memory."""

import ast
import functools
import os
import random
import re
import tempfile
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from file_fuzz import Found, fuzz_all, fuzz_kind, try_one
from file_kinds import MESHED, kinds
from file_mutations import npy_bytes

import pliant
from pliant.base.documents.json_text import read_json
from pliant.base.documents.tables import read_npz
from pliant.base.errors import ModelError, PliantError
from pliant.command_tables import read_commands
from pliant.identification.measurements import read_measurement

SOURCE = Path(pliant.__file__).parent
BUDGET = 64 * 2**20
"""Memory that refusing a file may take [bytes]."""

FAILED = [
    "steps.npz-1-15",
    "steps.npz-2-21",
    "steps.npz-2-89",
    "robot.json-1-74",
    "ros.db3-1-0",
    "ros.db3-1-6",
    "saved.json-1-14",
    "gazebo-robot_config.yaml-1-14",
    "gazebo-robot_config.yaml-1-67",
    "gazebo-robot_config.yaml-1-70",
    "hopper.xml-1-61",
    *[f"report.json-1-{i}" for i in (0, 17, 27, 46, 53)],
    "robot.yaml-2-563",
    "robot.yaml-2-623",
    "gazebo-robot_config.yaml-2-186",
    "cloth.obj-7241-72",
    "arm.xml-525260579-13",
]
"""Seeds that once ended in another exception than PliantError, or ended the process."""

OPENERS = {
    ("np", "load"), ("np", "memmap"), ("np", "fromfile"), ("os", "open"), ("json", "load"), ("pickle", "load"),
    ("ET", "parse"), ("sqlite3", "connect"), ("mujoco", "from_xml_path"), ("trimesh", "load"), ("Image", "open"),
    ("trimesh", "load_scene"), ("tomllib", "load"),
}  # fmt: skip
"""Functions of other packages that read a file."""

READ_ELSEWHERE = {
    "base/codecache.py": "machine code of pliant's own cache, checked by its digest",
    "tasks/journal.py": "a journal of its own, and pliant's own source",
    "base/unread.py": "/proc",
    "cli/application.py": "the null device",
    "doctor/commands.py": "the checkout's pyproject.toml and /proc",
    "engine/guard.py": "writes",
    "feet/measured.py": "writes",
    "films/encoders.py": "writes",
    "films/film.py": "messages of its own child process",
    "films/process.py": "the job of its own parent process",
    "formats/mesh_file.py": "trimesh reads what was checked before",
    "franka/device/model_library.py": "the library that was compiled just before",
    "franka/log.py": "numpy parses rows that were read",
    "franka/wrench_file.py": "six numbers that an experiment's own process maps",
    "symbolic/derivation.py": "pliant's own cache",
    "laws/compile.py": "pliant's own cache",
    "learn/envs/sb3.py": "/proc",
    "learn/warp.py": "/proc",
    "model/snapshots.py": "pictures of its own child process",
    "page/document.py": "a file of the package viser",
    "page/server.py": "files of the package viser",
    "recording/record_file.py": "writes",
    "recording/recording.py": "writes",
    "rods/loaders.py": "pliant's own catalogue",
    "rods/listed.py": "pliant's own catalogue",
    "bags/sqlite.py": "SQLite reads what was checked before",
    "templates/commands.py": "pliant's own templates",
    "sweep/plan.py": "a digest of files that were read before",
    "sweep/table.py": "writes",
    "vision/client.py": "an image in shared memory, checked by its header",
    "vision/pictures_bridge.py": "writes",
}
"""Files that open files without the gate, and why."""


def opens(tree):
    """Return the lines of calls that read a file."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        if isinstance(called, ast.Name) and called.id == "open":
            yield node.lineno
        if not isinstance(called, ast.Attribute):
            continue
        owner = called.value.id if isinstance(called.value, ast.Name) else ""
        if called.attr in ("read_bytes", "loadtxt", "genfromtxt") or (owner, called.attr) in OPENERS:
            yield node.lineno
        # A path is opened with a mode, a file of text is read with its encoding.
        if called.attr == "read_text" and owner != "files":
            yield node.lineno
        modes = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        if called.attr == "open" and any(mode in ("r", "rb", "r+b", "w", "wb", "a", "xb", "x") for mode in modes[:1]):
            yield node.lineno


def test_no_reader_goes_round_the_gate():
    found = {}
    names = {"open", "read_bytes", "read_text", "loadtxt", "genfromtxt", *(name for _, name in OPENERS)}
    words = re.compile(rf"\b(?:{'|'.join(sorted(names))})\(")
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        if name == "base/documents/files.py":
            continue
        text = path.read_text(encoding="utf-8")
        lines = list(opens(ast.parse(text))) if words.search(text) else []
        if lines and name not in READ_ELSEWHERE:
            found[name] = lines
    assert not found, "read files with pliant.base.documents, or give a reason in READ_ELSEWHERE"


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.name)
def test_the_file_that_is_mutated_is_read(kind, tmp_path):
    kind.read(kind.write(tmp_path, kind.seed))


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.name)
def test_a_mutated_file_is_read_or_refused_with_an_error_of_pliant(kind):
    found = fuzz_kind(kind, 5, seed=7)
    assert found.cases == 5
    assert not found.faults


@pytest.mark.nightly
@pytest.mark.timeout(7200)  # a quarter of an hour of processor time
def test_a_hundred_thousand_mutated_files_are_read_or_refused():
    found = fuzz_all(100_000, seed=random.SystemRandom().randrange(10**9))
    assert not [fault for one in found.values() for fault in one.faults]


@pytest.mark.parametrize("seed", FAILED)
def test_a_file_that_once_failed_is_read_or_refused(seed):
    kind = next(kind for kind in kinds() if kind.name == seed.rsplit("-", 2)[0])
    found = Found()
    try_one(kind, seed, found)
    assert not found.faults


def zipped(path, name, data, *, times=1):
    """Write an archive of one file, the data some times over; return its path."""
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open(name, "w", force_zip64=True) as file,
    ):
        for _ in range(times):
            file.write(data)
    return path


@functools.cache
def archive_of(name, data, times):
    """Return the bytes of an archive, which several readers refuse."""
    with tempfile.TemporaryDirectory() as folder:
        return zipped(Path(folder) / "a.zip", name, data, times=times).read_bytes()


@pytest.mark.parametrize("read", [read_npz, read_commands, read_measurement])
@pytest.mark.parametrize(
    ("data", "times", "message"),
    [
        (npy_bytes("(1000000000000,)", "'<f8'"), 1, "1000000000000 items"),
        (npy_bytes("(1000000000000,)", "'|S0'"), 1, "1000000000000 items"),
        (npy_bytes("(4294967296, 4294967296)", "'<f8'"), 1, "18446744073709551616 items"),
        (npy_bytes("(-1,)", "'<f8'"), 1, "shape"),
        (npy_bytes("(1,)", "'|O'"), 1, "must be numbers or texts"),
        (bytes(2**20), 300, "expands to 314572800 bytes"),
        (b"text", 1, "not an array"),
    ],
    ids=["items", "empty items", "overflow", "negative", "pickle", "bomb", "text"],
)
def test_an_archive_that_claims_too_much_is_refused_before_it_is_expanded(read, data, times, message, tmp_path):
    path = tmp_path / "a.npz"
    path.write_bytes(archive_of("time.npy", data, times))
    tracemalloc.start()
    try:
        with pytest.raises(PliantError, match=message):
            read(path)
        assert tracemalloc.get_traced_memory()[1] < BUDGET
    finally:
        tracemalloc.stop()


def test_an_archive_gives_its_arrays(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", time=np.arange(3.0), name=np.array("é"))
    found = read_npz(tmp_path / "a.npz")
    np.testing.assert_array_equal(found["time"], [0.0, 1.0, 2.0])
    assert str(found["name"]) == "é"


@pytest.mark.parametrize("name", ["arm.urdf", "arm.xml", "arm.yaml", "steps.csv", "steps.npz", "data.csv"])
def test_a_named_pipe_does_not_block_the_reader(name, tmp_path):
    os.mkfifo(tmp_path / name)
    read = {"steps": read_commands, "data": read_measurement}.get(name.split(".")[0], pliant.load)
    with pytest.raises(PliantError, match="not a regular file"):
        read(tmp_path / name)


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        ('<worldbody><replicate count="2000000"><geom size="1"/></replicate></worldbody>', "replicate.*more than 8000"),
        (
            '<worldbody><replicate count="2000"><replicate count="2000"><geom size="1"/></replicate></replicate>'
            "</worldbody>",
            "replicate.*more than 8000",
        ),
        ('<worldbody><flexcomp name="f" type="grid" count="900 900 9"/></worldbody>', "flexcomp.*more than 3000"),
        ('<asset><texture name="t" builtin="flat" width="90000" height="90000"/></asset>', "width 90000"),
        ('<asset><hfield name="t" nrow="90000" ncol="90000" size="1 1 1 1"/></asset>', "nrow 90000"),
        ('<size nuserdata="2000000000"/>', "nuserdata is 2000000000"),
        ('<include file="arm.xml"/>', "'arm.xml' includes itself"),
        ('<include file="../outside.xml"/>', "replicate.*more than 8000"),
        ('<worldbody><flexcomp name="f" type="gmsh" file="pipe.xml" dim="3"/></worldbody>', "not a regular file"),
        ('<asset><mesh name="m" builtin="cone" params="1000000 0.5"/></asset>', "params is 1000000"),
        (
            '<worldbody><camera name="c" resolution="20000 20000"/></worldbody>'
            '<sensor><rangefinder camera="c"/></sensor>',
            "at most 10000 for a rangefinder",
        ),
        ("<worldbody>" + '<geom size="1"/>' * 30_000 + "</worldbody>", "more than 25000 elements"),
        ("<worldbody>" + "<body/>" * 6_000 + "</worldbody>", "more than 5000 bodies"),
        ("<asset>" + '<texture builtin="flat" width="8000" height="8000"/>' * 5 + "</asset>", "all textures together"),
        ('<include file="more.xml"/>', "replicate.*more than 8000"),
        ('<include file="pipe.xml"/>', "not a regular file"),
        ('<asset><mesh name="m" file="pipe.xml"/></asset>', "not a regular file"),
    ],
)
def test_a_model_that_expands_too_far_is_refused_before_it_is_compiled(inside, message, tmp_path):
    os.mkfifo(tmp_path / "pipe.xml")
    (tmp_path / "more.xml").write_text(
        '<mujoco><worldbody><replicate count="2000000"><geom size="1"/></replicate></worldbody></mujoco>'
    )
    (tmp_path / "inner").mkdir()
    (tmp_path / "outside.xml").write_bytes((tmp_path / "more.xml").read_bytes())
    folder = tmp_path / "inner" if "outside" in inside else tmp_path
    (folder / "arm.xml").write_text(f"<mujoco>{inside}</mujoco>")
    with pytest.raises(ModelError, match=message):
        pliant.load(folder / "arm.xml")


CLASS = '<mujoco><worldbody><geom class="%s" size="1"/></worldbody></mujoco>'


@pytest.mark.parametrize("file", ["arm.xml", "<include file='arm.xml'/>", "<asset><model file='arm.xml'/></asset>"])
def test_a_class_that_mujoco_would_print_as_a_format_is_refused_before_it_does(file, tmp_path):
    (tmp_path / "arm.xml").write_text(CLASS.replace("%s", "%s%n"))
    if file != "arm.xml":
        (tmp_path / "outer.xml").write_text(f"<mujoco>{file}</mujoco>")
    with pytest.raises(ModelError, match=r"arm\.xml.*class is '%s%n'; must have no %"):
        pliant.load(tmp_path / ("arm.xml" if file == "arm.xml" else "outer.xml"))


def test_a_long_chain_of_links_is_refused_before_it_is_compiled(tmp_path):
    links = "".join(f'<link name="l{i}"/>' for i in range(700))
    joints = "".join(
        f'<joint name="j{i}" type="fixed"><parent link="l{i}"/><child link="l{i + 1}"/></joint>' for i in range(699)
    )
    (tmp_path / "arm.urdf").write_text(f'<robot name="r">{links}{joints}</robot>')
    with pytest.raises(ModelError, match="longer than 500"):
        pliant.load(tmp_path / "arm.urdf")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("arm.xml", "<mujoco>" + "<a/>" * 1_100_000 + "</mujoco>"),
        ("arm.yaml", "model: [" + "1," * 3_000_000 + "1]"),
        ("arm.yaml", "a: [" + "1," * 110_000 + "1]"),
    ],
)
def test_a_text_of_too_many_values_is_refused(name, text, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(ModelError, match=r"more than|at most"):
        pliant.load(tmp_path / name)


def test_a_mesh_that_names_a_pipe_does_not_block_the_reader(tmp_path):
    os.mkfifo(tmp_path / "pipe.bin")
    (tmp_path / "m.gltf").write_text(
        '{"asset": {"version": "2.0"}, "buffers": [{"uri": "pipe.bin", "byteLength": 48}], "bufferViews": '
        '[{"buffer": 0, '
        '"byteLength": 48}], "accessors": [{"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"}], '
        '"meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}], "nodes": [{"mesh": 0}], '
        '"scenes": [{"nodes": [0]}]}'
    )
    (tmp_path / "arm.urdf").write_text(MESHED.format(".gltf"))
    with pytest.raises(ModelError, match="not a regular file"):
        pliant.load(tmp_path / "arm.urdf")


def test_an_archive_named_as_a_mesh_is_not_unpacked(tmp_path):
    zipped(tmp_path / "m.zip", "m.obj", b"v 0 0 0\n" * 1000)
    (tmp_path / "arm.urdf").write_text(
        '<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" '
        'iyz="0"/></inertial><collision><geometry><mesh filename="m.zip"/></geometry></collision></link></robot>'
    )
    with pytest.raises(ModelError, match=r"a mesh ends in '\.zip'; must be one of \.stl, \.obj"):
        pliant.load(tmp_path / "arm.urdf")


@pytest.mark.parametrize("name", ["m.zip", "m.mjz", "m.obj", "m.xml"])
@pytest.mark.parametrize(
    "inside",
    [
        '<asset><mesh name="m" file="{}"/></asset>',
        '<asset><skin name="s" file="{}"/></asset>',
        '<asset><hfield name="h" file="{}" size="1 1 1 1"/></asset>',
        '<asset><texture name="t" type="cube" fileright="{}"/></asset>',
        '<asset><model name="p" file="{}"/></asset>',
        '<include file="{}"/>',
        '<worldbody><flexcomp name="f" type="mesh" file="{}" dim="2"/></worldbody>',
    ],
    ids=["mesh", "skin", "terrain", "texture", "model", "include", "flex"],
)
def test_an_archive_that_a_model_names_is_not_unpacked(inside, name, tmp_path):
    zipped(tmp_path / name, "m.obj", b"v 0 0 0\n" * 1000)
    (tmp_path / "arm.xml").write_text(f"<mujoco>{inside.format(name)}</mujoco>")
    with pytest.raises(ModelError, match="is an archive; must be a file that is unpacked"):
        pliant.load(tmp_path / "arm.xml")


@pytest.mark.parametrize("corner", ["5", "-5", "0", "2147483648", "1/4", "1//1", "1_0", "a"])
@pytest.mark.parametrize("name", ['file="m.obj"', 'file="m.txt" content_type="model/obj"'])
def test_a_flex_whose_faces_have_points_that_the_file_has_not_is_refused(name, corner, tmp_path):
    for file in ("m.obj", "m.txt"):
        (tmp_path / file).write_text(f"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvt 0 0\nf 1/1 2 -1\nf 1 2 {corner}\n")
    (tmp_path / "arm.xml").write_text(
        f'<mujoco><worldbody><flexcomp name="f" type="mesh" {name} dim="2"/></worldbody></mujoco>'
    )
    with pytest.raises(ModelError, match=f":7: a face has the corner '{corner}'; must be indices of the 4 points, 1 "):
        pliant.load(tmp_path / "arm.xml")


@pytest.mark.parametrize("text", ["9" * 400, "[" * 100_000, '{"a": 1', "-" + "9" * 30])
def test_json_is_read_within_limits(text, tmp_path):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(ModelError):
        read_json(tmp_path / "a.json")
