"""Values that are valid in no field, by what the field holds."""

import math

import numpy as np

NAN, INF = math.nan, math.inf
NUMBERS = (NAN, INF, -INF, "4 mm", None, [1.0], True)
VECTORS = ((1.0, 2.0), (1.0, 2.0, 3.0, 4.0), (NAN, 0.0, 0.0), "down", None, 5.0)
POSES = (np.eye(3), np.full((4, 4), NAN), np.zeros((4, 4)), np.diag([1.0, 1.0, -1.0, 1.0]), None, "here")
WORDS = ("", None, 5)
