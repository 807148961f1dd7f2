"""The Franka Control Interface's bytes against the published layout, round trips, and noise."""

import contextlib
import math
import struct
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.base.errors import WireError
from pliant.franka.wire import fci

NUMBERS = st.floats(allow_nan=False, width=64)

# Field -> (offset in versions 5 to 9, offset in version 10), from the published packed structures.
OFFSETS = {
    "O_T_EE": (8, 8),
    "O_T_EE_d": (136, 72),
    "F_T_EE": (264, 136),
    "EE_T_K": (392, 200),
    "F_T_NE": (520, 264),
    "NE_T_EE": (648, 328),
    "m_ee": (776, 392),
    "I_ee": (784, 396),
    "F_x_Cee": (856, 432),
    "m_load": (880, 444),
    "I_load": (888, 448),
    "F_x_Cload": (960, 484),
    "elbow": (984, 496),
    "elbow_d": (1000, 504),
    "tau_J": (1016, 512),
    "tau_J_d": (1072, 540),
    "dtau_J": (1128, 568),
    "q": (1184, 596),
    "q_d": (1240, 624),
    "dq": (1296, 652),
    "dq_d": (1352, 680),
    "ddq_d": (1408, 708),
    "joint_contact": (1464, 736),
    "cartesian_contact": (1520, 764),
    "joint_collision": (1568, 788),
    "cartesian_collision": (1624, 816),
    "tau_ext_hat_filtered": (1672, 840),
    "O_F_ext_hat_K": (1728, 868),
    "K_F_ext_hat_K": (1776, 892),
    "O_dP_EE_d": (1824, 916),
    "O_ddP_O": (1872, 940),
    "elbow_c": (1896, 952),
    "delbow_c": (1912, 960),
    "ddelbow_c": (1928, 968),
    "O_T_EE_c": (1944, 976),
    "O_dP_EE_c": (2072, 1040),
    "O_ddP_EE_c": (2120, 1064),
    "theta": (2168, 1088),
    "dtheta": (2224, 1116),
}

OFFSETS_4 = {
    **{name: at for name, (at, _) in OFFSETS.items() if at <= 1824},
    "elbow_c": 1872, "delbow_c": 1888, "ddelbow_c": 1904, "O_T_EE_c": 1920, "O_dP_EE_c": 2048, "O_ddP_EE_c": 2096,
    "theta": 2144, "dtheta": 2200,
}  # fmt: skip
"""The same of version 4, whose public structure has no acceleration of the base."""


def some_state() -> fci.RobotState:
    state = fci.RobotState(message_id=0x0102030405060708, robot_mode=2, success_rate=0.75)
    state.reals[:] = np.arange(284) * 0.5 - 20.0
    state.accelerometers[:] = np.arange(36) + 1000.0
    state.motion_generator_mode, state.controller_mode = 5, 2
    state.errors[6] = state.errors[40] = 1
    state.reflex_reason[25] = 1
    return state


@pytest.mark.parametrize("version", fci.VERSIONS[1:])
def test_every_field_of_the_state_lies_where_the_published_structure_has_it(version):
    state = some_state()
    data = bytes(fci.StatePacker(version).pack(state))
    late = version >= 10
    assert len(data) == (1377 if late else 2373)
    assert struct.unpack_from("<Q", data)[0] == 0x0102030405060708
    letter = "f" if late else "d"
    assert set(OFFSETS) == set(fci.REALS)
    for name, (early_at, late_at) in OFFSETS.items():
        values = getattr(state, name)
        found = struct.unpack_from(f"<{len(values)}{letter}", data, late_at if late else early_at)
        np.testing.assert_array_equal(found, values, err_msg=name)
    modes, errors, reflex, mode, rate = (1288, 1290, 1331, 1372, 1373) if late else (2280, 2282, 2323, 2364, 2365)
    assert data[modes : modes + 2] == b"\x05\x02"
    assert [i for i in range(41) if data[errors + i]] == [6, 40]
    assert [i for i in range(41) if data[reflex + i]] == [25]
    assert data[mode] == 2
    assert struct.unpack_from(f"<{letter}", data, rate)[0] == 0.75
    if late:
        assert struct.unpack_from("<36f", data, 1144) == tuple(range(1000, 1036))


