"""`judgestream measure`: numbers and labels of two columns, and clear words for wrong tables."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from streams.cli.main import cli
from streams.errors import FormatError

NUMBERS = "id,HTER,gold\n1,4,10\n2,3,8\n3,2,6\n4,1,1\n"
LABELS = "word\tlabel\tgold\nx\tkeep\tkeep\ny\tkeep\tchange\n"


def run(file: Path, content: str | bytes, *options: str) -> Result:
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return CliRunner().invoke(cli, ["measure", str(file), *options])


def test_numbers_are_measured(tmp_path: Path) -> None:
    result = run(tmp_path / "t.csv", NUMBERS, "--predicted", "hter", "--gold", "gold", "--json")
    found = json.loads(result.stdout)
    assert found["rows"] == 4
    assert found["mae"] == 3.75  # (6 + 5 + 4 + 0) / 4
    assert found["rmse"] == pytest.approx((77 / 4) ** 0.5)
    assert found["delta_avg"] == 9 - 6.25  # one n, 2: the upper half minus the whole
    assert found["spearman"] == pytest.approx(1.0)


def test_if_lower_is_better_the_lowest_prediction_ranks_first(tmp_path: Path) -> None:
    table, columns = "hter,gold\n5,10\n4,8\n3,6\n2,1\n1,1\n", ("--predicted", "hter", "--gold", "gold", "--json")
    higher = json.loads(run(tmp_path / "t.csv", table, *columns).stdout)
    lower = json.loads(run(tmp_path / "t.csv", table, *columns, "--lower-is-better").stdout)
    assert higher["delta_avg"] == pytest.approx(9 - 5.2)
    assert lower["delta_avg"] == pytest.approx(5.2 - 1)
    assert lower["mae"] == higher["mae"]


def test_a_table_on_the_terminal_has_every_measure(tmp_path: Path) -> None:
    lines = run(tmp_path / "t.csv", NUMBERS, "--predicted", "HTER", "--gold", "gold").stdout.splitlines()
    assert lines[0].endswith("HTER against gold, 4 rows")
    assert [line.split()[0] for line in lines[2:]] == ["MAE", "RMSE", "DeltaAvg", "Pearson's", "Spearman's"]
    assert lines[2].split()[1] == "3.7500"


def test_labels_are_measured_in_a_compressed_tsv_too(tmp_path: Path) -> None:
    content = gzip.compress(LABELS.encode())
    result = run(tmp_path / "t.tsv.gz", content, "--predicted", "label", "--gold", "gold", "--labels", "--json")
    found = json.loads(result.stdout)
    assert (found["macro_f1"], found["micro_f1"]) == (pytest.approx(1 / 3), 0.5)
    assert [one["label"] for one in found["classes"]] == ["change", "keep"]
    text = run(tmp_path / "t.tsv", LABELS, "--predicted", "label", "--gold", "gold", "--labels").stdout
    assert "macro F1  0.3333" in text
    assert "keep" in text


def test_a_correlation_of_a_constant_is_not_known(tmp_path: Path) -> None:
    result = run(tmp_path / "t.csv", "p,g\n1,1\n1,2\n1,3\n1,4\n", "--predicted", "p", "--gold", "g", "--json")
    assert json.loads(result.stdout)["pearson"] is None
    assert (
        "does not vary"
        in run(tmp_path / "t.csv", "p,g\n1,1\n1,2\n1,3\n1,4\n", "--predicted", "p", "--gold", "g").stderr
    )


@pytest.mark.parametrize(
    ("content", "predicted", "said"),
    [
        (NUMBERS, "htre", "t.csv:1: no column 'htre'; did you mean 'hter'?"),
        (NUMBERS.replace("3,2,6", "3,two,6"), "hter", "t.csv:4: the column 'hter' has 'two', which is not a number"),
        (NUMBERS.replace("3,2,6", "3,nan,6"), "hter", "t.csv:4: the column 'hter' has 'nan', which is not a number"),
        (NUMBERS.replace("3,2,6", "3,inf,6"), "hter", "t.csv:4: the column 'hter' has 'inf', which is not a number"),
        (NUMBERS.replace("3,2,6", "3,,6"), "hter", "t.csv:4: the column 'hter' is empty"),
        (NUMBERS.replace("3,2,6", "3,2"), "hter", "t.csv:4: 2 cells, but the header has 3"),
        ("hter,gold\n1,1\n2,2\n3,3\n", "hter", "t.csv: 3 rows; comparing numbers needs 4 or more"),
        ("", "hter", "no column 'hter'"),
    ],
)
def test_what_is_wrong_with_a_table_is_told_with_its_place(
    tmp_path: Path, content: str, predicted: str, said: str
) -> None:
    result = run(tmp_path / "t.csv", content, "--predicted", predicted, "--gold", "gold")
    assert isinstance(result.exception, FormatError)
    assert said in str(result.exception)


def test_text_in_a_number_column_names_the_way_out(tmp_path: Path) -> None:
    result = run(tmp_path / "t.tsv", LABELS, "--predicted", "label", "--gold", "gold")
    assert "add --labels" in str(result.exception)


def test_labels_have_no_direction(tmp_path: Path) -> None:
    result = run(tmp_path / "t.tsv", LABELS, "--predicted", "label", "--gold", "gold", "--labels", "--lower-is-better")
    assert result.exit_code == 2
    assert "--labels and --lower-is-better can't be combined" in result.output
