"""Foundations: errors, options, documents, compiled code, threads, spatial algebra, wings."""
