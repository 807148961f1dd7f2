"""The laws in Warp: every law, mode and option against the machine code of the engine."""

import sys
from types import ModuleType

import numpy as np
import pytest
from law_cases import ALL
from warp_cases import DT, cases, motion
from warp_devices import WARP_DEVICES

pytest.importorskip("warp", reason="Warp is not installed: pip install 'pliant[warp]'")

from pliant.base.errors import LawError
from pliant.laws import BAVS, SEA, CompliantActuator, QbMove, base, get_law
from pliant.learn.laws import simulate, warp_law


def worst(name, precision, device):
    """Return the largest deviation of each case, in units of max(1, largest value of the trace)."""
    q, dq, ref_1, ref_2 = motion()
    actuators = cases(name)
    found = {}
    for (case, a), traces in zip(
        actuators.items(),
        simulate(list(actuators.values()), q, dq, ref_1, ref_2, DT, precision=precision, device=device),
        strict=True,
    ):
        expected = a.simulate(q, dq, ref_1, ref_2, DT)
        values = {"torque on the link": (expected.torque, traces.torque)}
        values |= {field: (expected.values[field], traces.values[field]) for field in expected.values}
        for field, (x, y) in values.items():
            np.testing.assert_array_equal(np.isnan(x), np.isnan(y), err_msg=f"{case} {field}")
            scale = max(1.0, np.nanmax(abs(x), initial=0.0))
            found[case, field] = np.nanmax(abs(x - y), initial=0.0) / scale
    return found


@pytest.mark.parametrize("device", WARP_DEVICES)
@pytest.mark.parametrize("name", ALL)
def test_every_mode_and_option_in_double_precision_equals_simulate(name, device):
    found = worst(name, "float64", device)
    case = max(found, key=found.get)
    assert found[case] <= 1e-12, (case, found[case])
    assert {mode for (mode, _), _ in found} == set(range(7))


def pieces(name, device, steps=20):
    """Return the torque on the link in both precisions, from the same states: a state each 20 ms along a motion.

    A deviation grows along a motion that is unstable itself (a stop that is hit earlier or later), so single precision
    is judged over 20 steps.
    """
    motions = motion()
    actuators = cases(name)
    rows = np.stack([a.pack(DT) for a in actuators.values()])
    holds = [a.hold(float(motions[0][0]), DT)[0] for a in actuators.values()]
    act = np.zeros((len(rows), max(1, *(h.size for h in holds))))
    for row, state in zip(act, holds, strict=True):
        row[: state.size] = state
    double, single = warp_law(get_law(name)), warp_law(get_law(name), "float32")
    deviations = dict.fromkeys(actuators, 0.0)
    for first in range(0, motions[0].size, steps):
        part = [np.broadcast_to(x[first : first + steps], (len(rows), steps)) for x in motions]
        x, _, after = double.simulate(rows, *part, DT, act, device=device)
        y, _, _ = single.simulate(rows, *part, DT, act, device=device)
        worst = (abs(x - y) / np.maximum(1.0, abs(x).max(axis=1, keepdims=True))).max(axis=1)
        deviations = {case: max(old, new) for (case, old), new in zip(deviations.items(), worst, strict=True)}
        act = after
    return deviations


def bound(name, option):
    """Return the largest deviation in single precision, of the largest torque."""
    second = get_law(name).second_input
    if second == "lever" and option in ("gear", "tendon", "slack", "backlash"):
        # A block before the lever moves it by the rounding of its forces; the torque has the slope 2 L / (L - sigma).
        return 2e-4
    if second == "pressure" and option == "link_damping":
        return 2e-5  # the gauge pressure, to which the damping is proportional, is the rest of the absolute one
    return 1e-5


@pytest.mark.parametrize("device", WARP_DEVICES)
@pytest.mark.parametrize("name", ALL)
def test_every_mode_and_option_in_single_precision_is_near_simulate(name, device):
    found = pieces(name, device)
    # Single precision rounds the angle; a stiff bristle or end stop makes a torque of that.
    steep = {
        case: a.law.stop + (a.link_friction.stiffness if a.link_friction else 0.0) for case, a in cases(name).items()
    }
    rounding = np.finfo(np.float32).eps * abs(motion()[0]).max()
    excess = {case: x - bound(name, case[1]) - rounding * steep[case] for case, x in found.items()}
    case = max(excess, key=excess.get)
    assert excess[case] <= 0.0, (case, found[case])
    assert max(found.values()) > 0.0


