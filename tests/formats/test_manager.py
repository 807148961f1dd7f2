"""The plugin manager's YAML file."""

import pytest

import pliant
from pliant.base.documents.yaml_tree import read_yaml
from pliant.base.errors import ModelError
from pliant.formats.manager import read_manager
from pliant.laws import Mode

pytestmark = pytest.mark.quick

GOOD = """namespace: "two"
T_sample: 0.01
joints_number: 2
joints_name:
 - a
 - b
ref1_topic_name:
 - '/reference_1'
 - '/equilibrium_position'
ref2_topic_name:
 - '/reference_2'
 - '/stiffness_preset'
"""


@pytest.fixture
def write(tmp_path):
    def function(text):
        path = tmp_path / "manager.yaml"
        path.write_text(text)
        return path

    return function


def test_the_sample_file_of_the_toolbox_goes_with_its_joint(joint_file, manager_file):
    robot = pliant.load(joint_file("qbmove"), manager=manager_file)
    manager = robot.interface.manager
    assert manager.namespace == robot.interface.namespace in ("bench", "template_robot")
    assert manager.sample_time == robot.interface.sample_time == 0.01
    assert manager.joints == ("joint",)
    assert (manager.ref_1, manager.ref_2) == (("reference_1",), ("reference_2",))


@pytest.mark.shared
def test_the_torque_names_of_the_second_sample_file_are_taken_with_a_note(data):
    manager, notes = read_manager(read_yaml(data / "advanced_config.yaml"), ["joint1"], {"joint1": Mode.MOTOR_TORQUES})
    assert (manager.ref_1, manager.ref_2) == (("torque_m1_command",), ("torque_m2_command",))
    assert len(notes) == 2
    assert "'/tau_m1_command' is taken as '/torque_m1_command'" in notes[0]
    assert "advanced_config.yaml:16" in notes[0]


def test_two_joints_keep_their_order(write):
    manager, notes = read_manager(read_yaml(write(GOOD)), ["b", "a"])
    assert manager.joints == ("a", "b")
    assert manager.ref_1 == ("reference_1", "equilibrium_position")
    assert notes == []


def test_a_topic_that_the_mode_does_not_listen_to_is_noted(write):
    modes = {"a": Mode.PID_REFS, "b": Mode.PID_REFS}
    _, notes = read_manager(read_yaml(write(GOOD)), ["a", "b"], modes)
    assert len(notes) == 2
    assert "joint 'b' is in mode 5, which listens to '/reference_1'" in notes[0]


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("T_sample: 0.01\n", "", 1, "T_sample are missing"),
        ("T_sample: 0.01", "T_sample: fast", 2, "must be a number"),
        ("T_sample: 0.01", "T_sample: 0", 2, "above 0 s"),
        ("joints_number: 2", "joints_number: 3", 4, "3; they must agree"),
        ("joints_number: 2", "joints_number: 2.5", 3, "whole number"),
        ("joints_number: 2", "joint_number: 2", 3, "did you mean 'joints_number'"),
        (" - b\n", " - c\n", 6, "the robot does not have"),
        (" - b\n", " - a\n", 6, "again"),
        (" - '/equilibrium_position'", "", 7, "they must agree"),
        ("'/equilibrium_position'", "'/equilibrum_position'", 9, "did you mean '/equilibrium_position'"),
        ("'/stiffness_preset'", "'/equilibrium_position'", 12, "must be one of /"),
        ('"two"', '""', 1, "namespace"),
        ('"two"', "3", 1, "namespace"),
    ],
)
def test_a_wrong_manager_is_refused_with_its_line(old, new, line, message, write):
    with pytest.raises(ModelError, match=message) as caught:
        read_manager(read_yaml(write(GOOD.replace(old, new, 1))), ["a", "b"])
    assert caught.value.line == line


def test_a_manager_file_given_as_a_robot_says_what_to_do(write):
    with pytest.raises(ModelError, match="name this file with manager="):
        pliant.load(write(GOOD))


def test_a_yaml_description_may_name_or_hold_the_manager(urdf, write, tmp_path, plugin):
    urdf(plugin())
    one = GOOD.replace("joints_number: 2", "joints_number: 1").replace(" - a\n - b\n", " - joint\n")
    one = one.replace(" - '/equilibrium_position'\n", "").replace(" - '/stiffness_preset'\n", "")
    write(one)
    named = tmp_path / "named.yaml"
    named.write_text("model: bench.urdf\nmanager: manager.yaml\n")
    held = tmp_path / "held.yaml"
    held.write_text("model: bench.urdf\nmanager:\n" + "".join(f"  {line}\n" for line in one.splitlines()))
    first, second = (pliant.load(p).interface.manager for p in (named, held))
    assert first.joints == second.joints == ("joint",)
    assert first.namespace == "two"


@pytest.mark.parametrize("name", ["lab", "/lab/"])
def test_the_namespace_of_a_yaml_description_stands_before_that_of_its_manager(name, urdf, write, tmp_path, plugin):
    urdf(plugin())
    one = GOOD.replace("joints_number: 2", "joints_number: 1").replace(" - a\n - b\n", " - joint\n")
    write(one.replace(" - '/equilibrium_position'\n", "").replace(" - '/stiffness_preset'\n", ""))
    path = tmp_path / "robot.yaml"
    path.write_text(f"model: bench.urdf\nnamespace: {name}\nmanager: manager.yaml\n")
    interface = pliant.load(path).interface
    assert (interface.namespace, interface.sample_time) == ("lab", 0.01)
