"""The statements about three feet count only differences beyond the margin."""

import numpy as np

from pliant.papers import softfoot_standing as module


def test_a_support_or_angle_that_differs_by_less_than_the_margin_does_not_count():
    def feet(length, angle):
        lengths, angles = np.array([0.26, length, length]), np.array([0.0, angle, -angle])
        support = np.column_stack([np.zeros(3), lengths])
        return module.Standing(pitch=angles, support=support, balance=0.0, moment=0.0, poses=np.zeros((3, 1)), model=0)

    bars, rows = [(0.0, 0.0), (0.02, 0.0), (0.02, 0.05)], [1, 2]

    def verdicts(length, angle, *pads):
        found = {"soft": feet(0.2, 0.1), "rigid": feet(length, angle), "compliant": feet(0.1, 0.1)}
        widths = {1e5 * (k + 1): np.full(2, pad) for k, pad in enumerate(pads)}
        return [str(s.verdict) for s in module.standing_statements(found, widths, bars, rows)]

    assert verdicts(0.18, 0.112, 0.18, 0.1) == ["consistent"] * 3
    assert verdicts(0.19, 0.105, 0.19, 0.1) == ["not reproduced"] * 3, "one pad of the two is nearly as wide"
