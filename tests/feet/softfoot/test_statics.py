"""The foot under load: height, forces, shape and centre of pressure at rest.

The numbers were measured on the released model with the same rigs, time step 1 ms and the boxes as soles; they are
stored here with the digits that were printed.
"""

import itertools
import math

import mujoco
import pytest
from daily import by_day
from tests.helpers.softfoot_rigs import press

from pliant.feet.softfoot import closure_compliance, softfoot

FLAT = {100: (95.04, 46.8, 59.2), 300: (94.71, 153.0, 150.5), 500: (94.44, 288.1, 208.3)}
"""Load [N] -> height of the ankle [mm], force on the heel and on the first modules [N]."""
PITCH = (-2, 1, 4, 7, 10)
PRESSURE = {900: (-50.2, -27.4, 4.5, 39.1, 50.0), 300: (-50.8, -6.4, 56.0, 62.0, 76.0)}
"""Load [N] -> centre of pressure ahead of the ankle at each pitch [mm]."""


@pytest.mark.parametrize("load", by_day(FLAT, lambda load: load == 300))
def test_a_foot_on_flat_ground_stands_as_the_release_does(load):
    height, heel, first = FLAT[load]
    rest = press(load, release_quirks=True)
    assert rest.speed < 1e-4
    assert 1e3 * rest.height == pytest.approx(height, abs=0.02)
    assert rest.body_force("heel") == pytest.approx(heel, rel=0.02)
    assert rest.body_force("phalanx_1") == pytest.approx(first, rel=0.02)
    assert rest.body_force("rollover") == 0.0
    assert rest.body_force("") == pytest.approx(load + 0.937152 * 9.81, abs=0.01)


def test_a_foot_on_a_bar_bends_as_the_release_does():
    rest = press(300, release_quirks=True, bar=(0.02, 0.02))
    printed = [20.9, 21.9, 7.0, -7.2, -11.6, -13.2, -16.9, 1.2, 1.8]
    assert rest.pitches() == pytest.approx(printed, abs=0.1)
    assert rest.body_force("heel") == pytest.approx(94.5, rel=0.02)
    assert rest.force_on("bar") == pytest.approx(131.0, rel=0.02)
    assert rest.body_force("rollover", "phalanx_6", "distal") == pytest.approx(83.6, rel=0.02)
    assert 1e3 * rest.height == pytest.approx(96.7, abs=0.05)


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({}, marks=pytest.mark.nightly, id="five chains"),
        pytest.param({"n_chains": 3, "lump": True}, id="three"),
        pytest.param({"n_chains": 1, "lump": True}, id="one"),
    ],
)
def test_the_centre_of_pressure_moves_with_the_pitch_as_in_the_release(options):
    for load, printed in PRESSURE.items():
        for pitch, expected in zip(PITCH, printed, strict=True):
            rest = press(load, pitch_deg=pitch, forward=True, timestep=2e-3, seconds=2.0, **options)
            assert 1e3 * rest.center_of_pressure()[0] == pytest.approx(expected, abs=5.0), (load, pitch)


TRIAL = {"servo": (3000.0, 100.0, 0.07), "mass": 1.0, "timestep": 2e-3, "seconds": 2.0, "release_quirks": True}
"""The rig of the trial, which was not described: a servo of 3000 N m/rad on a carriage of 1 kg holds the ankle. The
printed angles of roll say so: they are those at which a servo of this stiffness rests that is sent to 0.5 and 1 degrees
under 300 N, and to 1 and 2 degrees under 900 N. Mass and inertia were fitted (they make the closure stiffer)."""
ROLL = {(300, 0.5): (0.32, 30.6), (300, 1.0): (0.75, 44.5), (900, 1.0): (0.62, 22.3), (900, 2.0): (1.33, 39.1)}
"""Load [N] and reference of the servo [deg] -> printed roll [deg] and centre of pressure beside the ankle [mm]."""


@pytest.mark.parametrize("load", by_day(PRESSURE, lambda load: load == min(PRESSURE)))
def test_the_centre_of_pressure_over_the_pitch_is_that_of_the_release_on_the_rig_of_the_trial(load):
    for pitch, expected in zip(PITCH, PRESSURE[load], strict=True):
        rest = press(load, pitch_deg=pitch, forward=True, **TRIAL)
        assert 1e3 * rest.center_of_pressure()[0] == pytest.approx(expected, abs=0.7), pitch


def test_the_released_closure_has_the_documented_compliance_on_the_rig_of_the_trial():
    rig = {**TRIAL, "seconds": 0.002}
    for rest in (press(300, pitch_deg=1, forward=True, **rig), press(300, roll_deg=1.0, sideways=True, **rig)):
        assert closure_compliance(rest.model) == pytest.approx(7.0e-6, abs=0.06e-6)


@pytest.mark.parametrize(("load", "reference"), ROLL)
def test_roll_and_centre_of_pressure_are_those_of_the_release_on_the_rig_of_the_trial(load, reference):
    roll, center = ROLL[load, reference]
    rest = press(load, roll_deg=reference, sideways=True, **TRIAL)
    assert math.degrees(rest.data.joint("servo").qpos[0]) == pytest.approx(roll, abs=0.015)
    assert -1e3 * rest.center_of_pressure()[1] == pytest.approx(center, rel=0.02)


REDUCED = {"coupling": "midpoint", "tendon": "fixed"}


@pytest.fixture(scope="module")
def exact_centers():
    return centers()


def centers(**options):
    """Return the centre of pressure ahead of the ankle over the pitch sweep of both loads [mm]."""
    return [
        1e3 * press(load, pitch_deg=pitch, forward=True, timestep=2e-3, seconds=2.0, **options).center_of_pressure()[0]
        for load in PRESSURE
        for pitch in PITCH
    ]


