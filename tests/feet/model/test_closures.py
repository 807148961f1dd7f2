"""A closure keeps its compliance on whatever carries it."""

import mujoco
import numpy as np
import pytest

from pliant.base.errors import ModelError
from pliant.feet.model.closures import fit_closures, measure_closures


def lever(base_mass, timestep=0.001, carried=True):
    """Return two sliders that a connect ties, on a carriage of some mass or on the world."""
    slide = '<joint name="carriage" type="slide" axis="1 0 0" stiffness="1e4" damping="1000"/>' if carried else ""
    inertial = f'<inertial pos="0 0 0" mass="{base_mass}" diaginertia="1 1 1"/>'
    return f"""<mujoco><option timestep="{timestep}" gravity="0 0 0" integrator="implicitfast"/><worldbody>
    <body name="base">{slide}{inertial}
      <body name="one"><joint name="one" type="slide" axis="1 0 0" stiffness="3e4" damping="100"/>
        <inertial pos="0 0 0" mass="0.3" diaginertia="1e-3 1e-3 1e-3"/></body>
      <body name="two"><joint name="two" type="slide" axis="1 0 0" damping="50"/>
        <inertial pos="0 0 0" mass="0.1" diaginertia="1e-3 1e-3 1e-3"/></body>
    </body></worldbody>
    <equality><connect name="tie" body1="one" body2="two" anchor="0 0 0" solref="0.03 1" solimp="0.95 0.99 0.001"/>
    </equality></mujoco>"""


def gap_under(model, force):
    data = mujoco.MjData(model)
    data.qfrc_applied[-1] = force
    for _ in range(6000):
        mujoco.mj_step(model, data)
    assert np.abs(data.qvel).max() < 1e-6
    return float(data.joint("two").qpos[0] - data.joint("one").qpos[0])


def test_the_measured_compliance_is_the_deflection_per_force():
    model = mujoco.MjModel.from_xml_string(lever(5.0, carried=False))
    compliance = measure_closures(model)["tie"]
    assert gap_under(model, 500.0) == pytest.approx(500.0 * compliance, rel=1e-3)


@pytest.mark.parametrize("mass", [0.05, 50.0])
def test_the_deflection_is_the_same_on_a_light_and_on_a_heavy_carrier(mass):
    compliance = measure_closures(mujoco.MjModel.from_xml_string(lever(5.0, carried=False)))
    model = mujoco.MjModel.from_xml_string(lever(mass))
    plain = gap_under(model, 500.0)
    fit_closures(model, compliance)
    assert gap_under(model, 500.0) == pytest.approx(500.0 * compliance["tie"], rel=1e-3)
    assert plain != pytest.approx(500.0 * compliance["tie"], rel=0.1)  # what the fit is for


def test_a_step_that_is_too_long_is_refused_with_both_bounds():
    compliance = measure_closures(mujoco.MjModel.from_xml_string(lever(5.0)))
    model = mujoco.MjModel.from_xml_string(lever(5.0, timestep=0.02))
    with pytest.raises(ModelError, match=r"time step is 0\.02 s.*must be <= 0\.015 s.*must be >= "):
        fit_closures(model, compliance)
    assert model.eq_solref[0, 0] == 0.03  # nothing was changed


def test_a_closure_that_is_gone_is_named():
    with pytest.raises(ModelError, match="no longer has the closure 'other'"):
        fit_closures(mujoco.MjModel.from_xml_string(lever(1.0)), {"other": 1e-6})
