"""Continuum parallel robots under the common commands, as a user types them."""

import json
import re
import urllib.request

import mujoco
import numpy as np
import pytest

from pliant.parallel.model import find_mechanism, mechanism_of
from pliant.recording import read_recording
from pliant.robots.loading import load
from pliant.rods import catalogue, load_robot

SMALL = ("--set", "robot.segments=4", "--set", "robot.damping=0.05")


def run_json(call, *words):
    code, out, err = call(*words, "--json")
    assert code == 0, err
    return json.loads(out)


def test_the_list_has_the_twelve_robots_beside_the_others(call):
    robots = run_json(call, "list")["robots"]
    assert set(catalogue()) <= set(robots)
    assert len(catalogue()) == 12
    assert "qbmove-1dof" in robots
    assert "Hexapod" in robots["Stewart_Gough_6PFR"]


@pytest.mark.parametrize(
    ("name", "full"), [("6PFR", "Stewart_Gough_6PFR"), ("3efr", "3ER"), ("stewart_gough_6pff", "Stewart_Gough_6PFF")]
)
def test_short_names_and_other_letters_find_a_robot(name, full):
    assert load(name, options={"segments": 3}).name == full
    assert load_robot(name).name == full


def test_a_loaded_parallel_robot_keeps_still(call):
    found = run_json(call, "run", "6PFR", *SMALL, "--duration", "0.2", "--timestep", "0.002")
    assert found["steps"] == 100
    assert found["devices"]["cpr"]["deviation"] < 1e-4
    assert found["joints"] == {}


def test_a_run_ends_near_the_static_solution(call, tmp_path):
    record = tmp_path / "run.mcap"
    found = run_json(
        call, "run", "2PR", "--set", "robot.segments=6", "--set", "robot.damping=0.05", "--set", "robot.ramp=1",
        "-r", "cpr/joints_values=-0.2,-0.22", "--duration", "3", "--record", record,
    )  # fmt: skip
    values = found["devices"]["cpr"]
    assert values["deviation"] < 1e-3
    np.testing.assert_allclose(values["joint_values"], [-0.2, -0.22], atol=1e-4)
    statics = load_robot("2PR")
    exact = statics.solve_dgm([-0.2, -0.22], start=statics.home())
    np.testing.assert_allclose(values["pose"][:2], exact.pose2d[:2], atol=1e-3)
    recording = read_recording(record)
    assert recording["cpr/joint_values"].shape == (3000, 2)


def test_a_plate_pose_and_a_wrench_come_from_the_command_line(call):
    found = run_json(
        call, "run", "6PFR", *SMALL, "--set", "robot.ramp=0.3", "--duration", "1.5",
        "-r", "cpr/xyz_rpy=0.02,0,1.09,0,0,0.1", "-r", "cpr/wrench=0.1,0,0,0,0,0",
    )  # fmt: skip
    values = found["devices"]["cpr"]
    np.testing.assert_allclose(values["pose"][:3], [0.02, 0.0, 1.09], atol=1e-3)
    assert values["pose"][5] == pytest.approx(np.sin(0.05), abs=1e-3)
    assert values["wrench"] == pytest.approx([0.1, 0, 0, 0, 0, 0])


def test_a_controller_of_the_plate_is_an_option_of_the_robot(call):
    found = run_json(
        call, "run", "6PFR", *SMALL, "--set", "robot.controller=true", "--duration", "0.3",
        "-r", "controller/pose=0.01,0,1.1,0,0,0,1",
    )  # fmt: skip
    assert found["devices"]["controller"]["active"] == 1.0
    assert found["devices"]["controller"]["desired"][0] == 0.01
    assert found["devices"]["cpr"]["wrench"] == [0.0] * 6  # exert: nothing acts from outside
    assert found["devices"]["cpr"]["pose"][0] > 1e-4


