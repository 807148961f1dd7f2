"""The camera against geometry: where a point appears, how far it is, that runs repeat and nothing is left behind."""

import threading

import mujoco
import numpy as np
import pytest

from pliant.base.errors import DeviceError, MissingDependency
from pliant.base.graphics import APT, choose_backend
from pliant.camera.device import CameraDevice
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.model import Camera, Noise, Robot
from pliant.simulation import Simulation

SCENE = """
<mujoco>
  <option timestep="0.002" gravity="0 0 0"/>
  <visual><headlight ambient="1 1 1" diffuse="0 0 0" specular="0 0 0"/></visual>
  <asset>{sky}</asset>
  <worldbody>
    <camera name="eye" pos="0.1 -0.2 2" fovy="50" resolution="160 120"/>
    <geom name="floor" type="box" size="0.5 0.4 0.1" pos="0.1 -0.2 0" rgba="0 1 0 1"/>
    <body name="dot" pos="0.25 -0.1 0.5"><joint name="slide" type="slide" axis="1 0 0"/>
      <geom type="box" size="0.02 0.02 0.0005" rgba="1 0 0 1" mass="1"/><site name="mark" size="0.2"/></body>
    <geom type="box" size="0.0005 0.02 0.02" pos="0.25 -0.1 0.7" rgba="0 0 1 1"/>
    <body name="mast" pos="-3 0 0"/>
  </worldbody>
</mujoco>
"""
SKY = '<texture type="skybox" builtin="flat" rgb1="0 0 1" rgb2="0 0 1" width="16" height="16"/>'


@pytest.fixture(scope="module", autouse=True)
def graphics():
    """Skip where nothing can render."""
    described = Camera(name="probe", camera="eye", width=8, height=8)
    try:
        with camera_of(described):
            pass
    except MissingDependency as error:
        pytest.skip(f"no graphics library: {error}")


def robot_with(*described, sky=""):
    robot = Robot(mujoco.MjSpec.from_string(SCENE.format(sky=sky)))
    robot.devices = list(described)
    return robot


class camera_of:
    """An engine and the attached, reset device of a description; closed at the end."""

    def __init__(self, described, seed=0, sky="", **options):
        self.robot = robot_with(described, sky=sky)
        self.engine = MujocoEngine(self.robot, check=False)
        self.device = CameraDevice(described, self.robot, **options)
        self.seed = seed

    def __enter__(self):
        self.device.attach(self.engine)
        self.device.reset(np.random.default_rng(self.seed))
        return self.engine, self.device

    def __exit__(self, *_):
        self.device.close()


def spot(image, channel=0):
    """Centre of the pixels of one colour, red, green or blue: (column, row)."""
    others = [k for k in range(3) if k != channel]
    where = np.argwhere((image[..., channel] > 128) & (image[..., others] < 64).all(axis=-1))
    assert len(where), "nothing has the colour"
    return where.mean(axis=0)[::-1]


EYE = {"camera": "eye", "width": 160, "height": 120, "near": 0.1, "far": 10.0}


# ---------------------------------------------------------------------------- geometry
def test_a_known_point_appears_where_the_camera_matrix_puts_it():
    # The camera looks down from z = 2: optical x is the world's, y the world's -y, z downwards.
    with camera_of(Camera(name="eye", **EYE)) as (engine, device):
        focal = 60.0 / np.tan(np.radians(25.0))
        np.testing.assert_allclose(device.camera.K, [[focal, 0, 79.5], [0, focal, 59.5], [0, 0, 1]], rtol=1e-12)
        for slide in (0.0, -0.3, 0.1):
            engine.port("slide/position")[0] = slide
            image = device.read(0).values["image"]
            expected = device.camera.project([[0.15 + slide, -0.1, 1.4995]])[0]
            np.testing.assert_allclose(spot(image), expected, atol=0.6)


def test_a_camera_placed_by_its_optical_frame_looks_along_z_with_y_down():
    # z forward is the world's x, x right is the world's -y, y down is the world's -z.
    quat = (0.5, -0.5, 0.5, -0.5)
    described = Camera(name="side", body="mast", pos=(0, 0, 0.5), quat=quat, fovy=20, width=200, height=100)
    with camera_of(described) as (_, device):
        expected = device.camera.project([[0.1, -0.2, 3.25 - 0.0005]])[0]
        np.testing.assert_allclose(spot(device.read(0).values["image"], channel=2), expected, atol=0.6)
        assert device.frame == "side_optical_frame"
        body, pos, turn = device.mount.body, device.mount.position, device.mount.orientation
        assert (body, pos) == ("mast", (0.0, 0.0, 0.5))
        np.testing.assert_allclose(np.abs(np.dot(turn, quat)), 1.0, atol=1e-12)


