"""The walk of one batch, independent of any framework: decode, dedupe, rate, persist, emit."""
