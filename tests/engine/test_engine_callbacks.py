"""The callbacks live beside those of others, run saved models, and refuse what they cannot run."""

import ctypes
import subprocess
import sys
from pathlib import Path

import mujoco
import numpy as np
import pytest
from audited import AuditedEngine
from benches import ONE, TWO, arm, bench, drive, smooth_references
from law_cases import BUILT_IN, VARIANTS

from pliant.base.errors import DivergedError, ModelError, PliantError
from pliant.engine import MujocoEngine, abi, callbacks, install
from pliant.engine.guard import dumps_into
from pliant.laws import SEA, CompliantActuator, DCMotor, LeverDrive, QbMove, layout

pytestmark = pytest.mark.quick

C_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)


@C_CALLBACK
def foreign_bias(_model, _data, index):
    return 0.125 + index


@C_CALLBACK
def foreign_dyn(_model, _data, _index):
    return 2.0


def mixed_model():
    """Return a model with a compliant shoulder and somebody else's user actuator on the elbow."""
    robot = arm(CompliantActuator(QbMove(), mode=6, initial_preset=0.2), CompliantActuator(SEA(), mode=3))
    del robot.actuators["elbow"]
    theirs = robot.spec.add_actuator(name="theirs", target="elbow", trntype=mujoco.mjtTrn.mjTRN_JOINT)
    theirs.dyntype = mujoco.mjtDyn.mjDYN_USER
    theirs.actdim = 1
    theirs.gaintype = mujoco.mjtGain.mjGAIN_FIXED
    theirs.gainprm = np.zeros(10)
    theirs.biastype = mujoco.mjtBias.mjBIAS_USER
    return robot.compile()


def set_slots(dyn, bias):
    for name, function in (("mjcb_act_dyn", dyn), ("mjcb_act_bias", bias)):
        callbacks._pointer(name).value = ctypes.cast(function, ctypes.c_void_p).value if function else None


def run(model, n=100):
    data = mujoco.MjData(model)
    for _ in range(n):
        mujoco.mj_step(model, data)
    return data


def check_both(model):
    """Check that the foreign actuator got its own callbacks and the compliant one got pliant's."""
    index = model.actuator("theirs").id
    data = run(model)
    out = model.actuator_outadr[index]
    assert data.actuator_force[out] == 0.125 + index
    assert data.act[model.actuator_actadr[index]] == pytest.approx(2.0 * 100 * 1e-3)
    mine = model.actuator("shoulder")
    motor = data.act[model.actuator_actadr[mine.id]]
    assert motor != 0.0
    assert np.isfinite(data.qpos).all()
    return data.qpos.copy(), data.act.copy()


def test_a_foreign_c_callback_that_was_there_before_keeps_its_actuators(bare_callbacks):
    model = mixed_model()
    set_slots(foreign_dyn, foreign_bias)
    install(model)
    assert bare_callbacks.installed()
    before = check_both(model)
    install(model)  # again, which changes nothing
    np.testing.assert_array_equal(check_both(model)[0], before[0])


def test_a_foreign_c_callback_that_came_later_is_taken_in_by_installing_again(bare_callbacks):
    model = mixed_model()
    install(model)
    set_slots(foreign_dyn, foreign_bias)
    assert not bare_callbacks.installed()
    install(model)
    check_both(model)


def test_without_a_foreign_callback_a_foreign_user_actuator_gives_nothing(bare_callbacks):
    model = mixed_model()
    install(model)
    data = run(model)
    assert data.actuator_force[model.actuator_outadr[model.actuator("theirs").id]] == 0.0
    assert data.act[model.actuator_actadr[model.actuator("theirs").id]] == 0.0


@pytest.mark.parametrize("first", [True, False], ids=["before", "after"])
def test_a_foreign_python_callback_keeps_its_actuators(bare_callbacks, first):
    model = mixed_model()
    index = model.actuator("theirs").id
    asked = set()

    def bias(_model, _data, i):
        asked.add(i)
        return 0.25

    if not first:
        install(model)
    mujoco.set_mjcb_act_bias(bias)
    try:
        install(model)
        data = run(model, 10)
        assert data.actuator_force[model.actuator_outadr[index]] == 0.25
        assert asked == {index}  # pliant's own actuators never reach Python
    finally:
        mujoco.set_mjcb_act_bias(None)


