"""The bridge: ports, options, mapping of joints, timing, reset, and what it does to the devices of a robot."""

import random
import socket
import threading
from pathlib import Path

import mujoco
import numpy as np
import pytest
from dynamixel_line import LinePort

from pliant.base.errors import BridgeError, ModelError
from pliant.devices import make_devices
from pliant.dynamixel.wire import Instruction, PacketReader, encode_instruction
from pliant.engine import MujocoEngine
from pliant.model import Robot
from pliant.robots.loading import load
from pliant.simulation import Simulation
from pliant.simulation.bridges import make_bridge

sdk = pytest.importorskip("dynamixel_sdk", reason="no dynamixel-sdk; type: pip install dynamixel-sdk")

ARM = """
<mujoco model="arm">
  <compiler angle="radian"/>
  <worldbody>
    <body><joint name="shoulder" axis="0 0 1" armature="0.01" damping="0.1"/>
      <geom type="capsule" size="0.01" fromto="0 0 0 0.2 0 0" mass="0.1"/>
      <body pos="0.2 0 0"><joint name="elbow" axis="0 0 1" armature="0.01" damping="0.1"/>
        <geom type="capsule" size="0.01" fromto="0 0 0 0.1 0 0" mass="0.05"/></body></body>
  </worldbody>
  <actuator><position name="a" joint="shoulder" kp="50" kv="2"/><motor name="b" joint="elbow"/></actuator>
</mujoco>
"""
TORQUE, GOAL, PRESENT = 64, 116, 132


def arm():
    return Robot(mujoco.MjSpec.from_string(ARM))


