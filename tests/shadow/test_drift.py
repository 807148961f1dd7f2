"""Which parameter has drifted: logs of finer simulations with noise, quantisation and one parameter changed."""

import numpy as np
import pytest
from shadow_logs import described, log_of

from pliant.base.errors import ModelError, RecordingError
from pliant.shadow import ShadowLog, candidates_of, find_drift
from pliant.shadow.drift import _Terms
from pliant.shadow.log import Signal

SOFT = {"actuator.link_friction.torque": 0.05}
ROBOTS = {
    "sea": lambda: described("sea-1dof", **SOFT, **{"actuator.k": 10.0}),
    "qbmove": lambda: described("qbmove-1dof", **SOFT),
}
CHANGES = {
    ("sea", "joint spring"): {"joint.k": 10.0},
    ("qbmove", "joint spring"): {"joint.k1": 0.0019, "joint.k2": 0.0019},
    ("sea", "joint friction"): {"joint.link_friction.torque": 0.05},
    ("qbmove", "joint friction"): {"joint.link_friction.torque": 0.05},
    ("sea", "link load"): {"link.mass": 0.2},
    ("qbmove", "link load"): {"link.mass": 0.2},
    ("sea", "joint delay"): {"joint.command_delay": 0.02},
    ("qbmove", "joint delay"): {"joint.command_delay": 0.02},
}
CASES_SEED = {"sea": 10, "qbmove": 20}
SHORT = {("sea", "joint delay", 1.2), ("qbmove", "joint spring", 0.8)}
"""Changes that 8 s of a log show; the others have 20 s."""
DAILY = {("qbmove", "joint spring", 0.8)}
CASES = [
    pytest.param(
        robot, name, factor, marks=() if (robot, name, factor) in DAILY else (pytest.mark.nightly, pytest.mark.slow)
    )
    for robot, name in CHANGES
    for factor in (0.8, 1.2)
]


@pytest.mark.parametrize(("robot", "name", "factor"), CASES)
def test_the_parameter_that_was_changed_by_a_fifth_is_named(robot, name, factor):
    real = ROBOTS[robot]()
    changes = {path: factor * value for path, value in CHANGES[robot, name].items()}
    log = log_of(
        real,
        seed=CASES_SEED[robot] + len(name),
        duration=8.0 if (robot, name, factor) in SHORT else 20.0,
        changes=changes,
    )
    (found,), _ = find_drift(real, log, commands="held")
    assert found.drifted[:1] == (name,), found.verdict
    best = found.estimates[0]
    wanted = 0.02 * (factor - 1.0) if name.endswith("delay") else factor
    assert best.value == pytest.approx(wanted, abs=0.0015 if name.endswith("delay") else 0.04)


@pytest.mark.parametrize("robot", ["sea", pytest.param("qbmove", marks=(pytest.mark.nightly, pytest.mark.slow))])
def test_nothing_is_named_where_nothing_was_changed(robot):
    real = ROBOTS[robot]()
    (found,), _ = find_drift(real, log_of(real, seed=5, duration=6.0), commands="held")
    assert found.drifted == ()
    assert found.verdict.startswith("no parameter has drifted")
    assert found.misfit < 2e-3


@pytest.mark.nightly
@pytest.mark.slow
def test_windows_tell_when_a_load_was_picked_up():
    real = ROBOTS["sea"]()
    log = log_of(real, seed=3, duration=16.0, changes={"link.mass": 0.26}, at=8.0)
    windows, _ = find_drift(
        real, log, window=4.0, commands="held", watched=["link load", "joint spring", "joint delay"]
    )
    before = [w for w in windows if w.end <= 8.0]
    after = [w for w in windows if w.begin >= 9.0]
    assert before
    assert after
    assert all(w.drifted == () for w in before)
    assert all(w.drifted[:1] == ("link load",) for w in after)


def test_the_least_misfit_of_a_quadratic_change_is_found_exactly():
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=50), 0.1 * rng.normal(size=50)
    r = 0.7 * a + 0.49 * b
    terms = _Terms(float(r @ r), np.array([[r @ a, r @ b, a @ a, a @ b, b @ b]]))
    change, left = terms.least(0)
    assert change == pytest.approx(0.7, abs=1e-7)
    assert left == pytest.approx(0.0, abs=1e-9)


def test_all_stiffnesses_of_a_joint_drift_together_and_zeros_are_left_out():
    known = {candidate.name: candidate for candidate in candidates_of(described("qbmove-1dof"))}
    assert set(known["joint spring"].values) == {"joint.k1", "joint.k2"}
    assert known["joint spring"].value(1.0) == pytest.approx(1.25)
    assert known["link load"].values == {"link.mass": 0.2}
    assert "joint friction" in known  # of the motors
    assert known["joint delay"].value(-1.0) == pytest.approx(-0.005)


@pytest.mark.parametrize(
    ("watched", "message"),
    [
        ("elbow spring", "no parameter 'elbow spring'"),
        ("joint.k9", "no parameter 'k9'"),
        ("nobody.mass", "cannot be watched"),
        ("joint.link_damping", "must be more than 0"),
    ],
)
def test_what_cannot_be_watched_is_refused(watched, message):
    with pytest.raises(ModelError, match=message):
        candidates_of(described("qbmove-1dof"), [watched])


def test_a_log_that_is_too_short_and_a_kind_of_commands_that_does_not_exist_are_refused():
    time = np.arange(50) * 0.01
    log = ShadowLog({"joint/reference_1": Signal(time, time)}, {"joint/position": Signal(time, time)})
    robot = described("sea-1dof")
    with pytest.raises(RecordingError, match=r"must be more than 1 s to settle"):
        find_drift(robot, log)
    with pytest.raises(RecordingError, match="commands is 'hold'; did you mean 'held'"):
        find_drift(robot, log, commands="hold")
    for settle in (-0.2, float("nan")):
        with pytest.raises(RecordingError, match=r"settle is .* must be finite and >= 0"):
            find_drift(robot, log, settle=settle)
