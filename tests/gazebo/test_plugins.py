"""The toolbox's plugin tags, with the defaults of its code and an error for each slip."""

import math
import re

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import pliant
from pliant.base.documents.xml_tree import parse_xml
from pliant.base.errors import ModelError
from pliant.gazebo.plugin_kinds import PLUGINS
from pliant.gazebo.plugins import read_plugin
from pliant.laws import (
    BAVS,
    PID,
    SEA,
    AwAS2,
    Backlash,
    Cogging,
    Creep,
    DCMotor,
    Electrical,
    Gear,
    Hysteresis,
    LeverDrive,
    Mode,
    PreslidingFriction,
    QbMove,
    Strength,
    Tendon,
    Thermal,
)
from pliant.muscles.drive import VALVE_GAINS

pytestmark = pytest.mark.quick

TEMPLATES = {"sea": SEA(), "qbmove": QbMove(), "awas_ii": AwAS2()}


@pytest.mark.parametrize("kind", TEMPLATES)
def test_the_joints_of_the_toolbox_load_unchanged(kind, joint_file):
    path = joint_file(kind)
    robot = pliant.load(path)
    actuator = robot.actuators["joint"]
    assert actuator.law == TEMPLATES[kind]
    assert actuator.mode is Mode.PID_REFS
    # What the template writes, not what the code takes where nothing is written.
    assert actuator.motor_1 == DCMotor(damping=0.0019, friction=PreslidingFriction(torque=0.5))
    assert actuator.pid_1 == PID(kp=125.0, ki=0.0, kd=4.5)
    model = robot.compile()
    assert model.opt.timestep == 0.001
    assert model.opt.gravity.tolist() == [0.0, 0.0, -9.81]
    assert model.dof_damping.tolist() == [0.02]
    assert model.jnt_actfrcrange.tolist() == [[-300.0, 300.0]]
    assert robot.interface.namespace == "toBEassigned"
    assert robot.interface.joints["joint"].velocity_limit == 100.0
    assert robot.interface.joints["joint"].subscribe_external_torque is True
    lines = path.read_text().splitlines()
    assert "<plugin " in lines[robot.interface.joints["joint"].line - 1]


@pytest.mark.shared
def test_the_general_template_takes_the_defaults_of_the_code(data):
    robot = pliant.load(data / "template.urdf")
    actuator = robot.actuators["joint"]
    assert actuator.mode is Mode.MOTOR_TORQUES
    assert actuator.motor_1 == actuator.motor_2 == DCMotor(damping=0.2698, friction=PreslidingFriction(torque=0.02))
    assert robot.interface.joints["joint"].subscribe_external_torque is False
    assert robot.compile().nu == 2
    assert any("'link1'> names nothing" in note for note in robot.notes)


@pytest.mark.shared
def test_the_toolboxs_bavs_template_is_read_with_a_note_about_its_arithmetic(data):
    path = data / "bavs_template.urdf"
    robot = pliant.load(path)
    law = robot.actuators["joint"].law
    assert type(law) is BAVS
    assert law.parameters() == pytest.approx(BAVS().parameters(), rel=1e-15)
    notes = [note for note in robot.notes if "read as" in note]
    assert notes == [
        f"{path}:49: <spring_a> is '1.21*pow(10,-6)', read as 1.21e-06",
        f"{path}:50: <spring_b> is '2.38*pow(10,-6)', read as 2.38e-06",
        f"{path}:51: <spring_k> is '1.60*pow(10,5)', read as 160000",
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2*3", 6.0),
        ("(1 + 2) / 4 - .5", 0.25),
        ("-pow(2, 0.5)*1e-3", -1e-3 * 2**0.5),
        ("pow(pow(2,3),2)", 64.0),
    ],
)
def test_arithmetic_of_numbers_is_read(text, value, urdf, plugin):
    robot = pliant.load(urdf(plugin("sea", ctrl_P=125, mot_minPos=-100, mot_maxPos=f"100+{text}")))
    assert robot.actuators["joint"].motor_1.max_position == pytest.approx(100.0 + value, rel=1e-15)


