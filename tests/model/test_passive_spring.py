"""A compliant joint has the spring of its actuator only: MuJoCo's passive spring is refused, or reported."""

import dataclasses
from pathlib import Path

import pytest
from daily import robots_by_day

from pliant import load
from pliant.base.errors import MissingDependency, ModelError
from pliant.batch.worlds import CpuBatch
from pliant.laws import SEA, CompliantActuator, Mode, QbMove, registered_laws
from pliant.robots import list_robots
from pliant.robots.loading import load_with_settings

HERE = Path(__file__).parent.parent
NAMES = [robot.name for robot in list_robots() if not robot.package]

MJCF = """<mujoco><worldbody><body name="link"><joint name="joint" axis="0 0 1" {spring}/>
<inertial pos="0 0 0" mass="0.2" diaginertia="0.01 0.01 0.01"/><body pos="0 0 0.1"><joint name="passive" {spring}/>
<inertial pos="0 0 0" mass="0.2" diaginertia="0.01 0.01 0.01"/></body></body></worldbody></mujoco>"""


def bench(tmp_path, spring=""):
    file = tmp_path / "arm.xml"
    file.write_text(MJCF.format(spring=spring))
    return file


def springs(robot):
    return {j.name: (list(j.stiffness), j.springref) for j in robot.spec.joints}


@pytest.mark.parametrize("name", robots_by_day(NAMES))
def test_no_compliant_joint_of_the_catalogue_takes_a_passive_spring(name):
    try:
        robot = load(name)
    except MissingDependency as missing:
        pytest.skip(str(missing))
    if not robot.actuators:
        pytest.skip("no compliant joint")
    before = springs(robot)
    for joint, actuator in robot.actuators.items():
        for field in ("stiffness", "springref"):
            with pytest.raises(ModelError, match=rf"{joint}\.{field}: '{joint}' is compliant") as caught:
                robot.set(f"{joint}.{field}", "5")
            assert caught.value.field == f"{joint}.{field}"
            parameter = dataclasses.fields(actuator.law)[-1].name
            assert (f"{joint}.{parameter}" in caught.value.message) == (field == "stiffness")
    assert springs(robot) == before
    assert not any("passive spring" in p.message for p in robot.check())


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("law", sorted(registered_laws()))
def test_the_message_names_the_parameters_of_every_law(tmp_path, law, mode):
    cls = registered_laws()[law]
    robot = load(bench(tmp_path))
    robot.add_actuator("joint", CompliantActuator(cls(), mode=mode))
    with pytest.raises(ModelError) as caught:
        robot.set("joint.stiffness", 5)
    for field in dataclasses.fields(cls):
        assert f"joint.{field.name}" in caught.value.message
    assert ("joint.initial_preset" in caught.value.message) == (cls.motors == 2)
    preset = mode in (Mode.SPRING_EQ_PRESET, Mode.PID_EQ_PRESET)
    assert ("joint/stiffness_preset" in caught.value.message) == (cls.motors == 2 and preset)


def test_every_way_to_set_a_parameter_refuses_it(tmp_path):
    robot = load("qbmove-2dof")
    for path in ("joint_1.stiffness", "actuator.stiffness", "actuator.springref", "joint_?.stiffness"):
        with pytest.raises(ModelError, match=r"joint_1\.k1|command joint_1/equilibrium_position"):
            robot.set(path, 5)
    with pytest.raises(ModelError, match="is compliant"):
        load_with_settings("qbmove-2dof", {"joint_1.stiffness": "5"})
    batch = CpuBatch(robot, 2)
    for path in ("joint_1.stiffness", "joint_1.springref", "actuator.stiffness"):
        with pytest.raises(ModelError, match="is compliant"):
            batch.set_parameters({path: 5.0})
    bench(tmp_path)
    for block in ("set: {joint.stiffness: 5}", ""):
        actuator = "law: qbmove" if block else "law: qbmove, stiffness: 5"
        file = tmp_path / "arm.yaml"
        file.write_text(f"model: arm.xml\nactuators: {{joint: {{{actuator}}}}}\n{block}\n")
        with pytest.raises(ModelError, match="is compliant") as caught:
            load(file)
        assert (Path(str(caught.value.file)).name, caught.value.line) == ("arm.yaml", 3 if block else 2)


def test_a_joint_that_is_not_compliant_keeps_its_passive_spring(tmp_path):
    robot = load(bench(tmp_path))
    robot.set("joint.stiffness", 3)
    robot.add_actuator("joint", CompliantActuator(SEA()))
    robot.update({"*.stiffness": 5, "*.springref": 0.2})
    assert robot.compile().jnt_stiffness.tolist() == [3.0, 5.0]
    assert robot.compile().qpos_spring == pytest.approx([0.0, 0.2])


@pytest.mark.parametrize("spring", ['stiffness="4"', 'stiffness="0 2"'])
def test_check_warns_where_an_mjcf_file_gives_a_compliant_joint_a_passive_spring(tmp_path, spring):
    robot = load(bench(tmp_path, spring))
    assert not any("passive spring" in p.message for p in robot.check())
    robot.add_actuator("joint", CompliantActuator(QbMove()))
    found = [(p.severity, p.subject) for p in robot.check() if "passive spring" in p.message]
    assert found == [("warning", "joint")]


@pytest.mark.parametrize("file", sorted(p.name for p in (HERE / "data").glob("*_joint.urdf")))
def test_check_warns_where_a_urdf_file_gives_a_compliant_joint_a_passive_spring(tmp_path, file):
    text = (HERE / "data" / file).read_text()
    (joint,) = load(HERE / "data" / file).actuators
    tag = f'<gazebo reference="{joint}"><springStiffness>7</springStiffness></gazebo>'
    changed = tmp_path / file
    changed.write_text(text.replace("</robot>", f"{tag}</robot>"))
    found = [p for p in load(changed).check() if "passive spring" in p.message]
    assert [(p.severity, p.subject) for p in found] == [("warning", joint)]
    assert "7 N m/rad" in found[0].message
