"""The state computed again from the log, compared with the stored one, and swapped in."""
