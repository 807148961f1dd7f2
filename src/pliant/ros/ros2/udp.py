"""The UDP sockets of a participant of DDS."""

from __future__ import annotations

import contextlib
import socket
import struct

from pliant.base.errors import BridgeError
from pliant.ros.ros2.endpoints import Address
from pliant.ros.wire.rtps.parameters import UDP4, Locator

GROUP = "239.255.0.1"
"""Multicast group of discovery (DDSI-RTPS 2.3, 9.6.1.4.1)."""


class UdpSockets:
    """Where a participant talks and listens: one socket for all that it sends, and those of discovery.

    Args:
        loopback: talk on 127.0.0.1 only.
    """

    def __init__(self, loopback: bool) -> None:
        self._loopback = loopback
        self.host = "127.0.0.1"
        """Address of this participant."""
        self.port = 0
        """Number of its port."""
        self.unsent = 0
        """Datagrams that the system did not take."""
        self.all: list[socket.socket] = []
        """Every socket, that of the data first."""
        self._local: dict[str, bool] = {}

    def open(self, domain: int, *, multicast: bool) -> None:
        """Open the sockets.

        Args:
            domain: number of the domain.
            multicast: whether the group of discovery is listened to.

        Raises:
            BridgeError: no port of the domain is free.
        """
        if not self._loopback:
            self.host = _own_address()
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        first = 7400 + 250 * domain + 10
        for index in range(120):
            with contextlib.suppress(OSError):
                sock.bind((self.host, first + 2 * index))
                break
        else:
            sock.close()
            raise BridgeError(
                f"no UDP port of domain {domain} is free ({first} to {first + 238}); choose another domain",
                field="domain",
            )
        self.port = sock.getsockname()[1]
        sock.setblocking(False)
        with contextlib.suppress(OSError):
            sock.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(self.host))
            sock.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP, 1)
        wake, self._waker = socket.socketpair()
        wake.setblocking(False)
        self._waker.setblocking(False)
        self.data, self.wake = sock, wake
        self.all = [sock, wake]
        if self.host != "127.0.0.1":
            self._listen_on_loopback()
        if multicast:
            self._join_group(domain)

    def _listen_on_loopback(self) -> None:
        """Listen on 127.0.0.1 besides the interface of the subnet: nodes of this machine may announce themselves there.

        One socket on every interface would take what comes in by interfaces that nobody thinks of.
        """
        local = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            local.bind(("127.0.0.1", self.port))
        except OSError:  # another participant has it; unicast does without
            local.close()
            return
        local.setblocking(False)
        self.all.append(local)

    def _join_group(self, domain: int) -> None:
        """Listen to the group of discovery on every interface; unicast does without.

        Nodes on this machine may announce themselves on any interface. Where this participant talks on 127.0.0.1
        only, it passes over what comes from other machines.
        """
        group = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            group.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            group.bind((GROUP, 7400 + 250 * domain))
            wanted = socket.inet_aton(GROUP)
            members = [wanted + bytes(4) + struct.pack("=i", index) for index, _ in socket.if_nameindex()]
            members += [wanted + socket.inet_aton(host) for host in {"127.0.0.1", self.host}]
            joined = 0
            for member in members:
                with contextlib.suppress(OSError):
                    group.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, member)
                    joined += 1
            if not joined:
                raise OSError("no interface supports multicast")
            group.setblocking(False)
            self.all.append(group)
        except OSError:
            group.close()

    def close(self) -> None:
        """Close the sockets."""
        for sock in (*self.all, self._waker):
            sock.close()

    def nudge(self) -> None:
        """Let who waits for the sockets look again."""
        with contextlib.suppress(OSError):
            self._waker.send(b"x")

    def send(self, address: Address, datagram: bytes) -> None:
        """Send a datagram; what the system does not take is counted."""
        try:
            self.data.sendto(datagram, address)
        except OSError:  # no route, or the system has no room: what is reliable is sent again
            self.unsent += 1

    def reach(self, locators: tuple[Locator, ...], source: Address) -> Address | None:
        """Return the address to speak to: on this machine where it can be, else where the other one spoke from."""
        found = [item for item in locators if item.kind == UDP4 and item.port and item.address != "0.0.0.0"]
        for wanted in ("127.0.0.1", source[0]):
            for item in found:
                if item.address == wanted:
                    return item.address, item.port
        for item in found:
            if not self._loopback or self.is_local(item.address):
                return item.address, item.port
        return None

    def is_local(self, address: str) -> bool:
        """Return whether an address is one of this machine's."""
        if address.startswith("127."):
            return True
        if address not in self._local:
            if len(self._local) > 256:
                self._local.clear()
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
                try:
                    probe.bind((address, 0))
                    self._local[address] = True
                except OSError:
                    self._local[address] = False
        return self._local[address]


def _own_address() -> str:
    """Return the address of the interface that leads to the group of discovery, 127.0.0.1 if none does."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((GROUP, 7400))
            return probe.getsockname()[0]
        except OSError:
            return "127.0.0.1"
