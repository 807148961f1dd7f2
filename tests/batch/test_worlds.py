"""Many worlds of one robot: the same interface on the CPU and in MuJoCo Warp, each against the engine."""

import mujoco
import numpy as np
import pytest
from warp_devices import BATCHES

from pliant.base.errors import ModelError, PortError
from pliant.batch.distributions import Choice, LogUniform, Normal, Uniform
from pliant.batch.worlds import CpuBatch
from pliant.engine import MujocoEngine
from pliant.learn.warp import WarpBatch
from pliant.robots import build_robot

pytestmark = pytest.mark.quick

EVERY = list(BATCHES)


def robot(**options):
    return build_robot("qbmove-2dof", {"mounting": "vertical", **options})


def make(kind, *arguments, **options):
    """Return a batch of a kind; that of Warp where Warp is installed."""
    if kind == "cpu":
        return CpuBatch(*arguments, **options)
    pytest.importorskip("mujoco_warp", reason="MuJoCo Warp is not installed: pip install 'pliant[warp]'")
    return WarpBatch(*arguments, device=BATCHES[kind], **options)


def close(kind):
    """Return how near to the engine a batch must be: the CPU's equals it, Warp's physics is in single precision."""
    return {"rtol": 0.0, "atol": 0.0} if kind == "cpu" else {"rtol": 1e-4, "atol": 2e-5}


@pytest.mark.parametrize("kind", EVERY)
def test_every_port_has_the_engines_name_and_the_engines_values(kind):
    batch, engine = make(kind, robot(), 3), MujocoEngine(robot())
    assert batch.ports() == dict(engine.ports())
    for port, value in (("joint_1/reference_1", 0.5), ("joint_2/reference_2", 0.2), ("joint_2/external_torque", 0.1)):
        batch.write(port, value)
        engine.port(port)[:] = value
    batch.step(60)
    engine.step(60)
    for port in engine.ports():
        if port.startswith("body/") and kind != "cpu":
            continue  # of the state before the last step, as in MuJoCo
        expected = engine.port(port)
        values = batch.read(port)
        assert values.shape == (3, *expected.shape)
        for world in range(3):
            if port.startswith("body/") and not port.endswith("wrench"):
                np.testing.assert_allclose(values[world], expected, atol=1e-2)
            else:
                np.testing.assert_allclose(values[world], expected, **close(kind), err_msg=port)
    assert batch.steps().tolist() == [60] * 3


@pytest.mark.parametrize("kind", EVERY)
def test_worlds_have_their_own_references_parameters_and_resets(kind):
    batch = make(kind, robot(), 3)
    batch.set_parameters({"joint_1.k1": [0.0012, 0.0019, 0.003], "joint_2.motor_1.damping": 0.4})
    batch.write("joint_1/reference_1", [0.2, 0.4, 0.6])
    batch.write("joint_1/reference_1", -0.3, worlds=[1])
    batch.step(50)
    for world, (k1, reference) in enumerate([(0.0012, 0.2), (0.0019, -0.3), (0.003, 0.6)]):
        alone = robot()
        alone.update({"joint_1.k1": k1, "joint_2.motor_1.damping": 0.4})
        engine = MujocoEngine(alone)
        engine.port("joint_1/reference_1")[:] = reference
        engine.step(50)
        np.testing.assert_allclose(
            batch.read("joint_1/position")[world],
            engine.port("joint_1/position"),
            atol=1e-12 if kind == "cpu" else 1e-6,
        )
    np.testing.assert_array_equal(batch.parameter("joint_1.k1"), [0.0012, 0.0019, 0.003])
    before = batch.read("state/qpos")
    batch.reset([False, True, False], {"joint_1": 0.25})
    after = batch.read("state/qpos")
    np.testing.assert_array_equal(after[[0, 2]], before[[0, 2]])
    assert batch.steps().tolist() == [50, 0, 50]
    assert batch.read("joint_1/position")[1] == pytest.approx(0.25)
    assert batch.read("joint_1/reference_1")[1] == pytest.approx(0.25)
    assert batch.read("joint_1/motor_1_position")[1] == pytest.approx(0.25, abs=0.2)
    np.testing.assert_array_equal(batch.parameter("joint_1.k1"), [0.0012, 0.0019, 0.003])


@pytest.mark.parametrize("kind", EVERY)
def test_worlds_have_their_own_initial_presets_after_a_reset(kind):
    batch = make(kind, robot(), 3)
    batch.set_parameters({"joint_1.initial_preset": [0.1, 0.3]}, worlds=[0, 2])
    batch.reset()
    batch.step(20)
    for world, changes in enumerate(({"joint_1.initial_preset": 0.1}, {}, {"joint_1.initial_preset": 0.3})):
        alone = robot()
        alone.update(changes)
        engine = MujocoEngine(alone)
        engine.step(20)
        for port in ("joint_1/reference_2", "joint_1/preset", "joint_1/position"):
            atol = 1e-12 if kind == "cpu" else 1e-6
            np.testing.assert_allclose(batch.read(port)[world], engine.port(port), atol=atol, err_msg=port)


