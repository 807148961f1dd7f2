"""Addresses to listen on: one of this machine, never every interface."""

from __future__ import annotations

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
