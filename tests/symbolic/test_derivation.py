"""A law from its energy alone: torque, loads and stiffness by differentiation, compiled like the others."""

import linecache
import math
import os
import subprocess
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from law_cases import EnergyAwAS2, EnergyQbMove, Hardening, points

from pliant.base.errors import LawError
from pliant.laws import SEA, AwAS2, CompliantActuator, Law, QbMove, law
from pliant.laws.functions import saturate, where
from pliant.symbolic.derivation import _straight_line

MATH_ALIAS = math.exp
SCALE = np.float64(2.0)


def helper(x, k):
    return 0.5 * k * x * x


def new_law(energy, name="test_scratch", motors=2, base=Law, **fields):
    """Register a throw-away law with one parameter k, or those given."""
    fields = fields or {"k": 3.0}
    body = {"__annotations__": dict.fromkeys(fields, float), **fields, "energy": staticmethod(energy)}
    body["__annotations__"]["motors"] = ClassVar[int]
    body["motors"] = motors
    body["__module__"] = __name__
    cls = type("Scratch", (base,), body)
    return law(f"{name}_{energy.__code__.co_firstlineno}")(dataclass(frozen=True)(cls))


@pytest.mark.parametrize("clip", ["flat", "stop"])
def test_an_energy_only_qbmove_reproduces_the_built_in_one(clip):
    mine, theirs = (
        EnergyQbMove(0.01038, 6.257, 0.08918, 3.9, clip=clip),
        QbMove(0.01038, 6.257, 0.08918, 3.9, clip=clip),
    )
    at = points(theirs, 3000)
    for found, expected in zip(mine.evaluate(*at), theirs.evaluate(*at)):
        assert (np.abs(found - expected) <= 1e-12 * np.maximum(1.0, np.abs(expected))).all()


@pytest.mark.parametrize("clip", ["flat", "stop"])
def test_an_energy_only_awas_reproduces_the_built_in_one(clip):
    mine, theirs = EnergyAwAS2(clip=clip), AwAS2(clip=clip)
    at = points(theirs, 3000)
    for found, expected in zip(mine.evaluate(*at), theirs.evaluate(*at)):
        assert (np.abs(found - expected) <= 1e-12 * np.maximum(1.0, np.abs(expected))).all()


@pytest.mark.parametrize(
    ("mine", "theirs", "preset"),
    [
        pytest.param(EnergyQbMove(), QbMove(), 0.3, id="qb"),
        pytest.param(EnergyAwAS2(), AwAS2(), 0.012, id="awas", marks=pytest.mark.nightly),
    ],
)
@pytest.mark.parametrize("mode", [3, 4, 6])
def test_an_energy_only_law_simulates_like_the_built_in_one(mine, theirs, preset, mode):
    t = np.arange(400) * 1e-3
    q, ref = 0.2 * np.sin(8 * t), (0.4, preset) if mode != 4 else (1.0, -0.5)
    found, expected = (CompliantActuator(x, mode=mode).simulate(q, None, *ref, 1e-3) for x in (mine, theirs))
    np.testing.assert_allclose(found.torque, expected.torque, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found.motor_1_position, expected.motor_1_position, rtol=0, atol=1e-12)


def test_a_one_motor_law_needs_no_second_angle_and_no_second_reference():
    spring = Hardening(k=3.0, knee=0.2, growth=40.0)
    values = spring.evaluate([0.1, 0.5, -0.5], 0.0)
    np.testing.assert_allclose(values.torque, [-0.3, -1.5 - 40 * 0.09, 1.5 + 40 * 0.09])
    np.testing.assert_allclose(values.stiffness, [3.0, 3.0 + 80 * 0.3, 3.0 + 80 * 0.3])
    np.testing.assert_array_equal(values.load_2, 0.0)
    np.testing.assert_array_equal(values.load_1, values.torque)
    assert spring.second_input == "none"
    assert CompliantActuator(spring, mode=6).commands == 1
    assert spring.map_references(0.4, 0.1) == (0.4, 0.1)


def test_a_lever_law_maps_equilibrium_and_preset_straight():
    assert EnergyAwAS2().map_references(0.3, 0.01) == (0.3, 0.01)
    assert EnergyQbMove().map_references(0.3, 0.1) == pytest.approx((0.4, 0.2))


def test_reported_and_true_stiffness_are_the_same_unless_written():
    assert EnergyQbMove.reported_stiffness is EnergyQbMove.stiffness