def test_the_state_of_version_4_has_no_acceleration_of_the_base_and_37_errors():
    state = some_state()
    state.errors[36] = 1
    data = bytes(fci.StatePacker(4).pack(state))
    assert len(data) == fci.state_size(4) == 2341
    assert set(OFFSETS_4) == set(fci.REALS) - {"O_ddP_O"}
    for name, at in OFFSETS_4.items():
        values = getattr(state, name)
        np.testing.assert_array_equal(struct.unpack_from(f"<{len(values)}d", data, at), values, err_msg=name)
    assert data[2256:2258] == b"\x05\x02"
    assert [i for i in range(37) if data[2258 + i]] == [6, 36]
    assert [i for i in range(37) if data[2295 + i]] == [25]
    assert data[2332] == 2
    assert struct.unpack_from("<d", data, 2333)[0] == 0.75
    read = fci.decode_state(data, version=4)
    assert read.error_names() == ["joint_reflex", "joint_move_in_wrong_direction"]
    assert not read.O_ddP_O.any()


GOLDEN = [
    (fci.Connect(version=10, udp_port=0x1234), 10, 0, "0000000000000000100000000a003412"),
    (fci.Connect(version=5, udp_port=0x1234), 5, 0, "00000000000000001000000005003412"),
    (fci.Connect(version=4, udp_port=0x1234), 4, 0, "00000000000000001000000004003412"),
    (fci.AutomaticErrorRecovery(), 4, 1, "0c000000010000000c000000"),
    (fci.StopMove(), 10, 7, "02000000070000000c000000"),
    (fci.AutomaticErrorRecovery(), 5, 1, "0c000000010000000c000000"),
    (fci.AutomaticErrorRecovery(), 6, 1, "0a000000010000000c000000"),
    (fci.GetRobotModel(), 9, 2, "0c000000020000000c000000"),
    (fci.GetRobotModel(), 10, 2, "0b000000020000000c000000"),
    (fci.LoadModelLibrary(architecture=3, system=0), 5, 9, "0d000000090000000e0000000300"),
    (
        fci.SetGuidingMode(guiding_mode=(True, False, True, False, False, True), nullspace=True),
        10,
        3,
        "06000000030000001300000001000100000101",
    ),
    (
        fci.Move(
            controller=2,
            motion_generator=1,
            maximum_path_deviation=(1.0, 2.0, 3.0),
            maximum_goal_deviation=(1.0, 2.0, 3.0),
        ),
        5,
        4,
        "0100000004000000440000000200000001000000" + 2 * ("000000000000f03f00000000000000400000000000000840"),
    ),
]


@pytest.mark.parametrize(("request_", "version", "command_id", "golden"), GOLDEN)
def test_requests_have_their_golden_bytes(request_, version, command_id, golden):
    data = fci.encode_request(request_, version=version, command_id=command_id)
    assert data.hex() == golden
    (frame,) = fci.Framer().feed(data)
    assert frame.command_id == command_id
    assert fci.decode_request(frame, version=version) == request_


def test_request_sizes_are_those_of_the_published_structures():
    seven, six, pose = (0.0,) * 7, (0.0,) * 6, (0.0,) * 16
    collision = fci.SetCollisionBehavior(
        lower_torque_acceleration=seven,
        upper_torque_acceleration=seven,
        lower_torque_nominal=seven,
        upper_torque_nominal=seven,
        lower_force_acceleration=six,
        upper_force_acceleration=six,
        lower_force_nominal=six,
        upper_force_nominal=six,
    )
    sizes = {
        collision: 416,
        fci.SetJointImpedance(K_theta=seven): 56,
        fci.SetCartesianImpedance(K_x=six): 48,
        fci.SetEEToK(EE_T_K=pose): 128,
        fci.SetNEToEE(NE_T_EE=pose): 128,
        fci.SetLoad(mass=1.0, F_x_Cload=(0.0,) * 3, I_load=(0.0,) * 9): 104,
        fci.Move(controller=0, motion_generator=0): 113,
    }
    for request, size in sizes.items():
        assert len(fci.encode_request(request, version=10, command_id=0)) == 12 + size
    assert len(fci.encode_request(fci.Move(controller=0, motion_generator=0), version=9, command_id=0)) == 12 + 56
    filters = fci.SetFilters(
        joint_position=1.0, joint_velocity=1.0, cartesian_position=1.0, cartesian_velocity=1.0, controller=1.0
    )
    assert len(fci.encode_request(filters, version=5, command_id=0)) == 12 + 40
    assert len(fci.cartesian_limit_payload((1.0,) * 3, pose, True)) == 153


