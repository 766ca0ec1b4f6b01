"""Settings as flags: each command names the settings that it takes, and gets the one frozen object."""

from __future__ import annotations

from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args, get_origin, get_type_hints

import click
import msgspec

from streams.errors import SettingError
from streams.settings import SECRETS, Settings, load

if TYPE_CHECKING:
    from collections.abc import Callable


def with_settings(*names: str, own: str = "") -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the settings as its first argument, with flags for some of them.

    A secret has no flag: it would stand in the shell's history and in the list of processes. What the command's
    `own` settings begin with is left out of their flags.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        @wraps(function)
        def run(*args: object, config: Path | None, **options: object) -> None:
            flags = {name: options.pop(name) for name in names}
            try:
                settings = load(flags, file=config)
            except SettingError as error:
                raise click.UsageError(str(error)) from None
            function(settings, *args, **options)

        decorated: Callable[..., None] = click.option(
            "--config",
            type=click.Path(path_type=Path, dir_okay=False),
            metavar="FILE",
            help="TOML file of settings; default: judgestream.toml, if there is one here.",
        )(run)
        for name in reversed(names):
            assert name not in SECRETS
            decorated = click.option(
                f"--{name.removeprefix(own).replace('_', '-')}",
                name,
                metavar="VALUE",
                help=_help(name),
                show_default=False,
            )(decorated)
        return decorated

    return decorate


def _help(name: str) -> str:
    hint = get_type_hints(Settings, include_extras=True)[name]
    notes = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    about = next((note.description for note in notes if isinstance(note, msgspec.Meta) and note.description), "")
    default = getattr(Settings(), name)
    return f"{about} [default: {default}]" if default != "" else about
