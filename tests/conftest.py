"""Small descriptions that tests of several rooms share; makes tests/helpers importable."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent / "helpers"))

import daily  # of tests/helpers

OWN = Path(__file__).resolve().parent / "data"

LIMIT_S = 600
"""Longest time of a test [s]: on a busy machine with empty caches, a first compilation takes minutes, and a test may
wait for the run of an experiment in another process."""


def pytest_configure(config):
    """Leave nightly cases out where the expression of markers, such as that of pyproject.toml, deselects them all."""
    markers = [line.partition(":")[0] for line in config.getini("markers") if line.partition(":")[0].isidentifier()]
    daily.night = daily.selects_nightly(config.option.markexpr, markers)


def pytest_collection_modifyitems(items):
    """Give each test its limit; the one of pyproject.toml is for a machine that is idle."""
    for item in items:
        if item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(LIMIT_S))


@pytest.fixture(scope="session", autouse=True)
def _own_state_folder(tmp_path_factory):
    """Keep what tests leave in the user's state folder out of it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


URDF = """<?xml version="1.0"?>
<robot name="bench">
  <link name="world"/>
  <joint name="joint" type="revolute">
    <parent link="world"/><child link="link"/>
    <limit effort="300" velocity="100" lower="-3.14" upper="3.14"/>
    <axis xyz="0 0 1"/>
    <dynamics damping="0.02" friction="0.0"/>
  </joint>
  <link name="link">
    <inertial>
      <mass value="1"/>
      <inertia ixx="0.001" iyy="0.001" izz="0.002" ixy="0" ixz="0" iyz="0"/>
    </inertial>
  </link>
  {extra}
</robot>
"""

REQUIRED = {
    "joint": "joint",
    "operation_mode": "5",
    "pub_eltau": "true",
    "pub_state": "1",
    "sub_ext_tau": "false",
}


def make_plugin(kind="sea", name="act", **tags):
    """Return a gazebo element; a tag of None is left out."""
    values = {k: v for k, v in {**REQUIRED, **tags}.items() if v is not None}
    lines = "\n".join(f"      <{k}>{v}</{k}>   # a stray comment" for k, v in values.items())
    return f'<gazebo>\n    <plugin name="{name}" filename="lib{kind}_plugin.so">\n{lines}\n    </plugin></gazebo>'


@pytest.fixture
def plugin():
    """Return the function that writes a plugin element."""
    return make_plugin


@pytest.fixture
def urdf(tmp_path):
    """Return a function that writes a URDF with something added and returns its path; ``.text`` is the bare one."""

    def write(extra="", text=URDF, name="bench.urdf"):
        path = tmp_path / name
        path.write_text(text.replace("{extra}", extra))
        return path

    write.text = URDF
    return write


@pytest.fixture(params=["own", pytest.param("toolbox", marks=pytest.mark.shared)])
def joint_file(request):
    """Return the function that names a file of one joint by its kind: our own file, and the toolbox's where it is."""
    if request.param == "own":
        return lambda kind: OWN / f"{kind}_joint.urdf"
    toolbox = request.getfixturevalue("data")
    return lambda kind: toolbox / f"{kind}_template.urdf"


@pytest.fixture(params=["own", pytest.param("toolbox", marks=pytest.mark.shared)])
def manager_file(request):
    """Return the plugin manager's file for a joint: our own, and the toolbox's where it is."""
    if request.param == "own":
        return OWN / "manager.yaml"
    return request.getfixturevalue("data") / "compliant_config.yaml"


@pytest.fixture
def data():
    """The folder of the toolbox's own files; a test that asks for it is marked ``shared``."""
    from shared_files import shared_file

    return shared_file("data/gazebo_compliant_plugin")


@pytest.fixture
def robot_file(tmp_path):
    """A robot with one compliant joint, "elbow"."""
    from arm import MODEL  # of tests/helpers

    (tmp_path / "arm.xml").write_text(MODEL)
    path = tmp_path / "arm.yaml"
    path.write_text("model: arm.xml\nactuators:\n  elbow: {law: qbmove, mode: 6}\n")
    return str(path)


@pytest.fixture
def call(capsys):
    """Run the command line in this process; returns (exit code, standard output, standard error)."""

    def run(*arguments: object) -> tuple[int, str, str]:
        from pliant.cli import main

        with pytest.raises(SystemExit) as end:
            main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        return int(end.value.code or 0), out, err

    return run
