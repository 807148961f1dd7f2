"""Declaration of the wing ``identification``."""

from pliant.base.wing import Wing

WING = Wing(
    name="identification",
    summary="Parameters of a joint from its log, and the motion that makes them identifiable",
    extra="fit",
    commands={
        "identify": "pliant.identification.commands.identify:identify",
        "excite": "pliant.identification.commands.excite:excite",
    },
    benchmarks=("sysid.py",),
)
