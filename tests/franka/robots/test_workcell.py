"""The workcell: places, weights on the scale, forces of the arm on the scale, grasping, the peg in the hole."""

import subprocess
import sys

import mujoco
import numpy as np
import pytest
from daily import by_day

from pliant.base.errors import ModelError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.franka.client import FrankaRobot
from pliant.franka.robots.workcell import KINDS, PEG, TableObject, parse_objects
from pliant.robots import build_robot, list_robots
from pliant.simulation import Simulation

G = 9.81


def cell(name="fr3", **options):
    robot = build_robot(name, {"camera": "none", "meshes": "shapes", **options})
    return Simulation(MujocoEngine(robot), make_devices(robot), pacer="free")


def load(simulation):
    """Return the load of the scale downwards [N]."""
    return -float(simulation.sample("scale").values["force"][2])


def test_objects_are_read_from_texts():
    assert parse_objects(["box", "box", "pad@0.5/-0.1", "peg@hand"]) == (
        TableObject(kind="box", place=(0.42, 0.2), name="box"),
        TableObject(kind="box", place=(0.52, 0.2), name="box2"),
        TableObject(kind="pad", place=(0.5, -0.1), name="pad"),
        TableObject(kind="peg", place="hand", name="peg"),
    )


@pytest.mark.parametrize(
    "text", ["box @ 0.5/0.1, pad", "box@ 0.5/0.1 pad", "box@0.5 / 0.1,pad", "box @0.5/ 0.1 , pad", "[box@0.5/0.1, pad]"]
)
def test_blanks_around_the_signs_of_a_place_do_not_count(text):
    with cell(table="true", objects=text) as simulation:
        model = simulation.engine.model
        assert model.body("box").pos[1] - model.body("pad").pos[1] == pytest.approx(
            0.1 - parse_objects(["pad"])[0].place[1]
        )


@pytest.mark.parametrize("text", ["box,box,peg", "box,box@0.42/0.2", "peg,box@0.55/0.2", "cylinder,pad,cylinder,box"])
def test_objects_without_a_place_make_way_for_each_other(text):
    with cell(table="true", objects=text) as simulation:
        simulation.step()
        model, data = simulation.engine.model, simulation.engine.data
        places = data.xpos[:, :2].copy()
        simulation.run(0.2)
        np.testing.assert_allclose(data.xpos[:, :2], places, atol=1e-4)
        pairs = [{model.geom(int(g)).name for g in pair} for pair in data.contact.geom]
        assert pairs
        assert all("table" in pair for pair in pairs)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("bx", "'box'"),
        ("@0.5/0.1", "no object before @: must be one of box"),
        ("box:0.5/0.1", "each as KIND, KIND@X/Y or KIND@hand"),
        ("box@", "X/Y"),
        ("box@1", "X/Y"),
        ("box@a/b", "X/Y"),
        ("box@nan/0", "X/Y"),
        ("box@1e9/0", "2 m"),
        ("box@hand,peg@hand", "one has room"),
        ("box@0.5/0.1,pad@0.5/0.15", "place of the box"),
        ("hole@0.55/0,peg@0.55/0.03", "place of the hole"),
        ("box@0.05/0", "place of the base"),
        ("box@1.5/0", "there is no table at 1.5/0"),
        ("plate@0.5/0.45", "there is no table at 0.5/0.45"),
        ("plate,plate", "plate2: there is no table at 0.9/0"),
    ],
)
def test_an_object_that_cannot_be_placed_is_refused(text, words):
    with pytest.raises(ModelError, match=words):
        build_robot("fr3", {"table": "true", "objects": text})


def test_a_table_as_high_as_the_hand_is_refused_for_an_object_at_the_hand():
    from pliant.franka.robots.build import Surroundings, build_arms
    from pliant.franka.robots.workcell import Table

    with pytest.raises(ModelError, match="Lower the table"):
        build_arms(around=Surroundings(table=Table(position=(0.5, 0.0, 0.6)), objects=parse_objects(["plate@hand"])))


@pytest.mark.parametrize("name", ["fr3", "franka", "franka-dual"])
def test_the_scale_carries_what_stands_on_the_table(name):
    with cell(name, table="true", objects=",".join(KINDS)) as simulation:
        simulation.run(0.5)
        model = simulation.engine.model
        mass = sum(float(model.body(body).mass[0]) for body in ("table", *KINDS))
        assert load(simulation) == pytest.approx(mass * G, rel=1e-4)
        data = simulation.engine.data
        for kind in KINDS:
            assert np.linalg.norm(data.body(kind).xpos - model.body(kind).pos - _origin(data, model, kind)) < 1e-3


def _origin(data, model, body):
    parent = int(model.body(body).parentid[0])
    return data.xpos[parent] if parent else np.zeros(3)


def test_objects_without_a_table_stand_on_the_floor():
    with cell(objects="box,plate") as simulation:
        simulation.run(0.3)
        assert float(simulation.engine.data.body("box").xpos[2]) == pytest.approx(0.025, abs=5e-4)


