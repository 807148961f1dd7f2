"""`pliant yarpserver`: a name server that needs no installation of YARP."""

from __future__ import annotations

import logging
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from pliant.cli.messages import say
from pliant.cli.options import Debug, Json
from pliant.cli.output import emit, make_console

if TYPE_CHECKING:
    from pliant.yarp.bridge.nameserver import NameServer


def yarpserver(
    *,
    socket: Annotated[int, Parameter(help="TCP port to listen on.")] = 10000,
    ip: Annotated[str, Parameter(help="Address to listen on; the server gives it to ports.")] = "127.0.0.1",
    write: Annotated[
        bool, Parameter(help="Write YARP's configuration file, so that programs find the server.")
    ] = False,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Run a name server for programs of YARP 3 and 4 until interrupted.

    Examples:
        pliant yarpserver
    """
    from pliant.base.errors import BridgeError
    from pliant.yarp.bridge.configuration import name_space, write_configuration
    from pliant.yarp.bridge.nameserver import NameServer

    if not 0 <= socket <= 65535:
        raise BridgeError(f"--socket is {socket}; must be 0 to 65535", field="socket")
    server = NameServer(socket, ip, name=name_space())
    server.on_complaint = logging.getLogger("pliant.yarp.bridge").warning
    ended = threading.Event()
    server.threads.tell(lambda name, why: ended.set())
    try:
        with server:
            _tell(server, write_configuration(server.address) if write else None, json)
            while not ended.wait(1.0):
                pass
    except KeyboardInterrupt:
        return 0
    for name, why in server.threads.dead.items():
        say(f"the thread {name} died: {why}")
    return 1


def _tell(server: NameServer, file: Path | None, json: bool) -> None:
    if json:
        emit({"name": server.name, "address": str(server.address), "configuration": file})
        return
    console = make_console()
    console.print(f"name server {server.name} at {server.address}", markup=False)
    if file is not None:
        console.print(f"written: {file}", soft_wrap=True, markup=False)
    console.print("Ctrl-C ends it", markup=False)
