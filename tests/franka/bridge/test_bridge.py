"""The FCI bridge in the simulation loop: what `pliant run fr3 --bridge fci` runs, spoken to byte by byte."""

import contextlib
import logging
import os
import resource
import select
import socket
import struct
import time
from pathlib import Path

import numpy as np
import pytest
from fci_clients import TIMEOUT, Client, make, serve, torque_loop
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pliant.base.errors import BridgeError, DeviceError, MissingDependency
from pliant.franka.bridge import FciBridge, FciOptions
from pliant.franka.bridge.arm_server import FIRST_COMMAND_S
from pliant.franka.robots.build import Q_START, ArmMount
from pliant.franka.robots.parameters import FER, FR3
from pliant.franka.wire import fci
from pliant.robots import build_robot
from pliant.simulation.bridges import make_bridge

pytestmark = pytest.mark.network


@pytest.fixture
def server():
    with serve() as running:
        yield running


@pytest.mark.parametrize("version", fci.VERSIONS)
def test_one_server_speaks_every_version(server, version):
    with Client(server, version) as client:
        assert client.status == "success"
        state = client.newest()
        np.testing.assert_allclose(state.q, Q_START, atol=1e-6)
        assert client.state().message_id == state.message_id + 1
        settings = fci.SetJointImpedance(K_theta=(1000.0,) * 7)
        assert client.ask(settings).status == "success"
        torque_loop(client, 50)
        if version >= 8:
            assert b"position_based_velocity_limits" in client.ask(fci.GetRobotModel()).payload
        if version <= 5:
            assert len(client.ask(fci.GetCartesianLimit(id=0)).payload) == 153


@pytest.mark.parametrize("version", [0, 3, 11, 65535])
def test_a_version_that_is_not_spoken_is_answered_with_the_servers_own(server, version):
    with Client(server, version) as client:
        assert client.status == "incompatible_version"
    with Client(server, 10) as client:
        assert client.status == "success"


@pytest.mark.parametrize(("arm", "answered"), [(FER, [4, 5]), (FR3, [6, 7, 8, 9, 10])], ids=["fer", "fr3"])
def test_by_default_an_arm_answers_the_versions_of_its_firmware_only(arm, answered, caplog):
    with serve((ArmMount(arm=arm),), system_version="own") as server:
        for version in fci.VERSIONS:
            with Client(server, version) as client:
                assert client.status == ("success" if version in answered else "incompatible_version")
                if version not in answered:
                    assert int.from_bytes(client.connected.payload, "little") == answered[-1]
            if version not in answered:
                assert "fci:system_version=any" in server.health()["arms"][0]["last_fault"]
    refused = 10 if arm is FER else 5
    assert f"a client of protocol version {refused} (libfranka " in caplog.text
    assert f"the firmware of the {arm.title} refuses it" in caplog.text


@pytest.mark.parametrize(
    ("arm", "refused"),
    [(FER, "version 6 to 10 (libfranka 0.10 to 0.21)"), (FR3, "version 4 to 5 (libfranka 0.8 to 0.9)")],
)
def test_with_any_protocol_a_note_names_the_clients_that_the_real_arm_refuses(arm, refused):
    with serve((ArmMount(arm=arm),), system_version="any") as server:
        (note,) = [note for note in server.bridge.notes if "system_version=any" in note]
        assert f"a real {arm.title} refuses clients of {refused}" in note
    with serve((ArmMount(arm=arm),), system_version="own") as server:
        assert not [note for note in server.bridge.notes if "system_version" in note]


@pytest.mark.parametrize(
    ("system", "version"),
    [
        ("4.0", 4), ("4.2.0", 4), ("4.2.1", 5), ("5.2.0", 6), ("5.4.9", 6), ("5.5", 7), ("5.7.0", 8), ("5.7.1", 8),
        ("5.7.2", 9), ("5.8.0", 9), ("5.9.1", 10),
    ],
)  # fmt: skip
def test_an_arm_of_a_system_version_answers_its_one_protocol(system, version):
    with serve((ArmMount(arm=FER if version < 6 else FR3),), system_version=system) as server:
        for asked in fci.VERSIONS:
            with Client(server, asked) as client:
                assert client.status == ("success" if asked == version else "incompatible_version")
                assert int.from_bytes(client.connected.payload, "little") == version