@pytest.mark.parametrize(
    ("n_chains", "contact"),
    by_day(itertools.product((1, 3, 5), ("box", "skid")), {(1, "box"), (3, "skid")}.__contains__),
)
def test_the_reduced_foot_has_the_center_of_pressure_of_the_exact_one(n_chains, contact, exact_centers):
    # 5 mm is what was asked for; found are 0.4 mm with boxes, 0.6 mm with skids.
    found = centers(n_chains=n_chains, lump=True, contact=contact, **REDUCED)
    assert found == pytest.approx(exact_centers, abs=1.0)


def test_the_armature_does_not_change_the_center_of_pressure():
    one, tenth = (
        press(900, pitch_deg=7, forward=True, timestep=2e-3, seconds=2.0, n_chains=1, lump=True, armature=a)
        for a in (1e-3, 1e-4)
    )
    assert one.center_of_pressure()[0] == pytest.approx(tenth.center_of_pressure()[0], abs=1e-5)


def test_equilibria_do_not_depend_on_the_time_step():
    one, four = (press(300, timestep=dt, n_chains=1, lump=True, bar=(0.02, 0.02)) for dt in (1e-3, 4e-3))
    assert one.height == pytest.approx(four.height, abs=1e-6)
    assert one.force_on("bar") == pytest.approx(four.force_on("bar"), abs=0.05)


def test_fixed_tendons_and_midpoint_hinges_stay_close_to_the_exact_foot():
    # In a trial with the release: ankle 96.7 and 97.0 mm, pitches within 0.6 degrees; here the closure is softer.
    exact = press(300, bar=(0.02, 0.02))
    fixed = press(300, bar=(0.02, 0.02), tendon="fixed")
    assert fixed.force_on("bar") == pytest.approx(exact.force_on("bar"), abs=0.1)
    assert fixed.pitches() == pytest.approx(exact.pitches(), abs=0.01)
    midpoint = press(300, bar=(0.02, 0.02), tendon="fixed", coupling="midpoint")
    assert midpoint.height == pytest.approx(exact.height, abs=0.5e-3)
    assert midpoint.pitches() == pytest.approx(exact.pitches(), abs=1.0)


def test_skids_touch_a_bar_at_half_the_points_and_carry_as_boxes_do():
    box, skid = (press(300, contact=kind, bar=(0.02, 0.02), **REDUCED) for kind in ("box", "skid"))
    assert skid.data.ncon < 0.6 * box.data.ncon
    assert skid.force_on("bar") == pytest.approx(box.force_on("bar"), abs=2.0)
    assert skid.body_force("heel") == pytest.approx(box.body_force("heel"), abs=1.0)
    assert skid.pitches() == pytest.approx(box.pitches(), abs=0.5)
    assert skid.height == pytest.approx(box.height, abs=0.1e-3)


def test_plain_shapes_change_what_is_drawn_only():
    full, plain = (
        press(300, shapes=kind, bar=(0.02, 0.02), seconds=1.0, n_chains=1, lump=True, **REDUCED)
        for kind in ("full", "plain")
    )
    assert plain.data.qpos == pytest.approx(full.data.qpos, abs=1e-12)
    drawn = [g for g in range(plain.model.ngeom) if plain.model.geom_bodyid[g]]
    assert len(drawn) < 0.5 * (full.model.ngeom - 2)
    assert all(plain.model.geom_contype[g] and plain.model.geom_group[g] < 3 for g in drawn)


def test_a_foot_alone_is_solved_without_islands_and_rests_in_the_same_place():
    alone = softfoot(n_chains=1).compile()
    flag = mujoco.mjtDisableBit.mjDSBL_ISLAND
    assert alone.opt.disableflags == flag
    rest = press(300, seconds=1.0, timestep=2e-3, n_chains=1, lump=True, **REDUCED)
    data = mujoco.MjData(rest.model)
    data.qpos[:], data.qvel[:], data.qfrc_applied[0] = rest.data.qpos, rest.data.qvel, -300.0
    rest.model.opt.disableflags |= flag
    mujoco.mj_step(rest.model, data, 500)
    assert data.qpos == pytest.approx(rest.data.qpos, abs=1e-6)


def test_capsules_touch_a_bar_at_half_the_points():
    box, capsule = (press(300, contact=kind, bar=(0.02, 0.02), seconds=2.0) for kind in ("box", "capsule"))
    assert capsule.data.ncon < 0.6 * box.data.ncon
    assert capsule.body_force("") == pytest.approx(box.body_force(""), abs=0.01)
    assert capsule.height == pytest.approx(box.height, abs=0.5e-3)


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({}, marks=pytest.mark.nightly, id="five chains"),
        pytest.param({"n_chains": 3, "lump": True}, id="three"),
    ],
)
def test_the_centre_of_pressure_moves_with_the_roll_as_in_the_release(options):
    # 4 mm: the roll is fixed here at what the servo of the trial left of it, and the closure softer on this rig. The
    # heel, half of whose points have lost the ground at 300 N and 0.75 degrees, is harder than the release's there.
    for load, roll, expected, off in (
        (300, 0.32, 30.6, 4.0), (300, 0.75, 44.5, 6.5), (900, 0.62, 22.3, 4.0), (900, 1.33, 39.1, 4.0)
    ):  # fmt: skip
        rest = press(load, roll_deg=roll, timestep=2e-3, seconds=2.0, **options)
        assert -1e3 * rest.center_of_pressure()[1] == pytest.approx(expected, abs=off), (load, roll)
