"""Every instruction of the protocol, by ROBOTIS' unmodified SDK, on servos whose time the test owns."""

import functools

import pytest
from dynamixel_line import DynamixelClient

from pliant.dynamixel.models import MODELS
from pliant.dynamixel.table import control_table
from pliant.dynamixel.wire import encode_instruction, encode_status

sdk = pytest.importorskip("dynamixel_sdk", reason="no dynamixel-sdk; type: pip install dynamixel-sdk")

OK = (0, 0)
RANGE, LENGTH, LIMIT, ACCESS = 4, 5, 6, 7


@pytest.fixture
def client():
    return DynamixelClient("XM430-W350", "XL330-M288", "XM430-W210")


def test_ping_gives_model_and_firmware_of_each_servo(client):
    assert client.sdk.ping(client.port, 1) == (1020, *OK)
    assert client.sdk.ping(client.port, 2) == (1200, *OK)
    assert client.sdk.ping(client.port, 9)[1] == sdk.COMM_RX_TIMEOUT
    found, result = client.sdk.broadcastPing(client.port)
    assert (found, result) == ({1: [1020, 48], 2: [1200, 52], 3: [1030, 48]}, 0)


@pytest.mark.parametrize("model", sorted(MODELS))
def test_every_address_is_read_or_refused_as_the_table_says(model):
    client = DynamixelClient(model)
    table = control_table(MODELS[model])
    for address in range(len(table.owners) + 8):
        _, result, error = client.sdk.readTxRx(client.port, 1, address, 1)
        inside = address < len(table.owners) and table.owners[address] is not None
        assert (result, error) == (0, 0 if inside else ACCESS), address
    whole, _, error = client.sdk.readTxRx(client.port, 1, 0, len(table.owners))
    assert (len(whole), error) == (len(table.owners), 0)
    for item in table.items.values():
        raw = bytes(whole[item.address : item.address + item.size])
        if not item.name.startswith(("Present", "Position", "Realtime", "Goal Position", "ID", "Goal")):
            assert int.from_bytes(raw, "little", signed=item.signed) == item.initial, item.name


@pytest.mark.parametrize("model", sorted(MODELS))
def test_every_item_takes_its_range_and_refuses_what_is_beyond(model):
    client = DynamixelClient(model)
    left_out = ("ID", "Baud Rate", "Status Return Level")  # what answers depends on; tests of their own
    goals = ("Goal PWM", "Goal Current", "Goal Velocity", "Goal Position")
    for item in control_table(MODELS[model]).items.values():
        if item.name in left_out or item.name in goals:
            continue
        values = item.choices or (item.low, item.high)
        if not item.writable:
            assert client.put(1, item.name, item.low) == ACCESS, item.name
            continue
        for value in (min(values), max(values)):
            assert client.put(1, item.name, value) == 0, (item.name, value)
            assert client.get(1, item.name) == value
        beyond = [max(values) + 1, min(values) - 1]
        low, high = (
            (-(1 << 8 * item.size - 1), (1 << 8 * item.size - 1) - 1) if item.signed else (0, (1 << 8 * item.size) - 1)
        )
        for value in beyond:
            if low <= value <= high:
                assert client.put(1, item.name, value) == RANGE, (item.name, value)
        assert client.put(1, item.name, item.initial) == 0


def test_a_part_of_an_item_is_refused_and_several_items_are_written_at_once(client):
    # Profile Acceleration and Profile Velocity stand side by side, from 108 on.
    write = functools.partial(client.sdk.writeTxRx, client.port, 1)
    assert write(112, 2, [1, 0]) == (0, LENGTH)
    assert write(114, 2, [1, 0]) == (0, LENGTH)
    assert write(108, 6, [1, 0, 0, 0, 2, 0]) == (0, LENGTH)
    assert write(108, 8, [7, 0, 0, 0, 9, 0, 0, 0]) == OK
    assert (client.get(1, "Profile Acceleration"), client.get(1, "Profile Velocity")) == (7, 9)
    # All or nothing: the second item is out of range.
    assert write(108, 8, [1, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0x7F]) == (0, RANGE)
    assert client.get(1, "Profile Acceleration") == 7


def test_the_eeprom_area_is_locked_while_torque_is_on(client):
    client.set(1, Torque_Enable=1)
    for item in control_table(client.servos[0].setup.model).items.values():
        if item.eeprom and item.writable:
            assert client.put(1, item.name, item.initial) == ACCESS, item.name
    client.set(1, LED=1, Torque_Enable=0, Homing_Offset=5)


def test_goals_are_limited_by_the_limits_in_force(client):
    client.set(
        1, Max_Position_Limit=3000, Min_Position_Limit=1000, Velocity_Limit=100, Current_Limit=500, PWM_Limit=400
    )
    limits = {"Position": (1000, 3000), "Velocity": (-100, 100), "Current": (-500, 500), "PWM": (-400, 400)}
    for quantity, (low, high) in limits.items():
        name = f"Goal {quantity}"
        assert [client.put(1, name, value) for value in (low, high, low - 1, high + 1)] == [0, 0, LIMIT, LIMIT], name
    assert "must be from -400 to 400" in client.line.last_refusal
    client.set(1, Operating_Mode=4)
    turns = 1_048_575
    assert [client.put(1, "Goal Position", v) for v in (-turns, turns, turns + 1)] == [0, 0, LIMIT]


