"""The text that is given to Warp, run here as Python, and what is refused. Warp itself is not needed."""

import math
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest
from daily import by_day
from law_cases import ALL, instances, points
from warp_cases import DT, cases, motion

from pliant.base.errors import LawError, MissingDependency
from pliant.laws import (
    Law,
    get_law,
    kernels,
    layout,
    observation_kernels,
    reference_kernels,
    spring_kernels,
)
from pliant.laws.compile import LAW_KERNELS, law_functions, step_kernels
from pliant.learn.laws import load_warp
from pliant.learn.laws.translate import translate
from pliant.learn.laws.values import ARRAY, REAL
from pliant.muscles import kernels as muscle_kernels

STEP = (ARRAY, REAL, REAL, REAL, REAL, REAL, ARRAY, ARRAY)
OF_MATH = (
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "sqrt", "log", "pow",
    "copysign", "isnan", "erf", "erfc",
)  # fmt: skip
WP = SimpleNamespace(
    **{name: getattr(math, name) for name in OF_MATH},
    floor=lambda x: float(math.floor(x)),
    ceil=lambda x: float(math.ceil(x)),
    rint=round,
    abs=abs,
    int32=int,
    bool=bool,
    nan=math.nan,
    inf=math.inf,
    array=lambda dtype: None,
)


def runnable(entries, bound=None, label="Test"):
    """Return translated functions as Python functions by the functions that they come from."""
    translation = translate(entries, bound or {}, label)
    space = {"wp": WP, "real": float}
    exec(compile(translation.text, "<translated>", "exec"), space)
    return {function: space[name] for function, name in translation.entries.items()}


def translated(function, *arguments):
    kinds = tuple(ARRAY if isinstance(a, list) else REAL for a in arguments)
    return runnable({function: kinds})[function](*arguments)


@pytest.mark.parametrize("name", ALL)
def test_the_text_of_every_law_gives_what_its_kernels_give(name):
    bound = law_functions(get_law(name))
    springs = {bound[f"law_{k}"]: (REAL, REAL, REAL, ARRAY) for k in LAW_KERNELS if k != "references"}
    text = runnable(springs, bound)
    for law in instances([name]):
        p = law.parameters().tolist()
        for point in zip(*points(law, 20), strict=True):
            for function, twin in text.items():
                np.testing.assert_allclose(twin(*map(float, point), p), function(*map(float, point), p), rtol=1e-14)


@pytest.mark.parametrize(
    "name", by_day(["sea", "qbmove", "awas_ii", "sea_table", "pam"], {"qbmove", "sea_table", "pam"}.__contains__)
)
def test_the_text_of_the_step_gives_what_the_kernels_give(name, monkeypatch):
    bound = law_functions(get_law(name))
    for module in (kernels, observation_kernels, reference_kernels, spring_kernels, muscle_kernels):
        for key, function in bound.items():
            monkeypatch.setattr(module, key, function, raising=False)
    advance, link_torque, observe, _ = step_kernels(get_law(name)).values()
    entries = {advance: STEP, link_torque: STEP, observe: (*STEP[:-1], REAL, ARRAY)}
    text = runnable(entries, bound)
    q, dq, *references = motion(40)
    for case, actuator in cases(name).items():
        ref_1, ref_2 = references
        if name == "pam":
            ref_1, ref_2 = (ref_1 if case[0] in (3, 4, 6) else 3e5 * ref_1), 8e6 * ref_2
        par = actuator.pack(DT).tolist()
        size = max(1, int(par[layout.P_STATES]))
        runs = []
        for twins in ({f: f for f in entries}, text):
            act = [*actuator.hold(0.0, DT)[0], 0.0][:size]
            run = []
            for arguments in zip(q, dq, ref_1, ref_2, strict=True):
                rate, out = [0.0] * size, [0.0] * layout.OBSERVATIONS
                given = (par, *map(float, arguments), DT, act)
                twins[advance](*given, rate)
                torque = twins[link_torque](*given, rate)
                twins[observe](*given, 1.0, out)
                act = [a + DT * r for a, r in zip(act, rate, strict=True)]
                run.append([torque, *out, *act])
            runs.append(run)
        np.testing.assert_array_equal(*runs, err_msg=str(case))


FACTORS = (0.5, 2, -1.5)


def test_whole_numbers_and_floats_mix():
    def f(x, p):
        n = 3
        total = 0
        for i in range(n):
            total += p[i] * i + n // 2
        return (total + 1) / 2 + x**2 + 2**-1 + n % 2 + (7 if x > 0 else 1)

    p = [0.25, 1.5, -2.0]
    for x in (-0.7, 0.3):
        assert translated(f, x, p) == pytest.approx(f(x, p), rel=1e-15)


def test_loops_over_tuples_are_unrolled():
    def f(x, y):
        total = 0.0
        for k, (a, b) in enumerate(zip((x, y, x * y), FACTORS, strict=False)):
            total += a * b + k
        for limit in [0.1, 0.2]:
            if x > limit and not y < 0.0:
                total -= limit
        return total

    for x, y in ((0.15, 1.0), (3.0, -1.0)):
        assert translated(f, x, y) == pytest.approx(f(x, y), rel=1e-15)


