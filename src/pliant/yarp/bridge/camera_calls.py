"""The calls that YARP's clients of cameras make: sizes, fields of view, lenses.

The vocabularies and the order of the numbers are those of YARP 3.5's frame grabber and RGBD clients; YARP 4's call by
records. Nothing of a camera can be changed by a call.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from pliant.base.camera import CameraParameters
from pliant.base.errors import WireError
from pliant.yarp.bridge.messages import Answer
from pliant.yarp.bridge.requests import help_reply, words_of
from pliant.yarp.wire import Bottle, Vocab
from pliant.yarp.wire.binary import encode_bottle
from pliant.yarp.wire.records import PROTOCOL_CALL, PROTOCOL_VERSION, call_of, return_value
from pliant.yarp.wire.values import FAIL, IS, Value

INTERFACES = ("fgi", "visr", "visd", "rgdb")
"""Interfaces of cameras."""
SETTERS = ("visr", "visd")
"""Interfaces whose refused settings are answered with their name and 0."""
IN_USE = 2
"""Status of a camera that gives images."""
RECORDS = {
    "Width": "w", "Height": "h", "Resolution": "res", "FOV": "fov", "IntrinsicParam": "intp", "Mirroring": "mirr",
    "SupportedConfigurations": "conf", "Accuracy": "acrc", "ClipPlanes": "clip",
}  # fmt: skip
"""Part of a call by records -> vocabulary of the same call."""
PROTOCOL = (1, 0)
"""Version of the calls of RGBD cameras, which clients compare."""
ACCURACY_M = 1e-5
"""Reported accuracy of depths: that of a 32-bit float at 100 m. # assumed"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CameraCalls:
    """Answers the calls to one camera.

    | call | reply |
    |---|---|
    | `[fgi] [get] [w]` or `[h]` | `[fgi] [w] [is]` and the number |
    | `[visr] [get]` and `[w]`, `[h]`, `[res]`, `[fov]` [deg], `[intp]`, `[mirr]`, `[conf]` | the same of the colours |
    | `[visd] [get]` and `[w]`, `[h]`, `[res]`, `[fov]`, `[intp]`, `[mirr]`, `[acrc]`, `[clip]` [m] | of the depth |
    | `[rgdb] [get]` and `[prot]`, `[stat]`, `[mess]` | version, status and fault of an RGBD camera |
    | `[help]` | these calls |
    | `getRgbFOVRPC` and so on | the same to clients of YARP 4: a return value and the values |
    """

    width: int
    """Columns of the image."""
    height: int
    """Rows of the image."""
    lens: CameraParameters | None = None
    """How points become pixels; None where one lens does not describe the image."""
    rate: float = 0.0
    """Images a second [Hz]."""
    depth: tuple[float, float] | None = None
    """Nearest and farthest depth [m]; None for a camera without depth."""

    def answer(self, request: Bottle) -> Answer:
        """Return the reply to a request.

        Raises:
            WireError: there is no such call.
        """
        name, items = call_of(request)
        if name == PROTOCOL_CALL:
            return PROTOCOL_VERSION
        if name.endswith("RPC"):
            return self._record(name, len(items) - 1)
        words = words_of(request.items)
        if words == ["help"]:
            return encode_bottle(help_reply(self._usages()), 3)
        interface, verb, what = (*words, "", "", "")[:3]
        if interface in SETTERS and verb == "set":
            return encode_bottle(Bottle((Vocab.of(interface), Vocab.of("set"), 0)), 3)
        find = self._calls(interface).get(what) if verb == "get" and len(request.items) == 3 else None
        if find is None:
            raise WireError(f"a camera has no call {' '.join(words)[:80]!r}", field="method")
        values = find()
        reply = (Vocab.of(interface), Vocab.of(what), IS, *values) if values is not None else (FAIL,)
        # Programs that use these vocabularies for numbers with a fraction know dialect 3 only.
        return encode_bottle(Bottle(reply), 3)

    def _record(self, name: str, arguments: int) -> Answer:
        """Return the reply to a call by records, which only clients of YARP 4 make."""
        if name.startswith("set"):
            return encode_bottle(return_value("err2"), 4)
        values = None if arguments else self._values_of(name.removeprefix("get").removesuffix("RPC"))
        if values is None:
            raise WireError(f"a camera has no call {name[:80]!r}", field="method")
        return encode_bottle(Bottle((return_value("ok"), *values), layout="tagged"), 4)

    def _values_of(self, name: str) -> tuple[Value, ...] | None:
        """Return the values of a call by records, None where the camera has no such call or no lens."""
        if name in ("Height", "Width"):
            return (getattr(self, name.lower()),)
        if self.depth is not None and name in ("SensorStatus", "LastErrorMsg"):
            return (IN_USE,) if name == "SensorStatus" else ("", Bottle((0, 0.0), layout="tagged"))
        for prefix, interface in (("Rgb", "visr"), ("Depth", "visd")):
            word = RECORDS.get(name.removeprefix(prefix)) if name.startswith(prefix) else None
            find = self._calls(interface).get(word or "")
            if find is not None:
                found = find()
                if word == "mirr":
                    return (FAIL,)  # false
                if word == "conf" and found is not None:  # a list of settings, the code of the pixels as a number
                    return (Bottle((Bottle((*found[1:-1], Vocab.of("rgb").code), layout="tagged"),)),)
                return found
        return None

    def _usages(self) -> list[str]:
        return [f"[{name}] [get] [{what}]" for name in INTERFACES for what in self._calls(name)]

    def _calls(self, interface: str) -> dict[str, Callable[[], tuple[Value, ...] | None]]:
        size = {"w": lambda: (self.width,), "h": lambda: (self.height,)}
        if interface == "fgi":
            return {**size}
        if interface == "rgdb" and self.depth is not None:
            return {"prot": lambda: PROTOCOL, "stat": lambda: (IN_USE,), "mess": lambda: ("",)}
        if interface not in SETTERS or (interface == "visd" and self.depth is None):
            return {}
        calls: dict[str, Callable[[], tuple[Value, ...] | None]] = {
            **size,
            "res": lambda: (self.width, self.height),
            "fov": self._fields_of_view,
            "intp": self._intrinsics,
            "mirr": lambda: (0,),
        }
        if interface == "visd":
            return {**calls, "acrc": lambda: (ACCURACY_M,), "clip": lambda: self.depth}
        return {**calls, "conf": lambda: (1, self.width, self.height, self.rate, Vocab.of("rgb"))}

    def _fields_of_view(self) -> tuple[Value, ...] | None:
        """Return the horizontal and the vertical field of view [deg]."""
        lens = self.lens
        if lens is None:
            return None
        return tuple(
            [
                math.degrees(2.0 * math.atan(side / (2.0 * f)))
                for side, f in ((lens.width, lens.fx), (lens.height, lens.fy))
            ]
        )

    def _intrinsics(self) -> tuple[Value, ...] | None:
        """Return the parameters of the lens as one list of pairs; YARP's t1 and t2 are OpenCV's p1 and p2."""
        lens = self.lens
        if lens is None:
            return None
        numbers = {
            "physFocalLength": 0.0,  # a simulated camera has no sensor of a size
            "focalLengthX": lens.fx, "focalLengthY": lens.fy, "principalPointX": lens.cx, "principalPointY": lens.cy,
            "k1": lens.k1, "k2": lens.k2, "t1": lens.p1, "t2": lens.p2, "k3": lens.k3, "stamp": 0.0,
        }  # fmt: skip
        pairs: list[Value] = [Bottle((key, float(value))) for key, value in numbers.items()]
        pairs.append(Bottle(("distortionModel", "plumb_bob")))
        identity = tuple([1.0 if k in (0, 4, 8) else 0.0 for k in range(9)])
        pairs.append(Bottle(("rectificationMatrix", Bottle(identity))))
        return (Bottle(tuple(pairs)),)
