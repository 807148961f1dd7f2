"""Recordings, bags and dumps: shown in tables, figures, films and pages, compared, and published again."""
