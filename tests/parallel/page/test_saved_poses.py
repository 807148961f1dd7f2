"""Named poses: those of a description and those in a person's file."""

import json

import pytest
from tripod import TRIPOD

from pliant.base.documents.yaml_tree import parse_yaml
from pliant.base.errors import ModelError, PliantError
from pliant.parallel.page.robot_files import read_robot
from pliant.parallel.page.saved_poses import MAX_POSES, SavedPoses
from pliant.rods import load_robot

POSE = {"direct": True, "q": (0.1, 0.2), "pose": (0.0, 0.8, 0.0), "wrench": (1.0, 0.0, 0.0)}


@pytest.fixture
def saved(tmp_path):
    return SavedPoses(load_robot("2RR"), tmp_path / "folder" / "saved.json")


def test_a_pose_is_saved_found_and_deleted(saved, tmp_path):
    before = set(saved.all())
    saved.save("low", **POSE)
    one = SavedPoses(load_robot("2RR"), tmp_path / "folder" / "saved.json").all()["low"]
    assert (one.direct, one.values, one.wrench, one.own) == (True, (0.1, 0.2), (1.0, 0.0, 0.0), True)
    saved.save("low", **{**POSE, "direct": False})
    assert saved.all()["low"].values == (0.0, 0.8, 0.0)
    saved.delete("low")
    assert set(saved.all()) == before
    with pytest.raises(PliantError, match="there is no saved pose 'low'"):
        saved.delete("low")


def test_poses_of_the_description_are_there_and_stay():
    more = "configurations: {up: {q: [0.01, 0.01, 0.01]}, tilted: {pose: [0, 0, 0.48, 0.1, 0, 0]}}"
    saved = SavedPoses(read_robot((TRIPOD + more).encode(), "tripod.yaml"), "/nowhere/saved.json")
    up, tilted = saved.all()["up"], saved.all()["tilted"]
    assert (up.direct, up.values, up.own) == (True, (0.01, 0.01, 0.01), False)
    assert (tilted.direct, tilted.values[3]) == (False, 0.1)
    with pytest.raises(PliantError, match="has a pose"):
        saved.save("up", **POSE)


@pytest.mark.parametrize("name", ["", "  ", "x" * 61, "a\nb"])
def test_a_name_that_cannot_be_shown_is_refused(saved, name):
    with pytest.raises(PliantError, match="1 to 60 printable characters"):
        saved.save(name, **POSE)


def test_no_more_poses_than_a_list_holds_are_kept(saved, tmp_path):
    file = tmp_path / "folder" / "saved.json"
    saved.save("first", **POSE)
    data = json.loads(file.read_text())
    data["2RR"] = {f"pose {k}": data["2RR"]["first"] for k in range(MAX_POSES)}
    file.write_text(json.dumps(data))
    with pytest.raises(PliantError, match="the most"):
        saved.save("one more", **POSE)
    saved.save("pose 3", **POSE)


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"2RR": []}', '{"2RR": {"a": 1}}', '{"2RR": {"a": {"mode": "dgm", "q": [0]}}}', "[" * 3000]
)
def test_a_broken_file_is_named(tmp_path, text):
    file = tmp_path / "saved.json"
    file.write_text(text)
    with pytest.raises(ModelError, match=r"saved\.json"):
        SavedPoses(load_robot("2RR"), file).all()


def test_the_poses_are_written_as_a_description_has_them(saved):
    saved.save('a "b": c', **POSE)
    found = parse_yaml(saved.text().encode()).value["configurations"]
    assert found['a "b": c'] == {"q": [0.1, 0.2]}
