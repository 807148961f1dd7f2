"""Machine code on disk: never outdated, never damaged, never somebody else's."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numba
import numpy as np
import pytest

from pliant.base.codecache import cache_folder, njit, part_dispatcher, private_folder, read_text, write_text
from pliant.base.errors import LawError


@pytest.fixture
def _no_cache(tmp_path, monkeypatch):
    """A user whose cache cannot be written: a file stands where its folder would be."""
    (tmp_path / "blocked").write_text("")
    monkeypatch.delenv("PLIANT_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "blocked" / "cache"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("pliant.base.codecache._temporary", [])


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


@pytest.fixture
def _nowhere(tmp_path, monkeypatch):
    """Numba finds no folder but the one that it is told."""
    monkeypatch.setattr(numba.config, "CACHE_LOCATOR_CLASSES", "UserProvidedCacheLocator")
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr("pliant.base.codecache._temporary", [tmp_path / "temporary"])
    (tmp_path / "temporary").mkdir()


def twice(x):
    return 2.0 * x


@pytest.mark.usefixtures("_nowhere")
def test_without_a_place_for_a_cache_a_function_is_compiled_all_the_same(tmp_path):
    with pytest.raises(RuntimeError, match="no locator"):
        numba.njit(cache=True)(twice)
    assert njit(error_model="numpy")(twice)(1.5) == 3.0
    assert list((tmp_path / "temporary" / "numba").rglob("*.code"))


def test_where_a_cache_can_be_written_nothing_changes():
    before = numba.config.CACHE_DIR
    assert njit(error_model="numpy")(twice)(2.0) == 4.0
    assert before == numba.config.CACHE_DIR


@pytest.mark.parametrize("damage", ["truncated", "one byte changed", "empty", "appended"])
def test_a_damaged_text_is_not_used(tmp_path, damage, caplog):
    path = tmp_path / "law.ll"
    write_text(path, "define void @f()\nret void\n", ";")
    assert read_text(path, ";") == "define void @f()\nret void\n"
    assert path.stat().st_mode & 0o077 == 0
    spoil(path, damage)
    for _ in range(2):
        assert read_text(path, ";") is None
    assert caplog.text.count("damaged: compiling again") == 1


def test_a_folder_in_the_place_of_a_file_is_named_with_the_remedy(tmp_path, caplog):
    path = tmp_path / "law.ll"
    path.mkdir()
    assert read_text(path, ";") is None
    write_text(path, "define void @f()\n", ";")
    (message,) = caplog.messages
    assert message == f"{path} is a folder, so compiled code cannot be kept there for later runs: delete it"


def spoil(path, damage):
    data = path.read_bytes()
    middle = len(data) - 5
    path.write_bytes(
        {
            "truncated": data[: len(data) // 2],
            "one byte changed": data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :],
            "empty": b"",
            "appended": data + b"x",
        }[damage]
    )


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="files have no owner here")
def test_a_cached_file_that_others_may_write_is_not_used(tmp_path):
    path = tmp_path / "law.ll"
    write_text(path, "text", ";")
    path.chmod(0o666)
    assert read_text(path, ";") is None


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="folders have no owner here")
def test_a_cache_that_others_may_write_is_refused_with_the_reason(tmp_path, monkeypatch):
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    monkeypatch.setenv("PLIANT_CACHE", str(folder))
    with pytest.raises(LawError, match=r"open can be written by other users \(mode 777\)"):
        cache_folder()
    folder.chmod(0o755)
    (folder / "laws").mkdir()
    (folder / "laws").chmod(0o775)
    with pytest.raises(LawError, match=r"laws can be written by other users \(mode 775\)"):
        private_folder("laws")


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="folders have no owner here")
def test_a_cache_of_another_user_is_refused_with_the_owner(tmp_path, monkeypatch):
    monkeypatch.setenv("PLIANT_CACHE", str(tmp_path))
    mine = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: mine + 12345)
    with pytest.raises(LawError, match=r"belongs to the user .*, not to"):
        cache_folder()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="folders have no owner here")
@pytest.mark.usefixtures("_no_cache")
def test_a_default_cache_that_others_may_write_is_replaced_by_a_temporary_one(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "cache" / "pliant").mkdir(parents=True)
    (tmp_path / "cache" / "pliant").chmod(0o777)
    assert cache_folder().parent == tmp_path
    assert "can be written by other users" in caplog.text


def test_a_new_cache_is_private_whatever_the_umask_is(tmp_path, monkeypatch):
    monkeypatch.setenv("PLIANT_CACHE", str(tmp_path / "new"))
    before = os.umask(0o000)
    try:
        assert private_folder("laws").stat().st_mode & 0o777 == 0o700
        assert cache_folder().stat().st_mode & 0o777 == 0o700
    finally:
        os.umask(before)


def factor(k):
    def inner(x):
        return k * x

    return inner


@pytest.mark.parametrize("damage", ["truncated", "one byte changed", "empty"])
def test_a_damaged_file_of_numba_is_compiled_again(damage, caplog, monkeypatch, tmp_path):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))  # other processes of a test run leave it alone
    function = factor(2.0)
    first = njit(error_model="numpy")(function)
    assert first(1.5) == 3.0
    files = sorted(Path(first.stats.cache_path).glob(f"{first._cache._cache_file._stem}.*.code"))
    assert len(files) == 1
    spoil(files[0], damage)
    again = njit(error_model="numpy")(function)
    assert again(1.5) == 3.0
    assert "damaged: compiling again" in caplog.text
    assert not again.stats.cache_hits
    third = njit(error_model="numpy")(function)
    assert third(1.5) == 3.0
    assert third.stats.cache_hits


def test_other_options_of_the_compiler_give_other_code():
    def inverse(x):
        return 1.0 / x

    assert njit(error_model="numpy")(inverse)(0.0) == np.inf
    with pytest.raises(ZeroDivisionError):
        njit(error_model="python")(inverse)(0.0)


def test_code_of_numba_that_calls_a_function_of_another_file_follows_its_changes():
    results = []
    for k in (2.0, 3.0):
        inner = numba.njit(factor(k))
        names = {"inner": inner, "__name__": __name__}
        code = compile("def outer(x):\n    return inner(x)\n", __file__, "exec")
        exec(code, names)
        results.append(njit()(names["outer"])(1.0))
    assert results == [2.0, 3.0]


def test_a_part_is_compiled_once_for_all_that_call_it_and_again_under_another_name(monkeypatch, tmp_path):
    monkeypatch.setenv("PLIANT_CACHE", str(tmp_path))
    results = []
    for k in (2.0, 3.0):
        for kept in (False, True):
            part = factor(k)
            part.__qualname__ = f"inner_{k:.0f}"
            inner = part_dispatcher(part, {"no_cpython_wrapper": True, "no_cfunc_wrapper": True})
            results.append(numba.njit(lambda x, inner=inner: inner(x) + 1.0)(1.0))
            assert bool(inner.stats.cache_hits) is kept
    assert results == [3.0, 3.0, 4.0, 4.0]


def test_code_that_cannot_be_kept_is_compiled_all_the_same(monkeypatch, caplog):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pliant.base.codecache._write", full)
    assert njit()(factor(7.0))(1.0) == 7.0
    assert "No space left on device" in caplog.text


ALGEBRA = """
import sys
import numpy as np
from pliant.base.codecache import njit

@njit()
def half(x):
    return 0.5 * x[0]

@njit()
def total(x):
    return np.sum(x)

@njit()
def product(a, b):
    return np.dot(a, b)

half(np.ones(3))
registries = "numba.cpython.setobj" in sys.modules
total(np.ones(3))
before = "scipy.linalg" in sys.modules
print(registries, before, product(np.full((2, 2), 2.0), np.eye(2)).tolist(), "scipy.linalg" in sys.modules)
"""


def test_only_code_of_linear_algebra_imports_scipy_and_only_compiling_fills_the_registries_of_numba(tmp_path):
    (tmp_path / "algebra.py").write_text(ALGEBRA)
    for compiled in (True, False):
        run = [sys.executable, str(tmp_path / "algebra.py")]
        said = subprocess.run(run, capture_output=True, text=True, check=True).stdout
        assert said == f"{compiled} False [[2.0, 2.0], [2.0, 2.0]] True\n"
