"""`pliant yarp`: read, write, call and connect ports, as the program `yarp` does."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from pliant.base.errors import BridgeError, PliantError, printable
from pliant.cli.options import Debug, Json
from pliant.cli.output import emit, make_console, plain, print_table

if TYPE_CHECKING:
    from pliant.yarp.client import YarpNetwork
    from pliant.yarp.wire import Bottle

yarp = App(name="yarp", help="Read, write, call and connect ports of a YARP network, without an installation of YARP.")

Server = Annotated[str, Parameter(help="Name server, HOST:PORT; default: YARP's configuration, else 127.0.0.1:10000.")]
YarpDialect = Annotated[
    int, Parameter(help="Write numbers as YARP 3 or as YARP 4 to a port that does not say which one it belongs to.")
]
Carrier = Annotated[str, Parameter(help="tcp, fast_tcp, udp, text or text_ack.")]


def _shown(text: str) -> str:
    """Return what a peer sent, whole, for a terminal that it must not control; tabs stay."""
    return "\t".join(printable(part, max_line=0) for part in text.split("\t"))


def _network(server: str, dialect: int = 3) -> YarpNetwork:
    from pliant.yarp.client import YarpNetwork

    if dialect not in (3, 4):
        raise BridgeError(f"--dialect is {dialect}; must be 3 or 4", field="dialect")
    return YarpNetwork(server, dialect=4 if dialect == 4 else 3)


@yarp.command
def read(
    name: Annotated[str, Parameter(help="Name of the port to open; ... for any name.")],
    source: Annotated[str, Parameter(help="Port to read from.")] = "",
    /,
    *,
    carrier: Carrier = "",
    envelope: Annotated[bool, Parameter(help="Print count and time of each message in front of it.")] = False,
    count: Annotated[int, Parameter(help="End after this number of messages; 0: run until interrupted.")] = 0,
    server: Server = "",
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Print the messages that arrive at a port, one per line, until interrupted.

    Examples:
        pliant yarp read ... /icubSim/left_arm/state:o --count 1
    """
    from pliant.yarp.wire import format_bottle

    if count < 0:
        raise PliantError(f"--count is {count}; must be >= 0", field="count")
    taken: list[dict[str, str | None]] = []
    with _network(server) as network:
        reader = network.open_input(name)
        if source:
            network.connect(source, reader.name, carrier)
        elif not json:
            print(f"port {reader.name} waits for connections", file=sys.stderr, flush=True)
        try:
            while not count or len(taken) < count:
                try:
                    message = reader.read(0.5)
                except BridgeError:
                    continue
                text = format_bottle(message.content)
                stamp = None if message.stamp is None else message.stamp.envelope
                if json or count:
                    taken.append({"message": text, "envelope": stamp, "sender": message.sender})
                if not json:
                    print(_shown(f"{stamp or '-'} {text}" if envelope else text), flush=True)
        except KeyboardInterrupt:
            if not json:
                return 0
    if json:
        emit({"port": name, "messages": taken})
    return 0


