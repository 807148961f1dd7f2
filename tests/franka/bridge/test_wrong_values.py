"""Every request and every command with wrong numbers over the interface: the vendor's answer, finite states, no end."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
from fci_clients import Client, serve

from pliant.franka.wire import fci

pytestmark = pytest.mark.network

EYE = tuple(np.eye(4).T.reshape(-1).tolist())
MIRROR = tuple(np.diag([1.0, 1.0, -1.0, 1.0]).reshape(-1).tolist())
THRESHOLDS = {
    f"{side}_{kind}_{phase}": (size,) * number
    for side, size in (("lower", 10.0), ("upper", 20.0))
    for kind, number in (("torque", 7), ("force", 6))
    for phase in ("acceleration", "nominal")
}
RIGHT = [
    fci.SetCollisionBehavior(**THRESHOLDS),
    fci.SetJointImpedance(K_theta=(2000.0,) * 7),
    fci.SetCartesianImpedance(K_x=(2000.0,) * 3 + (200.0,) * 3),
    fci.SetEEToK(EE_T_K=EYE),
    fci.SetNEToEE(NE_T_EE=EYE),
    fci.SetLoad(mass=0.1, F_x_Cload=(0.0, 0.0, 0.05), I_load=(1e-3, 0.0, 0.0, 0.0, 1e-3, 0.0, 0.0, 0.0, 1e-3)),
    fci.SetFilters(**dict.fromkeys([f.name for f in dataclasses.fields(fci.SetFilters)], 100.0)),
    fci.Move(controller=0, motion_generator=1),
]
NEVER = (math.nan, math.inf, -math.inf, -1e308)
"""Numbers that no request takes."""


def wrong(request):
    """Yield a request with one wrong number in each field, first and last of an array; and whole fields."""
    for f in dataclasses.fields(request):
        value = getattr(request, f.name)
        if f.name in ("use_async", "maximum_joint_velocity"):
            continue
        numbers = value if isinstance(value, tuple) else (value,)
        whole = isinstance(request, fci.Move) and f.name in ("controller", "motion_generator")
        for i in sorted({0, len(numbers) - 1}):
            for bad in (9, 2**32 - 1) if whole else NEVER:
                changed = (*numbers[:i], bad, *numbers[i + 1 :])
                yield dataclasses.replace(request, **{f.name: changed if isinstance(value, tuple) else bad})
        if len(numbers) == 16:
            far = (*EYE[:12], 1e308, 0.0, 0.0, 1.0)
            for changed in (MIRROR, (0.0,) * 16, far, (*EYE[:15], 2.0)):
                yield dataclasses.replace(request, **{f.name: changed})
    if isinstance(request, fci.SetLoad):
        yield dataclasses.replace(request, mass=1e308)
        yield dataclasses.replace(request, F_x_Cload=(0.0, 1e308, 0.0))
        yield dataclasses.replace(request, I_load=(1.0, 5.0, 0.0, -5.0, 1.0, 0.0, 0.0, 0.0, 1.0))  # not symmetric
    if isinstance(request, fci.SetCollisionBehavior):
        yield dataclasses.replace(request, lower_force_nominal=(30.0,) * 6)  # above the upper ones


@pytest.mark.parametrize("version", [5, 10])
def test_a_request_with_a_wrong_number_is_an_invalid_argument_and_changes_nothing(version):
    with serve() as server, Client(server, version) as client:
        for request in RIGHT:
            known = type(request) in fci.COMMANDS[version]
            if not known or (version < 10 and not isinstance(request, fci.SetFilters | fci.Move)):
                continue  # all others have the same bytes in each version
            before = client.newest()
            asked = list(wrong(request))
            answers = {client.ask(each).status for each in asked}
            assert answers == {"invalid_argument"}, type(request).__name__
            after = client.newest()
            assert np.isfinite(after.reals).all()
            for name in ("F_T_EE", "EE_T_K", "NE_T_EE", "m_load", "F_x_Cload", "I_load", "q_d"):
                np.testing.assert_array_equal(getattr(after, name), getattr(before, name))
            assert after.robot_mode == fci.RobotMode.IDLE
        assert server.health()["arms"][0]["malformed"] == 0


def _moved(x):
    return (*EYE[:12], x, 0.0, 0.0, 1.0)


def _filters(cutoff):
    return fci.SetFilters(**dict.fromkeys([f.name for f in dataclasses.fields(fci.SetFilters)], cutoff))


def _load(mass, length, moment):
    return fci.SetLoad(mass=mass, F_x_Cload=(length, -length, 0.0), I_load=tuple((moment * np.eye(3)).ravel()))


EDGES = [  # just accepted, just refused; the ranges of stiffness are those of libfranka's robot.h
    (
        [fci.SetJointImpedance(K_theta=(k,) * 7) for k in (0.0, 14250.0)],
        [fci.SetJointImpedance(K_theta=(*(100.0,) * 6, k)) for k in (-1e-9, 14250.01)],
    ),
    (
        [fci.SetCartesianImpedance(K_x=(*(x,) * 3, *(r,) * 3)) for x, r in ((10.0, 1.0), (3000.0, 300.0))],
        [
            fci.SetCartesianImpedance(K_x=k)
            for k in (
                (9.99, *(100.0,) * 5),
                (*(100.0,) * 5, 0.99),
                (*(100.0,) * 2, 3000.01, *(100.0,) * 3),
                (*(100.0,) * 3, 300.01, 100.0, 100.0),
            )
        ],
    ),
    (
        [
            fci.SetCollisionBehavior(**{n: (0.0,) * len(v) for n, v in THRESHOLDS.items()}),
            fci.SetCollisionBehavior(**{n: (7.0,) * len(v) for n, v in THRESHOLDS.items()}),
            fci.SetCollisionBehavior(**THRESHOLDS),
        ],
        [
            fci.SetCollisionBehavior(**{**THRESHOLDS, n: (*THRESHOLDS[n][:-1], v)})
            for n in THRESHOLDS
            for v in (-1e-9, 20.01 if n.startswith("lower") else 9.99)
        ],
    ),
    ([fci.SetEEToK(EE_T_K=_moved(x)) for x in (-10.0, 10.0, 0.0)], [fci.SetEEToK(EE_T_K=_moved(10.01))]),
    ([fci.SetNEToEE(NE_T_EE=_moved(x)) for x in (-10.0, 10.0, 0.0)], [fci.SetNEToEE(NE_T_EE=_moved(-10.01))]),
    (
        [_load(100.0, 10.0, 100.0), _load(0.0, 0.0, 0.0)],
        [
            _load(100.01, 0.0, 1.0),
            _load(-1e-9, 0.0, 0.0),
            _load(1.0, 10.01, 1.0),
            _load(1.0, 0.0, 100.01),
            _load(1.0, 0.0, -1e-3),
        ],
    ),
    ([_filters(1.0), _filters(1000.0)], [_filters(0.99), _filters(1000.01)]),
]


@pytest.mark.parametrize("version", fci.VERSIONS)
def test_setters_take_the_ends_of_their_ranges_and_nothing_beyond(version):
    with serve() as server, Client(server, version) as client:
        for taken, refused in EDGES:
            if type(taken[0]) not in fci.COMMANDS[version]:
                continue
            assert [client.ask(each).status for each in refused] == ["invalid_argument"] * len(refused), taken[0]
            for each in taken:
                assert client.ask(each).status == "success", each
                assert np.isfinite(client.newest().reals).all(), each
        arm = server.health()["arms"][0]
        assert (arm["malformed"], arm["robot_mode"]) == (0, "idle")


MOTIONS = [(0, 0, "q_c"), (0, 1, "dq_c"), (1, 2, "O_T_EE_c"), (1, 3, "O_dP_EE_c"), (2, 4, "tau_J_d")]


@pytest.mark.parametrize("bad", [math.nan, 1e308])
def test_a_command_that_cannot_be_followed_ends_the_motion_with_an_error_and_the_arm_recovers(bad):
    with serve() as server, Client(server) as client:
        for controller, generator, field in MOTIONS:
            number, state = client.begin(controller, generator)
            motion = np.zeros(fci.N_MOTION)
            sent = {"motion": motion}
            if field == "tau_J_d":
                sent = {"tau_J_d": np.full(7, bad)}
            else:
                motion[fci.MOTION_AT._asdict()[field]] = bad
            client.command(state, **sent)
            state = client.state()
            assert np.isfinite(state.reals).all()
            assert client.answer(number).status in ("input_error", "reflex"), field
            assert client.newest().robot_mode == fci.RobotMode.REFLEX
            assert client.ask(fci.AutomaticErrorRecovery()).status == "success"
        assert server.health()["arms"][0]["errors"] == []


@pytest.mark.parametrize("size", [-1, 1])
def test_a_request_of_a_wrong_size_ends_its_connection_and_no_other(size):
    with serve() as server:
        for request in RIGHT:
            with Client(server, 5) as client:
                data = bytearray(fci.encode_request(request, version=5, command_id=1))
                data = data[:size] if size < 0 else data + b"\0" * size
                data[8:12] = len(data).to_bytes(4, "little")
                client.tcp.sendall(data)
                with pytest.raises(ConnectionResetError):
                    client.answer(1)
        with Client(server) as client:
            assert client.status == "success"


@pytest.mark.parametrize("version", fci.VERSIONS)
def test_every_pair_of_controller_and_generator_that_a_version_has_starts_and_stops(version):
    """Setters and a recovery are not possible meanwhile; a stop ends the motion as preempted, and the arm is idle."""
    quiet = fci.SetJointImpedance(K_theta=(3000.0,) * 7), fci.AutomaticErrorRecovery()
    with serve() as server, Client(server, version) as client:
        for controller, generator in itertools.product(range(4), range(6)):
            move = client.send(fci.Move(controller=controller, motion_generator=generator))
            exists = controller < 3 and generator < (5 if version >= 7 else 4) and (controller == 2 or generator < 4)
            assert client.answer(move).status == ("started" if exists else "invalid_argument"), (controller, generator)
            if not exists:
                continue
            state = client.state()
            while state.robot_mode != fci.RobotMode.MOVE:
                state = client.state()
            motion = np.zeros(fci.N_MOTION)
            state = client.state()
            motion[0:7], motion[14:30] = state.q_d, state.O_T_EE_c
            for _ in range(5):
                client.command(state, motion=motion)
                state = client.state()
            asked = [client.send(request) for request in (*quiet, fci.StopMove())]
            assert [client.answer(number).status for number in asked] == ["not_possible", "not_possible", "success"]
            assert client.answer(move).status == "preempted"
            assert client.newest().robot_mode == fci.RobotMode.IDLE
