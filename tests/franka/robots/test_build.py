"""The MuJoCo models of the arms, and the hand with its fingers."""

import itertools

import mujoco
import numpy as np
import pytest
from franka_plant import Plant

from pliant.base.errors import ModelError
from pliant.franka.device.gripper import Gripper
from pliant.franka.device.parameters import Payload
from pliant.franka.robots import dynamics, kinematics
from pliant.franka.robots.arm_model import arm_spec
from pliant.franka.robots.build import Q_START, ArmMount, build_arms, world
from pliant.franka.robots.parameters import EE_OF_CUP, FER, FP3, FR3, FR3V2, FRANKA_HAND, HAND, VACUUM_GRIPPER
from pliant.franka.wire import fci


@pytest.mark.parametrize(
    ("arm", "hand"), [*itertools.product([FER, FR3], ["fingers", "vacuum", "none"]), (FP3, "fingers"), (FR3V2, "none")]
)
def test_mujoco_has_the_mass_matrix_bias_and_frames_of_the_dynamics(arm, hand):
    rpy = (0.3, -0.7, 1.1)
    mount = ArmMount(arm=arm, hand=hand, rpy=rpy, position=(0.1, 0.2, 1.0))
    plant = Plant((mount,), friction=False)
    payload = {"fingers": FRANKA_HAND, "vacuum": VACUUM_GRIPPER, "none": None}[hand]
    rng = np.random.default_rng(0)
    side = plant.arms[0]
    for _ in range(10):
        q, dq = rng.uniform(-1.5, 1.5, 7), rng.uniform(-1, 1, 7)
        side._q[:], side._dq[:] = q, dq
        if hand == "fingers":
            side._finger[:] = 0.0
        mujoco.mj_forward(plant.model, plant.data)
        M = np.zeros((plant.model.nv, plant.model.nv))
        mujoco.mj_fullM(plant.model, plant.data, M)
        links = M[:7, :7] - 0.15 * np.diag(arm.motor_inertia)  # the rest is what the torque loops leave of the motors
        np.testing.assert_allclose(links, dynamics.mass(q, payload, arm=arm), atol=1e-12)
        bias = dynamics.coriolis(q, dq, payload, arm=arm) @ dq + dynamics.gravity(q, payload, side.gravity, arm=arm)
        np.testing.assert_allclose(plant.data.qfrc_bias[:7], bias, atol=1e-12)
        X = np.eye(4)
        X[:3, :3], X[:3, 3] = mount.rotation(), mount.position
        tool = {"fingers": None, "vacuum": EE_OF_CUP, "none": np.eye(4)}[hand]
        expected = X @ kinematics.forward_kinematics(q, F_T_EE=tool)
        site = plant.data.site("franka_ee")
        np.testing.assert_allclose(site.xpos, expected[:3, 3], atol=1e-12)
        np.testing.assert_allclose(site.xmat.reshape(3, 3), expected[:3, :3], atol=1e-12)


def test_fp3_and_fr3_v2_have_the_published_numbers():
    assert FP3.links == FR3.links
    masses = (3.85, 2.4377, 2.2375, 2.185794, 2.175867, 2.174817, 1.567617, 0.682876)
    assert (FR3V2.base.mass, *(link.mass for link in FR3V2.links)) == masses
    for arm in (FP3, FR3V2):
        assert arm.limits.position_max == (2.7437, 1.7837, 2.9007, -0.1518, 2.8065, 4.5169, 3.0159)
        assert arm.limits.position_min == (-2.7437, -1.7837, -2.9007, -3.0421, -2.8065, 0.5445, -3.0159)
        assert (arm.limits.velocity, arm.protocols) == (FR3.limits.velocity, FR3.protocols)
        for link in (arm.base, *arm.links):  # a rigid body: no moment is larger than the sum of the others
            xx, xy, xz, yy, yz, zz = link.inertia
            moments = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            assert moments[0] > 0.0
            assert moments[2] < moments[0] + moments[1]


def test_several_arms_stand_in_one_world_each_with_its_gravity():
    mounts = (
        ArmMount(name="left", position=(0, 0.3, 1.0), rpy=(-np.pi / 2, 0, 0)),
        ArmMount(name="right", arm=FR3, position=(0, -0.3, 1.0), rpy=(np.pi / 2, 0, 0), hand="none"),
    )
    plant = Plant(mounts)
    left, right = plant.arms
    np.testing.assert_allclose(left.gravity, [0, 9.81, 0], atol=1e-12)
    np.testing.assert_allclose(right.gravity, [0, -9.81, 0], atol=1e-12)
    for _ in range(200):
        for arm, mount, payload in ((left, mounts[0], FRANKA_HAND), (right, mounts[1], None)):
            q, dq, _ = arm.read()
            arm.write(dynamics.gravity(q, payload, arm.gravity, arm=mount.arm) + dynamics.friction(dq))
        plant.step()
    for arm in plant.arms:
        np.testing.assert_allclose(arm.read()[0], Q_START, atol=1e-6)