@pytest.mark.parametrize("sky", ["", SKY])
def test_depth_is_the_distance_along_the_axis_and_infinite_where_nothing_is(sky):
    with camera_of(Camera(name="eye", depth=True, **EYE), sky=sky) as (_, device):
        values = device.read(0).values
        depth, lens = values["depth"], device.camera
        assert (depth.dtype, depth.shape) == (np.float32, (120, 160))
        column, row = np.round(lens.project([[-0.3, 0.2, 1.9]])[0]).astype(int)
        np.testing.assert_allclose(depth[row, column], 1.9, rtol=1e-4)  # the same across the plane, not along the ray
        column, row = np.round(lens.project([[0.15, -0.1, 1.4995]])[0]).astype(int)
        np.testing.assert_allclose(depth[row, column], 1.4995, rtol=1e-4)
        assert np.isposinf(depth[0, 0])
        corner = values["image"][0, 0]
        assert corner.tolist() == ([0, 0, 255] if sky else [0, 0, 0])


def test_what_is_beyond_far_or_before_near_is_not_seen():
    with camera_of(Camera(name="eye", camera="eye", width=160, height=120, depth=True, near=0.1, far=1.6)) as (_, eye):
        depth = eye.read(0).values["depth"]
        assert np.nanmax(depth[np.isfinite(depth)]) <= 1.6
        np.testing.assert_allclose(depth[51, 92], 1.4995, rtol=1e-3)
    with camera_of(Camera(name="eye", camera="eye", width=160, height=120, depth=True, near=1.7, far=9.0)) as (_, eye):
        depth = eye.read(0).values["depth"]
        np.testing.assert_allclose(depth[np.isfinite(depth)], 1.9, rtol=1e-3)


def test_depth_alone_and_colour_alone():
    with camera_of(Camera(name="eye", color=False, depth=True, **EYE)) as (_, device):
        assert list(device.read(0).values) == ["depth"] == list(device.samples)
    with camera_of(Camera(name="eye", **EYE)) as (_, device):
        sample = device.read(0)
        assert list(sample.values) == ["image"] == list(device.samples)
        assert (sample.values["image"].shape, sample.values["image"].dtype) == ((120, 160, 3), np.uint8)
        assert not sample.values["image"].flags.writeable


def test_a_size_above_the_models_own_buffer_is_rendered():
    with camera_of(Camera(name="eye", camera="eye", width=1200, height=900)) as (engine, device):
        assert device.read(0).values["image"].shape == (900, 1200, 3)
        assert engine.model.vis.global_.offwidth == 640


# ---------------------------------------------------------------------------- time
def test_a_picture_shows_the_state_of_its_stamp_whatever_the_latency():
    described = Camera(name="eye", rate=100, **EYE)
    robot = robot_with(described)

    def run(latency):
        engine = MujocoEngine(robot, check=False)
        device = CameraDevice(described, robot, latency=latency)
        taken = {}
        with Simulation(engine, [device], pacer="free") as simulation:
            simulation.at(0.0, lambda s: s.engine.port("slide/velocity").__setitem__(0, -1.0))
            for _ in range(12):
                simulation.run(0.01)
                sample = simulation.sample("eye")
                taken[sample.stamp_ns] = sample.values["image"]
        return taken

    prompt, late = run(0.0), run(0.025)
    assert max(prompt) == 120_000_000
    assert max(late) == 90_000_000
    for stamp in late:
        np.testing.assert_array_equal(late[stamp], prompt[stamp])
    columns = [spot(prompt[stamp])[0] for stamp in sorted(prompt)]
    focal = 60.0 / np.tan(np.radians(25.0))
    np.testing.assert_allclose(np.diff(columns).mean(), -focal * 0.01 / 1.4995, rtol=0.1)


