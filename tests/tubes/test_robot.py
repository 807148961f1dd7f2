"""Concentric tubes: analytic equilibria of two equal tubes, independent integrations, loads, stability, bad input."""

import dataclasses
import itertools

import numpy as np
import pytest
from scipy.integrate import solve_bvp, solve_ivp
from scipy.optimize import brentq
from scipy.special import ellipj

from pliant.base.errors import ModelError, PliantError
from pliant.base.spatial import log_so3, pose, rotation_from_rpy
from pliant.rods import PointLoad, Rod, solve_rod
from pliant.rods.description import GivenStiffness
from pliant.tubes import ConcentricTubes, Tube, TubesDescription
from pliant.tubes.robots import ctr_3

E, G = 60e9, 23e9
INNER = Tube(length=0.2, curved_length=0.2, curvature=8.0, outer_radius=0.5e-3, inner_radius=0.0,
             young_modulus=E, shear_modulus=G)  # fmt: skip


def twin(curvature, *, guided=0.0, length=0.2):
    """Return two tubes of equal stiffness and curvature, curved outside of the guide."""
    inner = dataclasses.replace(INNER, length=length + guided, curved_length=length, curvature=curvature)
    outer = dataclasses.replace(inner, outer_radius=(inner.outer_radius**4 + 0.6e-3**4) ** 0.25, inner_radius=0.6e-3)
    return ConcentricTubes(TubesDescription(name="twin", tubes=(inner, outer), translation=(-guided, -guided)))


def rate(robot):
    """Return sqrt(lambda) of theta'' = lambda sin theta for the two tubes [1/m]."""
    (k1, k2), (c1, c2), (a1, a2), _ = robot.table
    return float(np.sqrt(k1 * k2 / (k1 + k2) * (c1 + c2) / (c1 * c2) * a1 * a2))


def base_angle(tip, rate_, length, guided=0.0):
    """Return the relative angle at the bases for one at the tips: a pendulum let go there, in elliptic functions."""
    k = np.sin(0.5 * (np.pi - tip))
    sn, cn, dn, _ = ellipj(rate_ * length, k * k)
    theta = np.pi - 2.0 * np.arcsin(k * cn / dn)
    # d/ds of 2 asin(k cd(rate (L - s))): cd' = -(1 - k^2) sn / dn^2
    slope = -2.0 * k * rate_ * (1.0 - k * k) * sn / dn**2 / np.sqrt(1.0 - (k * cn / dn) ** 2)
    return theta - guided * slope


@pytest.mark.parametrize("guided", [0.0, 0.05])
def test_two_equal_tubes_twist_as_elliptic_functions_say(guided):
    robot = twin(8.0, guided=guided)
    for tip in (0.4, 2.6):
        rotation = base_angle(tip, rate(robot), 0.2, guided)
        found = robot.equilibria([0.0, rotation])
        relative = [float(one.angles[-1, 1] - one.angles[-1, 0]) for one in found]
        assert min(abs(value - tip) for value in relative) < 1e-10


def test_two_equal_tubes_snap_beyond_a_quarter_wave():
    critical = 0.5 * np.pi / (rate(twin(8.0)) / 8.0) / 0.2  # L sqrt(lambda) = pi / 2
    for factor, index in ((0.999, 0), (1.001, 1), (2.999, 1), (3.001, 2)):
        robot = twin(critical * factor)
        aligned = [one for one in robot.equilibria([0.0, np.pi]) if abs(one.twist[1] - one.twist[0]) < 1e-9]
        assert [one.index for one in aligned] == [index]
        assert robot.unstable_alignments() == ([(0, 1)] if index else [])


def test_the_guided_length_lowers_the_limit():
    # h'' = -lambda h, h'(L) = 0, h(0) = g h'(0): cot(x) = g / L x
    guided = 0.05
    x = brentq(lambda v: 1.0 / np.tan(v) - guided / 0.2 * v, 0.1, 1.5)
    for factor, index in ((0.999, 0), (1.001, 1)):
        robot = twin(factor * x / 0.2 / (rate(twin(8.0)) / 8.0), guided=guided)
        assert bool(robot.unstable_alignments()) == bool(index)


