"""Sweeps: each simulation equals the same one alone, whatever runs it; metrics; wrong names."""

import csv
import dataclasses
import pathlib
import re

import numpy as np
import pytest
from daily import robots_by_day

from pliant.base.errors import DeviceError, MissingDependency, ModelError, PliantError
from pliant.base.options import describe
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.laws import COMMAND_NAMES, Mode
from pliant.learn.envs.commander import commander_of
from pliant.robots import list_robots
from pliant.robots.loading import load
from pliant.simulation import Simulation
from pliant.simulation.channels import find_channels
from pliant.sweep import SweepPlan, Variation, parse_variation, run_sweep
from pliant.sweep.chunks import run_chunk
from pliant.sweep.events import DeviceEvents
from pliant.tasks.executor import Executor


@pytest.mark.parametrize("variation", ["elbow.k1=0.001,0.003", "link.pos=0 0 0", "elbow.damping=0.02,0.2"])
def test_a_swept_simulation_equals_the_same_simulation_alone(robot_file, variation, plan):
    p = plan(robot_file, variation)
    result = run_sweep(p)
    for row, point in zip(result.rows, p.points(), strict=True):
        robot = load(robot_file)
        robot.update(point)
        engine = MujocoEngine(robot, check=False)
        engine.port("elbow/reference_1")[0] = 0.5
        engine.port("elbow/reference_2")[0] = 0.4
        engine.step(250)
        assert row[result.columns.index("elbow/final")] == engine.port("elbow/position")[0]


@pytest.mark.parametrize("variation", ["elbow.initial_preset=0.1,0.5", "elbow.mode=2,3", "elbow.mode=5,6"])
@pytest.mark.parametrize("start", ["pose", "zero"])
def test_without_commands_a_swept_simulation_starts_at_rest_as_alone(
    robot_file, tmp_path, variation, start, plan, model
):
    (tmp_path / "arm.xml").write_text(
        model.replace("</mujoco>", '<keyframe><key name="rest" qpos="0.3"/></keyframe></mujoco>')
    )
    settings = {"elbow.start": start, "elbow.initial_preset": 0.2}
    p = plan(robot_file, variation, commands={}, duration=0.1, settings=settings)
    result = run_sweep(p)
    for row, point in zip(result.rows, p.points(), strict=True):
        robot = load(robot_file)
        robot.update({**settings, **point})
        engine = MujocoEngine(robot, check=False)
        engine.step(50)
        assert row[result.columns.index("elbow/final")] == engine.port("elbow/position")[0]


def test_actuators_and_bodies_vary_together(robot_file, plan):
    result = run_sweep(plan(robot_file, "elbow.k1=0.001,0.003", "elbow.damping=0.02,0.2"))
    finals = result.column("elbow/final")
    assert len(set(finals)) == 4


def test_modes_may_differ_between_simulations(robot_file, plan):
    result = run_sweep(plan(robot_file, "elbow.mode=3,6"))
    assert len(result.rows) == 2
    assert result.rows[0][2] != result.rows[1][2]


@pytest.mark.parametrize("order", [range(7), range(6, -1, -1)])
def test_the_errors_of_each_mode_are_those_of_its_own_reference(robot_file, order, plan):
    result = run_sweep(plan(robot_file, f"elbow.mode={','.join(map(str, order))}", commands={}, duration=0.1))
    for row in result.rows:
        values = dict(zip(result.columns, row, strict=True))
        angle = values["elbow.mode"] in (1, 3, 6)  # the modes whose reference 1 is an angle of the link
        assert [np.isfinite(values[f"elbow/{m}_error"]) for m in ("rms", "final")] == [angle] * 2


@pytest.mark.parametrize("modes", ["3,2", "6,5", "6,4", "5,4", "2,3"])
def test_a_command_that_one_of_the_modes_does_not_take_is_refused(robot_file, modes, plan):
    first = COMMAND_NAMES[Mode(int(modes[0]))][0]
    with pytest.raises(PliantError, match=f"no command 'elbow/{first}'"):
        run_sweep(plan(robot_file, f"elbow.mode={modes}", commands={f"elbow/{first}": 0.1}))