STATUS_TABLE = [
    (4, "Move", "reflex", 6),
    (4, "AutomaticErrorRecovery", "aborted", 5),
    (5, "Move", "reflex", 6),
    (6, "Move", "reflex", 8),
    (5, "Move", "emergency", 7),
    (10, "Move", "emergency", 9),
    (5, "Move", "not_possible", 3),
    (10, "Move", "not_possible", 5),
    (10, "Move", "preempted", 2),
    (10, "Move", "started", 1),
    (10, "Move", "aborted", 11),
    (5, "Move", "aborted", 9),
    (5, "StopMove", "emergency", 2),
    (6, "StopMove", "emergency", 3),
    (5, "AutomaticErrorRecovery", "manual_recovery", 2),
    (6, "AutomaticErrorRecovery", "manual_recovery", 3),
    (5, "SetLoad", "invalid_argument", 2),
    (6, "SetLoad", "safety", 3),
    (8, "GetRobotModel", "success", 0),
    (5, "LoadModelLibrary", "error", 1),
]


@pytest.mark.parametrize(("version", "command", "status", "number"), STATUS_TABLE)
def test_statuses_have_the_numbers_of_their_version(version, command, status, number):
    assert fci.status_number(version, command, status) == number
    assert fci.status_name(version, command, number) == status


def test_a_status_that_a_version_lacks_is_named_with_the_valid_ones():
    with pytest.raises(WireError, match="preempted"):
        fci.status_number(5, "Move", "preempted_safety")
    with pytest.raises(WireError, match="no command 'GetRobotModel'"):
        fci.command_number(7, "GetRobotModel")
    with pytest.raises(WireError, match="4 to 10"):
        fci.state_size(11)


def test_the_connect_answer_has_its_golden_bytes():
    answer = fci.Response(command="Connect", command_id=0, status="success", payload=struct.pack("<H", 10))
    data = fci.encode_response(answer, version=10)
    assert data.hex() == "00000000000000000f000000000a00"
    (frame,) = fci.Framer().feed(data)
    assert fci.decode_response(frame, version=10) == answer


@pytest.mark.parametrize(("version", "size"), [(4, 370), (5, 370), (6, 370), (7, 371), (10, 371)])
def test_a_command_has_its_fields_at_the_published_offsets(version, size):
    data = bytearray(size)
    struct.pack_into("<Q", data, 0, 77)
    for at, count, base in [(8, 7, 1), (64, 7, 10), (120, 16, 20), (248, 6, 40), (296, 2, 50), (314, 7, 60)]:
        struct.pack_into(f"<{count}d", data, at, *range(base, base + count))
    data[312] = data[313] = 1
    data[-1] = data[-1] if version < 7 else 1
    command = fci.CommandUnpacker(version).unpack(bytes(data))
    assert command.message_id == 77
    assert list(command.q_c) == list(range(1, 8))
    assert list(command.dq_c) == list(range(10, 17))
    assert list(command.O_T_EE_c) == list(range(20, 36))
    assert list(command.O_dP_EE_c) == list(range(40, 46))
    assert list(command.elbow_c) == [50, 51]
    assert list(command.tau_J_d) == list(range(60, 67))
    assert command.valid_elbow
    assert command.motion_generation_finished
    assert command.torque_command_finished == (version >= 7)
    assert fci.encode_command(command, version=version) == bytes(data)


def test_the_gripper_messages_have_their_golden_bytes():
    grasp = fci.GripperGrasp(width=1.0, epsilon_inner=2.0, epsilon_outer=3.0, speed=0.5, force=4.0)
    data = fci.encode_gripper_request(grasp, command_id=5)
    numbers = "000000000000f03f00000000000000400000000000000840000000000000e03f0000000000001040"
    assert data.hex() == "02000500000032000000" + numbers
    (frame,) = fci.Framer("gripper").feed(data)
    assert fci.decode_gripper_request(frame) == grasp
    answer = fci.encode_gripper_response(0, 0, "success", payload=struct.pack("<H", 3))
    assert answer.hex() == "0000000000000e00000000000300"
    assert fci.decode_gripper_response(fci.Framer("gripper").feed(answer)[0]) == ("success", b"\x03\x00")
    state = fci.GripperState(message_id=9, width=0.5, max_width=1.0, is_grasped=True, temperature=30)
    packed = fci.encode_gripper_state(state)
    assert packed.hex() == "09000000000000000000e03f000000000000f03f011e00"
    assert fci.decode_gripper_state(packed) == state


