"""Declaration of the wing ``films``."""

from pliant.base.wing import Wing

WING = Wing(
    name="films",
    summary="Films of runs, recordings and poses, without a window",
    outputs={"video": "pliant.films.options:Film"},
)
