"""The bytes of the Franka Control Interface, protocol versions 4 to 10: no sockets, no state machine.

All integers are little-endian, all structures packed, matrices column-major. One server can speak every
version at once: the first request of a connection (`Connect`) has the same 16 bytes in all of them and
carries the number that the rest of the connection follows.

Two packet layouts exist. Versions 5 to 9 send the state in float64 (2373 bytes), version 10 in float32 with
accelerometers (1377 bytes). The command datagram is float64 throughout, 370 bytes in versions 4 to 6 and
371 from version 7 on.

Everything malformed raises `pliant.base.errors.WireError`. Every length read from a network is bounded.
"""

# ruff: noqa: F403 (the public names of a module are declared in its __all__, once)

from pliant.franka.wire.fci.answers import *
from pliant.franka.wire.fci.command import *
from pliant.franka.wire.fci.errors import *
from pliant.franka.wire.fci.frames import *
from pliant.franka.wire.fci.grippers import *
from pliant.franka.wire.fci.layout import *
from pliant.franka.wire.fci.requests import *
from pliant.franka.wire.fci.state import *
