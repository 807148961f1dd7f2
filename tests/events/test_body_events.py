"""Payloads and external forces as events of a scenario."""

import math

import mujoco
import numpy as np
import pytest
from fake_engine import SpringMassEngine

from pliant.base.errors import DeviceError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.events import Scenario, ScenarioRun, read_scenario
from pliant.events.scenario import ExternalForce, Reset, SetPayload
from pliant.recording.recording import read_recording
from pliant.robots.loading import load
from pliant.simulation import Simulation

G = 9.81
BODIES = """<mujoco><option timestep="0.001"/><worldbody>
<body name="ball" pos="0 0 1"><freejoint/><geom size="0.1" mass="2"/></body>
<body name="shelf" pos="1 0 1"><geom size="0.1" mass="1"/></body>
<body name="kite" pos="2 0 1" gravcomp="1"><freejoint/><geom size="0.1" mass="1"/></body>
</worldbody></mujoco>"""


def free_bodies():
    model = mujoco.MjModel.from_xml_string(BODIES)
    model.opt.gravity[:] = 0.0
    return MujocoEngine(model)


def velocity(simulation):
    return simulation.engine.data.qvel[:3].copy()


def settled(simulation):
    simulation.run(3.0)
    port = simulation.engine.port
    assert abs(port("joint/velocity")[0]) < 1e-6
    return float(port("joint/position")[0]), float(port("joint/motor_1_position")[0])


def test_a_payload_bends_a_joint_by_its_moment_over_the_stiffness_while_it_lasts():
    """The deflection q of k (motor - q) = moment cos q, with and without the payload."""
    stiffness, mass, distance, payload, place = 8.0, 0.2, 0.04, 1.5, 0.09
    robot = load("sea-1dof", options={"k": stiffness, "damping": 0.4, "load_mass": mass, "load_distance": distance})
    with Simulation(MujocoEngine(robot), make_devices(robot), pacer="free") as simulation:
        event = SetPayload(at=3.0, body="link", mass=payload, offset=[place, 0.0, 0.0], duration=3.0)
        Scenario(events=[event]).install(simulation)
        for moment in (mass * distance * G, (mass * distance + payload * place) * G, mass * distance * G):
            q, motor = settled(simulation)
            assert stiffness * (motor - q) == pytest.approx(moment * math.cos(q), abs=8e-6)
        assert not simulation.engine.payloads


def test_payloads_of_a_scenario_are_in_the_recording(tmp_path):
    robot = load("sea-1dof")
    scenario = Scenario(
        events=[
            SetPayload(at=0.1, body="link", mass=0.5, offset=[0.05, 0.0, 0.0]),
            SetPayload(at=0.2, body="link", mass=0.0),
            SetPayload(at=0.3, body="link", mass=0.2, offset=[0.0, 0.0, 0.0], duration=0.05),
        ]
    )
    path = tmp_path / "run.mcap"
    with Simulation(MujocoEngine(robot), make_devices(robot), recorder=path) as simulation:
        scenario.install(simulation)
        simulation.run(0.5)
    assert [str(event) for event in read_recording(path).events] == [
        "0.1 s: payloads: 0.5 kg on link at (0.05, 0, 0) m",
        "0.2 s: payloads: none",
        "0.3 s: payloads: 0.2 kg on link at (0, 0, 0) m",
        "0.35 s: payloads: none",
    ]


def test_a_payload_of_a_scenario_that_is_stopped_is_removed():
    with Simulation(free_bodies()) as simulation:
        run = ScenarioRun(Scenario(events=[SetPayload(at=0.0, body="ball", mass=1.0, duration=9.0)]), simulation, print)
        simulation.run(0.01)
        assert simulation.engine.payloads.loads["ball"].mass == 1.0
        run.stop()
        assert not simulation.engine.payloads


@pytest.mark.parametrize("load", [0.0, 3.0])
def test_a_force_gives_a_free_body_its_momentum(load):
    """m v = F t, with the mass of a payload too."""
    force = np.array([3.0, -1.0, 2.0])
    events = [
        SetPayload(at=0.0, body="ball", mass=load),
        ExternalForce(at=0.1, body="ball", force=force.tolist(), duration=0.2),
    ]
    with Simulation(free_bodies()) as simulation:
        Scenario(events=events).install(simulation)
        simulation.run(0.1)
        assert not velocity(simulation).any()
        simulation.run(0.4)
        assert velocity(simulation) == pytest.approx(force * 0.2 / (2.0 + load), rel=1e-9)
        assert not simulation.engine.port("body/ball/wrench").any()


def test_a_torque_turns_a_free_body_about_its_axis():
    inertia = 0.4 * 2.0 * 0.1**2
    with Simulation(free_bodies()) as simulation:
        event = ExternalForce(at=0.0, body="ball", force=[0.0, 0.0, 0.0], torque=[0.0, 0.0, 1e-3], duration=0.1)
        Scenario(events=[event]).install(simulation)
        simulation.run(0.2)
        assert simulation.engine.data.qvel[:6] == pytest.approx([0, 0, 0, 0, 0, 1e-3 * 0.1 / inertia], rel=1e-9)


