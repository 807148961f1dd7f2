"""Names that ROS takes."""

from __future__ import annotations

import re

__all__ = ["SYNC_TOPIC", "node_name", "sync_names", "topic_name"]

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