def test_tubes_snap_where_the_curve_of_tip_over_base_turns_back():
    robot = twin(12.0)
    tips = np.linspace(0.3, np.pi, 20001)
    limit = base_angle(tips, rate(robot), 0.2).max()
    assert limit > np.pi
    rows = [[0.0, a] for a in (2.5, 3.0, limit - 1e-4, limit + 1e-4, limit + 0.3)]
    path = robot.follow(rows)
    assert [one.snapped for one in path] == [False, False, False, True, False]
    assert all(one.stable for one in path)
    assert path[2].energy > path[3].energy
    back = robot.follow(
        [[0.0, limit], [0.0, 2 * np.pi - limit + 1e-4], [0.0, 2 * np.pi - limit - 1e-4]], start=path[-1]
    )
    assert [one.snapped for one in back] == [False, False, True]


def test_equilibria_beyond_the_limit_are_named_by_stability_and_energy():
    found = twin(12.0).equilibria([0.0, np.pi])
    assert [one.name for one in found] == ["stable 1", "stable 2", "unstable 1"]
    assert found[0].energy == pytest.approx(found[1].energy, rel=1e-9)
    assert found[0].twist == pytest.approx(-found[1].twist, abs=1e-9)
    assert twin(12.0).solve([0.0, np.pi]).stable


def test_three_tubes_agree_with_collocation_and_another_frame():
    """ctr-3 without loads: psi by scipy's collocation, the shape from the first tube's frame by an adaptive method."""
    robot = ConcentricTubes(ctr_3())
    alpha = np.array([0.0, 1.2, -0.7])
    found = robot.solve(alpha)
    ends = [tube.length + b for tube, b in zip(ctr_3().tubes, found.translation)]
    begins = [end - tube.curved_length for end, tube in zip(ends, ctr_3().tubes)]
    k, c, kappa, _ = robot.table
    cuts = sorted({0.0, *[v for v in (*ends, *begins) if v > 0.0]})
    pieces = list(itertools.pairwise(cuts))

    def alive(piece, i):
        middle = 0.5 * sum(pieces[piece])
        return middle < ends[i], kappa[i] * (begins[i] < middle < ends[i])

    def slope(x, y):  # all pieces at once on x in [0, 1]
        out = np.zeros_like(y)
        for j, (a, b) in enumerate(pieces):
            psi, t = y[6 * j : 6 * j + 3], y[6 * j + 3 : 6 * j + 6]
            on = [i for i in range(3) if alive(j, i)[0]]
            for i in on:
                out[6 * j + i] = (b - a) * t[i] / c[i]
                couple = sum(k[n] * alive(j, n)[1] * np.sin(psi[i] - psi[n]) for n in on) / sum(k[on])
                out[6 * j + 3 + i] = (b - a) * k[i] * alive(j, i)[1] * couple
        return out

    def ends_of(ya, yb):
        rows = [ya[i] + found.translation[i] * ya[3 + i] / c[i] - alpha[i] for i in range(3)]
        for j in range(len(pieces)):
            last = j == len(pieces) - 1
            for i in range(3):
                going = not last and alive(j + 1, i)[0]
                rows.append(yb[6 * j + 3 + i] - (ya[6 * j + 9 + i] if going else 0.0))
                if not last:
                    rows.append(ya[6 * j + 6 + i] - yb[6 * j + i])
        return np.array(rows)

    x = np.linspace(0.0, 1.0, 20)
    guess = np.zeros((6 * len(pieces), len(x)))
    for j in range(len(pieces)):
        guess[6 * j : 6 * j + 3] = alpha[:, None]
    other = solve_bvp(slope, ends_of, x, guess, tol=1e-9, max_nodes=20000)
    assert other.success
    assert found.angles[-1] == pytest.approx(other.y[-6:-3, -1], abs=1e-8)

    X, psi0 = np.eye(3), 0.0
    p = np.zeros(3)
    for j, (a, b) in enumerate(pieces):  # frame of tube 0: u = Rz(psi_0)^T u_B + psi_0' e_3

        def frame(s, y, j=j, a=a, b=b):
            z = other.sol((s - a) / (b - a))[6 * j : 6 * j + 6]
            on = [i for i in range(3) if alive(j, i)[0]]
            w = sum(k[i] * alive(j, i)[1] * np.exp(1j * (z[i] - z[0] + 0.5 * np.pi)) for i in on) / sum(k[on])
            R = y[:9].reshape(3, 3)
            u = np.array([w.real, w.imag, z[3] / c[0]])
            cross = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
            return np.concatenate([(R @ cross).ravel(), R[:, 2]])

        if j == 0:
            psi0 = other.sol(0.0)[0]
            X = np.array([[np.cos(psi0), -np.sin(psi0), 0], [np.sin(psi0), np.cos(psi0), 0], [0, 0, 1.0]])
        y = solve_ivp(frame, (a, b), np.concatenate([X.ravel(), p]), rtol=1e-11, atol=1e-13).y[:, -1]
        X, p = y[:9].reshape(3, 3), y[9:]
    assert found.tip[:3, 3] == pytest.approx(p, abs=1e-8)
    assert found.tip[:3, :3] == pytest.approx(X, abs=1e-8)


