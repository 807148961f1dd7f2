"""The identified dynamics against Pinocchio, against identities, and against the published library's numbers."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pliant.base.errors import ModelError
from pliant.franka.device.parameters import D_FLANGE, NO_PAYLOAD, Payload
from pliant.franka.robots import dynamics, parameters
from pliant.franka.robots.parameters import FER, FRANKA_HAND, arm
from pliant.franka.robots.urdf import urdf

ARMS = list(parameters.ARMS.values())
PAYLOADS = [None, FRANKA_HAND]
LOAD = Payload(mass=1.3, center_of_mass=(0.02, -0.05, 0.11), inertia=(0.01, 1e-3, 0, 1e-3, 0.02, 0, 0, 0, 0.015))
ANGLES = st.lists(st.floats(-3.0, 3.0), min_size=7, max_size=7)


def states(n=50, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(-2.5, 2.5, (n, 7)), rng.uniform(-2.0, 2.0, (n, 7))


@pytest.mark.parametrize("payload", PAYLOADS, ids=["bare", "hand"])
@pytest.mark.parametrize("kind", ARMS, ids=lambda a: a.name)
def test_mass_coriolis_and_gravity_equal_pinocchio(kind, payload):
    pin = pytest.importorskip("pinocchio", reason="the Pinocchio oracle is not installed")
    model = pin.buildModelFromXML(urdf(kind))
    if payload is not None:
        body = pin.Inertia(
            payload.mass,
            np.add(payload.center_of_mass, (0, 0, D_FLANGE)),
            np.reshape(payload.inertia, (3, 3)),
        )
        model.inertias[7] = model.inertias[7] + body
    data = model.createData()
    tilt = np.array([3.0, -4.0, 8.0])
    model.gravity.linear = tilt
    q, dq = states()
    M = dynamics.mass(q, payload, arm=kind)
    C = dynamics.coriolis(q, dq, payload, arm=kind)
    g = dynamics.gravity(q, payload, tilt, arm=kind)
    for k in range(len(q)):
        np.testing.assert_allclose(M[k], pin.crba(model, data, q[k]), atol=1e-12, rtol=0)
        expected = pin.computeCoriolisMatrix(model, data, q[k], dq[k])
        np.testing.assert_allclose(C[k], expected, atol=1e-12, rtol=0)
        np.testing.assert_allclose(g[k], pin.computeGeneralizedGravity(model, data, q[k]), atol=1e-12, rtol=0)
        np.testing.assert_allclose(C[k] @ dq[k] + g[k], pin.nle(model, data, q[k], dq[k]), atol=1e-12, rtol=0)


def test_the_frankasim_variant_equals_the_published_library():
    # q, dq, payload mass, diagonal and last row of M, g at 9.80665 m/s^2, friction; printed by the published
    # C++ library (Oliva et al. 2022) built from source, 15 digits.
    for row in PUBLISHED:
        q, dq, hand = np.array(row["q"]), np.array(row["dq"]), FRANKA_HAND if row["hand"] else None
        M = dynamics.mass(q, hand, variant="frankasim")
        np.testing.assert_allclose(np.diag(M), row["diagonal"], atol=1e-9, rtol=0)
        np.testing.assert_allclose(M[0], row["first"], atol=1e-9, rtol=0)
        g = dynamics.gravity(q, hand, (0, 0, -9.80665), variant="frankasim")
        np.testing.assert_allclose(g, row["gravity"], atol=1e-9, rtol=0)
        np.testing.assert_allclose(dynamics.friction(dq), row["friction"], atol=1e-12, rtol=0)


@pytest.mark.parametrize("variant", ["feasible", "frankasim"])
@given(q=ANGLES, dq=ANGLES)
@example(q=[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], dq=[0.0, 3.0, 0.0, -3.0, 0.0, 0.0, 0.0])
@settings(max_examples=25, deadline=None)
def test_the_rate_of_the_mass_matrix_less_twice_coriolis_is_skew(variant, q, dq):
    q, dq = np.array(q), np.array(dq)
    h = 3e-4

    def difference(step):
        return dynamics.mass(q + step * dq, LOAD, variant=variant) - dynamics.mass(q - step * dq, LOAD, variant=variant)

    rate = (8.0 * difference(h) - difference(2 * h)) / (12 * h)  # fourth order: the error of the second is 2e-8
    C = dynamics.coriolis(q, dq, LOAD, variant=variant)
    S = rate - 2 * C
    np.testing.assert_allclose(S + S.T, 0, atol=1e-9)


def test_the_coriolis_matrix_holds_the_christoffel_symbols_of_the_mass_matrix():
    q, dq = (x[0] for x in states(1, seed=3))
    h = 1e-5
    dM = np.stack(
        [(dynamics.mass(q + h * e, LOAD) - dynamics.mass(q - h * e, LOAD)) / (2 * h) for e in np.eye(7)], axis=2
    )
    gamma = 0.5 * (dM + dM.transpose(0, 2, 1) - dM.transpose(2, 1, 0))
    np.testing.assert_allclose(dynamics.coriolis(q, dq, LOAD), gamma @ dq, atol=1e-8)


def test_coriolis_is_linear_and_symmetric_in_its_two_velocities():
    q, a = (x[0] for x in states(1, seed=4))
    b = states(1, seed=5)[1][0]
    C = dynamics.coriolis
    np.testing.assert_allclose(C(q, a) @ b, C(q, b) @ a, atol=1e-12)
    np.testing.assert_allclose(C(q, 2 * a + b), 2 * C(q, a) + C(q, b), atol=1e-12)


def test_gravity_is_the_gradient_of_the_potential_energy():
    from pliant.franka.robots.kinematics import frames

    g0 = np.array([1.0, -2.0, -9.0])

    def energy(q):
        R, p = frames(q)
        return -sum(
            link.mass * g0 @ (p[i] + R[i] @ link.center_of_mass) for i, link in enumerate(FER.links)
        ) - FRANKA_HAND.mass * g0 @ (p[6] + R[6] @ np.add(FRANKA_HAND.center_of_mass, (0, 0, D_FLANGE)))

    q = states(1, seed=6)[0][0]
    h = 1e-6
    gradient = [(energy(q + h * e) - energy(q - h * e)) / (2 * h) for e in np.eye(7)]
    np.testing.assert_allclose(dynamics.gravity(q, FRANKA_HAND, g0), gradient, atol=1e-7)


@pytest.mark.parametrize("kind", ARMS, ids=lambda a: a.name)
def test_the_feasible_variant_is_positive_definite_and_frankasim_is_not_physical(kind):
    q, _ = states(200)
    assert np.linalg.eigvalsh(dynamics.mass(q, arm=kind))[:, 0].min() > 0
    for link in kind.links:
        xx, xy, xz, yy, yz, zz = link.inertia
        I = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        assert I[0] > 0
        assert I[0] + I[1] >= I[2] - 1e-12


def test_the_two_variants_differ_in_mass_by_the_published_amount_and_not_in_gravity():
    q, _ = states(300)
    difference = dynamics.mass(q) - dynamics.mass(q, variant="frankasim")
    assert 0.05 < np.abs(difference).max() < 0.09
    np.testing.assert_array_equal(dynamics.gravity(q), dynamics.gravity(q, variant="frankasim"))


def test_friction_vanishes_at_rest_opposes_motion_and_saturates():
    np.testing.assert_array_equal(dynamics.friction(np.zeros(7)), 0)
    fast = dynamics.friction(np.full(7, 50.0)) - dynamics.friction(np.full(7, -50.0))
    np.testing.assert_allclose(fast, FER.friction[:, 0], rtol=1e-12)
    dq = np.linspace(0.01, 3, 40)[:, None] * np.ones(7)
    assert (dynamics.friction(dq) > 0).all()
    assert (dynamics.friction(-dq) < 0).all()


def test_combined_payloads_weigh_and_turn_as_the_two_bodies_do():
    q, dq = states(5)
    both = FRANKA_HAND.combined(LOAD)
    assert both.mass == pytest.approx(FRANKA_HAND.mass + LOAD.mass)
    # M and C are linear in the bodies: hand + load - bare
    for f, a in ((dynamics.mass, (q,)), (dynamics.coriolis, (q, dq)), (dynamics.gravity, (q,))):
        np.testing.assert_allclose(f(*a, both), f(*a, FRANKA_HAND) + f(*a, LOAD) - f(*a), atol=1e-12)
    assert FRANKA_HAND.combined(NO_PAYLOAD).mass == FRANKA_HAND.mass
    np.testing.assert_allclose(FRANKA_HAND.combined(NO_PAYLOAD).inertia, FRANKA_HAND.inertia, atol=1e-15)


def test_arrays_broadcast_and_equal_single_calls():
    q, dq = states(6)
    q, dq = q.reshape(2, 3, 7), dq.reshape(2, 3, 7)
    C = dynamics.coriolis(q, dq)
    assert C.shape == (2, 3, 7, 7)
    np.testing.assert_array_equal(C[1, 2], dynamics.coriolis(q[1, 2], dq[1, 2]))
    np.testing.assert_array_equal(dynamics.mass(q)[0, 1], dynamics.mass(q[0, 1]))
    assert dynamics.coriolis(q, dq[0, 0]).shape == (2, 3, 7, 7)
    g = dynamics.gravity(q, None, np.ones((2, 1, 3)) * [0, 0, -9.81])
    np.testing.assert_array_equal(g, dynamics.gravity(q))
    assert dynamics.friction(dq).shape == dq.shape


def test_bad_input_is_named():
    with pytest.raises(ModelError, match=r"q has shape \(6,\)"):
        dynamics.mass(np.zeros(6))
    with pytest.raises(ModelError, match="did you mean 'feasible'"):
        dynamics.mass(np.zeros(7), variant="feasable")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="gravity has shape"):
        dynamics.gravity(np.zeros(7), None, (0, 9.81))
    with pytest.raises(ModelError, match=r"gravity has shape \(2, 3\); must be \(3,\) or fit that of q, \(3, 7\)"):
        dynamics.gravity(np.zeros((3, 7)), None, np.zeros((2, 3)))
    with pytest.raises(ModelError, match=r"dq has shape \(2, 7\); must fit that of q, \(3, 7\)"):
        dynamics.coriolis(np.zeros((3, 7)), np.zeros((2, 7)))
    with pytest.raises(ModelError, match="must be an array of numbers"):
        dynamics.mass(["a"] * 7)
    with pytest.raises(ModelError, match="mass of a payload is -1"):
        Payload(mass=-1.0)
    with pytest.raises(ModelError, match="not symmetric"):
        Payload(mass=1.0, inertia=(1, 1, 0, 0, 1, 0, 0, 0, 1))
    with pytest.raises(ModelError, match="no Franka arm 'panda'"):
        arm("panda")


PUBLISHED = [
    {
        "q": [
            -1.5616855760580215,
            -0.9384588163290486,
            1.5424959706739192,
            1.3429496387191207,
            -0.6974757531247584,
            0.24188892225370617,
            1.175473740646244,
        ],
        "dq": [
            -0.4340244997346874,
            1.2607174271483066,
            -1.247325856871008,
            1.9599805311995548,
            1.9322284190498595,
            -1.3534286512367535,
            1.304440529673251,
        ],
        "hand": False,
        "diagonal": [
            1.00247057176495,
            1.06079276901409,
            0.324554905518739,
            0.555974708813036,
            0.0261399464261378,
            0.0240037985404272,
            0.004815,
        ],
        "first": [
            1.00247057176495,
            0.229930498703081,
            0.200385995792361,
            0.349983533864498,
            -0.0483871012737252,
            0.0382305737686886,
            0.00287493878802098,
        ],
        "gravity": [
            0.0,
            25.1024590744185,
            8.22683219039201,
            -10.0059067994461,
            -0.987754594060469,
            0.443675568290242,
            -0.0418846964856533,
        ],
        "friction": [
            -0.236588914555063,
            0.385180697865243,
            -0.246874947942498,
            0.575184715911971,
            0.373784741991584,
            -0.124480978580215,
            0.277259178933886,
        ],
    },
    {
        "q": [
            -0.08818920467348335,
            -0.6690516243912699,
            0.6434666357984589,
            -0.5016756365846349,
            -0.47575419349602566,
            -0.5497224982003757,
            -1.8836369624641272,
        ],
        "dq": [
            -1.6421990607642893,
            -1.1129960652605324,
            0.169833234829587,
            0.6233960812718,
            0.054219994598636134,
            1.417186769324783,
            -0.9730580588114566,
        ],
        "hand": True,
        "diagonal": [
            0.687423640638569,
            2.71700046166773,
            0.230176959877458,
            0.519087540700248,
            0.0201780054373729,
            0.0431146509548424,
            0.006588,
        ],
        "first": [
            0.687423640638569,
            -0.39635051463682,
            -0.142221915286547,
            0.425335873318895,
            0.00222802575227086,
            -0.0309408232236381,
            -0.00625174646565434,
        ],
        "gravity": [
            0.0,
            23.7209231628993,
            -4.59000102800324,
            -4.97943774635505,
            -0.414820168076407,
            1.52025617061095,
            -0.00769524084984136,
        ],
        "friction": [
            -0.300457722220682,
            -0.487006046506489,
            0.251618712046381,
            0.543950136044387,
            0.0900494076044917,
            0.178529021389434,
            -0.287604944806991,
        ],
    },
    {
        "q": [
            -0.8272655064359062,
            -0.18731976017428575,
            1.799835861918436,
            -1.8677001119460677,
            -1.8031353631606404,
            1.6175557080513632,
            1.0527785316232672,
        ],
        "dq": [
            -0.8651624634130788,
            -0.05693566421903107,
            -1.145580254953419,
            -1.2625199732831307,
            -1.7239466782867434,
            1.3651941789091606,
            -0.8349742517941987,
        ],
        "hand": False,
        "diagonal": [
            1.23141758346944,
            0.97472848336846,
            1.10131359940888,
            0.72937029987009,
            0.0212254933430674,
            0.0238187224061445,
            0.004815,
        ],
        "first": [
            1.23141758346944,
            -0.670247278012162,
            1.11454903961189,
            0.157490656587735,
            0.00948926426032725,
            0.0938547346548949,
            0.00221218744555297,
        ],
        "gravity": [
            0.0,
            10.895289802485,
            -4.68177657516181,
            18.6455696976478,
            -0.62867657008616,
            -0.862813609635945,
            0.0727860195633509,
        ],
        "friction": [
            -0.29273987825147,
            -0.111918489855954,
            -0.246872606407392,
            -0.702850487618824,
            -0.46525460307441,
            0.178529021371627,
            -0.287525410954925,
        ],
    },
    {
        "q": [
            -1.3436076746120174,
            -1.7776621571756817,
            1.1962405398305274,
            -0.7053583111488422,
            1.4095777882032183,
            -1.9547498877359035,
            0.07211163915519059,
        ],
        "dq": [
            0.9083258485591315,
            1.6795247394581576,
            1.033361886757139,
            -1.1333429432594788,
            0.24019996500580376,
            -0.602042943831492,
            -1.9490618408791716,
        ],
        "hand": True,
        "diagonal": [
            2.97079028649049,
            2.83292371889532,
            0.324842852851423,
            0.616976260810015,
            0.0459637818967352,
            0.0431427177198359,
            0.006588,
        ],
        "first": [
            2.97079028649049,
            0.0429614359815461,
            -0.47478868599725,
            1.14549099144349,
            -0.104320156223336,
            0.0139567207410117,
            0.005543531815457,
        ],
        "gravity": [
            0.0,
            51.111229715256,
            -12.1160038668019,
            -7.85768029903099,
            1.95983317982025,
            -1.40594577167188,
            0.0108690988235331,
        ],
        "friction": [
            0.241305649684802,
            0.385188029423743,
            0.393774877453914,
            -0.701427779804158,
            0.291868673809067,
            -0.124473977283281,
            -0.287630060474009,
        ],
    },
]


def test_read_only_numbers_compile_no_kernel_again():
    q, dq = np.zeros((2, 7)), np.ones((2, 7))
    for array in (q, dq):
        array.flags.writeable = False
    dynamics.mass(q)
    dynamics.coriolis(q, dq)
    dynamics.coriolis(q[0], dq)
    dynamics.gravity(q)
    dynamics.gravity(q[0], gravity=np.broadcast_to([0.0, 0.0, -9.81], (2, 3)))
    dynamics.friction(dq)
    for kernel, arrays in (
        (dynamics._mass_coriolis_batch, 2),
        (dynamics._gravity_batch, 1),
        (dynamics.friction_kernel, 1),
    ):
        for signature in kernel.signatures:
            assert "readonly" not in str(signature[:arrays]), signature
