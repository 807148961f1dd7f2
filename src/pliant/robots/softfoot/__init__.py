"""The SoftFoot: a passive adaptive foot of two arches and a sole of rolling modules (Crotti et al. 2024)."""

from pliant.robots.softfoot.closure import closure_compliance, fit_closure, smallest_compliance
from pliant.robots.softfoot.feet import SoftFeetOptions, put_on_softfeet
from pliant.robots.softfoot.foot import SoftFoot
from pliant.robots.softfoot.generator import add_softfoot, softfoot
from pliant.robots.softfoot.options import SoftFootOptions

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
