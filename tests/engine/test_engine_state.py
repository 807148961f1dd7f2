"""State: saving, loading, resetting, key frames, roll-outs and batches give the same bytes as one engine."""

import mujoco
import mujoco.rollout
import numpy as np
import pytest
from benches import arm, bench, drive, smooth_references
from law_cases import BUILT_IN, VARIANTS

from pliant.base.errors import ModelError, PortError
from pliant.batch import make_batch, set_actuators
from pliant.engine import MujocoEngine, hold_pose
from pliant.laws import (
    BAVS,
    PID,
    SEA,
    CompliantActuator,
    DCMotor,
    Electrical,
    Mode,
    PreslidingFriction,
    QbMove,
    layout,
)

pytestmark = pytest.mark.quick

DT = 1e-3
OPTIONS = {
    "link_friction": PreslidingFriction(torque=0.03),
    "command_delay": 4e-3,
    "motor_1": DCMotor(electrical=Electrical(inductance=0.01)),
    "pid_1": PID(ki=20.0, velocity_feedforward=True),
}
ACTUATORS = [CompliantActuator(VARIANTS[name][0], mode=mode, **OPTIONS) for name in BUILT_IN for mode in (1, 3, 4, 6)]
EVERY = pytest.mark.parametrize("actuator", ACTUATORS, ids=lambda a: f"{a.law.name}-{a.mode.value}")


def everything(engine):
    data = engine.data
    return b"".join(x.tobytes() for x in (data.qpos, data.qvel, data.act, data.ctrl, data.qacc, engine.observed))


def refs(actuator, first, n):
    return smooth_references(actuator.law, actuator.mode, (np.arange(n) + first) * DT)


@EVERY
def test_what_follows_a_load_equals_what_followed_the_save_bit_by_bit(actuator):
    engine = MujocoEngine(bench(actuator), check=False)
    drive(engine, "joint", *refs(actuator, 0, 120))
    state = engine.save()
    seen = everything(engine)
    drive(engine, "joint", *refs(actuator, 120, 100))
    then, time = everything(engine), engine.time_ns
    engine.load(state)
    assert engine.observed.tobytes() == seen[-engine.observed.nbytes :]
    assert engine.time_ns == 120 * 1_000_000
    drive(engine, "joint", *refs(actuator, 120, 100))
    assert everything(engine) == then
    assert engine.time_ns == time
    other = MujocoEngine(bench(actuator), check=False)
    other.load(state)
    drive(other, "joint", *refs(actuator, 120, 100))
    assert everything(other) == then


@EVERY
def test_a_reset_forgets_everything(actuator):
    engine = MujocoEngine(bench(actuator), check=False)
    fresh = everything(engine)
    first = drive(engine, "joint", *refs(actuator, 0, 100), ["joint/position", "joint/torque"]).tobytes()
    engine.port("joint/external_torque")[0] = 1.0
    engine.step(5)
    engine.reset()
    assert everything(engine) == fresh
    assert engine.time_ns == 0
    assert drive(engine, "joint", *refs(actuator, 0, 100), ["joint/position", "joint/torque"]).tobytes() == first


@EVERY
def test_the_rest_key_frame_is_the_state_after_a_reset(actuator):
    engine = MujocoEngine(bench(actuator), check=False)
    start = engine.data.act.copy(), engine.data.ctrl.copy()
    drive(engine, "joint", *refs(actuator, 0, 50))
    mujoco.mj_resetDataKeyframe(engine.model, engine.data, engine.model.key("rest").id)
    np.testing.assert_array_equal(engine.data.act, start[0])
    np.testing.assert_array_equal(engine.data.ctrl, start[1])


@EVERY
def test_a_rollout_gives_the_bytes_of_an_engine(actuator):
    engine = MujocoEngine(bench(actuator), check=False)
    model, n = engine.model, 150
    spec = int(mujoco.mjtState.mjSTATE_FULLPHYSICS)
    start = np.empty(mujoco.mj_stateSize(model, spec))
    mujoco.mj_getState(model, engine.data, start, spec)
    r1, r2 = refs(actuator, 0, n)
    control = np.column_stack([r1, r2])[:, : model.nu]
    states, _ = mujoco.rollout.rollout(
        model, [mujoco.MjData(model) for _ in range(2)], start, control[None].repeat(4, 0)
    )
    end = np.empty_like(start)
    for i in range(n):
        engine.data.ctrl[:] = control[i]
        engine.step()
        mujoco.mj_getState(model, engine.data, end, spec)
        for k in range(4):
            assert states[k, i].tobytes() == end.tobytes(), f"step {i} of roll-out {k}"


