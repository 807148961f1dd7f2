"""URDFs with ros2_control tags, as robots' makers write them: read, served, refused where they are wrong."""

import math
import string

import mujoco
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pliant.base.documents.xml_tree import parse_xml
from pliant.base.errors import ModelError
from pliant.engine import MujocoEngine
from pliant.laws import PID, Mode, QbMove
from pliant.model.sensors import ForceTorque, Imu
from pliant.robots.loading import load
from pliant.ros2_control.interface import control_of
from pliant.ros2_control.served_joints import BANDWIDTH
from pliant.ros2_control.tags import read_ros2_control, read_transmissions

LINK = """<link name="{name}"><inertial><origin xyz="{x} 0 0"/><mass value="{m}"/>
  <inertia ixx="{i}" iyy="{i}" izz="{i}" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>
  <origin xyz="{x} 0 0"/><axis xyz="{axis}"/>
  <limit lower="{low}" upper="3" effort="{effort}" velocity="2.5"/>{more}</joint>"""


def arm(control, more="", mimic='<mimic joint="grip" multiplier="-1" offset="0.01"/>'):
    """A shoulder, an elbow and a gripper of two fingers, with something of ros2_control behind."""
    links = [("base", 0, 5, 0.1), ("upper", 0.2, 3, 0.03), ("lower", 0.15, 1.5, 0.01), ("left", 0.01, 0.05, 1e-5)]
    links.append(("right", 0.01, 0.05, 1e-5))
    text = "".join(LINK.format(name=n, x=x, m=m, i=i) for n, x, m, i in links)
    joints = [
        ("shoulder", "revolute", "base", "upper", 0, "0 1 0", -3, 150, ""),
        ("elbow", "revolute", "upper", "lower", 0.4, "0 1 0", -3, 28, ""),
        ("grip", "prismatic", "lower", "left", 0.3, "0 0 1", -3, 10, ""),
        ("follow", "prismatic", "lower", "right", 0.3, "0 0 1", -3, 10, mimic),
    ]
    for n, kind, parent, child, x, axis, low, effort, extra in joints:
        values = {"name": n, "kind": kind, "parent": parent, "child": child, "x": x, "axis": axis}
        text += JOINT.format(**values, low=low, effort=effort, more=extra)
    return f'<?xml version="1.0"?>\n<robot name="arm">\n{text}\n{control}\n{more}</robot>'


def joint_tags(name, commands=("position", "velocity", "effort"), limits="", more=""):
    interfaces = "".join(f'<command_interface name="{c}">{limits}</command_interface>' for c in commands)
    states = "".join(f'<state_interface name="{s}"/>' for s in ("velocity", "effort"))
    return f'<joint name="{name}">{interfaces}{states}{more}</joint>'


def position_state(value):
    return f'<state_interface name="position"><param name="initial_value">{value}</param></state_interface>'


# As the descriptions of Universal Robots' arms and Robotiq's grippers are written: limits per command, several blocks,
# sensors, gpio, mimic joints, interfaces of the hardware's own.
MAKERS = f"""<ros2_control name="ur5e" type="system">
  <hardware><plugin>ur_robot_driver/URPositionHardwareInterface</plugin><param name="robot_ip">0.0.0.0</param>
  </hardware>
  {joint_tags("shoulder", more=position_state(-1.57) + '<param name="whatever">x</param>')}
  {joint_tags("elbow", limits='<param name="min">-2</param><param name="max">2</param>', more=position_state(0.5))}
  <sensor name="tcp_fts_sensor"><state_interface name="force.x"/><param name="frame">tool0</param></sensor>
  <gpio name="speed_scaling"><state_interface name="speed_scaling_factor"/></gpio>
  <gpio name="flexbe"><command_interface name="io_async_success"/></gpio>
</ros2_control>
<ros2_control name="robotiq" type="system">
  <hardware><plugin>robotiq_driver/RobotiqGripperHardwareInterface</plugin></hardware>
  {joint_tags("grip", ("position", "set_gripper_max_effort"), more=position_state(0.02))}
  <joint name="follow"><param name="mimic">grip</param><param name="multiplier">-1</param>
    <command_interface name="position"/><state_interface name="position"/></joint>
</ros2_control>"""


