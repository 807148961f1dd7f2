"""Tasks: one a file, each with a function ``task`` whose arguments are its options."""