def test_an_engine_puts_its_callbacks_back_at_a_reset(bare_callbacks):
    engine = MujocoEngine(bench(CompliantActuator(SEA(k=50.0), mode=3)))
    set_slots(None, None)
    engine.reset()
    assert bare_callbacks.installed()
    drive(engine, "joint", np.full(50, 0.2), np.zeros(50))
    assert engine.port("joint/position")[0] > 0.01


def test_a_numba_callback_of_another_library_is_chained(bare_callbacks):
    import numba

    signature = numba.types.float64(numba.types.voidptr, numba.types.voidptr, numba.types.int32)
    theirs = numba.cfunc(signature)(lambda m, d, i: 0.75)
    callbacks._pointer("mjcb_act_bias").value = theirs.address
    model = mixed_model()
    install(model)
    assert run(model, 5).actuator_force[model.actuator_outadr[model.actuator("theirs").id]] == 0.75


# -- saved models --------------------------------------------------------------------------------------------


def moves(model, actuator, n=150):
    engine = MujocoEngine(model)
    r1, r2 = smooth_references(actuator.law, actuator.mode, np.arange(n) * 1e-3)
    return drive(engine, "joint", r1, r2, ["joint/position", "joint/torque"])


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_saved_binary_model_moves_the_same_bit_by_bit(name, tmp_path):
    actuator = CompliantActuator(VARIANTS[name][0], mode=6)
    model = bench(actuator).compile()
    path = tmp_path / "bench.mjb"
    mujoco.mj_saveModel(model, str(path))
    again = mujoco.MjModel.from_binary_path(str(path))
    assert moves(model, actuator).tobytes() == moves(again, actuator).tobytes()


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_saved_xml_model_moves_the_same_within_its_printed_digits(name):
    options = {"motor_2": LeverDrive(max_position=0.045)} if name == "awas_ii" else {}
    if name != "awas_ii":
        options = {"motor_1": DCMotor(min_position=-1.5)}
    actuator = CompliantActuator(VARIANTS[name][0], mode=6, **options)
    spec = bench(actuator).assemble()
    model = spec.compile()
    again = mujoco.MjModel.from_xml_string(spec.to_xml())
    ours = int(callbacks.compliant_ids(again)[0])
    np.testing.assert_allclose(again.actuator_user[ours], model.actuator_user[ours], rtol=1e-5)
    exact = [layout.P_MAGIC, layout.P_LAW, layout.P_MODE, layout.P_SECOND, layout.P_COMPANION, layout.P_STATES]
    np.testing.assert_array_equal(again.actuator_user[ours, exact], model.actuator_user[ours, exact])
    np.testing.assert_allclose(moves(again, actuator), moves(model, actuator), rtol=1e-3, atol=1e-4)


# -- what is refused -----------------------------------------------------------------------------------------


def test_a_law_that_nobody_registered_is_refused_with_those_that_are():
    model = bench(CompliantActuator(QbMove(), mode=6)).compile()
    model.actuator_user[0, layout.P_LAW] = 123456.0
    with pytest.raises(ModelError, match=r"'joint' uses a law \(key 123456\) that is not registered.*awas_ii, bavs"):
        MujocoEngine(model)


def test_a_model_of_a_law_from_another_module_asks_for_the_import(tmp_path):
    model = bench(CompliantActuator(VARIANTS["test_hardening"][0], mode=6)).compile()
    path = tmp_path / "bench.mjb"
    mujoco.mj_saveModel(model, str(path))
    script = (
        "import mujoco; from pliant.engine import MujocoEngine; from pliant.base.errors import ModelError\n"
        f"model = mujoco.MjModel.from_binary_path({str(path)!r})\n"
        "try:\n    MujocoEngine(model)\nexcept ModelError as error:\n    print(error)"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120)
    assert "is not registered; import the module that defines it first" in out.stdout


