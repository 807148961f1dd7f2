"""Standing and drops of three feet: statics, geometry, energy."""

import math

import numpy as np
import pytest

from pliant.base.errors import PliantError
from pliant.base.numerics import GRAVITY
from pliant.feet.standing_bench import FEET, StandingOptions, drop, stand


def test_a_rigid_foot_on_flat_ground_is_level_and_supported_over_its_length():
    found = stand("rigid", [(0.0, 0.0)], StandingOptions())
    assert abs(found.pitch[0]) < math.radians(0.1)
    assert found.length[0] == pytest.approx(0.265, abs=1e-3)


def test_the_springs_of_the_pad_carry_the_load_and_what_is_above_them():
    options = StandingOptions(load=200.0)
    found = stand("compliant", [(0.0, 0.0)], options, seconds=2.0)
    pads = [i for i in range(found.model.njnt) if found.model.joint(i).name.startswith("pad_")]
    compression = found.poses[0, found.model.jnt_qposadr[pads]]
    above = GRAVITY * (float(found.model.body_mass.sum()) - 0.002 * len(pads))
    assert options.pad_stiffness * float(compression.mean()) == pytest.approx(200.0 + above, rel=1e-3)
    assert (np.diff(compression) < 0.0).all(), "the ankle is nearer to the heel, where the pad is compressed more"


@pytest.mark.parametrize("kind", FEET)
def test_a_higher_fall_hits_harder(kind):
    impacts = drop(kind, [(0.01, 0.0, 0.0), (0.04, 0.0, 0.0)], StandingOptions())
    assert 1.0 < impacts[0] < impacts[1]


def test_a_soft_foot_hits_less_hard_than_a_rigid_one_from_every_height():
    drops = [(0.01, 0.0, 0.0), (0.04, 0.0, 0.0), (0.04, 0.02, 0.02)]
    soft, rigid = (drop(kind, drops, StandingOptions()) for kind in ("soft", "rigid"))
    assert (soft < 0.6 * rigid).all()


def test_the_impact_of_a_pad_is_that_of_a_mass_on_a_spring():
    # Undamped: a / g = sqrt(1 + 2 h k / (m g)) over static equilibrium, plus one g of weight.
    options = StandingOptions(pad_damping=0.0, payload=5.0)
    mass, fall = 5.0 + 0.937152 + 0.001 + 32 * 0.002, 0.02
    expected = math.sqrt(1.0 + 2.0 * fall * options.pad_stiffness / (mass * GRAVITY)) + 1.0
    assert drop("compliant", [(fall, 0.0, 0.0)], options)[0] == pytest.approx(expected, rel=0.1)


def test_the_impact_does_not_hang_on_the_time_step():
    coarse, fine = (drop("soft", [(0.02, 0.0, 0.0)], StandingOptions(), timestep=dt) for dt in (6.25e-5, 3.125e-5))
    assert coarse == pytest.approx(fine, rel=0.1)


def test_the_first_bar_is_flat_ground_and_the_others_lift_the_foot():
    found = stand("soft", [(0.0, 0.0), (0.02, 0.02)], StandingOptions())
    assert np.diff(found.poses[:, 0])[0] > 0.0


def test_an_unknown_foot_is_refused():
    with pytest.raises(PliantError, match="must be one of soft, rigid, compliant"):
        stand("wooden", [(0.0, 0.0)], StandingOptions())
