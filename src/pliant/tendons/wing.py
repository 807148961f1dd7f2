"""Declaration of the wing ``tendons``."""

from pliant.base.wing import Wing

_ENTRIES = "pliant.tendons.entry"

WING = Wing(
    name="tendons",
    summary="Tendon-driven continuum robots: statics with friction, identification, models on servos, device",
    builds_on=("rods",),
    subcommands={"cpr identify-tendons": "pliant.tendons.commands:identify_tendons"},
    robots={"fr3-tdcr": _ENTRIES, "tdcr": _ENTRIES, "tdcr-v4": _ENTRIES, "tdcr-v6": _ENTRIES},
    scenarios={"pull-tendons": "pliant.tendons"},
    formats=("pliant.tendons.format:TENDONS",),
    laws={"cable": "pliant.tendons.cable:Cable"},
    panels=("pliant.tendons.page.panel:PANEL",),
    devices=("pliant.tendons.device",),
    benchmarks=("tendon_rivals.py",),
)
