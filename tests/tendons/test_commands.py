"""`pliant cpr identify-tendons`."""

from __future__ import annotations

import json

import numpy as np
import pytest

from pliant.cli import main
from pliant.tendons import Resolution
from pliant.tendons.identify import nominal, residual
from pliant.tendons.measured import TipTable
from pliant.tendons.robots import generic


def run(capsys, *words: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as end:
        main(["cpr", "identify-tendons", *words])
    out = capsys.readouterr()
    return int(end.value.code or 0), out.out + out.err


def test_a_table_of_the_nominal_robot_is_described_by_it(capsys, tmp_path):
    pull = 1e-3 * np.outer([0.0, 0.5, 1.0], [1.0, -0.5, -0.5, 0.0, 0.5, -0.5])
    data = TipTable(names=tuple("abcdef"), pull=pull, tip=np.zeros((3, 3)), pattern=("p", "p", "q"))
    tips = residual(generic(), data, nominal(generic()), Resolution(elements=1, bending=1, torsion=0))
    lines = ["timestamp,pattern_label,a_mm,b_mm,c_mm,d_mm,e_mm,f_mm,tip_x,tip_y,tip_z"]
    for row, (d, tip) in enumerate(zip(1e3 * pull, 1e3 * tips)):
        lines.append(f"{row},rep1_{data.pattern[row]}," + ",".join(f"{v:.9g}" for v in [*d, *tip]))
    file = tmp_path / "tips.csv"
    file.write_text("\n".join(lines) + "\n")
    code, out = run(capsys, "tdcr", str(file), "--folds", "0", "--json")
    assert code == 0
    found = json.loads(out)
    assert found["rows"] == 3
    assert found["motions"] == 2
    assert found["rmse_m"] < 1e-8
    code, out = run(capsys, "tdcr", str(file), "--folds", "3")
    assert code != 0
    assert "2 to 2 (the motions)" in " ".join(out.split())
    code, out = run(capsys, "tdcr-v4", str(file), "--folds", "2")
    assert code != 0
    assert "has 6 tendons, tdcr-v4 has 9" in " ".join(out.split())
    code, out = run(capsys, "tdcr-v5", str(file))
    assert code != 0
    assert "tdcr-v4" in out
