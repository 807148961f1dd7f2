"""The control table against the layout that ROBOTIS publishes and that its SDK brings along."""

import importlib.resources

import pytest

from pliant.base.errors import BridgeError
from pliant.dynamixel.models import MODELS, find_model
from pliant.dynamixel.table import EEPROM_END, control_table


@pytest.fixture(params=sorted(MODELS))
def model(request):
    return MODELS[request.param]


def layout_of_the_sdk(model):
    """Return name -> (address, size) of the SDK's own file for a servo and its firmware."""
    pytest.importorskip("dynamixel_easy_sdk", reason="no dynamixel-sdk; type: pip install dynamixel-sdk")
    folder = importlib.resources.files("dynamixel_easy_sdk") / "control_table"
    stem = model.name.lower().replace("-", "_")
    names = [f"{stem}_fw{model.firmware}.model", f"{stem}.model"]
    file = next(folder / name for name in names if (folder / name).is_file())
    rows = file.read_text(encoding="utf-8").split("[control table]")[1].split("\n")[2:]
    return {row.split("\t")[2]: (int(row.split("\t")[0]), int(row.split("\t")[1])) for row in rows if row.strip()}


def test_every_item_of_the_sdk_is_where_the_sdk_expects_it(model):
    items = control_table(model).items
    expected = layout_of_the_sdk(model)
    assert len(expected) > 50
    for name, place in expected.items():
        if name.endswith((" Read", " Write")):  # places of the SDK's own groups
            continue
        assert (items[name].address, items[name].size) == place, name


def test_items_do_not_overlap_and_their_initial_values_are_valid(model):
    table = control_table(model)
    at = 0
    for item in table.items.values():
        assert item.address >= at
        at = item.address + item.size
        assert item.low <= item.initial <= item.high
        assert item.size in (1, 2, 4)
        span = 1 << 8 * item.size
        assert item.high - item.low < span
        assert item.high < (span // 2 if item.signed else span)
        assert [table.owners[a] for a in range(item.address, at)] == [item] * item.size
        if item.writable and item.eeprom:
            assert item.valid(item.initial), item.name
    assert at == len(table.owners)
    assert sum(item.eeprom for item in table.items.values()) == (23 if model.pwm_slope else 22)
    assert table.items["Torque Enable"].address == EEPROM_END


def test_numbers_of_the_data_sheets():
    # ROBOTIS e-Manual: model number, stall torque and current, speed without load, limits.
    m288, w350 = MODELS["XL330-M288"], MODELS["XM430-W350"]
    assert (m288.number, w350.number) == (1200, 1020)
    assert (m288.stall_torque, m288.stall_current) == (0.52, 1.47)
    assert (w350.stall_torque, w350.stall_current) == (4.1, 2.3)
    assert m288.no_load_speed == pytest.approx(103 * 6.283185307 / 60)
    items = control_table(m288).items
    published = {"Current Limit": (1750, 0, 1750), "Velocity Limit": (445, 0, 2047), "Min Voltage Limit": (35, 31, 70),
                 "Homing Offset": (0, -1044479, 1044479), "Shutdown": (53, 0, 255), "Position P Gain": (400, 0, 16383),
                 "Indirect Address 20": (227, 64, 227)}  # fmt: skip
    for name, (initial, low, high) in published.items():
        item = items[name]
        assert (item.initial, item.low, item.high) == (initial, low, high), name
    assert control_table(w350).items["Indirect Address 29"].address == 578
    assert control_table(w350).items["Indirect Data 56"].address == 661


def test_a_servo_is_found_by_the_name_on_its_label():
    assert find_model("xm430-w350-r") is MODELS["XM430-W350"]
    assert find_model(" XL330-M288-T ") is MODELS["XL330-M288"]
    with pytest.raises(BridgeError, match=r"no servo 'XM430-W300'.*XM430-W350"):
        find_model("XM430-W300")
