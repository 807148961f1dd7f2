"""The springs of a joint are found again from a noisy pull test.

You will see the springs that made the data, the springs that the fit finds with their standard errors, and the
residual, which is the noise that was put in.
"""

import numpy as np

from pliant import QbMove
from pliant.identification import Measurement, fit_law

TRUE = QbMove(k1=0.0026, a1=8.9995, k2=0.0011, a2=8.9989)  # manual of the qbMove Advanced Kit
NOISE = 0.005  # standard deviation of the torque sensor [N m]


def pull(preset: float, rng: np.random.Generator) -> Measurement:
    """Return a pull test: deflection back and forth, measured torque."""
    q = np.concatenate([np.linspace(-0.4, 0.4, 200), np.linspace(0.4, -0.4, 200)])
    torque = TRUE.evaluate(q, preset, -preset).torque + rng.normal(0.0, NOISE, q.size)
    return Measurement.of({"q": q, "theta_eq": 0.0, "preset": preset, "torque": torque})


def main() -> None:
    """Make the data at three presets, fit, print."""
    rng = np.random.default_rng(0)
    found = fit_law("qbmove", [pull(preset, rng) for preset in (0.0, 0.2, 0.4)])
    for name in ("k1", "a1", "k2", "a2"):
        estimate = found[name]
        print(
            f"{name}: true {getattr(TRUE, name):.5g}, found {estimate.value:.5g} "
            f"+- {estimate.standard_error:.1g} {estimate.unit}"
        )
    print(f"residual {found.rms('torque'):.4f} N m; the noise had {NOISE} N m")
    for warning in found.warnings:
        print("warning:", warning)


if __name__ == "__main__":
    main()
