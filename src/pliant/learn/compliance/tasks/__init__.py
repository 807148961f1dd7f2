"""The tasks of `pliant bench compliance`: one module each, which holds a `TASK`."""