def test_forces_on_one_body_add_up_and_those_of_others_stay():
    with Simulation(free_bodies()) as simulation:
        wrench = simulation.engine.port("body/ball/wrench")
        wrench[5] = 0.25
        events = [
            ExternalForce(at=0.0, body="ball", force=[1.0, 0.0, 0.0], duration=0.02),
            ExternalForce(at=0.01, body="ball", force=[0.0, 2.0, 0.0], duration=0.02),
        ]
        run = ScenarioRun(Scenario(events=events), simulation, print)
        seen = []
        for _ in range(3):
            simulation.run(0.01)
            simulation.step()
            seen.append(wrench[:2].tolist())
        assert seen == [[1.0, 2.0], [0.0, 2.0], [0.0, 0.0]]
        run.stop()
        assert wrench.tolist() == [0.0, 0.0, 0.0, 0.0, 0.0, 0.25]


@pytest.mark.parametrize("when", [0.0, 0.005])
def test_a_reset_ends_a_force_and_its_end_takes_nothing_away(when):
    with Simulation(free_bodies()) as simulation:
        Scenario(events=[ExternalForce(at=0.0, body="ball", force=[1.0, 0.0, 0.0], duration=0.01)]).install(simulation)
        wrench = simulation.engine.port("body/ball/wrench")
        simulation.run(when)
        simulation.reset()
        assert not wrench.any()
        simulation.step(5)
        assert wrench[0] == 1.0
        simulation.step(10)
        assert not wrench.any()
        simulation.reset()
        simulation.step(5)
        assert wrench[0] == 1.0
        simulation.step(10)
        assert not wrench.any()


def test_a_reset_of_the_scenario_ends_its_forces_and_payloads():
    with Simulation(free_bodies()) as simulation:
        events = [
            ExternalForce(at=0.0, body="ball", force=[1.0, 0.0, 0.0], duration=0.02),
            SetPayload(at=0.0, body="ball", mass=1.0),
            Reset(at=0.01),
        ]
        Scenario(events=events).install(simulation)
        wrench = simulation.engine.port("body/ball/wrench")
        simulation.step(5)
        assert wrench[0] == 1.0
        simulation.step(10)
        assert not simulation.engine.payloads
        assert not wrench.any()
        simulation.step(20)
        assert not wrench.any()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("payload, body: bal, mass: 1.0", r"events\[0\] \(payload\): there is no body 'bal'; did you mean 'ball'"),
        ("payload, body: shelf, mass: 1.0", "'shelf' does not move"),
        ("payload, body: kite, mass: 1.0", "free of gravity"),
        ("payload, body: ball, mass: -1.0", "mass is -1.0 kg; must be from 0 to 10000 kg"),
        ("payload, body: ball, mass: .nan", "mass is nan kg"),
        ("payload, body: ball, mass: 1.0, offset: [0.0, 0.1]", "offset is .*; must be three numbers"),
        ("payload, body: ball, mass: 1.0, offset: [0.0, 0.1, 0.0]", "its centre of mass"),
        ("payload, body: ball, mass: 1.0, duration: 0.0", "duration is 0.0; must be a finite number of seconds above"),
        ("payload, body: ball", "required field `mass`"),
        ("external_force, body: balls, force: [1, 0, 0]", "there is no body 'balls'; did you mean 'ball'"),
        ("external_force, body: ball, force: [1, 0]", r"force is \[1.0, 0.0\]; must be a list of 3 finite numbers"),
        ("external_force, body: ball, force: [1, 0, .inf]", "force is .*must be a list of 3 finite numbers"),
        ("external_force, body: ball, force: [1, 0, 0], torque: [1]", "torque is .*must be a list of 3 finite numbers"),
        ("external_force, body: ball, force: [1, 0, 0], duration: -1.0", "duration is -1.0"),
        ("external_force, body: ball, force: 1.0", "expected `array`, got `float`"),
    ],
)
def test_an_event_that_a_body_cannot_take_is_refused_before_the_run(tmp_path, text, message):
    path = tmp_path / "scenario.yaml"
    path.write_text(f"events:\n  - {{at: 0.0, event: {text}}}\n")
    with Simulation(free_bodies()) as simulation, pytest.raises(DeviceError, match=message):
        read_scenario(path).install(simulation)


def test_an_engine_without_bodies_takes_no_event_on_one():
    engine = SpringMassEngine()
    events = [SetPayload(at=0.0, body="link", mass=1.0), ExternalForce(at=0.0, body="link", force=[1.0, 0.0, 0.0])]
    one, two = Scenario(events=events).problems({}, engine)
    assert "SpringMassEngine has no payloads" in one
    assert "there is no body 'link'; there are none" in two