def test_a_table_and_a_scenario_command_a_parallel_robot(call, tmp_path):
    table, scenario = tmp_path / "commands.csv", tmp_path / "events.yaml"
    q = load_robot("2PR").home().q
    table.write_text(f"time,cpr/joints_values[0],cpr/joints_values[1]\n0,{q[0]},{q[1]}\n0.2,{q[0] + 0.01},{q[1]}\n")
    scenario.write_text("events:\n  - {at: 0.3, event: request, device: cpr, request: home}\n")
    found = run_json(call, "run", "2PR", *SMALL, "--command", table, "--duration", "0.25")
    assert found["devices"]["cpr"]["joint_values"][0] == pytest.approx(q[0] + 0.01, abs=1e-3)
    found = run_json(call, "run", "2PR", *SMALL, "--command", table, "--scenario", scenario, "--duration", "0.32")
    assert found["health"]["devices"]["cpr"]["requests"] == 1


def test_check_says_what_damping_was_asked_for_and_what_the_integrator_gives(call):
    slow = run_json(call, "check", "2RR", "--set", "robot.damping=0.0005")
    (found,) = [p for p in slow["problems"] if p["subject"] == "robot.damping"]
    assert found["severity"] == "warning"
    assert re.search(r"the damping ratio is 0\.\d{4} instead of 0\.\d{4}", found["message"])
    fine = run_json(call, "check", "2RR")
    assert not [p for p in fine["problems"] if p["subject"] == "robot.damping"]


def test_check_measures_the_equilibrium_and_with_simulate_the_dynamics(call):
    found = run_json(call, "check", "2RR", "--set", "robot.segments=8")
    assert found["ok"]
    assert [p["value"] <= p["limit"] for p in found["problems"] if p["limit"] is not None] == [True] * 3
    found = run_json(call, "check", "2RR", "--set", "robot.segments=8", "--simulate")
    assert len([p for p in found["problems"] if p["limit"] is not None]) == 11
    assert len([p for p in found["problems"] if p["subject"].startswith("oscillation")]) == 6
    code, _, err = call("check", "sea-1dof", "--simulate")
    assert code == 1
    assert "--simulate has no effect without a parallel robot" in err


def test_a_file_of_a_parallel_robot_is_run_with_options_as_yaml_and_as_json(call, tmp_path):
    rod = {"length": 0.5, "radius": 0.0015}
    limbs = [
        {"base": {"xyz": [x, y, 0]}, "plate_joint": {"xyz": [0.8 * x, 0.8 * y, 0]}}
        for x, y in ((0.25, 0), (-0.125, 0.2165), (-0.125, -0.2165))
    ]
    shared = {"rod": rod, "joints": [{"type": "prismatic"}], "plate_joint": {"type": "spherical"}}
    data = {
        "name": "tripod", "plate": {"mass": 0.1}, "home": {"xyz": [0, 0, 0.49], "q": [0, 0, 0]},
        "controlled": ["z", "rx", "ry"], "limb": shared, "limbs": limbs,
    }  # fmt: skip
    for suffix in ("json", "yaml"):  # JSON is YAML as well
        file = tmp_path / f"tripod.{suffix}"
        file.write_text(json.dumps(data))
        robot = load(file, options={"segments": "5"})
        assert mechanism_of(robot).options.segments == 5
        found = run_json(call, "run", file, *SMALL, "--duration", "0.05")
        assert found["devices"]["cpr"]["deviation"] < 1e-4
    file.write_text(json.dumps({**data, "limb": {**shared, "rod": {"length": 500, "radius": 0.0015}}}))
    code, _, err = call("run", file)
    assert code == 1
    assert "Lengths are in metres" in err


def test_a_robot_of_another_kind_has_no_mechanism():
    assert find_mechanism(load("sea-1dof")) is None


def test_the_model_is_written_as_plain_mjcf(call, tmp_path):
    file = tmp_path / "model.xml"
    code, out, err = call("export", "mjcf", "3RR", file)
    assert code == 0, err
    assert "written" in out
    model = mujoco.MjModel.from_xml_path(str(file))
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("rest").id)
    for _ in range(100):
        mujoco.mj_step(model, data)
    home = load_robot("3RR").home()
    np.testing.assert_allclose(data.body("plate").xpos[:2], home.pose2d[:2], atol=1e-4)
    code, _, err = call("export", "mjcf", "6PFR", "--set", "robot.variant=flex", "--set", "robot.segments=12")
    assert code == 1
    assert "set robot.variant to chain" in err


