"""Small exports of our own making, one per annotation platform."""

from __future__ import annotations

import json

from tests.formats.arena_samples import LayoutSample, lines


def _row(annotation: int, **labels: object) -> dict[str, object]:
    return {
        "id": 11,
        "model_a": "gpt",
        "model_b": "claude",
        "text1": "x",
        **labels,
        "annotator": 7,
        "annotation_id": annotation,
        "created_at": "2024-05-01T10:00:00.123456Z",
        "updated_at": "2024-05-01T10:00:00.123456Z",
        "lead_time": 12.5,
    }


LABEL_STUDIO_ROWS = json.dumps(
    [_row(501, pw=[{"selected": "right"}]), _row(502, choice="Tie"), _row(503, text1="")], indent=1
).encode()
LABEL_STUDIO_CSV = b"""\
annotation_id,annotator,created_at,id,lead_time,model_a,model_b,pw,updated_at
501,7,"2024-05-01T10:00:00.123456Z",11,12.5,"gpt","claude","[{""selected"":""right""}]","2024-05-01T10:00:00Z"
"""
ARGILLA = json.dumps(
    [
        {
            "id": "r1",
            "fields": {"instruction": "Why?", "model_a": "gpt", "model_b": "claude"},
            "metadata": {},
            "responses": {
                "better": [
                    {"value": "model_b", "user_id": "u1"},
                    {"value": "claude", "user_id": "u2", "status": "discarded"},
                ],
                "order": [{"value": [{"rank": 1, "value": "x"}, {"rank": 1, "value": "y"}], "user_id": "u1"}],
            },
            "suggestions": {},
            "status": "completed",
        },
        {"id": "r2", "fields": {}, "metadata": {}, "responses": {}, "suggestions": {}, "status": "pending"},
    ],
    indent=1,
).encode()
ARGILLA_FLAT = lines(
    {
        "id": "r1",
        "model_a": "gpt",
        "model_b": "claude",
        "better.responses": ["model_b", "tie"],
        "better.responses.users": ["u1", "u2"],
        "better.responses.status": ["submitted", "draft"],
    }
)


def _task(answer: str, accept: list[str]) -> dict[str, object]:
    return {
        "text": "Why?",
        "options": [{"id": "gpt", "text": "x"}, {"id": "claude", "text": "y"}, {"id": "llama", "text": "z"}],
        "accept": accept,
        "answer": answer,
        "_input_hash": 17,
        "_task_hash": -18,
        "_session_id": "news-anna",
        "_timestamp": 1700000000,
    }


PRODIGY = lines(_task("accept", ["claude"]), _task("ignore", []), _task("accept", []))
MTURK = b"""\
"HITId","WorkerId","AssignmentId","AssignmentStatus","SubmitTime","WorkTimeInSeconds",\
"Input.model_a","Input.model_b","Input.text","Answer.choice","Answer.comment","Approve","Reject"
"h1","w1","a1","Approved","Thu Dec 21 20:32:50 PST 2023","41","gpt","claude","Hello","model_b","nice","x",""
"h1","w2","a2","Submitted","Thu Dec 21 20:33:50 PST 2023","12","gpt","claude","Hello","tie","","",""
"h1","w3","a3","Rejected","Thu Dec 21 20:34:50 PST 2023","2","gpt","claude","Hello","model_a","","",""
"""
GOOGLE_FORMS = b"""\
"Timestamp","Which one is better?
Read both. [gpt vs claude]","Rank the answers [gpt]","Rank the answers [claude]","How fluent? [gpt]","Comments"
"2024/03/19 10:56:47 am EET","claude","1st","2nd","4 - good","first, second"
"2024/03/19 11:56:47 am EET","tie","","","",""
"2024/03/19 12:56:47 pm EET","","","","","no time"
"""

PLATFORM_SAMPLES = {
    "label-studio-rows": LayoutSample(
        LABEL_STUDIO_ROWS, 3, 2, 1, (b'"selected": "right"', b'"selected": "up"', 2, "result", "invalid_value")
    ),
    "argilla": LayoutSample(
        ARGILLA, 2, 2, 1, (b'"value": "model_b"', b'"value": "up"', 2, "responses", "invalid_value")
    ),
    "prodigy": LayoutSample(PRODIGY, 3, 2, 2, (b'["claude"]', b'["x"]', 1, "accept", "invalid_value")),
    "mturk": LayoutSample(MTURK, 3, 2, 1, (b'"model_b","nice"', b'"perhaps","nice"', 2, "Answer", "invalid_value")),
    "google-forms": LayoutSample(
        GOOGLE_FORMS, 3, 4, 1, (b'"1st"', b'"best"', 3, "'Rank the answers'", "invalid_value")
    ),
}
