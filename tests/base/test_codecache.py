"""Machine code on disk: never outdated, never damaged, never somebody else's."""

import math
import os
import subprocess
import sys
import tempfile
import types
from collections import namedtuple
from pathlib import Path

import numba
import numpy as np
import pytest

from pliant.base.codecache import cache_folder, fingerprint, njit, private_folder, read_text, write_text
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


def test_the_fingerprint_sees_the_names_of_a_named_tuple():
    codes = [scaled_by(2.0, namedtuple("Places", names)(0, 1)) for names in ("first second", "second first")]
    assert fingerprint(codes[:1]) != fingerprint(codes[1:])


def test_the_fingerprint_does_not_depend_on_addresses():
    script = (
        "from pliant.base.codecache import fingerprint\n"
        "def f(x):\n    return sum([y * x for y in (1.0, 2.0)]) + (lambda z: 2.0 * z)(x)\n"
        "print(fingerprint([f]))"
    )
    runs = {subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout}
    runs |= {subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout}
    assert len(runs) == 1


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


SPRINGS = """
K = {k}
TABLE = (({k}, 2.0), [1.0])
class Steel:
    stiffness = {k}
def scaled(k):
    def force(x):
        return k * x
    return force
soft, hard = scaled(1.0), scaled({k})
def by_default(x, k={k}):
    return k * x
def by_keyword(x, *, k={k}):
    return k * x
"""
ENERGIES = {
    "an imported module": "springs.K * q",
    "a module inside a module": "package.springs.K * q",
    "a nested collection": "springs.TABLE[0][0] * q",
    "a class": "springs.Steel.stiffness * q",
    "a closure": "springs.hard(q)",
    "a default argument": "springs.by_default(q)",
    "a keyword default": "springs.by_keyword(q)",
    "a function in a collection": "functions['hard'](q)",
    "an object": "material.stiffness * q",
    "a partial function": "part(q)",
}


def energy_with(text, k):
    """Return an energy whose modules say the stiffness k."""
    import functools

    springs = types.ModuleType("springs")
    exec(SPRINGS.format(k=k), springs.__dict__)
    package = types.ModuleType("package")
    package.springs = springs
    material = types.SimpleNamespace(stiffness=k)
    names = {
        "springs": springs,
        "package": package,
        "material": material,
        "functions": {"hard": springs.hard},
        "part": functools.partial(springs.by_default, k=k),
    }
    exec(f"def energy(q):\n    return {text}\n", names)
    return names["energy"]


@pytest.mark.parametrize("place", ENERGIES)
def test_a_constant_that_changes_wherever_it_stands_changes_the_fingerprint(place):
    text = ENERGIES[place]
    assert fingerprint([energy_with(text, 2.0)]) == fingerprint([energy_with(text, 2.0)])
    assert fingerprint([energy_with(text, 2.0)]) != fingerprint([energy_with(text, 3.0)])


def test_the_fingerprint_tells_functions_of_math_and_numpy_apart():
    def with_function(f):
        return lambda x: f(x)

    found = {fingerprint([with_function(f)]) for f in (math.sin, math.cos, np.sin, np.cos, np.tanh)}
    assert len(found) == 5


def test_what_cannot_be_compared_is_not_taken_from_another_process():
    script = (
        "from pliant.base.codecache import fingerprint\n"
        "class Hidden:\n    __slots__ = ()\n"
        "hidden = Hidden()\n"
        "def f(x):\n    return hidden * x\n"
        "assert fingerprint([f]) == fingerprint([f])\n"
        "print(fingerprint([f]))"
    )
    runs = {
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout for _ in "ab"
    }
    assert len(runs) == 2


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


def test_code_that_cannot_be_kept_is_compiled_all_the_same(monkeypatch, caplog):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pliant.base.codecache._write", full)
    assert njit()(factor(7.0))(1.0) == 7.0
    assert "No space left on device" in caplog.text


def test_the_class_of_a_named_tuple_is_its_fields_in_every_process():
    source = (
        "from typing import NamedTuple\n"
        "from pliant.base.codecache import fingerprints\n"
        "Pair = NamedTuple('Pair', [(name, float) for name in {!r}])\n"
        "def kernel(a, b):\n"
        "    return Pair(a, b)[0]\n"
        "print(fingerprints([kernel])[1])\n"
    )
    texts = [
        subprocess.run([sys.executable, "-c", source.format(names)], capture_output=True, text=True, check=True).stdout
        for names in ("ab", "ab", "ba")
    ]
    assert texts[0].strip()
    assert texts[0] == texts[1] != texts[2]


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