class World:
    """A served robot; the test's own thread is the loop, and the SDK waits for its steps."""

    def __init__(self, robot=None, *options):
        self.robot = robot or arm()
        self.bridges = [make_bridge(f"dynamixel:{text}", self.robot) for text in options or ("",)]
        devices = make_devices(self.robot, joint_sample_period=MujocoEngine(self.robot, check=False).dt)
        self.simulation = Simulation(MujocoEngine(self.robot, check=False), devices, self.bridges, pacer="free")
        self.simulation.start()
        self.sdk = sdk.PacketHandler(2.0)

    def port(self, k=0):
        return LinePort(self.bridges[k]._line, self.simulation.step)

    def read(self, servo_id, address=PRESENT, k=0):
        value, result, error = self.sdk.read4ByteTxRx(self.port(k), servo_id, address)
        assert (result, error) == (0, 0)
        return value - (1 << 32) if value >> 31 else value

    def move(self, servo_id, goal, k=0):
        port = self.port(k)
        assert self.sdk.write1ByteTxRx(port, servo_id, TORQUE, 1) == (0, 0)
        assert self.sdk.write4ByteTxRx(port, servo_id, GOAL, goal % (1 << 32)) == (0, 0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.simulation.close()


@pytest.fixture
def world():
    with World() as made:
        yield made


def joint_position(world, name):
    return world.simulation.engine.port(f"{name}/position").item()


def test_servos_move_joints_that_take_positions_and_joints_that_take_torques(world):
    for servo_id, goal in ((1, 2600), (2, 1500)):
        world.move(servo_id, goal)
    world.simulation.run(3.0)
    for servo_id, name, goal in ((1, "shoulder", 2600), (2, "elbow", 1500)):
        assert world.read(servo_id) == pytest.approx(goal, abs=6)
        assert joint_position(world, name) == pytest.approx((goal - 2048) * 2 * np.pi / 4096, abs=0.01)
    assert world.bridges[0].health()["rejected"] == 0


def test_nothing_is_commanded_before_torque_is_enabled(world):
    world.simulation.run(0.2)
    assert all(device.inbox.peek() is None for device in world.simulation.devices.values())
    with World(None, "limp=true") as limp:
        limp.simulation.run(0.01)
        assert limp.simulation.devices["b"].inbox.peek().values["control"] == 0.0


@pytest.mark.parametrize("name", ["sea-1dof", "qbmove-2dof", "awas2-1dof", "2PR"])
def test_robots_of_the_catalogue_follow_their_servos(name):
    with World(load(name)) as world:
        world.simulation.run(0.02)
        ids = sorted(servo.id for servo in world.bridges[0]._line.servos)
        here = [world.read(k) for k in ids]
        for k, start in zip(ids, here, strict=True):
            world.move(k, start + 60)
        world.simulation.run(0.4)
        assert [world.read(k) for k in ids] == pytest.approx([start + 60 for start in here], abs=4)
        assert world.bridges[0].health()["last_device_error"] == ""


def test_a_motor_of_a_compliant_joint_is_what_its_servo_measures():
    with World(load("sea-1dof")) as world:
        world.move(1, 2500)
        world.simulation.run(1.5)
        sample = world.simulation.sample("joint").values
        angle = (2500 - 2048) * 2 * np.pi / 4096
        assert sample["equilibrium"] == pytest.approx(angle, abs=1e-3)
        assert world.read(1) == 2500
        # The link hangs from its spring; the torque of the spring is the load of the motor.
        current = world.sdk.read2ByteTxRx(world.port(), 1, 126)[0]
        current -= (current >> 15) << 16
        assert current * 2.69e-3 == pytest.approx(sample["elastic_torque"] * 2.3 / 4.1, abs=3e-3)


def test_after_a_reset_the_servos_are_as_in_a_fresh_run(world):
    def state():
        return [bytes(servo.memory._data) for servo in world.bridges[0]._line.servos]

    world.simulation.step()
    fresh = state()
    port = world.port()
    world.sdk.write4ByteTxRx(port, 1, 20, 300)
    world.sdk.write1ByteTxRx(port, 2, 7, 77)
    world.move(77, 1000)
    world.simulation.run(0.3)
    assert state() != fresh
    world.simulation.reset()
    world.simulation.step()
    assert state() == fresh
    world.simulation.run(0.2)
    assert joint_position(world, "elbow") == 0.0


def test_options_give_each_joint_its_servo():
    text = "joints=[elbow,shoulder],ids=[7,3],model=[XL330-M288,XM430-W210],torque=[0.5,2],scale=[-2,1],voltage=5"
    with World(None, text) as world:
        assert world.sdk.broadcastPing(world.port())[0] == {3: [1030, 48], 7: [1200, 52]}
        world.move(7, 2148)
        world.simulation.run(2.0)
        assert joint_position(world, "elbow") == pytest.approx(-2 * 100 * 2 * np.pi / 4096, abs=0.02)
        assert [servo.setup.stall_torque for servo in world.bridges[0]._line.servos] == [0.5, 2.0]
        # 5 V are too little for an XM430: its answers have the alert bit.
        assert world.sdk.read2ByteTxRx(world.port(), 3, 144) == (50, 0, 0x80)


def test_two_lines_have_servos_of_their_own():
    with World(None, "joints=[shoulder],ids=[5]", "joints=[elbow],ids=[5]") as world:
        world.move(5, 2300, 0)
        world.move(5, 1800, 1)
        world.simulation.run(2.0)
        assert joint_position(world, "shoulder") == pytest.approx(252 * 2 * np.pi / 4096, abs=0.01)
        assert joint_position(world, "elbow") == pytest.approx(-248 * 2 * np.pi / 4096, abs=0.01)


BAD_OPTIONS = {
    "joints=[hip]": (r"no joint 'hip'.*elbow, shoulder", "joints"),
    "ids=[1]": (r"ids has 1 values; must be 2", "ids"),
    "ids=[1,1]": (r"ids has 1 twice", "ids"),
    "ids=[1,253]": (r"253.*252", "ids"),
    "model=XM431": (r"no servo 'XM431'.*XM430-W350", "model"),
    "model=[XL330-M288,XL330-M288,XL330-M288]": (r"model has 3 values; must be 2, one for each joint, or one", "model"),
    "torque=0": (r"torque.*0.*> 0", "torque"),
    "scale=0": (r"scale has 0", "scale"),
    "tcp=70000": (r"tcp.*70000.*65535", "tcp"),
    "host=0.0.0.0": (r"every interface", "host"),
    "baud=1234": (r"baud.*1234.*1000000", "baud"),
    "model=XL330-M077,baud=4500000": (r"baud is 4500000; XL330-M077 has at most 4000000", "baud"),
    "voltage=-1": (r"voltage.*-1", "voltage"),
    "prot=/tmp/x": (r"no option 'prot'.*port", "prot"),
    "port=/nowhere/at/all/dxl": (r"/nowhere/at/all/dxl cannot be made", "port"),
}  # fmt: skip


@pytest.mark.parametrize("text", BAD_OPTIONS)
def test_an_option_that_is_not_valid_is_named_with_what_is(text):
    said, field = BAD_OPTIONS[text]
    with pytest.raises(BridgeError, match=said) as error, World(None, text):
        pass
    assert error.value.field == field


def test_a_robot_without_joints_and_a_recording_are_refused():
    spec = mujoco.MjSpec.from_string("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>")
    with pytest.raises(BridgeError, match="no joint of this robot"), World(Robot(spec)):
        pass
    with pytest.raises(BridgeError, match="a recording has no servos"):
        make_bridge("dynamixel", None).start({})


def test_a_robot_file_says_which_servo_moves_which_joint(tmp_path):
    (tmp_path / "arm.xml").write_text(ARM)
    file = tmp_path / "robot.yaml"
    file.write_text(
        "model: arm.xml\ndynamixel:\n  elbow: {id: 12, model: XL330-M288, torque: 1.5}\n  shoulder: {id: 11}\n"
    )
    with World(load(file)) as world:
        assert world.sdk.broadcastPing(world.port())[0] == {11: [1020, 48], 12: [1200, 52]}
        assert world.bridges[0]._line.servos[0].setup.stall_torque == 1.5
    with World(load(file), "ids=[1,2]") as world:
        assert sorted(world.sdk.broadcastPing(world.port())[0]) == [1, 2]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("elbow: {id: 300}", r"robot.yaml:3.*dynamixel.elbow.id.*300.*252"),
        ("elbow: {modle: XL330-M288}", r"robot.yaml:3.*no option 'modle'.*model"),
        ("elbow: {model: AX-12}", r"robot.yaml:3.*no servo 'AX-12'"),
        ("elbow: {id: 1}\n  shoulder: {id: 1}", r"robot.yaml:4.*the ID 1 is that of 'elbow'"),
    ],
)
def test_a_robot_file_that_is_wrong_is_named_with_its_line(tmp_path, line, said):
    (tmp_path / "arm.xml").write_text(ARM)
    (tmp_path / "robot.yaml").write_text(f"model: arm.xml\ndynamixel:\n  {line}\n")
    with pytest.raises(ModelError, match=said):
        load(tmp_path / "robot.yaml")


