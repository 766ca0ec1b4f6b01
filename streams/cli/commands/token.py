"""`judgestream token`: a new token for a client of the monitor."""

from __future__ import annotations

import sys

import click

from streams.errors import SettingError
from streams.monitor.http.tokens import SCOPES, entry_of, new_secret


@click.command(
    "token",
    epilog="""\b
Examples:
  judgestream token platform --scope publish --scope judge --campaign 'wmt26.*'
  judgestream token dashboard --scope read
  openssl rand -hex 32 | judgestream token platform --scope publish --secret -""",
)
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    type=click.Choice(SCOPES),
    multiple=True,
    required=True,
    help="What the token allows. Repeat it for several.",
)
@click.option(
    "--campaign",
    "campaigns",
    multiple=True,
    default=("*",),
    metavar="PATTERN",
    help="Name or pattern of campaigns, such as wmt26.*. Repeat it for several.  [default: *]",
)
@click.option("--secret", metavar="-", help="Read an existing secret from the standard input: --secret -")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    *, name: str, scopes: tuple[str, ...], campaigns: tuple[str, ...], secret: str | None, as_json: bool
) -> None:
    r"""Make a token NAME: print its secret for the client, and the entry for the monitor.

    The entry has a hash of the secret. Add it to JUDGESTREAM_MONITOR_TOKENS, or to the file that this setting names.
    The secret is shown only now. Several entries may have the same name, so that a secret can be replaced.

    \b
    read     read everything, where reading is closed
    judge    take, return and skip matches, and answer them
    publish  post any judgments
    operate  send commands to campaigns
    """
    from streams.wire.events import encode

    if secret not in (None, "-"):
        raise click.UsageError("--secret takes only -: type the secret, or pipe it, so that no shell history has it")
    known = _read_secret() if secret else None
    value = known or new_secret()
    try:
        entry = entry_of(name, value, scopes=dict.fromkeys(scopes), campaigns=dict.fromkeys(campaigns))
    except SettingError as error:
        raise click.UsageError(str(error)) from None
    if as_json:
        click.echo(encode({"entry": entry} if known else {"secret": value, "entry": entry}))
        return
    if known is None:
        click.echo(f"Secret, for the client (it is not shown again):\n  {value}\n")
    click.echo(f"Entry, for JUDGESTREAM_MONITOR_TOKENS or its file:\n  {entry}")


def _read_secret() -> str:
    if sys.stdin.isatty():
        text: str = click.prompt("Secret", hide_input=True)
        return text.strip()
    return sys.stdin.readline().strip()
