"""Judgestream: live, trustworthy rankings from a stream of human judgments."""