@pytest.mark.network
def test_view_shows_the_statics_alone_and_goes_on_with_what_is_chosen_or_opened_there(call, monkeypatch):
    from tripod import TRIPOD

    from pliant.parallel.page.statics_view import StaticsView

    seen = []

    def look(page):
        name = page._robot.name
        seen.append((name, name.encode() in urllib.request.urlopen(page._server.url, timeout=5).read()))
        if len(seen) == 1:
            page.choice.open("tripod.yaml", TRIPOD.encode())
        elif len(seen) == 2:
            page.choice.open("tripod.yaml", TRIPOD.replace("50 g", "60 g").encode())  # mended, with its name
        elif len(seen) == 3:
            assert page._robot.description.plate.mass == pytest.approx(0.06)
            assert page.choice.names[0] == "tripod"
            page.choice.change_to("2RR")
        else:
            raise KeyboardInterrupt

    monkeypatch.setattr(StaticsView, "run", look)
    code, _, err = call("view", "6PFR", "--statics")
    assert code == 0
    assert "view: http://localhost:" in err
    assert seen == [("Stewart_Gough_6PFR", True), ("tripod", True), ("tripod", True), ("2RR", True)]


@pytest.mark.network
def test_view_shows_the_statics_of_a_robot_in_a_file(call, monkeypatch, tmp_path):
    from tripod import TRIPOD

    from pliant.parallel.page.statics_view import StaticsView

    shown = []

    def look(page):
        shown.append((page._robot.name, "tripod" in page.choice.names))
        raise KeyboardInterrupt

    monkeypatch.setattr(StaticsView, "run", look)
    (tmp_path / "tripod.yaml").write_text(TRIPOD)
    assert call("view", str(tmp_path / "tripod.yaml"), "--statics")[0] == 0
    assert shown == [("tripod", True)]


@pytest.mark.network
def test_view_simulates_a_robot_that_is_opened_on_the_page(call, monkeypatch):
    from tripod import TRIPOD

    from pliant.simulation import Simulation

    seen = []

    def look(simulation):
        (page,) = simulation.bridges.values()
        seen.append(page._title)
        if len(seen) > 1:
            raise KeyboardInterrupt
        page.choice.open("tripod.yaml", TRIPOD.encode())

    monkeypatch.setattr(Simulation, "run", look)
    code, _, _ = call("view", "2RR")
    assert code == 0
    assert seen == ["2RR", "tripod"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run", "Stewart_Gough_6PFT"), "did you mean 'Stewart_Gough_6PF"),
        (("run", "2RR", "--set", "robot.segmnts=4"), "did you mean 'segments'"),
        (("run", "2RR", "--set", "robot.segments=2"), "from 3 to 200"),
        (("run", "2RR", "--set", "robot.controller_wrench=holdd"), "did you mean 'hold'"),
        (("run", "2RR", "--set", "robot.controller=true"), "2RR is planar"),
        (("run", "2RR", "--set", "robot.joint_speeds=0 1"), "joint_speeds"),
        (("run", "2RR", "--set", "robot.ramp=-1"), "ramp"),
        (("run", "2RR", "--set", "robot.variant=flex"), "use variant='chain'"),
        (("run", "2RR", "-r", "cpr/joint=1,1"), "no such command; did you mean 'cpr/joint"),
        (("run", "2RR", "-r", "cpr/joints_values=1"), "array of 2 finite numbers"),
    ],
)
def test_wrong_input_is_named(call, words, message):
    code, _, err = call(*words)
    assert code == 1
    assert message in err, err


def test_a_reference_beyond_the_joint_limits_is_refused_before_the_run(call):
    words = ["run", "6PFR", "--set", "robot.segments=3", "--duration", "0.01"]
    code, _, err = call(*words, "--reference", "cpr/joints_values=2,0,0,0,0,0")
    assert code != 0
    assert "limb1/prismatic would have to be at 2; its limits are -1 and 0.4" in err
    code, _, err = call(*words, "--reference", "cpr/xyz_rpy=3,0,1,0,0,0")
    assert code != 0
    assert "the rod of limb6 is too short by" in err
