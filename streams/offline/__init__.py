"""Rate and rank a log without servers, in a script, a notebook or a command."""
