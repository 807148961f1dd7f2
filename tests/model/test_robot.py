"""A robot enters MuJoCo as user actuators, keeps its own spec, and takes parameters by path."""

import mujoco
import numpy as np
import pytest

from pliant.base.errors import ModelError
from pliant.laws import BAVS, PID, SEA, AwAS2, CompliantActuator, LeverDrive, Mode, QbMove, layout
from pliant.model import DeviceSpec, Interface, JointInterface, Robot, actuator_names

pytestmark = pytest.mark.quick

ARM = """
<mujoco model="arm"><worldbody><body name="upper"><joint name="shoulder" damping="0.1" range="-60 60"/>
<geom size=".1"/><body name="fore" pos="0 .1 0"><joint name="elbow"/><geom name="pad" size=".05"/></body>
<body name="tool"><joint name="wrist" type="ball"/><geom size=".01"/></body></body></worldbody></mujoco>
"""


def arm(**actuators):
    robot = Robot(mujoco.MjSpec.from_string(ARM))
    for joint, actuator in actuators.items():
        robot.add_actuator(joint, actuator)
    return robot


def test_a_two_reference_actuator_is_followed_by_its_companion():
    robot = arm(shoulder=CompliantActuator(QbMove(), mode=6), elbow=CompliantActuator(SEA(), mode=5))
    model = robot.compile()
    assert [model.actuator(i).name for i in range(model.nu)] == [*actuator_names("shoulder"), "elbow"]
    assert model.actuator_actnum.tolist() == [8, 0, 4]
    user = mujoco.mjtDyn.mjDYN_USER
    assert model.actuator_dyntype.tolist() == [user, mujoco.mjtDyn.mjDYN_NONE, user]
    assert model.actuator_gainprm[:, 0].tolist() == [0.0, 0.0, 0.0]
    bias = (mujoco.mjtBias.mjBIAS_USER, mujoco.mjtBias.mjBIAS_NONE, mujoco.mjtBias.mjBIAS_USER)
    assert tuple(model.actuator_biastype) == bias
    assert not model.actuator_ctrllimited.any()
    np.testing.assert_array_equal(model.actuator_gear[:, 0], 1.0)


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("law", [SEA(), QbMove(), BAVS(), AwAS2()], ids=lambda law: law.name)
def test_the_user_row_is_the_packed_actuator(law, mode):
    actuator = CompliantActuator(law, mode=mode)
    model = arm(elbow=actuator).compile()
    np.testing.assert_array_equal(model.actuator_user[0], actuator.pack(model.opt.timestep))
    assert model.nuser_actuator == layout.PARAMETERS
    assert model.nu == actuator.commands
    assert model.na == actuator.states(model.opt.timestep)


def test_compiling_twice_gives_the_same_and_leaves_the_spec_alone():
    robot = arm(elbow=CompliantActuator(QbMove()))
    before = robot.spec.to_xml()
    first, second = robot.compile(), robot.compile()
    assert robot.spec.to_xml() == before
    assert not robot.spec.actuators
    assert not robot.spec.keys
    np.testing.assert_array_equal(first.actuator_user, second.actuator_user)
    np.testing.assert_array_equal(first.key_act, second.key_act)


def test_the_rest_key_holds_the_initial_pose():
    xml = ARM.replace('name="elbow"', 'name="elbow" ref="30"')
    robot = Robot(mujoco.MjSpec.from_string(xml))
    robot.add_actuator("elbow", CompliantActuator(QbMove(), initial_preset=0.2))
    model = robot.compile()
    angle = np.deg2rad(30.0)
    np.testing.assert_allclose(model.key("rest").ctrl, [angle, 0.2])
    np.testing.assert_allclose(model.key("rest").act[[0, 2, 4, 6]], angle + np.array([0.2, 0.2, -0.2, -0.2]))


