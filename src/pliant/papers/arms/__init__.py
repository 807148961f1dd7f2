"""Tools that the experiments use and that know none of them: rigs, control loops, served arms, drawings of rods."""

EXACT, RENDERED = "exact features", "rendered images"
"""What the features of a run come from, as reports name it."""
