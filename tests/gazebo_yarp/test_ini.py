"""YARP's .ini files: keys, groups, lists, includes and variables, and an error with file and line for all else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pliant.base.errors import ModelError, PliantError
from pliant.gazebo_yarp.ini import Entry, Group, parse_ini, read_ini
from pliant.yarp.wire.text import format_value
from pliant.yarp.wire.values import FALSE, TRUE, Bottle, Int64


def write(folder, **files):
    for name, text in files.items():
        (folder / f"{name}.ini").write_text(text)
    return folder / "main.ini"


def test_a_key_has_words_numbers_and_lists():
    config = parse_ini('a 1 2.5 word "two words" (x (1 2)) true\nalone\n')
    assert config.entries["a"].values == (1, 2.5, "word", "two words", ("x", (1, 2)), True)
    assert config.entries["alone"].values == ()
    assert config.entries["a"].line == 1


def test_groups_hold_the_keys_that_follow():
    config = parse_ini("top 1\n[LIMITS]\nmax 2 3\n[EMPTY]\n[LIMITS]\nmin 0 1\n")
    assert config.numbers("top") == (1.0,)
    assert config.groups["LIMITS"].numbers("max") == (2.0, 3.0)
    assert config.groups["LIMITS"].numbers("min") == (0.0, 1.0)
    assert config.groups["EMPTY"].entries == {}


def test_a_list_of_pairs_is_a_group_too():
    config = parse_ini("LIMITS (max 2 3) (min (0 1))\nwords a b\nmixed (a 1) 2\n")
    limits = config.group("LIMITS")
    assert limits.numbers("max", 2) == (2.0, 3.0)
    assert limits.numbers("min", 2) == (0.0, 1.0)
    assert config.group("words") is None
    assert config.group("mixed") is None
    assert config.group("absent") is None


def test_a_heading_of_two_words_adds_the_group_to_a_list():
    config = parse_ini("[camera left]\nrate 30\n[camera right]\nrate 15\n")
    assert config.words("camera") == ("left", "right")
    assert config.groups["right"].number("rate") == 15.0


@pytest.mark.parametrize("text", ["a 1 # 2", "a 1 // 2", "a 1\n# b 2", "// b\na 1", "a\t1\r\n", "a = 1", "\ufeffa 1"])
def test_comments_and_blanks_are_passed_over(text, tmp_path):
    path = tmp_path / "main.ini"
    path.write_text(text, encoding="utf-8")
    assert read_ini(path).entries["a"].values == (1,)


def test_comment_signs_within_quotes_and_addresses_belong_to_the_value():
    config = parse_ini('a "x # y" "// z"\nb http://host\n')
    assert config.entries["a"].values == ("x # y", "// z")
    assert config.text("b") == "http://host"


def test_a_line_goes_on_until_its_parentheses_close_or_after_a_backslash():
    config = parse_ini("a (x   # first\n   y\n   z)\nb 1 \\\n  2\nc 3\n")
    assert config.words("a") == ("x", "y", "z")
    assert config.numbers("b") == (1.0, 2.0)
    assert config.entries["c"].line == 6


def test_a_key_that_is_given_twice_has_its_last_value():
    assert parse_ini("a 1\na 2\n").number("a") == 2.0


def test_variables_stand_for_keys_defined_above_and_for_those_given():
    config = parse_ini("robot sim\nname /${robot}/leg\n[G]\nother /$robot/${extra}\n", variables={"extra": "arm"})
    assert config.text("name") == "/sim/leg"
    assert config.groups["G"].text("other") == "/sim/arm"


def test_a_variable_that_nothing_defines_is_refused_with_the_nearest():
    with pytest.raises(ModelError, match=r"x.ini:2: \$\{robt\} is not defined above.*did you mean 'robot'"):
        parse_ini("robot sim\nname /${robt}/leg\n", "x.ini")


def test_included_keys_and_groups_join_those_of_the_file(tmp_path):
    path = write(tmp_path, main='[include "a.ini"]\nname /${robot}/x\n[G]\nb 2\n', a="robot sim\n[G]\nc 3\n")
    config = read_ini(path)
    assert config.text("name") == "/sim/x"
    assert config.groups["G"].number("b") + config.groups["G"].number("c") == 5.0
    assert config.groups["G"].entries["c"].file == tmp_path / "a.ini"


def test_a_file_is_included_as_a_group_and_listed(tmp_path):
    path = write(tmp_path, main='[include LEFT "a.ini"]\n[include arms RIGHT "a.ini"]\n', a="rate 30\n[IN]\nx 1\n")
    config = read_ini(path)
    assert config.groups["LEFT"].number("rate") == 30.0
    assert config.groups["RIGHT"].groups["IN"].number("x") == 1.0
    assert config.words("arms") == ("RIGHT",)
    assert "IN" not in config.groups


def test_a_missing_include_is_named_with_its_chain_and_the_nearest_file(tmp_path):
    path = write(tmp_path, main='a 1\n[include "b.ini"]\n', b='\n\n[include "robotnam.ini"]\n', robotname="r sim\n")
    with pytest.raises(ModelError) as caught:
        read_ini(path)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'b.ini'}:3: ")
    assert f"included from {path}:2" in message
    assert "did you mean 'robotname.ini'?" in message
    assert caught.value.field == "include"


def test_files_that_include_each_other_are_refused(tmp_path):
    path = write(tmp_path, main='[include "a.ini"]\n', a='[include "main.ini"]\n')
    with pytest.raises(ModelError, match=r"a.ini:1: the file includes itself"):
        read_ini(path)


def test_a_file_that_includes_another_very_often_is_refused(tmp_path):
    path = write(tmp_path, main='[include "a.ini"]\n' * 300, a="x 1\n")
    with pytest.raises(ModelError, match="more than 200 files"):
        read_ini(path)


def test_variables_that_double_do_not_fill_the_memory():
    lines = ["v0 xxxxxxxxxx", *(f"v{i + 1} ${{v{i}}}${{v{i}}}" for i in range(40))]
    with pytest.raises(ModelError, match="65536 characters after its variables"):
        parse_ini("\n".join(lines))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a (1 2\nb 3\n", "x.ini:1: a '\\(' is not closed"),
        ("a 1)\n", "x.ini:1: .*closes nothing"),
        ('\na "open\n', "x.ini:2: a quote is not closed"),
        ("a 1\n[]\n", r"x.ini:2: the heading \[\] is empty"),
        ("[a b c]\n", "x.ini:1: the heading .* has 3 words"),
        ("[include]\n", r"x.ini:1: \[include\] has 0 words"),
        ("(a b)\n", "x.ini:1: a line begins with the list"),
        ("a \x07\n", r"x.ini:1: the control character '\\x07'"),
        ("a 99999999999999999999\n", "x.ini:1: .*64 bits"),
    ],
)
def test_a_line_that_cannot_be_read_is_refused_with_its_number(text, message):
    with pytest.raises(ModelError, match=message):
        parse_ini(text, "x.ini")


@pytest.mark.parametrize(
    ("look_up", "message"),
    [
        (lambda c: c.number("words"), "words has 2 values; must be one number"),
        (lambda c: c.number("word"), "word is 'hello'; must be a number"),
        (lambda c: c.number("one", least=2.0, most=3.0), "one is 1; must be a finite number >= 2 and <= 3"),
        (lambda c: c.number("nan"), "must be a number"),
        (lambda c: c.number("inf"), "must be a finite number"),
        (lambda c: c.number("half", whole=True), "must be a whole number"),
        (lambda c: c.number("absent"), "the key 'absent' is missing"),
        (lambda c: c.number("empty"), "the key 'empty' has no value"),
        (lambda c: c.number("list"), "list holds a list; must be numbers"),
        (lambda c: c.numbers("three", 2, what="the joints"), "three has 3 values; must be 2, one for each"),
        (lambda c: c.text("words"), "words has 2 values; must be one word"),
        (lambda c: c.words("nested"), "nested holds a list in a list"),
        (lambda c: c.choice("word", ("hullo", "bye")), "word is 'hello'; did you mean 'hullo'"),
        (lambda c: c.flag("word"), "word is 'hello'; must be true or false"),
    ],
)
def test_a_value_of_another_kind_is_refused_with_file_line_and_group(look_up, message):
    text = (
        "[G]\nwords a b\nword hello\none 1\nnan nan\ninf inf\nhalf 0.5\nempty\nlist (1 2)\nthree (1 2 3)\n"
        "nested (a (b))\n"
    )
    group = parse_ini(text, "x.ini").groups["G"]
    group.who = "board 'leg'"
    with pytest.raises(ModelError, match=message) as caught:
        look_up(group)
    assert str(caught.value).startswith("x.ini:")
    assert "board 'leg': [G] " in str(caught.value)


def test_flags_are_on_by_their_name_alone():
    config = parse_ini("a\nb 0\nc true\n")
    assert (config.flag("a"), config.flag("b"), config.flag("c"), config.flag("d")) == (True, False, True, False)


RESERVED = ("true", "false", "inf", "nan", "include")
NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,12}", fullmatch=True).filter(lambda name: name not in RESERVED)
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="$\x7f", exclude_categories=("Cc", "Cs")), max_size=20)
VALUES = st.recursive(
    st.one_of(st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False), NAMES, TEXTS),
    lambda inner: st.lists(inner, max_size=4).map(tuple),
    max_leaves=8,
)


def plain(group):
    """Return keys and values with the kind of each part, so that 1, 1.0 and True differ."""

    def kinds(value):
        return tuple(map(kinds, value)) if isinstance(value, tuple) else (type(value), value)

    own = {key: kinds(entry.values) for key, entry in group.entries.items()}
    return own, {name: plain(inner) for name, inner in group.groups.items()}


def as_value(item):
    if isinstance(item, bool):
        return TRUE if item else FALSE
    if isinstance(item, tuple):
        return Bottle(tuple(as_value(inner) for inner in item))
    if isinstance(item, int) and not -(1 << 31) <= item < 1 << 31:
        return Int64(item)
    return item


def format_entry(key, entry):
    return " ".join([format_value(key), *(format_value(as_value(value)) for value in entry.values)])


def format_ini(group):
    """Return the text of a file that reads as these keys and groups."""
    lines = [format_entry(key, entry) for key, entry in group.entries.items()]
    for name, inner in group.groups.items():
        lines += ["", f"[{name}]", *(format_entry(key, entry) for key, entry in inner.entries.items())]
    return "\n".join(lines) + "\n"


@given(
    st.dictionaries(NAMES, st.lists(VALUES, max_size=4), max_size=5),
    st.dictionaries(NAMES, st.dictionaries(NAMES, VALUES, max_size=3), max_size=3),
)
def test_what_is_written_reads_as_before(top, groups):
    config = Group(entries={key: Entry(tuple(values)) for key, values in top.items() if values[:1] != ["="]})
    for name, group in groups.items():
        entries = {key: Entry((value,)) for key, value in group.items() if value != "="}
        config.groups[name] = Group(name=name, entries=entries)
    assert plain(parse_ini(format_ini(config))) == plain(config)


@given(st.text(max_size=200) | st.text(alphabet='ab[]()"#/\\${} \n=0.', max_size=200))
def test_noise_is_read_or_refused_with_its_place(text):
    refused = ""
    try:
        parse_ini(text, "noise.ini")
    except PliantError as error:
        refused = str(error)
    assert not refused or refused.startswith("noise.ini:")