def test_key_frames_of_the_file_are_widened_to_hold_their_own_pose():
    xml = ARM.replace(
        "</mujoco>",
        '<actuator><motor name="m" joint="shoulder"/></actuator>'
        '<keyframe><key name="bent" qpos="0.1 0.5 1 0 0 0" ctrl="3"/></keyframe></mujoco>',
    )
    robot = Robot(mujoco.MjSpec.from_string(xml))
    robot.add_actuator("elbow", CompliantActuator(SEA(), mode=3))
    model = robot.compile()
    np.testing.assert_allclose(model.key("bent").ctrl, [3.0, 0.5])
    np.testing.assert_allclose(model.key("rest").ctrl, [0.0, 0.0])


def test_the_default_integrator_is_implicitfast_unless_the_file_names_one():
    assert arm().spec.option.integrator == mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    named = Robot(mujoco.MjSpec.from_string(ARM.replace("<worldbody>", '<option integrator="Euler"/><worldbody>', 1)))
    assert named.spec.option.integrator == mujoco.mjtIntegrator.mjINT_EULER


def test_rk4_is_refused_where_an_actuator_has_states_and_taken_where_it_has_none():
    robot = arm(elbow=CompliantActuator(QbMove(), mode=6)).set("option.integrator", "RK4")
    with pytest.raises(ModelError, match=r"RK4.*'elbow'.*implicitfast"):
        robot.compile()
    robot.set("elbow.mode", 3)
    assert robot.compile().opt.integrator == mujoco.mjtIntegrator.mjINT_RK4


def test_a_ball_joint_an_unknown_joint_and_a_second_actuator_are_refused():
    robot = arm(elbow=CompliantActuator(SEA()))
    with pytest.raises(ModelError, match=r"'wrist' is a ball joint"):
        robot.add_actuator("wrist", CompliantActuator(SEA()))
    with pytest.raises(ModelError, match=r"did you mean 'elbow'"):
        robot.add_actuator("elbwo", CompliantActuator(SEA()))
    with pytest.raises(ModelError, match="already"):
        robot.add_actuator("elbow", CompliantActuator(SEA()))


def test_attaching_carries_actuators_devices_and_interface_with_the_prefix():
    part = arm(elbow=CompliantActuator(QbMove()))
    part.interface = Interface(joints={"elbow": JointInterface(joint="elbow", publish_state=False)})
    part.devices.append(DeviceSpec(name="board", kind="board", joints=("elbow",)))
    whole = Robot(
        mujoco.MjSpec.from_string('<mujoco><option timestep=".0005"/><worldbody><site name="s"/></worldbody></mujoco>')
    )
    whole.attach(part, site="s", prefix="left_").attach(part, prefix="right_")
    model = whole.compile()
    assert list(whole.actuators) == ["left_elbow", "right_elbow"]
    assert [device.name for device in whole.devices] == ["left_board", "right_board"]
    assert whole.devices[0].joints == ("left_elbow",)
    assert whole.interface.joints["right_elbow"].publish_state is False
    assert model.nu == 4
    assert model.opt.timestep == 0.0005
    assert list(part.actuators) == ["elbow"]
    with pytest.raises(ModelError, match="another prefix"):
        whole.attach(part, prefix="left_")
    with pytest.raises(ModelError, match="no site 'S'; must be one of s"):
        whole.attach(part, site="S", prefix="x_")


def test_a_copy_is_independent():
    robot = arm(elbow=CompliantActuator(SEA()))
    other = robot.copy()
    other.update({"elbow.k": 77.0, "shoulder.damping": 9.0, "option.timestep": 0.004})
    assert robot.actuators["elbow"].law.k == 10.0
    assert robot.timestep == 0.002
    assert robot.compile().dof_damping[0] == 0.1
    assert other.compile().dof_damping[0] == 9.0