@pytest.mark.parametrize("device", WARP_DEVICES)
@pytest.mark.parametrize("name", ALL)
def test_a_law_at_many_points_equals_evaluate(name, device):
    cls = get_law(name)
    spring = cls(clip="stop")
    rng = np.random.default_rng(1)
    q, theta_1 = rng.uniform(-1.5, 1.5, (2, 300))
    theta_2 = rng.uniform(0.0, 0.045, 300) if cls.second_input == "lever" else rng.uniform(-1.5, 1.5, 300)
    expected = np.array(np.broadcast_arrays(*spring.evaluate(q, theta_1, theta_2)))
    scale = np.maximum(1.0, abs(expected))
    for precision, tolerance in (("float64", 1e-12), ("float32", 1e-3)):  # at 1.5 rad a stop of 1000 N m/rad rounds
        values = warp_law(cls, precision).evaluate(spring.parameters(), q, theta_1, theta_2, device=device)
        assert abs((values - expected) / scale).max() <= tolerance, precision


@pytest.mark.parametrize("device", WARP_DEVICES)
def test_the_state_at_rest_equals_that_of_the_engine(device):
    for name in ALL:
        actuators = cases(name)
        rows = np.stack([a.pack(DT) for a in actuators.values()])
        presets = [a.initial_preset for a in actuators.values()]
        act, refs = warp_law(get_law(name)).hold(rows, np.full(len(rows), 0.3), presets, device=device)
        for a, state, reference in zip(actuators.values(), act, refs, strict=True):
            expected, expected_refs = a.hold(0.3, DT)
            np.testing.assert_allclose(state[: expected.size], expected, atol=1e-15)
            np.testing.assert_allclose(reference, expected_refs, atol=1e-15)


def test_a_kernel_of_the_users_own_calls_a_law():
    law = warp_law(SEA)
    import warp as wp

    kernel = law.kernel(
        "def pull(p: wp.array(dtype=real), out: wp.array(dtype=real)):\n"
        "    i = wp.tid()\n"
        "    torque, load_1, load_2 = law_torques(real(i) * real(0.1), real(0.0), real(0.0), p)\n"
        "    out[i] = torque\n"
    )
    out = wp.zeros(4, dtype=law.real)
    law.launch(kernel, 4, [wp.array(SEA(k=2.0).parameters(), dtype=law.real), out], "cpu")
    np.testing.assert_allclose(out.numpy(), [0.0, -0.2, -0.4, -0.6], rtol=1e-15)


# -- bad input -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"precision": "float16"}, r"precision is 'float16'; did you mean 'float.*must be one of float32, float64"),
        ({"device": "cuda:7"}, r"device is 'cuda:7'; .*must be one of c"),
        ({"device": "tpu"}, r"device is 'tpu'; .*must be one of c"),
        ({"dt": 0.0}, r"dt is 0.0; must be a number > 0"),
        ({"ref_1": np.nan}, r"ref_1 holds NaN or infinity"),
        ({"ref_2": np.zeros(3)}, r"ref_2 has shape \(3,\); must fit \(2, 10\)"),
    ],
)
def test_what_simulate_cannot_do_is_refused(more, message):
    given = {"q": np.zeros(10), "dq": None, "ref_1": 0.1, "dt": DT, **more}
    with pytest.raises(LawError, match=message):
        simulate([CompliantActuator(SEA()), CompliantActuator(SEA(k=3.0))], **given)


def test_actuators_of_several_laws_are_refused():
    with pytest.raises(LawError, match=r"have the laws BAVS, QbMove; must have one law"):
        simulate([CompliantActuator(BAVS()), CompliantActuator(QbMove())], np.zeros(3), None, 0.0)
    with pytest.raises(LawError, match=r"have the laws none"):
        simulate([], np.zeros(3), None, 0.0)


def test_what_warp_refuses_itself_is_named_with_the_line_of_the_law(monkeypatch, tmp_path):
    from pliant.learn.laws import values

    monkeypatch.setitem(values.FUNCTIONS, "gamma", "wp.no_such_function({0})")
    path = tmp_path / "odd.py"
    path.write_text(
        "import math\nfrom dataclasses import dataclass\nfrom pliant.laws import Law, law\n\n"
        "@law('test_odd_spring')\n@dataclass(frozen=True)\nclass Odd(Law):\n    k: float = 1.0\n    motors = 1\n\n"
        "    @staticmethod\n    def energy(q, theta_1, theta_2, p):\n        x = q - theta_1\n"
        "        return p[0] * math.gamma(2.0 + x * x)\n\n"
        "    @staticmethod\n    def torques(q, theta_1, theta_2, p):\n        return 0.0, 0.0, 0.0\n\n"
        "    @staticmethod\n    def stiffness(q, theta_1, theta_2, p):\n        return 0.0\n"
    )
    space = {"__name__": "odd"}
    monkeypatch.setitem(sys.modules, "odd", ModuleType("odd"))
    exec(compile(path.read_text(), str(path), "exec"), space)
    try:
        with pytest.raises(LawError, match="Warp refuses the kernels of Odd") as caught:
            warp_law(space["Odd"]).evaluate(np.zeros(16), 0.1, 0.0)
    finally:
        base._LAWS.pop("test_odd_spring", None)
    assert (caught.value.file, caught.value.line) == (str(path), 14)