def test_equal_seeds_give_equal_pictures():
    described = Camera(name="eye", noise=Noise(std=8.0, bias=5.0), depth=True, depth_noise=Noise(std=0.01), **EYE)

    def pictures(seed):
        with camera_of(described, seed=seed) as (_, device):
            samples = [device.read(i) for i in range(3)]
            device.reset(np.random.default_rng(seed))
            again = [device.read(i) for i in range(3)]
        for first, second in zip(samples, again, strict=True):
            np.testing.assert_array_equal(first.values["image"], second.values["image"])
        return samples

    one, two, other = pictures(1), pictures(1), pictures(2)
    for key in ("image", "depth"):
        np.testing.assert_array_equal(one[2].values[key], two[2].values[key])
        assert not np.array_equal(one[2].values[key], other[2].values[key])
        assert not np.array_equal(one[0].values[key], one[1].values[key])
    with camera_of(Camera(name="eye", depth=True, **EYE)) as (_, device):
        exact = device.read(0).values
    seen = np.isfinite(exact["depth"])
    error = one[0].values["depth"][seen] - exact["depth"][seen]
    assert error.std() == pytest.approx(0.01, rel=0.1)
    assert np.isposinf(one[0].values["depth"][~seen]).all()
    lit = one[0].values["image"][..., 1][exact["image"][..., 1] == 255]
    assert lit.size > 1000
    assert 2.0 < lit.std() < 8.0  # of the noise, the half above 255 is cut


# ---------------------------------------------------------------------------- life
def threads():
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("camera-")]


def test_the_simulation_closes_the_camera_and_another_may_use_it():
    described = Camera(name="eye", rate=50, **EYE)
    robot = robot_with(described)
    engine = MujocoEngine(robot, check=False)
    (device,) = make_devices(robot)
    for _ in range(2):
        with Simulation(engine, [device], pacer="free") as simulation:
            assert threads() == ["camera-eye"]
            simulation.run(0.05)
            assert simulation.health()["devices"]["eye"]["samples"] == 2
        assert threads() == []
    with pytest.raises(DeviceError, match="eye: the camera is closed"):
        device.read(0)


def test_another_thread_may_run_the_simulation():
    described = Camera(name="eye", rate=50, **EYE)
    robot = robot_with(described)
    seen = []
    with Simulation(MujocoEngine(robot, check=False), make_devices(robot), pacer="free") as simulation:

        def run():
            simulation.run(0.04)
            seen.append(simulation.sample("eye").values["image"])

        simulation.run(0.04)
        first = simulation.sample("eye").values["image"]
        thread = threading.Thread(target=run)
        thread.start()
        thread.join(60)
    np.testing.assert_array_equal(seen[0], first)


def test_a_forgotten_camera_ends_its_thread():
    described = Camera(name="eye", **EYE)
    robot = robot_with(described)
    device = CameraDevice(described, robot)
    device.attach(MujocoEngine(robot, check=False))
    assert threads() == ["camera-eye"]
    del device
    assert threads() == []


def test_two_cameras_do_not_disturb_each_other():
    described = [
        Camera(name="eye", rate=50, **EYE),
        Camera(name="wide", body="world", pos=(0.1, -0.2, 2), quat=(0, 1, 0, 0), fovy=50, width=160, height=120),
    ]
    robot = robot_with(*described)
    with Simulation(MujocoEngine(robot, check=False), make_devices(robot), pacer="free") as simulation:
        simulation.run(0.1)
        first, second = (simulation.sample(name).values["image"] for name in ("eye", "wide"))
    np.testing.assert_array_equal(first, second)


