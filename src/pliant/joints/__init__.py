"""Robots of compliant joints: benches of one joint with a load, and arms of qbMoves, with sources of their numbers."""
