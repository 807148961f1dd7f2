"""Parallel robots on the page: drawing, handles, paths, statics."""
