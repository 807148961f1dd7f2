"""Faults of logs: each corruption of a good log is named, and good logs name none."""

import functools
import itertools
import math

import numpy as np
import pytest
from daily import by_day
from logs_of_joints import pull_log, servo_log

from pliant.identification.faults import find_faults, usable_parts
from pliant.identification.measurements import Measurement
from pliant.laws import CompliantActuator, Mode, QbMove, get_law

LAWS = ("sea", "qbmove", "bavs", "awas_ii")
RATES = (50.0, 100.0, 250.0, 500.0, 1000.0)


def faults_of(log, actuator, dynamic=True):
    return find_faults(Measurement.of(log, ordered=False), actuator, dynamic=dynamic)


@pytest.mark.parametrize(
    ("mode", "law"),
    by_day(
        itertools.product([Mode.PID_EQ_PRESET, Mode.PID_REFS], LAWS),
        lambda case: (case[0] is Mode.PID_REFS) == (LAWS.index(case[1]) % 2 == 1),
    ),
)
def test_good_logs_of_servos_name_no_fault_at_any_rate_noise_and_resolution(law, mode):
    for rate in RATES:
        for noise, resolution in ((0.0, 0.0), (1e-4, 0.0), (1e-3, 0.0), (0.0, 2e-4), (1e-4, 1.5e-3)):
            actuator, log = servo_log(law, rate, noise=noise, resolution=resolution, mode=mode, seconds=1.5)
            assert not faults_of(log, actuator), (rate, noise, resolution)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("stiffer", [0.1, 1.0, 10.0])
def test_good_slow_pulls_name_no_fault_however_wrong_the_stiffness_is_at_first(law, stiffer):
    for n, rate in ((60, 1.0), (600, 100.0), (3000, 500.0)):
        for noise in (0.0, 2e-3, 2e-2):
            actuator, log = pull_log(law, n=n, rate=rate, noise=noise, stiffer=stiffer)
            assert not faults_of(log, actuator, dynamic=False), (n, noise)


def cut(log, a, b):
    return {name: np.r_[x[:a], x[b:]] for name, x in log.items()}


def restart(log):
    n = log["time"].size // 2
    return log | {"time": np.r_[log["time"][:n], log["time"][n:] - log["time"][n]]}


def jump(seconds):
    def change(log):
        n = log["time"].size // 3
        return log | {"time": log["time"] + np.where(np.arange(log["time"].size) >= n, seconds, 0.0)}

    return change


def repeat(log):
    return {name: np.insert(x, 40, x[39]) for name, x in log.items()}


def scale(*names, by):
    return lambda log: log | {name: by * log[name] for name in names}


def exchange(one, two):
    return lambda log: log | {one: log[two], two: log[one]}


def stick(name, a=0.4, b=0.6):
    def change(log):
        values = log[name].copy()
        i, j = int(a * values.size), int(b * values.size)
        values[i:j] = values[i]
        return log | {name: values}

    return change


def saturate(name):
    def change(log):
        top = 0.6 * float(np.max(np.abs(log[name])))
        return log | {name: np.clip(log[name], -top, top)}

    return change


MOTORS = ("motor_1_position", "motor_2_position")
DEG = 180.0 / math.pi
CORRUPTIONS = {
    "gap": (lambda log: cut(log, 300, 360), "gap", {"time"}),
    "restart": (restart, "restart", {"time"}),
    "clock jumps forward": (jump(3.0), "clock jump", {"time"}),
    "clock jumps back": (jump(-0.25), "clock jump", {"time"}),
    "a row twice": (repeat, "repeated time", {"time"}),
    "time in ms": (scale("time", by=1e3), "unit", {"time"}),
    "time in us": (scale("time", by=1e6), "unit", {"time"}),
    "link in degrees": (scale("link_position", by=DEG), "unit", {"link_position"}),
    "motors in degrees": (scale(*MOTORS, by=DEG), "unit", set(MOTORS)),
    "motor 1 in degrees": (scale("motor_1_position", by=DEG), "unit", {"motor_1_position"}),
    "velocity in deg/s": (scale("link_velocity", by=DEG), "unit", {"link_velocity"}),
    "torque in mN m": (scale("torque", by=1e3), "unit", {"torque"}),
    "motors exchanged": (exchange(*MOTORS), "swapped", set(MOTORS)),
    "position and velocity exchanged": (
        exchange("link_position", "link_velocity"), "swapped", {"link_position", "link_velocity"},
    ),
    "link and motor exchanged": (
        exchange("link_position", "motor_1_position"), "swapped", {"link_position", "motor_1_position"},
    ),
    "link position negative": (scale("link_position", by=-1.0), "sign", {"link_position"}),
    "link velocity negative": (scale("link_velocity", by=-1.0), "sign", {"link_velocity"}),
    "torque negative": (scale("torque", by=-1.0), "sign", {"torque"}),
    "motor 1 negative": (scale("motor_1_position", by=-1.0), "sign", {"motor_1_position"}),
    "link stuck": (stick("link_position"), "stuck", {"link_position"}),
    "motor stuck": (stick("motor_1_position"), "stuck", {"motor_1_position"}),
    "torque stuck": (stick("torque"), "stuck", {"torque"}),
    "torque saturated": (saturate("torque"), "saturated", {"torque"}),
    "link saturated": (saturate("link_position"), "saturated", {"link_position"}),
}  # fmt: skip


logged = functools.lru_cache(servo_log)


CONDITIONS = [((200.0, 2e-4), (1000.0, 0.0)), ((200.0, 0.0), (1000.0, 2e-4))]
"""Pairs of a rate [Hz] and a noise."""