def test_min_and_max_take_any_count_and_keep_nan_as_python_does():
    def f(x, y):
        return min(x, y, 0.5) - max(y, -1, x), abs(x) + round(y)

    for x, y in ((0.1, 0.9), (7.0, -3.0), (math.nan, 1.0), (1.0, 0.25)):
        if math.isnan(x):
            assert math.isnan(translated(f, x, y)[0])
        else:
            assert translated(f, x, y) == f(x, y)


def test_a_name_may_hold_a_whole_number_first_and_a_float_later():
    def f(x, p):
        k = int(p[0])
        y = p[k]
        k = x * 0.5
        x, y = y, x
        return k + x - 2 * y

    assert translated(f, 3.0, [1.0, 8.0]) == f(3.0, [1.0, 8.0])


def test_closures_defaults_and_helpers_are_followed():
    def scaled(k):
        def g(x, offset=1):
            return k * x + offset

        return g

    two, ten = scaled(2.0), scaled(10.0)

    def f(x):
        return two(x) + ten(x, offset=x) + math.sin(math.pi * x)

    assert translated(f, 0.3) == f(0.3)


def test_tuples_are_passed_on_and_taken_apart():
    def pair(x):
        if x > 0.0:
            return x, 1
        return 0.0, x

    def f(x):
        both = pair(x)
        a, b = pair(-x)
        return both[0] + 10.0 * both[1] + 100.0 * a + 1000.0 * b

    assert [translated(f, x) for x in (0.5, -0.5)] == [f(0.5), f(-0.5)]


def unavailable_text():
    return eval("lambda x: x")


CALLED = []


@pytest.mark.parametrize(
    ("body", "line", "message"),
    [
        ("x = 1.0\n    return open('a').read()", 3, "'a' is no number"),
        ("return x.real", 2, "the attribute x.real"),
        ("y = [i for i in (1, 2)]\n    return x", 2, "a comprehension is not available"),
        ("try:\n        return x\n    except ValueError:\n        return 0.0", 2, "try is not available"),
        ("if x > 0.0:\n        return x", 1, "must return on every path"),
        ("return math.gamma(x)", 2, "the function gamma is not available in Warp"),
        ("y = x\n    for i in range(int(x)):\n        y += unknown\n    return y", 4, "'unknown' is not defined"),
        ("for i in x:\n        pass\n    return x", 2, "a loop runs over something whose length is not known"),
        ("return x or 1.0", 2, "and, or must stand between conditions"),
        ("return f(x)", 1, "f calls itself"),
        ("x[0] = 1.0\n    return x", 2, "x is no array"),
        ("return 1.0 / 0.0 * x", 2, "division by zero"),
        ("assert x > 0.0\n    return x", 2, "assert is not available"),
        ("a, b = x\n    return a", 2, "2 names are given 1 numbers"),
        ("return 'x'", 2, "'x' is no number"),
        ("return math.sin(x, x)", 2, "sin is called with 2 numbers"),
        ("return math.atan2(x)", 2, "atan2 is called with 1 numbers"),
    ],
)
def test_what_warp_cannot_compile_is_refused_by_name_and_line(tmp_path, body, line, message):
    path = tmp_path / "spring.py"
    path.write_text(f"def f(x):\n    {body}\n")
    space = {"math": math}
    exec(compile(path.read_text(), str(path), "exec"), space)
    with pytest.raises(LawError, match="f cannot be compiled by Warp") as caught:
        translated(space["f"], 0.5)
    assert message in caught.value.message
    assert "Valid in a kernel" in caught.value.message
    assert (caught.value.file, caught.value.line) == (str(path), line)


def test_a_function_without_source_text_is_refused():
    with pytest.raises(LawError, match="its source text is not available"):
        translated(unavailable_text(), 0.5)


def test_a_law_whose_energy_branches_by_hand_is_followed():
    @dataclass(frozen=True)
    class Loose(Law):
        @staticmethod
        def energy(q, theta_1, theta_2, p):
            x = q - theta_1
            if x < 0:
                x = 0
            return 0.5 * p[0] * x**2

    for q in (-0.3, 0.4):
        assert translated(Loose.energy, q, 0.1, 0.0, [3.0]) == pytest.approx(
            Loose.energy(q, 0.1, 0.0, [3.0]), rel=1e-15
        )


def test_the_missing_package_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "warp", None)
    load_warp.cache_clear()
    with pytest.raises(MissingDependency, match=r'pip install "pliant\[warp\]"'):
        load_warp()
    load_warp.cache_clear()


def test_a_module_of_another_that_hides_warp_is_named(monkeypatch, tmp_path):
    other = SimpleNamespace(__file__=str(tmp_path / "warp.py"))
    monkeypatch.setitem(__import__("sys").modules, "warp", other)
    load_warp.cache_clear()
    with pytest.raises(LawError, match=r"warp\.py is not NVIDIA's Warp and hides it; rename that file"):
        load_warp()
    load_warp.cache_clear()