@pytest.mark.parametrize(
    "text",
    [
        "1/0", "pow(10,400)", "pow(-1,0.5)", "pow(1)", "pow(1,2,3)", "pow(*[1,2])", "pow", "2**9", "1,2", "w", "1_0*2",
        "(" * 101 + "1" + ")" * 101 + "*2", "1+" * 99 + "1" + "0" * 9, "1e999*2", "ops(1,2)",
    ],
)  # fmt: skip
def test_what_is_no_finite_arithmetic_is_refused_at_its_line(text, urdf, plugin):
    with pytest.raises(ModelError, match="not a number") as caught:
        pliant.load(urdf(plugin("sea", spring_k=text)))
    assert caught.value.field == "spring_k"
    assert caught.value.line


@pytest.mark.parametrize("kind", PLUGINS)
@pytest.mark.parametrize("mode", range(7))
def test_every_plugin_loads_and_compiles_in_every_mode(kind, mode, urdf, plugin):
    robot = pliant.load(urdf(plugin(kind, operation_mode=mode)))
    actuator = robot.actuators["joint"]
    assert type(actuator.law) is PLUGINS[kind].law
    assert actuator.mode == mode
    usual = VALVE_GAINS if kind == "pam" else PID()
    assert actuator.pid_1 == (PID(kp=0.8, kd=0.2) if mode == 1 else usual)
    assert robot.compile().nu == actuator.commands


def test_tags_reach_the_parameters_that_they_name(urdf, plugin):
    tags = {
        "spring_a1": 7,
        "spring_k1": "0.01",
        "max_def": 0.5,
        "mot_1_J": "2e-2",
        "mot_2_D": ".1",
        "mot_2_tauMax": "inf",
        "mot_1_maxVel": 5,
        "mot_1_minPos": "-Inf",
        "mot_2_maxPos": "+1.5",
        "mot_2_tauFric": 0.3,
        "ctrl_1_P": 99,
        "ctrl_2_I": 3,
        "ctrl_2_D": 1,
    }
    actuator = pliant.load(urdf(plugin("qbmove", **tags))).actuators["joint"]
    assert actuator.law == QbMove(a1=7.0, k1=0.01, max_deflection=0.5)
    assert actuator.motor_1 == DCMotor(inertia=0.02, max_velocity=5.0)
    assert actuator.motor_2 == DCMotor(
        damping=0.1, max_torque=math.inf, max_position=1.5, friction=PreslidingFriction(torque=0.3)
    )
    assert actuator.pid_1 == PID(kp=99.0)
    assert actuator.pid_2 == PID(ki=3.0, kd=1.0)


def test_a_lever_gets_a_lever_drive_and_the_rotary_tags_go_to_motor_1(urdf, plugin):
    robot = pliant.load(urdf(plugin("awas_ii", mot_J=0.5, ctrl_P=7, spring_L=0.04, spring_l_0=1)))
    actuator = robot.actuators["joint"]
    assert actuator.motor_1.inertia == 0.5
    assert actuator.pid_1.kp == 7.0
    assert actuator.motor_2 == LeverDrive(max_position=0.9 * 0.04)
    assert any("spring_l_0" in note for note in robot.notes)


@pytest.mark.parametrize(
    ("text", "truth"), [("true", True), ("True", True), ("1", True), ("false", False), ("0", False)]
)
def test_truth_values_take_words_and_digits(text, truth, urdf, plugin):
    interface = pliant.load(urdf(plugin(pub_eltau=text))).interface.joints["joint"]
    assert interface.publish_elastic_torque is truth


def test_tags_give_an_actuator_its_blocks(urdf, plugin):
    tags = {
        "mot_1_friction_stribeck_velocity": 0.1,
        "mot_1_cogging_torque": 0.04,
        "mot_1_electrical_max_current": 3,
        "mot_1_thermal_capacity": 15,
        "mot_2_gear_stiffness": 9000,
        "mot_2_backlash_width": 0.002,
        "mot_2_tendon_pretension": 1.5,
        "link_backlash_width": 0.01,
        "link_friction_torque": 0.03,
        "hysteresis_torque": 0.2,
        "creep_time": 2,
        "strength_break_torque": 7,
        "reference_slew_1": 3,
        "link_damping": 0.05,
    }
    actuator = pliant.load(urdf(plugin("qbmove", **tags))).actuators["joint"]
    assert actuator.motor_1 == DCMotor(
        friction=PreslidingFriction(stribeck_velocity=0.1), cogging=Cogging(torque=0.04),
        electrical=Electrical(max_current=3.0), thermal=Thermal(capacity=15.0),
    )  # fmt: skip
    assert actuator.motor_2 == DCMotor(
        gear=Gear(stiffness=9000.0), backlash=Backlash(width=0.002), tendon=Tendon(pretension=1.5)
    )
    assert actuator.link_backlash == Backlash(width=0.01)
    assert actuator.link_friction == PreslidingFriction(torque=0.03)
    assert (actuator.hysteresis, actuator.creep) == (Hysteresis(torque=0.2), Creep(time=2.0))
    assert actuator.strength == Strength(break_torque=7.0)
    assert (actuator.reference_slew_1, actuator.link_damping) == (3.0, 0.05)


