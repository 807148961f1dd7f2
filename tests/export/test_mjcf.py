"""Robots as MJCF: plain MuJoCo loads the file and computes what pliant computes."""

import ctypes
import struct
import threading
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
from catalogue import robot_or_skip
from daily import robots_by_day

from pliant import load
from pliant.base.errors import ModelError
from pliant.devices import make_devices
from pliant.engine import MujocoEngine, callbacks, install
from pliant.engine.abi import library
from pliant.export.mjcf import _locate_files, describe_mjcf
from pliant.model import Robot
from pliant.robots import list_robots

CONTACT_FIELDS = [f"geom_{name}" for name in (
    "type", "contype", "conaffinity", "condim", "priority", "solmix", "solref", "solimp", "size", "friction", "margin",
    "gap", "pos", "quat",
)]  # fmt: skip
ALL = [robot.name for robot in list_robots()]


def read(text):
    return mujoco.MjModel.from_xml_string(text)


def mass_matrix(model):
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("rest").id)
    mujoco.mj_forward(model, data)
    full = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, full)
    return full


def passive_motion(model, seconds):
    """Positions along a motion from the key frame with random speeds, without any command."""
    # Contacts amplify the last digit of a number; what they depend on is compared by itself.
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("rest").id)
    data.qvel[:] = np.random.default_rng(3).uniform(-0.2, 0.2, model.nv)
    out = []
    while data.time < seconds:
        mujoco.mj_step(model, data)
        out.append(data.qpos.copy())
    assert np.isfinite(out).all()
    return np.array(out)


@pytest.fixture
def bare():
    """MuJoCo as a program has it that never heard of pliant."""
    symbols = ("mjcb_act_dyn", "mjcb_act_bias")
    slots = [ctypes.c_void_p.in_dll(library(), symbol) for symbol in symbols]
    before = [slot.value for slot in slots]
    for slot in slots:
        slot.value = None
    yield
    for slot, value in zip(slots, before):
        slot.value = value


@pytest.mark.parametrize("name", robots_by_day(ALL))
def test_plain_mujoco_computes_the_same_from_the_file_of_every_catalogue_robot(name, bare):
    robot = robot_or_skip(name)
    model = robot.compile()
    other = read(describe_mjcf(robot).text)
    assert not callbacks.installed()
    assert other.body_mass.sum() == pytest.approx(model.body_mass.sum(), rel=1e-12)
    M = mass_matrix(model)
    assert np.abs(mass_matrix(other) - M).max() <= 1e-9 * np.abs(M).max()
    for field in CONTACT_FIELDS:
        assert getattr(other, field) == pytest.approx(getattr(model, field), rel=1e-12, abs=1e-12)
    moved = passive_motion(model, 1.0)
    assert np.abs(moved - moved[0]).max() > 1e-3
    # Axial springs of 1e7 N/m make the solver's last digits visible: 4e-8 of the 6EFR.
    stiff = any(model.joint(j).name.endswith("/stretch") for j in range(model.njnt))
    assert np.abs(passive_motion(other, 1.0) - moved).max() < (1e-7 if stiff else 1e-8)


@pytest.mark.parametrize("name", ["qbmove-2dof", "sea-1dof", "awas2-1dof"])
def test_an_arm_moves_from_its_file_as_in_pliant_once_the_laws_are_installed(name, bare):
    robot = robot_or_skip(name)
    export = describe_mjcf(robot)
    model = read(export.text)
    limp = passive_motion(model, 0.5)
    engine = MujocoEngine(robot)
    engine.data.qvel[:] = np.random.default_rng(3).uniform(-0.2, 0.2, engine.model.nv)
    own = []
    while engine.data.time < 0.5:
        engine.step(1)
        own.append(engine.data.qpos.copy())
    install(model)
    assert np.abs(passive_motion(model, 0.5) - own).max() < 1e-9
    assert np.abs(limp - own).max() > 1e-3
    (warning,) = export.warnings
    assert "pliant.engine.install(model)" in warning
    assert f"<!-- warning: {warning} -->" in export.text


def test_a_robot_without_compliant_actuators_has_nothing_to_warn_of():
    export = describe_mjcf(robot_or_skip("2PR"))
    assert export.warnings == ()
    assert "<!--" not in export.text


def test_a_file_for_programs_of_mujoco_is_refused_as_a_robot_with_the_remedy(tmp_path):
    (tmp_path / "out.xml").write_text(describe_mjcf(load("sea-1dof")).text)
    with pytest.raises(
        ModelError, match=r"out.xml: actuator 'joint' has biastype user: .* `pliant export urdf` writes"
    ):
        make_devices(load(tmp_path / "out.xml"))


