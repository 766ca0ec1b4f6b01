"""Kernels as machine code that is kept beside their source: loaded without numba, in a tenth of its time.

Numba takes half a second to load, longer than a long log takes to rate. So what it made of a kernel is kept as an
object file, like the `.pyc` of a module, and llvmlite puts it into memory. It holds for this source and this processor;
where it is missing or can't be kept, the kernel is numba's as ever.
"""

from __future__ import annotations

import ctypes
import json
import sys
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType

# A letter a type, as numpy has them; a number after it is that of an array's dimensions.
_TYPES = {"d": ctypes.c_double, "q": ctypes.c_int64, "i": ctypes.c_int32, "B": ctypes.c_uint8, "?": ctypes.c_bool}


class Function:
    """A kernel at an address; arrays are given as pointers with their shapes."""

    def __init__(self, address: int, signature: str) -> None:
        arguments, _, answer = signature.partition(" -> ")
        self._kinds = [(np.dtype(kind[0]), int(kind[1:] or 0)) for kind in arguments.split()]
        types: list[Any] = []
        for dtype, dimensions in self._kinds:
            types += [ctypes.c_void_p, *[ctypes.c_ssize_t] * dimensions] if dimensions else [_TYPES[dtype.char]]
        result: Any = _TYPES[answer] if answer else None
        self._call = ctypes.CFUNCTYPE(result, *types)(address)

    def __call__(self, *arguments: Any) -> Any:
        """Call it; an array of another form would be read wrong, so it is refused."""
        given: list[Any] = []
        for (dtype, dimensions), argument in zip(self._kinds, arguments, strict=True):
            if not dimensions:
                given.append(argument)
                continue
            if argument.dtype != dtype or argument.ndim != dimensions or not argument.flags.c_contiguous:
                found = f"{argument.dtype} of shape {argument.shape}"
                raise TypeError(f"an array of {found} where {dtype} in {dimensions} dimensions is asked for")
            given += [argument.ctypes.data, *argument.shape]
        return self._call(*given)


class Kept:
    """The functions of a module of kernels, from its object file; what has no signature is numba's."""

    def __init__(self, functions: Mapping[str, Function], rest: Callable[[], ModuleType]) -> None:
        self.__dict__.update(functions)
        self._rest = rest

    def __getattr__(self, name: str) -> Any:
        return getattr(self._rest(), name)


def load(name: str, *, digest: str, folder: Path, rest: Callable[[], ModuleType]) -> Kept | None:
    """Give a module from its object file, which is made now if it is not there; None if neither can be."""
    if sys.platform != "linux":
        return None
    file = folder / "__pycache__" / f"{name}.{digest}.{_processor()}.o"
    with suppress(OSError, AttributeError):  # a folder that can't be written; a numba that is built otherwise
        if not file.is_file():
            _keep(file, rest)
        return Kept(_functions(file.read_bytes()), rest)
    return None


def _processor() -> str:
    import llvmlite.binding as llvm

    features = sorted(llvm.get_host_cpu_features().items())
    return sha256(repr((llvm.get_process_triple(), llvm.get_host_cpu_name(), features)).encode()).hexdigest()[:12]


def _made(module: ModuleType) -> tuple[dict[str, object], bytes]:
    """Compile the functions that declare a signature; give an account of the code, and the code."""
    import numba
    from numba import types

    by_letter: dict[str, Any] = {
        "d": types.float64,
        "q": types.int64,
        "i": types.int32,
        "B": types.uint8,
        "?": types.boolean,
    }
    pointer: Any = types.CPointer
    functions: dict[str, object] = {}
    outside: set[str] = set()
    code = b""
    for name, signature in module.SIGNATURES.items():
        arguments, _, answer = signature.partition(" -> ")
        parameters: list[str] = []
        passed: list[str] = []
        kinds: list[Any] = []
        for number, kind in enumerate(arguments.split()):
            shape = [f"n{number}_{axis}" for axis in range(int(kind[1:] or 0))]
            parameters += [f"a{number}", *shape]
            passed.append(f"carray(a{number}, ({', '.join(shape)},))" if shape else f"a{number}")
            one = by_letter[kind[0]]
            kinds += [pointer(one), *[types.intp] * len(shape)] if shape else [one]
        source = f"def wrapper({', '.join(parameters)}):\n    return kernel({', '.join(passed)})\n"
        space: dict[str, Any] = {"kernel": getattr(module, name), **vars(numba)}
        exec(source, space)  # noqa: S102 - made of our own signatures
        made: Any = numba.cfunc((by_letter[answer] if answer else types.void)(*kinds))(space["wrapper"])
        library = made._library
        built = library._final_module
        part = library.codegen._tm.emit_object(built)
        functions[name] = (made._wrapper_name, signature, len(code), len(code) + len(part))
        code += part
        for each in (*built.functions, *built.global_variables):
            if each.is_declaration and not each.name.startswith("llvm."):
                outside.add(each.name)
    return {"functions": functions, "outside": sorted(outside)}, code


def _keep(file: Path, rest: Callable[[], ModuleType]) -> None:
    """Write an object in one move, in the place of those of other sources."""
    file.parent.mkdir(exist_ok=True)
    with NamedTemporaryFile(dir=file.parent, delete=False) as scratch:
        contents, code = _made(rest())
        scratch.write(json.dumps(contents).encode() + b"\n" + code)
    Path(scratch.name).replace(file)
    name, _, processor, _ = file.name.split(".")
    for other in file.parent.glob(f"{name}.*.{processor}.o"):
        if other != file:
            other.unlink(missing_ok=True)


_engines: list[Any] = []  # as long as they are here, their code is in memory


def _functions(kept: bytes) -> dict[str, Function]:
    """Put an object into memory."""
    import llvmlite.binding as llvm

    head, _, code = kept.partition(b"\n")
    contents = json.loads(head)
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    process = ctypes.CDLL(None)
    for symbol in contents["outside"]:
        if llvm.address_of_symbol(symbol) is None:
            # Without numba there is none of its ways to raise and to count references, which no kernel here goes;
            # numba puts its own in their place if it comes later.
            address = process.abort if symbol.startswith(("numba_", "NRT_")) else getattr(process, symbol)
            llvm.add_symbol(symbol, ctypes.cast(address, ctypes.c_void_p).value)
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    for _, _, begin, end in contents["functions"].values():
        engine.add_object_file(llvm.ObjectFileRef.from_data(code[begin:end]))
    engine.finalize_object()
    _engines.append(engine)
    return {
        name: Function(engine.get_function_address(symbol), signature)
        for name, (symbol, signature, _, _) in contents["functions"].items()
    }