def test_the_energy_stays_what_was_written():
    def energy(q, theta_1, theta_2, k, max_deflection):
        d = saturate(q - theta_1, max_deflection)
        return k * d**2 / (1.0 + MATH_ALIAS(-d)) + math.log(1.5 + math.sin(theta_2) * SCALE / 3)

    cls = new_law(energy, k=3.0, max_deflection=0.4)
    rng = np.random.default_rng(0)
    for q, a, b in rng.uniform(-1, 1, (50, 3)):
        assert cls.energy(q, a, b, [3.0, 0.4, 0.0]) == pytest.approx(energy(q, a, b, 3.0, 0.4), rel=1e-14)


def close_to_differences(cls, p, points_, tolerance=2e-6):
    """Compare the derived kernels with central differences of the energy, far from kinks."""
    h = 1e-5
    for at in points_:
        at = list(at)

        def slope(i, f, at=at):
            up, down = at.copy(), at.copy()
            up[i] += h
            down[i] -= h
            return (f(*up, p) - f(*down, p)) / (2 * h)

        torque, load_1, load_2 = cls.torques(*at, p)
        scale = max(1.0, abs(torque), abs(load_1), abs(load_2))
        assert torque == pytest.approx(-slope(0, cls.energy), abs=tolerance * scale)
        assert load_1 == pytest.approx(slope(1, cls.energy), abs=tolerance * scale)
        assert load_2 == pytest.approx(slope(2, cls.energy), abs=tolerance * scale)
        stiffness = -slope(0, lambda *a: cls.torques(*a)[0])
        assert cls.stiffness(*at, p) == pytest.approx(stiffness, abs=tolerance * max(1.0, abs(stiffness)))


def test_the_smooth_functions_of_math_can_be_used():
    def energy(q, theta_1, theta_2, p):
        x, y = q - theta_1, q - theta_2
        total = p[0] * x**2 + math.sin(x) + math.cos(y) + math.tan(0.3 * x) + math.asin(0.2 * x) + math.acos(0.2 * y)
        total += math.atan(x) + math.atan2(y, 2.0 + x**2) + math.sinh(x) + math.cosh(y) + math.tanh(x)
        total += math.asinh(x) + math.acosh(3.0 + x**2) + math.atanh(0.2 * y) + math.exp(x) + math.erf(x) + math.erfc(y)
        total += math.log(2.0 + x**2) + math.sqrt(1.0 + x**2) + math.hypot(1.0, x) + math.pow(2.0 + x**2, 1.5)
        total += math.fabs(x - 9.0) + pow(2.0 + x, 2.0) + (2.0 + x) ** -2 + 1.0 / (3.0 + y) + 2.0**x
        total += math.sqrt((x - 9.0) ** 2) + math.pi * x + math.e * y + float(1) + math.log(3.0 + x**2, 2.0)
        return total

    cls = new_law(energy)
    close_to_differences(cls, [3.0, 0.0], np.random.default_rng(1).uniform(-0.7, 0.7, (10, 3)))


def test_helpers_closures_loops_and_lambdas_inside_an_energy_are_followed():
    weights = (0.5, 0.25)

    def energy(q, theta_1, theta_2, p):
        squares = [w * (q - t) ** 2 for w, t in zip(weights, (theta_1, theta_2))]
        return helper(q - theta_1, p[0]) + (lambda x: math.cos(x))(q) + sum(squares)

    cls = new_law(energy)
    close_to_differences(cls, [3.0, 0.0], np.random.default_rng(3).uniform(-0.7, 0.7, (10, 3)))
    assert np.isfinite(cls().evaluate(0.1, 0.2, 0.3).torque)


def test_at_a_kink_the_slope_is_that_of_the_branch_in_force():
    cls = new_law(lambda q, theta_1, theta_2, p: p[0] * saturate(q - theta_1, 0.5) + abs(q) + max(q, theta_2))
    p = [3.0, 0.0]
    assert cls.torques(0.5, 0.0, 9.0, p) == (-4.0, -3.0, 1.0)
    assert cls.torques(0.5 + 1e-9, 0.0, 9.0, p) == (-1.0, 0.0, 1.0)
    assert cls.stiffness(0.5, 0.0, 9.0, p) == 0.0


def test_a_branch_that_is_not_taken_is_not_evaluated():
    def energy(q, theta_1, theta_2, k):
        x = q - theta_1
        return where(x > 0.0, k * math.log(1.0 + x) * math.log(1.0 + x) + math.sqrt(x), 0.5 * k * x * x)

    cls = new_law(energy)
    assert cls.torques(-3.0, 0.0, 0.0, [2.0]) == (6.0, 6.0, 0.0)
    assert cls.energy(-3.0, 0.0, 0.0, [2.0]) == 9.0
    assert cls(k=2.0).evaluate(-3.0, 0.0).torque == 6.0


