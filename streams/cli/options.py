"""Options that commands share, and settings as flags of a command."""

from __future__ import annotations

from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args, get_origin, get_type_hints

import click
import msgspec

from streams.errors import SettingError
from streams.settings import SECRETS, Settings, load

if TYPE_CHECKING:
    from collections.abc import Callable


def timeout_option(seconds: float, help_text: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return the option --timeout, with its default in seconds."""
    return click.option(
        "--timeout",
        type=click.FloatRange(min=0, min_open=True),
        default=seconds,
        show_default=True,
        metavar="SECONDS",
        help=help_text,
    )


def with_settings(*names: str, own: str = "") -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Pass the settings to a command as its first argument, and add a flag for each of the names.

    A secret has no flag, because it would appear in the shell history and in the process list. The prefix `own` is
    left out of the flags: `monitor_port` becomes `--port`.
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
            help="TOML file of settings.  [default: judgestream.toml, if it exists]",
        )(run)
        for name in reversed(names):
            assert name not in SECRETS
            decorated = click.option(
                f"--{name.removeprefix(own).replace('_', '-')}",
                name,
                metavar=_metavar(name),
                help=_help(name),
            )(decorated)
        return decorated

    return decorate


def _metavar(name: str) -> str:
    kind = get_type_hints(Settings)[name]
    if get_origin(kind) is Literal:
        return f"[{'|'.join(get_args(kind))}]"
    return {int: "INTEGER", float: "NUMBER"}.get(kind, "TEXT")


def _help(name: str) -> str:
    hint = get_type_hints(Settings, include_extras=True)[name]
    about = next((note.description for note in get_args(hint)[1:] if isinstance(note, msgspec.Meta)), "")
    default = getattr(Settings(), name)
    return f"{about}  [default: {default}]" if default != "" else str(about)