@pytest.mark.parametrize("conditions", [CONDITIONS[0], pytest.param(CONDITIONS[1], marks=pytest.mark.nightly)])
@pytest.mark.parametrize("corruption", CORRUPTIONS)
def test_a_corrupted_log_names_its_fault_and_no_other(corruption, conditions):
    change, name, columns = CORRUPTIONS[corruption]
    missed = []
    for law in ("sea", "qbmove", "awas_ii"):
        for rate, noise in conditions:
            actuator, log = logged(law, rate, noise=noise)
            if not columns <= set(log) or (law == "awas_ii" and corruption == "motors in degrees"):
                continue
            found = faults_of(change(log), actuator)
            if {f.name for f in found} != {name} or set().union(*(f.columns for f in found)) != columns:
                missed.append((law, rate, noise, [str(f) for f in found]))
    assert not missed


def test_a_gap_a_restart_and_a_jump_leave_their_parts_as_logs_of_their_own():
    actuator, log = logged("sea", 500.0)
    for change in (lambda log: cut(log, 300, 360), restart, jump(3.0), jump(-0.25)):
        trial = Measurement.of(change(log), ordered=False)
        faults = find_faults(trial, actuator, dynamic=True)
        parts = usable_parts(trial, faults)
        assert len(parts) == 2
        assert sum(part.samples for part in parts) == trial.samples
        for part in parts:
            part.check_order()


def test_a_stuck_link_cuts_a_log_and_a_saturated_torque_is_only_not_compared():
    actuator, log = logged("qbmove", 500.0)
    stuck = Measurement.of(stick("link_position")(log))
    (fault,) = find_faults(stuck, actuator, dynamic=True)
    assert [part.samples for part in usable_parts(stuck, [fault])] == [400, 400]
    assert fault.rows == (401, 600)
    clipped = Measurement.of(saturate("torque")(log))
    faults = find_faults(clipped, actuator, dynamic=True)
    (part,) = usable_parts(clipped, faults)
    assert part.samples == clipped.samples
    limited = np.abs(clipped["torque"]) == np.max(np.abs(clipped["torque"]))
    assert np.count_nonzero(~part.compared("torque")) >= 0.9 * np.count_nonzero(limited)
    assert part.compared("motor_1_position").all()


@pytest.mark.parametrize("law", LAWS)
def test_a_column_of_deflections_is_examined_like_one_of_positions(law):
    for n, rate, noise in ((60, 1.0, 2e-3), (600, 100.0, 0.0)):
        actuator, log = pull_log(law, n=n, rate=rate, noise=noise)
        log["deflection"] = log.pop("link_position") - log.pop("equilibrium")
        named = lambda change: {(f.name, *f.columns) for f in faults_of(change(log), actuator, dynamic=False)}  # noqa: B023, E731
        assert named(dict) == set()
        assert named(scale("deflection", by=DEG)) == {("unit", "deflection")}
        assert named(scale("torque", by=-1.0)) == {("sign", "torque")}
        if n > 60:
            assert named(stick("deflection")) == {("stuck", "deflection")}


def test_exchanged_columns_of_deflection_and_torque_are_named_where_the_spring_is_no_line():
    deflection = np.tile(np.linspace(-0.4, 0.4, 60), 3)
    preset = np.repeat((0.0, 0.2, 0.4), 60)
    law = QbMove()
    log = {"deflection": law.evaluate(deflection, preset, -preset).torque, "preset": preset, "torque": deflection}
    (fault,) = faults_of(log, CompliantActuator(law, Mode.SPRING_EQ_PRESET), dynamic=False)
    assert (fault.name, fault.columns) == ("swapped", ("deflection", "torque"))


def test_two_faults_of_one_log_are_both_named():
    actuator, log = logged("qbmove", 500.0)
    found = faults_of(scale("link_velocity", by=-1.0)(scale("torque", by=1e3)(log)), actuator)
    assert {(f.name, f.columns) for f in found} == {("sign", ("link_velocity",)), ("unit", ("torque",))}
    assert all(f.spoils_all for f in found)


def test_muscles_and_short_logs_are_not_judged():
    log = {"time": np.arange(5) * 0.1, "q": np.ones(5), "tau": np.ones(5)}
    assert not faults_of(log, None)
    muscle = CompliantActuator(get_law("pam")(), Mode.SPRING_REFS)
    n = np.arange(100)
    pressures = {"theta_1": 1e5 + 1e3 * np.sin(n), "theta_2": np.full(100, 1e5)}
    assert not faults_of(
        {"time": 0.01 * n, "q": 0.1 * np.sin(0.1 * n), "tau": np.cos(0.1 * n), **pressures}, muscle, False
    )


@pytest.mark.parametrize("names", [("theta_eq", "preset"), ("reference_1", "reference_2")])
def test_the_references_of_mode_6_are_mapped_to_the_motors_under_both_names(names):
    actuator = CompliantActuator(QbMove(), Mode.PID_EQ_PRESET)
    t = 0.005 * np.arange(400)
    eq, preset = 0.1 * np.sin(9.0 * t), 0.3 + 0.2 * np.sin(4.0 * t)
    log = {"time": t, "q": 0.5 * eq, names[0]: eq, names[1]: preset, "theta_1": eq + preset, "theta_2": eq - preset}
    assert find_faults(Measurement.of(log), actuator, dynamic=True) == ()
    (fault,) = find_faults(Measurement.of({**log, "theta_2": preset - eq}), actuator, dynamic=True)
    assert (fault.name, fault.columns) == ("sign", ("motor_2_position",))
    assert "as read, to 100 % otherwise" in fault.text