@pytest.mark.parametrize("nthread", [1, 2])
@EVERY
def test_a_batch_gives_the_bytes_of_single_engines(actuator, nthread):
    robot = bench(actuator)
    batch = make_batch(robot, 6, nthread=nthread)
    engines = [MujocoEngine(robot, check=False) for _ in range(6)]
    ctrl, qpos, act = batch.bind("ctrl"), batch.bind("qpos"), batch.bind("act")
    for engine, row, state in zip(engines, ctrl, act):
        np.testing.assert_array_equal(row, engine.data.ctrl)
        np.testing.assert_array_equal(state, engine.data.act)
    scale = np.linspace(0.5, 1.0, 6)
    for r1, r2 in zip(*refs(actuator, 0, 60)):
        for k, engine in enumerate(engines):
            ctrl[k] = np.array([r1 * scale[k], r2])[: engine.model.nu]
            engine.data.ctrl[:] = ctrl[k]
            engine.step()
        batch.step()
    for k, engine in enumerate(engines):
        assert qpos[k].tobytes() == engine.data.qpos.tobytes()
        assert act[k].tobytes() == engine.data.act.tobytes()
    assert np.unique(qpos).size > 1 or actuator.law.name == "awas_ii"


def test_each_simulation_of_a_batch_may_have_its_own_parameters_and_law():
    base = CompliantActuator(QbMove(), mode=6)
    mine = [
        base,
        base.replace(law=QbMove(0.01038, 6.257, 0.08918, 3.9)),
        base.replace(law=BAVS()),
        base.replace(mode=Mode.PID_REFS),
        base.replace(motor_1=DCMotor(damping=1.0), link_damping=0.05),
    ]
    robot = arm(base, CompliantActuator(SEA(k=20.0), mode=3))
    batch = make_batch(robot, len(mine), nthread=2)
    set_actuators(batch, "shoulder", mine, DT)
    ctrl = batch.bind("ctrl")
    ctrl[:] = [0.4, 0.15, -0.3]
    for _ in range(200):
        batch.step()
    for k, actuator in enumerate(mine):
        engine = MujocoEngine(arm(actuator, CompliantActuator(SEA(k=20.0), mode=3)), check=False)
        engine.data.ctrl[:] = [0.4, 0.15, -0.3]
        engine.step(200)
        assert batch.bind("qpos")[k].tobytes() == engine.data.qpos.tobytes(), k
        assert batch.bind("act")[k].tobytes() == engine.data.act.tobytes(), k
    assert np.unique(batch.bind("qpos")[:, 0]).size == len(mine)


def test_a_batch_refuses_actuators_that_need_another_state():
    batch = make_batch(bench(CompliantActuator(QbMove(), mode=6)), 2)
    for other in (CompliantActuator(SEA(), mode=6), CompliantActuator(QbMove(), mode=3)):
        with pytest.raises(ModelError, match="simulation 1: the actuator of 'joint' has other states"):
            set_actuators(batch, "joint", [CompliantActuator(QbMove(), mode=6), other], DT)
    with pytest.raises(ModelError, match="no compliant actuator 'elbow'"):
        set_actuators(batch, "elbow", [CompliantActuator(QbMove())] * 2, DT)
    with pytest.raises(ModelError, match="nsim is 0"):
        make_batch(bench(CompliantActuator(QbMove())), 0)


def test_engines_with_different_laws_in_one_process_do_not_touch_each_other():
    def run(engines):
        for i in range(200):
            for engine, actuator in engines:
                r1, r2 = refs(actuator, i, 1)
                engine.data.ctrl[:] = np.array([r1[0], r2[0]])[: engine.model.nu]
                engine.step()
        return [everything(engine) for engine, _ in engines]

    actuators = [a for a in ACTUATORS if a.mode == 6]
    together = run([(MujocoEngine(bench(a), check=False), a) for a in actuators])
    alone = [run([(MujocoEngine(bench(a), check=False), a)])[0] for a in actuators]
    assert together == alone


