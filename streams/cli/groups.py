"""A click group that suggests the right command after a typing error."""

from __future__ import annotations

import click

from streams.errors import suggestion

ARGUMENTS = "streams.cli.arguments"  # of the whole command line, in the `meta` of its context


class SuggestingGroup(click.Group):
    """A group that lists its commands in the order of their definition."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of the commands."""
        return list(self.commands)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or raise UsageError with the most similar name."""
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            raise click.UsageError(f"no command {args[0]!r}; {suggestion(args[0], self.list_commands(ctx))}", ctx)
        return super().resolve_command(ctx, args)
