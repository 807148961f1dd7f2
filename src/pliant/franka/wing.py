"""Declaration of the wing ``franka``."""

from pliant.base.wing import BridgeEntry, Wing

_ENTRIES = "pliant.franka.robots.entry"

WING = Wing(
    name="franka",
    summary="Franka arms behind the Franka Control Interface: identified dynamics, cabinet, hand, client",
    bridges={
        "fci": BridgeEntry(
            "Franka Control Interface: libfranka's clients connect to 127.0.0.1",
            "pliant.franka.bridge:make",
            probe="pliant.franka.bridge.probe:probe",
        ),
    },
    robots={
        "franka": _ENTRIES,
        "fr3": _ENTRIES,
        "fp3": _ENTRIES,
        "fr3v2": _ENTRIES,
        "fr3-workcell": _ENTRIES,
        "franka-dual": _ENTRIES,
        "franka-torso": _ENTRIES,
    },
    scenarios=dict.fromkeys(("nod", "push-on-both-hands"), "pliant.franka"),
    panels=("pliant.franka.panel:PANEL",),
    commanders={"franka_arm": "pliant.franka.client.held:ArmCommander"},
    controllers={"fci": "pliant.franka.client.policy:FCI"},
    devices=("pliant.franka.device.arm",),
    logs={
        "fci-log": BridgeEntry(
            "a recorded motion of a Franka arm, CSV of libfranka's logToCSV or a recording",
            "pliant.franka.log:open_log",
        )
    },
    benchmarks=("franka.py",),
)
