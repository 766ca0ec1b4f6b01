"""The subcommands of `judgestream`, one per file."""
