"""The one option system: declaring, parsing, limits, help, and what is refused where it is declared."""

import contextlib
import enum
import math
import re
import sys
import textwrap
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_tables import markdown_table

from pliant.base.errors import BridgeError, ModelError, PliantError
from pliant.base.options import (
    UNITS,
    Registry,
    check_declaration,
    check_unit,
    check_values,
    describe,
    option,
    options_of,
    parse,
    parse_bool,
    parse_number,
    parse_text,
    parse_vector,
)

pytestmark = pytest.mark.quick


class Gear(enum.Enum):
    FIRST = 1
    SECOND = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    rate: float = option(10.0, unit="Hz", low=0.0, above=True, source="assumed")
    """Scans per second,
    as configured."""
    frame: str = option("map", choices=("map", "base"))
    """Frame of the points."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lidar(Base):
    count: int = option(3, low=1, high=9)
    """Number of beams."""
    on: bool = True
    """Whether it scans."""
    gear: Gear = Gear.FIRST
    mode: Literal["lockstep", "paced"] = "lockstep"
    """Who waits for whom."""
    folder: Path | None = None
    """Where files go."""
    offset: tuple[float, float, float] = option((0.0, 0.0, 0.5), unit="m", low=-1.0, high=1.0)
    """Position of the sensor."""

    def __post_init__(self) -> None:
        check_values(self, BridgeError)


def test_text_becomes_the_declared_types():
    got = parse_text(
        Lidar, "rate=20,frame=base,count=4,on=no,gear=second,mode=paced,folder=/tmp/x,offset=[0.1, 0.2,0.3]"
    )
    assert got == Lidar(
        rate=20.0,
        frame="base",
        count=4,
        on=False,
        gear=Gear.SECOND,
        mode="paced",
        folder=Path("/tmp/x"),
        offset=(0.1, 0.2, 0.3),
    )
    assert parse_text(Lidar, "") == Lidar()


def test_a_mapping_as_from_yaml_is_read_alike():
    assert parse(Lidar, {"rate": 5, "on": True, "folder": None, "offset": [0, 0, 1]}) == Lidar(
        rate=5.0, offset=(0.0, 0.0, 1.0)
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rat=3", "did you mean 'rate'"),
        ("rate", "must be KEY=VALUE"),
        ("rate=1,rate=2", "given twice"),
        ("rate=x", r"rate is 'x'; must be a number > 0 \[Hz\]"),
        ("rate=0", r"rate is 0; must be a number > 0 \[Hz\]"),
        ("rate=inf", "must be a finite number > 0"),
        ("rate=nan", "must be a number > 0"),
        ("count=2.5", "must be a whole number from 1 to 9"),
        ("count=10", "count is 10; must be a whole number from 1 to 9"),
        ("frame=bas", "did you mean 'base'"),
        ("on=maybe", "must be true or false"),
        ("gear=third", "must be one of 1 first, 2 second"),
        ("mode=wall", "must be one of lockstep, paced"),
        ("offset=[1,2]", "must be 3 numbers from -1 to 1"),
        ("offset=[0,0,2]", "offset is 2; must be 3 numbers"),
    ],
)
def test_a_wrong_value_says_what_it_must_be(text, message):
    with pytest.raises(BridgeError, match=message) as caught:
        parse_text(Lidar, text, where="--bridge lidar: ", error=BridgeError)
    assert str(caught.value).startswith("--bridge lidar: ")


def test_values_given_in_python_are_checked_alike():
    with pytest.raises(BridgeError, match=r"Lidar: rate is -1; must be a number > 0 \[Hz\]"):
        Lidar(rate=-1.0)
    with pytest.raises(BridgeError, match="count is '3', a str; must be a whole number"):
        Lidar(count="3")  # type: ignore[arg-type]
    with pytest.raises(BridgeError, match="nan"):
        Lidar(rate=math.nan)
    assert replace(Lidar(), rate=2).rate == 2


def test_fields_are_described_by_the_docstrings_under_them():
    infos = {info.name: info for info in describe(Lidar)}
    assert list(infos)[:2] == ["rate", "frame"]  # inherited ones first
    assert infos["rate"].description == "Scans per second, as configured."
    assert infos["gear"].description == ""
    assert (infos["rate"].unit, infos["rate"].source) == ("Hz", "assumed")
    assert infos["mode"].choices == ("lockstep", "paced")
    file, _, line = infos["count"].place.rpartition(":")
    assert Path(file) == Path(__file__)
    assert "count: int" in Path(__file__).read_text().splitlines()[int(line) - 1]
    assert infos["folder"].must_be == "a path"


def test_the_table_of_the_documentation_has_every_option():
    table = markdown_table(Lidar)
    assert "| `rate` | `10` Hz | Scans per second, as configured. Must be > 0. |" in table
    assert "| `mode` | `lockstep` | Who waits for whom. Must be one of `lockstep`, `paced`. |" in table
    assert table.count("\n") == 1 + len(describe(Lidar))
    assert markdown_table(Lidar, ["mode"]).count("\n") == 2


@pytest.mark.parametrize("unit", ["deg", "mm", "ms", "N  m", "banana"])
def test_an_unknown_unit_is_refused_where_it_is_declared(unit):
    with pytest.raises(PliantError, match=r"test_options\.py:\d+: the option's unit is"):
        option(1.0, unit=unit)


def test_a_unit_that_is_not_si_names_the_one_that_is():
    with pytest.raises(PliantError, match="must be SI and radians: 'rad'"):
        option(1.0, unit="deg")


def test_a_default_outside_its_limits_is_refused_where_it_is_declared():
    with pytest.raises(PliantError, match=r"test_options\.py:\d+: the default is 3; must be"):
        option(3.0, high=2.0)
    with pytest.raises(PliantError, match=r"the default is 'a'"):
        option("a", choices=("b", "c"))
    with pytest.raises(PliantError, match="low must be <= high"):
        option(3.0, low=2.0, high=1.0)


def test_a_type_that_no_text_can_give_is_refused_with_its_place():
    @dataclass(frozen=True)
    class Odd:
        what: dict = None  # type: ignore[assignment,type-arg]

    with pytest.raises(PliantError, match=r"test_options\.py:\d+: the option 'what' has the type dict"):
        describe(Odd)


def test_a_name_that_a_base_class_gives_another_unit_is_refused_with_both_places():
    @dataclass(frozen=True, kw_only=True)
    class Second(Base):
        rate: float = option(0.1, unit="s")

    with pytest.raises(PliantError, match="declared twice") as caught:
        describe(Second)
    assert str(caught.value).count("test_options.py:") == 2


def test_a_subclass_may_change_the_default_of_an_option():
    @dataclass(frozen=True, kw_only=True)
    class Fast(Base):
        rate: float = option(100.0, unit="Hz", low=0.0, high=1000.0)
        """Scans per second."""

    rate = describe(Fast)[0]
    assert (rate.name, rate.default, rate.high) == ("rate", 100.0, 1000.0)


def test_a_plain_default_in_a_subclass_keeps_unit_and_limits():
    @dataclass(frozen=True, kw_only=True)
    class Slow(Base):
        rate: float = 1.0

    assert (describe(Slow)[0].default, describe(Slow)[0].unit) == (1.0, "Hz")
    with pytest.raises(PliantError, match="must be a number > 0"):
        parse(Slow, {"rate": 0})


def test_a_field_written_twice_in_one_class_is_refused_with_both_lines(tmp_path, monkeypatch):
    (tmp_path / "twice_declared.py").write_text(
        textwrap.dedent(
            """\
            from dataclasses import dataclass

            @dataclass(frozen=True)
            class Options:
                a: float = 1.0
                b: int = 2
                a: float = 3.0
            """
        )
    )
    monkeypatch.syspath_prepend(tmp_path)
    import twice_declared  # type: ignore[import-not-found]

    try:
        with pytest.raises(PliantError, match=r"twice_declared\.py:5 and .*twice_declared\.py:7"):
            check_declaration(twice_declared.Options)
    finally:
        del sys.modules["twice_declared"]


@pytest.mark.parametrize(
    "before",
    [
        "",
        'EXAMPLE = """\nclass Options:\n    rate: float = 1.0\n    \'Of an example.\'\n"""\n',
        "if True:\n    @dataclass(frozen=True)\n    class Options:\n        rate: int = 1\n        'Replaced.'\n",
        "class Options:\n    old: float = 1.0\n    'Replaced.'\n",
        "class OptionsOfOthers:\n    rate: float = 1.0\n    'Of others.'\n",
    ],
    ids=["alone", "text", "condition", "twice", "longer name"],
)
@pytest.mark.parametrize("header", ["class Options:", "class Options(\n    Base,\n):"], ids=["line", "lines"])
@pytest.mark.parametrize("after", ["", "\n# at the margin\n", "\nLAST = 1\n"], ids=["end", "comment", "statement"])
def test_the_docstring_of_a_field_is_found_whatever_stands_around_its_class(
    tmp_path, monkeypatch, before, header, after
):
    body = "    rate: float = 2.0\n    '''How often,\nin Hz.'''\n    size: int = 1\n    'How large.'\n"
    top = "from dataclasses import dataclass\n\nclass Base: ...\n"
    text = f"{top}\n{before}\n@dataclass(frozen=True)\n{header}\n{body}"
    (tmp_path / "around_options.py").write_text(text + after)
    monkeypatch.syspath_prepend(tmp_path)
    import around_options  # type: ignore[import-not-found]

    try:
        rate, size = describe(around_options.Options)
        assert (rate.description, size.description) == ("How often, in Hz.", "How large.")
        line = text[: text.index("    size")].count("\n") + 1
        assert size.place == f"{around_options.__file__}:{line}"
    finally:
        del sys.modules["around_options"]


