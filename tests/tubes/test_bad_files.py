"""Whatever stands at a place of a file of tubes, it is taken or named with file and field."""

from pathlib import Path

from wrong_files import FRAME, check_keys, check_missing, check_wrong

from pliant.base.documents.yaml_tree import Document
from pliant.tubes import files

TUBE = {"length": 0.2, "curved_length": 0.1, "curvature": 10.0, "outer_radius": 5e-4, "inner_radius": 3e-4,
        "E": 6e10, "G": 2e10, "density": 6450}  # fmt: skip
TUBES = {
    "name": "t", "base": FRAME, "gravity": [0.0, 0.0, -9.81], "translation": [-0.02, -0.01],
    "tubes": [TUBE, {**TUBE, "length": 0.15, "outer_radius": 8e-4, "inner_radius": 5.5e-4}],
}  # fmt: skip


def read(data, _):
    return files.describe(Document(data, {}, Path("tubes.yaml")))


KINDS = {"tubes": (read, TUBES)}


def test_the_file_that_is_changed_holds_every_key_that_is_read(tmp_path):
    check_keys(KINDS, "tubes", tmp_path)


def test_a_key_that_is_missing_is_named_with_its_file_and_what_would_be_valid(tmp_path):
    check_missing(read, TUBES, tmp_path)


def test_a_wrong_value_at_any_place_of_a_file_is_named(tmp_path):
    check_wrong(read, TUBES, tmp_path)
