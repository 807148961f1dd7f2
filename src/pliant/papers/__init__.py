"""Published results, reproduced: one module for each experiment; `pliant.experiments` has what they share."""