@yarp.command
def write(
    name: Annotated[str, Parameter(help="Name of the port to open; ... for any name.")],
    target: Annotated[str, Parameter(help="Port to write to.")] = "",
    /,
    *,
    carrier: Carrier = "",
    dialect: YarpDialect = 3,
    server: Server = "",
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Send each line of the standard input as a message.

    Examples:
        pliant yarp write ... /icubSim/left_arm/rpc:i
    """
    from pliant.yarp.wire import parse_bottle

    sent = 0
    with _network(server, dialect) as network:
        port = network.open_output(name)
        if target:
            network.connect(port.name, target, carrier)
        try:
            for line in sys.stdin:
                if line.strip():
                    port.write_bottle(parse_bottle(line))
                    sent += 1
        except KeyboardInterrupt:
            pass
        flushed = threading.Event()
        network.network.reactor.call(flushed.set)
        flushed.wait(5.0)
    if json:
        emit({"port": port.name, "sent": sent})
    return 0


@yarp.command
def rpc(
    name: Annotated[str, Parameter(help="Port to call.")],
    *words: Annotated[str, Parameter(help="The request; without one, each line of the standard input is a request.")],
    dialect: YarpDialect = 3,
    server: Server = "",
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Send requests to a port and print its replies.

    Examples:
        pliant yarp rpc /icubSim/left_arm/rpc:i get encs
    """
    from pliant.yarp.wire import format_bottle, parse_bottle

    with _network(server, dialect) as network, network.open_rpc(name) as connection:
        if words:
            reply = connection.call(parse_bottle(" ".join(words)))
            emit({"reply": format_bottle(reply)}) if json else print(_shown(f"Response: {format_bottle(reply)}"))
            return 0
        replies: list[str] = []
        try:
            for line in sys.stdin:
                if not line.strip():
                    continue
                replies.append(format_bottle(connection.call(parse_bottle(line))))
                if not json:
                    print(_shown(f"Response: {replies[-1]}"), flush=True)
        except KeyboardInterrupt:
            pass
        if json:
            emit({"replies": replies})
    return 0


@yarp.command
def connect(
    source: Annotated[str, Parameter(help="Port that sends.")],
    target: Annotated[str, Parameter(help="Port that receives.")],
    carrier: Carrier = "",
    /,
    *,
    persist: Annotated[
        bool, Parameter(help="Let the name server renew the connection when a port is restarted.")
    ] = False,
    server: Server = "",
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Connect two ports.

    Examples:
        pliant yarp connect /controller:o /icubSim/left_arm/command:i tcp
    """
    from pliant.yarp.wire import bottle

    with _network(server) as network:
        if persist:
            target_text = f"{carrier}:/{target}" if carrier else target
            text = _root(network, bottle("subscribe", source, target_text))
        else:
            text = network.connect(source, target, carrier)
    emit({"source": source, "target": target, "text": text}) if json else print(_shown(text))
    return 0


@yarp.command
def disconnect(
    source: Annotated[str, Parameter(help="Port that sends.")],
    target: Annotated[str, Parameter(help="Port that receives.")],
    /,
    *,
    persist: Annotated[bool, Parameter(help="Also end a connection that the name server renews.")] = False,
    server: Server = "",
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Disconnect two ports.

    Examples:
        pliant yarp disconnect /controller:o /icubSim/left_arm/command:i
    """
    from pliant.yarp.wire import bottle

    with _network(server) as network:
        if persist:
            text = _root(network, bottle("unsubscribe", source, target))
        else:
            text = network.disconnect(source, target)
    emit({"source": source, "target": target, "text": text}) if json else print(_shown(text))
    return 0


def _root(network: YarpNetwork, command: Bottle) -> str:
    """Return the reply of the name server's own port."""
    from pliant.yarp.bridge.calls import ask_administration
    from pliant.yarp.wire import Contact, format_bottle
    from pliant.yarp.wire.values import FAIL

    address = network.names.address
    contact = Contact(name="/root", host=address.host, port=address.port)
    reply = ask_administration(contact, command, data=True)
    if reply.items[:1] == (FAIL,):
        raise PliantError(f"the name server refused {format_bottle(command)!r}")
    return format_bottle(reply)


@yarp.command
def name(
    *words: Annotated[str, Parameter(help="The command, such as: list; query /clock; register /a; help.")],
    server: Server = "",
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Send a command to the name server and print its answer.

    Examples:
        pliant yarp name query /icubSim/left_arm/rpc:i
    """
    with _network(server) as network:
        answer = network.names.ask_text(*(words or ("help",))).decode("utf-8", "replace")
    emit({"answer": answer.splitlines()}) if json else print(_shown("\n".join(answer.splitlines())))
    return 0


@yarp.command(name="list")
def list_(
    prefix: Annotated[str, Parameter(help="Show the ports below this name only.")] = "",
    /,
    *,
    server: Server = "",
    json: Json = False,
    debug: Debug = False,
) -> int:
    """List the registered ports.

    Examples:
        pliant yarp list /icubSim
    """
    with _network(server) as network:
        contacts = network.list(prefix)
    if json:
        emit({"ports": [{"name": c.name, "ip": c.host, "port": c.port, "carrier": c.carrier} for c in contacts]})
        return 0
    from rich.table import Table

    console = make_console()
    table = Table(box=None)
    for column in ("name", "address", "carrier"):
        table.add_column(column)
    for c in contacts:
        table.add_row(plain(c.name), f"{c.host}:{c.port}", c.carrier)
    print_table(console, table)
    return 0


@yarp.command
def clean(
    prefix: Annotated[str, Parameter(help="Look at the ports below this name only.")] = "",
    /,
    *,
    timeout: Annotated[float, Parameter(help="Longest wait for the answer of a port [s].")] = 1.0,
    server: Server = "",
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Remove the registered ports that do not answer: their programs ended without saying so.

    Examples:
        pliant yarp clean /icubSim
    """
    if not 0.0 < timeout < 3600.0:
        raise PliantError(f"--timeout is {timeout:g}; must be > 0 s and below 3600 s", field="timeout")
    with _network(server) as network:
        removed = network.clean(prefix, timeout)
    if json:
        emit({"removed": removed})
    else:
        print(_shown("\n".join(f"removed {name}" for name in removed) or "every registered port answers"))
    return 0


@yarp.command
def where(*, server: Server = "", json: Json = False, debug: Debug = False) -> int:
    """Print which name server is used, where it is configured, and whether it answers.

    Examples:
        pliant yarp where
    """
    from pliant.yarp.bridge.configuration import configuration_file, name_space, read_configuration

    with _network(server) as network:
        address, reachable = network.names.address, network.names.reachable()
    source = "option" if server else str(configuration_file()) if read_configuration() else "default"
    if json:
        emit({"address": str(address), "from": source, "namespace": name_space(), "answers": reachable})
    else:
        state = "answers" if reachable else "does not answer; start one: pliant yarpserver --write"
        print(f"name server {name_space()} at {address} (from {source}) {state}")
    return 0 if reachable else 1


@yarp.command
def ping(
    port: Annotated[str, Parameter(help="Port to ask.")],
    /,
    *,
    server: Server = "",
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Ask a port for its connections.

    Examples:
        pliant yarp ping /icubSim/left_arm/rpc:i
    """
    from pliant.yarp.wire import Vocab, bottle, format_bottle

    with _network(server) as network:
        contact = network.query(port)
        into, out = (
            format_bottle(network.administer(port, bottle(Vocab.of("list"), Vocab.of(way)))) for way in ("in", "out")
        )
    if json:
        emit({"name": port, "ip": contact.host, "port": contact.port, "in": into, "out": out})
    else:
        print(f"{port} at {contact.host}:{contact.port}\n  in:  {into or '-'}\n  out: {out or '-'}")
    return 0
