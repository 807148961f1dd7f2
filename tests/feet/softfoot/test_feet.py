"""SoftFeet are put on a robot by options: in Python, in a YAML file, on the command line."""

from pathlib import Path

import pytest

import pliant
from pliant.base.errors import ModelError
from pliant.cli import main
from pliant.feet.model import ReplacedFoot
from pliant.feet.softfoot import SoftFeetOptions, put_on_softfeet

BIPED = Path(__file__).resolve().parents[2] / "data" / "biped.xml"
FAST = {"n_chains": 1, "lump": True, "coupling": "midpoint", "tendon": "fixed", "pitch": 0.0}
BOTH = {"bodies": "left_foot,right_foot", **FAST}


def code_of(*arguments):
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return ended.value.code


def feet(robot):
    return [part for part in robot.devices if isinstance(part, ReplacedFoot)]


@pytest.mark.parametrize(("name", "namespace"), [("softfoot", "softfoot"), ("softfoot-bench", "softfoot_bench")])
def test_the_topics_of_the_foot_s_rigs_bear_their_name(name, namespace):
    assert pliant.load(name).interface.namespace == namespace


def test_load_puts_softfeet_on_a_robot():
    found = feet(pliant.load(BIPED, soft_feet=BOTH))
    assert [(part.body, part.side, part.pitch) for part in found] == [
        ("left_foot", "left", 0.0),
        ("right_foot", "right", 0.0),
    ]
    assert found[0].foot.n_chains == 1


def test_every_option_of_the_place_arrives():
    how = {"sole_height": 0.09, "forward_offset": 0.01, "old_mass": 0.1, "visuals": True, "key": "stand"}
    part = feet(pliant.load(BIPED, soft_feet={**BOTH, **how}))[0]
    assert part.sole_depth == 0.09
    assert part.offset[0] == 0.01
    assert part.mass_change == pytest.approx(0.9371521 - 0.7, abs=1e-6)
    assert part.key == "stand"


def test_without_a_pitch_the_robot_stands_level():
    part = feet(pliant.load(BIPED, soft_feet={name: value for name, value in BOTH.items() if name != "pitch"}))[0]
    assert 0.005 < part.pitch < 0.05


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"bodies": ""}, "bodies is empty; name the last links of the legs"),
        ({"body": "left_foot"}, "no option 'body'; did you mean 'bodies'"),
        ({"scale": -1}, "scale is -1; must be a number > 0"),
        (
            {"side": "right", "auto_side": True},
            "side is right, and auto_side finds that of each foot; set auto_side=false",
        ),
        ({"bodies": "left_foot,left_foot"}, "'left_foot' has a SoftFoot already"),
        ({"forward_axis": "up"}, "forward_axis is 'up'"),
    ],
)
def test_wrong_options_are_refused_with_what_is_valid(changes, message):
    with pytest.raises(ModelError, match=message):
        pliant.load(BIPED, soft_feet={**BOTH, **changes})


def test_all_feet_can_be_of_one_side():
    assert [part.side for part in feet(pliant.load(BIPED, soft_feet={**BOTH, "side": "right"}))] == ["right", "right"]
    robot = pliant.load(BIPED)
    options = SoftFeetOptions(bodies=("left_foot", "right_foot"), auto_side=False, side="right", **FAST)
    assert [part.side for part in put_on_softfeet(robot, options)] == ["right", "right"]


def test_a_yaml_file_names_softfeet_and_its_errors_their_line(tmp_path):
    file = tmp_path / "robot.yaml"
    text = f"model: {BIPED}\nsoft_feet:\n  n_chains: 1\n  lump: true\n  pitch: 0.0\n  bodies: [left_foot, right_foot]\n"
    file.write_text(text)
    assert len(feet(pliant.load(file))) == 2
    file.write_text(text.replace("n_chains: 1", "n_chains: 20"))
    with pytest.raises(ModelError, match="n_chains") as error:
        pliant.load(file)
    assert (error.value.file, error.value.line) == (str(file), 3)
    file.write_text(text.replace("left_foot", "left_fot"))
    with pytest.raises(ModelError, match="did you mean 'left_foot'") as error:
        pliant.load(file)
    assert error.value.file == str(file)


def test_the_command_line_checks_and_exports_a_robot_with_softfeet(capsys, tmp_path):
    settings = [f"--set=soft_feet.{name}={value}".replace("True", "true") for name, value in BOTH.items()]
    assert code_of("check", BIPED, *settings) == 0
    assert "times m g h" in " ".join(capsys.readouterr().out.split())
    assert code_of("export", "mjcf", BIPED, tmp_path / "soft.xml", *settings) == 0
    capsys.readouterr()
    assert code_of("export", "urdf", BIPED, tmp_path / "soft.urdf", *settings) == 1
    assert "closes a loop; a URDF is a tree" in " ".join(capsys.readouterr().err.split())
