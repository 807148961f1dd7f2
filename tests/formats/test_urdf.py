"""URDF links without mass, and tags of Gazebo that ask for what is done in any case."""

import pytest

import pliant

pytestmark = pytest.mark.quick

INERTIA = '<inertia ixx="{2}" iyy="{2}" izz="{2}" ixy="0" ixz="0" iyz="0"/>'
LINK = f'<link name="{{0}}"><inertial><mass value="{{1}}"/>{INERTIA}</inertial></link>'
JOINT = '<joint name="{0}" type="{1}"><parent link="{2}"/><child link="{3}"/><axis xyz="0 1 0"/>{4}</joint>'
LIMIT = '<limit lower="-1" upper="1" effort="9" velocity="9"/>'


def load(folder, *parts):
    path = folder / "robot.urdf"
    path.write_text(f'<robot name="r">{"".join(parts)}</robot>')
    return pliant.load(path)


@pytest.mark.parametrize(("inertia", "expected"), [(2e-3, 2e-3), (0.0, 1e-10)])
def test_a_moving_link_of_mass_0_gets_the_smallest_mass_and_keeps_its_inertia(inertia, expected, tmp_path):
    robot = load(
        tmp_path,
        LINK.format("base", 1, 1), LINK.format("middle", 0, inertia), LINK.format("arm", 1, 1),
        JOINT.format("a", "revolute", "base", "middle", LIMIT), JOINT.format("b", "revolute", "middle", "arm", LIMIT),
    )  # fmt: skip
    model = robot.compile()
    assert model.body("middle").mass[0] == 1e-6
    assert model.body("middle").inertia == pytest.approx([expected] * 3)
    assert any("'middle' has mass 0; it moves by itself and is given 1e-06 kg" in note for note in robot.notes)


@pytest.mark.parametrize("kind", ["fixed", "carrier"])
def test_a_link_of_mass_0_that_is_carried_or_carries_something_fixed_needs_none(kind, tmp_path):
    joints = ("fixed", "revolute") if kind == "fixed" else ("revolute", "fixed")
    limits = [LIMIT if joint == "revolute" else "" for joint in joints]
    robot = load(
        tmp_path,
        LINK.format("base", 1, 1), LINK.format("middle", 0, 2e-3), LINK.format("arm", 1, 1),
        JOINT.format("a", joints[0], "base", "middle", limits[0]),
        JOINT.format("b", joints[1], "middle", "arm", limits[1]),
    )  # fmt: skip
    assert robot.compile().body("middle").mass[0] == 0.0
    assert any("'middle' has mass 0; its <inertial> is left out" in note for note in robot.notes)


def test_tags_that_ask_for_what_is_always_done_are_no_note(tmp_path):
    always = ("implicitSpringDamper", "preserveFixedJoint", "disableFixedJointLumping")
    tags = "".join(f"<{tag}>1</{tag}>" for tag in always)
    robot = load(
        tmp_path,
        LINK.format("base", 1, 1), LINK.format("arm", 1, 1), JOINT.format("a", "revolute", "base", "arm", LIMIT),
        f'<gazebo reference="a">{tags}<provideFeedback>1</provideFeedback></gazebo>',
    )  # fmt: skip
    notes = [note for note in robot.notes if "no effect" in note]
    assert len(notes) == 1
    assert "<provideFeedback>" in notes[0]