def test_metrics_are_those_of_the_trajectory(robot_file, plan):
    result = run_sweep(plan(robot_file, "elbow.k1=0.0019", duration=3.0))
    row = dict(zip(result.columns, result.rows[0], strict=True))
    assert row["elbow/min"] <= row["elbow/final"] <= row["elbow/max"]
    assert row["elbow/final_error"] == pytest.approx(0.5 - row["elbow/final"])
    assert 0.0 < row["elbow/settling_time"] < 3.0
    assert row["diverged"] is False


def test_the_units_of_a_joint_that_slides_are_metres_and_newtons(robot_file, tmp_path, plan, model):
    (tmp_path / "arm.xml").write_text(model.replace('name="elbow"', 'name="elbow" type="slide"'))
    units = run_sweep(plan(robot_file, "elbow.k1=0.0019", duration=0.02)).units
    assert {units[f"elbow/{m}"] for m in ("final", "min", "max", "rms_error", "final_error")} == {"m"}
    assert (units["elbow/peak_torque"], units["elbow/peak_velocity"]) == ("N", "m/s")


def test_a_simulation_that_diverges_is_marked_and_the_others_go_on(robot_file, plan):
    # 200 N m/rad on 1.7e-3 kg m^2 is beyond the bound at 20 ms; 0.0019 N m springs are not.
    result = run_sweep(plan(robot_file, "elbow.k1=0.0019,500", duration=2.0, timestep=0.02))
    marks = result.column("diverged")
    speeds = result.column("elbow/peak_velocity")
    assert not marks[0]
    assert marks[1] or speeds[1] > 10.0 * speeds[0]


def test_processes_give_the_same_table(robot_file, plan):
    p = plan(robot_file, "elbow.k1=0.001:0.003:6", duration=0.05)
    assert run_sweep(p, executor=Executor(processes=2), chunk=3).rows == run_sweep(p).rows


@pytest.mark.parametrize(
    ("variation", "options", "message"),
    [
        ("elbow.kk=1", {}, "did you mean"),
        ("elbo.k1=1", {}, "did you mean 'elbow'"),
        ("elbow.k1=0.001", {"commands": {"elbow/equilibrium": 1.0}}, "did you mean"),
        ("elbow.k1=0.001", {"commands": {"elbow/equilibrium_position": "x"}}, "must be a number"),
        ("elbow.k1=-1", {}, "k1 is -1"),
        ("robot.preset=0.1,0.2", {}, "has no options .preset."),
    ],
)
def test_wrong_names_fail_before_anything_runs(robot_file, variation, options, message, plan):
    with pytest.raises((PliantError, ModelError), match=message):
        run_sweep(plan(robot_file, variation, **options))


def test_options_of_a_catalogue_robot_are_set_for_all_simulations():
    hanging = run_sweep(SweepPlan(source="qbmove-1dof", variations=(parse_variation("joint.k1=0.0019"),),
                                  settings={"robot.mounting": "hanging"}, duration=0.5))  # fmt: skip
    lying = run_sweep(SweepPlan(source="qbmove-1dof", variations=(parse_variation("joint.k1=0.0019"),), duration=0.5))
    assert hanging.column("joint/final")[0] == pytest.approx(0.0, abs=1e-6)
    assert abs(lying.column("joint/final")[0]) > 0.1


def test_options_of_a_catalogue_robot_vary_as_the_same_robots_alone():
    plan = SweepPlan(
        source="qbmove-1dof",
        variations=tuple(parse_variation(v) for v in ("robot.mounting=hanging,horizontal", "joint.k1=0.001,0.003")),
        commands={"joint/equilibrium_position": 0.3},
        duration=0.2,
    )
    result = run_sweep(plan)
    finals = []
    for point in plan.points():
        robot = load("qbmove-1dof", options={"mounting": point["robot.mounting"]}).update(
            {"joint.k1": point["joint.k1"]}
        )
        engine = MujocoEngine(robot, check=False)
        engine.port("joint/reference_1")[0] = 0.3
        engine.step(round(0.2 / robot.timestep))
        finals.append(engine.port("joint/position")[0])
    assert result.column("joint/final").tolist() == finals
    assert len(set(finals)) == 4


