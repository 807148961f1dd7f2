"""Code that comes with the package: found by its digest, used where it is whole and fits, compiled again elsewhere."""

import numpy as np
import pytest

from pliant.base import fingerprint, shipped
from pliant.base.codecache import CodeFiles, read_shipped, ship_text
from pliant.base.fingerprint import fingerprints

KEY = ("float64(float64)", ("x86_64-unknown-linux-gnu", "znver4", "+avx512f"), ("digest", ""))


def doubled(x):
    return 2.0 * x


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return the folder of code of an installed package, which is made by a build."""
    folder = tmp_path / "package"
    monkeypatch.setenv(shipped.SHIP, str(folder))
    made = shipped.receiving()
    assert made is not None

    def install():
        monkeypatch.delenv(shipped.SHIP)
        monkeypatch.setattr(shipped, "folder", lambda: made)
        return made

    return install


def test_a_text_of_a_build_is_read_from_the_package_only(package):
    ship_text("law.ll", "define void @f()", ";")
    assert read_shipped("law.ll", ";") is None  # a build does not use what it has made
    package()
    assert read_shipped("law.ll", ";") == "define void @f()"
    assert read_shipped("other.ll", ";") is None


def test_a_damaged_text_of_the_package_is_not_used(package, caplog):
    ship_text("law.ll", "define void @f()", ";")
    path = package() / "law.ll"
    path.write_bytes(path.read_bytes().replace(b"void", b"evil"))
    assert read_shipped("law.ll", ";") is None
    assert "is damaged" in caplog.text


def test_code_for_the_family_is_found_by_a_processor_of_it(package, tmp_path, monkeypatch):
    monkeypatch.setattr(shipped, "family", lambda: "x86-64-v3")
    monkeypatch.setattr(shipped, "fits", lambda: True)
    generic = (KEY[0], ("x86_64-unknown-linux-gnu", "x86-64-v3", ""), KEY[2])
    build, user = tmp_path / "build", tmp_path / "user"
    build.mkdir()
    user.mkdir()
    CodeFiles(str(build), "test.doubled-1.py311", doubled).save(generic, np.arange(3.0))
    package()
    files = CodeFiles(str(user), "test.doubled-1.py311", doubled)
    assert files.load(KEY).tolist() == [0.0, 1.0, 2.0]
    assert files.load(("int64(int64)", *KEY[1:])) is None  # another signature is not there


def test_an_older_processor_does_not_use_code_of_the_family(package, tmp_path, monkeypatch):
    monkeypatch.setattr(shipped, "family", lambda: "x86-64-v3")
    monkeypatch.setattr(shipped, "fits", lambda: False)
    generic = (KEY[0], ("x86_64-unknown-linux-gnu", "x86-64-v3", ""), KEY[2])
    (tmp_path / "build").mkdir()
    CodeFiles(str(tmp_path / "build"), "test.doubled-1.py311", doubled).save(generic, 1)
    package()
    files = CodeFiles(str(tmp_path), "test.doubled-1.py311", doubled)
    assert files.load(KEY) is None


def test_a_damaged_function_of_the_package_is_compiled_again(package, tmp_path, monkeypatch):
    monkeypatch.setattr(shipped, "family", lambda: "znver4")
    monkeypatch.setattr(shipped, "fits", lambda: True)
    (tmp_path / "build").mkdir()
    CodeFiles(str(tmp_path / "build"), "test.doubled-1.py311", doubled).save((KEY[0], (*KEY[1][:2], ""), KEY[2]), 1)
    (path,) = package().iterdir()
    path.write_bytes(path.read_bytes()[:-2])
    assert CodeFiles(str(tmp_path), "test.doubled-1.py311", doubled).load(KEY) is None


def test_another_constant_or_version_of_the_compiler_gives_another_name(monkeypatch):
    def tripled(x):
        return 3.0 * x

    before = fingerprints([doubled])[1]
    assert before != fingerprints([tripled])[1]
    assert before == fingerprints([doubled])[1]
    known = fingerprint._version
    monkeypatch.setattr(fingerprint, "_version", lambda p: "0.0" if p == "numba" else known(p))
    assert before != fingerprints([doubled])[1]


def test_code_that_cannot_be_compared_is_not_shipped():
    opaque = object()

    def unsure(x):
        return x if opaque else 0.0

    assert fingerprints([unsure])[1] == ""
