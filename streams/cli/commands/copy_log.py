"""`judgestream copy-log`: the log in another namespace, without ids and without forgotten judges."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from streams.cli.options import with_settings
from streams.cli.progress import Bar
from streams.cli.stored_campaign import open_store
from streams.cli.terminal import INTERRUPTED

if TYPE_CHECKING:
    from streams.settings import Settings


@click.command("copy-log", epilog="\b\nExample:\n  judgestream copy-log --namespace live --to-namespace live2")
@click.option("--to-namespace", "target", required=True, metavar="NAME", help="Namespace of the copy.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@with_settings("kafka", "redis", "namespace", "replication")
def command(settings: Settings, *, target: str, as_json: bool) -> None:
    """Copy the log to another namespace, without the ids of judges and without forgotten judges.

    Kafka can't delete single records. In the copy the judges are pseudonyms, and those that `judgestream campaign
    forget` has erased have names that say nothing. Workers in the new namespace compute the same leaderboards. After
    an interruption, run the same command again: it goes on, and checks what is there. See docs/privacy.md.
    """
    from streams.errors import SettingError
    from streams.replay.copying import copy_log
    from streams.settings import load
    from streams.wire.events import encode
    from streams.wire.topics import JUDGMENTS

    if target == settings.namespace:
        raise click.UsageError("--to-namespace is the namespace of the log; choose another one")
    if not settings.judge_key:
        raise click.UsageError("the key of the workers is needed for the pseudonyms; set JUDGESTREAM_JUDGE_KEY")
    try:
        new = load({name: getattr(settings, name) for name in settings.__struct_fields__} | {"namespace": target})
    except SettingError as error:
        raise click.UsageError(f"--to-namespace: {error}") from None
    with open_store(settings) as store, Bar(total=None) as bar:

        def progress(step: str, done: int, total: int) -> None:
            bar.describe(f"{step}, {done:,} of {total:,} records")
            bar.complete(done)

        try:
            counts, erasure = copy_log(settings, new, store, progress=progress)
        except KeyboardInterrupt:
            click.echo("Stopped. Run the same command again to go on.", err=True)
            sys.exit(INTERRUPTED)
    replaced = erasure.counts
    topic = JUDGMENTS.within(target)
    if as_json:
        figures = {"topic": topic, "records": counts.records, "there": counts.there, "sent": counts.sent}
        more = {"ids": replaced.ids, "forgotten": replaced.forgotten, "emptied": replaced.emptied}
        click.echo(encode(figures | more | {"moved": counts.moved}))
        return
    click.echo(
        f"✓ {topic} has all {counts.records:,} records: {counts.sent:,} sent, {counts.there:,} were there and are "
        f"right; {replaced.ids:,} ids became pseudonyms, {replaced.forgotten:,} records of forgotten judges got other "
        f"names, {replaced.emptied:,} records that no campaign has are left out"
    )
    if counts.moved:
        click.echo(f"  records have other offsets in the copy of: {', '.join(counts.moved)}")
    click.echo(f"  Next: start workers with --namespace {target}, compare, and delete the old topics (docs/privacy.md)")
