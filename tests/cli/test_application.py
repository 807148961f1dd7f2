"""The program as a whole."""

import subprocess
import sys

import pytest

from pliant.cli.application import COMMANDS

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
