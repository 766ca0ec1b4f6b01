"""Bytes and events: types, decoding, scanning, topics and schemas."""
