"""Declaration of the wing ``foxglove``."""

from pliant.base.wing import BridgeEntry, Wing

WING = Wing(
    name="foxglove",
    summary="Foxglove's app over WebSocket: devices, scene, cameras, commands",
    extra="foxglove",
    bridges={
        "foxglove": BridgeEntry(
            "Foxglove: devices, scene, cameras and commands for Foxglove's app, over WebSocket",
            "pliant.foxglove:make",
            ("foxglove",),
        ),
    },
)