def test_what_is_no_dataclass_is_refused():
    with pytest.raises(PliantError, match="must be a dataclass"):
        describe(int)


def test_the_options_of_a_plain_function_come_from_its_signature():
    def build(length: float = 0.1, name: str = "a", flag: bool = False):
        """Return a robot.

        Args:
            length: length of the link,
                between its axes [m].
            name: a name.
        """

        return length, name, flag

    made, call = options_of(build)
    infos = {info.name: info for info in describe(made)}
    assert parse_text(made, "length=0.2,flag=yes").length == 0.2  # type: ignore[attr-defined]
    assert infos["length"].description == "length of the link, between its axes [m]."
    assert infos["flag"].type is bool
    assert call(parse_text(made, "name=b")) == (0.1, "b", False)
    assert infos["length"].place.startswith(__file__)


def build_from_a_dataclass(robot, options: Lidar):
    return robot, options


def test_a_function_may_take_its_options_as_one_dataclass():
    kind, call = options_of(build_from_a_dataclass, skip=1)
    assert kind is Lidar
    assert call("arm", Lidar(count=4)) == ("arm", Lidar(count=4))


def test_a_function_with_an_argument_without_default_is_refused():
    def build(length):
        """Return nothing."""

    with pytest.raises(PliantError, match=r"test_options\.py:\d+: the argument 'length' of .* has no default"):
        options_of(build)