def test_parameters_are_set_by_path_from_text():
    robot = arm(shoulder=CompliantActuator(QbMove()), elbow=CompliantActuator(SEA()))
    robot.update(
        {
            "actuator.mode": "PIDRefs",
            "actuator.max_deflection": "0.5",
            "elbow.k": "200",
            "shoulder.motor_1.inertia": "0.05",
            "shoulder.motor_1.friction.torque": "0.4",
            "shoulder.motor_2.max_position": "inf",
            "shoulder.link_friction.torque": "0.01",
            "shoulder.damping": "0.3",
            "shoulder.upper": "1.0",
            "shoulder.effort": "40",
            "fore.mass": "3",
            "pad.friction": "0.23",
            "option.gravity": "0 0 -1.6",
            "option.timestep": "5e-4",
        }
    )
    model = robot.compile()
    assert robot.actuators["elbow"].mode is Mode.PID_REFS
    assert robot.actuators["elbow"].law == SEA(k=200.0, max_deflection=0.5)
    assert robot.actuators["shoulder"].motor_1.inertia == 0.05
    assert robot.actuators["shoulder"].motor_1.friction.torque == 0.4
    assert robot.actuators["shoulder"].link_friction.torque == 0.01
    assert model.dof_damping[0] == 0.3
    np.testing.assert_allclose(model.jnt_range[0], [-np.pi / 3, 1.0])
    np.testing.assert_allclose(model.jnt_actfrcrange[0], [-40, 40])
    assert model.body("fore").mass[0] == pytest.approx(3.0)
    assert model.geom("pad").friction[0] == 0.23
    assert model.opt.gravity[2] == -1.6
    assert model.opt.timestep == 5e-4


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("elbow.kk", 1, "did you mean 'k'"),
        ("elbw.k", 1, "did you mean 'elbow'"),
        ("option.timestp", 1, "did you mean 'timestep'"),
        ("option.timestep", -1, "above 0 s"),
        ("option.timestep", "nan", "must be a"),
        ("option.integrator", "RK5", "must be one of discrete, euler"),
        ("option.gravity", "1 2", "3 numbers"),
        ("elbow.k", "stiff", "must be a number"),
        ("elbow.k", -3, ">= 0"),
        ("elbow.mode", 9, "0 LinkTorque"),
        ("elbow.motor_1", 3, "it has parts"),
        ("elbow.motor_1.inertai", 3, "did you mean 'inertia'"),
        ("elbow.motor_2.inertia", 3, "one motor"),
        ("fore.mass", -1, "0 or more"),
        ("upper.inertia", "1 1 1", "comes from its 1 geoms"),
        ("elbow", 1, "a path is elbow.PARAMETER; PARAMETER must be one of"),
    ],
)
def test_a_wrong_parameter_is_refused_by_name_and_changes_nothing(path, value, message):
    robot = arm(elbow=CompliantActuator(SEA()))
    before = robot.spec.to_xml(), dict(robot.actuators)
    with pytest.raises(ModelError, match=message):
        robot.update({"elbow.max_deflection": 0.4, "shoulder.damping": 5.0, path: value})
    assert (robot.spec.to_xml(), robot.actuators) == before


def test_defaults_that_depend_on_the_mode_follow_it():
    robot = arm(elbow=CompliantActuator(SEA(), mode=6))
    assert robot.set("elbow.mode", 1).actuators["elbow"].pid_1 == PID(kp=0.8, kd=0.2)
    assert robot.set("elbow.mode", 5).actuators["elbow"].pid_1 == PID()
    robot.set("elbow.law", "awas_ii")
    assert isinstance(robot.actuators["elbow"].motor_2, LeverDrive)


def test_a_name_that_the_model_uses_already_is_refused():
    xml = ARM.replace("</mujoco>", '<actuator><motor name="elbow" joint="elbow"/></actuator></mujoco>')
    with pytest.raises(ModelError, match="actuator named 'elbow' already"):
        Robot(mujoco.MjSpec.from_string(xml)).add_actuator("elbow", CompliantActuator(SEA()))


def test_a_body_without_mass_is_named_by_the_compile_error():
    spec = mujoco.MjSpec.from_string(
        '<mujoco><worldbody><body name="ghost"><joint name="j"/></body></worldbody></mujoco>'
    )
    with pytest.raises(ModelError, match=r"ghost.*positive mass") as caught:
        Robot(spec).compile()
    assert caught.value.field == "ghost"