def test_the_inertia_of_a_body_of_python_is_written_where_mujoco_has_it():
    spec = mujoco.MjSpec()
    body = spec.worldbody.add_body(name="arm", pos=[0.2, 0.1, 0.0], mass=2.0, inertia=[0.1, 0.1, 0.1])
    body.explicitinertial = True
    body.add_joint(name="hinge")
    body.add_geom(size=[0.1, 0.0, 0.0])
    from pliant.model import Robot

    robot = Robot(spec)
    model, other = robot.compile(), read(describe_mjcf(robot).text)
    assert other.body_mass[1] == 2.0
    assert other.body_ipos[1] == pytest.approx(model.body_ipos[1])
    assert mass_matrix(other) == pytest.approx(mass_matrix(model), rel=1e-12)


def test_numbers_have_fifteen_digits_and_the_setting_of_mujoco_is_left_as_it_was(tmp_path):
    before = library()._mjPRIVATE__get_xml_precision()
    file = tmp_path / "third.xml"
    file.write_text(
        '<mujoco><worldbody><body pos="0 0 0.333333333333333"><joint/><geom size="0.1"/></body></worldbody></mujoco>'
    )
    robot = load(file)
    texts = []
    threads = [threading.Thread(target=lambda: texts.append(describe_mjcf(robot).text)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(texts) == 4
    assert all("0.333333333333333" in text for text in texts)
    assert library()._mjPRIVATE__get_xml_precision() == before


def test_names_with_two_hyphens_do_not_end_the_comment(tmp_path):
    file = tmp_path / "arm.yaml"
    (tmp_path / "arm.xml").write_text(
        '<mujoco><worldbody><body><joint name="a-->b"/><geom size="0.1"/></body></worldbody></mujoco>'
    )
    file.write_text("model: arm.xml\nactuators:\n  'a-->b': {law: sea, mode: 2}\n")
    text = describe_mjcf(load(file)).text
    assert read(text).njnt == 1
    (tmp_path / "out.xml").write_text(text)
    assert load(tmp_path / "out.xml").joints == ["a-->b"]


def tetrahedron():
    corners = 0.1 * np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    rows = b"".join(struct.pack("<12fH", 0, 0, 0, *corners[list(f)].ravel(), 0) for f in faces)
    return bytes(80) + struct.pack("<I", len(faces)) + rows


def test_meshes_are_named_by_their_full_path(tmp_path):
    (tmp_path / "robot" / "meshes").mkdir(parents=True)
    (tmp_path / "robot" / "meshes" / "hull.stl").write_bytes(tetrahedron())
    file = tmp_path / "robot" / "boat.xml"
    file.write_text(
        '<mujoco><compiler meshdir="meshes"/><asset><mesh name="hull" file="hull.stl"/></asset>'
        '<worldbody><body><joint/><geom type="mesh" mesh="hull"/></body></worldbody></mujoco>'
    )
    robot = load(file)
    export = describe_mjcf(robot)
    (tmp_path / "out.xml").write_text(export.text)
    assert mass_matrix(mujoco.MjModel.from_xml_path(str(tmp_path / "out.xml"))) == pytest.approx(
        mass_matrix(robot.compile()), rel=1e-12
    )
    assert export.warnings == ()


def test_sensors_are_named_of_which_the_file_has_a_part_or_nothing(tmp_path):
    (tmp_path / "arm.xml").write_text(
        '<mujoco><worldbody><body name="arm"><joint name="j"/><geom size="0.1"/></body></worldbody></mujoco>'
    )
    (tmp_path / "arm.yaml").write_text(
        "model: arm.xml\nsensors:\n"
        "  imu: {kind: imu, body: arm, rate: 100}\n  cam: {kind: camera, body: arm}\n"
        "  scan: {kind: laser, body: arm}\n  off: {kind: imu, body: arm, enabled: false}\n"
    )
    export = describe_mjcf(load(tmp_path / "arm.yaml"))
    assert export.warnings == ()
    kept, lost = export.notes
    assert kept.startswith("the sensors 'imu', 'cam' are MuJoCo's in this file: without the rate, noise and delay")
    assert lost.startswith("the sensors 'scan', 'off' are left out")


def test_meshes_of_a_urdf_are_written_beside_the_file(tmp_path):
    links = ""
    for place, size in (("visual", 1.0), ("collision", 2.0)):  # two files of one name
        (tmp_path / "boat" / place).mkdir(parents=True)
        (tmp_path / "boat" / place / "hull.stl").write_bytes(tetrahedron())
        mesh = f'<mesh filename="package://boat/{place}/hull.stl" scale="{size} {size} {size}"/>'
        links += f"<{place}><geometry>{mesh}</geometry></{place}>"
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    file = tmp_path / "boat" / "boat.urdf"
    file.write_text(f'<robot name="boat"><link name="hull">{inertial}{links}</link></robot>')
    robot = load(file)
    export = describe_mjcf(robot)
    assert export.warnings == ()
    assert sorted(export.meshes) == ["meshes/collision_hull.stl", "meshes/hull.stl"]
    written = export.write(tmp_path / "out.xml")
    assert [path.name for path in written] == ["out.xml", *[Path(name).name for name in export.meshes]]
    model, own = mujoco.MjModel.from_xml_path(str(tmp_path / "out.xml")), robot.compile()
    assert model.nmesh == own.nmesh == 2
    np.testing.assert_allclose(model.mesh_vert, own.mesh_vert, rtol=1e-6)
    np.testing.assert_allclose(model.geom_pos, own.geom_pos, atol=1e-12)
    with pytest.raises(ModelError, match="the file exists"):
        replace(export, text="other").write(tmp_path / "out.xml")


@pytest.mark.parametrize(
    ("file", "folder", "asset"),
    [("hull.stl", "", "hull.stl"), ("hull.stl", "m", "hull.stl"), ("hull.stl", "m", "m/hull.stl"),
     ("m/hull.stl", "", "hull.stl"), ("m/hull.stl", "", "m/hull.stl")],
)  # fmt: skip
def test_meshes_in_memory_are_written_beside_the_file(file, folder, asset, tmp_path):
    text = (
        f'<mujoco><compiler meshdir="{folder}"/><asset><mesh name="hull" file="{file}"/></asset>'
        '<worldbody><body><joint/><geom type="mesh" mesh="hull"/></body></worldbody></mujoco>'
    )
    robot = Robot(mujoco.MjSpec.from_string(text, assets={asset: tetrahedron()}))
    export = describe_mjcf(robot)
    assert export.warnings == ()
    export.write(tmp_path / "out.xml")
    assert mujoco.MjModel.from_xml_path(str(tmp_path / "out.xml")).nmesh == 1


def test_meshes_that_are_not_found_are_named():
    spec = mujoco.MjSpec()
    spec.add_mesh(name="hull", file="hull.stl")
    assert _locate_files(spec) == ({}, ["the files 'hull.stl' are not part of the MJCF: copy them beside it"])


@pytest.mark.parametrize("flag", ["", '<flag gravity="disable"/>'])
@pytest.mark.parametrize("integrator", ["Euler", "implicit", "implicitfast", "RK4"])
@pytest.mark.parametrize("timestep", [0.001, 0.002, 0.004])
def test_time_step_and_integrator_are_named_also_where_they_are_the_defaults_of_mujoco(
    timestep, integrator, flag, tmp_path
):
    option = f'<option timestep="{timestep}" integrator="{integrator}">{flag}</option>'
    body = '<body><joint name="j"/><geom size="0.1"/></body>'
    (tmp_path / "a.xml").write_text(f"<mujoco>{option}<worldbody>{body}</worldbody></mujoco>")
    robot = load(tmp_path / "a.xml")
    text = describe_mjcf(robot).text
    (tmp_path / "b.xml").write_text(text)
    for again in (load(tmp_path / "b.xml").compile(), mujoco.MjModel.from_xml_string(text)):
        assert again.opt.timestep == timestep
        assert again.opt.integrator == robot.compile().opt.integrator
        assert again.opt.disableflags == robot.compile().opt.disableflags


@pytest.mark.parametrize("native", [False, True])
def test_key_frames_without_a_name_are_written(native, tmp_path):
    keys = '<key qpos="0.1"/><key name="up" qpos="0.2"/><key qpos="0.3" time="2"/>'
    body = '<body><joint name="j"/><geom size="0.1"/></body>'
    (tmp_path / "a.xml").write_text(f"<mujoco><worldbody>{body}</worldbody><keyframe>{keys}</keyframe></mujoco>")
    (tmp_path / "a.yaml").write_text("model: a.xml\nactuators: {j: {law: sea, mode: 0}}\n")
    for source, command in (("a.xml", False), ("a.yaml", native)):
        model = mujoco.MjModel.from_xml_string(describe_mjcf(load(tmp_path / source), native=command).text)
        found = sorted((model.key(k).name, model.key_qpos[k, 0], model.key_time[k]) for k in range(model.nkey))
        assert found == [("", 0.1, 0.0), ("", 0.3, 2.0), ("rest", 0.0, 0.0), ("up", 0.2, 0.0)]


def test_skins_are_named_by_their_full_path(tmp_path):
    bone = struct.pack("<40s7fi3i3f", b"hand", 0, 0, 0, 1, 0, 0, 0, 3, 0, 1, 2, 1, 1, 1)
    skin = struct.pack("<4i9f3i", 3, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 2) + bone
    (tmp_path / "robot" / "assets").mkdir(parents=True)
    (tmp_path / "robot" / "assets" / "glove.skn").write_bytes(skin)
    text = '<compiler meshdir="assets"/><asset><skin name="glove" file="glove.skn"/></asset>'
    body = '<body name="hand"><joint/><geom size="0.1"/></body>'
    (tmp_path / "robot" / "hand.xml").write_text(f"<mujoco>{text}<worldbody>{body}</worldbody></mujoco>")
    (tmp_path / "out.xml").write_text(describe_mjcf(load(tmp_path / "robot" / "hand.xml")).text)
    assert mujoco.MjModel.from_xml_path(str(tmp_path / "out.xml")).skin("glove").vertnum[0] == 3