@pytest.mark.parametrize(
    ("kind", "tags", "field", "message"),
    [
        ("sea", {"mot_thermal_capacity": 10}, "mot_thermal_capacity", "set electrical"),
        ("sea", {"mot_tendon_slack": 0.1, "mot_tendon_pretension": 1}, "mot_tendon_slack", "contradicts slack"),
        ("sea", {"strength_yield_torque": 2, "strength_break_torque": 1}, "strength_yield_torque", "must be below"),
        ("qbmove", {"mot_1_gear_inertia": 0}, "mot_1_gear_inertia", "> 0"),
        ("qbmove", {"mot_1_gaer_inertia": 1}, "mot_1_gaer_inertia", "did you mean 'mot_1_gear_inertia'"),
        ("sea", {"creep_time": "soon"}, "creep_time", "must be a number such as"),
        ("sea", {"link_backlash_width": 9}, "joint.link_backlash.width", "the range of the joint"),
        ("sea", {"mot_backlash_width": 9}, "joint.motor_1.backlash.width", "the range of the joint"),
        ("sea", {"mot_tendon_slack": 9}, "joint.motor_1.tendon.slack", "would move without its motor"),
        ("sea", {"joint": None}, "joint", "required tag <joint> is missing"),
        ("sea", {"operation_mode": None}, "operation_mode", "6 PIDEqPres"),
        ("sea", {"pub_state": None, "pub_stat": "true"}, "pub_stat", "did you mean 'pub_state'"),
        ("sea", {"operation_mode": 7}, "operation_mode", "'7'; must be one of 0 LinkTorque"),
        ("sea", {"operation_mode": "5.0"}, "operation_mode", "must be one of 0 LinkTorque"),
        ("sea", {"pub_eltau": "maybe"}, "pub_eltau", "must be true or false"),
        ("sea", {"joint": "jiont"}, "joint", "did you mean 'joint'"),
        ("sea", {"spring_k": "ten"}, "spring_k", "must be a number such as"),
        ("sea", {"spring_k": "0,5"}, "spring_k", "must be 0.5"),
        ("sea", {"spring_k": "10 N"}, "spring_k", "the number alone: 10"),
        ("sea", {"spring_k": "nan"}, "spring_k", "not a number"),
        ("sea", {"spring_k": ""}, "spring_k", "not a number"),
        ("sea", {"spring_k": "3*10^2"}, "spring_k", "must be 300.0"),
        ("sea", {"spring_k": "__import__('os')"}, "spring_k", "not a number"),
        ("sea", {"spring_k": -1}, "spring_k", ">= 0"),
        ("sea", {"max_def": 0}, "max_def", "> 0"),
        ("sea", {"mot_J": 0}, "mot_J", "> 0"),
        ("sea", {"mot_tauFric": -1}, "mot_tauFric", ">= 0"),
        ("sea", {"mot_minPos": 1, "mot_maxPos": 0}, "mot_minPos", "not below"),
        ("sea", {"ctrl_P": "-5"}, "ctrl_P", ">= 0"),
        ("sea", {"mot_1_J": 1}, "mot_1_J", "did you mean 'mot_J'"),
        ("qbmove", {"spring_k": 1}, "spring_k", "did you mean 'spring_k"),
        ("awas_ii", {"max_def": 0.9}, "max_def", "pi/4"),
        ("bavs", {"spring_a": "1.21*10^(-6)"}, "spring_a", "must be 1.21e-06"),
    ],
)
def test_a_wrong_tag_is_refused_with_its_line(kind, tags, field, message, urdf, plugin):
    path = urdf(plugin(kind, **tags))
    with pytest.raises(ModelError) as caught:
        pliant.load(path)
    error = caught.value
    assert error.field == field
    assert message in str(error)
    line = path.read_text().splitlines()[error.line - 1]
    assert f"<{field}>" in line or "<plugin" in line