def test_conditions_may_be_combined_with_and_or_not():
    def energy(q, theta_1, theta_2, k):
        return where(((q > 0.0) & (q < 1.0)) | (q == 5.0), k * q, where(~(q > -1.0), -q, 0.0))

    cls = new_law(energy)
    assert [cls.torques(q, 0.0, 0.0, [2.0])[0] for q in (0.5, 1.5, 5.0, -0.5, -2.0)] == [-2.0, 0.0, -2.0, 0.0, 1.0]


def test_a_switch_among_the_parameters_selects_the_energy():
    def energy(q, theta_1, theta_2, k, kind):
        return where(kind == 1.0, 0.5 * k * q**2, where(kind != 2.0, k * q, 0.25 * k * q**4))

    cls = new_law(energy, k=3.0, kind=1.0)
    assert [cls.torques(2.0, 0.0, 0.0, [3.0, kind])[0] for kind in (0.0, 1.0, 2.0)] == [-3.0, -6.0, -24.0]


def test_where_works_on_plain_numbers_too():
    assert (where(True, 1.0, 2.0), where(0.0 > 1.0, 1.0, 2.0)) == (1.0, 2.0)


# -- what is refused -----------------------------------------------------------------------------------------


def line_of(text):
    with open(__file__, encoding="utf-8") as file:  # noqa: PTH123
        return next(i for i, line in enumerate(file, 1) if text in line and "line_of" not in line)


def test_branching_on_a_coordinate_is_refused_with_the_line_and_the_remedy():
    def energy(q, theta_1, theta_2, k):
        x = q - theta_1
        if x > 0.1:  # the branch
            return k * x
        return 0.0

    with pytest.raises(LawError, match=r"branches on a coordinate.*where\(condition, a, b\)") as caught:
        new_law(energy)
    assert caught.value.file == __file__
    assert caught.value.line == line_of("# the branch")
    assert caught.value.field == "energy"


@pytest.mark.parametrize(
    ("energy", "message"),
    [
        (lambda q, theta_1, theta_2, p: math.floor(q), "floor has no derivative"),
        (lambda q, theta_1, theta_2, p: np.sin(q), "cannot be followed"),
        (lambda q, theta_1, theta_2, p: math.log2(2.0 + q * q), "log2 has no derivative"),
        (lambda q, theta_1, theta_2, p: eval("q * q"), "'eval' is not defined"),
        (lambda q, theta_1, theta_2, p: getattr(q, "expression"), "'getattr' is not defined"),  # noqa: B009
        (lambda q, theta_1, theta_2, p: math.gamma(2.0 + q * q), "gamma has no derivative"),
        (lambda q, theta_1, theta_2, p: round(q), "round has no derivative"),
        (lambda q, theta_1, theta_2, p: 1.0 if q > 0 and q < 1 else 0.0, r"branches.*where"),
        (lambda q, theta_1, theta_2, p: 1.0 if q == 0.0 else 0.0, r"branches.*where"),
        (lambda q, theta_1, theta_2, p: 1.0 if 0.0 < q < 1.0 else 0.0, r"branches.*where"),
        (lambda q, theta_1, theta_2, p: q if q else 0.0, r"branches.*where"),
        (lambda q, theta_1, theta_2, p: int(q), "plain number or index"),
        (lambda q, theta_1, theta_2, p: q % 2.0, "plain number or index"),
        (lambda q, theta_1, theta_2, p: (1.0, 2.0)[p[0]], "plain number or index"),
        (lambda q, theta_1, theta_2, p: q.real, "cannot be followed"),
        (lambda q, theta_1, theta_2, p: p[4] * q, r"p\[4\]: the law has 1 parameters; the index must be 0 to 1"),
        (lambda q, theta_1, theta_2, p: p["k"] * q, "whole number"),
        (lambda q, theta_1, theta_2, p: (q, q), "returns a tuple; it must return one number"),
        (lambda q, theta_1, theta_2, p: None, "returns a NoneType; it must return one number"),
        (lambda q, theta_1, theta_2, p: q > 0.0, "returns a Condition; it must return one number"),
        (lambda q, theta_1, theta_2, p: undefined_name * q, "undefined_name"),  # noqa: F821
        (lambda q, theta_1, theta_2, pp: pp * q, "cannot be followed"),
        (lambda q, theta_1, stiffness: stiffness * q, "argument 'stiffness' is no coordinate and no parameter"),
        (lambda q, theta_1, *, k: k * q, "keyword-only"),
        (lambda q, theta_1, theta_2, p: q * math.inf, "inf"),
    ],
)
def test_what_cannot_be_differentiated_is_refused_by_name(energy, message):
    with pytest.raises(LawError, match=message) as caught:
        new_law(energy)
    assert caught.value.field == "energy"


