"""The compiled model library against the Python dynamics."""

import ctypes
import platform
import shutil

import numpy as np
import pytest

from pliant.base.errors import BridgeError, LawError, MissingDependency
from pliant.franka.device.model_library import ARCHITECTURES, build_library
from pliant.franka.robots import dynamics, kinematics
from pliant.franka.robots.parameters import EE_OF_HAND, FER, FR3, FRANKA_HAND

HERE = ARCHITECTURES.get(platform.machine().lower(), 0)
needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")


def vector(values):
    array = np.ascontiguousarray(values, dtype=float).reshape(-1)
    return array, array.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


@needs_compiler
@pytest.mark.parametrize("arm", [FER, FR3], ids=lambda a: a.name)
def test_the_library_gives_the_models_of_the_python_side(arm, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "model.so"
    path.write_bytes(build_library(HERE, arm=arm))
    assert build_library(HERE, arm=arm) == path.read_bytes()
    lib = ctypes.CDLL(str(path))
    rng = np.random.default_rng(0)
    _I, pI = vector(FRANKA_HAND.inertia)
    pm = ctypes.c_double(FRANKA_HAND.mass)
    _c, pc = vector(FRANKA_HAND.center_of_mass)
    _tool, ptool = vector(EE_OF_HAND.T)
    for _ in range(20):
        q, pq = vector(rng.uniform(-2, 2, 7))
        dq, pdq = vector(rng.uniform(-2, 2, 7))
        M, pM = vector(np.zeros(49))
        lib.M_NE(pq, pI, pm, pc, pM)
        np.testing.assert_allclose(M.reshape(7, 7), dynamics.mass(q, FRANKA_HAND, arm=arm), atol=1e-13)
        out, pout = vector(np.zeros(7))
        lib.c_NE(pq, pdq, pI, pm, pc, pout)
        np.testing.assert_allclose(out, dynamics.coriolis(q, dq, FRANKA_HAND, arm=arm) @ dq, atol=1e-12)
        g, pg = vector([1.0, -2.0, -9.0])
        lib.g_NE(pq, pg, pm, pc, pout)
        np.testing.assert_allclose(out, dynamics.gravity(q, FRANKA_HAND, g, arm=arm), atol=1e-12)
        T, pT = vector(np.zeros(16))
        J, pJ = vector(np.zeros(42))
        for n, frame in enumerate(kinematics.FRAMES, start=1):
            extra = (ptool,) if n == 9 else ()
            getattr(lib, f"O_T_J{n}")(pq, *extra, pT)
            np.testing.assert_allclose(T.reshape(4, 4).T, kinematics.forward_kinematics(q, frame), atol=1e-14)
            for symbol, axes in (("O_J_J", "base"), ("Ji_J_J", "body")):
                getattr(lib, f"{symbol}{n}")(*(() if n == 1 else (pq,)), *extra, pJ)
                expected = kinematics.jacobian(q if n > 1 else np.zeros(7), frame, axes=axes)
                np.testing.assert_allclose(J.reshape(7, 6).T, expected, atol=1e-14)


def test_a_client_of_another_machine_is_refused_in_words():
    with pytest.raises(BridgeError, match="architecture 9"):
        build_library(9, arm=FER)
    with pytest.raises(BridgeError, match="system 1"):
        build_library(HERE, 1, arm=FER)


@pytest.mark.skipif(platform.system() != "Linux", reason="the library is built on Linux only")
def test_without_a_compiler_the_error_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PLIANT_CACHE", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(MissingDependency, match="C compiler"):
        build_library(HERE, arm=FER)


@pytest.mark.skipif(platform.system() != "Linux", reason="the library is built on Linux only")
def test_a_library_that_others_could_have_put_into_the_cache_is_not_given_to_clients(monkeypatch, tmp_path):
    monkeypatch.setenv("PLIANT_CACHE", str(tmp_path / "cache"))
    build_library(HERE, arm=FER)
    (kept,) = (tmp_path / "cache").rglob("*.so")
    kept.parent.chmod(0o777)
    with pytest.raises(LawError, match="franka"):
        build_library(HERE, arm=FER)
