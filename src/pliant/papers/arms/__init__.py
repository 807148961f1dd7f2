"""Tools that the experiments use and that know none of them: rigs, control loops, served arms, drawings of rods."""
