"""The twelve continuum parallel robots of the Gazebo simulator (Gotelli et al. 2022)."""
