"""A robot file and plans that the tests of sweeps share."""

import pytest

from pliant.sweep import SweepPlan, parse_variation

MODEL = """
<mujoco><option timestep="0.002"/><worldbody>
<body name="link"><joint name="elbow" axis="0 1 0" damping="0.05"/>
<geom type="capsule" fromto="0 0 0 0 0 -0.1" size="0.01" mass="0.5"/></body>
</worldbody></mujoco>
"""


@pytest.fixture
def robot_file(tmp_path):
    (tmp_path / "arm.xml").write_text(MODEL)
    path = tmp_path / "arm.yaml"
    path.write_text("model: arm.xml\nactuators:\n  elbow: {law: qbmove, mode: 3}\n")
    return str(path)


def make_plan(robot_file, *variations: str, **options) -> SweepPlan:
    defaults = {"commands": {"elbow/equilibrium_position": 0.5, "elbow/stiffness_preset": 0.4}, "duration": 0.5}
    return SweepPlan(
        source=robot_file, variations=tuple(parse_variation(v) for v in variations), **{**defaults, **options}
    )


@pytest.fixture
def plan():
    """Return the function that makes a plan of the robot file."""
    return make_plan


@pytest.fixture
def model():
    """Return the text of the model of the robot file."""
    return MODEL
