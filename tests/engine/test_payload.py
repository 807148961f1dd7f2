"""Payloads that are put on a running model: against statics by hand, and against models compiled with them."""

import math

import mujoco
import numpy as np
import pytest
from audited import AuditedEngine

from pliant.base.errors import ModelError
from pliant.engine import MujocoEngine
from pliant.engine.payload import DERIVED, Payload, Payloads
from pliant.robots.loading import load

pytestmark = pytest.mark.quick

G = 9.81


def settled(engine, seconds=6.0):
    engine.step(round(seconds / engine.dt))
    assert abs(engine.port("joint/velocity")[0]) < 1e-6
    return float(engine.port("joint/position")[0]), float(engine.port("joint/motor_1_position")[0])


def sag(motor, stiffness, moment):
    """Return q of k (motor - q) = moment cos q, by Newton's method."""
    q = motor
    for _ in range(50):
        q -= (stiffness * (motor - q) - moment * math.cos(q)) / (-stiffness + moment * math.sin(q))
    return q


def test_a_compliant_joint_sags_under_a_payload_by_its_moment_over_the_stiffness():
    stiffness, mass, distance, payload, place = 8.0, 0.2, 0.04, 1.5, 0.09
    robot = load("sea-1dof", options={"k": stiffness, "damping": 0.2, "load_mass": mass, "load_distance": distance})
    engine = MujocoEngine(robot)
    q, motor = settled(engine)
    assert q == pytest.approx(sag(motor, stiffness, mass * G * distance), abs=1e-6)
    engine.set_payload("link", payload, (place, 0.0, 0.0))
    q, motor = settled(engine)
    loaded = sag(motor, stiffness, (mass * distance + payload * place) * G)
    assert loaded < -0.1
    assert q == pytest.approx(loaded, abs=1e-6)
    engine.set_payload("link", 0.0)
    q, motor = settled(engine)
    assert q == pytest.approx(sag(motor, stiffness, mass * G * distance), abs=1e-6)


def test_a_pendulum_with_a_payload_swings_with_the_period_of_both_masses():
    xml = """<mujoco><option timestep="1e-4" integrator="implicitfast"/><worldbody><body name="rod">
    <joint name="hinge" axis="0 1 0"/><inertial pos="0 0 -0.3" mass="0.5" diaginertia="0.002 0.003 0.001"/>
    </body></worldbody></mujoco>"""
    engine = MujocoEngine(mujoco.MjModel.from_xml_string(xml))
    engine.set_payload("rod", 0.7, (0.0, 0.0, -0.8))
    engine.data.qpos[0] = 1e-3
    moment = (0.5 * 0.3 + 0.7 * 0.8) * G
    inertia = 0.003 + 0.5 * 0.3**2 + 0.7 * 0.8**2
    period = 2.0 * math.pi * math.sqrt(inertia / moment)
    engine.step(round(0.25 * period / engine.dt))
    assert engine.data.qpos[0] == pytest.approx(0.0, abs=1e-6)


COUPLED = """<mujoco><option timestep="0.001" integrator="implicitfast"/>
<default><geom density="700" condim="3"/></default><worldbody>
<body name="upper" pos="0 0 1"><joint name="a" axis="0 1 0"/><joint name="b" axis="1 0 0"/>
  <geom type="box" size="0.03 0.02 0.1" pos="0 0 -0.1"/><geom type="sphere" size="0.04" pos="0.05 0 -0.2"/>
  <geom type="capsule" size="0.015 0.05" pos="0 0.05 -0.15"/>{first}
  <body name="lower" pos="0 0 -0.25"><joint name="c" axis="0 1 0" range="-1 1" limited="true"/>
    <geom type="box" size="0.02 0.03 0.1" pos="0.01 0 -0.1" euler="0 20 10"/>
    <geom type="sphere" size="0.03" pos="0 0 -0.24"/><geom type="capsule" size="0.012 0.04" pos="0.03 0.03 -0.2"/>
    {second}</body></body>
<body name="wall" pos="0.22 0 0.55"><joint name="d" type="slide" axis="1 0 0" stiffness="300" damping="2"/>
  <geom type="box" size="0.02 0.2 0.2"/><geom type="sphere" size="0.05" pos="-0.02 0.05 0.1"/>
  <geom type="sphere" size="0.05" pos="-0.02 -0.05 0"/></body>
</worldbody><actuator><position joint="c" kp="5" kv="0.2"/></actuator>
<sensor><framepos objtype="site" objname="tip"/></sensor></mujoco>"""
POINT = '<geom type="sphere" size="5e-5" pos="{}" mass="{}" contype="0" conaffinity="0"/>'
TIP = '<site name="tip" pos="0 0 -0.27"/>'
LOADS = {"upper": (0.4, (0.06, -0.03, -0.1)), "lower": (0.9, (-0.02, 0.05, -0.22))}


