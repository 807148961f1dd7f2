"""The frame of every experiment: statements and targets, traces, figures, films, reports and the runner."""
