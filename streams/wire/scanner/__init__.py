"""Blocks of JSON Lines scanned into columns, without an object for each judgment."""

from streams.compiler import Kernels

kernels = Kernels(__name__)
