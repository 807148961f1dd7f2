"""The compliance of the closure: what is asked for is what the constraint has."""

import mujoco
import numpy as np
import pytest

from pliant.base.errors import ModelError
from pliant.feet.softfoot import SoftFootOptions, closure_compliance, fit_closure, smallest_compliance, softfoot
from pliant.feet.softfoot.closure import CLOSURE
from pliant.feet.softfoot.parameters import CLOSURE_SOLIMP

DEFAULT = SoftFootOptions().closure_compliance


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"n_chains": 3, "lump": True},
        {"n_chains": 1, "lump": True},
        {"n_chains": 1, "lump": True, "coupling": "midpoint", "tendon": "fixed"},
        {"armature": 1e-4},
        {"scale": 1.3},
    ],
)
def test_a_foot_has_the_compliance_that_is_asked_for(options):
    for compliance in (5e-6, 2e-5):
        model = softfoot(timestep=5e-4, closure_compliance=compliance, **options).compile()
        assert closure_compliance(model) == pytest.approx(compliance)


@pytest.mark.parametrize("mass", [0.02, 3.0])
@pytest.mark.parametrize("timestep", [1e-3, 4e-3])
def test_a_constraint_with_that_time_constant_yields_by_the_compliance(mass, timestep):
    # One mass on a slide, held by a connect; 100 N give a gap wider than the 1 mm in which the impedance rises.
    compliance = 5e-5 if mass < 1.0 else 2e-5
    constant = np.sqrt(compliance * mass / (1.0 - CLOSURE_SOLIMP[1]))
    assert constant > 2.0 * timestep
    spec = mujoco.MjSpec()
    spec.option.timestep = timestep
    spec.option.gravity = [0.0, 0.0, 0.0]
    body = spec.worldbody.add_body(name="mass")
    body.add_joint(type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[1.0, 0.0, 0.0])
    body.explicitinertial, body.mass, body.inertia = True, mass, [1e-3] * 3
    spec.add_equality(
        type=mujoco.mjtEq.mjEQ_CONNECT,
        objtype=mujoco.mjtObj.mjOBJ_BODY,
        name1="mass",
        name2="world",
        solref=[constant, 1.0],
        solimp=list(CLOSURE_SOLIMP),
    )
    model = spec.compile()
    # The approximation of A is the mean over three axes; this body moves along one of them.
    model.body_invweight0[1, 0] = 1.0 / mass
    data = mujoco.MjData(model)
    data.qfrc_applied[0] = 100.0
    for _ in range(round(2.0 / timestep)):
        mujoco.mj_step(model, data)
    assert data.qpos[0] == pytest.approx(100.0 * compliance, rel=1e-6)


def test_the_approximate_inverse_inertia_is_the_one_that_mujoco_uses():
    model = softfoot().compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    rows = (data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY) & (data.efc_id == model.equality(f"{CLOSURE}1").id)
    # At rest the impedance is the least: R = (1 - d) / d A.
    found = data.efc_R[rows] * CLOSURE_SOLIMP[0] / (1.0 - CLOSURE_SOLIMP[0])
    one, two = model.body("frontal_arch").id, model.body("rollover_phalanx_1").id
    weight = model.body_invweight0[one, 0] + model.body_invweight0[two, 0]
    assert found == pytest.approx(np.full(3, weight))
    constant = float(model.equality(f"{CLOSURE}1").solref[0])
    assert constant == pytest.approx(np.sqrt(5.0 * DEFAULT / ((1.0 - CLOSURE_SOLIMP[1]) * float(weight))))


def test_separate_chains_have_a_fifth_of_the_foot_each():
    one = softfoot(n_chains=1).compile()
    assert closure_compliance(one) == pytest.approx(5.0 * DEFAULT)


def test_the_release_has_the_default_time_constant():
    model = softfoot(release_quirks=True).compile()
    assert model.eq_solref == pytest.approx(np.tile([0.02, 1.0], (50, 1)))
    # Within a quarter of the default, which was fitted on a rig whose ankle also pitches.
    assert closure_compliance(model) == pytest.approx(DEFAULT, rel=0.25)


def test_a_foot_on_another_body_keeps_its_compliance_after_a_fit():
    foot = softfoot()
    spec = mujoco.MjSpec()
    spec.option.timestep = 0.002
    leg = spec.worldbody.add_body(name="leg", pos=[0.0, 0.0, 1.0])
    leg.add_freejoint()
    leg.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[0.05, 0.0, 0.0], mass=0.3)
    leg.add_frame().attach_body(foot.body("attachment_cube"), prefix="left_")
    before = closure_compliance(spec.compile(), "left_")
    assert before != pytest.approx(DEFAULT, rel=0.02)
    fit_closure(spec, DEFAULT, "left_", lump=False)
    assert closure_compliance(spec.compile(), "left_") == pytest.approx(DEFAULT)


def test_a_compliance_that_is_too_small_for_the_step_is_refused_with_the_bound():
    with pytest.raises(ModelError, match=r"closure_compliance is 1e-07 m/N; with the time step 0.002 s it must be >="):
        softfoot(closure_compliance=1e-7)
    bound = smallest_compliance(softfoot().compile(), 0.002)
    model = softfoot(closure_compliance=1.001 * bound).compile()
    assert closure_compliance(model) == pytest.approx(1.001 * bound)
    with pytest.raises(ModelError) as failed:
        softfoot(closure_compliance=0.999 * bound)
    # The step that it names is one with which it works.
    step = float(str(failed.value).split("step must be <= ")[1].split(" s")[0])
    softfoot(closure_compliance=0.999 * bound, timestep=0.999 * step)


def test_a_model_without_a_foot_is_told_apart():
    with pytest.raises(ModelError, match=r"no closure of a SoftFoot.*prefix"):
        closure_compliance(softfoot().compile(), "left_")
