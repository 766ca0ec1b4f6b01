"""A rebuild on another machine, on a real Kafka and a real Redis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from streams.wire.events import encode
from tests.core.campaign.many_models import CAMPAIGNS, records_of
from tests.core.campaign.test_many_models import OTHER_LIBM, other_numpy
from tests.integration.test_rebuild import run_log

if TYPE_CHECKING:
    from tests.integration.stack import Stack

pytestmark = pytest.mark.integration


def test_a_rebuild_with_another_libm_finds_no_difference(stack: Stack) -> None:
    stack.publish([(name.encode(), encode(event)) for name in CAMPAIGNS for event in records_of(name)])
    run_log(stack, stack.store)
    looked = stack.command("rebuild", "--all", "--dry-run", **OTHER_LIBM, **other_numpy())
    assert looked.returncode == 0, looked.stdout + looked.stderr
    assert f"✓ {len(CAMPAIGNS)} campaigns from" in looked.stdout
