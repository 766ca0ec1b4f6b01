"""Kernels as machine code in a file beside their source, loaded without numba.

Importing numba takes longer than rating a long log. So the code that numba made of a kernel is kept in `__pycache__`,
like the bytecode of a module, and llvmlite loads it. A file belongs to one source, one processor, and one version of
numba and llvmlite. If a file is missing or bad it is made again. If that fails too, numba compiles as usual.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streams.compiler.machine_function import DATA, SHAPE, knows_arrays, machine_function, parse
from streams.compiler.object_files import (
    LAYOUT,
    BadObjectFile,
    ObjectFile,
    StoredFunction,
    read_object_file,
    write_object_file,
)
from streams.errors import JudgestreamError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType

# Functions of numba that the code calls only to raise an error or to free memory. The kernels here do neither. Without
# numba they abort the process; if numba is imported later, it puts its own in their place.
_NEVER_CALLED = frozenset(
    {
        "NRT_Free",
        "NRT_MemInfo_call_dtor",
        "numba_do_raise",
        "numba_gil_ensure",
        "numba_gil_release",
        "numba_runtime_build_excinfo_struct",
        "numba_unpickle",
    }
)
# Functions of numba, and those of the C library that do the same for every finite number.
_SAME = {"numba_frexp": "frexp"}
# What may go wrong with a file, or with another version of numba or llvmlite, whose private names are used here.
_FAILURES = (OSError, JudgestreamError, BadObjectFile, AttributeError, LookupError, RuntimeError, TypeError, ValueError)


class LoadedKernels:
    """The functions of a module that were loaded from its file. Functions without a signature come from numba."""

    def __init__(self, functions: Mapping[str, Callable[..., Any]], compile_rest: Callable[[], ModuleType]) -> None:
        self.__dict__.update(functions)
        self._compile_rest = compile_rest

    def __getattr__(self, name: str) -> Any:
        return getattr(self._compile_rest(), name)


def load(name: str, *, digest: str, folder: Path, compile_module: Callable[[], ModuleType]) -> LoadedKernels | None:
    """Return a module from its file, which is made first if it is missing or bad. Return None if that fails."""
    if sys.platform != "linux" or not knows_arrays():
        return None
    try:
        file = _object_file(name, digest, folder)
        return LoadedKernels(_load_functions(_read_or_make(file, compile_module)), compile_module)
    except _FAILURES:
        return None


def is_stored(name: str, *, digest: str, folder: Path) -> bool:
    """Return whether the file of a module is there."""
    try:
        return sys.platform == "linux" and _object_file(name, digest, folder).exists()
    except _FAILURES:
        return False


def _object_file(name: str, digest: str, folder: Path) -> Path:
    return folder / "__pycache__" / f"{name}.{digest}.{_platform_digest()}.o"


def _read_or_make(file: Path, compile_module: Callable[[], ModuleType]) -> ObjectFile:
    try:
        return read_object_file(file)
    except (FileNotFoundError, BadObjectFile):
        content = _compile(compile_module())
        file.parent.mkdir(exist_ok=True)
        write_object_file(file, content)
        _remove_older(file)
        return content


def _remove_older(file: Path) -> None:
    name, _, platform, _ = file.name.split(".")
    for other in file.parent.glob(f"{name}.*.{platform}.o"):
        if other != file:
            other.unlink(missing_ok=True)


@cache
def _platform_digest() -> str:
    """Return a digest of the processor, the file layout, and the versions of numba and llvmlite."""
    import llvmlite
    import llvmlite.binding as llvm

    numba = find_spec("numba")
    assert numba is not None
    assert numba.origin is not None
    # Importing numba, or the package that reads installed versions, would take longer than everything else here.
    versions = (llvmlite.__version__, Path(numba.origin).with_name("_version.py").read_bytes())
    features = sorted(llvm.get_host_cpu_features().items())
    processor = (llvm.get_process_triple(), llvm.get_host_cpu_name(), features)
    return sha256(repr((LAYOUT, versions, processor)).encode()).hexdigest()[:12]


def _compile(module: ModuleType) -> ObjectFile:
    """Compile the functions that have a signature."""
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
    functions: dict[str, StoredFunction] = {}
    imports: set[str] = set()
    code = b""
    at = {f"{one}_at": _pointer_at(one) for one in by_letter.values()}
    for kernel, signature in module.SIGNATURES.items():
        parameters, answer = parse(signature)
        names, passed, kinds = [], [], []
        for number, (letter, dimensions) in enumerate(parameters):
            name, one = f"a{number}", by_letter[letter]
            names.append(name)
            kinds.append(pointer(types.intp) if dimensions else one)
            shape = "".join(f"{types.intp}_at({name}[{SHAPE}])[{axis}], " for axis in range(dimensions))
            passed.append(f"carray({one}_at({name}[{DATA}]), ({shape}))" if dimensions else name)
        source = f"def wrapper({', '.join(names)}):\n    return kernel({', '.join(passed)})\n"
        namespace: dict[str, Any] = {"kernel": getattr(module, kernel), **vars(numba), **at}
        exec(source, namespace)  # noqa: S102 - made of our own signatures
        compiled: Any = numba.cfunc((by_letter[answer] if answer else types.void)(*kinds))(namespace["wrapper"])
        library = compiled._library
        llvm_module = library._final_module
        part = library.codegen._tm.emit_object(llvm_module)
        functions[kernel] = StoredFunction(
            symbol=compiled._wrapper_name, signature=signature, begin=len(code), end=len(code) + len(part)
        )
        code += part
        for each in (*llvm_module.functions, *llvm_module.global_variables):
            if each.is_declaration and not each.name.startswith("llvm."):
                imports.add(each.name)
    return ObjectFile(functions=functions, imports=sorted(imports), code=code)


def _pointer_at(kind: Any) -> Any:
    """Return a function of numba that makes a pointer to values of a type of an address."""
    from numba import types
    from numba.extending import intrinsic

    pointer: Any = types.CPointer

    def pointer_at(typing: Any, address: Any) -> Any:  # noqa: ARG001 - numba passes both
        def convert(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

        return pointer(kind)(types.intp), convert

    return intrinsic(pointer_at)


_engines: list[Any] = []  # their code stays in memory as long as they are here


def _load_functions(content: ObjectFile) -> dict[str, Callable[..., Any]]:
    """Load object code into memory. Raise LookupError or AttributeError if a symbol is missing."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    process = ctypes.CDLL(None)
    # LLVM ends the process at a symbol that it can't find, so all are looked up first.
    for symbol in content.imports:
        if llvm.address_of_symbol(symbol) is None:
            address = process.abort if symbol in _NEVER_CALLED else getattr(process, _SAME.get(symbol, symbol))
            llvm.add_symbol(symbol, ctypes.cast(address, ctypes.c_void_p).value)
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    for function in content.functions.values():
        engine.add_object_file(llvm.ObjectFileRef.from_data(content.code[function.begin : function.end]))
    engine.finalize_object()
    _engines.append(engine)
    loaded: dict[str, Callable[..., Any]] = {}
    for name, function in content.functions.items():
        address = engine.get_function_address(function.symbol)
        if not address:
            raise LookupError(f"the object code has no function {function.symbol}")
        loaded[name] = machine_function(address, function.signature)
    return loaded