@pytest.mark.parametrize("name", robots_by_day(robot.name for robot in list_robots() if not robot.package))
def test_an_option_of_every_robot_of_the_catalogue_varies(name):
    entry = next(robot for robot in list_robots() if robot.name == name)
    try:
        robot = load(entry.name)
    except MissingDependency as missing:
        pytest.skip(str(missing))
    info = next(i for i in describe(entry.options_class) if isinstance(i.default, float | str) and i.default != "")
    plan = SweepPlan(
        source=entry.name,
        variations=(Variation(path=f"robot.{info.name}", values=(info.default,)),),
        duration=0.025,  # longer than the period of every device
    )
    result = run_sweep(plan)
    quantities = {column.rpartition("/")[0] for column in result.columns[2:-2]}
    if robot.actuators:
        assert quantities == set(robot.actuators)
    else:
        assert {q.partition("/")[0] for q in quantities} <= {d.name for d in make_devices(robot)}
    (row,) = result.rows
    assert row[-2] is False
    assert np.isfinite(np.array(row[2:-2], dtype=float)).any()


def test_a_robot_without_compliant_joints_reports_what_its_devices_measure():
    """Also: the equal simulation, stepped by hand."""
    plan = SweepPlan(source="softfoot-bench", variations=(parse_variation("robot.load=20,60"),), duration=0.05)
    result = run_sweep(plan)
    for row, load_of in zip(result.rows, (20, 60), strict=True):
        robot = load("softfoot-bench", options={"load": load_of})
        seen = []
        with Simulation(MujocoEngine(robot, check=False), make_devices(robot), pacer="free") as simulation:
            for _ in range(round(0.05 / robot.timestep)):
                simulation.step()
                seen.append(simulation.sample("heel_force").values["force"][2])
        found = dict(zip(result.columns, row, strict=True))
        assert [found[f"heel_force/force[2]/{m}"] for m in ("final", "min", "max")] == [seen[-1], min(seen), max(seen)]
    assert result.units["heel_force/force[2]/final"] == "N"


def test_commands_reach_devices():
    plan = SweepPlan(source="softfoot", variations=(parse_variation("option.timestep=0.0005"),),
                     commands={"press/force": 50.0}, duration=0.02)  # fmt: skip
    pressed = run_sweep(plan).column("press/position/final")[0]
    free = run_sweep(dataclasses.replace(plan, commands={})).column("press/position/final")[0]
    assert pressed != free
    with pytest.raises(PliantError, match=r"press/forse: no such command; did you mean 'press/force'"):
        run_sweep(dataclasses.replace(plan, commands={"press/forse": 1.0}))


