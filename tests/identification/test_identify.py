import json

import numpy as np
import pytest

from pliant.errors import LawError, RecordingError
from pliant.identification.identify import (
    datasheet,
    fit_actuator,
    fit_friction,
    fit_law,
    fit_servo,
    loop_width,
    parameter_unit,
)
from pliant.identification.measurements import read_measurement
from pliant.laws import (
    BAVS,
    PID,
    SEA,
    AwAS2,
    CompliantActuator,
    DCMotor,
    Mode,
    PreslidingFriction,
    QbMove,
)

# Mengacci 2021, section 4.3 (names and units of k and a exchanged in print), qbMove kit manual, Maker Pro set of the
# authors' learning toolbox.
SETS = {
    "joint 1": QbMove(k1=0.01038, a1=6.257, k2=0.08918, a2=3.9),
    "joint 2": QbMove(k1=0.1015, a1=3.383, k2=0.05944, a2=7.011),
    "kit": QbMove(k1=0.0026, a1=8.9995, k2=0.0011, a2=8.9989),
    "maker pro": QbMove(k1=0.0227, a1=6.7328, k2=0.0216, a2=6.9602),
}


def pull(law, presets, noise=0.0, n=400, seed=0, friction=None, reach=None):
    """Torque of a joint whose link is moved slowly to and fro at several presets, as a recording would have it."""
    rng = np.random.default_rng(seed)
    actuator = CompliantActuator(law, Mode.SPRING_EQ_PRESET, link_friction=friction)
    trials = []
    for p in presets:
        limit = (
            (law.max_deflection - abs(p) if law.second_input == "angle" else law.max_deflection)
            if reach is None
            else reach
        )
        q = 0.98 * limit * np.sin(np.linspace(0.0, 4.0 * np.pi, n))
        torque = actuator.simulate(q, None, 0.0, p, 1e-3).torque
        trials.append({"q": q, "theta_eq": 0.0, "preset": p, "torque": torque + noise * rng.standard_normal(n)})
    return trials


@pytest.mark.parametrize("name", SETS)
def test_identified_sets_come_back_from_noisy_traces(name):
    law = SETS[name]
    found = fit_law("qbmove", pull(law, (0.1, 0.3, 0.5), noise=0.004))
    for parameter in ("k1", "a1", "k2", "a2"):
        true = getattr(law, parameter)
        e = found[parameter]
        assert abs(e.value - true) < 4.0 * e.standard_error
        assert e.value == pytest.approx(true, rel=0.03)
    assert found.rms("torque") == pytest.approx(0.004, rel=0.1)
    assert found.warnings == ()
    assert found.converged


@pytest.mark.parametrize("name", SETS)
def test_without_noise_the_parameters_are_exact(name):
    law = SETS[name]
    found = fit_law("qbmove", pull(law, (0.0, 0.2, 0.5)))
    for parameter in ("k1", "a1", "k2", "a2"):
        assert found[parameter].value == pytest.approx(getattr(law, parameter), rel=1e-6)


def test_standard_errors_are_those_of_repeated_experiments():
    law = QbMove()
    values, errors = [], []
    for seed in range(30):
        found = fit_law(law, pull(law, (0.2, 0.5), noise=0.02, n=120, seed=seed), symmetric=True, starts=1)
        values.append(found["a1"].value)
        errors.append(found["a1"].standard_error)
    assert np.std(values) == pytest.approx(np.mean(errors), rel=0.35)
    assert np.mean(values) == pytest.approx(law.a1, abs=4.0 * np.mean(errors) / np.sqrt(30.0))


@pytest.mark.parametrize(
    ("law", "free", "presets"),
    [
        (SEA(k=200.0), None, (0.0,)),
        (BAVS(), None, (0.0, 0.1)),
        (AwAS2(), ["Ks"], (0.005, 0.02)),
    ],
    ids=["sea", "bavs", "awas2"],
)
def test_the_other_laws_come_back_too(law, free, presets):
    start = law.replace(**{name: 1.6 * getattr(law, name) for name in (free or ["k"]) if hasattr(law, name)})
    if isinstance(law, BAVS):
        start = law.replace(a=2.0e-6, b=1.5e-6, k_e=6.0)
    found = fit_law(start, pull(law, presets, noise=1e-3), free)
    for e in found.estimates:
        assert e.value == pytest.approx(getattr(law, e.name.removeprefix("law.")), rel=0.01)
    assert parameter_unit(law, found.estimates[0].name) == found.estimates[0].unit != "" or law.name == "bavs"


