"""Two runs in one figure and one film, and their differences in numbers."""
