"""Files from which an experiment of a user's starts."""

from pliant.base.wing import Template

TEMPLATE = Template(
    package="pliant.experiments",
    files={"$module.py": "experiment.py.txt", "test_$module.py": "experiment_test.py.txt"},
    steps=("pliant reproduce $name --import $module.py", "python -m pytest test_$module.py"),
)
