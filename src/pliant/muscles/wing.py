"""Declaration of the wing ``muscles``."""

from pliant.base.wing import Wing

WING = Wing(
    name="muscles",
    summary="Pneumatic muscles: a pair of them as the law of a joint, with valves and air",
    laws={"pam": "pliant.muscles.law:McKibben"},
)