@pytest.mark.parametrize("system", ["", "5", "5.9.0.1", "own ", "3.9.9", "3.0.0", "5.1.9", "6.0.0", "-5.9", "5.9\n"])
def test_a_system_version_that_is_none_or_unknown_is_refused_with_those_that_are_known(system):
    with pytest.raises(BridgeError, match=r"must be like 5.9.0|known are those from 4.0.0, 4.2.1, 5.2.0"):
        FciOptions(system_version=system)


@pytest.mark.parametrize(("arm", "system", "first"), [(FER, "5.9.0", "4.0.0"), (FR3, "4.2.2", "5.2.0")])
def test_a_system_version_of_the_other_type_of_arm_is_refused(arm, system, first):
    _, simulation = make((ArmMount(arm=arm),), system_version=system)
    with simulation, pytest.raises(BridgeError, match=f"no system version {system}; .* from {first} on"):
        simulation.start()


@pytest.mark.parametrize("mode", ["lockstep", "paced"])
def test_in_lock_step_nothing_is_lost_and_two_runs_give_the_same_states(mode):
    runs = []
    for _ in range(2):
        collected = []
        with serve(mode=mode) as server, Client(server) as client:
            for _ in range(50):
                client.state()
            torque_loop(client, 300, collected)
            health = server.health()["arms"][0]
        assert (health["lost"], health["timeouts"], health["late"]) == (0, 0, 0)
        first = collected[0][0]
        runs.append([(n - first, state.reals.tobytes(), state.success_rate) for n, state in collected])
    assert [n for n, _, _ in runs[0]] == list(range(300))
    assert runs[0] == runs[1]
    assert all(rate == 1.0 for _, _, rate in runs[0])


@pytest.mark.parametrize("mode", ["lockstep", "paced"])
def test_a_client_that_took_the_first_states_of_a_motion_for_one_gets_another(mode):
    with serve(mode=mode) as server, Client(server) as client:
        number, state = client.begin(2, 4)  # both states that come before the first command are read
        client.udp.settimeout(0.9)  # libfranka gives up after 1 s
        later = client.state()
        assert later.message_id == state.message_id + 1
        np.testing.assert_array_equal(later.q, state.q)
        client.command(later, torque_command_finished=True)
        assert client.answer(number).status == "success"
        assert [server.health()["arms"][0][name] for name in ("lost", "timeouts", "late")] == [0, 0, 0]


@pytest.mark.parametrize("mode", ["lockstep", "paced"])
@pytest.mark.parametrize("asleep", [0.0, 0.004, 0.05, 0.3], ids=lambda time: f"{time} s")
def test_a_client_that_a_busy_machine_keeps_from_running_starts_its_motion_without_a_wait(mode, asleep, monkeypatch):
    """A client of libfranka takes all states that have come for one: the next one must not wait for its command."""
    wait = 20.0  # no stall of a machine takes as long
    monkeypatch.setattr("pliant.franka.bridge.arm_server.FIRST_COMMAND_S", wait)
    with serve(mode=mode, command_timeout=60.0) as server, Client(server) as client:
        time.sleep(asleep)  # states of the arm at rest wait in the client's socket, or fill it
        number = client.send(fci.Move(controller=2, motion_generator=4))
        assert client.answer(number).status == "started"
        time.sleep(asleep)
        began = time.monotonic()
        while client.newest().robot_mode != fci.RobotMode.MOVE:
            pass
        time.sleep(asleep / 10)
        state = client.newest()
        assert time.monotonic() - began < 0.5 * wait
        for _ in range(20):
            client.command(state)
            later = client.newest()
            assert later.message_id > state.message_id
            state = later
        client.command(state, torque_command_finished=True)
        assert client.answer(number).status == "success"
        assert [server.health()["arms"][0][name] for name in ("lost", "timeouts", "late")] == [0, 0, 0]


