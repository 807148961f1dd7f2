"""YAML and XML files with the file and line of every value."""
