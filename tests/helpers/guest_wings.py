"""Wings of a test: bridges and robots that are declared while it runs."""

import contextlib

from pliant.base.wing import BridgeEntry, Wing, declare, withdraw


@contextlib.contextmanager
def guest_bridges(**places):
    """Declare bridges by name, each with the place of its factory."""
    bridges = {name: BridgeEntry(f"a test's {name}", place) for name, place in places.items()}
    declare(Wing(name="guest_bridges", summary="bridges of a test", bridges=bridges))
    try:
        yield
    finally:
        withdraw("guest_bridges")


@contextlib.contextmanager
def guest_robots(**places):
    """Declare robots by name, each with the place of what builds it; "_" stands for "-"."""
    robots = {name.replace("_", "-"): place for name, place in places.items()}
    declare(Wing(name="guest_robots", summary="robots of a test", robots=robots))
    try:
        yield
    finally:
        withdraw("guest_robots")
