"""Robots, laws and bridges to start from, each with its test."""