def test_two_joints_with_different_laws_and_modes_in_one_model():
    robot = arm(CompliantActuator(QbMove(), mode=6), CompliantActuator(BAVS(), mode=2))
    engine = MujocoEngine(robot)
    assert engine.compliant_joints() == ["shoulder", "elbow"]
    engine.port("elbow/reference_1")[0] = 0.3
    engine.port("elbow/reference_2")[0] = 0.1
    engine.step(400)
    q = engine.port("elbow/position")[0]
    assert engine.port("elbow/torque")[0] == pytest.approx(BAVS().evaluate(q, 0.3, 0.1).torque, rel=1e-12)
    assert engine.port("shoulder/load_1")[0] != engine.port("elbow/load_1")[0]


def test_a_state_of_another_model_is_refused():
    engine = MujocoEngine(bench(CompliantActuator(QbMove(), mode=6)))
    other = MujocoEngine(bench(CompliantActuator(SEA(), mode=3)))
    with pytest.raises(PortError, match="a state of this model has shape"):
        engine.load(other.save())


def test_plain_mujoco_runs_the_laws_without_an_engine():
    robot = bench(CompliantActuator(QbMove(), mode=6, initial_preset=0.2))
    engine = MujocoEngine(robot)
    model = robot.compile()
    data = mujoco.MjData(model)
    data.qpos[0] = 0.0
    hold_pose(model, data, {"joint": 0.2})
    np.testing.assert_array_equal(data.act, engine.data.act)
    for _ in range(200):
        mujoco.mj_step(model, data)
    engine.step(200)
    np.testing.assert_array_equal(data.qpos, engine.data.qpos)


def test_a_pose_is_taken_with_motors_at_rest_there():
    engine = MujocoEngine(
        arm(CompliantActuator(QbMove(), mode=6, initial_preset=0.3), CompliantActuator(SEA(), mode=5))
    )
    engine.step(10)
    engine.set_pose({"shoulder": 0.5})
    assert engine.time_ns == 0
    assert engine.port("shoulder/equilibrium")[0] == pytest.approx(0.5)
    assert engine.port("shoulder/preset")[0] == pytest.approx(0.3)
    assert engine.port("shoulder/torque")[0] == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(ModelError, match=r"no joint 'sholder'; did you mean 'shoulder'\?"):
        engine.set_pose({"sholder": 0.1})
    for wrong, message in ((float("inf"), "must be a finite number"), ("far", "must be a number")):
        with pytest.raises(ModelError, match=message):
            engine.set_pose({"shoulder": 0.1, "elbow": wrong})
    assert engine.port("shoulder/position")[0] == pytest.approx(0.5)


# -- ports ---------------------------------------------------------------------------------------------------


def test_every_port_is_a_live_array_with_shape_unit_and_direction():
    engine = MujocoEngine(arm(CompliantActuator(QbMove(), mode=6), CompliantActuator(VARIANTS["awas_ii"][0], mode=6)))
    ports = engine.ports()
    for name, info in ports.items():
        view = engine.port(name)
        assert view.shape == info.shape, name
        assert view.dtype == np.float64, name
        assert np.shares_memory(view, engine.port(name)), name
        assert info.description, name
    for field in layout.OUT:
        assert not ports[f"shoulder/{field}"].writable
    for field in ("position", "velocity", "external_torque", "reference_1", "reference_2"):
        assert ports[f"shoulder/{field}"].writable
    assert ports["shoulder/position"].unit == ports["shoulder/preset"].unit == "rad"
    assert ports["shoulder/velocity"].unit == "rad/s"
    assert ports["shoulder/torque"].unit == ports["shoulder/external_torque"].unit == "N m"
    assert ports["shoulder/stiffness"].unit == "N m/rad"
    assert (ports["shoulder/energy"].unit, ports["shoulder/motor_power"].unit) == ("J", "W")
    assert (ports["elbow/preset"].unit, ports["elbow/load_2"].unit) == ("m", "N")
    assert (ports["elbow/motor_2_velocity"].unit, ports["elbow/motor_1_velocity"].unit) == ("m/s", "rad/s")


def test_what_is_written_into_a_port_acts_in_the_next_step():
    engine = MujocoEngine(bench(CompliantActuator(SEA(k=0.0), mode=3), gravity=0.0, damping=0.0))
    engine.port("joint/external_torque")[0] = 0.5
    engine.step()
    from benches import INERTIA

    assert engine.port("joint/velocity")[0] == pytest.approx(0.5 / INERTIA * DT, rel=1e-9)


def test_a_mode_with_one_reference_has_no_second_port():
    engine = MujocoEngine(bench(CompliantActuator(SEA(), mode=6)))
    with pytest.raises(PortError, match=r"no port 'joint/reference_2'; did you mean 'joint/reference_1'\?"):
        engine.port("joint/reference_2")


