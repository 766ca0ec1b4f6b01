"""Small tables of our own, one for each layout of --columns, with what they say by hand."""

from __future__ import annotations

from typing import NamedTuple

from tests.formats.workbook_samples import workbook

Verdict = tuple[tuple[str, ...], tuple[int, ...] | float, str, str]  # systems, ranks or score, judge, segment


class MappedSample(NamedTuple):
    """A table, its mapping and its judgments."""

    layout: str
    data: bytes
    columns: str
    values: str
    verdicts: list[Verdict]
    left_out: int = 0


NAMED: list[Verdict] = [
    (("x", "y"), (1, 2), "anna", "s1"),
    (("y", "z"), (2, 1), "ben", "s1"),
    (("z", "x"), (1, 1), "anonymous", "s2"),
]
_HEAD = "a=left one,b=right one,judge=who,segment=where"
_WHO = "who,where,left one,right one"

MAPPED = {
    "names of systems": MappedSample(
        "verdict",
        f"{_WHO},best\nanna,s1,x,y,x\nben,s1,y,z,Z\n,s2,z,x,tie\n".encode(),
        f"{_HEAD},winner=best",
        "",
        NAMED,
    ),
    "letters and words": MappedSample(
        "verdict",
        f"{_WHO},best\nanna,s1,x,y,Model A\nben,s1,y,z,right one\n,s2,z,x,both bad\n".encode(),
        f"{_HEAD},winner=best",
        "",
        NAMED,
    ),
    "booleans in JSON": MappedSample(
        "verdict",
        b'[{"m":{"a":"x","b":"y"},"first_won":true,"who":"anna","where":"s1"},\n'
        b'{"m":{"a":"y","b":"z"},"first_won":false,"who":"ben","where":"s1"},\n'
        b'{"m":{"a":"z","b":"x"},"first_won":null,"even":1,"who":null,"where":"s2"}]\n',
        "a=m.a,b=m.b,winner=first_won,tie=even,judge=who,segment=where",
        "",
        NAMED,
    ),
    "values of the user": MappedSample(
        "verdict",
        f"{_WHO},best\nanna,s1,x,y,0.0\nben,s1,y,z,1\n,s2,z,x,2\nanna,s3,x,y,\n".encode(),
        f"{_HEAD},winner=best",
        "a=0,b=1,tie=2,skip=",
        NAMED,
        left_out=1,
    ),
    "one-hot columns": MappedSample(
        "shares",
        f"{_WHO},l,r,e\nanna,s1,x,y,1,0,0\nben,s1,y,z,False,True,False\n,s2,z,x,,,x\n".encode(),
        f"{_HEAD},a_wins=l,b_wins=r,tie=e",
        "",
        NAMED,
    ),
    "shares of a vote": MappedSample(
        "shares",
        f"{_WHO};l;r\nanna;s1;x;y;0,75;0,25\nben;s1;y;z;0;1\n;s2;z;x;0,5;0,5\n".replace(
            _WHO, _WHO.replace(",", ";")
        ).encode(),
        f"{_HEAD},a_wins=l,b_wins=r",
        "",
        NAMED,
    ),
    "strength": MappedSample(
        "strength",
        f"{_WHO},how much\nanna,s1,x,y,3\nben,s1,y,z,-1\n,s2,z,x,0\n".replace(",", "\t").encode(),
        f"{_HEAD},strength=how much",
        "",
        NAMED,
    ),
    "strength for the second": MappedSample(
        "strength",
        f"{_WHO},how much\nanna,s1,x,y,-3\nben,s1,y,z,1\n,s2,z,x,0\n".encode(),
        f"{_HEAD},strength=how much",
        "b=positive",
        NAMED,
    ),
    "winner and loser": MappedSample(
        "outcome",
        b"who,where,chosen,rejected,draw\nanna,s1,x,y,no\nben,s1,z,y,no\n,s2,z,x,yes\n",
        "winner=chosen,loser=rejected,tie=draw,judge=who,segment=where",
        "",
        [NAMED[0], NAMED[1], (("x", "z"), (1, 1), "anonymous", "s2")],
    ),
    "scores in a workbook": MappedSample(
        "score",
        workbook(
            [
                ["mt", "points", "who", "where"],
                ["x", 87.5, "anna", "s1"],
                ["y", 40, None, "s2"],
                [],
                ["x", -1, "b", None],
            ]
        ),
        "system=mt,score=points,judge=who,segment=where",
        "",
        [(("x",), 87.5, "anna", "s1"), (("y",), 40.0, "anonymous", "s2"), (("x",), -1.0, "b", "unspecified")],
    ),
}