@pytest.mark.parametrize(
    ("precision", "host"), [("float64", "float64"), ("float64", "float32"), ("float32", "float32")]
)
def test_steps_on_arrays_of_another_simulator_give_the_torques_of_simulate(precision, host):
    import warp as wp

    law, steps = warp_law(QbMove, precision), 200
    actuators = list(cases("qbmove").values())[:4]
    q, dq, ref_1, ref_2 = (np.asarray(part, dtype=host).astype(float) for part in motion())
    rows = np.stack([a.pack(DT) for a in actuators])
    holds = [a.hold(float(q[0]), DT)[0] for a in actuators]
    states = np.zeros((len(rows), max(1, *(h.size for h in holds))))
    for row, hold in zip(states, holds, strict=True):
        row[: hold.size] = hold
    n = len(rows)
    own = lambda values: wp.array(np.asarray(values, dtype=law.dtype), dtype=law.real, device="cpu")  # noqa: E731
    theirs = lambda values: wp.array(np.asarray(values, dtype=host), device="cpu")  # noqa: E731
    parameters, state, rate, torque = own(rows), own(states), own(0.0 * states), theirs(np.zeros(n))
    found = np.zeros((n, steps))
    for k in range(steps):
        references = theirs(np.tile([ref_1[k], ref_2[k]], (n, 1)))
        law.step(parameters, state, rate, (theirs(np.full(n, q[k])), theirs(np.full(n, dq[k]))), references, DT, torque)
        found[:, k] = torque.numpy()
    expected = np.stack([a.simulate(q, dq, ref_1, ref_2, DT).torque[:steps] for a in actuators])
    eps = float(np.finfo(np.float32).eps)
    tolerance = {"float64float64": 1e-12, "float64float32": eps, "float32float32": 1e-3}[precision + host]
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance * max(1.0, np.abs(expected).max()))
    with pytest.raises(LawError, match=r"step: torque has 1 rows"):
        law.step(parameters, state, rate, (theirs(np.zeros(n)), theirs(np.zeros(n))), references, DT, theirs([0.0]))
    with pytest.raises(LawError, match=r"step: q is a ndarray; must be an array of Warp"):
        law.step(parameters, state, rate, (np.zeros(n), theirs(np.zeros(n))), references, DT, torque)
    motions = (theirs(np.zeros(n)), theirs(np.zeros(n)))
    with pytest.raises(LawError, match=r"step: rows has shape \(1,\)"):
        law.step(parameters, state, rate, motions, references, DT, torque, rows=wp.zeros(1, dtype=wp.int32))


def closed_loop(precision):
    """Return the largest difference of a link's angle [rad] over 1 s: integrated by MuJoCo with the torques of
    `WarpLaw.step` on float32 arrays, and by the engine, for modes 3 and 6 of the qbMove."""
    import mujoco
    import warp as wp

    from pliant.engine import MujocoEngine
    from pliant.model.robot import Robot

    xml = (
        '<mujoco><option timestep="0.001"/><worldbody><body><joint name="j" axis="0 1 0" damping="0.1"/>'
        '<inertial pos="0.1 0 0" mass="0.5" diaginertia="0.002 0.002 0.002"/></body></worldbody></mujoco>'
    )
    law = warp_law(QbMove, precision)
    worst = 0.0
    for mode in (3, 6):
        actuator = CompliantActuator(QbMove(), mode)
        robot = Robot(mujoco.MjSpec.from_string(xml))
        robot.add_actuator("j", actuator)
        engine = MujocoEngine(robot)
        model = mujoco.MjModel.from_xml_string(xml)
        data = mujoco.MjData(model)
        hold = actuator.hold(0.0, DT)[0]
        put = lambda values, kind=law.real: wp.array(np.asarray(values), dtype=kind, device="cpu")  # noqa: E731
        parameters, state = put([actuator.pack(DT)]), put([hold if hold.size else [0.0]])
        rate, torque = put(np.zeros(state.shape)), put([0.0], wp.float32)
        for k in range(1000):
            references = np.float32([0.3 * np.sin(5.0 * k * DT), 0.15])
            engine.port("j/reference_1")[:], engine.port("j/reference_2")[:] = references
            engine.step()
            motion = (put(data.qpos, wp.float32), put(data.qvel, wp.float32))
            law.step(parameters, state, rate, motion, put([references], wp.float32), DT, torque)
            data.qfrc_applied[0] = torque.numpy()[0]
            mujoco.mj_step(model, data)
            worst = max(worst, abs(data.qpos[0] - engine.port("j/position")[0]))
        assert abs(data.qpos[0]) > 0.05
    return worst


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_a_link_of_another_simulator_follows_the_engine_within_a_microradian_for_a_second(precision):
    assert 0.0 < closed_loop(precision) <= 1e-6
