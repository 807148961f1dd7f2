"""The biped of the catalogue: its size, its axes, its feet, its bars; it stands."""

import mujoco
import numpy as np
import pytest

from pliant.base.errors import ModelError
from pliant.base.options import check_declaration, describe
from pliant.robots import build_robot, find_robot
from pliant.walking.robots.biped import JOINTS, PARTS
from pliant.walking.robots.biped.parameters import ANKLE_HEIGHT, ANKLE_TO_KNEE, KNEE_TO_HIP, leg_angles

FEET = ("rigid", "padded", "soft")


def standing(**options):
    model = build_robot("biped", options).compile()
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_forward(model, data)
    return model, data


def test_every_option_says_where_its_default_comes_from():
    robot = find_robot("biped")
    check_declaration(robot.options_class)
    for info in describe(robot.options_class):
        assert info.source, info.name


@pytest.mark.parametrize("feet", FEET)
def test_the_biped_is_of_the_class_of_coman(feet):
    model, data = standing(feet=feet)
    assert 25.0 < model.body_subtreemass[1] < 40.0
    top = max(data.geom_xpos[g, 2] + model.geom_rbound[g] for g in range(model.ngeom) if model.geom_bodyid[g])
    assert 0.85 < top < 1.1


def test_all_feet_weigh_the_same():
    masses = [standing(feet=feet)[0].body_subtreemass[1] for feet in FEET]
    assert masses == pytest.approx([masses[0]] * len(FEET), abs=1e-3)


def test_the_pads_are_compressed_by_the_weight_over_their_stiffness():
    model, data = standing(feet="padded")
    for _ in range(5000):
        mujoco.mj_step(model, data)
    pads = [i for i in range(model.njnt) if "_pad_" in model.joint(i).name]
    compression = data.qpos[model.jnt_qposadr[pads]]
    carried = 9.81 * (model.body_subtreemass[1] - 0.002 * len(pads))
    assert 1e5 * float(compression.sum()) / 10 == pytest.approx(carried, rel=0.01)


def test_the_parts_hold_every_joint_once():
    names = [name for part in PARTS.values() for name in part]
    assert sorted(names) == sorted(JOINTS)
    assert set(PARTS) == {"torso", "left_arm", "right_arm", "left_leg", "right_leg"}


@pytest.mark.parametrize("side", ["l", "r"])
def test_hip_axes_and_ankle_axes_meet_in_a_point(side):
    model, data = standing()
    for group in (("hip_yaw", "hip_roll", "hip_pitch"), ("ankle_pitch", "ankle_roll")):
        anchors = np.array([data.xanchor[model.joint(f"{side}_{name}").id] for name in group])
        assert np.ptp(anchors, axis=0) == pytest.approx([0.0] * 3, abs=1e-12)


def test_the_right_side_is_the_mirror_image_of_the_left_one():
    model, data = standing()
    for b in range(model.nbody):
        name = model.body(b).name
        if name.startswith("l_"):
            other = model.body(f"r_{name[2:]}").id
            assert data.xipos[other] == pytest.approx(data.xipos[b] * [1, -1, 1], abs=1e-12)
            assert model.body_inertia[other] == pytest.approx(model.body_inertia[b])
    for name, joint in JOINTS.items():
        if name.startswith("l_"):
            other = JOINTS[f"r_{name[2:]}"]
            mirrored = (joint.low, joint.high) if joint.axis[1] else (-joint.high, -joint.low)
            assert (other.low, other.high) == mirrored


def test_the_pitch_of_a_leg_puts_the_hip_where_it_is_wanted():
    for forward, height in ((0.0, 0.4), (0.05, 0.42), (-0.08, 0.3)):
        hip, knee, ankle = leg_angles(forward, height)
        assert hip + knee + ankle == pytest.approx(0.0, abs=1e-12)
        x = KNEE_TO_HIP * np.sin(hip) + ANKLE_TO_KNEE * np.sin(hip + knee)
        z = KNEE_TO_HIP * np.cos(hip) + ANKLE_TO_KNEE * np.cos(hip + knee)
        assert (x, z) == pytest.approx((forward, height), abs=1e-12)
        assert knee > 0.0


@pytest.mark.parametrize("feet", FEET)
def test_the_soles_are_level_on_the_ground_at_the_start(feet):
    _, data = standing(feet=feet)
    for side in ("l", "r"):
        assert data.body(f"{side}_foot").xpos[2] == pytest.approx(ANKLE_HEIGHT, abs=1e-9)
        assert data.body(f"{side}_foot").xmat[8] == pytest.approx(1.0, abs=1e-12)
    assert data.ncon > 0
    assert data.contact.dist.min() > -1.5e-3


@pytest.mark.parametrize("feet", FEET)
def test_it_stands_for_ten_seconds(feet):
    model, data = standing(feet=feet)
    start = data.qpos[:3].copy()
    for _ in range(5000):
        mujoco.mj_step(model, data)
    assert data.qpos[:3] == pytest.approx(start, abs=0.02)
    tilt = 2.0 * np.arcsin(np.hypot(data.qpos[4], data.qpos[5]))
    assert tilt < np.radians(2.0)
    assert np.abs(data.qvel).max() < 1e-2
    effort = np.array([JOINTS[model.actuator(i).name].effort for i in range(model.nu)])
    assert np.all(np.abs(data.actuator_force) < 0.5 * effort)


def test_the_ankle_sensors_carry_the_weight():
    robot = build_robot("biped")
    model = robot.compile()
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    for _ in range(2000):
        mujoco.mj_step(model, data)
    forces = [data.sensor(f"{side}_ankle_ft/force").data[2] for side in ("l", "r")]
    carried = model.body_subtreemass[1] - 2.0 * model.body("l_foot").mass[0]
    # MuJoCo gives what the parent does to its child: the leg presses the foot down.
    assert -sum(forces) == pytest.approx(9.81 * carried, rel=1e-3)


def test_the_bars_lie_where_they_are_put():
    model, _ = standing(bar_height=0.02, bar_positions="0.4, 0.9")
    assert [model.geom(f"bar_{i}").pos.tolist() for i in (1, 2)] == [[0.4, 0.0, 0.01], [0.9, 0.0, 0.01]]


def test_random_bars_follow_the_seed_and_lie_in_sections_of_their_range():
    def positions(seed):
        options = {"bar_height": 0.01, "bar_count": 3, "bar_range": "0.3,0.9", "bar_seed": seed}
        model = build_robot("biped", options).compile()
        return [model.geom(f"bar_{i}").pos[0] for i in (1, 2, 3)]

    assert positions(1) == positions(1) != positions(2)
    for i, x in enumerate(positions(3)):
        assert 0.3 + 0.2 * i <= x <= 0.5 + 0.2 * i


def test_a_range_of_bars_that_is_empty_is_refused():
    with pytest.raises(ModelError, match="bar_range"):
        build_robot("biped", {"bar_height": 0.01, "bar_range": "1.0, 0.5"})


def test_a_closure_that_is_too_stiff_for_the_step_is_refused_with_the_bound():
    with pytest.raises(ModelError, match="must be >="):
        build_robot("biped", {"feet": "soft", "foot_closure_compliance": 1e-8})
