"""Where YARP's programs look for their name server: environment, name space and configuration files."""

from __future__ import annotations

import configparser
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pliant.base.documents.files import read_file
from pliant.base.errors import BridgeError

DEFAULT_PORT = 10000
"""TCP port of a name server that was given none."""
MAX_FILE = 1 << 16
"""Longest configuration file that is read [bytes]. # assumed: one line takes 25"""


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """Where a name server listens."""

    host: str
    """Address or name of the machine."""
    port: int
    """TCP port."""

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def parse_address(text: str) -> ServerAddress:
    """Return the address of a text such as ``127.0.0.1:10000``; without a port it is `DEFAULT_PORT`.

    Raises:
        BridgeError: the text is no address.
    """
    match = re.fullmatch(r"([\w.\-]+)(?::(\d{1,5}))?", text.strip())
    port = int(match[2]) if match and match[2] else DEFAULT_PORT
    if match is None or port > 65535:
        raise BridgeError(f"server is {text!r}; must be HOST or HOST:PORT, such as 127.0.0.1:10000", field="server")
    return ServerAddress(match[1], port)


def _directory(environment: Mapping[str, str]) -> Path:
    if environment.get("YARP_CONFIG_HOME"):
        return Path(environment["YARP_CONFIG_HOME"])
    base = environment.get("XDG_CONFIG_HOME")
    return (Path(base) if base else Path.home() / ".config") / "yarp"


def _read(file: Path) -> str | None:
    if not file.exists():
        return None
    data = read_file(file, BridgeError, max_bytes=MAX_FILE, allow_empty=True)
    return data.decode("utf-8", "replace")


def name_space(environment: Mapping[str, str] | None = None) -> str:
    """Return the name space, which is the name of the name server's port: ``/root`` unless it is configured.

    Raises:
        BridgeError: the file ``yarp_namespace.conf`` cannot be read.
    """
    environment = os.environ if environment is None else environment
    given = environment.get("YARP_NAMESPACE", "").strip()
    if not given:
        words = (_read(_directory(environment) / "yarp_namespace.conf") or "").split()
        given = words[-1] if words else ""
    if not given:
        return "/root"
    return given if given.startswith("/") else f"/{given}"


def configuration_file(environment: Mapping[str, str] | None = None) -> Path:
    """Return the file that names the name server: ``yarp.conf`` for ``/root``, ``_ns.conf`` for ``/ns``."""
    environment = os.environ if environment is None else environment
    space = name_space(environment)
    name = "yarp.conf" if space == "/root" else re.sub(r"[^0-9A-Za-z]", "_", space) + ".conf"
    return _directory(environment) / name


def read_configuration(environment: Mapping[str, str] | None = None) -> ServerAddress | None:
    """Return the configured name server, or None without a file.

    Raises:
        BridgeError: the file is there but names no host and port.
    """
    file = configuration_file(environment)
    content = _read(file)
    if content is None:
        return None
    lines = [line.split("#")[0].strip() for line in content.splitlines()]
    host = port = ""
    if any(line.startswith("[") for line in lines):
        parser = configparser.ConfigParser(delimiters=("=", " ", "\t"), strict=False, interpolation=None)
        try:
            parser.read_string("\n".join(lines))
        except configparser.Error as fault:
            raise BridgeError(f"the configuration of YARP is not valid: {fault}", file=file) from None
        group = parser["name"] if parser.has_section("name") else {}
        host, port = group.get("host", ""), group.get("port", "")
    else:
        words = " ".join(lines).split()
        if len(words) >= 2:
            host, port = words[:2]
    if not host or not port.isdigit() or not 0 < int(port) <= 65535:
        raise BridgeError(
            "the configuration of YARP must hold one line 'HOST PORT yarp', such as '127.0.0.1 10000 yarp', or a "
            f"group [name] with host and port; found {content[:80]!r}",
            file=file,
        )
    return ServerAddress(host, int(port))


def find_server(server: str = "") -> ServerAddress:
    """Return where the name server is: the given address, else the configured one, else 127.0.0.1:10000.

    Raises:
        BridgeError: the text is no address, or the configuration of YARP is wrong.
    """
    if server:
        return parse_address(server)
    return read_configuration() or ServerAddress("127.0.0.1", DEFAULT_PORT)


def write_configuration(address: ServerAddress, environment: Mapping[str, str] | None = None) -> Path:
    """Write the file that names the name server, as ``yarpserver --write`` does, and return it.

    Raises:
        BridgeError: the file cannot be written.
    """
    file = configuration_file(environment)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{address.host} {address.port} yarp\n", encoding="utf-8")
    except OSError as fault:
        raise BridgeError(f"the configuration of YARP cannot be written: {fault.strerror}", file=file) from None
    return file