def xml(**loads):
    parts = {name: POINT.format("{} {} {}".format(*place), mass) for name, (mass, place) in loads.items()}
    return COUPLED.format(first=parts.get("upper", ""), second=TIP + parts.get("lower", ""))


def test_a_running_model_with_payloads_moves_as_one_that_was_compiled_with_them():
    """Contacts between bodies of several shapes, a joint limit and a servo take part."""
    changed = MujocoEngine(mujoco.MjModel.from_xml_string(xml()))
    changed.step(300)
    changed.reset()
    for name, (mass, place) in LOADS.items():
        changed.set_payload(name, mass, place)
    compiled = MujocoEngine(mujoco.MjModel.from_xml_string(xml(**LOADS)))
    touched = 0
    for engine in (changed, compiled):
        engine.data.qpos[:3] = -0.9, 0.1, 0.4
    for _ in range(15):
        changed.step(100)
        compiled.step(100)
        touched += int(compiled.data.ncon > 0)
        np.testing.assert_allclose(changed.data.qpos, compiled.data.qpos, atol=2e-6)
        np.testing.assert_allclose(changed.data.sensordata, compiled.data.sensordata, atol=2e-6)
        shapes = compiled.model.geom_contype > 0
        np.testing.assert_allclose(changed.data.geom_xpos, compiled.data.geom_xpos[shapes], atol=2e-6)
    assert touched > 3


def test_what_the_compiler_derives_from_masses_is_that_of_the_compiled_model():
    changed = mujoco.MjModel.from_xml_string(xml())
    payloads = Payloads(changed)
    for name, (mass, place) in LOADS.items():
        payloads.put(name, mass, place)
    compiled = mujoco.MjModel.from_xml_string(xml(**LOADS))
    for name in (*DERIVED, "body_mass", "body_ipos", "body_inertia"):  # the spheres have a little inertia of their own
        np.testing.assert_allclose(getattr(changed, name), getattr(compiled, name), rtol=5e-6, atol=1e-12, err_msg=name)


BALLS = "".join(f'<geom type="sphere" size="0.03" pos="{0.05 * k} 0 0"/>' for k in range(-4, 5))
SHAPES = f"""<mujoco><option gravity="0 0 0"/><worldbody>
<body name="row" pos="0 0 0.05"><joint axis="0 1 0"/>{BALLS}<site name="middle"/></body>
<body name="other" pos="0.1 0 0.1"><joint type="slide" axis="0 0 1"/>{BALLS}</body>
<body name="single" pos="0 0 1"><joint axis="0 1 0"/><geom name="arm" type="box" size="0.1 0.02 0.01" pos="0.3 0 0.1"
  euler="0 30 0"/><site name="end" pos="0.3 0 0.1" euler="0 30 0"/></body>
<body name="flat" pos="1 0 1"><joint axis="0 1 0"/><geom type="box" size="0.1 0.2 0.3" mass="1"/>
<body pos="0.5 0 0"><joint axis="0 0 1"/><geom size="0.1"/></body></body></worldbody></mujoco>"""


@pytest.mark.parametrize("body", ["row", "other", "single", "flat"])
def test_a_payload_moves_neither_shapes_nor_sites_nor_contacts_but_the_centre_of_mass(body):
    model = mujoco.MjModel.from_xml_string(SHAPES)
    data = mujoco.MjData(model)

    def now():
        mujoco.mj_forward(model, data)
        pairs = sorted(map(tuple, data.contact.geom.tolist()))
        return [x.copy() for x in (data.geom_xpos, data.geom_xmat, data.site_xpos, data.site_xmat)], pairs

    before, touching = now()
    assert len(touching) > 5
    Payloads(model).put(body, 50.0, (0.0, 0.4, 0.7))
    after, still = now()
    for old, new in zip(before, after):
        np.testing.assert_allclose(new, old, atol=1e-12)
    assert still == touching
    b = model.body(body).id
    place = data.xpos[b] + (0.0, 0.4, 0.7)  # of 50 kg on a body of a few
    assert np.linalg.norm(data.xipos[b] - place) < 0.2


