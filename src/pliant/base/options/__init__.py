"""Options: one frozen dataclass declares what can be set on a robot, a bridge, a sensor, an experiment or a viewer.

A field is declared with its type, default, unit and limits; the docstring under the field says what it means.
Everything else is derived from that declaration: parsing of text and mappings, help, tables of the documentation and
"did you mean" in messages.

    @dataclass(frozen=True, slots=True, kw_only=True)
    class LidarOptions:
        rate: float = option(10.0, unit="Hz", low=0.0, above=True)
        '''Scans per second.'''
        frame: str = option("map", choices=("map", "base"))
        '''Frame of the points.'''

    parse_text(LidarOptions, "rate=20,frame=base")

The types are bool, int, float, str, Path, enumerations, tuples of these, and each of them or None. Units are SI and
radians (`UNITS`). A declaration that is wrong is refused where it stands, with file and line.
"""

from pliant.base.options.declaration import OptionInfo, check_declaration, describe, option, options_of
from pliant.base.options.parsing import check_values, parse, parse_text
from pliant.base.options.places import place_of
from pliant.base.options.registry import Registry
from pliant.base.options.units import UNITS, check_unit
from pliant.base.options.values import parse_bool, parse_number, parse_value, parse_vector

__all__ = [
    "UNITS",
    "OptionInfo",
    "Registry",
    "check_declaration",
    "check_unit",
    "check_values",
    "describe",
    "option",
    "options_of",
    "parse",
    "parse_bool",
    "parse_number",
    "parse_text",
    "parse_value",
    "parse_vector",
    "place_of",
]
