"""`python -m pliant`."""

from pliant.cli import main

main()
