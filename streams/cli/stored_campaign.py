"""The part that commands on a running campaign share: options, reading from Redis, rows and a summary."""

from __future__ import annotations

from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from streams.cli.options import with_settings
from streams.cli.terminal import refuse_combination, safe
from streams.errors import JudgestreamError
from streams.wire.quarantine import describe_quarantine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import msgspec
    from rich.text import Text

    from streams.core.campaign.read_only import ReadOnlyCampaign
    from streams.reports.views import CampaignView
    from streams.settings import Settings
    from streams.stores.redis.store import RedisStore
    from streams.wire.leaderboard import BoardOutlook


def view_options(
    function: Callable[..., None], *, servers: Sequence[str] = ("redis", "namespace")
) -> Callable[..., None]:
    """Add the argument CAMPAIGN, --json, --csv and the settings of the servers to a command."""
    options = (
        click.argument("campaign"),
        click.option("--json", "as_object", is_flag=True, help="Print one JSON object."),
        click.option("--csv", "as_table", is_flag=True, help="Print CSV."),
        with_settings(*servers),
    )
    decorated = _explaining_quarantine(function)
    for option in reversed(options):
        decorated = option(decorated)
    return decorated


def _explaining_quarantine(function: Callable[..., None]) -> Callable[..., None]:
    @wraps(function)
    def run(settings: Settings, *, campaign: str, **chosen: Any) -> None:
        with open_store(settings) as store, explained_quarantine(store, campaign):
            function(settings, campaign=campaign, **chosen)

    return run


@contextmanager
def explained_quarantine(store: RedisStore, name: str) -> Iterator[None]:
    """If a quarantined campaign can't be shown, raise an error that says what to do. The cause may be the same."""
    try:
        yield
    except (click.ClickException, click.exceptions.Exit, JudgestreamError):
        raise
    except Exception as error:
        meta = store.read_meta(name)
        if meta is None or meta.status.quarantine is None:
            raise
        text = describe_quarantine(name, meta.status.quarantine)
        raise JudgestreamError(f"{name} can't be shown, because {text}") from error


@contextmanager
def open_store(settings: Settings) -> Iterator[RedisStore]:
    """Connect to Redis, for reading only."""
    from streams.stores.redis.store import RedisStore

    store = RedisStore(settings.redis, namespace=settings.namespace)
    try:
        yield store
    finally:
        store.close()


def load_stored_campaign(store: RedisStore, settings: Settings, name: str) -> ReadOnlyCampaign:
    """Load a campaign. If it does not exist, the error suggests a similar name."""
    from streams.cli.log_partitions import name_partitions
    from streams.reports.views import load_campaign

    return load_campaign(store, name, partitions=name_partitions(settings))


def read_campaign(settings: Settings, name: str, *, as_object: bool, as_table: bool) -> ReadOnlyCampaign:
    """Check the output options, then load a campaign."""
    refuse_combination(json=as_object, csv=as_table)
    with open_store(settings) as store:
        return load_stored_campaign(store, settings, name)


def echo_rows(
    campaign: str,
    name: str,
    rows: Sequence[msgspec.Struct],
    kind: type[msgspec.Struct],
    *,
    as_object: bool,
) -> None:
    """Print rows for a program: one JSON object, or CSV."""
    from streams.cli.outputs import structs_as_csv
    from streams.wire.events import encode

    if as_object:
        click.echo(encode({"campaign": campaign, name: rows}))
    else:
        click.echo(structs_as_csv(kind, rows), nl=False)


def summary(view: CampaignView, outlook: BoardOutlook | None) -> list[Text]:
    """Return a few lines on the progress of a campaign, and on what its next line needs."""
    from rich.text import Text

    budget = f" of {view.budget:,}" if view.budget is not None else ""
    withdrawn = f" ({len(view.withdrawn):,} withdrawn)" if view.withdrawn else ""
    excluded = f" ({view.excluded:,} excluded)" if view.excluded else ""
    not_counted = "".join(
        f"; {count:,} {what}"
        for count, what in ((view.duplicates, "duplicate"), (view.rejected, "rejected"), (view.held, "held"))
        if count
    )
    trouble = [] if view.quarantine is None else [describe_quarantine(view.campaign, view.quarantine)]
    return [
        Text.assemble((view.campaign, "bold"), f"  {view.label}", (f", {view.model}, matches by {view.policy}", "dim")),
        Text.assemble(
            f"{view.judgments:,}{budget} judgments",
            (f" of {view.systems:,} systems{withdrawn} by {view.judges:,} judges{excluded}", "dim"),
            (f" on {view.segments:,} segments{not_counted}", "dim"),
        ),
        *(Text(safe(line), "color(166)") for line in trouble),
        *([] if outlook is None else [Text(safe(outlook.message))]),
    ]


def unknown_last(value: float | None) -> float:
    """Return a sort key that orders unknown values last."""
    return float("inf") if value is None else value
