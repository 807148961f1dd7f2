"""What the room of controllers exports."""

import subprocess
import sys

import pytest

import pliant.control as control

pytestmark = pytest.mark.quick


def test_every_exported_name_is_found_in_the_module_that_the_table_names():
    for name, module in control._EXPORTS.items():
        assert getattr(control, name) is getattr(sys.modules[module], name)
    assert set(control.__all__) == set(control._EXPORTS) <= set(dir(control))


def test_one_controller_is_imported_without_the_others():
    program = "import sys; from pliant.control import MinimumJerk; print(*[m for m in sys.modules if 'pliant' in m])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "pliant.control.trajectory" in done.stdout.split()
    assert not {"pliant.vision.visual_servoing", "pliant.control.ilc", "pliant.vision"} & set(done.stdout.split())


def test_a_name_that_does_not_exist_is_refused():
    with pytest.raises(AttributeError, match=r"'pliant\.control' has no attribute 'Controler'"):
        _ = control.Controler