@pytest.mark.parametrize(
    "kind", ['position kp="20"', 'velocity kv="2"', 'motor gear="2"', 'damper kv="1" ctrlrange="0 5"']
)
def test_the_controls_of_a_models_own_actuators_vary_as_in_runs_of_their_own(tmp_path, kind, plan):
    path = tmp_path / "arm.xml"
    path.write_text(
        '<mujoco><worldbody><body name="link"><joint name="elbow" axis="0 1 0" damping="0.05"/>'
        '<geom type="capsule" fromto="0 0 0 0.1 0 0" size="0.01" mass="0.5"/><site name="cell"/></body></worldbody>'
        f'<actuator><{kind} name="drive" joint="elbow"/></actuator>'
        '<sensor><force site="cell"/><torque site="cell"/></sensor></mujoco>'
    )
    result = run_sweep(plan(str(path), "drive/control=0.5,1", "link.mass=0.5,0.7", commands={}, duration=0.1))
    for row in result.rows:
        values = dict(zip(result.columns, row, strict=True))
        robot = load(path)
        robot.set("link.mass", values["link.mass"])
        with Simulation(MujocoEngine(robot, check=False), make_devices(robot), pacer="free") as simulation:
            simulation.devices["drive"].inbox.put({"control": values["drive/control"]})
            forces = []
            for _ in range(round(0.1 / robot.timestep)):
                simulation.step()
                forces.append(simulation.sample("cell").values["force"])
            assert values["drive/force/final"] == simulation.sample("drive").values["force"]
        for i, axis in enumerate(np.transpose(forces)):
            found = [values[f"cell/force[{i}]/{m}"] for m in ("final", "min", "max")]
            assert found == [axis[-1], axis.min(), axis.max()]
    with pytest.raises(PliantError, match="'elbow/external_torque', nor has a device such a command"):
        run_sweep(plan(str(path), "elbow/external_torque=0,1", commands={}, duration=0.1))


def test_a_simulation_with_other_results_than_the_first_is_refused(robot_file, plan):
    p = plan(robot_file, "elbow.k1=0.001,0.002")
    with pytest.raises(PliantError, match="other joints or devices than in the first"):
        run_chunk(p, 0, list(p.points()), ("wrist/final",))


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_result_is_one_file_by_its_suffix(tmp_path, robot_file, suffix, plan):
    file = tmp_path / f"table{suffix}"
    result = run_sweep(plan(robot_file, "elbow.k1=0.001,0.002", "elbow.mode=3,6", duration=0.05), file)
    read = csv_rows(file) if suffix == ".csv" else parquet_rows(file)
    assert list(read[0]) == list(result.columns)
    for found, row in zip(read, result.rows, strict=True):
        *numbers, happened = found.values()
        assert numbers == pytest.approx(row[:-1], nan_ok=True)
        assert happened == row[-1]
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted({"arm.xml", "arm.yaml", file.name})


def csv_rows(file):
    def cell(text):
        if text == "":
            return text
        return text == "True" if text in ("True", "False") else float(text)

    return [{k: cell(v) for k, v in row.items()} for row in csv.DictReader(file.open())]


def parquet_rows(file):
    return pytest.importorskip("pyarrow.parquet").read_table(file).to_pylist()


@pytest.mark.parametrize("name", ["table.xlsx", "table.json", "missing/table.csv", "folder.csv"])
def test_a_result_that_cannot_be_a_file_is_refused_before_anything_runs(tmp_path, robot_file, name, plan):
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(PliantError, match=r"must end in .csv|there is no folder|this is a folder"):
        run_sweep(plan(robot_file, "elbow.k1=0.001"), tmp_path / name)


def test_a_sweep_of_compliant_joints_commands_the_actuators_of_the_model_too(tmp_path, plan):
    (tmp_path / "arm.xml").write_text(
        '<mujoco><option timestep="0.002"/><worldbody><body><joint name="elbow" axis="0 1 0" range="-3 3"/>'
        '<geom size="0.05" pos="0 0 -0.2"/><body pos="0 0 -0.2"><joint name="wrist" axis="0 1 0" damping="0.1"/>'
        '<geom size="0.05" pos="0 0 -0.2"/></body></body></worldbody><actuator><motor name="turn" joint="wrist"/>'
        "</actuator></mujoco>"
    )
    (tmp_path / "arm.yaml").write_text("model: arm.xml\nactuators: {elbow: {law: qbmove, mode: 6}}\n")
    p = plan(tmp_path / "arm.yaml", "elbow.k1=0.001,0.003", commands={"turn/control": 0.3}, duration=0.1)
    result = run_sweep(p)
    for row, point in zip(result.rows, p.points(), strict=True):
        robot = load(str(tmp_path / "arm.yaml"))
        robot.update(point)
        engine = MujocoEngine(robot, check=False)
        engine.port("turn/control")[0] = 0.3
        engine.step(50)
        assert row[result.columns.index("elbow/final")] == engine.port("elbow/position")[0]


