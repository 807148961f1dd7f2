"""Real meshes on the arm: a small set of boxes stands for them."""

import numpy as np
import pytest

from pliant.base.errors import MissingDependency, ModelError
from pliant.franka.robots.meshes import find_meshes
from pliant.robots import build_robot

trimesh = pytest.importorskip("trimesh")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("meshes")
    for name in (*(f"link{i}" for i in range(8)), "hand", "finger"):
        trimesh.creation.box(extents=(0.05, 0.05, 0.05)).export(path / f"{name}.stl")
    return path


def test_meshes_are_seen_and_weigh_and_touch_nothing(folder):
    plain = build_robot("franka").compile()
    dressed = build_robot("franka", {"meshes": str(folder)}).compile()
    assert dressed.nmesh == 11  # eight links, the hand, two fingers
    np.testing.assert_allclose(dressed.body_mass, plain.body_mass, rtol=1e-12)
    np.testing.assert_allclose(dressed.body_inertia, plain.body_inertia, rtol=1e-9)
    shown = dressed.geom_type == 7
    assert shown.sum() == 11
    assert not dressed.geom_contype[shown].any()
    assert not dressed.geom_conaffinity[shown].any()


def test_two_arms_share_the_files(folder):
    assert build_robot("franka-dual", {"meshes": str(folder)}).compile().nmesh == 22


def test_a_folder_without_the_links_is_refused_with_what_is_missing(tmp_path, folder):
    with pytest.raises(ModelError, match="no mesh of link0, link1"):
        find_meshes(str(tmp_path))
    with pytest.raises(ModelError, match="no folder"):
        build_robot("fr3", {"meshes": str(tmp_path / "nowhere")})
    (tmp_path / "broken").mkdir()
    for i in range(8):
        (tmp_path / "broken" / f"link{i}.obj").write_bytes(b"\x00\x01 not a mesh")
    with pytest.raises(ModelError, match=r"link0\.obj"):
        build_robot("fr3", {"meshes": str(tmp_path / "broken")})


def test_the_package_of_meshes_is_named_where_it_is_absent(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingDependency, match="pip install example-robot-data"):
        find_meshes("example-robot-data")