@pytest.mark.parametrize("mode", ["lockstep", "paced"])
@pytest.mark.parametrize("asleep", [0.0, 0.02, 0.1], ids=lambda time: f"{time} s")
def test_a_client_that_reads_one_state_after_another_gets_two_before_its_first_command(mode, asleep):
    """However slow it is: so that two runs with the same commands are the same."""
    with serve(mode=mode, command_timeout=60.0) as server, Client(server) as client:
        number = client.send(fci.Move(controller=2, motion_generator=4))
        assert client.answer(number).status == "started"
        time.sleep(asleep)
        while (first := client.state()).robot_mode != fci.RobotMode.MOVE:
            pass
        time.sleep(asleep)
        second = client.state()
        time.sleep(asleep)
        assert second.message_id == first.message_id + 1
        assert not select.select([client.udp], [], [], 0.1)[0], "a third state came before the first command"
        client.command(second, torque_command_finished=True)
        assert client.answer(number).status == "success"


@pytest.mark.parametrize("mode", ["lockstep", "paced"])
def test_a_program_of_one_thread_starts_a_second_arm_without_a_wait_for_the_first_ones_command(mode):
    mounts = (ArmMount(name="left", arm=FR3), ArmMount(name="right", arm=FR3, position=(0.0, 1.5, 0.0)))
    served = serve(mounts, mode=mode, command_timeout=60.0)
    with served as server, Client(server) as left, Client(server, arm=1) as right:
        numbers = [left.begin(2, 4)[0]]
        began = time.monotonic()
        numbers.append(right.begin(2, 4)[0])
        assert time.monotonic() - began < 0.5 * FIRST_COMMAND_S
        for last in (False, True):
            states = [left.newest(), right.newest()]
            for client, state in zip((left, right), states, strict=True):
                while state.message_id < max(s.message_id for s in states):
                    state = client.state()
                client.command(state, torque_command_finished=last)
        assert [left.answer(numbers[0]).status, right.answer(numbers[1]).status] == ["success"] * 2


def test_on_the_wall_clock_a_client_that_keeps_up_moves_the_arm():
    with serve(mode="wall") as server, Client(server) as client:
        number = client.start(2, 4)
        for _ in range(50):
            client.command(client.newest())
        assert client.ask(fci.StopMove()).status == "success"
        assert client.answer(number).status == "preempted"
        assert server.health()["mode"] == "wall"


def test_a_silent_client_ends_its_motion_by_lost_commands():
    with serve(command_timeout=0.005) as server, Client(server) as client:
        number = client.start(0, 0)
        client.command(client.newest(), motion=np.concatenate([client.state().q_d, np.zeros(31)]))
        while client.state().robot_mode == fci.RobotMode.MOVE:
            pass
        assert client.answer(number).status == "reflex"
        state = client.newest()
        assert state.error_names() == ["communication_constraints_violation"]
        assert client.ask(fci.Move(controller=0, motion_generator=0)).status == "not_possible"
        assert client.ask(fci.AutomaticErrorRecovery()).status == "success"
        assert client.newest().robot_mode == fci.RobotMode.IDLE
        assert server.health()["arms"][0]["lost"] == 20


def test_stop_move_answers_both_requests(server):
    with Client(server) as client:
        number = client.start(0, 1)
        for _ in range(20):
            client.command(client.newest())
        assert client.ask(fci.StopMove()).status == "success"
        assert client.answer(number).status == "preempted"
        assert client.newest().robot_mode == fci.RobotMode.IDLE


def test_the_user_stop_reaches_the_client_in_words_of_its_version():
    with serve() as server, Client(server, 5) as client:
        number = client.start(2, 1)
        client.command(client.newest())
        server.simulation.request("franka", "user_stop").result(TIMEOUT)
        assert client.answer(number).status == "emergency"
        assert client.newest().robot_mode == fci.RobotMode.USER_STOPPED


def test_a_second_client_is_refused_and_the_first_goes_on(server):
    with Client(server) as first:
        with pytest.raises(OSError):
            Client(server)
        assert first.state().message_id < first.state().message_id
    assert server.health()["arms"][0]["refused"] == 1
    with Client(server) as third:
        assert third.status == "success"


