"""Compiled functions where no folder for them can be written."""

import numba
import pytest

from pliant.devices.franka.compiling import njit


@pytest.fixture
def _nowhere(tmp_path, monkeypatch):
    """Numba finds no folder but the one that it is told."""
    monkeypatch.setattr(numba.config, "CACHE_LOCATOR_CLASSES", "UserProvidedCacheLocator")
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr("pliant.laws.compile._temporary", [tmp_path / "temporary"])
    (tmp_path / "temporary").mkdir()


def twice(x):
    return 2.0 * x


@pytest.mark.usefixtures("_nowhere")
def test_without_a_place_for_a_cache_a_function_is_compiled_all_the_same(tmp_path):
    with pytest.raises(RuntimeError, match="no locator"):
        numba.njit(cache=True)(twice)
    assert njit(error_model="numpy")(twice)(1.5) == 3.0
    assert list((tmp_path / "temporary" / "numba").rglob("*.nbi"))


def test_where_a_cache_can_be_written_nothing_changes():
    before = numba.config.CACHE_DIR
    assert njit(error_model="numpy")(twice)(2.0) == 4.0
    assert before == numba.config.CACHE_DIR