@pytest.mark.parametrize(
    ("force", "moment", "shares"),
    [((0.05, -0.03, -0.04), (0.002, 0.001, -0.003), (1.0,)), ((0.0, 2.0, 4.0), (0.0, 0.0, 0.0), (0.3, 1.0))],
)
def test_one_tube_with_loads_is_a_rod(force, moment, shares):
    tube = dataclasses.replace(INNER, curvature=3.0, density=6450.0)
    base = pose((0.1, 0.0, 0.2), rotation_from_rpy((0.3, 0.4, -0.2)))
    robot = ConcentricTubes(TubesDescription(name="one", tubes=(tube,), translation=(0.0,), base=base))
    found = robot.solve([0.0], force=force, moment=moment)
    k, c, _, mass = robot.table[:, 0]
    section = GivenStiffness(bending=(k, k), torsion=c, axial=1e9, shear=(1e9, 1e9), mass=mass)
    rod = Rod(length=0.2, section=section, precurvature=((0.0, 0.0, 3.0, 0.0),))
    other = None
    for share in shares:
        load = PointLoad(at=1.0, force=tuple(share * v for v in force), moment=moment)
        other = solve_rod(rod, base, None, loads=(load,), start=other)
    assert other is not None
    # The rod is integrated to 1e-7 of its length where 3.3 of the lengths over which a bend decays fit into it.
    assert found.tip[:3, 3] == pytest.approx(other.tip[:3, 3], abs=1e-8 if np.linalg.norm(force) < 1.0 else 4e-8)
    assert log_so3(found.tip[:3, :3].T @ other.tip[:3, :3]) == pytest.approx(np.zeros(3), abs=1e-7)


def test_a_straight_tube_buckles_at_eulers_load():
    robot = ConcentricTubes(
        TubesDescription(name="column", tubes=(dataclasses.replace(INNER, curvature=0.0),), translation=(0.0,))
    )
    critical = np.pi**2 / 4.0 * INNER.bending / 0.2**2
    straight = robot.solve([0.0])
    for factor, index in ((0.999, 0), (1.001, 2)):
        found = robot.solve([0.0], force=(0.0, 0.0, -factor * critical), start=straight)
        assert found.index == index


def test_a_load_beyond_the_stable_ones_is_refused_with_the_last_that_is():
    tube = dataclasses.replace(INNER, curvature=0.0)
    robot = ConcentricTubes(TubesDescription(name="column", tubes=(tube,), translation=(0.0,)))
    critical = np.pi**2 / 4.0 * INNER.bending / 0.2**2
    with pytest.raises(PliantError, match="the last load on the way that has one") as caught:
        robot.solve([0.0], force=(0.0, 0.0, -1.7 * critical))
    last = -float(str(caught.value).rsplit(" N and", 1)[0].rsplit(",", 1)[1])
    assert 0.99 * critical < last < 1.001 * critical


def test_jacobian_and_compliance_are_the_differences_of_solutions():
    heavy = dataclasses.replace(ctr_3(), tubes=tuple(dataclasses.replace(t, density=6450.0) for t in ctr_3().tubes))
    robot = ConcentricTubes(heavy)
    alpha, beta, load = np.array([0.3, 1.2, -0.7]), ctr_3().home, np.array([0.02, -0.05, 0.03, 1e-3, -2e-3, 1e-3])
    now = robot.solve(alpha, beta, force=load[:3], moment=load[3:])
    found = np.hstack([now.jacobian(), now.compliance()])
    inputs = np.concatenate([alpha, beta, load])
    steps = [1e-5] * 3 + [1e-6] * 3 + [1e-4] * 3 + [1e-5] * 3
    for j, step in enumerate(steps):
        ends = []
        for sign in (1.0, -1.0):
            x = inputs + sign * step * (np.arange(12) == j)
            ends.append(robot.solve(x[:3], x[3:6], force=x[6:9], moment=x[9:], start=now).tip)
        turn = log_so3(ends[0][:3, :3] @ ends[1][:3, :3].T)
        difference = np.concatenate([turn, ends[0][:3, 3] - ends[1][:3, 3]]) / (2.0 * step)
        assert found[:, j] == pytest.approx(difference, abs=1e-6 * max(1.0, np.abs(difference).max()))


