"""The soles: a spring and a damper per area, whatever the inertia of the foot, the solver and the step."""

import mujoco
import pytest
from audited import AuditedEngine
from tests.helpers.softfoot_rigs import contacts, press

from pliant.feet.model.soles import fit_soles, hold_soles, measure_soles
from pliant.feet.softfoot import SoftFootOptions, softfoot

DEFAULT = SoftFootOptions()
ONE = {"n_chains": 1, "lump": True}
HEEL_AREA = 0.052 * 0.116
"""Of the heel's box [m^2]."""
MODULE_AREA = 0.020 * 0.011
"""Of the first module of one chain [m^2]."""


@pytest.fixture(scope="module")
def flat():
    return press(300, timestep=2e-3, **ONE)


@pytest.mark.parametrize(
    "options",
    [
        {"n_chains": 5},
        {"n_chains": 3, "lump": True},
        {**ONE, "armature": 1e-5, "timestep": 2e-4},
        {**ONE, "armature": 1e-2, "seconds": 6.0},
        {**ONE, "timestep": 5e-4},
        {**ONE, "sole_damping": 1e5},
    ],
    ids=["five chains", "three", "armature 1e-5", "armature 1e-2", "quarter of the step", "damping"],
)
def test_a_foot_on_flat_ground_stands_the_same_with_any_chains_armature_step_and_damping(options, flat):
    # Asked for were 2 % of the stiffness and 5 % of the load of the heel.
    rest = press(300, **{"timestep": 2e-3, **options})
    assert rest.height == pytest.approx(flat.height, abs=2e-7)
    assert rest.body_force("heel") == pytest.approx(flat.body_force("heel"), rel=1e-3)
    assert rest.body_force("phalanx_1") == pytest.approx(flat.body_force("phalanx_1"), rel=1e-2)


@pytest.mark.parametrize("solver", ["mjSOL_NEWTON", "mjSOL_CG"])
@pytest.mark.parametrize("cone", ["mjCONE_PYRAMIDAL", "mjCONE_ELLIPTIC"])
def test_the_force_of_a_point_is_stiffness_times_penetration(solver, cone, flat):
    model, data = flat.model, mujoco.MjData(flat.model)
    model.opt.solver, model.opt.cone = getattr(mujoco.mjtSolver, solver), getattr(mujoco.mjtCone, cone)
    data.qpos[:], data.qfrc_applied[0] = flat.data.qpos, -300.0
    mujoco.mj_step(model, data, 1000)
    mujoco.mj_forward(model, data)
    area = {"heel": HEEL_AREA / 4.0, "phalanx_1_1": 5.0 * MODULE_AREA / 4.0}
    seen = set()
    force = data.efc_force
    for contact in data.contact:
        name = model.body(model.geom_bodyid[max(contact.geom)]).name
        if name in area and contact.dist < 0.0:
            rows = force[contact.efc_address : contact.efc_address + (1 if "ELL" in cone else 4)]
            assert rows.sum() == pytest.approx(-DEFAULT.sole_stiffness * area[name] * contact.dist, rel=1e-3)
            seen.add(name)
    assert seen == set(area)


@pytest.mark.parametrize("contact", ["box", "skid", "capsule"])
def test_every_shape_of_a_sole_has_the_stiffness_of_its_area(contact):
    laws = measure_soles(softfoot(contact=contact, **ONE).compile())
    points = {"box": 4, "skid": 2, "capsule": 2}[contact]  # of each shape, on flat ground
    for body, area in (("heel", HEEL_AREA), ("phalanx_1_1", 5.0 * MODULE_AREA)):
        shapes = {name: law for name, law in laws.items() if name.startswith(f"{body}_")}
        count = 4 if contact == "skid" and body == "heel" else points
        total = count * sum(law.stiffness for law in shapes.values())
        assert total == pytest.approx(DEFAULT.sole_stiffness * area)
        assert count * sum(law.damping for law in shapes.values()) == pytest.approx(DEFAULT.sole_damping * area)


def test_the_area_grows_with_the_square_of_the_scale():
    small, large = (measure_soles(softfoot(scale=s).compile())["heel_collision"] for s in (1.0, 1.2))
    assert large.stiffness == pytest.approx(1.44 * small.stiffness)


def test_a_bar_under_the_whole_width_carries_the_same_with_any_number_of_chains():
    five, three, one = (
        press(300, timestep=2e-3, bar=(0.02, 0.02), n_chains=n, lump=n < 5).force_on("bar") for n in (5, 3, 1)
    )
    assert three == pytest.approx(five, rel=1e-3)
    assert one == pytest.approx(five, rel=1e-3)


