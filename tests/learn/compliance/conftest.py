"""Toy tasks are forgotten after each test."""

import pytest

from pliant.learn.compliance import task


@pytest.fixture(autouse=True)
def _forget_toys(monkeypatch):
    monkeypatch.setattr(task, "_TASKS", {})