def test_the_vacuum_grippers_messages_have_their_golden_bytes():
    suck = fci.Vacuum(vacuum=100, profile=2, timeout=1000)
    data = fci.encode_vacuum_request(suck, command_id=5)
    assert data.hex() == "01000500000014000000" + "6402" + "e803000000000000"
    assert fci.decode_vacuum_request(fci.Framer("gripper").feed(data)[0]) == suck
    drop = fci.VacuumDropOff(timeout=258)
    data = fci.encode_vacuum_request(drop, command_id=6)
    assert data.hex() == "02000600000012000000" + "0201000000000000"
    assert fci.decode_vacuum_request(fci.Framer("gripper").feed(data)[0]) == drop
    data = fci.encode_vacuum_request(fci.VacuumStop(), command_id=7)
    assert data.hex() == "0300070000000a000000"
    assert fci.decode_vacuum_request(fci.Framer("gripper").feed(data)[0]) == fci.VacuumStop()
    connect = fci.Connect(version=1, udp_port=0x1234)
    data = fci.encode_vacuum_request(connect, command_id=0)
    assert data.hex() == "0000000000000e000000" + "01003412"
    assert fci.decode_vacuum_request(fci.Framer("gripper").feed(data)[0]) == connect
    answer = fci.encode_vacuum_response(2, 6, "unsuccessful")
    assert answer.hex() == "0200060000000c0000000200"
    assert fci.decode_vacuum_response(fci.Framer("gripper").feed(answer)[0]) == ("unsuccessful", b"")
    state = fci.VacuumState(
        message_id=9, in_control_range=True, part_detached=False, part_present=True, actual_power=100, vacuum=750
    )
    packed = fci.encode_vacuum_state(state)
    assert packed.hex() == "09000000" + "01000100" + "64000000" + "ee020000"
    assert fci.decode_vacuum_state(packed) == state


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [(4, 2, "in_control_range is 2"), (6, 255, "part_present is 255"), (7, 4, "device_status is 4; must be 0 to 3")],
)
def test_a_vacuum_state_with_an_impossible_flag_is_refused(place, value, message):
    data = bytearray(16)
    data[place] = value
    with pytest.raises(WireError, match=message):
        fci.decode_vacuum_state(bytes(data))


# Bytes that the real clients sent, recorded on a socket: pylibfranka 0.21.3 (version 10), panda-python 1.1.1 (5).
RECORDED_IMPEDANCE_10 = (
    "0400000002000000440000000000000000408f400000000000409f40000000000070a7400000000000408f4000000000"
    "00409f400000000000407f400000000000406f40"
)
RECORDED_MOVE_10 = (
    "01000000030000007d00000002000000040000000000000000002440f6285c8fc2f50840182d4454fb21194000000000"
    "00002440f6285c8fc2f50840182d4454fb21194000000000000000000000000000000000000000000000000000000000"
    "0000000000000000000000000000000000000000000000000000000000"
)
RECORDED_MOVE_5 = (
    "01000000020000004400000002000000010000000000000000002440f6285c8fc2f50840182d4454fb21194000000000"
    "00002440f6285c8fc2f50840182d4454fb211940"
)
RECORDED_TORQUES_10 = (
    "7600000000000000"
    + "00" * 306
    + "000000000000c03f000000000000d03f000000000000e03f000000000000c0bf000000000000b03f000000000000a03f0000000000000000"
    + "00"
)
RECORDED_FINISH_5 = "d701000000000000" + "00" * 305 + "01" + "00" * 56


def test_what_the_real_clients_sent_is_understood_and_written_back_byte_for_byte():
    impedance = fci.SetJointImpedance(K_theta=(1000.0, 2000.0, 3000.0, 1000.0, 2000.0, 500.0, 250.0))
    torque = fci.Move(controller=fci.Controller.EXTERNAL, motion_generator=fci.MotionGenerator.NONE)
    with_velocity = fci.Move(controller=fci.Controller.EXTERNAL, motion_generator=fci.MotionGenerator.JOINT_VELOCITY)
    recorded = [
        (RECORDED_IMPEDANCE_10, 10, impedance),
        (RECORDED_MOVE_10, 10, torque),
        (RECORDED_MOVE_5, 5, with_velocity),
    ]
    for data, version, request in recorded:
        (frame,) = fci.Framer().feed(bytes.fromhex(data))
        assert fci.decode_request(frame, version=version) == request
        assert fci.encode_request(request, version=version, command_id=frame.command_id).hex() == data
    torques = fci.CommandUnpacker(10).unpack(bytes.fromhex(RECORDED_TORQUES_10))
    assert list(torques.tau_J_d) == [0.125, 0.25, 0.5, -0.125, 0.0625, 0.03125, 0.0]
    assert fci.encode_command(torques, version=10).hex() == RECORDED_TORQUES_10
    finish = fci.CommandUnpacker(5).unpack(bytes.fromhex(RECORDED_FINISH_5))
    assert finish.motion_generation_finished
    assert fci.encode_command(finish, version=5).hex() == RECORDED_FINISH_5


