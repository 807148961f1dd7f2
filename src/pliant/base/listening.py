"""Addresses of this machine to listen on, never every interface, and the sockets that listen there."""

from __future__ import annotations

import errno
import ipaddress
import socket

from pliant.base.errors import BridgeError


def check_listening_host(host: str, option: str) -> None:
    """Refuse the address that stands for every interface.

    Raises:
        BridgeError: the host is empty or the wildcard address.
    """
    try:
        wildcard = ipaddress.ip_address(host.strip("[]").partition("%")[0]).is_unspecified
    except ValueError:
        wildcard = host.strip() in ("", "*")
    if wildcard:
        raise BridgeError(
            f"{option} is {host!r}, every interface of this machine; must be one address of it, such as 127.0.0.1",
            field=option,
        )


def listening_address(host: str, option: str) -> str:
    """Return the IPv4 address of a host of this machine, to listen on.

    Raises:
        BridgeError: it is the wildcard address, or a name without an IPv4 address.
    """
    check_listening_host(host, option)
    try:
        address = str(socket.getaddrinfo(host, None, socket.AF_INET, socket.SOCK_STREAM)[0][4][0])
    except (OSError, UnicodeError) as fault:
        why = getattr(fault, "strerror", None) or fault
        raise BridgeError(
            f"{option} is {host!r} ({why}); must be an address of this machine, such as 127.0.0.1", field=option
        ) from None
    check_listening_host(address, option)
    return address


def listen(host: str, port: int, what: str) -> socket.socket:
    """Return a listening TCP socket that does not block.

    Args:
        host: address of this machine.
        port: TCP port; 0 takes a free one.
        what: how messages name the listener.

    Raises:
        BridgeError: the port is in use, or the address is not of this machine.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(64)
    except OSError as fault:
        listener.close()
        if fault.errno == errno.EADDRINUSE:
            text = f"{what}: TCP port {port} of {host} is in use by another program; stop it or choose another address"
        elif fault.errno in (errno.EADDRNOTAVAIL, errno.EACCES):
            text = f"{what}: cannot listen on {host}:{port}: {fault.strerror}"
        else:
            text = f"{what}: cannot listen on {host}:{port}: {fault}"
        raise BridgeError(text, field="port") from None
    listener.setblocking(False)
    return listener