def test_an_energy_that_is_no_static_method_is_refused():
    with pytest.raises(LawError, match="must be a @staticmethod"):

        @law("test_not_static")
        @dataclass(frozen=True)
        class NotStatic(Law):
            k: float = 1.0

            def energy(self, q, theta_1, theta_2, p):
                return q


# -- together with kernels written by hand ---------------------------------------------------------------------


def test_a_kernel_written_by_hand_is_kept():
    def torques(q, theta_1, theta_2, p):
        return -p[0] * (q - theta_1), -p[0] * (q - theta_1), 0.0

    cls = type(
        "Mixed",
        (Law,),
        {
            "__annotations__": {"k": float},
            "k": 3.0,
            "energy": staticmethod(lambda q, theta_1, theta_2, p: 0.5 * p[0] * (q - theta_1) ** 2),
            "torques": staticmethod(torques),
        },
    )
    cls = law("test_mixed")(dataclass(frozen=True)(cls))
    assert cls.torques is torques
    assert cls.stiffness(0.2, 0.0, 0.0, [3.0]) == 3.0


def test_a_new_energy_in_a_subclass_replaces_the_kernels_it_inherits():
    cls = new_law(lambda q, theta_1, k: k * (q - theta_1) ** 4, base=SEA, motors=1, k=2.0)
    assert cls.torques(0.5, 0.0, 0.0, [2.0, 0.8]) == (-1.0, -1.0, 0.0)
    assert cls.stiffness(0.5, 0.0, 0.0, [2.0, 0.8]) == 6.0
    assert cls.reported_stiffness is cls.stiffness
    assert SEA().evaluate(0.5, 0.0).torque == -5.0


# -- what is written -----------------------------------------------------------------------------------------


def test_tracebacks_and_debuggers_see_the_derived_source():
    code = EnergyQbMove.torques.__code__
    assert code.co_filename == f"<derived from {EnergyQbMove.__module__}.EnergyQbMove.energy>"
    assert linecache.getline(code.co_filename, code.co_firstlineno).startswith("def torques(q, theta_1, theta_2, p):")
    with pytest.raises(TypeError) as caught:
        EnergyQbMove.torques(None, 0.0, 0.0, [1.0] * 6)
    assert traceback.extract_tb(caught.value.__traceback__)[-1].line


@pytest.mark.parametrize(
    "text",
    [
        "import os",
        "def torques(q, theta_1, theta_2, p):\n    return q.__class__",
        "def torques(q, theta_1, theta_2, p):\n    return math.__loader__",
        "def torques(q, theta_1, theta_2, p):\n    return [x for x in p]",
    ],
)
def test_a_cached_text_that_is_more_than_arithmetic_is_not_run(text):
    with pytest.raises(LawError, match="a derived kernel contains"):
        _straight_line(text)


SCRIPT = """
import sys
sys.path.insert(0, {folder!r})
import law_cases, linecache
print("sympy" in sys.modules)
for cls in (law_cases.EnergyQbMove, law_cases.EnergyAwAS2, law_cases.Hardening):
    print("".join(linecache.getlines(cls.torques.__code__.co_filename)))
"""


@pytest.mark.slow
def test_the_derived_source_is_the_same_in_every_process_and_kept_in_the_cache(tmp_path):
    script = SCRIPT.format(folder=str(Path(__file__).resolve().parents[1] / "helpers"))

    def run(seed, cache):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PLIANT_CACHE": str(tmp_path / cache)}
        out = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True, timeout=120
        )
        first, rest = out.stdout.split("\n", 1)
        return first, rest

    cold, again, other = run("1", "a"), run("2", "a"), run("3", "b")
    assert (cold[0], again[0], other[0]) == ("True", "False", "True")
    assert cold[1] == again[1] == other[1]
    assert "def stiffness" in cold[1]


def test_importing_pliant_laws_does_not_import_sympy():
    script = "import sys, pliant.laws; sys.exit('sympy' in sys.modules or 'numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False, timeout=60).returncode == 0


def test_without_a_wing_that_derives_kernels_a_law_of_an_energy_says_what_to_write(monkeypatch):
    monkeypatch.setattr("pliant.base.wing.offers", lambda kind: [])
    with pytest.raises(LawError, match="no installed wing derives them; write torques and stiffness"):
        new_law(lambda q, theta_1, theta_2, p: 0.5 * p[0] * (q - theta_1) ** 2)
