"""Declaration of the wing ``events``."""

from pliant.base.wing import Wing

WING = Wing(
    name="events",
    summary="Scenarios: commands, pushes, payloads, requests and resets at given times of a run",
    additions={"scenario": "pliant.events.options:ScenarioOptions"},
)
