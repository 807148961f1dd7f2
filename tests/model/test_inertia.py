"""Mass and inertia of a body of a spec."""

import mujoco
import numpy as np
import pytest

from pliant.model.inertia import set_inertia


def compiled(moments, center=(0.0, 0.0, 0.0)):
    spec = mujoco.MjSpec()
    body = spec.worldbody.add_body(name="arm", pos=[0.2, 0.1, 0.0], quat=[0.6, 0.0, 0.8, 0.0])
    body.add_joint(name="hinge", axis=[0.0, 1.0, 0.0])
    body.add_geom(size=[0.1, 0.0, 0.0])
    set_inertia(body, 2.0, moments, center)
    return spec, spec.compile()


def test_the_centre_of_mass_is_the_origin_of_the_body_wherever_the_body_is():
    _, model = compiled(0.1)
    assert model.body("arm").ipos.tolist() == [0.0, 0.0, 0.0]
    assert model.body("arm").iquat.tolist() == [1.0, 0.0, 0.0, 0.0]
    assert model.body("arm").mass == 2.0
    assert model.body("arm").inertia.tolist() == [0.1, 0.1, 0.1]


@pytest.mark.parametrize("center", [(0.0, 0.0, 0.0), (0.3, 0.0, 0.0)])
def test_a_hinge_turns_the_inertia_and_the_mass_at_its_centre(center):
    # Steiner: the y axis through the origin, mass at the distance r.
    _, model = compiled([0.1, 0.2, 0.15], center)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    full = np.zeros((1, 1))
    mujoco.mj_fullM(model, data, full)
    assert full[0, 0] == pytest.approx(0.2 + 2.0 * center[0] ** 2, rel=1e-12)


def test_the_file_of_a_body_keeps_the_inertia():
    spec, model = compiled([0.1, 0.2, 0.15], (0.3, 0.0, 0.0))
    other = mujoco.MjModel.from_xml_string(spec.to_xml())
    assert other.body("arm").mass == model.body("arm").mass
    assert other.body("arm").ipos == pytest.approx(model.body("arm").ipos)
    assert other.body("arm").inertia == pytest.approx(model.body("arm").inertia)
