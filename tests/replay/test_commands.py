"""`pliant replay`: what it says of a recording."""

import json

from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.recording import Recorder
from pliant.robots.loading import load
from pliant.simulation import Simulation


def test_payloads_and_resets_of_a_recording_are_printed(call, robot_file, tmp_path):
    path = tmp_path / "run.mcap"
    robot = load(robot_file)
    engine = MujocoEngine(robot)
    body = engine.payloads.bodies()[-1]
    with Simulation(engine, make_devices(robot), pacer="free", recorder=Recorder(path)) as run:
        run.run(0.05)
        engine.set_payload(body, 0.2, (0.0, 0.0, -0.1))
        run.run(0.05)
        run.reset()
        run.run(0.05)
    code, out, err = call("replay", path)
    assert code == 0, err
    told = [line.strip() for line in out.splitlines() if " s: " in line]
    assert told == [
        f"0.05 s: payloads: 0.2 kg on {body} at (0, 0, -0.1) m",
        "0.1 s: reset",
        "0.1 s: payloads: none",
    ]
    events = json.loads(call("replay", path, "--json")[1])["events"]
    assert [event["event"] for event in events] == ["payloads", "reset", "payloads"]
    assert events[0]["payloads"] == {body: {"mass": 0.2, "offset": [0.0, 0.0, -0.1]}}