def test_a_client_that_dies_in_a_motion_leaves_the_arm_at_rest_and_the_server_alive(server):
    client = Client(server)
    client.start(0, 1)
    for k in range(100):
        motion = np.zeros(38)
        motion[7:14] = 0.001 * k
        client.command(client.newest(), motion=motion)
    client.close()
    with Client(server) as successor:
        for _ in range(300):
            state = successor.state()
        assert state.robot_mode == fci.RobotMode.IDLE
        np.testing.assert_allclose(state.dq, 0, atol=1e-4)
        torque_loop(successor, 20)
    assert (
        "the arm stops" in " ".join(str(a.last_fault) for a in server.arms)
        or server.arms[0].counters["connections"] == 2
    )


def silent_connection(server, port="robot"):
    arm = server.arms[0]
    return socket.create_connection((arm.host, arm.port if port == "robot" else arm.hand.port), timeout=TIMEOUT)


def test_connections_that_never_say_connect_keep_no_client_out_and_are_closed(server, monkeypatch):
    quiet = [silent_connection(server, port) for port in ("robot", "robot", "gripper")]
    with Client(server) as client, contextlib.ExitStack() as stack:
        for sock in quiet:
            stack.enter_context(sock)
        assert client.status == "success"
        torque_loop(client, 20)
        with pytest.raises(OSError):
            Client(server)
        monkeypatch.setattr("pliant.franka.bridge.sockets.CONNECT_TIMEOUT", 0.0)
        for sock in quiet:
            assert sock.recv(1) == b""
        assert client.state().message_id < client.state().message_id
        assert "did not send Connect" in server.arms[0].last_fault
        assert "did not send Connect" in server.arms[0].hand.last_fault


def test_of_two_waiting_connections_the_first_that_says_connect_is_the_client(server):
    with silent_connection(server) as early, Client(server) as client:
        assert client.status == "success"
        early.sendall(struct.pack("<IIIHH", 0, 0, 16, 10, 4))
        with pytest.raises(ConnectionResetError):
            early.recv(100)
        torque_loop(client, 20)
    assert server.arms[0].counters["refused"] == 1


@pytest.mark.parametrize("port", ["robot", "gripper"])
def test_more_silent_connections_than_fit_keep_no_client_out(server, port):
    with contextlib.ExitStack() as stack:
        for _ in range(40):
            stack.enter_context(silent_connection(server, port))
        with Client(server) as client:
            assert client.status == "success"
            torque_loop(client, 20)
        with silent_connection(server, "gripper") as hand:
            hand.sendall(struct.pack("<HIIHH", 0, 0, 14, 3, 9))
            assert hand.recv(100)


def test_descriptors_that_select_refuses_do_not_end_the_run():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < 1200 and hard < 1200:
        pytest.skip("the process may not open 1200 files")
    with contextlib.ExitStack() as stack:
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 1200), hard))
        null = stack.enter_context(Path(os.devnull).open("rb"))
        for _ in range(1050):
            stack.callback(os.close, os.dup(null.fileno()))
        server = stack.enter_context(serve(mode="paced"))
        quiet = stack.enter_context(silent_connection(server, "gripper"))
        assert quiet.fileno() >= 1024
        torque_loop(stack.enter_context(Client(server)), 20)


