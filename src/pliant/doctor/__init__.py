"""State of an installation: parts that pliant finds on the machine, parts that are missing, and remedies."""
