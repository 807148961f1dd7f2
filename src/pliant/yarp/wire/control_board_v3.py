"""The control board's remote calls in dialect 3 (`<part>/rpc:i`): their requests and replies.

A request is a Bottle of vocabularies and arguments; a word may come as a plain string too. Replies:

| request | reply |
|---|---|
| understood, without results | ``[ok]``, or ``[fail]`` |
| ``[help]`` | ``[many]`` and a text for each request |
| unknown item behind ``[get]`` or ``[set]`` | ``[fail]`` |
| any other word | ``[nak]`` |
| ``[get] [prot]`` | ``[prot] 1 9 0 [ok]`` |
| ``[get] [enc] 0`` and most others | ``[is] [enc] values... [tsta] count time [ok]`` |
| ``[get]`` of pid, ipwm, icur, reca | ``[is] [pid] values... [ok]`` |
| ``[get] [ijfl]`` | ``[is] code "message" [ok]`` |
| ``[get] [icmd]`` | ``[is]`` and the axis (``[cmod]``) or the item, then values and the stamp |
| ``[get] [intm]`` | values and the stamp, without ``[is]`` |

Remote variables (``[ivar]``) take any number of values and are not in the table.

Source: recorded calls between programs of YARP 3.12.3; reading of groups, `reca` with success, and the
calibration calls other than ``[cald]`` were not recorded.
"""

from __future__ import annotations

from pliant.base.errors import WireError
from pliant.yarp.wire.board_calls import CALLS
from pliant.yarp.wire.objects import Stamp
from pliant.yarp.wire.records import Fields, Method, decode_fields, encode_fields
from pliant.yarp.wire.values import FAIL, IS, NAK, OK, TSTA, Bottle, Value, Vocab, bottle, text

FAILED = bottle(FAIL)
"""Reply to a request that could not be done, or whose item behind ``[get]`` or ``[set]`` is unknown."""
NOT_UNDERSTOOD = bottle(NAK)
"""Reply to a request whose first word is unknown."""
PROTOCOL_VERSION = bottle(Vocab.of("prot"), 1, 9, 0, OK)
"""Reply to ``[get] [prot]``: clients compare the first two numbers."""

_UNTIMED = ("pid", "ipwm", "icur", "reca", "ijfl")
"""Interfaces whose replies have no stamp."""

_VARIABLES = ("[get] [ivar] [lvar]", "[get] [ivar] [mvar] key:str", "[set] [ivar] [mvar] key:str value...")
"""Requests of remote variables, for ``[help]``."""

METHODS: dict[str, Method] = {words: call.method for words, call in CALLS[3].items()}
"""Every request by its words, ``get torq ref``: arguments and results, without the stamp."""


def encode_help() -> Bottle:
    """Return the reply to ``[help]``: one text for each request, with the types of its arguments."""
    calls = [_usage(method) for method in METHODS.values()]
    return bottle(Vocab.of("many"), "[help]", "[get] [prot]", *calls, *_VARIABLES)


def _usage(method: Method) -> str:
    words = [f"[{word}]" for word in method.name.split()]
    return " ".join([*words, *[f"{argument.name}:{argument.type}" for argument in method.arguments]])


def _find(words: str) -> Method:
    method = METHODS.get(words)
    if method is None:
        raise WireError(f"request {words[:80]!r} is not understood by a control board of dialect 3", field="method")
    return method


def decode_request(request: Bottle) -> tuple[str, Fields]:
    """Return the words of a request and its arguments.

    What raises is answered by `FAILED` where the request begins with ``[get]`` or ``[set]``, else by `NOT_UNDERSTOOD`.

    Raises:
        WireError: there is no such request, or the arguments do not fit.
    """
    method = _method_of(request)
    return method.name, decode_fields(method.arguments, request.items[len(method.name.split()) :], 3)


def _method_of(request: Bottle) -> Method:
    words: list[str] = []
    for item in request.items[:3]:
        if not isinstance(item, Vocab | str):
            break
        words.append(text(item))
    for count in range(len(words), 1, -1):
        method = METHODS.get(" ".join(words[:count]))
        if method is not None:
            return method
    return _find(" ".join(words) if len(words) != 1 else words[0])


def _echo(method: Method, request: Bottle) -> tuple[Value, ...]:
    """Return the elements in front of the results; what is echoed stays a string where it was one."""
    _, interface, *item = method.name.split()
    if interface == "intm":
        return ()
    if interface == "ijfl":
        return (IS,)
    return (IS, request[3 if item == ["cmod"] else 2 if interface == "icmd" else 1])


def encode_reply(request: Bottle, *values: object, stamp: Stamp | None = None) -> Bottle:
    """Return the reply to a request that was done.

    Args:
        request: the request, of which the reply echoes an element.
        values: the results.
        stamp: count and time of the reply [s]; 0 and 0 without one.

    Raises:
        WireError: there is no such request, or the results do not fit.
    """
    method = _method_of(request)
    if not method.name.startswith("get "):
        return bottle(OK)
    items = encode_fields(method.results, values, 3)
    count, time = (stamp.count, float(stamp.time)) if stamp else (0, 0.0)
    timed = () if method.name.split()[1] in _UNTIMED else (TSTA, count, time)
    return Bottle((*_echo(method, request), *items, *timed, OK))
