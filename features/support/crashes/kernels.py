"""A kernel that lacks something: system calls that are refused to this process and its children."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct

_SET_SECCOMP, _FILTER, _NO_NEW_PRIVILEGES = 22, 2, 38
_LOAD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000
_LINKAT = {"x86_64": 265, "aarch64": 37}
LACKS = {
    "has no openat2": (437, errno.ENOSYS),
    "forbids openat2": (437, errno.EPERM),
    "makes no hard links": (_LINKAT.get(platform.machine(), 265), errno.EPERM),
}


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def lacking(what: str) -> None:
    """From here on one system call fails, in this process and all that it starts."""
    number, error = LACKS[what]
    lines = (
        (_LOAD, 0, 0, 0),
        (_JUMP_IF_EQUAL, 0, 1, number),
        (_RETURN, 0, 0, _FAIL | error),
        (_RETURN, 0, 0, _ALLOW),
    )
    text = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *line) for line in lines))
    program = _Program(len(lines), ctypes.addressof(text))
    libc = ctypes.CDLL(None, use_errno=True)
    for code in (
        libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0),
        libc.prctl(_SET_SECCOMP, _FILTER, ctypes.byref(program)),
    ):
        assert code == 0, os.strerror(ctypes.get_errno())
