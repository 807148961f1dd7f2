"""Compiled loops over the pixels of a picture; a module of its own, because compilers take long to load."""

from __future__ import annotations

import numpy as np

from pliant.base.codecache import njit


@njit(nogil=True, error_model="numpy")
def look_up_colors(picture: np.ndarray, columns: np.ndarray, rows: np.ndarray, out: np.ndarray) -> None:
    """Interpolate three channels linearly at given places."""
    last_row, last_column = picture.shape[0] - 2, picture.shape[1] - 2
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            c, r = columns[i, j], rows[i, j]
            c0, r0 = min(max(int(c), 0), last_column), min(max(int(r), 0), last_row)
            u, v = c - c0, r - r0
            for k in range(3):
                above = (1.0 - u) * picture[r0, c0, k] + u * picture[r0, c0 + 1, k]
                below = (1.0 - u) * picture[r0 + 1, c0, k] + u * picture[r0 + 1, c0 + 1, k]
                out[i, j, k] = np.uint8((1.0 - v) * above + v * below + 0.5)


@njit(nogil=True, error_model="numpy")
def look_up_depths(picture: np.ndarray, columns: np.ndarray, rows: np.ndarray, edge: float, out: np.ndarray) -> None:
    """Interpolate inverse depths linearly at given places, but not across edges."""
    last_row, last_column = picture.shape[0] - 2, picture.shape[1] - 2
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            c, r = columns[i, j], rows[i, j]
            c0, r0 = min(max(int(c), 0), last_column), min(max(int(r), 0), last_row)
            u, v = c - c0, r - r0
            a, b = picture[r0, c0], picture[r0, c0 + 1]
            d, e = picture[r0 + 1, c0], picture[r0 + 1, c0 + 1]
            low, high = min(min(a, b), min(d, e)), max(max(a, b), max(d, e))
            if high <= low * (1.0 + edge):
                above, below = (1.0 - u) / a + u / b, (1.0 - u) / d + u / e
                out[i, j] = 1.0 / ((1.0 - v) * above + v * below)
            else:
                out[i, j] = picture[r0 + (1 if v >= 0.5 else 0), c0 + (1 if u >= 0.5 else 0)]


@njit(nogil=True, error_model="numpy")
def blur(picture: np.ndarray, weights: np.ndarray, out: np.ndarray) -> None:
    """Convolve rows, then columns; beyond the edges the outermost pixels go on."""
    height, width, channels = picture.shape
    radius = len(weights) // 2
    between = np.empty((height, width, channels), dtype=np.float32)
    for i in range(height):
        for j in range(width):
            for c in range(channels):
                total = np.float32(0.0)
                for k in range(len(weights)):
                    total += weights[k] * picture[i, min(max(j + k - radius, 0), width - 1), c]
                between[i, j, c] = total
    for i in range(height):
        for j in range(width):
            for c in range(channels):
                total = np.float32(0.0)
                for k in range(len(weights)):
                    total += weights[k] * between[min(max(i + k - radius, 0), height - 1), j, c]
                out[i, j, c] = np.uint8(min(total + np.float32(0.5), np.float32(255.0)))
