"""libisoproof through ctypes: which library, its functions, its errors.

Structures that can grow begin with their size.  The library fills no more of them than that and takes defaults for the
rest, so that this package works with newer libraries than it was written for.
"""
from __future__ import annotations

import ctypes
import ctypes.util
import os
import threading
from ctypes import CFUNCTYPE, POINTER, Structure, byref, c_bool, c_char, c_char_p, c_double, c_int, c_int64, c_size_t
from ctypes import c_uint, c_uint32, c_uint64, c_void_p
from typing import Any, Callable, Optional


class IsoproofError(Exception):
    """A call failed: `code` is the kind ("bad-input", "io", ...), the message says what and where."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Error(Structure):
    _fields_ = [
        ("code", c_int),
        ("line", c_uint64),
        ("column", c_uint64),
        ("offset", c_int64),
        ("file", c_char * 512),
        ("message", c_char * 512),
    ]


class Sized(Structure):
    """A structure that begins with its size, which is set here once and for all."""

    def __init__(self, **values: Any) -> None:
        super().__init__(struct_size=ctypes.sizeof(type(self)), **values)


class OpenOptions(Sized):
    _fields_ = [("struct_size", c_size_t), ("format", c_char_p)]


class CheckOptions(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("levels", POINTER(c_char_p)),
        ("level_count", c_size_t),
        ("all", c_bool),
        ("anomalies", POINTER(c_char_p)),
        ("anomaly_count", c_size_t),
        ("elle_workload", c_char_p),
        ("models", POINTER(c_char_p)),
        ("model_count", c_size_t),
        ("wfr_keys", c_bool),
        ("sequential_keys", c_bool),
        ("linearizable_keys", c_bool),
        ("certificate", c_bool),
        ("stats", c_bool),
        ("duplicate_values", c_bool),
    ]


class RenderOptions(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("file", c_char_p),
        ("load_seconds", c_double),
        ("check_seconds", c_double),
    ]


class ReadOptions(Sized):
    _fields_ = [("struct_size", c_size_t), ("no_history", c_bool)]


class DrawOptions(Sized):
    _fields_ = [
        ("struct_size", c_size_t),
        ("anomaly", c_size_t),
        ("max_bytes", c_uint64),
        ("color", c_bool),
        ("unicode", c_bool),
        ("more", c_void_p),
        ("more_user", c_void_p),
        ("width", c_uint),
    ]


class LevelInfo(Structure):
    """Only ever seen through a pointer of the library: fields are added at its end."""

    _fields_ = [
        ("number", c_uint32),
        ("id", c_char_p),
        ("aliases", POINTER(c_char_p)),
        ("family", c_int),
        ("needs_times", c_bool),
        ("title", c_char_p),
        ("summary", c_char_p),
    ]


WriteFunction = CFUNCTYPE(c_bool, c_void_p, c_void_p, c_size_t)
_HANDLE, _ERROR = POINTER(c_void_p), POINTER(Error)
_WRITE = [WriteFunction, c_void_p, _ERROR]

# Name, result, arguments.
_FUNCTIONS: list[tuple[str, Any, list[Any]]] = [
    ("isoproof_version", c_char_p, []),
    ("isoproof_status_name", c_char_p, [c_int]),
    ("isoproof_error_format", c_size_t, [_ERROR, c_char_p, c_size_t]),
    ("isoproof_task_new", c_int, [_HANDLE]),
    ("isoproof_task_free", None, [c_void_p]),
    ("isoproof_task_set_threads", None, [c_void_p, c_uint]),
    ("isoproof_task_set_timeout", None, [c_void_p, c_double]),
    ("isoproof_history_open", c_int, [c_char_p, POINTER(OpenOptions), c_void_p, _HANDLE, _ERROR]),
    ("isoproof_history_free", None, [c_void_p]),
    ("isoproof_check", c_int, [c_void_p, POINTER(CheckOptions), c_void_p, _HANDLE, _ERROR]),
    ("isoproof_result_free", None, [c_void_p]),
    ("isoproof_result_write_json", c_int, [c_void_p, POINTER(RenderOptions), *_WRITE]),
    ("isoproof_document_reader_open_memory", c_int,
     [c_char_p, c_size_t, c_char_p, POINTER(ReadOptions), c_void_p, _HANDLE, _ERROR]),
    ("isoproof_document_reader_next", c_int, [c_void_p, _HANDLE, _ERROR]),
    ("isoproof_document_reader_free", None, [c_void_p]),
    ("isoproof_document_free", None, [c_void_p]),
    ("isoproof_document_write_text", c_int, [c_void_p, POINTER(DrawOptions), *_WRITE]),
    ("isoproof_document_write_svg", c_int, [c_void_p, POINTER(DrawOptions), *_WRITE]),
    ("isoproof_document_write_html", c_int, [c_void_p, POINTER(DrawOptions), *_WRITE]),
    ("isoproof_level_at", POINTER(LevelInfo), [c_size_t]),
    ("isoproof_level_find", POINTER(LevelInfo), [c_char_p]),
]

_loading = threading.Lock()
_loaded: Optional[ctypes.CDLL] = None


def _candidates() -> list[str]:
    named = os.environ.get("ISOPROOF_LIBRARY")
    if named:
        return [named]
    found = ctypes.util.find_library("isoproof")
    return [name for name in (found, "libisoproof.so.0", "/usr/local/lib/libisoproof.so.0") if name]


def _load() -> ctypes.CDLL:
    tried = []
    for name in _candidates():
        try:
            loaded = ctypes.CDLL(name)
        except OSError as problem:
            tried.append(f"{name}: {problem}")
            continue
        for function_name, result, arguments in _FUNCTIONS:
            function = getattr(loaded, function_name)
            function.restype = result
            function.argtypes = arguments
        return loaded
    raise IsoproofError(
        "io", "libisoproof was not found; install it, or name it by ISOPROOF_LIBRARY (" + "; ".join(tried) + ")")


def library() -> ctypes.CDLL:
    """The library, loaded when it is first needed."""
    global _loaded
    with _loading:
        if _loaded is None:
            _loaded = _load()
        return _loaded


def must(status: int, error: Error) -> None:
    """Raises when a call failed."""
    if status == 0:
        return
    text = ctypes.create_string_buffer(1200)
    library().isoproof_error_format(byref(error), text, len(text))
    code = library().isoproof_status_name(status).decode()
    raise IsoproofError(code, text.value.decode("utf-8", "replace"))


def written(write: Callable[[Any, Error], int]) -> bytes:
    """What a function of the library writes through its callback."""
    pieces: list[bytes] = []

    def take(_user: Any, data: int, size: int) -> bool:
        pieces.append(ctypes.string_at(data, size))
        return True

    callback, error = WriteFunction(take), Error()
    must(write(callback, error), error)
    return b"".join(pieces)


def version() -> str:
    """The version of the library."""
    return str(library().isoproof_version().decode())