@pytest.mark.parametrize("kind", EVERY)
def test_motors_of_one_joint_start_at_zero_and_those_of_another_at_the_pose(kind):
    mixed = robot()
    mixed.spec.add_key(name="rest", qpos=[0.2, -0.2])
    mixed.update({"joint_1.start": "zero", "actuator.mode": 6})
    batch = make(kind, mixed, 2)
    engine = MujocoEngine(mixed)
    for port, expected in (("joint_1/reference_1", 0.0), ("joint_2/reference_1", -0.2)):
        assert engine.port(port).item() == pytest.approx(expected, abs=1e-12)
        np.testing.assert_allclose(batch.read(port), expected, atol=1e-6)
    for port, expected in (("joint_1/equilibrium", 0.0), ("joint_2/equilibrium", -0.2)):
        assert engine.port(port).item() == pytest.approx(expected, abs=1e-12)
        np.testing.assert_allclose(batch.read(port), expected, atol=1e-6)


@pytest.mark.parametrize("kind", EVERY)
def test_worlds_start_from_a_key_frame_with_their_actuators_at_rest_there(kind):
    bent = robot()
    bent.spec.add_key(name="bent", qpos=[0.4, -0.2])
    batch = make(kind, bent, 3)
    batch.reset([0, 2], {"joint_2": [0.1, 0.3]}, key="bent")
    np.testing.assert_allclose(batch.read("state/qpos"), [[0.4, 0.1], [0.0, 0.0], [0.4, 0.3]], atol=1e-6)
    np.testing.assert_allclose(batch.read("joint_1/reference_1")[:, 0], [0.4, 0.0, 0.4], atol=1e-6)
    with pytest.raises(PortError, match="no key frame 'bend'; did you mean 'bent'"):
        batch.reset(key="bend")


@pytest.mark.parametrize("kind", EVERY)
def test_a_run_after_a_reset_equals_the_first_run(kind):
    batch = make(kind, robot(), 2)
    runs = []
    for _ in range(2):
        batch.write("joint_1/reference_1", [0.5, -0.5])
        batch.step(30)
        runs.append(batch.read("state/qpos"))
        batch.reset()
    np.testing.assert_array_equal(*runs)


@pytest.mark.parametrize("kind", EVERY)
def test_masses_and_damping_differ_between_worlds(kind):
    changes = {"link_2.mass": [0.2, 0.6], "joint_1.damping": [0.0, 0.5]}
    batch = make(kind, robot(), 2)
    batch.set_parameters(changes)
    batch.write("joint_1/reference_1", 0.5)
    batch.step(50)
    for world in range(2):
        alone = robot()
        alone.update({path: values[world] for path, values in changes.items()})
        engine = MujocoEngine(alone)
        engine.port("joint_1/reference_1")[:] = 0.5
        engine.step(50)
        np.testing.assert_allclose(
            batch.read("joint_1/position")[world], engine.port("joint_1/position"), atol=1e-9 if kind == "cpu" else 1e-6
        )


@pytest.mark.parametrize("kind", EVERY)
def test_equal_seeds_draw_equal_worlds_whichever_are_drawn(kind):
    spread = {"joint_1.k1": Uniform(0.0015, 0.0024), "actuator.motor_1.damping": LogUniform(0.1, 0.3)}
    batch = make(kind, robot(), 4)
    all_of_them = batch.randomize(spread, seed=3)
    assert all_of_them["joint_1.k1"].shape == (4,)
    assert ((all_of_them["joint_1.k1"] >= 0.0015) & (all_of_them["joint_1.k1"] <= 0.0024)).all()
    some = batch.randomize(spread, seed=3, worlds=[1, 3])
    np.testing.assert_array_equal(some["joint_1.k1"], all_of_them["joint_1.k1"][[1, 3]])
    other = batch.randomize(spread, seed=4, worlds=[0])
    assert other["joint_1.k1"][0] != all_of_them["joint_1.k1"][0]
    assert batch.parameter("joint_1.k1")[1] == all_of_them["joint_1.k1"][1]


