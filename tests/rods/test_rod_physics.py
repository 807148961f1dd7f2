"""One rod against analytic truth: cantilever, elastica, Euler's column, combined load, order of convergence."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ellipeinc, ellipk, ellipkinc

from pliant.base.spatial import exp_so3, pose
from pliant.rods import (
    BaseJoint,
    ContinuumParallelRobot,
    DistalJoint,
    GivenStiffness,
    Limb,
    Plate,
    Rectangular,
    RobotDescription,
    Rod,
    Round,
)

E, G, r, L = 200e9, 80e9, 1e-3, 1.0
A, I = np.pi * r**2, np.pi * r**4 / 4
EI = E * I


def steel(**changes):
    values = {"length": L, "section": Round(radius=r), "density": 0.0, "young_modulus": E, "shear_modulus": G}
    return Rod(**{**values, **changes})


def cantilever(rod, *, gravity=(0.0, 0.0, 0.0), base=None, mass=0.0):
    """A rod clamped at its base with a weightless plate at its tip, tangent along world z."""
    limb = Limb(rod=rod, base=np.eye(4) if base is None else base, distal=DistalJoint(kind="fixed"))
    home = (np.eye(4) if base is None else base) @ pose((0, 0, rod.length))
    return ContinuumParallelRobot(
        RobotDescription(name="cantilever", limbs=(limb,), gravity=gravity, home=home, plate=Plate(mass=mass))
    )


def test_small_tip_force_bends_by_F_L3_over_3EI_plus_shear():
    F = 1e-4
    tip = cantilever(steel()).solve_dgm([], (F, 0, 0, 0, 0, 0)).plate_pose[:3, 3]
    assert tip[0] == pytest.approx(F * L**3 / (3 * EI) + F * L / (G * A), rel=1e-5)


def test_axial_force_and_torque_stretch_and_twist():
    X = cantilever(steel()).solve_dgm([], (0, 0, 50.0, 0, 0, 0.01)).plate_pose
    assert X[2, 3] - L == pytest.approx(50.0 * L / (E * A), rel=1e-6)
    assert np.arctan2(X[1, 0], X[0, 0]) == pytest.approx(0.01 * L / (2 * G * I), rel=1e-8)


def test_end_moment_rolls_the_rod_into_a_circular_arc():
    M = 2 * np.pi * EI / L  # one full turn
    robot = cantilever(steel())
    path = robot.follow([[]] * 40, [(0, 0, 0, 0, M * k / 39, 0) for k in range(40)], inverse=False)
    assert path[-1].plate_pose[:3, 3] == pytest.approx(np.zeros(3), abs=1e-6)
    half = path[20]
    angle = M * 20 / 39 * L / EI
    assert half.plate_pose[:3, 3] == pytest.approx(
        [L / angle * (1 - np.cos(angle)), 0, L / angle * np.sin(angle)], abs=1e-7
    )


def elastica(load):
    """Tip of an inextensible cantilever under a dead transverse force, (Bisshopp and Drucker 1945)."""
    alpha = load * L**2 / EI

    def modulus(p):
        return ellipk(p * p) - ellipkinc(np.arcsin(1 / (p * np.sqrt(2))), p * p) - np.sqrt(alpha)

    p = brentq(modulus, 1 / np.sqrt(2) + 1e-12, 1 - 1e-12)
    phi = np.arcsin(1 / (p * np.sqrt(2)))
    complete = ellipeinc(np.pi / 2, p * p) - ellipeinc(phi, p * p)
    down = L * (1 - 2 / np.sqrt(alpha) * complete)
    out = L * np.sqrt(2 / alpha) * np.sqrt(2 * p * p - 1)
    return down, out


@pytest.mark.parametrize("load", [0.1, 0.5, 1.5])
def test_elastica_of_a_cantilever_matches_elliptic_integrals(load):
    # shear and stretch are made negligible: the elastica has none
    rod = steel(section=GivenStiffness(bending=(EI, EI), torsion=EI, axial=1e9, shear=(1e9, 1e9)))
    robot = cantilever(rod)
    path = robot.follow([[]] * 12, [(load * k / 11, 0, 0, 0, 0, 0) for k in range(12)], inverse=False)
    down, out = elastica(load)
    assert path[-1].plate_pose[[0, 2], 3] == pytest.approx([down, out], abs=1e-7)


def test_combined_load_out_of_plane_matches_a_boundary_value_solver():
    from scipy.integrate import solve_ivp

    F, M = np.array([0.3, -0.2, 0.15]), np.array([0.02, 0.05, -0.03])
    robot = cantilever(steel(density=8000.0), gravity=(0, 0, -9.81))
    s = robot.solve_dgm([], (*F, *M))
    line = s.centreline(0, 11)
    Kb, Ks = np.array([EI, EI, 2 * G * I]), np.array([G * A, G * A, E * A])
    weight = 8000.0 * A * np.array([0, 0, -9.81])

    def slope(t, y):
        R, n, m = y[3:12].reshape(3, 3), y[12:15], y[15:]
        v, u = np.array([0, 0, 1]) + R.T @ n / Ks, R.T @ m / Kb
        hat = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
        p = R @ v
        return np.concatenate([p, (R @ hat).ravel(), -weight, -np.cross(p, n)])

    start = np.concatenate([np.zeros(3), np.eye(3).ravel(), s.base_wrenches[0]])
    end = solve_ivp(slope, (0, L), start, rtol=1e-11, atol=1e-13).y[:, -1]
    assert s.plate_pose[:3, 3] == pytest.approx(end[:3], abs=2e-8)
    assert end[12:15] == pytest.approx(F, abs=1e-7)
    assert end[15:] == pytest.approx(M, abs=1e-7)
    assert line.force[0] == pytest.approx(F + weight * L, abs=1e-7)
    assert line.position[-1] == pytest.approx(end[:3], abs=2e-8)


def test_length_factor_enters_once():
    """Two rods that differ by a similarity: twice as long, four times as stiff in bending, same shape."""
    short = cantilever(steel(section=GivenStiffness(bending=(1, 1), torsion=1, axial=1e9, shear=(1e9, 1e9))))
    long = cantilever(steel(length=2.0, section=GivenStiffness(bending=(4, 4), torsion=4, axial=1e9, shear=(1e9, 1e9))))
    a = short.solve_dgm([], (1.0, 0, 0, 0, 0, 0)).plate_pose[:3, 3]
    b = long.solve_dgm([], (1.0, 0, 0, 0, 0, 0)).plate_pose[:3, 3]
    assert b == pytest.approx(2 * a, rel=1e-6)


def test_taper_precurvature_and_flat_section_match_beam_theory():
    bend = steel(precurvature=((0.0, 0.0, 1.5, 0.0),))
    X = cantilever(bend).solve_dgm([]).plate_pose
    assert X[:3, 3] == pytest.approx([(1 - np.cos(1.5)) / 1.5, 0, np.sin(1.5) / 1.5], abs=1e-7)
    # cone: w = F L^3 / (3 E I_base) (d_base / d_tip)
    F = 1e-5
    cone = cantilever(steel(section=Round(radius=1e-3, tip_radius=0.5e-3)))
    assert cone.solve_dgm([], (F, 0, 0, 0, 0, 0)).plate_pose[0, 3] == pytest.approx(F / (3 * EI) * 2.0, rel=1e-4)
    w, h = 4e-3, 1e-3
    flat = cantilever(steel(section=Rectangular(width=w, height=h)))
    C = flat.solve_dgm([]).compliance()
    assert C[0, 0] == pytest.approx(1 / (3 * E * h * w**3 / 12), rel=1e-4)
    assert C[1, 1] == pytest.approx(1 / (3 * E * w * h**3 / 12), rel=1e-4)


def test_self_weight_bends_by_w_L4_over_8EI():
    density = 80.0
    robot = cantilever(steel(density=density), gravity=(-9.81, 0, 0))
    X = robot.solve_dgm([]).plate_pose
    assert -X[0, 3] == pytest.approx(density * A * 9.81 * L**4 / (8 * EI), rel=2e-4)


@pytest.mark.parametrize(("factor", "index"), [(0.98, 0), (1.02, 2)])
def test_cantilever_column_loses_stability_at_eulers_load_in_both_planes(factor, index):
    P = factor * np.pi**2 * EI / (4 * L**2)
    s = cantilever(steel()).solve_dgm([], (0, 0, -P, 0, 0, 0), branch="smooth")
    assert s.plate_pose[:2, 3] == pytest.approx([0, 0], abs=1e-9)
    assert s.morse_index == index


@pytest.mark.parametrize(("factor", "index"), [(0.98, 0), (1.02, 2), (2.0, 2), (2.1, 4)])
def test_clamped_column_has_the_index_of_eulers_loads(factor, index):
    """Guided by a plate that only moves along the column: loads 4 pi^2 and 8.18 pi^2 EI/L^2."""
    from pliant.rods import kernels
    from pliant.rods._build import flatten, rod_table
    from pliant.rods.kernels import layout

    P = factor * 4 * np.pi**2 * EI / L**2
    table = rod_table(steel(), (0, 0, 0), 12)
    states = np.zeros((13, 14))
    got = kernels.survey(
        table,
        flatten(np.eye(4)),
        np.array([0, 0, -P, 0, 0, 0.0]),
        L,
        1.0,
        False,
        True,
        states,
        np.zeros(layout.WORK_SIZE),
    )
    assert got == index


def test_pinned_column_buckles_at_two_pi_squared():
    """Clamped base, ball joint at a plate that a stiff rod holds: 2.0457 pi^2 EI / L^2 (two planes)."""
    for factor, stable in ((0.98, True), (1.02, False)):
        P = factor * 2.04575 * np.pi**2 * EI / L**2
        limb = Limb(rod=steel(), joints=(BaseJoint(kind="extension"),), distal=DistalJoint(kind="spherical"))
        frame = Limb(
            rod=steel(section=GivenStiffness(bending=(2e7, 2e7), torsion=2e7, axial=1e11, shear=(1e11, 1e11))),
            base=pose((0.5, 0, 0)),
            distal=DistalJoint(kind="fixed", pose=pose((0.5, 0, 0))),
        )
        robot = ContinuumParallelRobot(
            RobotDescription(
                name="column", limbs=(limb, frame), gravity=(0, 0, 0), home=pose((0, 0, L)), controlled=("z",)
            )
        )
        # rest length such that the held rod carries P
        s = robot.solve_dgm([L / (1 - P / (E * A))], branch="smooth")
        assert s.base_wrenches[0, 2] == pytest.approx(-P, rel=1e-2)
        assert s.stability().joints[0] == (0 if stable else 2)


def test_error_falls_with_the_eighth_power_of_the_step():
    robot = cantilever(steel(density=8000.0), gravity=(0, 0, -9.81))
    s = robot.solve_dgm([], (0.9, -0.6, 0.1, 0.1, 0.2, 0.05))

    def tip(steps):
        from pliant.rods import kernels
        from pliant.rods._build import flatten, rod_table
        from pliant.rods.kernels import layout

        states = np.zeros((steps + 1, 14))
        table = rod_table(robot.description.limbs[0].rod, (0, 0, -9.81), steps)
        kernels.survey(
            table, flatten(np.eye(4)), s.base_wrenches[0], L, 1.0, False, False, states, np.zeros(layout.WORK_SIZE)
        )
        return states[-1, :3]

    exact = tip(60)
    errors = [np.abs(tip(n) - exact).max() for n in (3, 6)]
    assert np.log2(errors[0] / errors[1]) > 7.0
    assert errors[1] < 1e-8


def test_rotating_base_and_load_together_rotates_the_solution():
    R = exp_so3([0.3, -0.5, 0.7])
    F, M = np.array([0.3, -0.2, 0.1]), np.array([0.02, 0.05, -0.03])
    one = cantilever(steel()).solve_dgm([], (*F, *M)).plate_pose
    two = cantilever(steel(), base=pose((0, 0, 0), R)).solve_dgm([], (*(R @ F), *(R @ M))).plate_pose
    assert two[:3, 3] == pytest.approx(R @ one[:3, 3], abs=1e-7)


@pytest.mark.parametrize(("factor", "stable"), [(0.98, True), (1.02, False)])
def test_column_on_two_pins_buckles_at_pi_squared(factor, stable):
    """A planar column, passive revolute at the base, revolute at a plate that a stiff rod holds: pi^2 EI / L^2."""
    from pliant.rods.loaders import planar_turn

    P = factor * np.pi**2 * EI / L**2
    turn = planar_turn()
    column = Limb(
        rod=steel(),
        joints=(BaseJoint(kind="revolute", actuated=False), BaseJoint(kind="extension")),
        attach=turn,
        distal=DistalJoint(kind="revolute", attach=turn),
    )
    frame = Limb(
        rod=steel(section=GivenStiffness(bending=(2e7, 2e7), torsion=2e7, axial=1e11, shear=(1e11, 1e11))),
        base=pose((0.5, 0, 0)),
        attach=turn,
        distal=DistalJoint(kind="fixed", pose=pose((0.5, 0, 0)), attach=turn),
    )
    robot = ContinuumParallelRobot(
        RobotDescription(
            name="pins",
            limbs=(column, frame),
            planar=True,
            gravity=(0, 0, 0),
            home=pose((0, L, 0)),
            controlled=("y",),
        )
    )
    s = robot.solve_dgm([L / (1 - P / (E * A))], branch="smooth")
    assert s.base_wrenches[0, 1] == pytest.approx(-P, rel=1e-2)
    assert s.stability().joints[0] == (0 if stable else 1)
    assert s.stable == stable