def test_the_work_of_the_drives_and_the_load_is_the_change_of_energy():
    robot = ConcentricTubes(ctr_3())
    force, step = (0.02, -0.05, 0.03), 1e-5
    now = robot.solve([0.0, 1.2, -0.7], force=force)
    for i in range(3):
        pair = []
        for sign in (1.0, -1.0):
            alpha = now.rotation + sign * step * (np.arange(3) == i)
            pair.append(robot.solve(alpha, force=force, start=now).energy)
        # The drive turns the base against the torque of the tube.
        assert (pair[0] - pair[1]) / (2.0 * step) == pytest.approx(-now.torques[0, i], rel=1e-6)


def test_aligned_tubes_bend_to_the_weighted_mean_of_their_curvatures():
    inner = dataclasses.replace(INNER, curvature=10.0)
    outer = dataclasses.replace(INNER, curvature=4.0, outer_radius=1e-3, inner_radius=0.6e-3)
    robot = ConcentricTubes(TubesDescription(name="pair", tubes=(inner, outer), translation=(0.0, 0.0)))
    u = (inner.bending * 10.0 + outer.bending * 4.0) / (inner.bending + outer.bending)
    tip = robot.solve([0.0, 0.0]).tip[:3, 3]
    assert tip == pytest.approx([(1.0 - np.cos(0.2 * u)) / u, 0.0, np.sin(0.2 * u) / u], abs=1e-10)


WRONG = {
    "does not fit into tube 1: its outer radius is 0.5 mm and the inner radius of tube 1 is 0.4 mm": lambda: twin_of(
        inner_radius=0.4e-3, outer_radius=0.8e-3
    ),
    "must be less than the outer radius": lambda: dataclasses.replace(INNER, inner_radius=0.6e-3),
    "longer than the tube; must be at most 200 mm": lambda: dataclasses.replace(INNER, curved_length=0.3),
    "must be less than 2000 1/m": lambda: dataclasses.replace(INNER, curvature=2500.0),
    "write 0.2 for 200 mm": lambda: dataclasses.replace(INNER, length=200.0),
    "young_modulus must be a positive number": lambda: dataclasses.replace(INNER, young_modulus=float("nan")),
    "no tube; a robot needs at least one": lambda: TubesDescription(name="none", tubes=()),
    "tube 0 has a negative extension of -10 mm": lambda: twin(8.0).solve([0.0, 0.0], [-0.21, -0.1]),
    "before the guide's end; must be <= 0": lambda: twin(8.0).solve([0.0, 0.0], [0.01, 0.0]),
    "hides the base of tube 0": lambda: twin(8.0).solve([0.0, 0.0], [-0.01, -0.02]),
    "its base must be at most -20 mm": lambda: twin(8.0).solve([0.0, 0.0], [-0.02, -0.01]),
    "rotation needs 2 finite numbers": lambda: twin(8.0).solve([0.0]),
    "found [0.0, nan]": lambda: twin(8.0).solve([0.0, float("nan")]),
    "a force of 20 N is too large for these tubes to be resolved; must be at most": lambda: twin(8.0).solve(
        [0.0, 1.0], force=(20.0, 0.0, 0.0)
    ),
    "force needs 3 finite numbers": lambda: twin(8.0).solve([0.0, 1.0], force=(1.0, 2.0)),
}


def twin_of(**changes):
    return TubesDescription(name="bad", tubes=(INNER, dataclasses.replace(INNER, **changes)))


@pytest.mark.parametrize("message", WRONG)
def test_impossible_tubes_and_commands_are_refused_with_what_would_be_valid(message):
    with pytest.raises(PliantError) as caught:
        WRONG[message]()
    assert message in str(caught.value)
    assert isinstance(caught.value, ModelError) or caught.value.field
