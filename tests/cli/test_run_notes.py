"""Notes and warnings of a robot at the start of a run: a few, and all of them with --verbose."""

import pytest

ROBOT = """<robot name="many"><link name="base"/>
<gazebo>{plugins}</gazebo></robot>"""


@pytest.mark.parametrize(("count", "options", "told"), [(2, [], 3), (9, [], 3), (9, ["--verbose"], 10)])
def test_a_run_tells_few_notes_unless_it_is_asked_for_all(count, options, told, call, tmp_path):
    plugins = "".join(f'<plugin name="p{i}" filename="libunknown_{i}.so"/>' for i in range(count))
    path = tmp_path / "many.urdf"
    path.write_text(ROBOT.format(plugins=plugins))
    code, out, _ = call("run", str(path), "--duration", "0.002", *options)
    assert code == 0
    lines = [line for line in out.splitlines() if line.startswith("note") and "takes no" not in line]
    assert len(lines) == told, lines
    assert ("--verbose prints them" in out) == (told < count + 1)
