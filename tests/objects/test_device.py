"""Objects that are made while a simulation runs, against mechanics."""

import math

import mujoco
import numpy as np
import pytest
from audited import AuditedEngine

from pliant.base.errors import DeviceError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.model import Camera, Robot
from pliant.objects import World, find_world
from pliant.simulation import Simulation

H, G = 1e-3, 9.81
XML = """
<mujoco model="bench">
  <option timestep="0.001" gravity="0 0 -9.81"/>
  <worldbody>
    <light pos="0 0 4"/>
    <camera name="eye" pos="0 -3 2" xyaxes="1 0 0 0 0 1"/>
    <geom name="floor" type="plane" size="5 5 .1"/>
    <body name="arm" pos="0 0 1">
      <joint name="shoulder" axis="0 1 0" damping=".2"/><geom size=".05" pos=".4 0 0" mass="1"/>
      <body name="hand" pos=".5 0 0"><geom type="box" size=".05 .05 .01" mass=".2"/></body>
    </body>
    <body name="cart" pos="2 0 .5"><joint name="slide" type="slide" axis="1 0 0"/><geom size=".1" mass="1"/></body>
  </worldbody>
</mujoco>
"""


def bench(objects=3, ties=2, engine=MujocoEngine, **options):
    robot = Robot(mujoco.MjSpec.from_string(XML))
    robot.devices.append(World(objects=objects, ties=ties, **options))
    return Simulation(engine(robot, check=False), make_devices(robot), pacer="free")


def fallen(steps):
    """Return how far MuJoCo's semi-implicit Euler lets a body fall in some steps."""
    return 0.5 * G * H * H * steps * (steps + 1)


def test_a_sphere_made_at_one_metre_falls_as_gravity_says():
    with bench() as simulation:
        world = find_world(simulation)
        assert world.make_sphere(0.05, (1.5, 0, 1.0), collision=False) == "sphere1"
        for steps in (100, 300):
            simulation.step(steps)
        assert world.pose("sphere1")[2] == pytest.approx(1.0 - fallen(400), abs=1e-12)
        assert fallen(400) == pytest.approx(G * 0.4**2 / 2.0, rel=0.003)


@pytest.mark.parametrize("shape", ["sphere", "box", "cylinder"])
def test_an_object_has_the_constants_that_a_compiler_gives_the_same_shape(shape):
    r, x, y, z, h, mass = 0.07, 0.2, 0.3, 0.5, 0.4, 1.7
    given = {"sphere": (r,), "box": (x, y, z), "cylinder": (r, h)}[shape]
    size = {"sphere": f"{r}", "box": f"{x / 2} {y / 2} {z / 2}", "cylinder": f"{r} {h / 2}"}[shape]
    body = f"<body><freejoint/><geom type='{shape}' size='{size}' mass='{mass}'/></body>"
    compiled = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{body}</worldbody></mujoco>")
    with bench() as simulation:
        for number in range(2):
            getattr(find_world(simulation), f"make_{shape}")(*given, (1.0, number, 1.0), mass=mass)
        model = simulation.engine.model
        made = np.flatnonzero(model.body_mass == mass)
        assert len(made) == 2
        for body in made:
            for field in ("body_subtreemass", "body_inertia", "body_invweight0"):
                found, expected = getattr(model, field)[body], getattr(compiled, field)[1]
                np.testing.assert_allclose(found, expected, rtol=1e-9, err_msg=field)
            dof, geom = int(model.body_dofadr[body]), int(model.body_geomadr[body])
            for field in ("dof_M0", "dof_invweight0"):
                found, expected = getattr(model, field)[dof : dof + 6], getattr(compiled, field)
                np.testing.assert_allclose(found, expected, rtol=1e-9, err_msg=field)
            assert model.geom_rbound[geom] == pytest.approx(compiled.geom_rbound[0], rel=1e-9)


def test_an_object_that_falls_rests_on_the_floor_at_half_its_height():
    with bench() as simulation:
        find_world(simulation).make_box(0.2, 0.2, 0.3, (1.0, 1.0, 0.2))
        find_world(simulation).make_cylinder(0.1, 0.4, (1.0, -1.0, 0.22))
        simulation.step(1500)
        assert find_world(simulation).pose("box1")[2] == pytest.approx(0.15, abs=5e-4)
        assert find_world(simulation).pose("cylinder2")[2] == pytest.approx(0.2, abs=5e-4)