@pytest.mark.parametrize("kind", EVERY)
def test_a_world_that_diverges_is_named_with_its_joint_and_the_others_go_on(kind):
    batch, calm = make(kind, robot(), 3), make(kind, robot(), 3)
    batch.write("joint_2/velocity", 1e7, worlds=[1])
    batch.step(5)
    calm.step(5)
    assert batch.diverged.tolist() == [False, True, False]
    assert "joint_" in batch.reason(1)
    assert "at 0.00" in batch.reason(1)
    assert batch.reason(0) == ""
    for world in (0, 2):
        np.testing.assert_array_equal(batch.read("state/qpos")[world], calm.read("state/qpos")[world])
    batch.reset([1])
    batch.step(5)
    assert not batch.diverged.any()


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda b: b.write("joint_1/referense_1", 0.1), "did you mean 'joint_1/reference_1'"),
        (lambda b: b.write("joint_1/torque", 0.1), "is a result and cannot be written"),
        (lambda b: b.write("joint_1/reference_1", [0.1] * 3), r"shape \(3,\); must be a number, \(1,\) or \(2, 1\)"),
        (lambda b: b.write("joint_1/reference_1", [0.1, np.nan]), r"the value at \(1, 0\) is nan; must be finite"),
        (lambda b: b.write("joint_1/reference_1", "fast"), "is not an array of numbers"),
        (lambda b: b.write("joint_1/reference_1", 0.1, worlds=[2]), "must be a mask or indices 0 to 1"),
        (lambda b: b.reset([True]), r"the mask has shape \(1,\); must be \(2,\)"),
        (lambda b: b.reset(positions={"elbow": 0.1}), "no port 'elbow/position'"),
        (lambda b: b.set_parameters({"joint_1.k9": 1.0}), "neither the actuator nor its law QbMove has 'k9'"),
        (lambda b: b.set_parameters({"joint_1.k1": -1.0}), "k1"),
        (lambda b: b.set_parameters({"joint_1.mode": 3.0}), "another state"),
        (lambda b: b.set_parameters({"joint_9.k1": 1.0}), "no parameter 'joint_9.k1' that can differ"),
        (lambda b: b.set_parameters({"gravity": 1.0}), "must be <name>.<parameter>"),
        (lambda b: b.set_parameters({"link_2.mass": 0.0}), "must be > 0"),
        (lambda b: b.randomize({"joint_1.k1": 0.002}, 1), "is not a distribution; must be Uniform"),
        (lambda b: b.step(2.5), "step: n is 2.5; must be a whole number >= 1"),
        (lambda b: b.step(0), "step: n is 0; must be a whole number >= 1"),
    ],
)
def test_what_a_batch_cannot_do_is_refused(kind, act, message, shared):
    with pytest.raises((PortError, ModelError), match=message):
        act(shared(kind))


@pytest.fixture(scope="module")
def shared():
    """Return a function that gives one batch of two worlds a kind."""
    made = {}

    def batch(kind):
        if kind not in made:
            made[kind] = make(kind, robot(), 2)
        return made[kind]

    return batch


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("worlds", [0, -3, 2.5, True, "8"])
def test_the_number_of_worlds_must_be_a_whole_number(kind, worlds):
    with pytest.raises(ModelError, match="must be a whole number >= 1"):
        make(kind, robot(), worlds)


@pytest.mark.parametrize("kind", EVERY)
def test_runge_kutta_is_refused_with_motor_states(kind):
    slow = robot()
    slow.update({"option.integrator": "RK4"})
    with pytest.raises(ModelError, match="RK4"):
        make(kind, slow, 2)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Uniform(2.0, 1.0), "low is 2; must be <= high 1"),
        (lambda: Uniform(0.0, np.inf), "high is inf; must be a finite number"),
        (lambda: LogUniform(0.0, 1.0), "low is 0; must be > 0"),
        (lambda: Normal(0.0, -1.0), "std is -1; must be >= 0"),
        (lambda: Choice(()), "must be finite numbers"),
    ],
)
def test_a_distribution_without_sense_is_refused(wrong, message):
    with pytest.raises(ModelError, match=message):
        wrong()


def test_distributions_draw_what_they_say():
    rng = np.random.default_rng(0)
    assert Uniform(1.0, 2.0).sample(rng, 4000).mean() == pytest.approx(1.5, abs=0.02)
    assert np.log(LogUniform(0.1, 10.0).sample(rng, 4000)).mean() == pytest.approx(0.0, abs=0.1)
    assert Normal(3.0, 0.5).sample(rng, 4000).std() == pytest.approx(0.5, abs=0.03)
    assert set(Choice((1.0, 4.0)).sample(rng, 50)) == {1.0, 4.0}


def test_a_compiled_model_has_ports_but_no_parameters_by_name():
    batch = CpuBatch(robot().compile(), 2)
    batch.write("joint_1/reference_1", 0.1)
    batch.step(2)
    assert isinstance(batch.model, mujoco.MjModel)
    with pytest.raises(ModelError, match="give the Robot itself"):
        batch.set_parameters({"joint_1.k1": 0.002})
