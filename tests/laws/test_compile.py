"""The machine code of the laws: cached, never stale, never another law's."""

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass

import numpy as np
import pytest

from pliant.errors import LawError
from pliant.laws import SEA, Law, QbMove, law
from pliant.laws.compile import cache_folder, compiled, fingerprint

LAWS = {"SEA": SEA, "QbMove": QbMove}


def python(script, cache):
    environment = {**os.environ, "PLIANT_CACHE": str(cache)}
    return subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True, timeout=300
    ).stdout


@pytest.mark.slow
def test_laws_compiled_in_different_processes_do_not_call_each_others_kernels(tmp_path):
    for name in LAWS:
        python(f"from pliant.laws import *; {name}().evaluate(0.1, 0.2, 0.01)", tmp_path)
    script = "from pliant.laws import *\nfor x in (SEA, QbMove): print(*x().evaluate(0.1, 0.2, 0.01))"
    for cls, line in zip(LAWS.values(), python(script, tmp_path).splitlines(), strict=True):
        p = cls().parameters()
        expected = (*cls.torques(0.1, 0.2, 0.01, p), cls.stiffness(0.1, 0.2, 0.01, p), cls.energy(0.1, 0.2, 0.01, p))
        np.testing.assert_allclose([float(x) for x in line.split()], expected, rtol=1e-13)


@pytest.fixture
def _no_cache(tmp_path, monkeypatch):
    """A user whose cache cannot be written: a file stands where its folder would be."""
    (tmp_path / "blocked").write_text("")
    monkeypatch.delenv("PLIANT_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "blocked" / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("pliant.laws.compile._temporary", [])


@pytest.mark.usefixtures("_no_cache")
def test_without_a_cache_that_can_be_written_a_temporary_one_is_taken_and_said_once(tmp_path, caplog):
    first = cache_folder()
    assert first.parent == tmp_path
    assert first.stat().st_mode & 0o077 == 0
    assert cache_folder() == first
    assert [r.levelname for r in caplog.records] == ["WARNING"]
    assert str(first) in caplog.text
    assert "blocked" in caplog.text


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="folders have no owner here")
@pytest.mark.usefixtures("_no_cache")
def test_a_temporary_folder_that_others_may_write_is_not_run_from(tmp_path):
    known = tmp_path / f"pliant-{os.getuid()}"
    known.mkdir()
    known.chmod(0o777)
    found = cache_folder()
    assert found != known
    assert found.stat().st_mode & 0o077 == 0


@pytest.mark.usefixtures("_no_cache")
def test_a_link_in_place_of_the_temporary_folder_is_not_followed(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / f"pliant-{os.getuid()}").symlink_to(tmp_path / "elsewhere")
    cache_folder()
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert cache_folder().resolve() != (tmp_path / "elsewhere").resolve()


def test_the_cache_folder_follows_the_environment_and_refuses_one_that_cannot_be_written(tmp_path, monkeypatch):
    monkeypatch.setenv("PLIANT_CACHE", str(tmp_path / "mine"))
    assert cache_folder() == tmp_path / "mine"
    assert (tmp_path / "mine").is_dir()
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PLIANT_CACHE", str(tmp_path / "file" / "inside"))
    with pytest.raises(LawError, match=r"PLIANT_CACHE=.*cannot be written"):
        cache_folder()


def scaled_by(factor, table=(1.0, 2.0)):
    def energy(q, theta_1, theta_2, p):
        return factor * p[0] * q * table[0] + sum(x for x in table)

    return energy


def test_the_fingerprint_sees_code_constants_closures_and_defaults_and_is_otherwise_the_same():
    base = fingerprint([scaled_by(2.0)])
    assert base == fingerprint([scaled_by(2.0)])
    assert base != fingerprint([scaled_by(3.0)])
    assert base != fingerprint([scaled_by(2.0, (1.0, 3.0))])
    assert fingerprint([scaled_by(2.0, [1.0])]) != fingerprint([scaled_by(2.0, [2.0])])
    assert fingerprint([scaled_by(2.0, np.ones(2))]) != fingerprint([scaled_by(2.0, np.zeros(2))])
    assert fingerprint([lambda x, k=1.0: k * x]) != fingerprint([lambda x, k=2.0: k * x])
    assert base != fingerprint([scaled_by(2.0)], extra="other")


def test_the_fingerprint_does_not_depend_on_addresses():
    script = (
        "from pliant.laws.compile import fingerprint\n"
        "def f(x):\n    return sum([y * x for y in (1.0, 2.0)]) + (lambda z: 2.0 * z)(x)\n"
        "print(fingerprint([f]))"
    )
    runs = {subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout}
    runs |= {subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout}
    assert len(runs) == 1


def test_a_law_that_is_not_registered_cannot_be_compiled():
    @dataclass(frozen=True)
    class Loose(Law):
        k: float = 1.0

    with pytest.raises(LawError, match=r"Loose is not registered; decorate it with @law\('name'\)"):
        compiled(Loose)


def test_a_kernel_that_cannot_be_compiled_is_answered_with_the_reason_and_what_is_valid():
    @law("test_uncompilable")
    @dataclass(frozen=True)
    class Uncompilable(Law):
        k: float = 1.0

        @staticmethod
        def energy(q, theta_1, theta_2, p):
            return 0.5 * p[0] * q * q

        @staticmethod
        def torques(q, theta_1, theta_2, p):
            return open("spring.txt").read(), 0.0, 0.0  # noqa: PTH123

        @staticmethod
        def stiffness(q, theta_1, theta_2, p):
            return p[0]

    with pytest.raises(LawError, match=r"kernels of Uncompilable cannot be compiled: .*Valid in a kernel"):
        Uncompilable().evaluate(0.0, 0.0)