def test_reg_write_waits_for_action(client):
    write = functools.partial(client.sdk.regWriteTxRx, client.port)
    assert write(1, 112, 4, [50, 0, 0, 0]) == OK
    assert write(2, 112, 4, [60, 0, 0, 0]) == OK
    assert client.get(1, "Registered Instruction") == 1
    assert client.get(1, "Profile Velocity") == 0
    client.sdk.action(client.port, 254)
    assert (client.get(1, "Profile Velocity"), client.get(2, "Profile Velocity")) == (50, 60)
    assert client.get(1, "Registered Instruction") == 0
    assert write(1, 112, 4, [0xFF, 0xFF, 0xFF, 0x7F]) == (0, RANGE)
    assert client.sdk.action(client.port, 1) == 0
    assert client.line.last_refusal == "ID 1: Action without Reg Write"


def test_reboot_restores_the_ram_area_and_keeps_the_eeprom_area(client):
    client.set(1, Homing_Offset=-77, Profile_Velocity=44, LED=1)
    assert client.sdk.reboot(client.port, 1) == OK
    assert (client.get(1, "Homing Offset"), client.get(1, "Profile Velocity"), client.get(1, "LED")) == (-77, 0, 0)
    client.set(1, Startup_Configuration=1)
    assert client.sdk.reboot(client.port, 1) == OK
    assert client.get(1, "Torque Enable") == 1


@pytest.mark.parametrize(("option", "servo_id", "baud"), [(0xFF, 1, 1), (1, 3, 1), (2, 3, 3)])
def test_factory_reset_keeps_what_its_option_says(option, servo_id, baud):
    client = DynamixelClient("XM430-W350", "XM430-W350", "XM430-W350")
    del client.line.servos[:2]
    client.set(3, Baud_Rate=3, Temperature_Limit=60)
    assert client.sdk.factoryReset(client.port, 3, option)[0] == 0
    servo = client.line.servos[0]
    assert (servo.id, servo.memory["Baud Rate"], servo.memory["Temperature Limit"]) == (servo_id, baud, 80)


def test_a_factory_reset_of_all_ids_at_once_is_ignored_and_an_unknown_option_refused(client):
    client.set(2, Temperature_Limit=60)
    client.sdk.factoryReset(client.port, 254, 0xFF)
    assert client.get(2, "Temperature Limit") == 60
    assert client.sdk.factoryReset(client.port, 2, 7) == (0, RANGE)
    client.sdk.factoryReset(client.port, 254, 1)
    assert client.get(2, "Temperature Limit") == 70


def test_clear_forgets_revolutions_only_at_rest(client):
    client.set(1, Operating_Mode=4, Torque_Enable=1, Goal_Position=2048 + 2 * 4096)
    client.bench.run(0.5)
    assert client.sdk.clearMultiTurn(client.port, 1) == (0, 1)
    client.bench.run(6.0)
    assert client.get(1, "Present Position") == pytest.approx(2048 + 2 * 4096, abs=12)
    assert client.sdk.clearMultiTurn(client.port, 1) == OK
    here = client.get(1, "Present Position")
    assert here == pytest.approx(2048, abs=12)
    client.bench.run(1.0)
    assert client.get(1, "Present Position") == pytest.approx(here, abs=2)
    client.port.reader.feed(b"")
    client.port.writePort(encode_instruction(1, 0x10, b"\x01\x44\x58\x4c\x23"))
    assert client.port.buffer[8] == RANGE


def test_sync_and_bulk_reads_and_writes_reach_every_servo(client):
    write = sdk.GroupSyncWrite(client.port, client.sdk, 112, 4)
    for k in (1, 2, 3):
        assert write.addParam(k, [10 * k, 0, 0, 0])
    assert write.txPacket() == 0
    for fast in (False, True):
        read = sdk.GroupSyncRead(client.port, client.sdk, 108, 8)
        for k in (3, 1, 2):
            assert read.addParam(k)
        assert (read.fastSyncRead() if fast else read.txRxPacket()) == 0
        assert [read.getData(k, 112, 4) for k in (1, 2, 3)] == [10, 20, 30]
    bulk = sdk.GroupBulkWrite(client.port, client.sdk)
    assert bulk.addParam(1, 65, 1, [1])
    assert bulk.addParam(3, 84, 2, [0x2C, 1])
    assert bulk.txPacket() == 0
    for fast in (False, True):
        read = sdk.GroupBulkRead(client.port, client.sdk)
        # Version 4.1.0 of the SDK looks an ID up among all bytes of a fast bulk read: 2 first, before a length of 2.
        assert read.addParam(2, 0, 2)
        assert read.addParam(1, 65, 1)
        assert read.addParam(3, 84, 2)
        assert (read.fastBulkRead() if fast else read.txRxPacket()) == 0
        assert [read.getData(1, 65, 1), read.getData(3, 84, 2), read.getData(2, 0, 2)] == [1, 300, 1200]


