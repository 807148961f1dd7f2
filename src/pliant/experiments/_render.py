"""Pictures of a report in rows and columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["strip"]


def strip(
    pictures: Sequence[NDArray[np.uint8]], rows: Sequence[str], columns: Sequence[str], *, height: float = 1.7
) -> Any:
    """Return a figure of pictures in rows and columns.

    Args:
        pictures: row by row.
        rows: text beside each row.
        columns: text over each column.
        height: of a row [inch].
    """
    from pliant.figures import label, new_figure

    figure, axes = new_figure(len(rows), len(columns), height=height, squeeze=False)
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            axis = axes[i, j]
            axis.imshow(pictures[i * len(columns) + j])
            axis.set_xticks([])
            axis.set_yticks([])
            axis.grid(False)
            for side in axis.spines.values():
                side.set_visible(False)
            label(axis, "", row if j == 0 else "", column if i == 0 else "")
    return figure
