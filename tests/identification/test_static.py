"""Fits of the static law."""

import json

import numpy as np
import pytest
from identification_cases import SETS, pull

from pliant.base.errors import LawError, RecordingError
from pliant.identification import fit_actuator, fit_friction, fit_law, fit_servo, parameter_unit, read_measurement
from pliant.laws import BAVS, SEA, AwAS2, CompliantActuator, QbMove


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
        (lambda: fit_friction(QbMove(), pull(QbMove(), (0.2,)), ["mode"]), "must be the path of a number"),
        (
            lambda: fit_actuator(CompliantActuator(QbMove(), 0), pull(QbMove(), (0.2,)), ["law.k1"]),
            "mode 0 cannot be fitted",
        ),
        (lambda: fit_servo(CompliantActuator(QbMove(), 3), []), "mode is 3; must be 5 or 6"),
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
