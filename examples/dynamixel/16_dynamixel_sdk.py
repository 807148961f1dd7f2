"""Drive two joints as Dynamixel servos with ROBOTIS' own SDK (pip install dynamixel-sdk), over a pseudo-terminal.

You will see the model numbers of both servos, the second joint on its way along a profile, and where both arrive:
2500 of 4096 positions, 39.7 degrees from the middle.
"""

import threading

import pliant
from pliant.devices import make_devices
from pliant.engine import MujocoEngine
from pliant.simulation import Simulation
from pliant.simulation.bridges import make_bridge

try:
    from dynamixel_sdk import COMM_SUCCESS, GroupSyncRead, GroupSyncWrite, PacketHandler, PortHandler
except ImportError as missing:
    raise SystemExit(f'{missing}; this example needs: pip install "pliant[test]"') from None

TORQUE_ENABLE, PROFILE_VELOCITY, GOAL_POSITION, PRESENT_POSITION = 64, 112, 116, 132


def patiently(call, *arguments):
    """Ask again where a busy machine has missed the SDK's time-out of 34 ms."""
    while True:
        *answer, result, error = call(*arguments)
        if result == COMM_SUCCESS:
            assert error == 0
            return answer[0] if answer else None


def drive(path):
    port, servo = PortHandler(path), PacketHandler(2.0)
    port.openPort()
    port.setBaudRate(1_000_000)
    for k in (1, 2):
        print(f"servo {k} has the model number {patiently(servo.ping, port, k)}")
        patiently(servo.write1ByteTxRx, port, k, TORQUE_ENABLE, 1)
    patiently(servo.write4ByteTxRx, port, 2, PROFILE_VELOCITY, 40)
    goals, present = GroupSyncWrite(port, servo, GOAL_POSITION, 4), GroupSyncRead(port, servo, PRESENT_POSITION, 4)
    for k in (1, 2):
        goals.addParam(k, list((2500).to_bytes(4, "little")))
        present.addParam(k)
    goals.txPacket()
    shown = False
    while True:
        if present.txRxPacket() != COMM_SUCCESS:
            continue
        first, second = (present.getData(k, PRESENT_POSITION, 4) for k in (1, 2))
        if not shown and 2100 < second < 2400:
            print(f"on the way: {first}, {second}")
            shown = True
        if abs(first - 2500) < 3 and abs(second - 2500) < 3:
            print(f"arrived: {first}, {second}")
            break
    port.closePort()


def main():
    robot = pliant.load("qbmove-2dof")
    bridge = make_bridge("dynamixel", robot)
    with Simulation(MujocoEngine(robot), make_devices(robot), [bridge], pacer=1.0) as simulation:
        simulation.start()
        loop = threading.Thread(target=simulation.run, daemon=True)
        loop.start()
        drive(bridge.addresses["Dynamixel"])
        simulation.stop()
        loop.join()


if __name__ == "__main__":
    main()