def test_symmetric_springs_stay_equal_and_offsets_are_found():
    law = QbMove(k1=0.022, a1=6.85, k2=0.022, a2=6.85)
    trials = pull(law, (0.1, 0.4), noise=2e-3)
    for t in trials:
        t["q"] = t["q"] + 0.012
        t["torque"] = t["torque"] - 0.05
    found = fit_law("qbmove", trials, symmetric=True, offsets=("position_offset", "torque_offset"))
    assert found.law.k1 == found.law.k2 == pytest.approx(0.022, rel=0.02)
    assert found.law.a1 == found.law.a2 == pytest.approx(6.85, rel=0.01)
    assert found["position_offset"].value == pytest.approx(0.012, abs=1e-3)
    assert found["torque_offset"].value == pytest.approx(-0.05, abs=2e-3)


def test_outliers_are_borne_with_a_robust_loss():
    trials = pull(QbMove(), (0.2, 0.5), noise=0.005)
    for t in trials:
        t["torque"][::25] += 2.0
    plain = fit_law("qbmove", trials, symmetric=True)
    robust = fit_law("qbmove", trials, symmetric=True, loss="soft_l1")
    assert abs(robust["a1"].value - 8.9992) < 0.1 * abs(plain["a1"].value - 8.9992) + 0.05


def test_data_that_cannot_tell_say_so():
    # Small deflections see one number, the stiffness: k and a trade off.
    found = fit_law("qbmove", pull(QbMove(), (0.0,), noise=1e-6, reach=0.01), symmetric=True)
    assert any("trade off" in w or "known to" in w for w in found.warnings)
    assert found.condition > 1e3
    # At preset 0 nobody can say which spring is which.
    swapped = fit_law("qbmove", pull(SETS["joint 1"], (0.0,), noise=1e-4))
    assert any("another set fits as well" in w for w in swapped.warnings)
    # The clip is not in the data.
    clip = fit_law(QbMove(), pull(QbMove(), (0.3,), reach=0.2), ["k1", "k2", "max_deflection"])
    assert any("do not determine law.max_deflection" in w for w in clip.warnings)
    assert clip["max_deflection"].standard_error == np.inf


def test_friction_comes_back_from_loops_with_its_load_and_preset_coefficients():
    friction = PreslidingFriction(torque=0.06, stiffness=1000.0, load_coefficient=0.12, preset_coefficient=0.2)
    trials = pull(QbMove(), (0.0, 0.3, 0.6), noise=2e-3, friction=friction)
    found = fit_friction(
        QbMove(),
        trials,
        ["link_friction.torque", "link_friction.load_coefficient", "link_friction.preset_coefficient"],
    )
    assert found["torque"].value == pytest.approx(0.06, rel=0.03)
    assert found["load_coefficient"].value == pytest.approx(0.12, rel=0.03)
    assert found["preset_coefficient"].value == pytest.approx(0.2, rel=0.03)
    assert found["torque"].unit == "N m"
    assert found.rms() == pytest.approx(2e-3, rel=0.1)


def test_law_and_friction_come_back_together():
    friction = PreslidingFriction(torque=0.08)
    law = SETS["maker pro"]
    trials = pull(law, (0.1, 0.4), noise=5e-3, friction=friction)
    start = QbMove(k1=0.02, a1=7.0, k2=0.02, a2=7.0)
    found = fit_friction(start, trials, ["law.k1", "law.a1", "law.k2", "law.a2", "link_friction.torque"], starts=2)
    for name in ("k1", "a1", "k2", "a2"):
        assert found[name].value == pytest.approx(getattr(law, name), rel=0.05)
    assert found["torque"].value == pytest.approx(0.08, rel=0.03)