@pytest.mark.parametrize("static_friction", [True, False])
def test_the_force_of_an_arm_on_a_plate_is_what_the_scale_measures_within_2_percent(static_friction):
    robot = build_robot(
        "fr3",
        {
            "table": "true",
            "objects": "plate@hand",
            "hand": "none",
            "meshes": "shapes",
            "static_friction": static_friction,
        },
    )
    with Simulation(MujocoEngine(robot), make_devices(robot), pacer="free") as simulation:
        simulation.run(0.01)
        empty = sum(float(simulation.engine.model.body(body).mass[0]) for body in ("table", "plate")) * G
        arm = FrankaRobot.of(simulation)
        arm.set_robot_state("force_torque")
        wanted = 20.0
        push = 0.0
        for step in range(3000):  # the integral of the published example, on the arm's own estimate
            estimate = abs(float(simulation.sample("franka").values["O_F_ext_hat_K"][2]))
            push += 1e-3 * 2.0 * (wanted * min(1.0, step / 500) - estimate)
            arm.set_force_torque("reference", np.array([0.0, 0.0, -push, 0.0, 0.0, 0.0]))
        scale = load(simulation) - empty
        estimate = abs(float(simulation.sample("franka").values["O_F_ext_hat_K"][2]))
        assert scale == pytest.approx(wanted, rel=0.02)
        assert estimate == pytest.approx(scale, rel=0.02)


def test_a_pad_yields_by_its_stiffness():
    with cell(table="true", objects="pad") as simulation:
        simulation.run(0.2)
        data = simulation.engine.data
        rest = float(data.joint("pad").qpos[0])
        body = int(simulation.engine.model.body("pad").id)
        data.xfrc_applied[body, 2] = -20.0
        before = load(simulation)
        simulation.run(1.0)
        assert rest - float(data.joint("pad").qpos[0]) == pytest.approx(20.0 / 4000.0, rel=1e-3)
        assert load(simulation) - before == pytest.approx(20.0, rel=1e-3)


def test_the_peg_goes_into_the_hole():
    with cell(table="true", objects="peg@0.55/0,hole@0.55/0") as simulation:
        # the peg stands in the hole from the start: it is free to turn and to move up, not to the side
        simulation.run(0.3)
        data, model = simulation.engine.data, simulation.engine.model
        top = float(model.body("table").pos[2])
        assert float(data.body("peg").xpos[2]) == pytest.approx(top + 0.5 * PEG[1], abs=1e-3)
        data.xfrc_applied[model.body("peg").id, :3] = [1.0, 0.0, 0.0]
        simulation.run(0.5)
        assert abs(float(data.body("peg").xpos[0]) - 0.55) < 0.01


def test_a_box_at_the_hand_is_grasped_held_and_released():
    with cell(table="true", objects="box@hand") as simulation:
        robot = FrankaRobot.of(simulation)
        assert robot.gripper_grasp(0.05, force=60.0)
        simulation.run(0.3)
        assert robot.get_gripper_width() == pytest.approx(0.05, abs=2e-4)
        before, start = float(simulation.engine.data.body("box").xpos[2]), robot.get_position("reference")[2, 3]
        robot.set_position("joint", [0.0, -0.75, 0.0, -2.2, 0.0, 1.6, 0.785])
        lifted = robot.get_position("reference")[2, 3] - start
        assert float(simulation.engine.data.body("box").xpos[2]) == pytest.approx(
            before + lifted, abs=3e-3
        )  # it turns with the hand
        assert lifted > 0.03
        assert robot.gripper_move(0.08)
        simulation.run(0.5)
        assert float(simulation.engine.data.body("box").xpos[2]) < before


def test_the_workcell_is_in_the_catalogue_with_two_cameras_a_scale_and_objects():
    assert "fr3-workcell" in {robot.name for robot in list_robots()}
    robot = build_robot("fr3-workcell", {})
    assert {device.name for device in robot.devices} == {"franka", "franka_camera", "scale", "table_camera"}
    model = robot.compile()
    for body in ("box", "cylinder", "peg", "hole", "pad"):
        assert mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, body) > 0


ARMS = ("franka", "fr3", "fp3", "fr3v2", "franka-dual", "franka-torso", "fr3-workcell")


@pytest.mark.parametrize("name", by_day(ARMS, "fr3".__eq__))
def test_an_arm_of_the_catalogue_starts_without_numba(name):
    """Its import costs more than a second of processor time; the kernels of a step are loaded without it."""
    code = (
        "import sys\n"
        "from pliant.devices import make_devices\n"
        "from pliant.engine import MujocoEngine\n"
        "from pliant.robots import build_robot\n"
        "from pliant.simulation import Simulation\n"
        f"robot = build_robot({name!r})\n"
        "with Simulation(MujocoEngine(robot), make_devices(robot)) as simulation:\n"
        "    simulation.step(2)\n"
        "print('numba' in sys.modules)"
    )
    for _ in range(2):  # the first run may compile
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout.strip() == "False"
