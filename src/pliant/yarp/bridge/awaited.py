"""Commands that a step waits for: a call names how many messages it sent to each port, and steps when all are here.

Streams and calls arrive over connections of their own, so a step that is asked for behind a command may overtake it.
A call that counts the commands cannot be overtaken, over whatever carrier they come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future

from pliant.base.errors import WireError, nearest
from pliant.yarp.bridge.port import Port
from pliant.yarp.bridge.reactor import Reactor
from pliant.yarp.wire import Bottle, Value

COMMAND_TIMEOUT_S = 5.0
"""Longest wait for the commands of one call [s of wall time]; a datagram may be lost."""
MAX_COUNT = 1_000_000
"""Most commands that one call may wait for at a port."""


def read_counts(items: Sequence[Value]) -> dict[str, int]:
    """Return the number of commands by port from the lists ``(PORT COUNT)`` of a call.

    Raises:
        WireError: another form, a port twice, or a count that is not valid.
    """
    counts: dict[str, int] = {}
    for item in items:
        pair = item.items if isinstance(item, Bottle) and len(item) == 2 else (None, None)
        port, count = pair
        if not isinstance(port, str) or not isinstance(count, int) or isinstance(count, bool):
            raise WireError(f"{item!r} is no number of commands; must be (PORT COUNT)", field="commands")
        if port in counts or not 0 <= count <= MAX_COUNT:
            raise WireError(f"{port} {count}: must be 0 to {MAX_COUNT} commands, each port once", field="commands")
        counts[port] = int(count)
    return counts


class AwaitedCommands:
    """Knows which commands earlier calls have waited for. Everything runs in the reactor's thread.

    Args:
        reactor: of the ports.
        ports: returns the ports of the bridge.
        complain: told which port lacked commands.
    """

    def __init__(self, reactor: Reactor, ports: Callable[[], Iterable[Port]], complain: Callable[[str], None]) -> None:
        self._reactor, self._ports, self._complain = reactor, ports, complain
        self._seen: dict[str, int] = {}
        """Commands of each port that earlier calls have waited for."""

    def arrived(self, counts: dict[str, int]) -> Future[None]:
        """Return a future that is done when so many commands have come to each port since the last such call.

        Raises:
            WireError: a port does not exist or takes no commands.
        """
        ports = {port.name: port for port in self._ports() if port.on_data is not None and not port.is_rpc}
        unknown = next((name for name in counts if name not in ports), None)
        if unknown is not None:
            raise WireError(f"there is no port {unknown!r} for commands; {nearest(unknown, ports)}", field="commands")
        wanted = {ports[name]: self._seen.get(name, 0) + count for name, count in counts.items()}
        done: Future[None] = Future()

        def look() -> None:
            if done.done() or any(port.received < number for port, number in wanted.items()):
                return
            finish()
            done.set_result(None)

        def finish() -> None:
            for port in wanted:
                port.watchers.discard(look)
                self._seen[port.name] = port.received

        def give_up() -> None:
            if not done.done():
                late = [f"{p.name} got {p.received - n + counts[p.name]} of {counts[p.name]}" for p, n in wanted.items()
                        if p.received < n]  # fmt: skip
                finish()
                self._complain(f"no step is taken, because commands did not come within {COMMAND_TIMEOUT_S:g} s: "
                               + ", ".join(late))  # fmt: skip
                done.set_exception(WireError("commands did not come"))

        for port in wanted:
            port.watchers.add(look)
        look()
        if not done.done():
            self._reactor.after(COMMAND_TIMEOUT_S, give_up)
        return done