@pytest.mark.parametrize("kind", ["joint velocity", "torque"])
def test_the_client_after_one_that_was_killed_in_a_motion_works_as_soon_as_the_arm_stands(server, kind):
    joint = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    for _ in range(3):
        client = Client(server)
        _, state = client.begin(*((0, 1) if kind == "joint velocity" else (2, 4)))
        for k in range(150):
            if kind == "joint velocity":
                motion = np.zeros(38)
                motion[7:14] = 0.3 * (1.0 - np.cos(np.pi * min(k, 100) / 100)) * joint
                client.command(state, motion=motion)
            else:
                pull = Q_START + 0.3 * np.sin(0.01 * k) - state.q
                torque = np.array([60, 60, 60, 60, 20, 10, 1]) * pull - np.array([6, 6, 6, 4, 1, 0.5, 0.05]) * state.dq
                client.command(state, tau_J_d=torque)
            state = client.state()
        assert np.abs(state.dq).max() > 0.1
        client.close()  # what a killed process does
        with Client(server) as successor:
            first = successor.state()
            assert successor.ask(fci.SetJointImpedance(K_theta=(2500.0,) * 7)).status == "success"
            assert successor.ask(fci.SetLoad(mass=0.0, F_x_Cload=(0.0,) * 3, I_load=(0.0,) * 9)).status == "success"
            state = successor.newest()
            assert state.robot_mode == fci.RobotMode.IDLE
            np.testing.assert_allclose(state.dq, 0.0, atol=0.02)  # of 0.6 rad/s; the arm follows q_d within some ms
            assert state.message_id - first.message_id < 500
            torque_loop(successor, 20)
            go_home(successor)


def go_home(client):
    """Move back to where the arm starts, on a straight line in joint space."""
    number, state = client.begin(0, 0)
    start = state.q_d.copy()
    for k in range(1000):
        s = 0.5 - 0.5 * np.cos(np.pi * k / 999)
        motion = np.zeros(38)
        motion[:7] = start + s * (Q_START - start)
        client.command(state, motion=motion, motion_generation_finished=k == 999)
        state = client.state()
    while state.robot_mode == fci.RobotMode.MOVE:
        client.command(state, motion=motion, motion_generation_finished=True)
        state = client.state()
    assert client.answer(number).status == "success"


def test_too_many_requests_while_the_arm_stops_end_that_connection_only(server):
    client = Client(server)
    _, state = client.begin(0, 1)
    for k in range(500):
        motion = np.zeros(38)
        motion[7] = 0.003 * k  # fast: the arm has to stop for longer than a busy machine needs for the flood
        client.command(state, motion=motion)
        state = client.state()
    client.close()
    with silent_connection(server) as flood:
        flood.sendall(struct.pack("<IIIHH", 0, 0, 16, 10, 9))
        flood.sendall(b"".join(fci.encode_request(fci.StopMove(), version=10, command_id=n) for n in range(1, 200)))
        with pytest.raises(ConnectionResetError):
            flood.recv(1)
    with Client(server) as successor:
        torque_loop(successor, 20)


def test_by_default_robot_time_is_never_faster_than_the_wall_clock_and_the_user_is_told():
    assert FciOptions().mode == "paced"
    with serve(mode="paced", system_version="own") as server, Client(server) as client:
        began = time.perf_counter()
        client.swing(200)
        assert time.perf_counter() - began > 0.199
        (note,) = server.bridge.notes
    assert "never faster than 1 kHz" in note
    assert "mode=lockstep" in note


def test_a_reconnect_storm_is_survived(server):
    for _ in range(100):
        with Client(server) as client:
            assert client.status == "success"
    assert server.arms[0].counters["connections"] == 100


@pytest.mark.parametrize(
    "noise",
    [
        b"\x00" * 12,
        struct.pack("<III", 0, 0, 2**31),
        struct.pack("<III", 7, 0, 12),
        b"GET / HTTP/1.1\r\n\r\n",
        struct.pack("<III", 0, 0, 13) + b"x",
    ],
)
def test_noise_on_the_robot_port_ends_that_connection_only(server, noise):
    with socket.create_connection((server.arms[0].host, server.arms[0].port), timeout=TIMEOUT) as tcp:
        tcp.sendall(noise)
        with contextlib.suppress(ConnectionResetError):
            assert tcp.recv(100) == b""
    with Client(server) as client:
        assert client.status == "success"
    assert server.arms[0].counters["malformed"] == 1
    assert "malformed request" in server.arms[0].last_fault or "closed" in server.arms[0].last_fault


