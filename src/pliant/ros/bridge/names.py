"""Names that ROS takes."""

from __future__ import annotations

import os
import re

from pliant.base.errors import BridgeError

LAST_DOMAIN = 232
"""Largest number of a domain of ROS 2."""
SYNC_TOPIC = "trigger_next_step"
"""The topic of FrankaSim on which a controller asks for the next step."""


def topic_name(*parts: str) -> str:
    """Return a name that ROS takes: other characters than letters, digits and underscores become underscores."""
    names = []
    for part in parts:
        for word in part.split("/"):
            plain = re.sub(r"[^A-Za-z0-9_]", "_", word)
            if plain:
                names.append(plain if not plain[0].isdigit() else f"_{plain}")
    return "/" + "/".join(names)


def node_name(asked: str, namespace: str) -> str:
    """Return the name of a robot's node, without a slash before it.

    Args:
        asked: what the user wants; "" for ``pliant_<namespace>``.
        namespace: prefix of the robot's topics.
    """
    plain = topic_name(namespace).strip("/").replace("/", "_")
    return topic_name(asked or f"pliant_{plain}").strip("/")


def sync_names(text: str) -> tuple[str, ...]:
    """Return the names in the ``sync`` option: ``reference_1+reference_2``; ``trigger`` is the trigger topic."""
    return tuple(SYNC_TOPIC if part == "trigger" else part for part in re.split(r"[+ ]", text) if part)


def domain_number(asked: int | None) -> int:
    """Return the number of a domain of ROS 2.

    Args:
        asked: what the user wants; None for ``ROS_DOMAIN_ID``, else 0.

    Raises:
        BridgeError: there is no such domain.
    """
    if asked is None:
        text = os.environ.get("ROS_DOMAIN_ID", "").strip() or "0"
        if not (text.isascii() and text.isdigit()):
            raise BridgeError(f"ROS_DOMAIN_ID is {text!r}; it must be 0 to {LAST_DOMAIN}", field="domain")
        asked = int(text)
    if not 0 <= asked <= LAST_DOMAIN:
        raise BridgeError(f"the domain is {asked}; it must be 0 to {LAST_DOMAIN}", field="domain")
    return asked