def saved(model):
    buffer = np.zeros(mujoco.mj_sizeModel(model), dtype=np.uint8)
    mujoco.mj_saveModel(model, None, buffer)
    return buffer


def test_without_its_payloads_the_model_is_the_compiled_one_to_the_last_bit():
    engine = MujocoEngine(mujoco.MjModel.from_xml_string(xml()))
    before = saved(engine.model)
    for name, (mass, place) in LOADS.items():
        engine.set_payload(name, mass, place)
    engine.set_payload("lower", 3.0, (0.1, 0.0, 0.0))
    assert not np.array_equal(saved(engine.model), before)
    engine.reset()
    assert engine.payloads.loads == {}
    np.testing.assert_array_equal(saved(engine.model), before)


def test_a_payload_that_comes_and_goes_is_no_error_of_the_energy_balance():
    engine = AuditedEngine(load("qbmove-2dof"))
    body = engine.payloads.bodies()[-1]
    engine.step(500)
    engine.set_payload(body, 0.4)
    engine.step(1500)
    engine.set_payload(body, 0.0)
    engine.step(1500)
    assert engine.audit is not None
    assert engine.audit.balance().relative < 2e-3


def test_one_body_has_one_payload_and_none_is_the_same_as_zero():
    payloads = Payloads(mujoco.MjModel.from_xml_string(xml()))
    assert not payloads
    payloads.put("lower", 1.0, (0.0, 0.0, 0.1))
    payloads.put("lower", 2.0, (0.0, 0.0, 0.2))
    assert payloads.loads == {"lower": Payload(2.0, (0.0, 0.0, 0.2))}
    payloads.put("lower", 0.0)
    assert not payloads


FREE = """<mujoco><worldbody><body name="ball"><freejoint/><geom type="sphere" size="0.1" mass="1"/></body>
<body name="fixed"><geom type="box" size="1 1 1" pos="9 0 0"/></body>
<body name="lifted" gravcomp="1"><joint axis="0 1 0"/><geom type="box" size="0.1 0.1 0.3" pos="0 0 3"/></body>
</worldbody></mujoco>"""


def test_a_free_ball_takes_a_payload_at_its_centre_only():
    engine = MujocoEngine(mujoco.MjModel.from_xml_string(FREE))
    assert engine.payloads.bodies() == ["ball"]
    assert engine.payloads.only_at_centre("ball")
    engine.set_payload("ball", 3.0)
    engine.data.xfrc_applied[1, :3] = 8.0, 0.0, 4.0 * G
    engine.step(1)
    np.testing.assert_allclose(engine.data.qacc[:3], [2.0, 0.0, 0.0], atol=1e-9)
    assert engine.model.dof_M0[0] == 4.0
    with pytest.raises(ModelError, match="its centre of mass"):
        engine.set_payload("ball", 3.0, (0.1, 0.0, 0.0))


@pytest.mark.parametrize(
    ("body", "mass", "offset", "message"),
    [
        ("bal", 1.0, None, "there is no body 'bal'; did you mean 'ball'"),
        ("fixed", 1.0, None, "'fixed' does not move"),
        ("lifted", 1.0, None, "free of gravity"),
        ("world", 1.0, None, "does not move"),
        ("ball", -1.0, None, "mass is -1.0 kg; must be from 0 to 10000 kg"),
        ("ball", math.nan, None, "mass is nan"),
        ("ball", "heavy", None, "mass is 'heavy'"),
        ("ball", 1.0, (0.0, 0.0), "must be three numbers"),
        ("ball", 1.0, 5.0, "offset is 5.0; must be three numbers"),
        ("ball", 1.0, (0.0, 0.0, math.inf), "must be three numbers"),
    ],
)
def test_what_cannot_be_carried_is_refused_and_changes_nothing(body, mass, offset, message):
    model = mujoco.MjModel.from_xml_string(FREE)
    before = saved(model)
    with pytest.raises(ModelError, match=message):
        Payloads(model).put(body, mass, offset)
    np.testing.assert_array_equal(saved(model), before)


def test_loads_can_be_read_while_the_loop_changes_them():
    payloads = MujocoEngine(load("sea-1dof"), check=False).payloads
    payloads._loads[1] = Payload(mass=0.1, offset=(0.0, 0.0, 0.0))

    class Model:
        """Names bodies while another thread puts a payload on the next one."""

        def body(self, number):
            payloads._loads.setdefault(2, payloads._loads[1])
            return type("Body", (), {"name": f"body {number}"})

    payloads._model = Model()
    assert set(payloads.loads) == {"body 1"}
