"""The program as a whole."""

import subprocess
import sys

import pytest

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