def servo_trial(actuator, seconds=2.0, period=0.005, noise=0.0, seed=0):
    n = round(seconds / 1e-3)
    t = np.arange(n) * 1e-3
    every = round(period / 1e-3)
    hold = t[np.arange(n) // every * every]
    eq = 0.4 * np.sin(2.0 * np.pi * (0.5 + 1.5 * hold) * hold) + 0.2 * (hold > 1.0)
    preset = 0.2 + 0.1 * (hold > 0.5)
    traces = actuator.simulate(0.3 * np.sin(3.0 * t), None, eq, preset, 1e-3)
    rng = np.random.default_rng(seed)
    return {
        "time": t[::every],
        "q": 0.3 * np.sin(3.0 * t[::every]),
        "theta_eq": eq[::every],
        "preset": preset[::every],
        "theta_1": traces.motor_1_position[::every] + noise * rng.standard_normal(t[::every].size),
        "theta_2": traces.motor_2_position[::every] + noise * rng.standard_normal(t[::every].size),
    }


def test_motor_and_servo_come_back_from_references_and_motor_positions():
    motor = DCMotor(inertia=0.03, damping=0.4, friction=PreslidingFriction(torque=0.15))
    true = CompliantActuator(QbMove(), Mode.PID_EQ_PRESET, motor, motor, PID(kp=80.0, kd=3.0), PID(kp=80.0, kd=3.0))
    start = CompliantActuator(QbMove(), Mode.PID_EQ_PRESET, pid_1=PID(kp=80.0, kd=3.0), pid_2=PID(kp=80.0, kd=3.0))
    found = fit_servo(start, servo_trial(true, noise=2e-4), starts=2)
    assert found["inertia"].value == pytest.approx(0.03, rel=0.03)
    assert found["damping"].value == pytest.approx(0.4, rel=0.03)
    assert found["motor.friction.torque"].value == pytest.approx(0.15, rel=0.03)
    assert found.actuator.motor_1 == found.actuator.motor_2


def test_the_delay_of_the_bus_comes_back():
    true = CompliantActuator(SEA(k=20.0), Mode.PID_EQ_PRESET, command_delay=0.012)
    n = 1500
    t = np.arange(n) * 1e-3
    eq = 0.3 * np.sin(6.0 * t) + 0.1 * np.sin(17.0 * t)
    traces = true.simulate(np.zeros(n), None, eq, 0.0, 1e-3)
    data = {"time": t, "q": np.zeros(n), "reference_1": eq, "theta_1": traces.motor_1_position}
    found = fit_servo(true.replace(command_delay=0.0), data, ["command_delay", "motor.damping"], starts=1)
    assert found["command_delay"].value == pytest.approx(0.012, abs=3e-4)
    assert found["damping"].value == pytest.approx(0.2698, rel=0.02)


def test_gains_and_damping_together_are_called_undetermined():
    true = CompliantActuator(SEA(k=5.0), Mode.PID_EQ_PRESET)
    n = 800
    t = np.arange(n) * 1e-3
    eq = 0.3 * np.sin(8.0 * t)
    traces = true.simulate(np.zeros(n), None, eq, 0.0, 1e-3)
    data = {"time": t, "q": np.zeros(n), "reference_1": eq, "theta_1": traces.motor_1_position}
    found = fit_servo(true, data, ["motor.damping", "pid.kd"], starts=1)
    assert found.condition > 1e3 or any("do not determine" in w or "trade off" in w for w in found.warnings)
    assert found["damping"].value + found["kd"].value == pytest.approx(0.2698 + 4.5, rel=1e-3)


def test_a_csv_is_fitted_from_the_file_to_the_report(tmp_path):
    trial = pull(QbMove(), (0.3,), noise=5e-3)[0]
    path = tmp_path / "pull.csv"
    rows = [f"{np.rad2deg(q):.6f},0,0.3,{-tau:.6f}" for q, tau in zip(trial["q"], trial["torque"], strict=True)]
    path.write_text("q [deg],theta_eq,preset,external_torque\n" + "\n".join(rows), encoding="utf-8")
    found = fit_law("qbmove", read_measurement(path), symmetric=True)
    text = found.report()
    assert "law.k1" in text
    assert "N m" in text
    assert "pull.csv" in text
    assert json.loads(json.dumps(found.as_dict()))["estimates"][0]["name"] == "law.k1"
    figure = found.figure()
    figure.savefig(tmp_path / "fit.png")
    assert (tmp_path / "fit.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: fit_law("qbmov", []), "did you mean 'qbmove'"),
        (lambda: fit_law("qbmove", []), "no measurement"),
        (lambda: fit_law("qbmove", pull(QbMove(), (0.2,)), ["k3"]), "no parameter 'k3'; did you mean 'k"),
        (lambda: fit_law("sea", pull(SEA(), (0.0,)), symmetric=True), "is for a qbMove"),
        (lambda: fit_law("qbmove", pull(QbMove(), (0.2,)), offsets=["offset"]), "did you mean"),
        (lambda: fit_law("qbmove", pull(QbMove(), (0.2,)), starts=0), "starts is 0"),
        (lambda: fit_friction(QbMove(), pull(QbMove(), (0.2,)), ["link_friction.level"]), "no parameter 'level'"),
        (lambda: fit_friction(QbMove(), pull(QbMove(), (0.2,)), ["mode"]), "valid: the path of a number"),
        (
            lambda: fit_actuator(CompliantActuator(QbMove(), 0), pull(QbMove(), (0.2,)), ["law.k1"]),
            "mode 0 cannot be fitted",
        ),
        (lambda: fit_servo(CompliantActuator(QbMove(), 3), []), "mode is 3; valid: 5, 6"),
        (lambda: fit_actuator(CompliantActuator(QbMove(), 3), pull(QbMove(), (0.2,)), []), "no parameter is free"),
        (
            lambda: fit_actuator(
                CompliantActuator(QbMove(), 3), pull(QbMove(), (0.2,)), ["law.k1"], ties={"law.k2": "law.a1"}
            ),
            "which is not free",
        ),
        (
            lambda: fit_actuator(CompliantActuator(QbMove(), 3), pull(QbMove(), (0.2,)), ["law.k1"], outputs=["speed"]),
            "no output 'speed'",
        ),
    ],
)
def test_bad_questions_are_refused_by_name(call, message):
    with pytest.raises(LawError, match=message):
        call()


