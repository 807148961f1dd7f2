"""Plans of sweeps: variations from text, their points, and what is refused."""

import math
import subprocess
import sys

import numpy as np
import pytest

from pliant.base.errors import PliantError
from pliant.base.wing import Wing, declare, offers, withdraw
from pliant.sweep import SweepPlan, Variation, parse_variation
from pliant.sweep import plan as plans
from pliant.tasks.journal import code_digest


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a.k=1,2,3", (1.0, 2.0, 3.0)),
        ("a.k=0:1:3", (0.0, 0.5, 1.0)),
        ("a.k=1:100:3:log", (1.0, 10.0, 100.0)),
        ("a.clip=flat,stop", ("flat", "stop")),
    ],
)
def test_a_grid_is_read_from_text(text, values):
    assert parse_variation(text).values == pytest.approx(values) if values[0] != "flat" else True
    assert parse_variation(text).path == text.split("=")[0]


@pytest.mark.parametrize(
    "text",
    ["k", "k=", "=1", "k=1:2", "k=1:2:x", "k=1:2:0", "k=0:1:3:log", "k=uniform(1)", "k=uniform(2,1)", "k=gauss(0,1)",
     "k=loguniform(0,1)", "k=normal(0,-1)", "k=1:2:3:cubic", "k=uniform(a,b)"],
)  # fmt: skip
def test_a_variation_that_cannot_be_read_is_refused_with_the_valid_forms(text):
    with pytest.raises(PliantError):
        parse_variation(text)


@pytest.mark.parametrize("count", [0, 100_000_000])
def test_a_grid_with_no_or_too_many_values_is_refused_with_both_limits(count):
    with pytest.raises(PliantError, match=f"count is {count}; must be from 1 to 10000000"):
        parse_variation(f"k=1:2:{count}")


def test_a_grid_combines_all_values_and_the_order_is_fixed(robot_file, plan):
    points = list(plan(robot_file, "elbow.k1=0.001,0.002", "elbow.damping=0.1,0.2,0.3").points())
    assert len(points) == 6
    assert points[0] == {"elbow.k1": 0.001, "elbow.damping": 0.1}
    assert points[1] == {"elbow.k1": 0.001, "elbow.damping": 0.2}


def test_random_points_depend_on_the_seed_and_the_index_alone(robot_file, plan):
    first = list(plan(robot_file, "elbow.k1=uniform(0.001,0.002)", samples=5, seed=3).points())
    again = list(plan(robot_file, "elbow.k1=uniform(0.001,0.002)", samples=5, seed=3).points())
    longer = list(plan(robot_file, "elbow.k1=uniform(0.001,0.002)", samples=8, seed=3).points())
    other = list(plan(robot_file, "elbow.k1=uniform(0.001,0.002)", samples=5, seed=4).points())
    assert first == again == longer[:5]
    assert first != other


def test_a_plan_checks_its_numbers(robot_file, plan):
    with pytest.raises(PliantError, match="duration"):
        plan(robot_file, duration=0.0)
    with pytest.raises(PliantError, match="samples"):
        plan(robot_file, samples=0)
    with pytest.raises(PliantError, match="is varied twice"):
        plan(robot_file, "elbow.k1=1", "elbow.k1=2")


def test_a_distribution_draws_what_it_says():
    rng = np.random.default_rng(0)
    draws = [Variation(path="x", distribution="loguniform", a=1.0, b=100.0).draw(rng) for _ in range(2000)]
    assert min(draws) >= 1.0
    assert max(draws) <= 100.0
    assert np.mean(np.log10(draws)) == pytest.approx(1.0, abs=0.05)
    assert not math.isnan(np.mean(draws))


def test_a_plan_knows_the_code_of_all_wings_of_pliant_that_make_or_read_robots(monkeypatch):
    """So that a sweep of an SDF does not go on with the results of another reader."""
    plan = SweepPlan(source="arm.sdf", variations=(parse_variation("elbow.k1=1,2"),))
    before, names = plan.digest(), []

    def changed(*found):
        names.extend(found)
        return "changed"

    monkeypatch.setattr(plans, "code_digest", changed)
    assert plan.digest() != before
    places = [offer.value for kind in plans.OFFERED for offer in offers(kind)]
    for place in places:
        assert any(f"{place.partition(':')[0]}.".startswith(f"{name}.") for name in names), place
    assert {"pliant.feet", "pliant.franka", "pliant.rods", "pliant.sdf", "pliant.yarp", "pliant.dynamixel"} <= set(
        names
    )


SIMULATED = """
import sys
from pliant.sweep import SweepPlan, parse_variation
from pliant.sweep.chunks import load_robots, measured, run_chunk
from pliant.sweep.plan import CODE, _offering

vary, commands = (parse_variation("elbow.k1=0.001,0.002"),), {"elbow/equilibrium_position": 0.5}
plan = SweepPlan(source=sys.argv[1], variations=vary, commands=commands, duration=0.01)
points = list(plan.points())
run_chunk(plan, 0, points, list(measured(plan, load_robots(plan, points)[0])))
print(*(name for name in sys.modules if name.startswith("pliant.") and name.count(".") > 1))
print(*CODE, *_offering())
"""
KEPT = ("pliant.recording.", "pliant.sweep.plan", "pliant.sweep.plot", "pliant.sweep.table")
"""Modules that hold, write or draw the results."""


def test_a_plan_knows_every_module_that_simulates_a_chunk(robot_file):
    done = subprocess.run([sys.executable, "-c", SIMULATED, robot_file], stdout=subprocess.PIPE, text=True, check=True)
    imported, known = (line.split() for line in done.stdout.splitlines())
    assert "pliant.engine.callbacks" in imported
    others = [name for name in imported if not any(f"{name}.".startswith(f"{part}.") for part in known)]
    assert not [name for name in others if not name.startswith(KEPT) and not name.endswith(".wing")]


@pytest.mark.parametrize("kind", plans.OFFERED)
def test_a_changed_wing_makes_the_results_of_a_sweep_new(kind, tmp_path, monkeypatch):
    """A robot of a wing's catalogue, a device, a format, a tag or a block of a file may all have changed."""
    package = tmp_path / f"guest_of_{kind}"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "offered.py").write_text("THING = 1\n")
    (package / "used.py").write_text("STIFFNESS = 1.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    place = f"{package.name}.offered:THING"
    one = kind in ("devices", "formats", "tags", "batches")
    declare(
        Wing(
            name="guest",
            summary="A guest.",
            **{kind: place if kind == "derivation" else (place,) if one else {"thing": place}},
        )
    )
    try:
        plan = SweepPlan(source="arm.yaml", variations=(parse_variation("elbow.k1=1,2"),))
        before = plan.digest()
        code_digest.cache_clear()
        assert plan.digest() == before
        (package / "used.py").write_text("STIFFNESS = 2.0\n")
        code_digest.cache_clear()
        assert plan.digest() != before
    finally:
        withdraw("guest")