# --------------------------------------------------------------------------------------------- properties


def numbers(n):
    return st.tuples(*[NUMBERS] * n)


BOOLS = st.booleans()
REQUESTS = {
    "Connect": st.builds(fci.Connect, version=st.integers(0, 65535), udp_port=st.integers(0, 65535)),
    "Move": st.builds(
        fci.Move,
        controller=st.integers(0, 2**32 - 1),
        motion_generator=st.integers(0, 2**32 - 1),
        maximum_path_deviation=numbers(3),
        maximum_goal_deviation=numbers(3),
    ),
    "StopMove": st.just(fci.StopMove()),
    "GetCartesianLimit": st.builds(fci.GetCartesianLimit, id=st.integers(-(2**31), 2**31 - 1)),
    "SetJointImpedance": st.builds(fci.SetJointImpedance, K_theta=numbers(7)),
    "SetCartesianImpedance": st.builds(fci.SetCartesianImpedance, K_x=numbers(6)),
    "SetGuidingMode": st.builds(fci.SetGuidingMode, guiding_mode=st.tuples(*[BOOLS] * 6), nullspace=BOOLS),
    "SetEEToK": st.builds(fci.SetEEToK, EE_T_K=numbers(16)),
    "SetLoad": st.builds(fci.SetLoad, mass=NUMBERS, F_x_Cload=numbers(3), I_load=numbers(9)),
    "LoadModelLibrary": st.builds(fci.LoadModelLibrary, architecture=st.integers(0, 255), system=st.integers(0, 255)),
}


@given(data=st.data(), version=st.sampled_from(list(fci.VERSIONS)), command_id=st.integers(0, 2**32 - 1))
def test_requests_survive_a_round_trip_through_a_stream_cut_anywhere(data, version, command_id):
    known = [n for n in REQUESTS if n in {c.__name__ for c in fci.COMMANDS[version]}]
    sent = [data.draw(REQUESTS[data.draw(st.sampled_from(known))]) for _ in range(3)]
    stream = b"".join(fci.encode_request(r, version=version, command_id=command_id) for r in sent)
    framer, frames = fci.Framer(), []
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        frames += framer.feed(stream[start:end])
    assert framer.pending == 0
    assert [fci.decode_request(f, version=version) for f in frames] == sent
    assert {f.command_id for f in frames} == {command_id}


@given(
    version=st.sampled_from(list(fci.VERSIONS)),
    values=st.binary(min_size=1136, max_size=1136),
    flags=st.binary(min_size=82, max_size=82),
    message_id=st.integers(0, 2**64 - 1),
)
@settings(max_examples=30)
def test_states_survive_a_round_trip(version, values, flags, message_id):
    state = fci.RobotState(message_id=message_id)
    state.reals[:] = np.nan_to_num(np.frombuffer(values, "<f4")).astype(float)
    state.errors[:] = np.frombuffer(flags[:41], np.uint8) & 1
    state.reflex_reason[:] = np.frombuffer(flags[41:], np.uint8) & 1
    if version < 5:
        state.O_ddP_O[:] = state.errors[37:] = state.reflex_reason[37:] = 0
    back = fci.decode_state(bytes(fci.StatePacker(version).pack(state)), version=version)
    np.testing.assert_array_equal(back.reals, state.reals)
    np.testing.assert_array_equal(back.errors, state.errors)
    np.testing.assert_array_equal(back.reflex_reason, state.reflex_reason)
    assert back.message_id == message_id
    assert back.error_names() == [fci.ERRORS[i] for i in range(41) if state.errors[i]]


@given(noise=st.binary(max_size=600), version=st.sampled_from([None, *fci.VERSIONS]))
@settings(max_examples=300)
def test_noise_on_the_robot_port_raises_wire_error_and_nothing_else(noise, version):
    framer = fci.Framer()
    try:
        for frame in framer.feed(noise):
            fci.decode_request(frame, version=version)
    except WireError:
        pass
    assert framer.pending <= len(noise)


