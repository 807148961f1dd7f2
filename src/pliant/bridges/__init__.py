"""The wires: what a robot's own software connects to. Each bridge is one module; none imports another."""

from pliant.bridges.registry import BridgeEntry, bridge_options, list_bridges, make_bridge, register_bridge

__all__ = ["BridgeEntry", "bridge_options", "list_bridges", "make_bridge", "register_bridge"]
