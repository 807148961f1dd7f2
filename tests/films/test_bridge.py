"""The bridge that films a run."""

import pytest
from fake_engine import SpringMassEngine

from pliant.base.errors import DeviceError
from pliant.films import FilmBridge
from pliant.films.options import Film


def test_an_engine_without_the_model_of_mujoco_is_refused(tmp_path):
    file = tmp_path / "a.gif"
    with pytest.raises(
        DeviceError, match="the film needs MuJoCo's model and data, which SpringMassEngine does not have"
    ):
        FilmBridge(SpringMassEngine(), file)
    with pytest.raises(DeviceError, match="the film needs MuJoCo's model"):
        Film(video=file).follow(SpringMassEngine(), contacts=False, wait=True)
    assert not file.exists()
