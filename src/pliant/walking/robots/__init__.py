"""Robots that walk."""