class Sink:
    """A client that keeps what it is sent, with the time."""

    def __init__(self, simulation):
        self.simulation = simulation
        self.got = []

    def send(self, data):
        self.got.append((self.simulation.time, len(data)))


def test_at_one_megabaud_bytes_take_their_simulated_time():
    with World(None, "baud=1000000") as world:
        bridge, sink = world.bridges[0], Sink(world.simulation)
        world.simulation.run(0.01)
        # Sync read of four bytes: 16 bytes there, 15 back of each servo, after its Return Delay Time of 500 us.
        raw = encode_instruction(254, Instruction.SYNC_READ, bytes((PRESENT, 0, 4, 0, 1, 2)))
        (packet,) = PacketReader().feed(raw)
        begin = world.simulation.time
        bridge._received(sink, [packet])
        world.simulation.run(0.02)
        exact = [len(raw) * 1e-5 + k * (500e-6 + 15e-5) for k in (1, 2)]
        dt = world.simulation.dt_ns * 1e-9
        assert [size for _, size in sink.got] == [15, 15]
        for (time, _), expected in zip(sink.got, exact, strict=True):
            assert expected - 1e-9 <= time - begin <= expected + dt + 1e-9


@pytest.mark.network
def test_a_program_on_tcp_is_answered_between_two_steps():
    with World(None, "tcp=0") as world:
        host, port = world.bridges[0].addresses["Dynamixel over TCP"].split(":")
        assert host == "127.0.0.1"
        with socket.create_connection((host, int(port)), timeout=0.05) as connection:
            connection.sendall(b"noise" + encode_instruction(2, Instruction.PING))
            reader, found = PacketReader(), []
            for _ in range(200):
                world.simulation.step()
                try:
                    found += reader.feed(connection.recv(100))
                except TimeoutError:
                    continue
                break
        assert [packet.parameters[1:] for packet in found] == [b"\xfc\x03\x30"]


