"""Limbs that change their length, inside the model that MuJoCo steps."""

import mujoco
import numpy as np
import pytest

from pliant import load
from pliant.base.errors import DeviceError, ModelError
from pliant.batch import CpuBatch
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.export.mjcf import describe_mjcf
from pliant.parallel.model import build_parallel, mechanism_of, settle
from pliant.parallel.model.extension import INVERSE, REACH, WARP
from pliant.simulation import Simulation

EXTENSIBLE = ["3ER", "RERRFR", "Stewart_Gough_6EFR", "Stewart_Gough_6FFR_Till"]
STROKE = np.array([-0.1, 0.1])
"""Change of all lengths of the 6EFR [m], 1.13 m long at home. Beyond 0.1 m longer it loses half of its stiffness."""


@pytest.fixture(scope="module")
def hexapod():
    """The 6EFR with enough damping that it comes to rest, and where the statics have its plate over the stroke."""
    robot = load("Stewart_Gough_6EFR", options={"segments": 8, "damping": 0.15}).set("option.timestep", 2e-3)
    home = mechanism_of(robot).solution
    goals = [home.robot.solve_dgm(home.q + change, start=home).plate_pose[:3, 3] for change in STROKE]
    return robot, home.q, np.array(goals)


def changes(k):
    """Return the lengths at step k of 750, less those at home: half a second of motion, and one of rest."""
    return STROKE * min(1.0, (k + 1) / 250)


def test_a_batch_has_the_6efr_where_the_statics_say_over_its_stroke(hexapod):
    robot, q, goals = hexapod
    batch = CpuBatch(robot, len(STROKE))
    for k in range(750):
        for i, length in enumerate(q):
            batch.write(f"limb{i + 1}/extension/control", (length + changes(k))[:, None])
        batch.step(1)
    found = batch.read("body/plate/position")
    assert np.linalg.norm(found - goals, axis=1).max() < 1e-4  # measured: 0.062 mm


def test_plain_mujoco_has_the_6efr_of_an_exported_file_where_the_statics_say(hexapod):
    robot, q, goals = hexapod
    model = mujoco.MjModel.from_xml_string(describe_mjcf(robot).text)
    assert model.nuser_actuator == 0
    data = mujoco.MjData(model)
    for world in range(len(STROKE)):
        mujoco.mj_resetDataKeyframe(model, data, 0)
        for k in range(750):
            data.ctrl[:] = q + changes(k)[world]
            mujoco.mj_step(model, data)
        assert np.linalg.norm(data.body("plate").xpos - goals[world]) < 1e-4


@pytest.mark.parametrize("name", EXTENSIBLE)
def test_nothing_changes_the_model_while_an_extensible_robot_runs(name):
    engine = MujocoEngine(load(name, options={"segments": 4}), check=False)
    before = np.zeros(mujoco.mj_sizeModel(engine.model), dtype=np.uint8)
    mujoco.mj_saveModel(engine.model, None, before)
    with Simulation(engine, make_devices(engine.robot), pacer="free") as simulation:
        engine.data.ctrl[:] += 0.01
        simulation.run(0.05)
        after = np.zeros_like(before)
        mujoco.mj_saveModel(engine.model, None, after)
    assert np.array_equal(before, after)


def test_the_polynomials_are_the_inverse_of_the_length():
    r = np.linspace(*REACH, 1001)
    u = sum(c * (r - 1.0) ** (k + 1) for k, c in enumerate(WARP))
    inverse = 1.0 + sum(c * u ** (k + 1) for k, c in enumerate(INVERSE))
    assert np.abs(r * inverse - 1.0).max() < 1.6e-5


def test_a_rod_pulls_at_its_spool_with_the_force_of_the_statics():
    robot = build_parallel("3ER", segments=10)
    state = mechanism_of(robot).bind(robot.compile(), mujoco.MjData(robot.compile()))
    home = mechanism_of(robot).solution
    state.start()
    goal = home.robot.solve_dgm(home.q + np.array([0.03, -0.02, 0.01]), start=home)
    for k in range(300):
        state.set_joints(home.q + (goal.q - home.q) * (k + 1) / 300)
        state.step()
    settle(state)
    np.testing.assert_allclose(state.data.actuator_force, goal.actuator_forces(), rtol=5e-3)


def test_the_weight_of_a_rod_grows_with_its_length():
    robot = build_parallel("Stewart_Gough_6EFR", segments=6)
    model = robot.compile()
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    forces = []
    held = [model.tendon(f"limb1/extension/{name}").id for name in ("weight", "ground", "store")]
    others = [t for t in range(model.ntendon) if t not in held]
    model.tendon_stiffness[others], model.tendon_stiffnesspoly[:], model.jnt_stiffness[:] = 0.0, 0.0, 0.0
    for change in (0.0, 0.1):
        data.joint("limb1/extension").qpos[0] = mechanism_of(robot).solution.q[0] + change
        mujoco.mj_forward(model, data)
        forces.append(data.qfrc_spring.copy())
    added = forces[1] - forces[0]
    # Virtual work of the weight of 0.1 m of rod, spread as the masses are.
    bodies = [b for b in range(model.nbody) if model.body(b).name.startswith(("limb1/node", "limb1/link", "limb1/tip"))]
    expected, jac = np.zeros(model.nv), np.zeros((3, model.nv))
    for b in bodies:
        mujoco.mj_jacBodyCom(model, data, jac, None, b)
        expected += 0.1 / mechanism_of(robot).solution.q[0] * model.body_mass[b] * model.opt.gravity @ jac
    chain = [model.joint(j).dofadr[0] for j in range(model.njnt) if model.jnt_bodyid[j] in bodies]
    np.testing.assert_allclose(added[chain], expected[chain], atol=1e-4 * np.abs(expected[chain]).max())


def test_lengths_beyond_what_the_elements_follow_are_refused_with_their_range():
    robot = build_parallel("Stewart_Gough_6EFR", segments=4)
    state = mechanism_of(robot).bind(robot.compile(), mujoco.MjData(robot.compile()))
    q = mechanism_of(robot).solution.q.copy()
    q[2] *= 1.7
    with pytest.raises(
        ModelError, match=r"limb3/extension would have to be at 1\.92073; its limits are 0\.677904 and 1\.8"
    ):
        state.set_joints(q)
    device = next(device for device in make_devices(robot) if device.name == "cpr")
    with pytest.raises(DeviceError, match="limb3/extension would have to be at"):
        device.verify("dgm_parameters", {"joints_values": list(q)})
