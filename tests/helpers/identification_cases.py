"""Measured traces as a recording would have them, of springs that are known."""

import numpy as np

from pliant.laws import CompliantActuator, Mode, QbMove

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