def happened(robot_file, change, *variations, **options):
    """Return what the rows say that happened, with a changed robot file."""
    path = pathlib.Path(robot_file)
    for old, new in change.items():
        for file in (path, path.with_suffix(".xml")):
            file.write_text(file.read_text().replace(old, new))
    plan = SweepPlan(
        source=robot_file,
        variations=tuple(parse_variation(v) for v in variations),
        commands={"elbow/equilibrium_position": 0.5, "elbow/stiffness_preset": 0.4},
        duration=0.5,
        **options,
    )
    return [row[-1] for row in run_sweep(plan).rows]


def test_a_row_says_that_a_spring_broke(robot_file):
    change = {"mode: 3": "mode: 3, strength: {break_torque: 0.1}"}
    broke, whole = happened(robot_file, change, "elbow.strength.break_torque=0.1,50")
    assert re.fullmatch(r"elbow: the spring broke at \d+\.\d+ N m", broke)
    assert whole == ""


def test_a_row_says_that_a_joint_reached_its_stop(robot_file):
    change = {'axis="0 1 0"': 'axis="0 1 0" range="-60 15" limited="true"'}
    assert happened(robot_file, change, "elbow.k1=0.003") == ["elbow: reached its upper stop at 0.2618 rad"]


def test_a_row_says_that_an_effort_limit_cut_the_torque(robot_file):
    cut, free = happened(robot_file, {}, "elbow.effort=0.05,50")
    assert cut == "elbow: its effort limit of 0.05 N m cut the torque"
    assert free == ""


def test_a_row_says_when_the_simulation_diverged(robot_file):
    (diverged,) = happened(robot_file, {}, "elbow.k1=5000")
    assert re.fullmatch(r"diverged at 0\.\d+ s", diverged)


def test_a_row_says_which_joints_of_a_robot_without_compliant_joints_reached_their_stops(tmp_path):
    (tmp_path / "arm.xml").write_text(
        '<mujoco><worldbody><body name="link"><joint name="j" axis="0 1 0" range="-10 10" limited="true"/>'
        '<geom type="capsule" fromto="0 0 0 0.1 0 0" size="0.01"/></body></worldbody>'
        '<actuator><motor name="push" joint="j"/></actuator></mujoco>'
    )
    plan = SweepPlan(
        source=str(tmp_path / "arm.xml"), variations=(parse_variation("push/control=-1,0.0"),), duration=0.3
    )
    rows = run_sweep(plan).rows
    assert [row[-1] for row in rows] == [
        "j: reached its lower stop at -0.1745 rad", "j: reached its upper stop at 0.1745 rad",
    ]  # fmt: skip


def test_what_stopped_an_arm_is_an_event():
    pytest.importorskip("pliant.franka")
    robot = load("franka")
    with Simulation(MujocoEngine(robot, check=False), make_devices(robot), pacer="free") as simulation:
        events = DeviceEvents(simulation, robot.compile())
        channels = find_channels(["franka/dq_c[0]"], {}, list(simulation.devices.values()))
        commander = commander_of(simulation, simulation.devices["franka"], channels)
        commander.start()
        commander.hold(np.array([0.3]))
        assert events.found() == []
        simulation.engine.data.xfrc_applied[-1, :3] = 300.0
        with pytest.raises(DeviceError):
            commander.advance(500)
        assert events.found() == ["franka: stopped by a reflex: tau_J_range_violation"]


def test_a_row_says_that_a_command_was_refused():
    pytest.importorskip("pliant.parallel")
    plan = SweepPlan(source="6PFR", variations=(parse_variation("cpr/xyz_rpy[2]=1.1,9"),), duration=0.01)
    fine, refused = (row[-1] for row in run_sweep(plan).rows)
    assert fine == ""
    assert refused.startswith("command refused: ")