def test_without_gravity_it_stays_and_without_collision_it_falls_through_the_floor():
    with bench() as simulation:
        world = find_world(simulation)
        still = world.make_sphere(0.1, (1.0, 1.0, 1.0), gravity=False)
        through = world.make_sphere(0.1, (1.0, -1.0, 0.2), collision=False)
        simulation.step(500)
        assert world.pose(still)[:3] == pytest.approx([1.0, 1.0, 1.0], abs=1e-12)
        assert world.pose(through)[2] < -0.9
        world.enable_gravity(still)
        simulation.step(100)
        assert world.pose(still)[2] == pytest.approx(1.0 - fallen(100), abs=1e-9)
        world.enable_gravity(still, False)
        world.set_pose(through, (1.0, -1.0, 0.5))
        world.enable_collision(through)
        simulation.step(1000)
        assert world.pose(through)[2] == pytest.approx(0.1, abs=1e-3)


def test_poses_are_given_in_the_world_in_links_and_in_other_objects():
    with bench() as simulation:
        world = find_world(simulation)
        world.make_frame(0.3, (1.0, 2.0, 3.0), angles=(0.0, 0.0, math.pi / 2), name="marker")
        world.make_box(0.1, 0.1, 0.1, (1.0, 0.0, 0.0), angles=(0.1, 0.2, 0.3), frame="marker", name="cube")
        assert world.pose("cube")[:3] == pytest.approx([1.0, 3.0, 3.0], abs=1e-12)
        assert world.pose("cube", "marker") == pytest.approx([1.0, 0.0, 0.0, 0.1, 0.2, 0.3], abs=1e-12)
        assert world.pose("cube", "bench::hand")[:3] == pytest.approx([0.5, 3.0, 2.0], abs=1e-12)


def test_a_box_attached_to_the_hand_moves_with_it():
    with bench() as simulation:
        world, data = find_world(simulation), simulation.engine.data
        name = world.make_box(0.1, 0.1, 0.1, (0.0, 0.0, 0.03), frame="hand", mass=0.5)  # it overlaps the hand
        world.attach_object(name, "hand")
        before = world.pose(name, "hand")
        worst, fastest = np.zeros(6), 0.0
        for _ in range(60):
            simulation.step(10)
            worst = np.maximum(worst, np.abs(np.subtract(world.pose(name, "hand"), before)))
            fastest = max(fastest, abs(float(data.qvel[0])))
        # A weld of MuJoCo is a stiff spring: these are its errors at the end of an arm that turns at 6 rad/s.
        assert fastest > 5.5
        assert worst[:3].max() < 5e-5
        assert worst[3:].max() < 5e-4
        world.detach_object(name)
        start, speed = world.pose(name)[2], float(data.qvel[4])
        world.enable_collision(name, False)
        simulation.step(50)
        assert world.pose(name)[2] == pytest.approx(start + 50 * H * speed - fallen(50), abs=1e-9)


def test_what_is_attached_adds_its_weight_to_the_arm():
    """The torque about the shoulder grows by m g r, so the angular acceleration at the start is that of both."""
    with bench() as simulation:
        world, data = find_world(simulation), simulation.engine.data
        name = world.make_sphere(0.02, (0.5, 0.0, 1.2), mass=3.0)
        world.attach_object(name, "hand")
        simulation.step(5)
        torque = G * (1.0 * 0.4 + 0.2 * 0.5 + 3.0 * 0.5)
        inertia = 1.0 * 0.4**2 + 0.4 * 0.05**2 + 0.2 * 0.5**2 + 0.2 / 3.0 * (0.05**2 + 0.01**2)
        inertia += 3.0 * (0.5**2 + 0.2**2) + 0.4 * 3.0 * 0.02**2
        assert data.qvel[0] == pytest.approx(torque / inertia * 5 * H, rel=0.02)


def test_deleted_objects_are_gone_and_their_places_are_used_again():
    with bench(objects=2) as simulation:
        world = find_world(simulation)
        first = world.make_sphere(0.1, (1.0, 1.0, 0.1))
        world.make_box(0.1, 0.1, 0.1, (1.0, 1.0, 0.3), name="upper")
        with pytest.raises(DeviceError, match="all 2 objects"):
            world.make_sphere(0.1)
        simulation.step(200)
        assert world.pose("upper")[2] > 0.2
        world.delete(first)
        assert world.names() == ["upper"]
        with pytest.raises(DeviceError, match="upper"):
            world.pose("uper")
        simulation.step(1000)
        assert world.pose("upper")[2] == pytest.approx(0.05, abs=1e-3)  # what carried it is gone
        assert world.make_sphere(0.1, (0.0, 2.0, 0.1)) == "sphere3"
        world.delete_all()
        assert world.names() == []
        simulation.step(1)
        assert simulation.engine.data.ncon == 0


def test_what_holds_a_deleted_object_lets_it_go():
    with bench() as simulation:
        world = find_world(simulation)
        lower, upper = world.make_sphere(0.1, (1, 0, 3), gravity=False), world.make_sphere(0.1, (1, 0, 3.5))
        world.attach_object(upper, lower)
        world.delete(lower)
        simulation.step(100)
        assert world.pose(upper)[2] == pytest.approx(3.5 - fallen(100), abs=1e-9)


