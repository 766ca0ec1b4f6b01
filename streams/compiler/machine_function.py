"""A compiled kernel at an address, called with as little work as possible: small batches call many of them."""

from __future__ import annotations

import ctypes
import sys
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# The types in a signature, by numpy's letters. A number after the letter is the number of dimensions of an array.
_TYPES: dict[str, Any] = {
    "d": ctypes.c_double,
    "q": ctypes.c_int64,
    "i": ctypes.c_int32,
    "B": ctypes.c_uint8,
    "?": ctypes.c_bool,
}
# An array is passed as the address of its object. These are the places, in words, of its data and of its shape there.
# Numpy's binary interface promises them, after the two words that begin every object of CPython.
DATA, SHAPE = 2, 4


class Parameter(NamedTuple):
    """The type of a parameter: a number, or an array with so many dimensions."""

    letter: str
    dimensions: int


def parse(signature: str) -> tuple[list[Parameter], str]:
    """Return the parameters of a signature, and the letter of the result or nothing.

    >>> parse("d2 q -> ?")
    ([Parameter(letter='d', dimensions=2), Parameter(letter='q', dimensions=0)], '?')
    """
    arguments, _, answer = signature.partition(" -> ")
    return [Parameter(kind[0], int(kind[1:] or 0)) for kind in arguments.split()], answer


def knows_arrays() -> bool:
    """Return whether the objects of arrays are as this module expects. Another build of Python may differ."""
    array = np.zeros((2, 3))
    if object.__basicsize__ != 2 * ctypes.sizeof(ctypes.c_void_p) or sys.byteorder != "little":
        return False
    words = (ctypes.c_ssize_t * (SHAPE + 1)).from_address(id(array))
    return words[DATA] == array.ctypes.data and tuple((ctypes.c_ssize_t * 2).from_address(words[SHAPE])) == array.shape


def machine_function(address: int, signature: str) -> Callable[..., Any]:
    """Return the kernel at an address as a function.

    It raises TypeError for an array of another type or layout, which would be read wrong.
    """
    parameters, answer = parse(signature)
    types = [ctypes.c_void_p if each.dimensions else _TYPES[each.letter] for each in parameters]
    known: dict[str, Any] = {
        "call": ctypes.CFUNCTYPE(_TYPES[answer] if answer else None, *types)(address),
        "check": partial(_check, parameters),
    }
    # A loop over the arguments would take longer than most kernels, so the call is written out for each signature.
    names, passed, usual = [], [], ["True"]
    for number, (letter, dimensions) in enumerate(parameters):
        name = f"a{number}"
        names.append(name)
        passed.append(f"id({name})" if dimensions else name)
        if dimensions:
            known[f"t{number}"] = np.zeros(0, letter if letter != "q" else np.int64).dtype
            usual.append(f"{name}.dtype is t{number} and {name}.ndim == {dimensions} and {name}.flags.c_contiguous")
    given = ", ".join(names)
    source = f"def kernel({given}):\n    if not ({' and '.join(usual)}):\n        check({given})\n"
    exec(f"{source}    return call({', '.join(passed)})\n", known)  # noqa: S102 - made of our own signatures
    function: Callable[..., Any] = known["kernel"]
    return function


def _check(parameters: Sequence[Parameter], *arguments: Any) -> None:
    for (letter, dimensions), argument in zip(parameters, arguments, strict=True):
        dtype = np.dtype(letter)
        if dimensions and not (argument.dtype == dtype and argument.ndim == dimensions and argument.flags.c_contiguous):
            found = f"an array of {argument.dtype} with shape {argument.shape}"
            raise TypeError(f"{found}, but the kernel needs a contiguous array of {dtype} with {dimensions} axes")
