"""The laws that the tests of this room run on: all that are registered, and some that have an energy alone."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.laws import BAVS, SEA, AwAS2, Law, QbMove, get_law, law, registered_laws
from pliant.laws.functions import saturate, where
from pliant.muscles import McKibben
from pliant.spring_tables import TableSEA
from pliant.tendons.cable import Cable


@law("test_energy_qbmove")
@dataclass(frozen=True)
class EnergyQbMove(Law):
    """qbMove Advanced given by its energy, parameters by name."""

    k1: float = 0.0019
    a1: float = 8.9992
    k2: float = 0.0019
    a2: float = 8.9992
    max_deflection: float = 0.8

    def default_stop_stiffness(self):
        return QbMove(self.k1, self.a1, self.k2, self.a2, self.max_deflection).default_stop_stiffness()

    @staticmethod
    def energy(q, theta_1, theta_2, k1, a1, k2, a2, max_deflection, stop):
        total = 0.0
        for x, k, a in ((q - theta_1, k1, a1), (q - theta_2, k2, a2)):
            d = saturate(x, max_deflection)
            e = x - d
            total += k / a * (math.cosh(a * d) - 1.0) + k * math.sinh(a * d) * e + 0.5 * stop * e * e
        return total


@law("test_energy_awas")
@dataclass(frozen=True)
class EnergyAwAS2(Law):
    """AwAS-II given by its energy, parameters by index."""

    Ks: float = 10.0
    L: float = 0.05
    r_t: float = 0.015
    max_deflection: float = 0.3

    second_input: ClassVar[str] = "lever"

    @staticmethod
    def energy(q, theta_1, theta_2, p):
        x = q - theta_1
        d = min(max(x, -p[3]), p[3])
        ratio = p[1] / p[2] * theta_2 / (p[1] - theta_2)
        e = x - d
        return p[0] * ratio**2 * (math.sin(d) ** 2 + math.sin(2.0 * d) * e) + 0.5 * p[4] * e**2


@law("test_hardening")
@dataclass(frozen=True)
class Hardening(Law):
    """One motor, a spring that hardens beyond a knee: a law as a newcomer would write it."""

    k: float = 3.0
    knee: float = 0.2
    growth: float = 40.0

    motors: ClassVar[int] = 1

    @staticmethod
    def energy(q, theta_1, k, knee, growth):
        x = q - theta_1
        beyond = abs(x) - knee
        return 0.5 * k * x**2 + where(beyond > 0.0, growth * beyond**3 / 3.0, 0.0)


BUILT_IN = ("sea", "qbmove", "bavs", "awas_ii")
ENERGY_ONLY = ("test_energy_qbmove", "test_energy_awas", "test_hardening")
OWN = ("sea_table", "pam", "cable")
ALL = BUILT_IN + OWN + ENERGY_ONLY
PRESSURES = 5.0e5
"""Largest gauge pressure of a muscle in a test [Pa]."""

VARIANTS = {
    "sea": [SEA(), SEA(k=400.0, max_deflection=0.5)],
    "qbmove": [QbMove(), QbMove(0.01038, 6.257, 0.08918, 3.9), QbMove(0.0026, 8.9995, 0.0011, 8.9989)],
    "bavs": [BAVS(), BAVS(a=2e-6, b=1e-6, k=1e5, k_e=6.0, max_deflection=0.4)],
    "awas_ii": [AwAS2(), AwAS2(Ks=25.0, L=0.08, r_t=0.02, max_deflection=0.5)],
    "test_energy_qbmove": [EnergyQbMove(0.01038, 6.257, 0.08918, 3.9)],
    "test_energy_awas": [EnergyAwAS2()],
    "test_hardening": [Hardening()],
    "sea_table": [TableSEA(), TableSEA(torque_scale=0.3)],
    "cable": [Cable(), Cable(k=0.32, pretension=0.05), Cable(k=2.0, slack=0.1)],
    "pam": [McKibben(), McKibben(end_correction=1.0, contraction=0.2, pulley_radius=0.04, max_deflection=1.0)],
}
"""Sets of parameters by law: the defaults, and identified or odd ones that break symmetries."""


def registered():
    """Return the names of all laws that are registered now; each is under the property tests."""
    return tuple(registered_laws())


def instances(names=None, clips=("flat", "stop")):
    """Return every variant of the laws with each kind of clip; of a law without variants, its defaults."""
    names = registered() if names is None else names
    return [
        law.replace(clip=clip) for name in names for law in VARIANTS.get(name) or [get_law(name)()] for clip in clips
    ]


def label(law):
    variants = VARIANTS.get(law.name, [])
    place = next((i for i, v in enumerate(variants) if v == law.replace(clip="flat")), 0)
    return f"{law.name}-{place}-{law.clip}"


def reach(law):
    """Return how far a spring is deflected in a test: well beyond its clip."""
    return 1.6 * getattr(law, "max_deflection", 0.5)


def points(law, n, seed=0):
    """Return q, theta_1, theta_2 that cover both sides of the clip, each of shape (n,)."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(-1.5, 1.5, n)
    theta_1 = q + rng.uniform(-1.0, 1.0, n) * reach(law)
    if law.second_input == "pressure":
        return q, rng.uniform(0.0, PRESSURES, n), rng.uniform(0.0, PRESSURES, n)
    if law.second_input == "lever":
        theta_2 = rng.uniform(0.0, 0.95, n) * law.L
    elif law.motors == 1:
        theta_2 = np.zeros(n)
    else:
        theta_2 = q + rng.uniform(-1.0, 1.0, n) * reach(law)
    return q, theta_1, theta_2


def on_a_kink(law, q, theta_1, theta_2, margin=1e-6):
    """Say where a point lies within a margin of a clip, on which the slope has two values."""
    limit = getattr(law, "max_deflection", getattr(law, "knee", 0.0))
    if law.second_input == "pressure":
        slack = (law.largest_contraction - law.contraction) * law.length / law.pulley_radius
        return np.minimum(np.abs(np.abs(q) - limit), np.abs(np.abs(q) - slack)) < margin
    near = np.abs(np.abs(q - theta_1) - limit) < margin
    if law.second_input == "angle":
        near |= np.abs(np.abs(q - theta_2) - limit) < margin
    return near