@given(st.floats(allow_nan=False))
def test_a_number_survives_its_text(x):
    assert parse_number(repr(x), "x") == x


@given(st.integers(min_value=-(10**18), max_value=10**18))
def test_a_whole_number_survives_its_text(n):
    assert parse_number(str(n), "n", integer=True) == n


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=8))
def test_a_vector_survives_its_text(values):
    assert parse_vector(str(values), "v") == values
    assert parse_vector(" ".join(map(repr, values)), "v", len(values)) == values


@given(st.text())
def test_any_text_is_a_truth_value_or_an_error(text):
    with contextlib.suppress(PliantError):
        assert parse_bool(text, "flag") == (text.strip().lower() in ("true", "1", "yes", "on"))


@given(st.text(), st.text())
def test_any_text_gives_options_or_the_error_that_was_asked_for(key, value):
    with contextlib.suppress(ModelError):
        assert isinstance(parse_text(Lidar, f"{key}={value}", error=ModelError), Lidar)


@given(
    st.builds(Lidar, rate=st.floats(1e-3, 1e6), count=st.integers(1, 9), on=st.booleans(), gear=st.sampled_from(Gear))
)
def test_options_survive_their_text(lidar):
    text = f"rate={lidar.rate!r},count={lidar.count},on={lidar.on},gear={lidar.gear.value}"
    assert parse_text(Lidar, text) == lidar


@pytest.mark.parametrize("value", ["1_000", "nan", "", "x", None, True, [1]])
def test_what_is_no_number_is_refused(value):
    with pytest.raises(PliantError, match="must be a number"):
        parse_number(value, "x")


def test_a_name_registered_twice_is_refused_with_both_places():
    def first():
        """One."""

    def second():
        """Another."""

    register: Registry = Registry("bridge", BridgeError)
    register.add("wire", first)
    register.add("wire", first)  # the same one again
    with pytest.raises(BridgeError, match="'wire' is registered twice") as caught:
        register.add("wire", second)
    assert str(caught.value).count("test_options.py:") == 2
    with pytest.raises(BridgeError, match="did you mean 'wire'"):
        register["wir"]
    assert list(register) == ["wire"]


def test_units_are_si_and_radians():
    assert not {"deg", "mm", "ms", "rpm"} & set(UNITS)


def test_the_pages_of_options_are_what_the_declarations_say():
    from option_tables import FOLDER, pages

    assert {path: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")} == pages(), (
        "run: python tests/helpers/option_tables.py"
    )


def test_a_unit_may_be_one_for_each_kind_of_element():
    check_unit("m, rad", "the pose")
    check_unit("m or rad", "the joint")
    with pytest.raises(PliantError, match="the pose is 'm, deg'; must be SI and radians: 'rad'"):
        check_unit("m, deg", "the pose")


ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("bridge", ["fci", "foxglove", "pictures", "ros1", "ros2", "zenoh"])
def test_the_options_of_bridges_in_the_documentation_exist(bridge):
    from pliant.simulation.bridges import bridge_options

    valid = {info.name for info in describe(bridge_options(bridge))}
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for written in re.findall(rf"\b{bridge}:([\w=+/.,-]+=[^\s`\"']*)", page.read_text(encoding="utf-8")):
            keys = {item.partition("=")[0] for item in written.split(",")}
            assert keys <= valid, f"{page.name}: {bridge}:{written}"