def test_a_half_sent_request_waits_and_a_half_sent_command_is_dropped(server):
    with Client(server) as client:
        data = fci.encode_request(fci.StopMove(), version=10, command_id=client.count)
        client.tcp.sendall(data[:5])
        client.state()
        client.tcp.sendall(data[5:])
        assert client.answer(client.count).status == "success"
        client.state()
        client.udp.sendto(b"\x01" * 100, client.peer)
        start = client.newest().message_id
        while client.newest().message_id < start + 5:
            pass
        assert server.arms[0].counters["malformed"] == 1
        assert "command of 100 bytes" in server.arms[0].last_fault


def test_a_client_that_never_reads_its_answers_is_let_go(server):
    client = Client(server)
    request = fci.encode_request(fci.GetRobotModel(), version=10, command_id=1)
    client.tcp.settimeout(TIMEOUT)
    with contextlib.suppress(OSError):
        for _ in range(400):
            client.tcp.sendall(request * 10)
    client.udp.settimeout(0.05)
    end = time.monotonic() + TIMEOUT
    while server.arms[0].connected and time.monotonic() < end:
        with contextlib.suppress(OSError):  # a busy server pauses between its states
            client.state()
    assert "does not read its answers" in server.arms[0].last_fault
    client.close()
    with Client(server) as successor:
        assert successor.status == "success"


def test_noise_on_the_gripper_port_ends_that_connection_only(server):
    with socket.create_connection(("127.0.0.1", server.arms[0].hand.port), timeout=TIMEOUT) as tcp:
        tcp.sendall(b"\xff" * 40)
        with contextlib.suppress(ConnectionResetError):
            assert tcp.recv(100) == b""
    with Client(server) as client:
        assert client.status == "success"


def test_the_gripper_answers_when_its_motion_ends_and_stop_gets_through(server):
    tcp = socket.create_connection(("127.0.0.1", server.arms[0].hand.port), timeout=TIMEOUT)
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", 0))
    udp.settimeout(TIMEOUT)
    framer, frames = fci.Framer("gripper"), []

    def answer(number):
        while True:
            for frame in frames:
                if frame.command_id == number:
                    return fci.decode_gripper_response(frame)
            frames.extend(framer.feed(tcp.recv(1000)))

    def send(request, number):
        tcp.sendall(fci.encode_gripper_request(request, command_id=number))

    with tcp, udp:
        send(fci.Connect(version=3, udp_port=udp.getsockname()[1]), 0)
        assert answer(0) == ("success", b"\x03\x00")
        send(fci.GripperMove(width=0.05, speed=0.1), 1)
        assert answer(1)[0] == "success"
        state = fci.decode_gripper_state(udp.recv(100))
        for _ in range(1000):
            if abs(state.width - 0.05) < 2e-3:
                break
            state = fci.decode_gripper_state(udp.recv(100))
        assert state.width == pytest.approx(0.05, abs=2e-3)
        send(fci.GripperMove(width=0.0, speed=0.001), 2)
        send(fci.GripperStop(), 3)
        assert answer(3)[0] == "success"
        assert answer(2)[0] == "aborted"
        send(fci.GripperMove(width=1.0, speed=0.1), 4)
        assert answer(4)[0] == "fail"


def test_the_energy_audit_of_a_run_through_the_interface_closes_within_one_percent():
    with serve(robot=build_robot("fr3"), audit=True) as server, Client(server) as client:
        for _ in range(2):
            client.swing(200, size=3.0)  # static friction holds the arm against less
        go_home(client)
        hand = server.simulation.request("franka", "gripper_move", width=0.06, speed=0.1)
        hand.result(TIMEOUT)
        torque_loop(client, 200)
    balance = server.simulation.engine.audit.balance()
    assert balance.throughput > 0.1
    assert balance.motor_friction > 0.01 * balance.throughput
    assert balance.relative < 0.01


def test_a_missing_library_is_an_answer_not_a_silence(caplog):
    def library(architecture, system):
        raise MissingDependency("a C compiler", command="apt-get install gcc", purpose="the model library")

    caplog.set_level(logging.WARNING)

    def missing(bridge):
        bridge.arms[0].library = library

    def offered(bridge):
        bridge.arms[0].library = lambda a, s: b"\x7fELF" * 1000

    with serve(prepare=missing) as server, Client(server, 5) as client:
        assert client.ask(fci.LoadModelLibrary(architecture=0, system=0)).status == "error"
        assert client.ask(fci.StopMove()).status == "success"
    assert "apt-get install gcc" in caplog.text
    with serve(prepare=offered) as server, Client(server, 5) as client:
        assert client.ask(fci.LoadModelLibrary(architecture=0, system=0)).payload == b"\x7fELF" * 1000