def test_the_link_to_the_pseudo_terminal_is_replaced_and_removed(tmp_path):
    link = tmp_path / "dxl"
    link.symlink_to("/dev/nowhere")
    with World(None, f"port={link}") as world:
        assert world.bridges[0].addresses == {"Dynamixel": str(link)}
        assert link.readlink() == Path(world.bridges[0]._ports.path)
    assert not link.is_symlink()
    link.write_text("mine")
    with pytest.raises(BridgeError, match="is no symbolic link"), World(None, f"port={link}"):
        pass
    assert link.read_text() == "mine"


@pytest.mark.network
def test_the_unmodified_sdk_drives_the_robot_on_the_pseudo_terminal(tmp_path):
    robot = arm()
    bridge = make_bridge(f"dynamixel:port={tmp_path / 'dxl'}", robot)
    simulation = Simulation(MujocoEngine(robot, check=False), make_devices(robot), [bridge], pacer=1.0)
    with simulation:
        simulation.start()
        loop = threading.Thread(target=simulation.run, name="loop")
        loop.start()
        port, packets = sdk.PortHandler(str(tmp_path / "dxl")), sdk.PacketHandler(2.0)
        try:
            assert port.openPort()
            assert port.setBaudRate(1_000_000)

            def ask(function, *arguments):
                """Ask again where the machine is too busy for the SDK's time-out of 34 ms."""
                for _ in range(100):
                    *values, result, error = function(port, *arguments)
                    if result == 0:
                        assert error == 0
                        return values[0] if values else None
                raise AssertionError(packets.getTxRxResult(result))

            assert ask(packets.ping, 2) == 1020
            ask(packets.write1ByteTxRx, 2, TORQUE, 1)
            ask(packets.write4ByteTxRx, 2, GOAL, 2400)
            for _ in range(1000):
                if abs(ask(packets.read4ByteTxRx, 2, PRESENT) - 2400) < 10:
                    break
            else:
                raise AssertionError("it never came")
        finally:
            port.closePort()
            simulation.stop()
            loop.join(10.0)


def fuzzed(draw):
    """Return bytes that are a packet, nearly a packet, or nothing of the kind."""
    kind = draw.randrange(6)
    if kind == 0:
        return draw.randbytes(draw.randrange(60))
    instruction = draw.choice([*Instruction, draw.randrange(256)])
    servo_id = draw.choice([1, 2, 254, draw.randrange(256)])
    parameters = draw.randbytes(draw.choice([0, 1, 4, 5, 6, 9, draw.randrange(80)]))
    if kind == 1:  # an address that exists
        parameters = draw.randrange(700).to_bytes(2, "little") + draw.randbytes(draw.choice([1, 2, 4]))
    if kind == 2:
        parameters = draw.randrange(700).to_bytes(2, "little") + draw.randrange(300).to_bytes(2, "little") + parameters
    raw = bytearray(encode_instruction(servo_id, instruction, parameters))
    if kind == 3:
        raw[draw.randrange(len(raw))] = draw.randrange(256)
    if kind == 4:
        del raw[draw.randrange(len(raw)) :]
    return bytes(raw)


def fuzz(count, seed):
    draw = random.Random(seed)
    with World() as world:
        port = world.port()
        for k in range(count):
            port.writePort(fuzzed(draw))
            port.clearPort()
            if not k % 50:
                world.simulation.step()
        # The servos may have other IDs now, or answer to pings only; a reset gives them back.
        world.simulation.reset()
        world.simulation.step()
        assert sorted(world.sdk.broadcastPing(world.port())[0]) == [1, 2]
        world.move(2, 2300)
        world.simulation.run(1.5)
        assert world.read(2) == pytest.approx(2300, abs=6)
        return world.bridges[0].health()


@pytest.mark.parametrize("seed", range(2))
def test_fuzzed_packets_leave_the_servos_alive(seed):
    assert fuzz(3_000, seed)["rejected"] > 300


@pytest.mark.nightly
def test_a_hundred_thousand_fuzzed_packets_leave_the_servos_alive():
    assert fuzz(100_000, 99)["rejected"] > 10_000