@given(
    command=st.integers(0, 20),
    size=st.integers(0, 600),
    version=st.sampled_from(list(fci.VERSIONS)),
    data=st.data(),
)
@settings(max_examples=300)
def test_well_framed_noise_raises_wire_error_and_nothing_else(command, size, version, data):
    payload = data.draw(st.binary(min_size=size, max_size=size))
    for frame in fci.Framer().feed(struct.pack("<III", command, 0, 12 + size) + payload):
        for decode in (fci.decode_request, fci.decode_response):
            with contextlib.suppress(WireError):
                decode(frame, version=version)
    for frame in fci.Framer("gripper").feed(struct.pack("<HII", command, 0, 10 + size) + payload):
        for decode in (
            fci.decode_gripper_request,
            fci.decode_gripper_response,
            fci.decode_vacuum_request,
            fci.decode_vacuum_response,
        ):
            with contextlib.suppress(WireError):
                decode(frame)


@given(noise=st.binary(max_size=2400), version=st.sampled_from(list(fci.VERSIONS)))
def test_noise_in_datagrams_raises_wire_error_and_nothing_else(noise, version):
    for decode in (
        fci.CommandUnpacker(version).unpack,
        lambda d: fci.decode_state(d, version=version),
        fci.decode_gripper_state,
        fci.decode_vacuum_state,
    ):
        with contextlib.suppress(WireError):
            decode(noise)


def test_truncated_and_oversized_input_is_named():
    with pytest.raises(WireError, match="command of 370 bytes; version 10 has 371"):
        fci.CommandUnpacker(10).unpack(bytes(370))
    with pytest.raises(WireError, match="state of 1376 bytes"):
        fci.decode_state(bytes(1376), version=10)
    with pytest.raises(WireError, match="frame has 11 bytes"):
        fci.Framer().feed(struct.pack("<III", 0, 0, 11))
    with pytest.raises(WireError, match="frame has 4294967295 bytes"):
        fci.Framer().feed(struct.pack("<III", 0, 0, 2**32 - 1))
    with pytest.raises(WireError, match="before Connect"):
        fci.decode_request(fci.Frame(3, 0, b""), version=None)
    with pytest.raises(WireError, match="must be 0 or 1"):
        fci.decode_request(fci.Frame(6, 0, bytes([2] * 7)), version=10)
    with pytest.raises(WireError, match="has 6 numbers, not 7"):
        fci.encode_request(fci.SetJointImpedance(K_theta=(1.0,) * 6), version=10, command_id=0)


def test_a_nan_in_a_command_passes_the_wire():
    command = fci.RobotCommand(message_id=1, tau_J_d=np.full(7, math.nan))
    back = fci.CommandUnpacker(10).unpack(fci.encode_command(command, version=10))
    assert np.isnan(back.tau_J_d).all()


def test_unknown_fields_name_the_nearest():
    with pytest.raises(AttributeError, match="did you mean 'tau_J_d'"):
        _ = fci.RobotState().tau_J_f
    with pytest.raises(AttributeError, match="q_c"):
        _ = fci.RobotCommand(message_id=0).q_cc


@pytest.mark.parametrize("version", [5, 10])
def test_packing_a_state_runs_no_python_for_its_fields(version):
    packer, state = fci.StatePacker(version), some_state()
    packer.pack(state)
    called = []
    sys.setprofile(lambda frame, event, _: called.append((event, frame.f_code.co_name)))
    try:
        packer.pack(state)
    finally:
        sys.setprofile(None)
    assert [name for event, name in called if event == "call"] == ["pack"]
    assert len([event for event, _ in called if event == "c_call"]) <= 4  # one of them ends the profile


def test_a_snapshot_holds_every_field_and_does_not_change_with_the_state():
    state = fci.RobotState(
        message_id=7,
        reals=np.arange(float(fci.N_REALS)),
        accelerometers=np.arange(36, dtype=np.float32),
        motion_generator_mode=2,
        controller_mode=1,
        errors=np.ones(len(fci.ERRORS), np.uint8),
        reflex_reason=np.arange(len(fci.ERRORS), dtype=np.uint8) % 2,
        robot_mode=fci.RobotMode.MOVE,
        success_rate=0.5,
    )
    copy = state.snapshot()
    for version in fci.VERSIONS:
        assert bytes(fci.StatePacker(version).pack(copy)) == bytes(fci.StatePacker(version).pack(state))
    state.reals[:] = 0.0
    np.testing.assert_array_equal(copy.reals, np.arange(float(fci.N_REALS)))
    with pytest.raises(ValueError, match="read-only"):
        copy.q[0] = 1.0
