"""Small valid logs, one per format. Every registered format must have one."""

from __future__ import annotations

import json
from importlib import import_module
from io import BytesIO
from typing import NamedTuple

from tests.formats.arena_samples import ARENA_SAMPLES
from tests.formats.platform_samples import PLATFORM_SAMPLES


class Sample(NamedTuple):
    """A log, with the number of its rows and judgments."""

    data: bytes
    rows: int
    judgments: int
    left_out: int = 0


WMT_RANKINGS = b"""\
srclang,trglang,srcIndex,segmentId,judgeId,system1Id,system2Id,system3Id,system1rank,system2rank,system3rank
French,English,1,17,judge1,newstest2013.fr-en.a,newstest2013.fr-en.b,newstest2013.fr-en.c,1,2,2
French,English,2,18,judge2,newstest2013.fr-en.b,newstest2013.fr-en.a,,3,1,
"""
WMT_PAIRS = b"""\
srclang,trglang,srcIndex,segmentId,judgeID,system1Id,system1rank,system2Id,system2rank,rankingID
fre,eng,17,17,judge1,newstest2015.a.fr-en,1,newstest2015.b.fr-en,2,1
fre,eng,17,17,judge1,newstest2015.b.fr-en,2,newstest2015.c.fr-en,2,1
"""
APPRAISE = b"""\
<?xml version="1.0" encoding="UTF-8"?>
<WMT15-results>
<HIT hit-id="32872282" source-language="deu" block-id="-1" target-language="eng">
<ranking-task id="581">
  <ranking-result duration="00:00:35.337000" user="judge1">
    <translation system="a,b" rank="2" />
    <translation system="c" rank="1" />
    <translation system="d" rank="-1" />
  </ranking-result>
</ranking-task>
<ranking-task id="582">
  <ranking-result duration="00:04:15.398000" user="judge4" skipped="true" />
</ranking-task>
</HIT>
</WMT15-results>
"""
UNIFORM = b"""\
campaign,pair,seq,segment,judge,judge_type,n,systems,ranks,duration_s,timestamp,hit
wmt15,de-en,7,581,judge1,,3,a+b|c|d,2|1|3,35.337,,x
wmt15,de-en,8,582,judge2,,2,a|c,1|1,,2015-05-01T12:00:00+00:00,x
"""
ARENA = b"""\
id,prompt,model_a,model_b,winner,judge,tstamp
1,8,gpt,claude,model_a,j1,1682351591.13
2,8,gpt,llama,tie (bothbad),j2,1682351592.5
"""
LABEL_STUDIO = json.dumps(
    [
        {
            "id": 11,
            "project": 3,
            "data": {"prompt": "Why?", "model_a": "gpt", "model_b": "claude", "text1": "x", "text2": "y"},
            "annotations": [
                {
                    "id": 501,
                    "completed_by": 7,
                    "created_at": "2024-05-01T10:00:00.123456Z",
                    "lead_time": 12.5,
                    "was_cancelled": False,
                    "result": [
                        {"type": "pairwise", "value": {"selected": "right"}, "from_name": "pw", "to_name": "a,b"}
                    ],
                },
                {"id": 502, "completed_by": {"id": 8}, "was_cancelled": True, "result": []},
            ],
        },
        {
            "id": 12,
            "project": 3,
            "data": {"model_a": "gpt", "model_b": "claude"},
            "annotations": [
                {
                    "id": 503,
                    "completed_by": {"id": 8, "email": "e@example.org"},
                    "result": [{"type": "choices", "value": {"choices": ["Tie"]}}],
                }
            ],
        },
    ],
    indent=1,
).encode()
JSONL = b"""\
{"id":"1","campaign":"c","segment":"s","judge":"j","systems":["a","b"],"ranks":[1,2],"at":"2024-01-01T00:00:00Z"}
{"id":"0","campaign":"c","action":"close","at":"2024-01-01T00:00:00Z"}
{"id":"2","campaign":"c","segment":"s","judge":"j","systems":["a"],"score":71.5,"at":"2024-01-01T00:00:00Z"}
"""
APPRAISE_SCORES = b"""\
engdeu6a01,wmt23.sysA,1,TGT,eng,deu,80,doc1#sysA,False,"[{""start_i"":4,""end_i"":9,""severity"":""minor""}]",1711192199.8,1711192224.5
engdeu6a01,wmt23.sysB,1,TGT,eng,deu,60,doc1#sysB,False,[],1711192224.5,1711192224.5
engdeu6a01,wmt23.sysB,1,BAD,eng,deu,10,doc1#sysB#bad1,False,[],1711192230.1,1711192230.2
engdeu6a01,ende-tutorial1,1,TGT,eng,deu,99,ende-tutorial1,False,[],1711192000.0,1711192000.1
engdeu6a01,wmt23.sysB,1,TGT,eng,deu,55,doc1#sysB,False,[],1711192240.1,1711192249.9
"""
WMT_ASSESSMENT = b"""\
HITId WorkerId Input.src Input.trg Input.item hit sys_id rid type sid score time
3IK\tw1\tcs\ten\tad\t4\tFacebook-AI.7\t1000039\tSYSTEM\t177\t0.5\t931.0
3IK\tw1\tcs\ten\tad\t4\tFacebook-AI.7\t1000039\tREPEAT\t177\t-0.25\t931.0
3IK\tw1\tcs\ten\tad\t4\tFacebook-AI.7\t1000039\tBAD_REF\t177\t-2.0\t931.0
3IK\tw2\tcs\ten\tad\t5\tHUMAN.0\t1000040\tSYSTEM\t177\t1.5\t500.0
"""
MQM = b"""\
system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\tcomment
sysA\ttalk.1\t1\t1\trater1\t"Hi\t<v>Na</v>\tAccuracy/Mistranslation\tMajor\t
sysB\ttalk.1\t1\t1\trater2\t"Hi\tHallo\tNo-error\tNo-error\t
sysA\ttalk.1\t1\t1\trater1\t"Hi\tNa<v>,</v>\tFluency/Punctuation\tMinor\t
sysA\ttalk.1\t1\t2\trater1\tBye\tx\tAccuracy/Omission\tHOTW-test\t
"""
WMT_HUMEVAL = b"""\
{"scores":{"sysA":[{"score":"80","annotator":"a1","errors":[],"times":[1724876413.9,1724876420.5]}],"refA":[{"score":95,"annotator":"a2"},{"score":null}]},"src_text":"Hi","tgt_text":{"sysA":"x","refA":"y"},"doc_id":"en-cs_CZ_#_news_#_doc1_#_0"}
{"scores":{},"src_text":"Hi","tgt_text":{},"doc_id":"en-cs_CZ_#_news_#_doc1_#_1"}
"""
PEARMUT = b"""\
{"annotation":[{"sysA":{"score":70,"error_spans":[]},"sysB":{"score":100}}],"actions":[{"time":1771311126.1,"action":"load"},{"time":1771311226.1,"action":"submit"}],"item":[{"item_id":"en-es-0","src":"Hi","tgt":{"sysA":"x","sysB":"y"}}],"user_id":"ann","item_i":0}
{"annotation":[{"sysA":{"score":10}}],"actions":[],"item":[{"item_id":"w"}],"user_id":"ann","item_i":"welcome_0"}
{"annotation":[{"sysA":{"score":40},"sysB":{"score":90}}],"actions":[{"time":1771311326.1,"action":"submit"}],"item":[{"item_id":"en-es-0"}],"user_id":"ann","item_i":0}
"""
METRICS_EVAL = b"""\
sysA\t-1.5
sysA\tNone
sysB\t0
sysB\t-0.1
"""


