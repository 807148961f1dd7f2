"""A simulation beside a real robot: the same commands, and which physical parameter explains the difference.

A `ShadowLog` holds what a robot was told and what it did. `Bank` simulates the same commands in many worlds at once,
one as described and two for each parameter that may drift. `find_drift` compares them with the log, window by window;
`LiveShadow` does so beside a robot that is listened to.
"""

from pliant.base.lazy import lazy_names

_EXPORTS = {
    "Bank": "pliant.shadow.bank",
    "Candidate": "pliant.shadow.candidates",
    "Drift": "pliant.shadow.drift",
    "Estimate": "pliant.shadow.drift",
    "LiveShadow": "pliant.shadow.live",
    "ShadowLog": "pliant.shadow.log",
    "candidates_of": "pliant.shadow.candidates",
    "find_drift": "pliant.shadow.drift",
    "read_shadow_log": "pliant.shadow.log",
}

__all__ = [*_EXPORTS]

__getattr__, __dir__ = lazy_names(__name__, _EXPORTS)
