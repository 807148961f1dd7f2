"""Foxglove's SDK, imported where it is needed."""

from __future__ import annotations

from pliant.base.errors import importing


def load_sdk() -> object:
    """Return the package ``foxglove`` with the modules that the bridge uses.

    Raises:
        MissingDependency: it is not installed, or is too old.
    """
    with importing("foxglove-sdk", command="pip install 'pliant[foxglove]'", purpose="the bridge foxglove"):
        import foxglove.channels
        import foxglove.layouts
        import foxglove.messages
        import foxglove.websocket

        import foxglove
    return foxglove
