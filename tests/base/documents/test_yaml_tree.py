"""YAML and JSON documents: plain values, the line of each, and limits."""

from pathlib import Path

import pytest
import yaml

import pliant
from pliant.base.documents.yaml_tree import parse_yaml, read_yaml
from pliant.base.errors import DeviceError, ModelError

pytestmark = pytest.mark.quick

TEXT = b"""\
name: arm
joints:
  - elbow
  - {name: wrist, k: 0.5}
"""


@pytest.fixture(params=["libyaml", "PyYAML"], autouse=True)
def loader(request, monkeypatch):
    """Read with the loader of libyaml, and with the one of a PyYAML without it."""
    if request.param == "PyYAML":
        monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    elif not hasattr(yaml, "CSafeLoader"):
        pytest.skip("PyYAML was built without libyaml")
    return request.param


def test_values_are_plain_and_each_has_its_line():
    document = parse_yaml(TEXT)
    assert document.value == {"name": "arm", "joints": ["elbow", {"name": "wrist", "k": 0.5}]}
    assert [document.line(*keys) for keys in ((), ("name",), ("joints", 0), ("joints", 1, "k"))] == [1, 1, 3, 4]


def test_a_value_that_does_not_exist_has_the_line_of_the_nearest_around_it():
    assert parse_yaml(TEXT).line("joints", 1, "mass", "unit") == 4


def test_json_with_tabs_is_read(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{\n\t"a": [1, 2]\n}')
    document = read_yaml(path)
    assert (document.value, document.line("a", 1), document.file) == ({"a": [1, 2]}, 2, path)


@pytest.mark.parametrize(
    ("data", "message", "line"),
    [
        (b"a: 1\nb: [", "the file is not valid YAML", 2),
        (b"a: 1\nb: 2\na: 3", "'a' is given twice, first in line 1", 3),
        (b"a: &x 1\nb: *x", "aliases", 2),
        (b"a: !!python/object:os.system {}", "not valid YAML", 1),
        (b"a: 1\n---\nb: 2", "not valid YAML", 2),
        (b"[" * 60 + b"]" * 60, "nested deeper than 50", 1),
        (b"? [1, 2]\n: 3", "a key is not a plain word", 1),
        (b"# nothing", "holds no values", None),
        (b"a: \xff", "not UTF-8 text", None),
    ],
)
def test_what_is_refused_names_line_and_reason(data, message, line):
    with pytest.raises(ModelError, match=message) as caught:
        parse_yaml(data, "a.yaml")
    assert (caught.value.file, caught.value.line) == ("a.yaml", line)


@pytest.mark.parametrize(("data", "message"), [(None, "there is no such file"), (b" ", "the file is empty")])
def test_a_file_that_cannot_be_read_is_refused_by_the_callers_error(tmp_path, data, message):
    path = tmp_path / "a.yaml"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(DeviceError, match=message):
        read_yaml(path, DeviceError)
    with pytest.raises(DeviceError, match="this is a folder"):
        read_yaml(tmp_path, DeviceError)


def test_the_loader_of_pyyaml_itself_reads_only_what_libyaml_refuses_or_where_there_is_none(loader, monkeypatch):
    monkeypatch.setattr(yaml, "SafeLoader", None)
    if loader == "libyaml":
        assert parse_yaml(TEXT).value["name"] == "arm"
    with pytest.raises(TypeError):
        parse_yaml(b"a: [" if loader == "libyaml" else TEXT)


def test_both_loaders_give_the_same_values_and_lines(loader, monkeypatch):
    files = sorted(Path(pliant.__path__[0]).rglob("*.yaml"))
    assert len(files) > 20
    found = [read_yaml(path) for path in files]
    monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    assert found == [read_yaml(path) for path in files]
