"""`judgestream agreement`: the published figures of WMT15, sources, judges, controls, and clear words for wrong use."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from streams.cli.main import cli
from streams.errors import JudgestreamError
from streams.wire.events import encode
from tests.builders import crowd_log
from tests.data import real_log

HEAD = "campaign,pair,seq,segment,judge,judge_type,n,systems,ranks,duration_s,timestamp,hit"
# Of one segment: r1 and r2 agree on all pairs; t1 turns them around. c and d shared an output.
ROWS = (
    "t,x,1,s1,r1,researcher,3,a|b|c+d,1|2|3,,,",
    "t,x,2,s1,r2,researcher,3,a|b|c+d,1|2|3,,,",
    "t,x,3,s1,t1,turker,3,a|b|c+d,3|2|1,,,",
    "t,x,4,s2,t1,turker,1,a+b,1,,,",
)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["agreement", *arguments])


def found(*arguments: str) -> dict[str, Any]:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    read: dict[str, Any] = json.loads(result.stdout)
    return read


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "log.csv"
    file.write_text("\n".join([HEAD, *ROWS, ""]))
    return file


@pytest.mark.data
@pytest.mark.long
def test_the_published_agreement_of_wmt15_comes_out() -> None:
    rows = {
        (row["kind"], str(row["collapsed"]).lower(), row["campaign"]): row
        for row in found(str(real_log("wmt15_rank.csv.gz")))["agreement"]
    }
    with real_log("wmt15_official/agreement.csv").open() as file:
        for published in csv.DictReader(file):
            row = rows.pop((published["kind"], published["collapsed"], f"wmt15.{published['pair']}"))
            for name in ("agree", "comparable", "ties", "total"):
                assert row[name] == int(published[name])
            for name in ("p_agree", "p_chance", "kappa"):
                assert row[name] == pytest.approx(float(published[name]), abs=0.00051)
    assert {campaign for *_, campaign in rows} == {None}  # all campaigns together


@pytest.mark.data
def test_the_agreement_of_wmt13_stands_near_the_published_one() -> None:
    rows = found(str(real_log("wmt13_fr-en_rank.csv.gz")), "--rule", "strict")["agreement"]
    inter = {row["judges"]: row["kappa"] for row in rows if row["kind"] == "inter" and row["collapsed"]}
    assert inter == pytest.approx({None: 0.275, "researcher": 0.405, "turker": 0.321}, abs=0.01)


@pytest.mark.data
@pytest.mark.parametrize(("campaign", "published"), [("wmt10", 0.658), ("wmt10-public", 0.466)])
def test_the_published_agreement_of_wmt10_s_experts_and_crowd_comes_out(campaign: str, published: float) -> None:
    pairs = ("cs-en", "de-en", "es-en", "fr-en", "en-cs", "en-de", "en-es", "en-fr")
    chosen = [word for pair in pairs for word in ("--campaign", f"{campaign}.{pair}")]
    rows = found(str(real_log("wmt10_rank.csv.gz")), *chosen, "--rule", "strict")["agreement"]
    (share,) = {row["p_agree"] for row in rows if row["campaign"] is None and row["kind"] == "inter"}
    assert round(share, 3) == published


def test_outputs_are_compared_as_shown_and_expanded_by_source(log: Path) -> None:
    rows = found(str(log))["agreement"]
    counts = {
        (row["judges"], row["collapsed"]): (row["agree"], row["comparable"], row["ties"], row["total"])
        for row in rows
        if row["kind"] == "inter"
    }
    assert counts == {
        (None, True): (3, 9, 0, 9),
        ("researcher", True): (3, 3, 0, 6),
        ("turker", True): (0, 0, 0, 3),
        (None, False): (8, 18, 4, 19),  # five pairs and the tie of c and d in each ranking, and that of a and b
        ("researcher", False): (6, 6, 2, 12),
        ("turker", False): (0, 0, 2, 7),
    }


def test_a_verdict_that_was_replaced_is_left_out_and_said(tmp_path: Path) -> None:
    first = crowd_log(1)[0]
    others = [replace(first, id=f"{k}", judge=f"judge-{k}") for k in range(2)]
    changed = replace(first, id="new", judge="judge-0", ranks=(first.ranks or ())[::-1], replaces="0")
    file = tmp_path / "log.jsonl"
    file.write_bytes(b"".join(encode(each) + b"\n" for each in (*others, changed)))
    result = run(str(file), "--json")
    row = json.loads(result.stdout)["agreement"][0]
    assert (row["kind"], row["agree"], row["comparable"]) == ("inter", 0, 1)
    assert "1 of 3 judgments were replaced by a later one, and are left out" in result.stderr


@pytest.mark.parametrize("rule", ["wmt", "strict"])
def test_one_judge_has_no_agreement_with_others(tmp_path: Path, rule: str) -> None:
    log = [replace(crowd_log(1)[0], id=f"{k}", judge="anna") for k in range(3)]
    file = tmp_path / "log.jsonl"
    file.write_bytes(b"".join(encode(each) + b"\n" for each in log))
    inter, intra = found(str(file), "--rule", rule)["agreement"][:2]
    assert (inter["kind"], inter["comparable"], inter["kappa"]) == ("inter", 0, None)
    assert (intra["kind"], intra["comparable"]) == ("intra", 3)
    picture = tmp_path / "agreement.png"
    assert run(str(file), "--judges", "--plot", str(picture)).exit_code == 0
    assert picture.stat().st_size > 1000


def test_what_can_not_be_compared_has_no_kappa(log: Path) -> None:
    assert {row["kappa"] for row in found(str(log))["agreement"] if row["kind"] == "intra"} == {None}
    assert "there is nothing to compare" in run(str(log)).stderr


def test_the_table_shows_both_kinds_of_outputs_only_where_some_were_shared(log: Path, tmp_path: Path) -> None:
    assert "expanded" in run(str(log)).stdout
    plain = tmp_path / "plain.jsonl"
    plain.write_bytes(b"".join(encode(each) + b"\n" for each in crowd_log(200)))
    text = run(str(plain)).stdout
    assert text.count("campaign-0") == 1
    assert "expanded" not in text
    assert "judges" not in text


def test_several_campaigns_are_also_added_up(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    file.write_bytes(b"".join(encode(each) + b"\n" for each in crowd_log(400, campaigns=2)))
    rows = [row for row in found(str(file))["agreement"] if row["kind"] == "inter" and row["collapsed"]]
    one, two, both = (
        next(row for row in rows if row["campaign"] == name) for name in ("campaign-0", "campaign-1", None)
    )
    for name in ("agree", "comparable", "ties", "total"):
        assert both[name] == one[name] + two[name] > 0
    (alone,) = {row["campaign"] for row in found(str(file), "--campaign", "campaign-1")["agreement"]}
    assert alone == "campaign-1"


def test_every_judge_is_listed_the_one_who_disagrees_first(log: Path) -> None:
    judges = found(str(log), "--judges")["judges"]
    assert [(row["judge"], row["source"], row["inter_comparable"]) for row in judges] == [
        ("t1", "turker", 6),
        ("r1", "researcher", 6),
        ("r2", "researcher", 6),
    ]
    assert (judges[0]["inter_kappa"], judges[1]["inter_kappa"]) == (-1.0, 0.0)  # half of the rest is chance
    rows = list(csv.DictReader(io.StringIO(run(str(log), "--judges", "--csv").stdout)))
    assert [row["judge"] for row in rows] == ["t1", "r1", "r2"]


def test_controls_of_one_source_try_the_others(log: Path) -> None:
    tried = found(str(log), "--controls", "researcher", "--margin", "1", "--fewest", "1")["thresholds"]
    assert [(row["threshold"], row["judges"]) for row in tried] == [
        (None, 1),
        *((t, 0) for t in (0.5, 0.6, 0.7, 0.8, 0.9)),
    ]
    judges = found(str(log), "--judges", "--controls", "researcher", "--margin", "1", "--fewest", "3")["judges"]
    records = {row["judge"]: (row["controls"], row["passed"], row["rejected"]) for row in judges}
    assert records == {"t1": (3, 0, True), "r1": (None, None, None), "r2": (None, None, None)}
    everybody = found(str(log), "--controls", "everybody", "--margin", "0", "--fewest", "1")["thresholds"]
    assert everybody[0]["judges"] == 3


def test_a_judgment_that_stands_twice_counts_once(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    lines = [encode(each) + b"\n" for each in crowd_log(100)]
    file.write_bytes(b"".join(lines))
    once = found(str(file))
    file.write_bytes(b"".join([*lines, *lines[:7]]))
    assert found(str(file)) == once
    assert "7 of 107 judgments are duplicates" in run(str(file)).stderr


def test_csv_holds_what_json_holds(log: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(run(str(log), "--csv").stdout)))
    told = found(str(log))["agreement"]
    assert [(row["judges"], row["kind"], int(row["comparable"])) for row in rows] == [
        (row["judges"] or "", row["kind"], row["comparable"]) for row in told
    ]


@pytest.mark.long
@pytest.mark.parametrize(("suffix", "start"), [(".png", b"\x89PNG"), (".svg", b"<?xml")])
def test_a_figure_is_written(log: Path, tmp_path: Path, suffix: str, start: bytes) -> None:
    file = tmp_path / f"figure{suffix}"
    more = ("--judges", "--controls", "everybody", "--margin", "0", "--fewest", "1")
    result = run(str(log), *more, "--plot", str(file))
    assert result.exit_code == 0, result.output
    assert file.read_bytes().startswith(start)


def test_a_figure_without_matplotlib_says_what_to_install(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = run(str(log), "--plot", str(log.with_suffix(".png")))
    assert isinstance(result.exception, JudgestreamError)
    assert "judgestream[plot]" in str(result.exception)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--json", "--csv"), "choose one"),
        (("--csv", "--judges", "--controls", "turker"), "not both"),
        (("--controls", "researchers"), "did you mean 'researcher'"),
        (("--campaign", "t.y"), "no campaign 't.y'"),
        (("--plot", "figure.txt"), "must end in"),
    ],
)
def test_wrong_use_is_told(log: Path, options: tuple[str, ...], said: str) -> None:
    result = run(str(log), *options)
    assert result.exit_code == 2
    assert said in result.output


@pytest.fixture
def scores(tmp_path: Path) -> str:
    file = tmp_path / "scores.csv"
    rows = [
        f"u{judge},s{system},{item},TGT,eng,ces,{10 * item + system + 3 * judge},1662710595.1,1662710644.5"
        for judge in range(2)
        for system in range(2)
        for item in range(9)
    ]
    file.write_text("\n".join([*rows, ""]))
    return str(file)


def test_scores_have_krippendorffs_alpha(scores: str) -> None:
    interval, ordinal = found(scores)["score_agreement"]
    assert (interval["level"], ordinal["level"], interval["judges"], interval["compared"]) == (
        "interval",
        "ordinal",
        2,
        18,
    )
    values = [10 * item + system + 3 * judge for judge in range(2) for system in range(2) for item in range(9)]
    mean = sum(values) / 36
    expected = 1 - 9 * 35 / (2 * sum((value - mean) ** 2 for value in values))  # all pairs of judges differ by 3
    assert interval["alpha"] == pytest.approx(expected)
    assert interval["alpha_low"] < expected < interval["alpha_high"]
    assert "interval" in run(scores).stdout
    assert next(csv.reader(io.StringIO(run(scores, "--csv").stdout)))[:2] == ["campaign", "level"]


@pytest.mark.parametrize("option", ["--judges", "--controls=everybody", "--plot=x.png"])
def test_scores_have_no_other_measures(scores: str, option: str) -> None:
    result = run(scores, option)
    assert result.exit_code == 2
    assert "is for rankings, and the log has scores only; leave it out" in result.stderr
