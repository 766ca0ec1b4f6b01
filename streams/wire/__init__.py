"""Bytes and events: the types of every topic, decoding, and the schemas."""
