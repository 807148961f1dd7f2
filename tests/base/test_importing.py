"""Imports of optional packages: a failed one names the package, the feature and the command."""

import pytest

from pliant.base.errors import MissingDependency, importing

WINGS = {"package": "wings", "command": "pip install w", "purpose": "a flight"}


def test_a_failed_import_names_the_package_and_the_command_and_other_errors_pass():
    message = r"^a flight needs wings, which is not installed\. Type: pip install w$"
    with pytest.raises(MissingDependency, match=message), importing(**WINGS):
        import no_such_module_of_anyone  # noqa: F401
    with pytest.raises(ZeroDivisionError), importing(**WINGS):
        1 / 0  # noqa: B018
    with importing(**WINGS):
        import json
    assert json.dumps([]) == "[]"