def test_the_chain_of_a_fast_read_ends_at_a_servo_that_is_not_there(client):
    read = sdk.GroupSyncRead(client.port, client.sdk, 132, 4)
    for k in (1, 9, 2):
        read.addParam(k)
    assert read.fastSyncRead() in (sdk.COMM_RX_CORRUPT, sdk.COMM_RX_TIMEOUT)
    read = sdk.GroupSyncRead(client.port, client.sdk, 132, 4)
    for k in (9, 1):
        read.addParam(k)
    assert read.fastSyncRead() == sdk.COMM_RX_TIMEOUT


@pytest.mark.parametrize(("level", "answers"), [(0, (0, -3001, -3001)), (1, (0, 0, -3001)), (2, (0, 0, 0))])
def test_the_status_return_level_says_what_is_answered(client, level, answers):
    client.put(1, "Status Return Level", level) if level == 2 else client.sdk.write1ByteTxOnly(
        client.port, 1, 68, level
    )
    ping = client.sdk.ping(client.port, 1)[1]
    read = client.sdk.read1ByteTxRx(client.port, 1, 65)[1]
    write = client.sdk.write1ByteTxRx(client.port, 1, 65, 1)[0]
    assert (ping, read, write) == answers
    assert client.servos[0].memory["LED"] == 1


def test_a_changed_id_counts_at_once_and_two_servos_with_one_id_collide(client):
    item = client.item(1, "ID")
    # The status packet still has the ID with which the servo was asked.
    assert client.sdk.write1ByteTxRx(client.port, 1, item.address, 42) == OK
    assert client.sdk.ping(client.port, 1)[1] == sdk.COMM_RX_TIMEOUT
    assert client.sdk.ping(client.port, 42) == (1020, *OK)
    assert client.sdk.write1ByteTxRx(client.port, 42, item.address, 253) == (0, RANGE)
    assert client.sdk.write1ByteTxRx(client.port, 42, item.address, 2) == OK
    assert client.sdk.ping(client.port, 2)[1] == sdk.COMM_RX_CORRUPT


def test_a_secondary_id_is_heard_and_not_answered(client):
    for k in (1, 2):
        client.sdk.write1ByteTxRx(client.port, k, 12, 77)
    client.port.writePort(encode_instruction(77, 3, bytes((65, 0, 1))))
    assert client.port.buffer == b""
    assert [servo.memory["LED"] for servo in client.servos] == [1, 1, 0]


def test_broadcasts_are_carried_out_and_not_answered(client):
    client.port.writePort(encode_instruction(254, 3, bytes((65, 0, 1))))
    client.port.writePort(encode_instruction(254, 2, bytes((65, 0, 1, 0))))
    assert client.port.buffer == b""
    assert [servo.memory["LED"] for servo in client.servos] == [1, 1, 1]


def test_a_damaged_packet_and_an_unknown_instruction_are_answered_with_their_errors(client):
    raw = encode_instruction(1, 3, bytes((65, 0, 1)))
    client.port.writePort(raw[:-1] + bytes((raw[-1] ^ 1,)))
    assert client.port.buffer == encode_status(1, 3)
    assert client.servos[0].memory["LED"] == 0
    client.port.clearPort()
    client.port.writePort(encode_instruction(1, 0x77))
    assert client.port.buffer[8] == 2


def test_indirect_data_reads_and_writes_what_its_addresses_name(client):
    for number, address in enumerate([116, 117, 118, 119, 132, 133, 134, 135, 70], 1):
        client.set(1, **{f"Indirect_Address_{number}": address})
    start = client.item(1, "Indirect Data 1").address
    client.set(1, Operating_Mode=3, Torque_Enable=1)
    assert client.sdk.write4ByteTxRx(client.port, 1, start, 2100) == OK
    assert client.get(1, "Goal Position") == 2100
    assert client.sdk.write4ByteTxRx(client.port, 1, start, 5000) == (0, LIMIT)
    assert client.sdk.write2ByteTxRx(client.port, 1, start, 1) == (0, LENGTH)
    assert client.sdk.write4ByteTxRx(client.port, 1, start + 4, 1) == (0, ACCESS)
    client.bench.run(2.0)
    assert client.sdk.read4ByteTxRx(client.port, 1, start + 4) == (client.get(1, "Present Position"), *OK)
    assert client.get(1, "Present Position") == pytest.approx(2100, abs=10)


def test_instructions_of_protocol_1_are_met_with_silence(client):
    old = sdk.PacketHandler(1.0)
    assert old.ping(client.port, 1)[1] == sdk.COMM_RX_TIMEOUT
    assert client.sdk.ping(client.port, 1) == (1020, *OK)
