"""A tendon-driven robot in a file is the robot of the same numbers in Python: its statics, model, check and run."""

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

import pliant
from pliant.base.errors import ModelError
from pliant.cli import main
from pliant.tendons import TendonRobot, load_tendons
from pliant.tendons.robots import generic

PAGE = Path(__file__).parents[2] / "docs" / "tendons" / "tendons.md"
GENERIC = """
name: tdcr
gravity: [0, 0, {gravity}]
tip_offset: [0, 0, 8 mm]
segment:
  rod: {{length: 100 mm, radius: 0.5 mm, E: 50 GPa, poisson: 0.3, density: 7800}}
  disks: 5
  disk_radius: 5.5 mm
  disk_mass: 1 g
segments: [{{}}, {{}}]
tendon: {{radius: 4.5 mm, drive_stiffness: 3200, pretension: 3, friction: 0.1, guide_angle: 1, presliding: 0.2 mm,
         breaking_load: 200}}
tendons:
  - {{segment: 0, angle: 0 deg}}
  - {{segment: 0, angle: 120 deg}}
  - {{segment: 0, angle: 240 deg}}
  - {{segment: 1, angle: 30 deg}}
  - {{segment: 1, angle: 150 deg}}
  - {{segment: 1, angle: 270 deg}}
"""


def written(folder, text):
    path = folder / "robot.yaml"
    path.write_text(text)
    return path


def exit_code(words):
    with pytest.raises(SystemExit) as end:
        main(words)
    return end.value.code


def test_a_file_of_the_same_numbers_is_the_robot_of_the_catalogue(tmp_path):
    path = written(tmp_path, GENERIC.format(gravity=-9.81))
    read, known = load_tendons(path), generic()
    pull = [0.002, -0.001, -0.001, 0.0, 0.0, 0.0]
    assert TendonRobot(read).solve(pull=pull).tip == pytest.approx(TendonRobot(known).solve(pull=pull).tip, abs=1e-9)
    one, two = pliant.load(path).compile(), pliant.load("tdcr").compile()
    assert (one.nv, one.nu, one.ntendon) == (two.nv, two.nu, two.ntendon)
    assert one.body_mass == pytest.approx(two.body_mass)
    assert one.jnt_stiffness == pytest.approx(two.jnt_stiffness)
    slow = pliant.load(path, options={"pairs": 2}).compile()
    assert slow.nv > one.nv


def test_gravity_up_is_a_robot_that_hangs_and_aside_is_refused_by_the_simulation(tmp_path):
    hanging = pliant.load(written(tmp_path, GENERIC.format(gravity=9.81))).compile()
    assert hanging.body("tendon_base").quat == pytest.approx(pliant.load("tdcr-v4").compile().body("tendon_base").quat)
    path = written(tmp_path, GENERIC.format(gravity=3.0))
    assert load_tendons(path).gravity == (0.0, 0.0, 3.0)
    with pytest.raises(ModelError, match=r"robot.yaml:3: gravity: .* must be \[0, 0, -9.81\], or \[0, 0, 9.81\]"):
        pliant.load(path)


def test_the_file_of_the_documentation_is_checked_and_runs(tmp_path, capsys):
    (block,) = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    path = str(written(tmp_path, block))
    assert exit_code(["check", path]) == 0
    assert "0 errors, 0 warnings" in " ".join(capsys.readouterr().out.split())
    assert exit_code(["run", path, "--duration", "0.02"]) == 0
    assert "20 steps" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("disk_mass", "disk_mas", r"robot.yaml:9: segments\[0\].disk_mas: .* did you mean 'disk_mass'"),
        ("guide_angle", "guide", r"tendons\[0\].guide: .*'guide_angle'"),
        ("links", "link", r"'links'"),
        ("segment: 1, angle: 30", "segment: 2, angle: 30", r"valid are 0 to 1"),
        ("radius: 4.5 mm", "radius: 6 mm", r"must be at most that"),
        ("angle: 120", "angle: 0", r"tendons 0 and 1 cross"),
        ("pretension: 3", "pretension: 3 mm", r"tendons\[0\].pretension: needs a force"),
    ],
)
def test_a_fault_is_named_with_its_line_and_what_is_valid(old, new, words, tmp_path):
    text = "links: chords" + GENERIC.format(gravity=-9.81)
    with pytest.raises(ModelError, match=words) as error:
        load_tendons(written(tmp_path, text.replace(old, new, 1)))
    assert "robot.yaml" in str(error.value)


def test_an_unknown_name_lists_the_nearest():
    with pytest.raises(ModelError, match="there is no tendon-driven robot 'tdcr-v5'; did you mean 'tdcr-v6'"):
        load_tendons("tdcr-v5")


def test_holes_stand_in_place_of_radius_and_angle(tmp_path):
    text = GENERIC.format(gravity=-9.81)
    holes = [[0.0045, 0.0]] * 6
    read = load_tendons(written(tmp_path, text.replace("segment: 0, angle: 0 deg", f"segment: 0, holes: {holes}")))
    assert read.holes_of(0) == pytest.approx(np.array(holes))
    straight = dataclasses.replace(read, tendons=generic().tendons)
    assert TendonRobot(read).solve(pull=[0.0] * 6).tip == pytest.approx(
        TendonRobot(straight).solve(pull=[0.0] * 6).tip, abs=1e-9
    )
