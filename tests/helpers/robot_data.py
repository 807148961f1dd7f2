"""Robots of the catalogue whose files come with another package."""

import pytest

import pliant
from pliant.base.errors import MissingDependency


def needs_data(name):
    """Skip a test of a robot whose package is not installed."""
    try:
        pliant.load(name)
    except MissingDependency as missing:
        pytest.skip(str(missing))
