"""A minute of a line with nine servos at 500 Hz, in simulated time: no answer is missing or wrong."""

import mujoco
import pytest
from dynamixel_line import LinePort

from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.model import Robot
from pliant.simulation import Simulation
from pliant.simulation.bridges import make_bridge

sdk = pytest.importorskip("dynamixel_sdk", reason="no dynamixel-sdk; type: pip install dynamixel-sdk")

SERVOS = range(1, 10)


def chain():
    body = ""
    for k in reversed(SERVOS):
        body = (
            f'<body pos="0 0 0.04"><joint name="j{k}" axis="0 {k % 2} {1 - k % 2}" armature="0.005" damping="0.05"/>'
            f'<geom size="0.01" mass="0.01" contype="0" conaffinity="0"/>{body}</body>'
        )
    motors = "".join(f'<position joint="j{k}" name="m{k}" kp="20" kv="0.4"/>' for k in SERVOS)
    spec = mujoco.MjSpec.from_string(f"<mujoco><worldbody>{body}</worldbody><actuator>{motors}</actuator></mujoco>")
    spec.option.timestep = 0.001
    return Robot(spec)


def cycles(seconds):
    """Write goals to all servos and read all positions every 2 ms; return the number of errors, goal and positions."""
    robot = chain()
    bridge = make_bridge("dynamixel", robot)
    with Simulation(MujocoEngine(robot, check=False), make_devices(robot), [bridge], pacer="free") as simulation:
        simulation.start()
        port, packets = LinePort(bridge._line), sdk.PacketHandler(2.0)
        write = sdk.GroupSyncWrite(port, packets, 116, 4)
        read = sdk.GroupSyncRead(port, packets, 132, 4)
        for k in SERVOS:
            assert packets.write1ByteTxRx(port, k, 64, 1) == (0, 0)
            write.addParam(k, [0, 8, 0, 0])
            read.addParam(k)
        errors = 0
        for i in range(round(500 * seconds)):
            goal = 2048 + abs((i + 250) % 1000 - 500) // 4
            for k in SERVOS:
                write.changeParam(k, list((goal + k).to_bytes(4, "little")))
            errors += write.txPacket() != 0
            errors += read.txRxPacket() != 0
            simulation.step(2)
        errors += bridge.health()["rejected"] + bridge.health()["dropped"]
        return errors, goal, [read.getData(k, 132, 4) for k in SERVOS]


@pytest.mark.parametrize("seconds", [0.6, pytest.param(60.0, marks=pytest.mark.nightly)])
def test_nine_servos_at_500_hz_give_no_error(seconds):
    errors, goal, positions = cycles(seconds)
    assert errors == 0
    assert positions == pytest.approx([goal + k for k in SERVOS], abs=25)