def test_links_that_are_tied_keep_their_distance_until_they_are_untied():
    with bench(startup=(("hand", "cart"),)) as simulation:
        world, data = find_world(simulation), simulation.engine.data
        simulation.step(300)
        assert np.abs(data.qpos[:2]).max() < 1e-4  # neither can move without the other
        world.untie("cart")
        simulation.step(300)
        assert data.qpos[0] > 0.1
        simulation.reset()
        simulation.step(300)
        assert np.abs(data.qpos[:2]).max() < 1e-4


def test_equal_runs_are_equal_bit_by_bit_and_a_reset_deletes_everything():
    def run(simulation):
        world = find_world(simulation)
        world.make_box(0.2, 0.2, 0.2, (0.45, 0.0, 1.6), angles=(0.3, 0.2, 0.1))
        simulation.step(400)
        world.attach_object("box1", "hand")
        simulation.step(400)
        return simulation.sample("world").values, simulation.engine.data.qpos.copy()

    with bench() as simulation:
        constants = simulation.engine.model.body_mass.copy(), simulation.engine.model.geom_size.copy()
        first, state = run(simulation)
        simulation.reset()
        assert find_world(simulation).names() == []
        assert np.array_equal(simulation.engine.model.body_mass, constants[0])
        assert np.array_equal(simulation.engine.model.geom_size, constants[1])
        again, repeated = run(simulation)
    assert np.array_equal(state, repeated)
    assert all(np.array_equal(first[key], again[key]) for key in first)
    assert first["shape"].tolist() == [2.0, 0.0, 0.0]
    assert first["size"][:3].tolist() == [0.2, 0.2, 0.2]
    assert first["attached"][0] > 0.0


def test_spare_objects_change_nothing_of_the_robot():
    with bench() as with_objects:
        with_objects.step(500)
        moved = with_objects.engine.data.qpos[:2].copy()
        assert not with_objects.engine.data.qvel[2:].any()
    plain = MujocoEngine(Robot(mujoco.MjSpec.from_string(XML)), check=False)
    plain.step(500)
    assert moved == pytest.approx(plain.data.qpos[:2], abs=1e-13)


def test_objects_bring_their_energy_with_them_and_the_balance_closes():
    def residual(mass):
        with bench(engine=AuditedEngine) as simulation:
            simulation.step(10)
            world = find_world(simulation)
            if mass:
                world.make_sphere(0.1, (1.0, 1.0, 3.0), mass=mass)
            simulation.step(200)
            if mass:
                world.set_pose("sphere1", (1.0, 1.0, 4.0))
            simulation.step(200)
            if mass:
                world.delete("sphere1")
            simulation.step(10)
            balance = simulation.engine.audit.balance()
            assert abs(balance.external) < 1e-9
            return balance.residual

    # Semi-implicit Euler gains m g h v / 2 over a fall, and there are two.
    assert residual(2.0) - residual(0.0) == pytest.approx(2.0 * 2.0 * G * H * (200 * G * H) / 2.0, rel=1e-6)


def test_a_scenario_makes_objects_and_a_recording_holds_them(tmp_path):
    from pliant.events.scenario import Request, Scenario
    from pliant.recording import read_recording

    robot = Robot(mujoco.MjSpec.from_string(XML))
    robot.devices.append(World(objects=2))
    engine = MujocoEngine(robot, check=False)
    with Simulation(engine, make_devices(robot), pacer="free", recorder=tmp_path / "run.mcap") as simulation:
        made = {"radius": 0.1, "position": [1.0, 1.0, 2.0], "name": "ball"}
        events = [
            Request(at=0.1, device="world", request="make_sphere", args=made),
            Request(at=0.3, device="world", request="delete", args={"name": "ball"}),
        ]
        Scenario(events=events).install(simulation)
        simulation.run(0.4)
    recording = read_recording(tmp_path / "run.mcap")
    counts = recording["world/count"]
    assert set(np.asarray(counts).tolist()) == {0.0, 1.0}


