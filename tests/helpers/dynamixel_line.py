"""Ports for ROBOTIS' SDK that reach servos without a file or socket: the SDK waits, and the simulation steps."""

from pliant.dynamixel.line import Line
from pliant.dynamixel.models import MODELS
from pliant.dynamixel.motor import Actuation, Motion
from pliant.dynamixel.servo import Servo, ServoSetup
from pliant.dynamixel.table import control_table
from pliant.dynamixel.wire import PacketReader

OK = (0, 0)
WRITERS = {1: "write1ByteTxRx", 2: "write2ByteTxRx", 4: "write4ByteTxRx"}
READERS = {1: "read1ByteTxRx", 2: "read2ByteTxRx", 4: "read4ByteTxRx"}


class LinePort:
    """A port of `dynamixel_sdk` whose other end is a line of servos; time passes only in `step`."""

    def __init__(self, line, step=lambda: None):
        self.line = line
        self.step = step
        self.is_using = False
        self.reader = PacketReader()
        self.buffer = b""
        self.sent = []
        self.waits = 0

    def clearPort(self):
        self.buffer = b""

    def writePort(self, packet):
        data = bytes(packet)
        self.sent.append(data)
        for found in self.reader.feed(data):
            self.buffer += b"".join(reply.data for reply in self.line.answer(found))
        return len(data)

    def readPort(self, length):
        data, self.buffer = self.buffer[:length], self.buffer[length:]
        return list(data)

    def setPacketTimeout(self, _):
        self.waits = 0

    setPacketTimeoutMillis = setPacketTimeout

    def isPacketTimeout(self):
        self.waits += 1
        self.step()
        return self.waits > 3

    def getBaudRate(self):
        return 1_000_000


class Bench:
    """Servos of which each moves an inertia with friction, integrated in steps of 1 ms.

    An actuator that takes positions is a stiff spring with a damper.
    """

    STIFFNESS, DAMPING = 300.0, 3.0

    def __init__(self, servos, inertia=0.02, friction=0.05):
        self.servos = servos
        self.inertia, self.friction = inertia, friction
        self.loads = [0.0] * len(servos)
        self.motions = [Motion(0.0, 0.0, 0.0, 0.0, self._stiffness(servo)) for servo in servos]

    def _stiffness(self, servo):
        return self.STIFFNESS if servo.setup.actuation is Actuation.POSITION else 0.0

    def run(self, seconds):
        """Let time pass."""
        for _ in range(round(seconds * 1e3)):
            for k, servo in enumerate(self.servos):
                self._step(k, servo)

    def _step(self, k, servo):
        q, v = self.motions[k].position, self.motions[k].velocity
        command = servo.step(1e-3, self.motions[k])
        kind = servo.setup.actuation
        if command is None:
            torque = 0.0
        elif kind is Actuation.TORQUE:
            torque = command
        elif kind is Actuation.POSITION:
            torque = self.STIFFNESS * (command - q) - self.DAMPING * v
        else:
            torque = 10.0 * (command - v)
        v += (torque + self.loads[k] - self.friction * v) / self.inertia * 1e-3
        q += v * 1e-3
        self.motions[k] = Motion(q, v, torque, q, self._stiffness(servo))


def setup(model, servo_id, **changes):
    found = MODELS[model]
    values = {"stall_torque": found.stall_torque, "voltage": found.nominal_voltage, **changes}
    return ServoSetup(model=found, servo_id=servo_id, **values)


class DynamixelClient:
    """Servos and the SDK; items are named."""

    def __init__(self, *models, **changes):
        self.servos = [Servo(setup(model, k, **changes)) for k, model in enumerate(models, 1)]
        self.bench = Bench(self.servos)
        self.line = Line(self.servos)
        self.port = LinePort(self.line)
        from dynamixel_sdk import PacketHandler

        self.sdk = PacketHandler(2.0)
        self.bench.run(0.002)

    def item(self, servo_id, name):
        return control_table(self.servos[servo_id - 1].setup.model).items[name]

    def get(self, servo_id, name):
        item = self.item(servo_id, name)
        value, result, error = getattr(self.sdk, READERS[item.size])(self.port, servo_id, item.address)
        assert (result, error & 0x7F) == OK, (name, result, error)
        return value - (1 << 8 * item.size) if item.signed and value >> (8 * item.size - 1) else value

    def put(self, servo_id, name, value):
        """Write an item; return the error of the status packet."""
        item = self.item(servo_id, name)
        value %= 1 << 8 * item.size
        result, error = getattr(self.sdk, WRITERS[item.size])(self.port, servo_id, item.address, value)
        assert result == 0, (name, result)
        return error

    def set(self, servo_id, **values):
        for name, value in values.items():
            assert self.put(servo_id, name.replace("_", " "), value) == 0, name
