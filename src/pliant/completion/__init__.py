"""Scripts with which shells complete commands, options and names of pliant."""
