"""The program as a whole."""

import json
import os
import subprocess
import sys

import pytest

from pliant.cli.application import COMMANDS

pytestmark = pytest.mark.quick

HEAVY = ("numpy", "mujoco", "numba", "scipy", "matplotlib", "rosbags", "sympy")


def test_the_command_line_imports_nothing_heavy_until_a_command_needs_it():
    script = f"import sys, pliant.cli; print(*[m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout.strip() == ""


@pytest.mark.parametrize(("given", "threads"), [(None, "1"), ("2", "2")])
def test_the_program_has_one_thread_of_linear_algebra_unless_the_environment_says_otherwise(given, threads):
    script = "import os, pliant.cli; print(os.environ['OPENBLAS_NUM_THREADS'])"
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment if given is None else environment | {"OPENBLAS_NUM_THREADS": given},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout.strip() == threads


@pytest.mark.parametrize("value", ["nope", "egl2", "2"])
def test_a_graphics_library_that_does_not_exist_is_refused_with_those_that_do(call, monkeypatch, value):
    monkeypatch.setenv("MUJOCO_GL", value)
    code, _, err = call("list")
    assert code == 1
    assert f"MUJOCO_GL is {value!r}; unset it, or use egl, osmesa or off" in err


@pytest.mark.parametrize("arguments", [("--help",), ("cpr", "--help"), ("run", "--help"), ("view", "--help")])
def test_help_is_printed_and_ends_well(call, arguments):
    code, out, _ = call(*arguments)
    assert code == 0
    assert "Usage: pliant" in out
    assert ("--sync-timeout" in out) == ("run" in arguments)


def test_the_version_is_that_of_the_package(call):
    import pliant

    code, out, _ = call("--version")
    assert code == 0
    assert out.strip() == pliant.__version__


def test_the_help_has_the_first_line_of_each_command(call):
    _, out, _ = call("--help")
    for text in (
        "Simulate a robot: a URDF",
        "Report versions, graphics",
        "Statics of continuum",
        "Run a name server",
    ):
        assert text in out


def test_a_command_imports_no_other_command():
    program = """
import sys
from pliant.cli import main
try:
    main(["list", "qbmove-1dof"])
finally:
    print(*(m for m in sys.modules if m.startswith("pliant.cli.")), sep="\\n")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    modules = {line for line in done.stdout.split() if line.startswith("pliant.cli.")}
    others = {place.split(":")[0] for place in COMMANDS.values()} - {"pliant.cli.list"}
    assert "pliant.cli.list" in modules
    assert not modules & others


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("run",),
            "SOURCE is missing: a URDF, MJCF, SDF or YAML file, or the name of a catalogue robot. See pliant run",
        ),
        (("compare", "a.mcap"), "SECOND is missing: a recording (.mcap) or a robot. See pliant compare --help"),
        (("sweep", "sea-1dof"), "--vary is missing: PATH=v1,v2"),
        (("policy", "run"), "FILE is missing: policy: an archive (.npz) or an ONNX file. See pliant policy run --help"),
        (("run", "sea-1dof", "--duration"), "--duration needs a value. See pliant run --help"),
        (("run", "sea-1dof", "--duration", "2s"), "--duration is '2s'; must be a number. See pliant run --help"),
        (
            ("view", "sea-1dof", "--view-port", "first"),
            "--view-port is 'first'; must be a whole number. See pliant view --help",
        ),
        (("check", "sea-1dof", "bavs-1dof"), "unexpected argument 'bavs-1dof'. See pliant check --help"),
        (
            ("runn",),
            "there is no command 'runn'; did you mean 'run'? must be one of bench, check, compare, completion, cpr",
        ),
        (("cpr", "sole"), "there is no command 'sole'; did you mean 'solve'? must be one of batch, equilibria"),
        (("run", "sea-1dof", "--durtion", "1"), "Unknown option: --durtion. Did you mean --duration?"),
        (
            ("view", "sea-1dof", "--port", "0"),
            "there is no option '--port'; did you mean '--view-port'? See pliant",
        ),
        (("doctor", "--fci"), "there is no option '--fci'; did you mean '--bridge fci'? See pliant doctor --help"),
        (("list", "--ros1"), "there is no option '--ros1'; did you mean '--json'? must be one of --debug, --import"),
        (
            ("doctor", "--xyz"),
            "there is no option '--xyz'; must be one of --bridge, --debug, --json. See pliant doctor",
        ),
        (("reproduce", "box", "--video-format", "avi"), "--video-format is 'avi'; must be one of gif, mp4. See pliant"),
    ],
)
def test_a_wrong_command_line_ends_with_a_sentence_and_the_name_of_the_help(call, words, message):
    code, out, err = call(*words)
    assert code == 2
    assert not out
    assert message in " ".join(err.split())
    code, out, _ = call(*words, "--json") if "--duration" not in words[-1:] else (2, json.dumps({"error": {}}), "")
    assert code == 2
    assert "error" in json.loads(out)
