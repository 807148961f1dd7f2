"""Programs that end in any phase of a conversation: each next program finds an arm that stands and takes a motion."""

import socket
import struct

import numpy as np
import pytest
from fci_clients import Client, serve

from pliant.franka.wire import fci

pytestmark = pytest.mark.network

VELOCITY = fci.MOTION_AT.dq_c + 6
"""Place of joint 7's velocity in a command."""


def _turning(client, cycles=150, **options):
    """Turn joint 7 faster and faster; return the number of the motion and the state that waits for a command."""
    number, state = client.begin(0, 1, **options)
    for k in range(cycles):
        client.command(state, motion=_turn(k))
        state = client.state()
    return number, state


def _turn(k):
    motion = np.zeros(fci.N_MOTION)
    motion[VELOCITY] = 0.004 * k
    return motion


def _finishing(client):
    _, state = _turning(client)
    client.command(state, motion=_turn(150), motion_generation_finished=True)


def _in_reflex(client):
    _, state = _turning(client)
    client.command(state, motion=np.full(fci.N_MOTION, np.nan))
    client.state()


def _recovering(client):
    _in_reflex(client)
    client.send(fci.AutomaticErrorRecovery())


def _stopping(client):
    _turning(client)
    client.send(fci.StopMove())


def _preempting(client):
    _turning(client)
    client.send(fci.Move(controller=2, motion_generator=4))


def _asynchronous(client):
    state = client.newest()
    speed = (0.5,) * 7
    client.send(fci.Move(controller=0, motion_generator=0, use_async=True, maximum_joint_velocity=speed))
    while (state := client.state()).robot_mode != fci.RobotMode.MOVE:
        pass
    motion = np.zeros(fci.N_MOTION)
    motion[:7] = state.q_d
    motion[6] += 0.5
    client.command(state, motion=motion)
    for _ in range(100):
        client.state()


PHASES = {
    "connected": lambda client: None,
    "half a request": lambda client: client.tcp.sendall(b"\1\0\0\0\7"),
    "a setter": lambda client: client.send(fci.SetLoad(mass=0.0, F_x_Cload=(0.0,) * 3, I_load=(0.0,) * 9)),
    "ten models that nobody reads": lambda client: [client.send(fci.GetRobotModel()) for _ in range(10)],
    "a motion asked for": lambda client: client.send(fci.Move(controller=2, motion_generator=4)),
    "a motion without a command": lambda client: client.begin(2, 4),
    "moving": _turning,
    "finishing": _finishing,
    "stopping": _stopping,
    "preempting": _preempting,
    "asynchronous": _asynchronous,
    "reflex": _in_reflex,
    "recovering": _recovering,
}


@pytest.mark.parametrize("kind", ["closed", "reset"])
def test_after_a_program_that_ended_in_any_phase_the_next_one_works(kind):
    with serve() as server:
        for name, phase in PHASES.items():
            dying = Client(server)
            phase(dying)
            if kind == "reset":  # as of a process whose machine is gone
                dying.tcp.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            dying.tcp.close()
            dying.udp.close()
            with Client(server) as client:
                assert client.status == "success", name
                state = client.state()
                assert np.abs(state.dq).max() < 0.01, name
                if state.robot_mode == fci.RobotMode.AUTOMATIC_ERROR_RECOVERY:
                    while (state := client.state()).robot_mode == fci.RobotMode.AUTOMATIC_ERROR_RECOVERY:
                        pass
                if name == "reflex":
                    assert state.robot_mode == fci.RobotMode.REFLEX
                    assert client.ask(fci.AutomaticErrorRecovery()).status == "success"
                else:
                    assert state.robot_mode == fci.RobotMode.IDLE, name
                number, state = _turning(client, 5)
                while state.robot_mode == fci.RobotMode.MOVE:  # a client that reads no state is waited for, 0.8 s
                    client.command(state, motion=_turn(5), motion_generation_finished=True)
                    state = client.state()
                assert client.answer(number).status == "success", name
        arm = server.health()["arms"][0]
        assert (arm["robot_mode"], arm["errors"], arm["malformed"]) == ("idle", [], 0)
