"""The log of an experiment: its campaigns as rankings, and a fingerprint of the input."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

import msgspec

from streams.core.methods.rankings import Rankings
from streams.errors import ParameterError, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from streams.wire.events import Judgment


class LogSource(msgspec.Struct, frozen=True, kw_only=True):
    """Which log a result is about. `sha256` is over the rankings as read, independent of the file format."""

    file: str
    sha256: str
    rankings: int
    campaigns: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Log:
    """The rankings of each campaign, in order of campaign name.

    >>> from streams.wire.events import EPOCH, Judgment
    >>> one = Judgment(id="1", campaign="c", segment="s", judge="j", systems=("a", "b"), ranks=(2, 1), at=EPOCH)
    >>> log = Log.of([one], file="log.csv")
    >>> log.source.rankings, log.source.campaigns, log.source.sha256[:8]
    (1, ('c',), '9e6adacc')
    """

    source: LogSource
    campaigns: Mapping[str, Rankings]

    @classmethod
    def of(cls, judgments: Iterable[Judgment], *, file: str, only: Sequence[str] = ()) -> Log:
        """Group rankings by campaign, optionally `only` some. Direct assessments and repeated ids are left out."""
        by_campaign: dict[str, dict[str, Judgment]] = {}
        for judgment in judgments:
            if judgment.ranks is not None:
                by_campaign.setdefault(judgment.campaign, {}).setdefault(judgment.id, judgment)
        for name in only:
            if name not in by_campaign:
                raise ParameterError(f"no campaign {name!r} in the log; {suggestion(name, by_campaign)}")
        chosen = {name: list(by_campaign[name].values()) for name in sorted(by_campaign) if not only or name in only}
        if not chosen:
            raise ParameterError(f"{file}: the log has no rankings, and experiments need rankings")
        digest = sha256()
        for name, log in chosen.items():
            for one in log:
                digest.update(msgspec.json.encode((name, one.segment, one.judge, one.systems, one.ranks)))
        return cls(
            source=LogSource(
                file=file,
                sha256=digest.hexdigest(),
                rankings=sum(map(len, chosen.values())),
                campaigns=tuple(chosen),
            ),
            campaigns={name: Rankings.of(log) for name, log in chosen.items()},
        )