def test_two_arms_in_one_world_have_their_own_ports_and_move_on_their_own():
    mounts = (
        ArmMount(name="left", arm=FR3, position=(0, 0.4, 1.0), rpy=(-0.8, 0, 0)),
        ArmMount(name="right", position=(0, -0.4, 1.0), rpy=(0.8, 0, 0)),
    )
    with serve(mounts) as server, Client(server, 10, arm=0) as left, Client(server, 5, arm=1) as right:
        before = right.newest().q.copy()
        number = left.start(0, 1)
        for k in range(200):
            motion = np.zeros(38)
            motion[7:14] = 0.001 * min(k, 200 - k)
            left.command(left.newest(), motion=motion)
        assert left.ask(fci.StopMove()).status == "success"
        assert left.answer(number).status == "preempted"
        assert np.abs(left.newest().q - Q_START).max() > 1e-3
        np.testing.assert_allclose(right.newest().q, before, atol=1e-4)
        torque_loop(right, 20)


@given(robot=st.binary(max_size=200), hand=st.binary(max_size=200), datagram=st.binary(max_size=500), data=st.data())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_noise_on_any_port_stops_the_server(server, robot, hand, datagram, data):
    framed = data.draw(st.sampled_from([b"", struct.pack("<IIIHH", 0, 0, 16, 10, 0), struct.pack("<III", 1, 0, 68)]))
    for port, noise in ((server.arms[0].port, framed + robot), (server.arms[0].hand.port, hand)):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=TIMEOUT) as tcp:
            tcp.sendall(noise)
    with Client(server) as client:
        assert client.status == "success"
        client.state()
        client.udp.sendto(datagram, client.peer)
        assert client.ask(fci.StopMove()).status == "success"
    assert server.health()["arms"][0]["robot_mode"] == "idle"


@pytest.mark.parametrize("port", ["port", "gripper_port"], ids=["robot", "gripper"])
def test_a_busy_port_is_named_and_nothing_stays_open(port):
    with socket.create_server(("127.0.0.1", 0)) as blocker:
        number = blocker.getsockname()[1]
        what = port.partition("_")[0].replace("port", "robot")
        bridge, simulation = make(**{port: number})
        with (
            simulation,
            pytest.raises(BridgeError, match=f"{what}: TCP port {number} of 127.0.0.1 is in use"),
        ):
            simulation.start()
        assert all(arm.handlers() == {} for arm in bridge.arms)


def test_bad_options_are_named():
    with pytest.raises(BridgeError, match="must be one of lockstep, paced, wall"):
        FciOptions(mode="lockstepp")
    with pytest.raises(BridgeError, match="command_timeout is 61"):
        FciOptions(command_timeout=61.0)
    with pytest.raises(BridgeError, match="priority is 100"):
        FciOptions(priority=100)
    with pytest.raises(BridgeError, match="port is 70000"):
        FciOptions(port=70000)
    with pytest.raises(BridgeError, match="lockstep"):
        make_bridge("fci:mode=lockstp", None)
    with pytest.raises(BridgeError, match="host"):
        make_bridge("fci:hots=127.0.0.1", None)
    _, simulation = make(host="203.0.113.7")
    with simulation, pytest.raises(BridgeError, match="cannot listen on"):
        simulation.start()


@pytest.mark.parametrize(
    ("ports", "message"),
    [
        ({"vacuum_port": 4000}, "vacuum_port is 4000, and no arm of this robot has a vacuum gripper"),
        ({"port": 4000, "gripper_port": 4000}, "port and gripper_port are both 4000; must differ"),
    ],
)
def test_ports_that_cannot_be_are_refused_before_binding(ports, message):
    bridge, simulation = make(**ports)
    with simulation, pytest.raises(BridgeError, match=message):
        simulation.start()
    assert bridge.arms == []