def parquet(rows: list[dict[str, object]]) -> bytes:
    """Write rows as Parquet."""
    pyarrow, tables = import_module("pyarrow"), import_module("pyarrow.parquet")  # neither has types
    stream = BytesIO()
    tables.write_table(pyarrow.Table.from_pylist(rows), stream)
    return stream.getvalue()


PARQUET = parquet(
    [
        {"model_a": "gpt", "model_b": "claude", "winner": "model_b", "judge": "j1", "tstamp": 1682351591.13},
        {"model_a": "gpt", "model_b": "llama", "winner": "tie", "judge": "j2", "tstamp": 1682351592.5},
    ]
)

SAMPLES = {
    "wmt-rankings": Sample(WMT_RANKINGS, rows=2, judgments=2),
    "wmt-pairs": Sample(WMT_PAIRS, rows=2, judgments=2),
    "appraise": Sample(APPRAISE, rows=2, judgments=1, left_out=1),
    "uniform": Sample(UNIFORM, rows=2, judgments=2),
    "arena": Sample(ARENA, rows=2, judgments=2),
    "label-studio": Sample(LABEL_STUDIO, rows=3, judgments=2, left_out=1),
    "jsonl": Sample(JSONL, rows=3, judgments=2, left_out=1),
    "parquet": Sample(PARQUET, rows=2, judgments=2),
    **{name: Sample(*sample[:4]) for name, sample in (ARENA_SAMPLES | PLATFORM_SAMPLES).items()},
    "appraise-scores": Sample(APPRAISE_SCORES, rows=5, judgments=2, left_out=3),
    "wmt-assessment": Sample(WMT_ASSESSMENT, rows=4, judgments=3, left_out=1),
    "mqm": Sample(MQM, rows=4, judgments=2, left_out=1),
    "wmt-humeval": Sample(WMT_HUMEVAL, rows=2, judgments=2, left_out=1),
    "pearmut": Sample(PEARMUT, rows=3, judgments=2, left_out=2),
    "mt-metrics-eval": Sample(METRICS_EVAL, rows=4, judgments=3, left_out=1),
}

BATTLES = b"""\
{"model_a":"gpt","model_b":"claude","winner":"model_b","judge":"j1","question_id":"q1","tstamp":1682351591.13}
{"left":"gpt","right":"llama","winner":"left","worker":7,"prompt":"Why?"}
"""
WEBHOOK = json.dumps(
    {
        "action": "ANNOTATION_CREATED",
        "annotation": {
            "id": 501,
            "completed_by": 7,
            "created_at": "2024-05-01T10:00:00.123456Z",
            "result": [{"type": "pairwise", "value": {"selected": "left"}}],
        },
        "project": {"id": 3, "title": "Which is better?"},
        "task": {"id": 11, "data": {"model_a": "gpt", "model_b": "claude"}, "project": 3},
    },
    indent=2,
).encode()