@pytest.mark.parametrize(
    ("request_", "arguments", "message"),
    [
        ("make_sphere", {"radius": 0.0}, "radius is 0.0 m"),
        ("make_sphere", {"radius": -1.0}, "radius"),
        ("make_sphere", {"radius": math.nan}, "radius"),
        ("make_sphere", {"radius": "wide"}, "radius"),
        ("make_box", {"width": 1, "height": 1, "thickness": 2e3}, "thickness"),
        ("make_cylinder", {"radius": 0.1, "length": math.inf}, "length"),
        ("make_sphere", {"radius": 0.1, "position": (0, 0)}, "position"),
        ("make_sphere", {"radius": 0.1, "position": (0, 0, math.nan)}, "position"),
        ("make_sphere", {"radius": 0.1, "angles": (0, 0, math.inf)}, "angles"),
        ("make_sphere", {"radius": 0.1, "color": (0, 0, 2)}, "color"),
        ("make_sphere", {"radius": 0.1, "mass": 0.0}, "mass is 0"),
        ("make_sphere", {"radius": 0.1, "mas": 1.0}, "mass"),
        ("make_sphere", {"radius": 0.1, "frame": "hnd"}, "hand"),
        ("make_sphere", {"radius": 0.1, "name": "hand"}, "a link called"),
        ("make_sphere", {"radius": 0.1, "name": "two words"}, "without spaces"),
        ("make_sphere", {"radius": 0.1, "name": "x" * 101}, "100 characters"),
        ("make_sphere", {"radius": 0.1, "name": "ball"}, "called 'ball'"),
        ("pose", {"name": "bal"}, "ball"),
        ("set_pose", {"name": "ball", "position": (0, 0, "up")}, "position"),
        ("attach_object", {"name": "ball", "link": "foot"}, "no link 'foot'"),
        ("attach_object", {"name": "ball", "link": "ball"}, "itself"),
        ("detach_object", {"name": "ball"}, "attached to nothing"),
        ("rename", {"name": "ball", "new_name": "cart"}, "a link called"),
        ("enable_gravity", {"name": "benc"}, "bench"),
        ("tie", {"first": "hand", "second": "hand"}, "itself"),
        ("untie", {"first": "hand"}, "not tied"),
        ("delete", {"name": ""}, "no object"),
        ("load_model", {"file": "absent.sdf"}, "does not exist"),
        ("load_model", {"file": __file__}, "fixed number of bodies"),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(request_, arguments, message):
    with bench() as simulation:
        world = find_world(simulation)
        world.make_sphere(0.1, (1.0, 1.0, 1.0), name="ball")
        before = mujoco_bytes(simulation.engine)
        with pytest.raises(DeviceError, match=message):
            getattr(world, request_)(**arguments)
        assert mujoco_bytes(simulation.engine) == before


def mujoco_bytes(engine):
    buffer = np.zeros(mujoco.mj_sizeModel(engine.model), dtype=np.uint8)
    mujoco.mj_saveModel(engine.model, None, buffer)
    return buffer.tobytes() + engine.save().tobytes()


def test_a_pair_is_tied_once_and_ties_end():
    with bench(ties=1) as simulation:
        world = find_world(simulation)
        world.tie("hand", "cart")
        with pytest.raises(DeviceError, match="tied already"):
            world.tie("cart", "hand")
        with pytest.raises(DeviceError, match="all 1 ties"):
            world.tie("arm", "cart")


def test_an_attached_object_is_not_moved_nor_attached_twice():
    with bench() as simulation:
        world = find_world(simulation)
        world.make_sphere(0.1, (1, 1, 1), name="ball")
        world.attach_object("ball", "hand")
        for refused in (lambda: world.set_pose("ball", (0, 0, 1)), lambda: world.attach_object("ball", "cart")):
            with pytest.raises(DeviceError, match="attached to 'hand'"):
                refused()


def test_a_simulation_without_spare_objects_says_how_to_get_them():
    engine = MujocoEngine(Robot(mujoco.MjSpec.from_string(XML)), check=False)
    with Simulation(engine, [], pacer="free") as simulation, pytest.raises(DeviceError, match="--objects"):
        _ = find_world(simulation)


def test_a_camera_sees_what_is_made_in_its_colour_and_no_longer_what_is_deleted():
    robot = Robot(mujoco.MjSpec.from_string(XML))
    robot.devices.append(World(objects=2))
    robot.devices.append(Camera(name="view", camera="eye", width=64, height=48, rate=100.0))
    engine = MujocoEngine(robot, check=False)
    with Simulation(engine, make_devices(robot), pacer="free") as simulation:

        def red():
            simulation.step(20)
            image = simulation.sample("view").values["image"].astype(int)
            return int(np.count_nonzero((image[..., 0] > 60) & (image[..., 1] < 25) & (image[..., 2] < 25)))

        assert red() == 0
        find_world(simulation).make_sphere(0.5, (0.0, 0.0, 2.0), color=(1.0, 0.0, 0.0), gravity=False, name="ball")
        assert red() > 50
        find_world(simulation).change_color("ball", (0.0, 0.0, 1.0))
        assert red() == 0
        find_world(simulation).change_color("ball", (1.0, 0.0, 0.0))
        assert red() > 50
        find_world(simulation).delete("ball")
        assert red() == 0