def test_a_tag_given_twice_is_refused(urdf, plugin):
    text = plugin().replace("<joint>", "<mot_J>1</mot_J><mot_J>2</mot_J><joint>", 1)
    with pytest.raises(ModelError, match="<mot_J> is given twice"):
        pliant.load(urdf(text))


def test_a_second_plugin_on_a_joint_is_refused(urdf, plugin):
    with pytest.raises(ModelError, match=r"'second'.*has a compliant actuator already, from the plugin 'first'"):
        pliant.load(urdf(plugin(name="first") + plugin("qbmove", name="second")))


def test_a_fixed_joint_is_refused(urdf, plugin):
    extra = '<link name="tip"/><joint name="weld" type="fixed"><parent link="link"/><child link="tip"/></joint>'
    with pytest.raises(ModelError, match="'weld' is fixed"):
        pliant.load(urdf(extra + plugin(joint="weld")))


def test_plugins_that_are_not_understood_are_listed_with_their_line(urdf):
    path = urdf('<gazebo><plugin name="ros_control" filename="libgazebo_ros_control.so"><ns>/x</ns></plugin></gazebo>')
    robot = pliant.load(path)
    assert robot.actuators == {}
    (note,) = robot.notes
    assert "'ros_control' (libgazebo_ros_control.so) is not understood" in note
    assert note.startswith(f"{path}:")


@pytest.mark.parametrize("filename", ["libsea_plugin.so", "sea_plugin", "/opt/ros/lib/libsea_plugin.so"])
def test_the_library_name_is_known_with_and_without_its_folder(filename, urdf, plugin):
    text = plugin().replace("libsea_plugin.so", filename)
    assert pliant.load(urdf(text)).actuators["joint"].law == SEA()


numbers = st.floats(1e-6, 1e6).map(lambda x: float(f"{x:.6g}"))
stray = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="<>&", exclude_categories=("Cc", "Cs")))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(k=numbers, inertia=numbers, low=st.floats(-100, 0), kp=numbers, noise=stray)
def test_any_number_survives_the_tags_whatever_stands_between_them(k, inertia, low, kp, noise):
    xml = f"""<robot><plugin filename="libsea_plugin.so" name="p">{noise}<joint>j</joint>{noise}
    <operation_mode> 6 </operation_mode><!-- {noise.replace("-", "")} --><pub_eltau>0</pub_eltau>
    <pub_state>1</pub_state><sub_ext_tau>true</sub_ext_tau><spring_k>{k!r}</spring_k>{noise}
    <mot_J>
      {inertia:.17e}
    </mot_J><mot_minPos>{low!r}</mot_minPos><ctrl_P>{kp!r}</ctrl_P></plugin></robot>"""
    actuator, described = read_plugin(parse_xml(xml.encode())[0], {"j": "revolute"}, None, [])
    assert described.joint == "j"
    assert actuator.law.k == k
    assert actuator.motor_1.inertia == inertia
    assert actuator.motor_1.min_position == low
    assert actuator.pid_1.kp == kp


@settings(max_examples=40, deadline=None)
@given(text=stray.filter(lambda text: not text.strip().replace(".", "").isdigit()))
def test_any_text_that_is_no_number_is_a_clear_error(text):
    assume(text.strip().lower().lstrip("+-") not in ("inf", "infinity"))
    assume(re.search(r"[^0-9eE+.\s-]", text) or not text.strip())
    xml = f"""<robot><plugin filename="libsea_plugin.so" name="p"><joint>j</joint>
    <operation_mode>6</operation_mode><pub_eltau>0</pub_eltau><pub_state>1</pub_state>
    <sub_ext_tau>true</sub_ext_tau><spring_k>{text}</spring_k></plugin></robot>"""
    with pytest.raises(ModelError, match="not a number; must be") as caught:
        read_plugin(parse_xml(xml.encode())[0], {"j": "revolute"}, None, [])
    assert (caught.value.field, caught.value.line) == ("spring_k", 3)
