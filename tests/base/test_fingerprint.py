"""Fingerprints of functions: they see all that a result depends on, and nothing else."""

import math
import subprocess
import sys
import types
from collections import namedtuple

import numpy as np
import pytest

from pliant.base.fingerprint import fingerprint


def scaled_by(factor, table=(1.0, 2.0)):
    def energy(q, theta_1, theta_2, p):
        return factor * p[0] * q * table[0] + sum(x for x in table)

    return energy


def test_the_fingerprint_sees_code_constants_closures_and_defaults_and_is_otherwise_the_same():
    base = fingerprint([scaled_by(2.0)])
    assert base == fingerprint([scaled_by(2.0)])
    assert base != fingerprint([scaled_by(3.0)])
    assert base != fingerprint([scaled_by(2.0, (1.0, 3.0))])
    assert fingerprint([scaled_by(2.0, [1.0])]) != fingerprint([scaled_by(2.0, [2.0])])
    assert fingerprint([scaled_by(2.0, np.ones(2))]) != fingerprint([scaled_by(2.0, np.zeros(2))])
    assert fingerprint([lambda x, k=1.0: k * x]) != fingerprint([lambda x, k=2.0: k * x])
    assert base != fingerprint([scaled_by(2.0)], extra="other")


def test_the_fingerprint_sees_the_names_of_a_named_tuple():
    codes = [scaled_by(2.0, namedtuple("Places", names)(0, 1)) for names in ("first second", "second first")]
    assert fingerprint(codes[:1]) != fingerprint(codes[1:])


def test_the_fingerprint_does_not_depend_on_addresses():
    script = (
        "from pliant.base.fingerprint import fingerprint\n"
        "def f(x):\n    return sum([y * x for y in (1.0, 2.0)]) + (lambda z: 2.0 * z)(x)\n"
        "print(fingerprint([f]))"
    )
    runs = {subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout}
    runs |= {subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout}
    assert len(runs) == 1


SPRINGS = """
K = {k}
TABLE = (({k}, 2.0), [1.0])
class Steel:
    stiffness = {k}
def scaled(k):
    def force(x):
        return k * x
    return force
soft, hard = scaled(1.0), scaled({k})
def by_default(x, k={k}):
    return k * x
def by_keyword(x, *, k={k}):
    return k * x
"""
ENERGIES = {
    "an imported module": "springs.K * q",
    "a module inside a module": "package.springs.K * q",
    "a nested collection": "springs.TABLE[0][0] * q",
    "a class": "springs.Steel.stiffness * q",
    "a closure": "springs.hard(q)",
    "a default argument": "springs.by_default(q)",
    "a keyword default": "springs.by_keyword(q)",
    "a function in a collection": "functions['hard'](q)",
    "an object": "material.stiffness * q",
    "a partial function": "part(q)",
}


def energy_with(text, k):
    """Return an energy whose modules say the stiffness k."""
    import functools

    springs = types.ModuleType("springs")
    exec(SPRINGS.format(k=k), springs.__dict__)
    package = types.ModuleType("package")
    package.springs = springs
    material = types.SimpleNamespace(stiffness=k)
    names = {
        "springs": springs,
        "package": package,
        "material": material,
        "functions": {"hard": springs.hard},
        "part": functools.partial(springs.by_default, k=k),
    }
    exec(f"def energy(q):\n    return {text}\n", names)
    return names["energy"]


@pytest.mark.parametrize("place", ENERGIES)
def test_a_constant_that_changes_wherever_it_stands_changes_the_fingerprint(place):
    text = ENERGIES[place]
    assert fingerprint([energy_with(text, 2.0)]) == fingerprint([energy_with(text, 2.0)])
    assert fingerprint([energy_with(text, 2.0)]) != fingerprint([energy_with(text, 3.0)])


def test_the_fingerprint_tells_functions_of_math_and_numpy_apart():
    def with_function(f):
        return lambda x: f(x)

    found = {fingerprint([with_function(f)]) for f in (math.sin, math.cos, np.sin, np.cos, np.tanh)}
    assert len(found) == 5


def test_what_cannot_be_compared_is_not_taken_from_another_process():
    script = (
        "from pliant.base.fingerprint import fingerprint\n"
        "class Hidden:\n    __slots__ = ()\n"
        "hidden = Hidden()\n"
        "def f(x):\n    return hidden * x\n"
        "assert fingerprint([f]) == fingerprint([f])\n"
        "print(fingerprint([f]))"
    )
    runs = {
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout for _ in "ab"
    }
    assert len(runs) == 2


def test_the_class_of_a_named_tuple_is_its_fields_in_every_process():
    source = (
        "from typing import NamedTuple\n"
        "from pliant.base.fingerprint import fingerprints\n"
        "Pair = NamedTuple('Pair', [(name, float) for name in {!r}])\n"
        "def kernel(a, b):\n"
        "    return Pair(a, b)[0]\n"
        "print(fingerprints([kernel])[1])\n"
    )
    texts = [
        subprocess.run([sys.executable, "-c", source.format(names)], capture_output=True, text=True, check=True).stdout
        for names in ("ab", "ab", "ba")
    ]
    assert texts[0].strip()
    assert texts[0] == texts[1] != texts[2]
