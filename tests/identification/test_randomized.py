"""Identified parameters as the centre of what worlds draw: spread, correlation, files, what is refused."""

import json

import numpy as np
import pytest

from pliant import QbMove
from pliant.base.errors import ModelError
from pliant.batch import CpuBatch
from pliant.batch.distributions import draw
from pliant.identification import Measurement, fit_law, randomize_around
from pliant.robots import build_robot

TRUE = QbMove()


def pull(preset, rng):
    q = np.concatenate([np.linspace(-0.4, 0.4, 200), np.linspace(0.4, -0.4, 200)])
    torque = TRUE.evaluate(q, preset, -preset).torque + rng.normal(0.0, 0.005, q.size)
    return Measurement.of({"q": q, "theta_eq": 0.0, "preset": preset, "torque": torque})


@pytest.fixture(scope="module")
def fit():
    rng = np.random.default_rng(0)
    return fit_law("qbmove", [pull(preset, rng) for preset in (0.0, 0.2, 0.4)], symmetric=True)


def result(*estimates, covariance):
    return {"estimates": [{"name": n, "value": v} for n, v in estimates], "covariance": covariance}


def test_draws_have_the_values_errors_and_correlations_of_the_result():
    # Variances 0.0004 and 1, covariance -0.018: correlation -0.9.
    covariance = [[4e-4, -0.018], [-0.018, 1.0]]
    found = randomize_around(result(("law.k1", 1.0), ("law.a1", 50.0), covariance=covariance), "elbow")
    drawn = draw(found, 3, 20_000)
    assert list(drawn) == ["elbow.k1", "elbow.a1"]
    assert np.median(drawn["elbow.k1"]) == pytest.approx(1.0, abs=0.001)
    assert np.median(drawn["elbow.a1"]) == pytest.approx(50.0, abs=0.05)
    assert np.log(drawn["elbow.k1"]).std() == pytest.approx(0.02, rel=0.03)
    assert np.log(drawn["elbow.a1"]).std() == pytest.approx(0.02, rel=0.03)
    assert np.corrcoef(drawn["elbow.k1"], drawn["elbow.a1"])[0, 1] == pytest.approx(-0.9, abs=0.01)
    wide = draw(randomize_around(result(("law.k1", 1.0), covariance=[[4e-4]]), errors=3.0), 3, 20_000)
    assert np.log(wide["actuator.k1"]).std() == pytest.approx(0.06, rel=0.03)


def test_one_number_for_both_motors_stays_one_and_offsets_of_the_measurement_are_left_out():
    covariance = np.diag([1e-8, 1e-6]).tolist()
    found = randomize_around(result(("motor.inertia", 1e-3), ("torque_offset", 0.01), covariance=covariance), "j")
    drawn = draw(found, 1, 5)
    assert list(drawn) == ["j.motor_1.inertia", "j.motor_2.inertia"]
    np.testing.assert_array_equal(*drawn.values())
    assert drawn["j.motor_1.inertia"].std() > 0.0


def test_worlds_of_a_fit_have_springs_around_the_true_ones_and_bend_as_it_says(fit, tmp_path):
    batch = CpuBatch(build_robot("qbmove-2dof"), 200)
    file = tmp_path / "springs.json"
    file.write_text(json.dumps(fit.as_dict()))
    drawn = batch.randomize(randomize_around(file, "joint_1"), seed=1)
    assert set(drawn) == {f"joint_1.{e.name.removeprefix('law.')}" for e in fit.estimates}
    np.testing.assert_array_equal(batch.parameter("joint_1.k1"), drawn["joint_1.k1"])
    for estimate in fit.estimates:
        values = drawn[f"joint_1.{estimate.name.removeprefix('law.')}"]
        assert values.mean() == pytest.approx(estimate.value, abs=0.3 * estimate.standard_error)
        assert values.std() == pytest.approx(estimate.standard_error, rel=0.2)
    # What was measured, the torque, is known far better than the two numbers behind it.
    torques = [
        QbMove(k1=k, a1=a, k2=k, a2=a).evaluate(0.3, 0.2, -0.2).torque
        for k, a in zip(drawn["joint_1.k1"], drawn["joint_1.a1"], strict=True)
    ]
    alone = [QbMove(k1=k, a1=TRUE.a1, k2=k, a2=TRUE.a2).evaluate(0.3, 0.2, -0.2).torque for k in drawn["joint_1.k1"]]
    assert np.std(torques) < 0.5 * np.std(alone)


def test_a_relative_spread_is_a_part_of_the_value(fit):
    drawn = draw(randomize_around(fit, spread=0.2), 1, 2000)
    for estimate in fit.estimates:
        values = drawn[f"actuator.{estimate.name.removeprefix('law.')}"]
        assert values.min() >= 0.8 * estimate.value
        assert values.max() <= 1.2 * estimate.value
        assert np.ptp(values) > 0.39 * estimate.value


@pytest.mark.parametrize(
    ("results", "options", "message"),
    [
        ({"law": "qbmove"}, {}, "not the result of an identification"),
        (result(("law.k1", 1.0), covariance=[[1.0, 2.0]]), {}, "not the result of an identification"),
        (result(("law.k1", 1.0), covariance=[[None]]), {}, r"does not determine law.k1; give a relative spread"),
        (result(("link_damping", 0.0), covariance=[[1e-4]]), {}, "link_damping is 0, at its limit"),
        (result(("law.k1", float("nan")), covariance=[[1.0]]), {}, "must be one finite number"),
        (result(("law.k1", 1.0), covariance=[[1.0]]), {"spread": 1.5}, "must be below 1"),
        (result(("law.k1", 1.0), covariance=[[1.0]]), {"errors": -1.0}, "errors is -1.0; must be"),
        ("absent.json", {}, "there is no such file"),
    ],
)
def test_what_is_no_centre_is_refused(results, options, message):
    with pytest.raises(ModelError, match=message):
        randomize_around(results, "joint_1", **options)


def test_a_file_that_is_no_json_is_named(tmp_path):
    file = tmp_path / "fit.txt"
    file.write_text("law.k1  0.0019 +- 1e-05 N m")
    with pytest.raises(ModelError, match=r"fit.txt.*not JSON"):
        randomize_around(file)
