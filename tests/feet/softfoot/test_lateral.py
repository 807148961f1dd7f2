"""The foot across: obstacles under a part of its width, the turn of the metatarsal joint, springs between chains."""

import mujoco
import pytest
from tests.helpers.softfoot_rigs import press

from pliant.feet.softfoot import softfoot

ONE, TWO = (0.0305, 0.06), (0.012, 0.06)
"""Ends of a bar under the outer chain only, and under the outer two."""
FAST = {"coupling": "midpoint", "tendon": "fixed"}


def on(width, **options):
    """Return a foot at rest under 300 N on a bar of 20 mm under a part of its width."""
    return press(300, bar=(0.02, 0.02, *width), timestep=2e-3, seconds=3.0, **{**FAST, **options})


def lift(rest, number):
    """Return how high a chain stands over the bar's place [m]."""
    return float(rest.data.xpos[rest.model.body(f"phalanx_4_{number}").id][2])


@pytest.fixture(scope="module")
def under_one():
    return on(ONE)


def test_only_the_chains_over_an_obstacle_bend(under_one):
    flat = press(300, timestep=2e-3, seconds=3.0, **FAST)
    assert lift(under_one, 1) - lift(flat, 1) > 8e-3
    # The others rise with the ankle, because their soles carry less, and stay straight.
    rise = [lift(under_one, number) - lift(flat, number) for number in (2, 3, 4, 5)]
    assert rise == pytest.approx([rise[0]] * 4, abs=1e-5)
    assert 0.0 < rise[0] < 1e-3
    # The foot leans on it: chain 1 is the outer, left one.
    assert under_one.center_of_pressure()[1] > 5e-3


def test_two_chains_press_on_an_obstacle_twice_as_hard_as_one(under_one):
    assert on(TWO).force_on("bar") == pytest.approx(2.0 * under_one.force_on("bar"), rel=0.1)


def test_lumped_chains_press_as_all_the_chains_that_they_stand_for(under_one):
    # What lumping loses: one of three chains stands for 1.67, a single one for five.
    three, one = (on(ONE, n_chains=n, lump=True) for n in (3, 1))
    exact = under_one.force_on("bar")
    assert three.force_on("bar") == pytest.approx(5 / 3 * exact, rel=0.15)
    assert one.force_on("bar") > 2.0 * exact
    # Under the whole width nothing is lost.
    whole = (-0.2, 0.2)
    assert on(whole, n_chains=1, lump=True).force_on("bar") == pytest.approx(on(whole).force_on("bar"), rel=0.02)


def test_a_metatarsal_joint_that_turns_brings_the_pressure_back_to_the_middle(under_one):
    free = on(ONE, frontal_freedom=True, frontal_stiffness=1.0)
    joint = free.model.joint("frontal_arch_to_metatarsal_bar")
    turn = float(free.data.qpos[joint.qposadr[0]])
    assert abs(turn) > 0.01
    assert abs(free.center_of_pressure()[1]) < 0.5 * under_one.center_of_pressure()[1]
    stiff = on(ONE, frontal_freedom=True, frontal_stiffness=900.0)
    assert stiff.center_of_pressure()[1] == pytest.approx(under_one.center_of_pressure()[1], abs=0.5e-3)


def test_the_turn_keeps_mass_and_closure_of_the_foot():
    model = softfoot(frontal_freedom=True).compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert sum(model.body_mass) == pytest.approx(0.9371521, abs=1e-7)
    assert abs(data.efc_pos[: data.ne]).max() < 1e-12


def test_the_turn_of_a_right_foot_is_the_mirror_image():
    left, right = (on(ONE, frontal_freedom=True, n_chains=3, lump=True, side=side) for side in ("left", "right"))
    mirrored = on((-ONE[1], -ONE[0]), frontal_freedom=True, n_chains=3, lump=True, side="right")
    assert mirrored.center_of_pressure()[1] == pytest.approx(-left.center_of_pressure()[1], abs=1e-5)
    # Under its inner chain the same bar lifts the right foot as much.
    assert right.height == pytest.approx(left.height, abs=1e-5)


def test_springs_between_chains_let_the_neighbours_help(under_one):
    sprung = on(ONE, chain_spring=5.0)
    assert sprung.force_on("bar") > 1.2 * under_one.force_on("bar")
    assert lift(sprung, 2) - lift(under_one, 2) > 1e-3
    assert lift(sprung, 1) < lift(under_one, 1) + 1e-4


@pytest.mark.parametrize("n_chains", [2, 3, 4, 5])
def test_springs_of_lumped_chains_store_the_energy_of_those_of_a_whole_foot(n_chains):
    # Angles that change evenly across the foot: 1 rad a metre.
    model = softfoot(n_chains=n_chains, lump=True, chain_spring=2.0, **FAST).compile()
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    for number in range(1, n_chains + 1):
        joint = model.joint(f"phalanx_2_{number}_to_phalanx_3_{number}")
        data.qpos[joint.qposadr[0]] = data.xpos[model.body(f"phalanx_3_{number}").id][1]
    mujoco.mj_forward(model, data)
    springs = [t for t in range(model.ntendon) if model.tendon(t).name.startswith("chain_spring")]
    energy = sum(0.5 * model.tendon_stiffness[t].flat[0] * data.ten_length[t] ** 2 for t in springs)
    assert energy == pytest.approx(0.5 * 2.0 * 4 * 0.0185**2)