def test_a_companion_that_moved_is_refused():
    spec = bench(CompliantActuator(QbMove(), mode=6)).assemble()
    next(a for a in spec.actuators if a.name == "joint/ref_2").name = "elsewhere"
    with pytest.raises(
        ModelError, match="'joint' needs the actuator 'joint/ref_2' directly after it; found 'elsewhere'"
    ):
        MujocoEngine(spec.compile())


def test_a_companion_of_another_joint_is_refused():
    spec = arm(CompliantActuator(QbMove(), mode=6), CompliantActuator(QbMove(), mode=6)).assemble()
    companions = [a for a in spec.actuators if a.name.endswith("/ref_2")]
    companions[0].name, companions[1].name = "temporary", "shoulder/ref_2"
    companions[0].name = "elbow/ref_2"
    with pytest.raises(ModelError, match=r"'shoulder' needs the actuator 'shoulder/ref_2' .*found 'elbow/ref_2'"):
        MujocoEngine(spec.compile())


def test_a_state_of_another_length_is_refused():
    spec = bench(CompliantActuator(QbMove(), mode=6)).assemble()
    next(a for a in spec.actuators if a.name == "joint").actdim = 5
    for key in spec.keys:
        key.act = np.zeros(5)
    with pytest.raises(ModelError, match=r"'joint' has 5 states; its parameters ask for 8"):
        MujocoEngine(spec.compile())


@pytest.mark.parametrize(("mode", "fine"), [(3, True), (0, True), (6, False), (1, False), (4, False)])
def test_rk4_is_refused_where_the_law_has_states(mode, fine):
    model = bench(CompliantActuator(QbMove(), mode=mode)).compile()
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    if fine:
        MujocoEngine(model).step(10)
        return
    with pytest.raises(ModelError, match=r"RK4.*implicitfast") as caught:
        MujocoEngine(model)
    assert caught.value.field == "integrator"


def test_a_tampered_offset_stops_the_start(monkeypatch):
    right = abi.model_offset
    monkeypatch.setattr(abi, "model_offset", lambda field: right(field) + 8 * (field == "actuator_user"))
    abi.verify.cache_clear()
    try:
        with pytest.raises(PliantError, match=r"memory layout of MuJoCo .*actuator_user.*refuses to install"):
            abi.verify()
        monkeypatch.setattr(abi, "model_offset", right)
        right_data = abi.data_offset
        monkeypatch.setattr(abi, "data_offset", lambda field: right_data(field) - 8 * (field == "act_dot"))
        with pytest.raises(PliantError, match=r"\(act_dot\)"):
            abi.verify()
    finally:
        monkeypatch.undo()
        abi.verify.cache_clear()
    abi.verify()


def test_every_offset_that_the_callbacks_use_is_verified():
    import inspect
    import re

    used = set(re.findall(r'abi\.(?:model|data)_offset\("([\w.]+)"\)', inspect.getsource(callbacks)))
    checked = set(re.findall(r'"([a-z_]+(?:\.[a-z_]+)?)"', inspect.getsource(abi.verify)))
    assert used <= checked, f"not verified: {sorted(used - checked)}"


# -- the guard -----------------------------------------------------------------------------------------------


def test_a_nan_command_stops_the_run_and_names_the_joint_and_the_dump(tmp_path):
    engine = MujocoEngine(
        arm(CompliantActuator(QbMove(), mode=6), CompliantActuator(SEA(), mode=3)), dump_folder=tmp_path, check=False
    )
    engine.step(250)
    engine.port("elbow/reference_1")[0] = np.nan
    with pytest.raises(
        DivergedError, match=r"diverged at t = 0\.25\d*.*joint '(elbow|shoulder)' is not finite"
    ) as caught:
        engine.step(10)
    error = caught.value
    assert error.joint in ("elbow", "shoulder")
    assert error.time == pytest.approx(0.251)
    dump = np.load(error.dump)
    assert dump["states"].shape[0] == 200
    assert dump["joints"].tolist() == ["shoulder", "elbow"]
    assert np.isfinite(dump["qpos"]).all()
    assert dump["time"][-1] == pytest.approx(0.25)
    assert float(dump["dt"]) == 1e-3
    engine.reset()
    engine.step(10)  # a reset makes it usable again


