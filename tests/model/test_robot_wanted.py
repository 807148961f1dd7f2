"""Public constructors say what to pass where they are given something else; examples say what they need."""

import ast
import copy
import pickle
import subprocess
import sys
from pathlib import Path

import mujoco
import numpy as np
import pytest

import pliant
from pliant.base.errors import ModelError, PliantError
from pliant.batch import make_batch
from pliant.batch.worlds import CpuBatch
from pliant.engine import MujocoEngine
from pliant.simulation import Simulation

EXAMPLES = Path(__file__).parents[2] / "examples"
WRONG = ["qbmove-1dof", Path("arm.urdf"), None, 3, 0.5, object(), [], {}, int, mujoco.MjSpec()]


def batch(given):
    return CpuBatch(given, 2)


def native_batch(given):
    return make_batch(given, 2)


@pytest.mark.parametrize("given", WRONG, ids=lambda given: type(given).__name__)
@pytest.mark.parametrize("make", [MujocoEngine, batch, native_batch])
def test_what_is_no_robot_is_refused_with_what_to_pass(make, given):
    with pytest.raises(ModelError, match=r"must be a Robot or a compiled mujoco.MjModel: .*(load|Robot\(spec\))"):
        make(given)


@pytest.mark.parametrize("given", [pliant.load("qbmove-1dof"), *WRONG, MujocoEngine], ids=lambda g: type(g).__name__)
def test_what_is_no_engine_is_refused_with_what_to_pass(given):
    with pytest.raises(PliantError, match=r"must be an engine: Simulation\(MujocoEngine\(robot\), make_devices"):
        Simulation(given)


@pytest.mark.parametrize("field", ["devices", "bridges"])
@pytest.mark.parametrize(
    "given", ["ros2", 3, ["ros2"], [None], [object()], [int], object()], ids=[str(i) for i in range(7)]
)
def test_what_is_no_device_or_bridge_is_refused_with_what_to_pass(field, given):
    engine = MujocoEngine(pliant.load("qbmove-1dof"))
    with pytest.raises(PliantError, match=rf"^{field}.* must be a (list of )?(device|bridge)s?: "):
        Simulation(engine, **{field: given})


@pytest.mark.parametrize("given", WRONG, ids=lambda given: type(given).__name__)
@pytest.mark.parametrize("name", ["PID", "SEA", "QbMove", "BAVS", "AwAS2", "DCMotor", "LeverDrive"])
def test_a_constructor_of_the_package_answers_a_wrong_value_with_an_error_of_pliant(name, given):
    made = getattr(pliant, name)
    field = next(iter(made.__dataclass_fields__))
    if isinstance(given, int | float):
        return  # may be valid
    with pytest.raises(PliantError):
        made(**{field: given})


def test_a_file_that_is_missing_is_a_missing_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.urdf").write_text("<robot/>")
    for name in ("arm.urd", "arm.xyz", "./arm", "folder/arm", str(tmp_path / "other.urdf"), "other.yaml"):
        with pytest.raises(ModelError, match="there is no file"):
            pliant.load(name)
    with pytest.raises(ModelError, match=r"there is no file 'arm.urd'; did you mean 'arm.urdf'"):
        pliant.load("arm.urd")
    with pytest.raises(ModelError, match="the catalogue has no robot 'qbmove-1do'"):
        pliant.load("qbmove-1do")


def third_party(path):
    """Return the packages that an example imports at its top, without pliant and what it always installs."""
    always = {"pliant", "numpy", "mujoco", *sys.stdlib_module_names}
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
        found |= {name.partition(".")[0] for name in names}
    return sorted(found - always)


@pytest.mark.parametrize("path", [p for p in sorted(EXAMPLES.rglob("*.py")) if third_party(p)], ids=lambda p: p.name)
def test_an_example_without_its_optional_packages_ends_in_a_sentence(path):
    code = (
        f"import runpy, sys\nfor name in {third_party(path)!r}: sys.modules[name] = None\n"
        f"sys.argv = [{str(path)!r}]\nrunpy.run_path({str(path)!r}, run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert 'pip install "pliant[' in done.stderr


@pytest.mark.parametrize("robot", ["qbmove-1dof", "file"])
def test_a_robot_that_is_pickled_says_what_to_pass_on(robot):
    path = str(Path(__file__).parents[1] / "data" / "sea_joint.urdf")
    source = path if robot == "file" else robot
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(ModelError, match=r"cannot be pickled.*pliant\.load\(.*load it there") as caught:
            pickle.dumps(pliant.load(source), protocol)
    if robot == "file":
        assert path in str(caught.value)


def test_a_compiled_model_is_what_can_be_pickled():
    model = pliant.load("qbmove-1dof").compile()
    twin = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(twin.actuator_user, model.actuator_user)


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy])
def test_a_copied_robot_is_independent(how):
    robot = pliant.load("qbmove-1dof")
    twin = how(robot)
    twin.set("option.timestep", 0.0002)
    twin.actuators.clear()
    assert robot.spec.option.timestep != 0.0002
    assert robot.actuators
