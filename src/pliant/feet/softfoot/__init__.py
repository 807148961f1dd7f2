"""The SoftFoot: a passive adaptive foot of two arches and a sole of rolling modules (Crotti et al. 2024)."""

from pliant.feet.softfoot.closure import closure_compliance, fit_closure, smallest_compliance
from pliant.feet.softfoot.feet import SoftFeetOptions, put_on_softfeet
from pliant.feet.softfoot.foot import SoftFoot
from pliant.feet.softfoot.generator import add_softfoot, softfoot
from pliant.feet.softfoot.options import SoftFootOptions

__all__ = [
    "SoftFeetOptions",
    "SoftFoot",
    "SoftFootOptions",
    "add_softfoot",
    "closure_compliance",
    "fit_closure",
    "put_on_softfeet",
    "smallest_compliance",
    "softfoot",
]
