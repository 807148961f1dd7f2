"""Forces of contacts."""

import mujoco
import numpy as np

from pliant.engine import MujocoEngine
from pliant.model.contacts import contact_forces
from pliant.robots.loading import load


def test_the_forces_of_a_ball_at_rest_carry_its_weight_where_it_touches(tmp_path):
    file = tmp_path / "ball.xml"
    file.write_text(
        "<mujoco><worldbody><geom type='plane' size='1 1 .1'/>"
        "<body pos='0.3 0.1 0.1'><freejoint/><geom size='.1' mass='2'/></body></worldbody></mujoco>"
    )
    engine = MujocoEngine(load(str(file)), check=False)
    for _ in range(2000):
        engine.step()
    found = contact_forces(engine.model, engine.data)
    weight = 2.0 * abs(engine.model.opt.gravity[2])
    np.testing.assert_allclose(found[:, 3:].sum(axis=0), [0.0, 0.0, weight], atol=1e-3 * weight)
    np.testing.assert_allclose(found[0, :3], [0.3, 0.1, 0.0], atol=2e-3)
    mujoco.mj_resetData(engine.model, engine.data)
    assert len(contact_forces(engine.model, engine.data)) == 0