def test_the_joint_that_went_wrong_first_is_named(tmp_path):
    # The elbow's spring is far beyond the stable bound; the shoulder's is soft.
    spec = mujoco.MjSpec.from_string(TWO.replace('timestep="0.001"', 'timestep="0.005"'))
    from pliant.model import Robot

    robot = Robot(spec)
    robot.add_actuator("shoulder", CompliantActuator(SEA(k=1.0), mode=3))
    robot.add_actuator("elbow", CompliantActuator(SEA(k=5e5, max_deflection=1e6), mode=3))
    engine = MujocoEngine(robot, dump_folder=tmp_path, check=False)
    engine.port("elbow/reference_1")[0] = 0.1
    with pytest.raises(DivergedError, match="a time step beyond the stable bound") as caught:
        engine.step(2000)
    assert caught.value.joint == "elbow"


def test_a_dump_can_be_loaded_into_an_engine_again(tmp_path):
    robot = bench(CompliantActuator(QbMove(), mode=6))
    engine = MujocoEngine(robot, dump_folder=tmp_path)
    engine.step(30)
    last = engine.data.qpos.copy()
    engine.port("joint/reference_1")[0] = np.inf
    with pytest.raises(DivergedError) as caught:
        engine.step(5)
    states = np.load(caught.value.dump)["states"]
    other = MujocoEngine(robot)
    other.load(np.append(states[-1], 30))
    np.testing.assert_allclose(other.data.qpos, last, atol=1e-3)


def test_an_unwritable_folder_costs_the_dump_not_the_message(tmp_path):
    (tmp_path / "file").write_text("")
    engine = MujocoEngine(bench(CompliantActuator(SEA(), mode=3)), dump_folder=tmp_path / "file")
    engine.port("joint/reference_1")[0] = np.nan
    with pytest.raises(DivergedError, match="states are in no file") as caught:
        engine.step()
    assert caught.value.dump is None


def diverge(**options):
    """Return the dump of an engine that diverges at once."""
    engine = MujocoEngine(bench(CompliantActuator(SEA(), mode=3)), **options)
    engine.port("joint/reference_1")[0] = np.nan
    with pytest.raises(DivergedError) as caught:
        engine.step()
    assert caught.value.dump in str(caught.value)
    return Path(caught.value.dump)


def test_a_dump_goes_into_the_state_folder_and_never_into_the_working_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert diverge().parent == tmp_path / "state" / "pliant"
    monkeypatch.setenv("XDG_STATE_HOME", "state")  # a relative one is ignored, as the XDG specification says
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert diverge().parent == tmp_path / "home" / ".local" / "state" / "pliant"
    folders = {tmp_path / "state" / "pliant", tmp_path / "home" / ".local" / "state" / "pliant"}
    assert {path.parent for path in tmp_path.rglob("*.npz")} == folders


def test_a_dump_goes_into_the_output_folder_of_its_run(tmp_path):
    with dumps_into(tmp_path / "report"):
        assert diverge().parent == tmp_path / "report"
        assert diverge(dump_folder=tmp_path / "own").parent == tmp_path / "own"


def test_dumps_do_not_replace_each_other(tmp_path):
    dumps = {diverge(dump_folder=tmp_path) for _ in range(3)}
    assert len(dumps) == 3
    assert set(tmp_path.iterdir()) == dumps


def test_without_a_guard_the_run_goes_on():
    engine = MujocoEngine(bench(CompliantActuator(SEA(), mode=3)), guard=False)
    engine.port("joint/reference_1")[0] = np.nan
    engine.step(3)
    assert np.isnan(engine.port("joint/position")[0])


def test_a_model_without_compliant_joints_is_an_engine_too():
    text = ONE.format(dt=1e-3, damping=0.0, gravity=-9.81, integrator="implicitfast")
    engine = AuditedEngine(mujoco.MjModel.from_xml_string(text))
    engine.step(500)
    assert engine.compliant_joints() == []
    assert engine.audit.balance().relative < 2e-2
