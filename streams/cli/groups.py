"""Groups of commands that suggest the one that was probably meant."""

from __future__ import annotations

import click

from streams.errors import suggestion


class SuggestingGroup(click.Group):
    """A group that lists its commands in the order in which they are of use."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Name the commands."""
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Suggest the command that was probably meant."""
        known = self.list_commands(ctx)
        if args and args[0] not in known and not args[0].startswith("-"):
            raise click.UsageError(f"no command {args[0]!r}; {suggestion(args[0], known)}", ctx)
        return super().resolve_command(ctx, args)
