"""Tasks: one per file, each with a function ``task`` whose arguments are its options."""