def sliding_foot(timestep=1e-3, ratio=1.0):
    """Return a foot on flat ground whose ankle slides ahead and down, with soles that hold, and the time step."""
    spec = mujoco.MjSpec()
    spec.option.integrator, spec.option.timestep = mujoco.mjtIntegrator.mjINT_IMPLICITFAST, timestep
    spec.option.impratio = ratio
    spec.worldbody.add_geom(name="ground", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[1.0, 1.0, 1.0])
    carriage = spec.worldbody.add_body(name="carriage", pos=[0.0, 0.0, 0.0955], mass=5.0, inertia=[0.1] * 3)
    carriage.explicitinertial = True
    for name, axis in (("ahead", [1.0, 0.0, 0.0]), ("up", [0.0, 0.0, 1.0])):
        carriage.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_SLIDE, axis=axis)
    foot = softfoot(timestep=timestep, coupling="midpoint", tendon="fixed", **ONE)
    laws = measure_soles(foot.copy().compile())
    spec.attach(foot, prefix="foot/", frame=carriage.add_frame())
    hold_soles(spec)
    model = spec.compile()
    fit_soles(model, {f"foot/{name}": law for name, law in laws.items()})
    return model


@pytest.mark.parametrize("timestep", [1e-3, 2e-3])
def test_soles_that_hold_creep_no_faster_than_the_contacts_of_the_release(timestep):
    model = sliding_foot(timestep)
    data = mujoco.MjData(model)
    data.xfrc_applied[model.body("carriage").id, :3] = 30.0, 0.0, -300.0
    mujoco.mj_step(model, data, round(1.5 / timestep))
    creep = float(data.qvel[model.joint("ahead").dofadr[0]])
    points = [model.geom(max(contact.geom)).name for contact in data.contact if contact.dist < 0.0]
    laws = measure_soles(model)
    drag = sum(laws[name].stiffness * timestep + laws[name].damping for name in points)
    assert creep == pytest.approx(30.0 / (10.0 * drag), rel=0.02)
    assert creep < 4e-3


def test_a_robot_keeps_a_larger_ratio_of_friction():
    assert sliding_foot(ratio=50.0).opt.impratio == 50.0
    assert sliding_foot(ratio=1.0).opt.impratio == 10.0


def test_soles_take_energy_in_an_impact_and_the_audit_has_it():
    model = sliding_foot(1e-4)
    engine = AuditedEngine(model)
    engine.data.qpos[model.joint("up").qposadr[0]] = 0.02
    engine.step(3000)
    balance = engine.audit.balance()
    assert balance.constraints > 0.5
    assert balance.relative < 1e-3


def test_the_force_of_an_impact_grows_after_the_first_touch():
    # The force of a damper jumps at the first touch; where the loss factor is above 1 it is largest then.
    model = sliding_foot(1e-5)
    data, up = mujoco.MjData(model), model.joint("up")
    data.qvel[up.dofadr[0]] = -0.8
    force = []
    while data.time < 0.01:
        mujoco.mj_step(model, data)
        force.append(sum(f for _, _, f in contacts(model, data)))
    touch = next(f for f in force if f > 0.0)
    assert 0.0 < touch < 0.5 * max(force)


def test_the_release_has_the_contacts_of_mujoco():
    assert measure_soles(softfoot(release_quirks=True).compile()) == {}


def test_soles_keep_their_law_on_a_heavier_body():
    laws = measure_soles(softfoot(**ONE).compile())
    spec = mujoco.MjSpec()
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    body = spec.worldbody.add_body(name="robot", mass=50.0, inertia=[1.0, 1.0, 1.0])
    body.explicitinertial = True
    body.add_freejoint()
    spec.attach(softfoot(**ONE), prefix="foot/", frame=body.add_frame())
    model = spec.compile()
    # The inertia behind a sole has changed; what was fitted to the foot alone holds no longer.
    assert measure_soles(model)["foot/heel_collision"].stiffness != pytest.approx(laws["heel_collision"].stiffness)
    fit_soles(model, {f"foot/{name}": law for name, law in laws.items()})
    for name, law in measure_soles(model).items():
        assert law.stiffness == pytest.approx(laws[name.removeprefix("foot/")].stiffness)
        assert law.damping == pytest.approx(laws[name.removeprefix("foot/")].damping)
