"""Valid records, bodies and files, and ways to damage them."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from backports import zstd  # noqa: E402

from streams.wire.events import encode  # noqa: E402
from tests.builders import crowd_log  # noqa: E402
from tests.formats.mapped_samples import MAPPED  # noqa: E402
from tests.formats.platform_samples import ARGILLA_FLAT, LABEL_STUDIO_CSV  # noqa: E402
from tests.formats.samples import BATTLES, SAMPLES, WEBHOOK, parquet  # noqa: E402
from tests.formats.workbook_samples import workbook, zipped  # noqa: E402

if TYPE_CHECKING:
    import random

MAPPED_SEEDS = {sample.columns: (sample.values, sample.data) for sample in MAPPED.values()}
CONTAINERS = [
    bz2.compress(SAMPLES["arena"].data),
    lzma.compress(SAMPLES["uniform"].data),
    SAMPLES["arena"].data.decode().encode("utf-16"),
    zipped({"a.csv": SAMPLES["arena"].data, "b.jsonl": SAMPLES["jsonl"].data}),
    workbook([line.split(",") for line in SAMPLES["arena"].data.decode().splitlines()]),
]
SEEDS = {name: [sample.data] for name, sample in SAMPLES.items()}
SEEDS["arena"] += [BATTLES, b"[" + BATTLES.strip().replace(b"\n", b",") + b"]"]
SEEDS["label-studio"] += [WEBHOOK]
SEEDS["label-studio-rows"] += [LABEL_STUDIO_CSV]
SEEDS["argilla"] += [ARGILLA_FLAT]
SEEDS["parquet"] += [
    parquet(
        [
            {
                "id": str(n),
                "campaign": "c",
                "segment": "s",
                "judge": "j",
                "systems": ["a", "b"],
                "ranks": [1, n % 2 + 1],
            }
            for n in range(50)
        ]
    )
]
_EXAMPLES = ROOT / "schemas" / "examples" / "valid"
RECORDS = [
    *map(encode, crowd_log(20, ways=3)),
    *(file.read_bytes().strip() for kind in ("judgment", "command") for file in sorted(_EXAMPLES.glob(f"{kind}*"))),
]
BODIES = [
    *RECORDS[:3],
    b"[" + b",".join(RECORDS[:3]) + b"]",
    b'{"judgments":[' + b",".join(RECORDS[:2]) + b"]}",
    b"\n".join(RECORDS[:4]),
    WEBHOOK,
]
OTHERS = [data for seeds in (*SEEDS.values(), RECORDS, BODIES) for data in seeds]

# What parsers stumble over.
TOKENS = [
    *(b'"', b"'", b",", b"|", b"+", b"\n", b"\r", b"\r\n", b"\t", b";", b"\x00", b"\xff", b"\xef\xbb\xbf"),
    *(
        b"{",
        b"}",
        b"[",
        b"]",
        b":",
        b"\\",
        b"\\u0000",
        b"\\ud800",
        b"null",
        b"true",
        b"NaN",
        b"1e999",
        b"-0",
        b"[" * 200,
    ),
    *(b"<", b">", b"/>", b"&", b"&lt;", b"&x;", b"<!DOCTYPE a>", b"<!--", b"-->", b"<![CDATA[", b"]]>", b"<?xml"),
    *(b"0", b"-1", b"9" * 30, b"9" * 5000, b"1.5", b"1e5", b"inf", b"nan", b"x" * 300, b"=1+1", b"%25", b"%", b""),
    *(b"\xed\xa0\x80", b"\x1b[31m", b"\xe2\x80\xae", b"\xc2\x9b", b'\\"', b'"a",', b"[]", b"  ", b"1,"),
]


def damaged(chance: random.Random, seeds: list[bytes], longest: int) -> bytes:
    """Damage one of the seeds, a little or much. Now and then make it as long as is allowed."""
    data = bytearray(chance.choice(seeds))
    for _ in range(chance.choice((1, 1, 1, 2, 3, 5, 20))):
        place = chance.randrange(len(data) + 1)
        end = min(len(data), place + chance.choice((0, 1, 1, 2, 8, 64)))
        kind = chance.randrange(7)
        if kind == 0 and data:
            data[min(place, len(data) - 1)] ^= 1 << chance.randrange(8)
        elif kind == 1:
            data[place:end] = chance.choice(TOKENS)
        elif kind == 2:
            data[place:place] = chance.choice(TOKENS)
        elif kind == 3:
            del data[place:end]
        elif kind == 4:
            data[place:place] = data[place:end] * chance.choice((1, 2, 50))
        elif kind == 5:
            other = chance.choice(OTHERS)
            start = chance.randrange(len(other) + 1)
            data[place:end] = other[start : start + chance.choice((1, 16, 200))]
        else:
            del data[place:]
    if chance.random() < 0.01:
        token, place = chance.choice(TOKENS) or b" ", chance.randrange(len(data) + 1)
        data[place:place] = token * ((longest - len(data)) // len(token))
    return bytes(data[:longest])


def packed(chance: random.Random, data: bytes) -> bytes:
    """Compress now and then, and damage that too."""
    kind = chance.randrange(24)
    if kind > 7:
        return data
    pack = (gzip.compress, zstd.compress, bz2.compress, lambda text: zipped({"a": text}))[kind % 4]
    whole = bytearray(pack(data))
    if kind > 3:
        whole[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
    return bytes(whole)
