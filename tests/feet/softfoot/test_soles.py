"""The soles: a spring and a damper per area, whatever the inertia of the foot, the solver and the step."""

import mujoco
import pytest
from tests.helpers.softfoot_rigs import press

from pliant.feet.model.soles import fit_soles, measure_soles
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
