"""From a file to rows: decompression, the first bytes, tables and JSON documents."""
