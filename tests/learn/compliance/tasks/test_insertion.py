"""Force-limited insertion."""

import numpy as np

from pliant.learn.compliance.listing import find_task


def test_the_rule_inserts_where_a_fast_arm_exceeds_the_force():
    task = find_task("insertion")
    rule = np.array([p.rule for p in task.parameters])
    fast = rule.copy()
    fast[[p.name for p in task.parameters].index("approach_speed")] = 0.1
    found = task.evaluate(np.stack([rule, fast]), [6])
    assert found["success"].tolist() == [[1.0], [0.0]]
    assert found["peak_force"][0, 0] < 30.0 < found["peak_force"][1, 0]
    again = task.evaluate(rule[None], [6])
    assert again["time"][0, 0] == found["time"][0, 0]  # no state is left of other episodes