# ---------------------------------------------------------------------------- wrong things
def test_a_missing_graphics_library_is_told_with_the_command(monkeypatch):
    for name in ("MUJOCO_GL", "PYOPENGL_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr("pliant.base.graphics._loadable", lambda names: False)
    with pytest.raises(MissingDependency, match=f"camera 'eye' .*--set eye.enabled=false.*Type: {APT}"):
        camera_of(Camera(name="eye", **EYE)).__enter__()
    assert threads() == []


def test_a_driver_that_does_not_start_is_told_with_its_reason(monkeypatch):
    def fail(*_):
        raise mujoco.FatalError("no valid OpenGL context")

    monkeypatch.setattr(mujoco, "MjrContext", fail)
    message = r"camera 'eye' .*needs a graphics library that works \(\w+: FatalError: no valid OpenGL context\)"
    with pytest.raises(MissingDependency, match=message):
        camera_of(Camera(name="eye", **EYE)).__enter__()
    assert threads() == []


def test_the_library_is_egl_then_osmesa_unless_asked_otherwise(monkeypatch):
    for name in ("MUJOCO_GL", "PYOPENGL_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    there = {"libEGL.so.1", "libOSMesa.so.8"}
    monkeypatch.setattr("pliant.base.graphics._loadable", lambda names: bool(there & set(names)))
    assert choose_backend() == "egl"
    there.remove("libEGL.so.1")
    assert choose_backend() == "osmesa"
    monkeypatch.setenv("MUJOCO_GL", "egl")
    assert choose_backend() == "egl"
    monkeypatch.setenv("MUJOCO_GL", "off")
    with pytest.raises(DeviceError, match="MUJOCO_GL is 'off', which forbids it"):
        choose_backend()
    monkeypatch.setenv("MUJOCO_GL", "vulkan")
    with pytest.raises(DeviceError, match="MUJOCO_GL is 'vulkan'; unset it, or use egl, osmesa"):
        choose_backend()


def test_what_the_driver_raises_ends_the_run_with_the_cameras_name():
    class Broken:
        state_spec = 0

        def render(self, state, **_):
            raise RuntimeError("the context is lost")

    with camera_of(Camera(name="eye", **EYE)) as (_, device):
        submit = device._thread.submit
        device._thread.submit = lambda job: submit(lambda renderer: job(Broken()))
        with pytest.raises(DeviceError, match="eye: the picture cannot be rendered: RuntimeError: the context is lost"):
            device.read(0)


def test_a_camera_that_the_model_does_not_have_is_refused():
    robot = robot_with()
    device = CameraDevice(Camera(name="far", body="world"), robot)
    with pytest.raises(DeviceError, match="the model has no camera 'far/camera'; was it described"):
        device.attach(MujocoEngine(robot, check=False))
    assert threads() == []


def test_an_engine_without_a_model_is_refused():
    from fake_engine import SpringMassEngine

    device = CameraDevice(Camera(name="eye", **EYE), robot_with())
    with pytest.raises(
        DeviceError, match="camera 'eye' needs MuJoCo's model and data, which SpringMassEngine does not"
    ):
        device.attach(SpringMassEngine(1, dt=0.002))


# ---------------------------------------------------------------------------- the lens and the sensor behind it
BARREL = (-0.28, 0.07, 0.001, -0.002, 0.0)
PINCUSHION = (0.25, -0.05, -0.001, 0.001, 0.01)
WIDE = {"camera": "eye", "width": 320, "height": 240, "near": 0.1, "far": 10.0}


@pytest.mark.parametrize("distortion", [(), BARREL, PINCUSHION])
@pytest.mark.parametrize("lens", [{}, {"focal": (180.0, 210.0), "principal": (140.0, 131.5)}])
def test_a_point_appears_where_focal_lengths_principal_point_and_distortion_put_it(lens, distortion):
    with camera_of(Camera(name="eye", distortion=distortion, **lens, **WIDE)) as (engine, device):
        camera = device.camera
        assert camera.distortion.tolist() == [*distortion, *[0.0] * (5 - len(distortion))]
        if lens:
            assert (camera.fx, camera.fy, camera.cx, camera.cy) == (180.0, 210.0, 140.0, 131.5)
        for slide in (-0.6, -0.3, 0.0, 0.2):
            engine.port("slide/position")[0] = slide
            # The outline of the square, projected: its middle differs from the projection of the middle.
            edge = np.linspace(-0.02, 0.02, 9)
            x, y = (grid.ravel() for grid in np.meshgrid(0.15 + slide + edge, -0.1 + edge))
            expected = camera.project(np.column_stack([x, y, np.full(x.size, 1.4995)])).mean(axis=0)
            np.testing.assert_allclose(spot(device.read(0).values["image"]), expected, atol=0.6)


@pytest.mark.parametrize("distortion", [BARREL, PINCUSHION])
def test_distances_are_those_of_the_surface_that_the_pixel_sees_through_the_lens(distortion):
    with camera_of(Camera(name="eye", depth=True, distortion=distortion, **WIDE)) as (_, device):
        depth, camera = device.read(0).values["depth"], device.camera
        column, row = np.meshgrid(np.arange(320.0), np.arange(240.0))
        xy = camera.normalized(np.stack([column.ravel(), row.ravel()], axis=1)).reshape(240, 320, 2)
        # The floor is a plane at 1.9 m, 1 m by 0.8 m; the two small boxes and its edges are left out.
        floor = (np.abs(xy[..., 0] * 1.9) < 0.45) & (np.abs(xy[..., 1] * 1.9) < 0.35)
        boxes = (np.abs(xy[..., 0] - 0.1) < 0.05) & (np.abs(xy[..., 1] + 0.07) < 0.06)
        assert np.abs(depth[floor & ~boxes] - 1.9).max() < 1e-4
        assert np.isinf(depth[np.abs(xy[..., 1] * 1.9) > 0.43]).all()


@pytest.mark.parametrize("distortion", [(), BARREL])
def test_segmentation_names_the_object_of_each_pixel(distortion):
    described = Camera(name="eye", color=False, segmentation=True, distortion=distortion, **WIDE)
    with camera_of(described, sky=SKY) as (engine, device):
        labels = device.read(0).values["segmentation"]
        assert (labels.dtype, labels.shape) == (np.int32, (240, 320, 2))
        model = engine.model
        geom = int(mujoco.mjtObj.mjOBJ_GEOM)
        dot = int(model.body("dot").geomadr[0])
        column, row = np.round(device.camera.project([[-0.3, 0.2, 1.9], [0.15, -0.1, 1.4995]])).astype(int).T
        assert labels[row, column].tolist() == [[model.geom("floor").id, geom], [dot, geom]]
        assert labels[0, 0].tolist() == [-1, -1]
        assert set(np.unique(labels[..., 1])) == {-1, geom}


def test_exposure_scales_the_colours_up_to_white():
    with camera_of(Camera(name="eye", **EYE)) as (_, device):
        plain = device.read(0).values["image"].astype(int)
    for gain in (0.5, 3.0):
        with camera_of(Camera(name="eye", exposure=gain, **EYE)) as (_, device):
            image = device.read(0).values["image"]
        np.testing.assert_array_equal(image, np.minimum(np.rint(plain * gain), 255))


def test_what_moves_is_smeared_over_its_way_during_the_exposure_and_what_rests_is_not():
    described = Camera(name="eye", exposure_time=0.05, exposure_samples=11, **EYE)
    with camera_of(described) as (engine, device), camera_of(Camera(name="eye", **EYE)) as (_, sharp):
        still = sharp.read(0).values["image"]
        np.testing.assert_array_equal(device.read(0).values["image"], still)
        engine.port("slide/velocity")[0] = 4.0
        image = device.read(0).values["image"]
        red = np.flatnonzero((image[..., 0].astype(int) - still[..., 0] > 10).any(axis=0))
        # It came 0.2 m from the left: at 1.4995 m that is this many pixels beside the square where it stands now.
        way = 0.2 * device.camera.fx / 1.4995
        left = device.camera.project([[0.13, -0.1, 1.4995]])[0, 0]
        assert abs((left - red.min()) - way) < 1.5
        assert red.max() < left + 1.0


def test_blur_spreads_a_point_to_a_gaussian_of_its_width_and_keeps_the_light():
    from pliant.camera.lens import gaussian_blur

    image = np.zeros((61, 81, 3), dtype=np.uint8)
    image[28:33, 38:43] = 250
    for sigma in (1.5, 4.0):
        out = gaussian_blur(image, sigma)[..., 0].astype(float)
        column = np.arange(81) - 40.0
        spread = np.sqrt((out.sum(axis=0) * column**2).sum() / out.sum() - 2.0)  # a square of 5 pixels has 2
        assert abs(spread - sigma) < 0.15 * sigma
        assert abs(out.sum() / image[..., 0].sum() - 1.0) < 0.1


def test_a_camera_with_all_of_it_repeats_bit_by_bit_and_with_a_latency():
    options = {"distortion": BARREL, "blur": 1.0, "exposure": 1.3, "exposure_time": 0.01, "exposure_samples": 3}
    described = Camera(name="eye", depth=True, segmentation=True, noise=Noise(std=3.0), rate=50, **options, **EYE)
    runs = []
    for latency in (0.0, 0.04):
        robot = robot_with(
            described if not latency else type(described)(**{**fields_of(described), "latency": latency})
        )
        with Simulation(MujocoEngine(robot, check=False), make_devices(robot), seed=3) as simulation:
            simulation.start()
            simulation.engine.port("slide/velocity")[0] = 1.0
            pictures = {}
            for _ in range(10):
                simulation.step(10)
                sample = simulation.sample("eye")
                pictures[sample.stamp_ns] = sample.values
            runs.append(pictures)
    shared = sorted(set(runs[0]) & set(runs[1]))
    assert len(shared) >= 3
    for stamp in shared:
        for key in ("image", "depth", "segmentation"):
            np.testing.assert_array_equal(runs[0][stamp][key], runs[1][stamp][key])


def fields_of(described):
    return {name: getattr(described, name) for name in described.__dataclass_fields__}


def test_a_distortion_that_folds_within_the_image_is_refused():
    robot = robot_with(Camera(name="eye", distortion=(-2.0,), **WIDE))
    device = CameraDevice(robot.devices[0], robot)
    with pytest.raises(DeviceError, match=r"k1 -2.*folds within the image, whose corner is 0\.774 focal lengths"):
        device.attach(MujocoEngine(robot, check=False))
    device.close()
