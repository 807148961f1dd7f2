"""Joints of a solution beyond their limits."""

from pliant.rods import load_robot
from pliant.rods.limits import beyond_limits


def test_a_joint_beyond_its_limit_is_named_with_the_limit():
    robot = load_robot("6PFR")
    home = robot.home()
    assert beyond_limits(home) == []
    low, high = robot.description.limbs[0].joints[0].limits
    far = robot.solve_dgm([high + 0.01, *home.q[1:]], start=home)
    (text,) = beyond_limits(far)
    assert f"is outside {low:g} to {high:g}" in text
    assert text.startswith(robot.description.limb_name(0))
