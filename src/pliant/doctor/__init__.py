"""What a machine has for pliant, what it lacks, and what to do about it."""
