"""Declaration of the wing ``dynamixel``."""

from pliant.base.wing import BridgeEntry, Wing

WING = Wing(
    name="dynamixel",
    summary="Joints as Dynamixel servos on a serial line: protocol 2.0, control tables of XL330 and XM430",
    bridges={
        "dynamixel": BridgeEntry(
            "Dynamixel: joints as servos XL330 or XM430 on a pseudo-terminal and on TCP, protocol 2.0",
            "pliant.dynamixel:make",
        ),
    },
    blocks={"dynamixel": "pliant.dynamixel.servos:BLOCK"},
    benchmarks=("dynamixel.py",),
)
