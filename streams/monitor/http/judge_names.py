"""The judges who are named in requests. Their ids are replaced by pseudonyms before anything else is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from streams.core.campaign.pseudonyms import MARK, Pseudonyms, is_wire_pseudonym
from streams.monitor.http.responses import RequestError

if TYPE_CHECKING:
    from streams.wire.events import Judgment


class JudgeNames:
    """Makes pseudonyms with the key of the workers. Without a key, judges must be given by pseudonym."""

    def __init__(self, key: str) -> None:
        self._pseudonyms = Pseudonyms(key.encode())
        self.key = key

    def pseudonym(self, judge: str) -> str:
        """Return the pseudonym of a judge, as the state of a campaign has it."""
        if not self.key and not is_wire_pseudonym(judge):
            message = "this monitor has no key for pseudonyms; set JUDGESTREAM_JUDGE_KEY to the key of the workers"
            raise RequestError(503, "unavailable", message, field="judge")
        return self._pseudonyms[judge]

    def replace_in_judgment(self, judgment: Judgment) -> Judgment:
        """Return a judgment as it is published, with the pseudonym of its judge."""
        return msgspec.structs.replace(judgment, judge=MARK + self.pseudonym(judgment.judge))