def test_friction_slows_the_motor_and_is_not_in_the_link_side_torque():
    plant = Plant((ArmMount(motor_inertia=0.0),), friction=True)
    side = plant.arms[0]
    side._dq[:] = 0.5
    side.write(np.ones(7))
    np.testing.assert_allclose(side.read()[2], 1.0 - dynamics.friction(np.full(7, 0.5)), atol=1e-12)


def test_the_spec_is_plain_mujoco():
    model = arm_spec(FER, name="a").compile()
    assert model.nu == 9
    assert model.joint("a_joint4").range[1] > FER.limits.position_max[3]
    assert mujoco.MjModel.from_xml_string(arm_spec(FR3, name="b", hand="none").to_xml()).nu == 7


def test_two_arms_of_one_name_are_refused():
    with pytest.raises(ModelError, match="two arms have the same name"):
        world((ArmMount(), ArmMount()))
    with pytest.raises(ModelError, match="a: 3 start positions"):
        world((ArmMount(name="a", q=(0.0, 0.0, 0.0)),))


# ------------------------------------------------------------------------------------------------- gripper


class HandRig:
    """A hand on an arm that hangs still, with an optional block between the fingers."""

    def __init__(self, block=None):
        mount = ArmMount()
        spec = world((mount,))
        if block is not None:
            X = kinematics.forward_kinematics(Q_START)
            quat = np.empty(4)
            mujoco.mju_mat2Quat(quat, X[:3, :3].reshape(-1))
            spec.worldbody.add_geom(
                type=mujoco.mjtGeom.mjGEOM_BOX,
                size=[0.01, block / 2, 0.01],
                pos=(X[:3, 3] - 0.01 * X[:3, 2]).tolist(),
                quat=quat.tolist(),
            )
        self.plant = Plant((mount,), friction=False, spec=spec)
        self.arm = self.plant.arms[0]
        self.arm._finger[:] = 0.03
        self.gripper = Gripper(HAND, width=0.06)
        self.force = 0.0

    def run(self, milliseconds=5000):
        for k in range(milliseconds):
            self.arm.settle(Q_START)
            self.force = self.gripper.step(*self.arm.read_hand())
            self.arm.write_hand(self.force)
            self.plant.step()
            if self.gripper.answers and k > 5:
                return self.gripper.answers.pop(0).status
        return None

    def ask(self, request, **options):
        self.gripper.request(request, 1)
        return self.run(**options)

    @property
    def width(self):
        return self.arm.read_hand()[0]


def grasp(width, speed=0.1, force=20.0, inner=0.005, outer=0.005):
    return fci.GripperGrasp(width=width, epsilon_inner=inner, epsilon_outer=outer, speed=speed, force=force)


def test_homing_finds_the_largest_width():
    rig = HandRig()
    assert rig.ask(fci.GripperHoming()) == "success"
    assert rig.width == pytest.approx(0.08, abs=1e-3)
    assert rig.gripper.state(5).max_width == pytest.approx(0.08, abs=2e-3)


@pytest.mark.parametrize("width", [0.0, 0.02, 0.079])
def test_the_fingers_go_where_they_are_sent_at_the_speed_asked(width):
    rig = HandRig()
    distance = abs(rig.width - width)
    assert rig.ask(fci.GripperMove(width=width, speed=0.05)) == "success"
    assert rig.width == pytest.approx(width, abs=1e-3)
    assert distance > 0.0


def test_a_move_takes_as_long_as_its_speed_says():
    rig = HandRig()
    rig.gripper.request(fci.GripperMove(width=0.02, speed=0.02), 1)
    for _ in range(1000):
        rig.run(1)
    assert rig.width == pytest.approx(0.04, abs=2e-3)


def test_a_block_is_grasped_with_the_force_asked():
    rig = HandRig(block=0.03)
    assert rig.ask(grasp(0.03, force=30.0)) == "success"
    assert rig.gripper.is_grasped
    assert rig.width == pytest.approx(0.03, abs=2e-3)
    rig.run(500)
    assert rig.force == -30.0
    assert rig.gripper.state(1).is_grasped


