"""The control board's remote calls in dialect 3 (`<part>/rpc:i`): one table of requests, and their replies.

A request is a Bottle of vocabularies and arguments; a word may come as a plain string too. Replies:

| request | reply |
|---|---|
| understood, without results | ``[ok]``, or ``[fail]`` |
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

from typing import Any

from pliant.base.errors import WireError
from pliant.yarp.wire.objects import Stamp
from pliant.yarp.wire.records import Method, decode_fields, encode_fields, parse_method
from pliant.yarp.wire.values import FAIL, IS, NAK, OK, TSTA, Bottle, Value, Vocab, bottle, integer, number, text

__all__ = [
    "FAILED",
    "METHODS",
    "NOT_UNDERSTOOD",
    "PROTOCOL_VERSION",
    "decode_reply",
    "decode_request",
    "encode_reply",
    "encode_request",
]

FAILED = bottle(FAIL)
"""Reply to a request that could not be done, or whose item behind ``[get]`` or ``[set]`` is unknown."""
NOT_UNDERSTOOD = bottle(NAK)
"""Reply to a request whose first word is unknown."""
PROTOCOL_VERSION = bottle(Vocab.of("prot"), 1, 9, 0, OK)
"""Reply to ``[get] [prot]``: clients compare the first two numbers."""

_UNTIMED = ("pid", "ipwm", "icur", "reca", "ijfl")
"""Interfaces whose replies have no stamp."""

_TABLE = """
get axes() -> axes: i32
set pos(j: i32, value: f64)
set poss(values: f64[])
set posg(n: i32, joints: i32[], values: f64[])
set rel(j: i32, value: f64)
set rels(values: f64[])
set relg(n: i32, joints: i32[], values: f64[])
set vel(j: i32, value: f64)
set vels(values: f64[])
set velg(n: i32, joints: i32[], values: f64[])
set acc(j: i32, value: f64)
set accs(values: f64[])
set accg(n: i32, joints: i32[], values: f64[])
set sto(j: i32)
set stos()
set stog(n: i32, joints: i32[])
get pos(j: i32) -> value: f64
get poss() -> values: f64[]
get posg(n: i32, joints: i32[]) -> values: f64[]
get vel(j: i32) -> value: f64
get vels() -> values: f64[]
get velg(n: i32, joints: i32[]) -> values: f64[]
get acc(j: i32) -> value: f64
get accs() -> values: f64[]
get accg(n: i32, joints: i32[]) -> values: f64[]
get dpo(j: i32) -> value: f64
get dpos() -> values: f64[]
get dpog(n: i32, joints: i32[]) -> values: f64[]
get vmo(j: i32) -> value: f64
get vmos() -> values: f64[]
get vmog(n: i32, joints: i32[]) -> values: f64[]
get don(j: i32) -> done: i32
get dons() -> done: i32
get dong(n: i32, joints: i32[]) -> done: i32
set vmos(values: f64[])
set ere(j: i32)
set eres()
set enc(j: i32, value: f64)
set encs(values: f64[])
get enc(j: i32) -> value: f64
get encs() -> values: f64[]
get esp(j: i32) -> value: f64
get esps() -> values: f64[]
get eac(j: i32) -> value: f64
get eacs() -> values: f64[]
set mre(m: i32)
set mres()
set mnc(m: i32, value: f64)
set mncs(values: f64[])
set mcpr(m: i32, value: f64)
get mnc(m: i32) -> value: f64
get mncs() -> values: f64[]
get msp(m: i32) -> value: f64
get msps() -> values: f64[]
get mac(m: i32) -> value: f64
get macs() -> values: f64[]
get mcpr(m: i32) -> value: f64
get mnum() -> number: i32
set llim(j: i32, min: f64, max: f64)
get llim(j: i32) -> min: f64, max: f64
set vlim(j: i32, min: f64, max: f64)
get vlim(j: i32) -> min: f64, max: f64
set aen(j: i32)
set adi(j: i32)
set maxc(j: i32, value: f64)
get maxc(j: i32) -> value: f64
set acpk(j: i32, value: f64)
get acpk(j: i32) -> value: f64
set acno(j: i32, value: f64)
get acno(j: i32) -> value: f64
set pwml(j: i32, value: f64)
get pwml(j: i32) -> value: f64
get acu(j: i32) -> value: f64
get acus() -> values: f64[]
get asta() -> status: i32[]
get asts(j: i32) -> status: i32
get pwm(j: i32) -> value: f64
get avsu(j: i32) -> value: f64
get mtnm() -> number: i32
get tmp(m: i32) -> value: f64
get tmps() -> values: f64[]
set tmpl(m: i32, value: f64)
get tmpl(m: i32) -> value: f64
set gbxr(m: i32, value: f64)
get gbxr(m: i32) -> value: f64
get name(j: i32) -> name: str
get type(j: i32) -> type: vocab
set torq ref(j: i32, value: f64)
set torq refs(values: f64[])
set torq mtps(j: i32, parameters: f64[])
get torq trq(j: i32) -> value: f64
get torq trqs() -> values: f64[]
get torq rng(j: i32) -> min: f64, max: f64
get torq rngs() -> min: f64[], max: f64[]
get torq ref(j: i32) -> value: f64
get torq refs() -> values: f64[]
get torq mtps(j: i32) -> parameters: f64[]
set iimp ipr(j: i32, gains: f64[])
set iimp iof(j: i32, offset: f64[])
get iimp ipr(j: i32) -> gains: f64[]
get iimp iof(j: i32) -> offset: f64[]
get iimp llim(j: i32) -> limits: f64[]
set icmd cmod(j: i32, mode: mode)
set icmd cmog(n: i32, joints: i32[], modes: mode[])
set icmd cmds(modes: mode[])
get icmd cmod(j: i32) -> mode: mode
get icmd cmog(n: i32, joints: i32[]) -> modes: mode[]
get icmd cmds() -> modes: mode[]
set intm mode(j: i32, mode: mode)
set intm modg(n: i32, joints: i32[], modes: mode[])
set intm mods(modes: mode[])
get intm mode(j: i32) -> mode: mode
get intm modg(n: i32, joints: i32[]) -> modes: mode[]
get intm mods() -> modes: mode[]
set pid pid(type: mode, j: i32, pid: pid)
set pid pids(type: mode, pids: pid[])
set pid ref(type: mode, j: i32, value: f64)
set pid refs(type: mode, values: f64[])
set pid lim(type: mode, j: i32, value: f64)
set pid lims(type: mode, values: f64[])
set pid off(type: mode, j: i32, value: f64)
set pid res(type: mode, j: i32)
set pid ena(type: mode, j: i32)
set pid dis(type: mode, j: i32)
get pid pid(type: mode, j: i32) -> pid: pid
get pid pids(type: mode) -> pids: pid[]
get pid err(type: mode, j: i32) -> value: f64
get pid errs(type: mode) -> values: f64[]
get pid out(type: mode, j: i32) -> value: f64
get pid outs(type: mode) -> values: f64[]
get pid ref(type: mode, j: i32) -> value: f64
get pid refs(type: mode) -> values: f64[]
get pid lim(type: mode, j: i32) -> value: f64
get pid lims(type: mode) -> values: f64[]
get pid ena(type: mode, j: i32) -> enabled: i32
get ipwm ref(j: i32) -> value: f64
get ipwm refs() -> values: f64[]
get ipwm pwm(j: i32) -> value: f64
get ipwm pwms() -> values: f64[]
get icur ref(j: i32) -> value: f64
get icur refs() -> values: f64[]
get icur rng(j: i32) -> min: f64, max: f64
get icur rngs() -> min: f64[], max: f64[]
set reca cal(j: i32)
set reca cals()
set reca hom(j: i32)
set reca homs()
set reca par(j: i32)
set reca pars()
set reca quca()
set reca qupa()
get reca isca() -> present: i32
get ijfl jhfl(j: i32) -> fault: i32, message: str
calj(j: i32, type: i32, v1: f64, v2: f64, v3: f64)
cljp(j: i32, type: i32, p1: f64, p2: f64, p3: f64, p4: f64)
cal()
cald(j: i32)
park(wait: i32)
"""


def _method(line: str) -> Method:
    words, rest = line.split("(", 1)
    found = parse_method("_".join(words.split()) + "(" + rest)
    return Method(words, found.arguments, found.results)


METHODS: dict[str, Method] = {m.name: m for m in map(_method, _TABLE.strip().splitlines())}
"""Every request by its words, ``get torq ref``: arguments and results, without the stamp."""


def _find(words: str) -> Method:
    method = METHODS.get(words)
    if method is None:
        raise WireError(f"request {words[:80]!r} is not understood by a control board of dialect 3", field="method")
    return method


def encode_request(words: str, *values: Any) -> Bottle:
    """Return the request of these words with its arguments.

    Raises:
        WireError: there is no such request, or the arguments do not fit.
    """
    method = _find(words)
    return Bottle((*[Vocab.of(w) for w in words.split()], *encode_fields(method.arguments, values, 3)))


def decode_request(request: Bottle) -> tuple[str, tuple[Any, ...]]:
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


def encode_reply(request: Bottle, *values: Any, stamp: Stamp | None = None) -> Bottle:
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


def decode_reply(request: Bottle, reply: Bottle) -> tuple[tuple[Any, ...], Stamp | None]:
    """Return the results of a reply to a request, and its stamp: None for replies that have none.

    Raises:
        WireError: the control board refused the request, or the reply does not fit it.
    """
    method = _method_of(request)
    if reply.items[-1:] != (OK,):
        raise WireError(f"the control board refused {method.name!r}", field="method")
    if not method.name.startswith("get "):
        return (), None
    items, stamp = reply.items[:-1], None
    if method.name.split()[1] not in _UNTIMED:
        if len(items) < 3 or items[-3] != TSTA:
            raise WireError(f"the reply to {method.name!r} has no stamp", field="stamp")
        stamp = Stamp(integer(items[-2]), number(items[-1]))
        items = items[:-3]
    echo = _echo(method, request)
    if items[: len(echo)] != echo:
        raise WireError(f"the reply to {method.name!r} belongs to another request", field="echo")
    return decode_fields(method.results, items[len(echo) :], 3), stamp
