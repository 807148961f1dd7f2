"""Declaration of the wing ``walking``."""

from pliant.base.wing import Wing

WING = Wing(
    name="walking",
    summary="A walking controller on the divergent component of motion, a biped and humanoids",
    robots={
        "biped": "pliant.walking.robots.biped.build",
        "talos": "pliant.walking.robots.humanoids.build",
        "g1": "pliant.walking.robots.humanoids.build",
    },
    scenarios=dict.fromkeys(("push-biped", "push-talos", "push-g1"), "pliant.walking"),
    devices=("pliant.walking.device",),
)