@pytest.fixture
def write(tmp_path):
    def write(text, name="arm.urdf"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


@pytest.fixture
def makers(write):
    return load(write(arm(MAKERS)))


# ------------------------------------------------------------------------------------------------ served


def test_an_arm_as_its_maker_describes_it_is_served(makers):
    assert list(makers.actuators) == ["shoulder", "elbow", "grip"]
    assert {a.mode for a in makers.actuators.values()} == {Mode.LINK_PID}
    assert set(makers.interface.joints) == {"shoulder", "elbow", "grip"}
    assert makers.interface.joints["shoulder"].plugin == ""
    makers.compile()


def test_what_was_chosen_and_what_has_no_effect_is_noted(makers):
    notes = "\n".join(makers.notes)
    for words in (
        "joint 'shoulder' of 'ur5e' is served by its position interface as a PID on the link (mode 1)",
        "(of position, velocity, effort)",
        "'set_gripper_max_effort' has no effect",
        "joint 'follow' mimics 'grip'; its commands have no effect",
        "sensor 'tcp_fts_sensor' of ros2_control is not served: there is no link or joint 'tcp_fts_sensor'",
        "the params robot_ip of the hardware of ros2_control 'ur5e' have no effect",
        "gpio elements of ros2_control 'speed_scaling', 'flexbe' are not served",
    ):
        assert words in notes, words
    assert all(note.partition(":")[0].endswith("arm.urdf") for note in makers.notes if "is served" in note)
    assert "ur_robot_driver" not in notes  # the hardware's plugin is not one of Gazebo's


def test_limits_of_the_commands_are_kept(makers):
    joint = makers.interface.joints["elbow"]
    limits = control_of(makers.interface).limits
    assert limits["elbow"] == dict.fromkeys(("position", "velocity", "effort"), (-2.0, 2.0))
    assert joint.velocity_limit == 2.0  # of the tags, below the 2.5 of the URDF
    assert makers.interface.joints["shoulder"].velocity_limit == 2.5


def test_initial_values_are_where_the_robot_starts(makers):
    model = makers.compile()
    rest = model.key("rest").qpos
    start = {model.joint(j).name: rest[model.jnt_qposadr[j]] for j in range(model.njnt)}
    assert start == {"shoulder": -1.57, "elbow": 0.5, "grip": 0.02, "follow": pytest.approx(-0.02 + 0.01)}
    engine = MujocoEngine(makers)
    engine.reset()
    assert engine.data.qpos == pytest.approx(rest, abs=0)
    assert np.array_equal(engine.data.ctrl, [-1.57, 0.5, 0.02])  # and is held there


def test_the_older_way_to_give_an_initial_position_is_read(write):
    def start(more):
        model = load(
            write(arm(f'<ros2_control name="s" type="system">{joint_tags("elbow", more=more)}</ros2_control>'))
        ).compile()
        return model.key("rest").qpos[model.joint("elbow").qposadr[0]]

    older = '<param name="initial_position">0.7</param>'
    assert start(older) == 0.7
    assert start(older + position_state(0.2)) == 0.2


def test_it_holds_its_pose_and_goes_where_it_is_told(makers):
    engine = MujocoEngine(makers)
    engine.reset()
    engine.data.ctrl[:] = [-1.2, 0.9, 0.01]
    engine.step(3000)
    where = {name: engine.model.joint(name).qposadr[0] for name in ("shoulder", "elbow", "grip", "follow")}
    q = {name: float(engine.data.qpos[a]) for name, a in where.items()}
    # Without an integral term it hangs below by the load over p.
    loads = engine.data.qfrc_bias[[engine.model.joint(n).dofadr[0] for n in ("shoulder", "elbow", "grip")]]
    for (name, target), load_ in zip((("shoulder", -1.2), ("elbow", 0.9), ("grip", 0.01)), loads):
        kp = makers.actuators[name].pid_1.kp
        assert q[name] == pytest.approx(target - load_ / kp, abs=2e-3), name
        assert abs(load_ / kp) < 0.05
    assert q["follow"] == pytest.approx(0.01 - q["grip"], abs=1e-3)


def test_default_gains_are_those_of_the_smallest_inertia(makers, write):
    kp, kd = (getattr(makers.actuators["grip"].pid_1, k) for k in ("kp", "kd"))
    frequency = 2 * kp / kd  # kp = w^2 A, kd = 2 w A
    assert 0.0 < frequency <= BANDWIDTH * (1 + 1e-12)
    inertia = kp / frequency**2
    assert 0.0 < inertia <= 0.1 + 1e-9  # the finger's mass is 0.05 kg, and the arm gives way
    for joint in ("shoulder", "elbow"):
        pid = makers.actuators[joint].pid_1
        assert 2 * pid.kp / pid.kd == pytest.approx(frequency)
        assert pid.ki == 0.0


def test_params_give_other_gains(write):
    params = "".join(f'<param name="{k}">{v}</param>' for k, v in (("p", 500), ("i", 20), ("d", 7)))
    robot = load(write(arm(f'<ros2_control name="s" type="system">{joint_tags("elbow", more=params)}</ros2_control>')))
    assert robot.actuators["elbow"].pid_1 == PID(kp=500.0, ki=20.0, kd=7.0)
    only_p = load(
        write(
            arm(
                '<ros2_control name="s" type="system">'
                + joint_tags("elbow", more='<param name="p">3</param>')
                + "</ros2_control>"
            )
        )
    )
    assert only_p.actuators["elbow"].pid_1.kp == 3.0
    assert 0.0 < only_p.actuators["elbow"].pid_1.kd < 3.0


@pytest.mark.parametrize(
    ("commands", "mode"),
    [
        (("position",), Mode.LINK_PID),
        (("velocity", "position"), Mode.LINK_PID),
        (("effort",), Mode.LINK_TORQUE),
        (("velocity", "effort"), Mode.LINK_TORQUE),
        (("position", "stiffness"), Mode.PID_EQ_PRESET),
        (("acceleration",), None),
        (("stiffness",), None),
        ((), None),
    ],
)
def test_the_command_interfaces_choose_the_mode(commands, mode, write):
    robot = load(write(arm(f'<ros2_control name="s" type="system">{joint_tags("elbow", commands)}</ros2_control>')))
    if mode is None:
        assert robot.actuators == {}
        assert any("moves freely" in note for note in robot.notes) == bool(commands)
    else:
        assert robot.actuators["elbow"].mode == mode
        assert any("'elbow' of 's' is served by its " in note for note in robot.notes)
        assert isinstance(robot.actuators["elbow"].law, QbMove) == (mode == Mode.PID_EQ_PRESET)


@pytest.mark.parametrize("gain", [None, 0.7])
def test_a_joint_with_a_velocity_interface_alone_follows_velocities(gain, write):
    more = "" if gain is None else f'<param name="d">{gain}</param>'
    tags = f'<ros2_control name="s" type="system">{joint_tags("elbow", ("velocity",), more=more)}</ros2_control>'
    robot = load(write(arm(tags)))
    assert robot.actuators == {}
    (servo,) = robot.spec.actuators
    assert servo.name == "elbow_velocity"
    if gain is not None:
        assert (servo.gainprm[0], servo.biasprm[2]) == (gain, -gain)
    note = next(note for note in robot.notes if "velocity servo 'elbow_velocity'" in note)
    assert f"with d {servo.gainprm[0]:.4g}" in note
    if gain is None:
        robot.spec.option.gravity = (0.0, 0.0, 0.0)
        engine = MujocoEngine(robot)
        engine.port("elbow_velocity/control")[:] = 0.5
        engine.step(200)
        assert engine.port("elbow/velocity").item() == pytest.approx(0.5, rel=0.05)


def test_joints_that_only_ros2_control_describes_are_not_called_compliant(write):
    tags = joint_tags("shoulder", ("effort",)) + joint_tags("elbow") + joint_tags("grip", ("position", "stiffness"))
    joints = load(write(arm(f'<ros2_control name="s" type="system">{tags}</ros2_control>'))).interface.joints
    assert {name: joint.compliant for name, joint in joints.items()} == {
        "shoulder": False, "elbow": False, "grip": True
    }  # fmt: skip


def axes(*parts):
    return "".join(f'<state_interface name="{part}.{axis}"/>' for part in parts for axis in "xyz")


def test_force_torque_sensors_and_inertial_units_are_served_where_their_frame_is(write):
    sensors = (
        f'<sensor name="wrist">{axes("force", "torque")}<param name="frame_id">lower</param></sensor>'
        f'<sensor name="elbow">{axes("force")}</sensor>'
        f'<sensor name="imu">{axes("angular_velocity", "linear_acceleration")}<param name="frame_id">upper</param>'
        '<param name="static_covariance">1</param></sensor>'
        f'<sensor name="lost">{axes("torque")}<param name="frame_id">lowr</param></sensor>'
        f'<sensor name="mixed">{axes("force", "orientation")}</sensor><sensor name="empty"/>'
    )
    robot = load(write(arm(f'<ros2_control name="s" type="sensor">{sensors}</ros2_control>')))
    wrist, elbow, imu = robot.devices
    assert (type(wrist), wrist.name, wrist.body, wrist.frame) == (ForceTorque, "wrist", "lower", "lower")
    assert (type(elbow), elbow.name, elbow.body) == (ForceTorque, "elbow_sensor", "lower")
    assert (type(imu), imu.body, imu.orientation) == (Imu, "upper", False)
    notes = "\n".join(robot.notes)
    for words in (
        "'wrist' of ros2_control is served as a force/torque sensor between 'lower' and its parent",
        "'imu' of ros2_control: the params static_covariance have no effect",
        "'lost' of ros2_control is not served: frame_id is 'lowr'; its param frame_id must name a link; did you mean "
        "'lower'",
        "'mixed' of ros2_control is not served: no or mixed state interfaces",
        "'empty' of ros2_control is not served",
    ):
        assert words in notes, words
    robot.compile()


def test_the_hardware_and_its_params_are_kept(write):
    hardware = (
        "<hardware><plugin>topic_based_ros2_control/TopicBasedSystem</plugin>"
        '<param name="joint_commands_topic">/commands</param><param name="speed">3</param></hardware>'
    )
    robot = load(write(arm(f'<ros2_control name="s" type="system">{hardware}{joint_tags("elbow")}</ros2_control>')))
    (system,) = control_of(robot.interface).systems
    assert (system.name, system.plugin) == ("s", "topic_based_ros2_control/TopicBasedSystem")
    assert system.params["joint_commands_topic"] == "/commands"
    assert system.commands == {"elbow": ("position", "velocity", "effort")}
    assert [note for note in robot.notes if "the params speed of the hardware" in note]
    assert system.prefixed("left_").commands == {"left_elbow": ("position", "velocity", "effort")}


def test_a_joint_that_has_a_plugin_of_the_toolbox_keeps_it(write, plugin):
    control = f'<ros2_control name="s" type="system">{joint_tags("elbow")}</ros2_control>'
    robot = load(write(arm(control, plugin(kind="qbmove", joint="elbow", operation_mode="6"))))
    assert robot.actuators["elbow"].mode == Mode.PID_EQ_PRESET
    assert not any("is served by" in note for note in robot.notes)


def test_a_mimic_joint_can_be_told_to_move_by_itself(write):
    body = joint_tags("follow", ("effort",)).replace('<joint name="follow">', '<joint name="follow" mimic="false">')
    robot = load(write(arm(f'<ros2_control name="s" type="system">{body}</ros2_control>')))
    assert robot.actuators["follow"].mode == Mode.LINK_TORQUE


def test_a_limit_that_xacro_left_as_it_is_has_no_effect(write):
    limits = '<param name="min">{-2*pi}</param><param name="max">3</param>'
    robot = load(
        write(arm(f'<ros2_control name="s" type="system">{joint_tags("elbow", limits=limits)}</ros2_control>'))
    )
    assert control_of(robot.interface).limits["elbow"]["position"] == (-math.inf, 3.0)
    assert any("position min is '{-2*pi}', which xacro did not expand" in note for note in robot.notes)


def test_a_start_outside_of_the_limits_is_noted(write):
    body = joint_tags("elbow", more=position_state(7))
    robot = load(write(arm(f'<ros2_control name="s" type="system">{body}</ros2_control>')))
    assert any("'elbow' starts at 7, outside of its limits -3 to 3" in note for note in robot.notes)


def test_the_transmissions_of_ros_1_are_served_where_there_is_no_ros2_control(write):
    tags = "".join(
        f'<transmission name="t_{joint}"><type>transmission_interface/SimpleTransmission</type><joint name="{joint}">'
        f"<hardwareInterface>{prefix}{kind}JointInterface</hardwareInterface></joint></transmission>"
        for joint, kind, prefix in (
            ("shoulder", "Position", "hardware_interface/"),
            ("elbow", "Effort", ""),
            ("grip", "Velocity", "hardware_interface/"),
            ("nowhere", "Effort", ""),
        )
    )
    robot = load(write(arm(tags)))
    assert {joint: a.mode for joint, a in robot.actuators.items()} == {
        "shoulder": Mode.LINK_PID,
        "elbow": Mode.LINK_TORQUE,
    }
    assert any("'nowhere' is not of the robot" in note for note in robot.notes)
    both = load(write(arm(tags + f'<ros2_control name="s" type="system">{joint_tags("grip")}</ros2_control>')))
    assert list(both.actuators) == ["grip"]


def test_an_interface_of_an_old_transmission_may_stand_with_the_actuator():
    root = parse_xml(
        b'<robot><transmission name="t"><joint name="a"/><actuator name="m"><hardwareInterface>EffortJointInterface'
        b"</hardwareInterface></actuator></transmission></robot>"
    )
    assert list(read_transmissions(root, {"a": "revolute"})[0]["a"].commands) == ["effort"]


# ----------------------------------------------------------------------------------------------- refused

WRONG = [
    ('<joint name="elbo"/>', "joint 'elbo': the robot has no such joint; did you mean 'elbow'"),
    ('<joint name="elbow"/>\n<joint name="elbow"/>', "it is given twice, first in line"),
    ('<joint name="elbow"><command_interface/></joint>', "has no name; must be one of position, velocity"),
    ('<joint name="elbow"><command_interface name="positon"/></joint>', "did you mean 'position'"),
    ('<joint name="elbow"><command_interface name="Effort"/></joint>', "did you mean 'effort'"),
    ('<joint name="elbow"><command_interface name="torque"/></joint>', "the <command_interface> is 'torque'"),
    ('<joint name="elbow"><state_interface name="velocty"/></joint>', "did you mean 'velocity'"),
    (
        '<joint name="elbow"><command_interface name="effort"/><command_interface name="effort"/></joint>',
        "'effort' is given twice",
    ),
    (
        '<joint name="elbow"><command_interface name="position"><param name="min">1</param><param name="max">0</param>'
        "</command_interface></joint>",
        "position: min 1 is above max 0",
    ),
    (
        '<joint name="elbow"><command_interface name="position"><param name="min">nan</param></command_interface>'
        "</joint>",
        "position min is 'nan'; must be a number",
    ),
    (
        '<joint name="elbow"><command_interface name="position"><param name="max">high</param></command_interface>'
        "</joint>",
        "'high'",
    ),
    (f'<joint name="elbow">{position_state("nan")}</joint>', "initial_value is 'nan'"),
    (f'<joint name="elbow">{position_state("inf")}</joint>', "initial_value is inf; must be a finite number"),
    (joint_tags("elbow", more='<param name="p">nan</param>'), "param p is 'nan'"),
    (joint_tags("elbow", more='<param name="p">-1</param>'), "kp"),
    (joint_tags("elbow", more='<param name="p">1</param><param name="p">2</param>'), "param 'p' is given twice"),
    (joint_tags("elbow", more="<param>1</param>"), "a <param> has no name"),
    (joint_tags("elbow", more='<param name="law">springy</param>'), "springy"),
    ('<joint name="elbow" mimic="true"><state_interface name="position"/></joint>', "has no <mimic joint=...>"),
    (joint_tags("elbow", more='<param name="initial_position">nan</param>'), "initial_position is 'nan'"),
    (joint_tags("elbow", more='<param name="initial_position">-inf</param>'), "initial_position is not finite"),
    ('<joint name="elbow" mimic="perhaps"/>', "mimic is 'perhaps'"),
    ('<sensor><state_interface name="force.x"/></sensor>', "a <sensor> has no name"),
    ('<gpio name="g"><command_interface/></gpio>', "a <command_interface> has no name"),
]


@pytest.mark.parametrize(("body", "says"), WRONG, ids=[says[:40] for _, says in WRONG])
def test_wrong_tags_are_refused_with_their_place(body, says, write):
    path = write(arm(f'<ros2_control name="s" type="system">\n{body}\n</ros2_control>'))
    with pytest.raises(ModelError) as caught:
        load(path)
    assert says in str(caught.value)
    assert caught.value.file == str(path)
    lines = path.read_text().splitlines()
    first = next(n for n, line in enumerate(lines, 1) if "<ros2_control" in line)
    line = caught.value.line or 0
    assert first < line <= first + 1 + body.count("\n")


@pytest.mark.parametrize(
    ("control", "says"),
    [
        ('<ros2_control type="system"/>', "the attribute 'name' is missing"),
        ('<ros2_control name="s" type="sytem"/>', "did you mean 'system'"),
        ('<ros2_control name="s" type="system"/>' * 2, "the name 's' is given twice"),
    ],
)
def test_wrong_blocks_are_refused_with_their_place(control, says, write):
    with pytest.raises(ModelError, match=says) as caught:
        load(write(arm(control)))
    assert caught.value.line is not None


def test_the_command_interface_of_a_fixed_joint_is_left_out_with_a_note(write):
    more = LINK.format(name="tool", x=0, m=1, i=1) + (
        '<joint name="flange" type="fixed"><parent link="lower"/><child link="tool"/></joint>'
    )
    control = f'<ros2_control name="s" type="system">{joint_tags("flange", ("effort",))}</ros2_control>'
    robot = load(write(arm(control, more)))
    assert robot.actuators == {}
    assert any("joint 'flange' is fixed; its command interfaces are left out" in note for note in robot.notes)
    states = f'<ros2_control name="s" type="system">{joint_tags("flange", ())}</ros2_control>'
    assert load(write(arm(states, more))).actuators == {}


def test_an_unknown_param_is_refused_in_a_file_of_pliants_own_and_left_alone_in_others(write):
    def control(hardware):
        return (
            f'<ros2_control name="s" type="system"><hardware><plugin>{hardware}</plugin></hardware>'
            + joint_tags("elbow", ("effort",), more='<param name="link_dampng">1</param>')
            + "</ros2_control>"
        )

    assert load(write(arm(control("some/Hardware")))).actuators["elbow"].link_damping == 0.0
    with pytest.raises(ModelError, match="did you mean 'link_damping'") as caught:
        load(write(arm(control("pliant/CompliantSystem"))))
    assert caught.value.line is not None


def test_a_known_param_of_a_wrong_value_is_refused_with_its_place(write):
    body = joint_tags("elbow", ("effort",), more='<param name="link_damping">-1</param>')
    with pytest.raises(ModelError, match="link_damping") as caught:
        load(write(arm(f'<ros2_control name="s" type="system">{body}</ros2_control>')))
    assert caught.value.line is not None


# ------------------------------------------------------------------------------------------------ fuzzed

WORDS = st.one_of(
    st.sampled_from(
        ["position", "velocity", "effort", "stiffness", "a", "b", "", "nan", "-inf", "1e999", "0", "1", "-2.5"]
    ),
    st.sampled_from(["min", "max", "initial_value", "p", "i", "d", "law", "mode", "true", "system", "link_damping"]),
    st.text(alphabet=string.ascii_letters + string.digits + " ._-/+", max_size=12),
)


@st.composite
def trees(draw):
    """A ros2_control block whose structure is nearly right and whose names and values are anything."""

    def tag(name, inner=""):
        chosen = draw(WORDS)
        return f'<{name} name="{chosen}">{inner}</{name}>' if draw(st.integers(0, 9)) else f"<{name}>{inner}</{name}>"

    def interface():
        inner = "".join(tag("param", draw(WORDS)) for _ in range(draw(st.integers(0, 2))))
        return tag(draw(st.sampled_from(["command_interface", "state_interface"])), inner)

    parts = []
    for _ in range(draw(st.integers(0, 3))):
        inner = "".join(interface() for _ in range(draw(st.integers(0, 3))))
        inner += "".join(tag("param", draw(WORDS)) for _ in range(draw(st.integers(0, 2))))
        parts.append(tag(draw(st.sampled_from(["joint", "joint", "joint", "sensor", "gpio", "what"])), inner))
    kind = draw(st.sampled_from(["system", "system", "actuator", "sensor", "other"]))
    return f'<robot><ros2_control name="{draw(WORDS)}" type="{kind}">{"".join(parts)}</ros2_control></robot>'


@settings(max_examples=300, deadline=None)
@given(trees())
def test_whatever_the_tags_are_they_are_read_or_refused_by_name(text):
    joints = {"a": "revolute", "b": "prismatic"}
    error = None
    try:
        found = read_ros2_control(parse_xml(text.encode()), joints, "some.urdf")
    except ModelError as caught:
        error = caught
    if error is not None:
        assert (error.file, error.line) == ("some.urdf", 1)
        return
    assert set(found.joints) <= set(joints)
    for joint in found.joints.values():
        for limits in joint.commands.values():
            assert limits.get("min", -math.inf) <= limits.get("max", math.inf)
        assert all(math.isfinite(value) for value in joint.initial.values())


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    values=st.dictionaries(st.sampled_from(["p", "i", "d", "link_damping", "start", "law", "mode"]), WORDS, max_size=3)
)
def test_whatever_the_params_are_the_robot_loads_or_they_are_refused(values, tmp_path):
    params = "".join(f'<param name="{k}">{v}</param>' for k, v in values.items())
    path = tmp_path / "fuzz.urdf"
    path.write_text(arm(f'<ros2_control name="s" type="system">{joint_tags("elbow", more=params)}</ros2_control>'))
    error = None
    try:
        robot = load(path)
    except ModelError as caught:
        error = caught
    if error is not None:
        assert error.line is not None
        return
    assert isinstance(robot.compile(), mujoco.MjModel)
