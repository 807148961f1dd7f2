"""Whatever stands at a place of a file of tendons, it is taken or named with file and field."""

from pathlib import Path

from wrong_files import FRAME, ROD, check_keys, check_missing, check_wrong

from pliant.base.documents.yaml_tree import Document
from pliant.tendons import files

UNLOADED = {"distributed_force": [0.0] * 3, "distributed_moment": [0.0] * 3}
TENDONS = {
    "name": "f", "base": FRAME, "gravity": [0.0, 0.0, 9.81], "tip_mass": "5 g", "tip_offset": [0.0, 0.0, 0.01],
    "links": "chords",
    "segment": {"rod": {**ROD, **UNLOADED, "precurvature": [0.0, 0.1, 0.0]}, "disks": 3, "disk_radius": 6e-3,
                "disk_mass": 1e-3},
    "segments": [{"disk_mass": 2e-3}, {"rod": {"length": 0.1}}],
    "tendon": {
        "radius": 5e-3, "tip_radius": 4e-3, "turn": 0.1, "drive_stiffness": 3200.0, "axial_stiffness": 2e4,
        "pretension": "3 N", "slack": 0.0, "friction": 0.1, "presliding": 2e-4, "guide_angle": 1.0,
        "breaking_load": 100.0, "diameter": "0.3 mm",
    },
    "tendons": [
        {"segment": 1, "angle": "60 deg"},
        {"segment": 0, "holes": [[-5e-3, 0.0], [-5e-3, 1e-4], [-5e-3, 2e-4], [-5e-3, 3e-4]]},
    ],
}  # fmt: skip


def read(data, _):
    return files.describe(Document(data, {}, Path("finger.yaml")))


KINDS = {"tendons": (read, TENDONS)}


def test_the_file_that_is_changed_holds_every_key_that_is_read(tmp_path):
    check_keys(KINDS, "tendons", tmp_path)


def test_a_key_that_is_missing_is_named_with_its_file_and_what_would_be_valid(tmp_path):
    check_missing(read, TENDONS, tmp_path)


def test_a_wrong_value_at_any_place_of_a_file_is_named(tmp_path):
    check_wrong(read, TENDONS, tmp_path)