def test_the_port_of_the_gripper_is_an_address_of_the_bridge(server):
    arm = server.arms[0]
    assert server.bridge.addresses == {
        "franka": f"{arm.host}:{arm.port}",
        "gripper of franka": f"{arm.hand.host}:{arm.hand.port}",
    }


def test_a_robot_without_arms_is_refused():
    _, simulation = make(robot=build_robot("qbmove-1dof"))
    with simulation, pytest.raises(BridgeError, match="Franka arm"):
        simulation.start()


def test_several_arms_need_a_host_with_a_successor():
    _, simulation = make(robot=build_robot("franka-dual"), host="localhost")
    with simulation, pytest.raises(BridgeError, match="successor"):
        simulation.start()


def test_each_arm_of_a_robot_has_its_own_address_and_client():
    with serve(robot=build_robot("franka-dual", {"friction": False}), host="127.0.7.1") as server:
        hosts = {name: address.rpartition(":")[0] for name, address in server.bridge.addresses.items()}
        assert (hosts["left"], hosts["right"]) == ("127.0.7.1", "127.0.7.2")
        with Client(server, arm=0) as left, Client(server, 7, arm=1) as right:
            # gravity differs in the two bases
            np.testing.assert_allclose(left.state().O_ddP_O[1], -right.state().O_ddP_O[1], atol=1e-5)
            assert abs(left.state().O_ddP_O[1]) > 5.0
            moved = left.swing(100)
            assert np.abs(moved.q - Q_START).max() > 1e-4
            still = right.state()
            while still.message_id < moved.message_id:
                still = right.state()
            np.testing.assert_allclose(still.q, Q_START, atol=1e-3)
            right.swing(20)
        assert all(arm["lost"] == 0 for arm in server.health()["arms"])


def test_two_runs_publish_the_same_bytes_whatever_the_pauses_before():
    def run(pause):
        seen = []
        with serve() as server, Client(server) as client:
            for _ in range(pause):
                client.state()
            client.swing(300, seen)
        return seen

    first, second = run(30), run(95)  # after 12 cycles at the latest no number of the arm at rest changes any more
    assert len(first) == 300
    assert first == second


def test_the_sample_of_the_device_is_the_state_on_the_wire(server):
    with Client(server, 9) as client:
        state = client.swing(100)
        assert np.abs(state.q - Q_START).max() > 1e-4
    seen = []
    bridge, simulation = make()
    with simulation:
        simulation.start()
        arm = bridge.arms[0]
        simulation.step(3)
        values = simulation.sample("franka").values
        packed = fci.StatePacker(9).pack(values.state)
        seen = fci.decode_state(bytes(packed), version=9)
        for name in fci.REALS:
            np.testing.assert_array_equal(np.ravel(values[name]), getattr(seen, name))
        assert values["robot_mode"] == seen.robot_mode
        assert arm.device.mode == ""


def test_a_command_of_the_wire_goes_through_the_mailbox():
    with serve() as server, Client(server) as client:
        _, state = client.begin(2, 4)
        device = server.arms[0].device
        assert device.inbox.accepted == {"torque"}
        client.command(state, tau_J_d=np.full(7, 0.01))
        client.state()
        command = device.inbox.peek()
        assert command.mode == "torque"
        assert command.seq == state.message_id
        np.testing.assert_array_equal(command.values["tau_J_d"], np.full(7, 0.01))
        assert client.ask(fci.StopMove()).status == "success"
        with pytest.raises(DeviceError, match="takes none"):
            device.inbox.put({"tau_J_d": [0.0] * 7}, mode="torque")


def test_the_bridge_is_made_by_its_name_and_closes_twice():
    bridge = make_bridge("fci:port=0,gripper_port=0,mode=paced", None)
    assert isinstance(bridge, FciBridge)
    assert bridge.options.mode == "paced"
    bridge.stop()
    bridge.stop()
    assert bridge.health() == {"mode": "paced", "arms": []}
