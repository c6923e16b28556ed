from __future__ import annotations

import pytest

from benchmarks.__main__ import main


def test_the_list_says_what_each_one_measures(capsys):
    assert main(["list"]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("next_after") for line in lines)
    assert all(len(line.split()) > 3 for line in lines)


def test_next_after_prints_a_figure_for_both_sides(capsys):
    assert main(["next_after", "--calls", "20", "--rounds", "1"]) == 0

    rows = capsys.readouterr().out.splitlines()[3:]
    assert len(rows) == 14
    assert all(float(figure.replace(",", "")) > 0 for row in rows for figure in row.split()[-3:-1])


@pytest.mark.parametrize("name", ["nope", "../x"])
def test_an_unknown_name_is_refused(capsys, name):
    assert main([name]) == 2
    assert "Known: list, " in capsys.readouterr().err