def test_missing_columns_are_named():
    with pytest.raises(RecordingError, match="motors' positions are missing"):
        fit_law("qbmove", {"q": [0.0, 1.0], "torque": [0.0, 1.0]})
    with pytest.raises(LawError, match="no motor position was measured; found: time"):
        fit_servo("sea", {"time": [0.0, 1.0], "q": [0.0, 0.0]})


def test_datasheet_of_the_default_qbmove():
    sheet = datasheet(CompliantActuator(QbMove()), (0.0, 0.2, 0.4, 0.6))
    assert json.loads(json.dumps(sheet))["law"] == "qbmove"
    at_rest = [c["stiffness_at_rest"] for c in sheet["curves"]]
    np.testing.assert_allclose(at_rest, [0.0342, 0.10625, 0.6260, 3.784], rtol=1e-3)
    assert sheet["stiffness_range"] == [at_rest[0], at_rest[-1]]
    assert sheet["curves"][1]["torque_at_max_deflection"] == pytest.approx(1.306, abs=1e-3)
    assert sheet["curves"][3]["torque_at_max_deflection"] == pytest.approx(1.237, abs=1e-3)
    assert sheet["servo"]["lag"] == pytest.approx(0.03816, abs=1e-5)
    assert sheet["servo"]["no_load_speed"] == pytest.approx(22.2, abs=0.05)
    assert 0.02 < sheet["servo"]["preset_change_time"] < 0.5
    offset = datasheet(SETS["joint 1"], (0.2, 0.6))
    np.testing.assert_allclose([c["equilibrium_offset"] for c in offset["curves"]], [-0.1043, -0.0709], atol=5e-5)
    np.testing.assert_allclose([c["stiffness_at_rest"] for c in offset["curves"]], [0.5951, 3.553], rtol=1e-3)
    for law in (SEA(), BAVS(), AwAS2()):
        assert datasheet(law)["curves"]


def test_loop_width_is_that_of_the_simulated_loop():
    friction = PreslidingFriction(torque=0.1, stiffness=1e5, load_coefficient=0.1, preset_coefficient=0.05)
    law, preset = QbMove(k1=0.022, a1=6.85, k2=0.022, a2=6.85), 0.3
    actuator = CompliantActuator(law, Mode.SPRING_EQ_PRESET, link_friction=friction)
    q = 0.45 * np.sin(np.linspace(0.0, 4.0 * np.pi, 20_001))
    resists = -actuator.simulate(q, None, 0.0, preset, 1e-3).torque
    outward, inward = slice(15_000 - 4_900, 12_500), slice(12_501, 15_000)
    for torque in (0.5, 1.0):
        loading = np.interp(torque, resists[outward], q[outward])
        unloading = np.interp(torque, resists[inward][::-1], q[inward][::-1])
        assert loop_width(actuator, torque, preset) == pytest.approx(unloading - loading, abs=1e-3)
    assert loop_width(CompliantActuator(law), 0.5) == 0.0


def test_presliding_stiffness_comes_back_where_the_data_turn_often():
    friction = PreslidingFriction(torque=0.1, stiffness=8.0)
    n = 1200
    q = 0.3 * np.sin(np.linspace(0.0, 6.0, n)) + 0.02 * np.sin(np.linspace(0.0, 150.0, n))
    torque = CompliantActuator(SEA(k=5.0), Mode.SPRING_EQ_PRESET, link_friction=friction).simulate(q, None, 0.0).torque
    noise = 1e-3 * np.random.default_rng(0).standard_normal(n)
    data = {"q": q, "theta_eq": 0.0, "torque": torque + noise}
    start = CompliantActuator(
        SEA(k=6.0), Mode.SPRING_EQ_PRESET, link_friction=PreslidingFriction(torque=0.06, stiffness=15.0)
    )
    found = fit_friction(start, data, ["law.k", "link_friction.torque", "link_friction.stiffness"])
    assert found["k"].value == pytest.approx(5.0, rel=0.01)
    assert found["link_friction.torque"].value == pytest.approx(0.1, rel=0.01)
    assert found["link_friction.stiffness"].value == pytest.approx(8.0, rel=0.02)
