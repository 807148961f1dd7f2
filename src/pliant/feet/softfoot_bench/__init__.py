"""The bench on which the SoftFoot was measured: a foot on a vertical slide, pressed on three force sensors."""

from pliant.feet.softfoot_bench.build import POSITIONS, module_position
from pliant.feet.softfoot_bench.options import SoftFootBenchOptions

__all__ = ["POSITIONS", "SoftFootBenchOptions", "module_position"]