# -- switching -----------------------------------------------------------------------------------------------


ON_ITS_WAY = {
    "plain": {},
    "delay": {"command_delay": 0.02},
    "slew": {"reference_slew_1": 1.0, "reference_slew_2": 1.0},
    "integral": {"pid_1": PID(ki=50.0, velocity_feedforward=True), "command_resolution": 2e-4},
}
SWITCHED = [("plain", old, new) for old, new in [(6, 5), (5, 6), (6, 4), (4, 5), (4, 6), (5, 5), (2, 3), (3, 2)]]
SWITCHED += [(name, old, new) for name in ("delay", "slew") for old, new in [(6, 4), (4, 5), (5, 6), (2, 3)]]
SWITCHED += [("integral", old, new) for old, new in [(4, 6), (5, 6)]]


@pytest.mark.parametrize(("name", "old", "new"), SWITCHED)
def test_a_switched_joint_holds_its_loaded_pose_whatever_was_on_its_way(name, old, new):
    """Under gravity the motors stand apart from the link; a reference of the old mode means nothing in the new one."""
    engine = MujocoEngine(bench(CompliantActuator(QbMove(), mode=old, initial_preset=0.2, **ON_ITS_WAY[name])))
    start = {4: (0.02, -0.02), 5: (0.5, 0.1), 2: (0.5, 0.1)}.get(old, (0.3, 0.2))
    drive(engine, "joint", np.full(1000, start[0]), np.full(1000, start[1]))
    q, motor = engine.port("joint/position")[0], engine.port("joint/motor_1_position")[0]
    engine.set_mode("joint", new)
    assert engine.mode("joint") == Mode(new)
    engine.step(100)
    assert engine.port("joint/motor_1_position")[0] == pytest.approx(motor, abs=0.006)
    assert engine.port("joint/position")[0] == pytest.approx(q, abs=0.01)
    engine.reset()
    assert engine.mode("joint") == Mode(old)


def test_a_torque_is_not_quantised_like_the_angles_of_the_mode_before():
    engine = MujocoEngine(bench(CompliantActuator(SEA(k=0.0), mode=5, command_resolution=0.1)))
    engine.set_mode("joint", 4)
    engine.port("joint/reference_1")[0] = 0.03
    engine.step(1)
    assert engine.port("joint/motor_1_effort")[0] == pytest.approx(0.03)
    engine.set_mode("joint", 5)
    engine.port("joint/reference_1")[0] = 0.06
    engine.step(1000)
    assert engine.port("joint/motor_1_position")[0] == pytest.approx(0.1, abs=1e-3)


@pytest.mark.parametrize(("old", "new"), [(6, 3), (3, 6), (0, 3), (3, 0), (1, 3)])
def test_a_mode_with_another_state_is_refused_while_running(old, new):
    engine = MujocoEngine(bench(CompliantActuator(QbMove(), mode=old)))
    with pytest.raises(ModelError, match=f"cannot switch from mode {old} to mode {new}"):
        engine.set_mode("joint", new)
    with pytest.raises(ModelError, match="must be 0 to 6"):
        engine.set_mode("joint", 9)


def test_gains_change_while_running_and_return_with_a_reset():
    engine = MujocoEngine(bench(CompliantActuator(SEA(k=100.0, max_deflection=3.0), mode=5), gravity=0.0))

    def settle():
        drive(engine, "joint", np.full(2000, 0.2), np.zeros(2000))
        return engine.port("joint/motor_1_position")[0]

    soft = settle()
    engine.reset()
    engine.set_gains("joint", kp=500.0, ki=2.0)
    stiff = settle()
    assert abs(stiff - 0.2) < abs(soft - 0.2)
    engine.reset()
    assert settle() == soft
    for gains, message in (
        ({"kpp": 1.0}, "did you mean 'kp'"),
        ({"kp": -1.0}, "must be at least 0"),
        ({"kd": np.nan}, "kd is nan"),
    ):
        with pytest.raises(ModelError, match=message):
            engine.set_gains("joint", **gains)
    with pytest.raises(ModelError, match="motor is 3; must be 1 or 2"):
        engine.set_gains("joint", motor=3, kp=1.0)
    with pytest.raises(PortError, match="no compliant actuator 'knee'; must be one of joint"):
        engine.set_gains("knee", kp=1.0)