@pytest.mark.parametrize("beyond", [0.0, 0.002])
def test_what_is_held_is_held_on_by_a_second_grasp(beyond):
    rig = HandRig(block=0.03)
    assert rig.ask(grasp(0.03, force=30.0)) == "success"
    held = rig.width
    # Asked a little wider than the pressing fingers stand, as a program does that knows the block's true width.
    assert rig.ask(grasp(held + beyond + 1e-5, force=40.0)) == "success"
    assert rig.gripper.is_grasped
    rig.run(300)
    assert rig.width == pytest.approx(held, abs=1e-3)


@pytest.mark.parametrize("expected", [0.0, 0.05])
def test_a_block_of_another_size_is_no_success(expected):
    rig = HandRig(block=0.03)
    assert rig.ask(grasp(expected)) == "unsuccessful"
    assert not rig.gripper.is_grasped


def test_a_wide_epsilon_accepts_the_block():
    rig = HandRig(block=0.03)
    assert rig.ask(grasp(0.0, outer=0.08)) == "success"


def test_a_move_through_a_block_is_unsuccessful():
    rig = HandRig(block=0.03)
    assert rig.ask(fci.GripperMove(width=0.0, speed=0.1)) == "unsuccessful"
    assert rig.width == pytest.approx(0.03, abs=2e-3)


def test_stop_aborts_the_running_motion_and_a_new_one_replaces_it():
    rig = HandRig()
    rig.gripper.request(fci.GripperMove(width=0.0, speed=0.01), 1)
    rig.run(50)
    rig.gripper.request(fci.GripperStop(), 2)
    assert [(a.command_id, a.status) for a in rig.gripper.answers] == [(1, "aborted"), (2, "success")]
    rig.gripper.answers.clear()
    rig.gripper.request(fci.GripperMove(width=0.0, speed=0.01), 3)
    rig.gripper.request(fci.GripperMove(width=0.05, speed=0.1), 4)
    assert rig.gripper.answers.pop(0).status == "aborted"
    assert rig.run() == "success"


@pytest.mark.parametrize(
    "request_",
    [
        fci.GripperMove(width=0.5, speed=0.1),
        fci.GripperMove(width=-0.01, speed=0.1),
        fci.GripperMove(width=0.02, speed=0.0),
        fci.GripperMove(width=float("nan"), speed=0.1),
        grasp(0.02, force=-1.0),
        grasp(0.02, inner=float("inf")),
    ],
)
def test_what_the_hand_cannot_do_fails_at_once(request_):
    gripper = Gripper(HAND, width=0.08)
    gripper.request(request_, 3)
    assert [(a.command_id, a.status) for a in gripper.answers] == [(3, "fail")]
    assert not gripper.busy


def test_the_joints_have_the_fraction_of_the_motors_inertia_that_is_asked_for():
    plain, heavy = (Plant((ArmMount(arm=FR3, motor_inertia=part),), friction=False) for part in (0.0, 0.25))
    for plant in (plain, heavy):
        mujoco.mj_forward(plant.model, plant.data)
    masses = []
    for plant in (plain, heavy):
        M = np.zeros((plant.model.nv, plant.model.nv))
        mujoco.mj_fullM(plant.model, plant.data, M)
        masses.append(M[:7, :7])
    np.testing.assert_allclose(masses[1] - masses[0], 0.25 * np.diag(FR3.motor_inertia), atol=1e-12)


def test_the_torque_sensor_sits_behind_the_motors_inertia():
    plant = Plant((ArmMount(arm=FR3, motor_inertia=1.0),), friction=False)
    arm = plant.arms[0]
    q, _, _ = arm.read()
    torque = dynamics.gravity(np.array(q), FRANKA_HAND, arm=FR3)
    torque[6] += 0.5
    arm.write(torque)
    plant.step()
    _, _, tau_J = arm.read()
    B = FR3.motor_inertia[6]
    accelerated = float(plant.data.qacc[plant.model.joint("franka_joint7").dofadr[0]])
    assert accelerated > 0.0
    assert tau_J[6] == pytest.approx(torque[6] - B * accelerated, abs=1e-12)
    assert tau_J[6] < 0.05 * 0.5 + torque[6] - 0.5  # almost all of the push turns the rotor


def test_a_load_may_be_a_point_mass():
    robot = build_arms(load=Payload(mass=0.1, center_of_mass=(0.0, 0.0, 0.1)))
    assert robot.compile().body("franka_load").mass[0] == pytest.approx(0.1)
