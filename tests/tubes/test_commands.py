"""`pliant cpr tubes`, and the files that it reads."""

from __future__ import annotations

import json

import numpy as np
import pytest

from pliant.base.errors import ModelError
from pliant.cli import main
from pliant.tubes.files import load_tubes
from pliant.tubes.robots import ctr_3

TEXT = """
name: two
tubes:
  - {length: 200 mm, curved_length: 100 mm, curvature: 10, outer_radius: 0.5 mm, inner_radius: 0.3 mm, E: 50 GPa}
  - {length: 0.15, curved_length: 80 mm, curvature: 5, outer_radius: 0.8 mm, inner_radius: 0.55 mm}
translation: [-20 mm, -10 mm]
base: {xyz: [0, 0, 0.1], rpy: [0, 0, 30 deg]}
"""


def run(capsys, *words: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as end:
        main(["cpr", "tubes", *words])
    out = capsys.readouterr()
    return int(end.value.code or 0), out.out if end.value.code in (None, 0) else out.err


def test_a_file_says_what_its_robot_is(capsys, tmp_path):
    file = tmp_path / "two.yaml"
    file.write_text(TEXT)
    found = load_tubes(file)
    assert found.tubes[0].young_modulus == 50e9
    assert found.tubes[1].outer_radius == pytest.approx(0.8e-3)
    assert found.home == pytest.approx([-0.02, -0.01])
    code, out = run(capsys, str(file), "--rotation", "0,0", "--json")
    assert code == 0
    (one,) = json.loads(out)["equilibria"]
    assert one["stable"]
    assert np.arctan2(one["tip"][1][3], one["tip"][0][3]) == pytest.approx(np.radians(30.0), abs=1e-9)
    code, out = run(capsys, str(file), "--rotation", "0,1", "--all")
    assert code == 0
    assert "stable 1" in out


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("inner_radius: 0.55 mm", "inner_radius: 0.4 mm", "does not fit into tube 1"),
        ("curved_length: 80 mm, ", "", "a length is missing"),
        ("curvature: 5", "curvature: 5 mm", "needs a curvature"),
        ("-20 mm, -10 mm", "-20 mm", "needs 2 numbers"),
        ("-20 mm, -10 mm", "-250 mm, -10 mm", "negative extension of -50 mm"),
        ("tubes:", "tube:", "did you mean 'tubes'"),
    ],
)
def test_a_wrong_file_is_refused_with_its_place(tmp_path, old, new, message):
    file = tmp_path / "two.yaml"
    file.write_text(TEXT.replace(old, new))
    with pytest.raises(ModelError) as caught:
        load_tubes(file)
    assert message in str(caught.value)
    assert "two.yaml" in str(caught.value)


def test_an_unknown_robot_and_wrong_numbers_are_named(capsys):
    assert load_tubes("ctr-3").tubes == ctr_3().tubes
    code, out = run(capsys, "ctr-4")
    assert code != 0
    assert "ctr-3" in out
    code, out = run(capsys, "ctr-3", "--rotation", "0,1")
    assert code != 0
    assert "must be 3" in out
