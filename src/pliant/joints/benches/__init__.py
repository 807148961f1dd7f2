"""The four benches of one compliant joint."""
