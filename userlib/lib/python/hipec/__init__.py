# SPDX-License-Identifier: LGPL-2.1-or-later
"""Application-chosen page replacement, on libhipec.

    with hipec.Container("mru", frames=131072) as container:
        with container.map("weights.bin") as weights:
            array = numpy.frombuffer(weights, dtype="f4")
            ...
        print(container.status()["counters"]["read_pages"])

A container is a policy and frames of 4096 bytes for the files that it maps. What
map() returns is an mmap.mmap, and does what that does. Where the module or the
library is not there, or does not admit the caller, Container() raises Error, which
is an OSError; available() says so before. A policy that cannot be read is an Error too.

Files that other programs use come under a policy in place, in the page cache:

    with hipec.attach("/srv/data", "scan-resistant", "2G") as attachment:
        ...
        print(attachment.status()["counters"]["faults"])

Without the module, sim() counts the faults of policies on traces:

    for row in hipec.sim("app.trace", ["lru", "mru", "opt"], frames=["25%", "512M"]):
        print(row["policy"], row["frames"], row["faults"])

and sweep() those of many policies on many traces, as a table of pyarrow.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import pathlib
from typing import Any, IO

from hipec import _abi
from hipec._attach import Attachment, attach
from hipec._error import Error
from hipec._find import policy_file
from hipec._sim import sim
from hipec._sweep import sweep

__all__ = ["Attachment", "Container", "Error", "PAGE", "__version__", "attach", "available",
           "policy_file", "query", "sim", "sweep"]

__version__: str = _abi.VERSION

PAGE = 4096     # bytes of a page, and of a frame
# Of hints; see the constants of the same names in <linux/hipec.h>.
HINT_NONE, HINT_SYNCH = _abi.HINT_NONE, _abi.HINT_SYNCH
HINT_REPLACE, HINT_RECOV = _abi.HINT_REPLACE, _abi.HINT_RECOV

_LOG = 512      # bytes of what the verifier says


def _library() -> ctypes.CDLL | None:
    try:
        return ctypes.CDLL("libhipec.so.0")
    except OSError:
        return None


_lib = _library()


def _call(name: str, *args: Any, text: str = "") -> int:
    """A function of libhipec; its answer, unless that is an error."""
    if not _lib:
        raise Error(2, "libhipec.so.0 is not installed")
    got: int = getattr(_lib, name)(*args)
    if got < 0:
        raise Error(-got, f"{name}: {text or os.strerror(-got)}")
    return got


def _open() -> int:
    try:
        return _call("hipec_open")
    except Error as error:
        if error.errno != 2 or not _lib:
            raise
        raise Error(2, "/dev/hipec: the module is not loaded (modprobe hipec)") from None


def available() -> bool:
    """Whether containers can be made here, by the caller."""
    try:
        os.close(_open())
    except Error:
        return False
    return True


def query() -> dict[str, Any]:
    """The module as a whole: a dict of versions, features and frames."""
    fd = _open()
    try:
        got = _abi.Query()
        _call("hipec_query", fd, ctypes.byref(got))
    finally:
        os.close(fd)
    return _dict(got)


def _read(path: str) -> bytes:
    try:
        return pathlib.Path(path).read_bytes()
    except OSError as error:
        raise Error(error.errno, error.strerror, path) from None


def _dict(struct: ctypes.Structure) -> dict[str, Any]:
    """A struct's fields but those of its form."""
    found: dict[str, Any] = {}
    for name, *_ in struct._fields_:
        value = getattr(struct, name)
        if isinstance(value, ctypes.Structure):
            value = _dict(value)
        elif isinstance(value, bytes):
            value = value.decode("ascii", "replace")
        if name not in ("size", "flags", "reserved"):
            found[name] = value
    return found


class Container:
    """A policy and frames, for the files that map() maps.

    policy   the name of a shipped one, a .hpo file, or None: what the module does by itself
    frames   pages of its own, locked memory; or, with share=True, at most so many of the
             pool's
    cluster  most pages of one read; 0: the default

    Raises Error: the module or the library is not there or does not admit the caller, the
    policy cannot be read or is refused, or there are not so many frames. To be closed, or
    used in a with block.
    """

    def __init__(self, policy: str | None, frames: int, share: bool = False,
                 cluster: int = 0) -> None:
        self._fd = -1
        path = policy_file(policy) if policy else None
        self._fd = _open()
        try:
            self._load(path, frames, share, cluster)
        except Error:
            self.close()
            raise

    def _load(self, path: str | None, frames: int, share: bool, cluster: int) -> None:
        image = _read(path) if path else b""
        log = ctypes.create_string_buffer(_LOG)
        data = ctypes.create_string_buffer(image, len(image)) if image else None
        load = _abi.Load(flags=_abi.LOAD_SHARE if share else 0, cluster=cluster, frames=frames,
                         image=ctypes.addressof(data) if data else 0, image_size=len(image),
                         log=ctypes.addressof(log), log_size=_LOG)
        try:
            _call("hipec_load_args", self._fd, ctypes.byref(load))
        except Error as error:
            text = log.value.decode("ascii", "replace") or os.strerror(error.errno or 0)
            raise Error(error.errno, f"{path or 'no policy'}: {text}") from None

    def fileno(self) -> int:
        """The container's descriptor: it polls readable when the policy has ended."""
        return self._fd

    def map(self, file: str | os.PathLike[str] | int | IO[Any], offset: int = 0, length: int = 0,
            writable: bool = False) -> mmap.mmap:
        """Map a range of a file, by its name or as it is open; length 0: to its end.

        Returns an mmap.mmap, shared, which close() or the end of a with block unmaps.
        Raises Error: the file cannot be opened, or not be attached (offset and length are of
        whole pages; docs/user/regions.md has the other reasons)."""
        if isinstance(file, (str, os.PathLike)):
            try:
                opened = open(file, "r+b" if writable else "rb")
            except OSError as error:
                raise Error(error.errno, error.strerror, str(file)) from None
            with opened:
                return self.map(opened, offset, length, writable)
        fd = file if isinstance(file, int) else file.fileno()
        region = _call("hipec_attach", self._fd, fd, ctypes.c_uint64(offset),
                       ctypes.c_uint64(length), ctypes.c_bool(writable), None)
        try:
            return mmap.mmap(region, length or os.lseek(fd, 0, os.SEEK_END) - offset,
                             mmap.MAP_SHARED,
                             mmap.PROT_READ | (mmap.PROT_WRITE if writable else 0))
        except (OSError, ValueError) as error:
            raise Error(getattr(error, "errno", None) or 22, f"mmap: {error}") from None
        finally:
            os.close(region)

    def status(self) -> dict[str, Any]:
        """What the container did so far: a dict as an element of hipec status --json."""
        got = _abi.Status()
        _call("hipec_status", self._fd, ctypes.byref(got))
        return _dict(got)

    def set_param(self, name: str, value: int) -> None:
        """Change a parameter of the policy that runs."""
        _call("hipec_set_param", self._fd, name.encode(), ctypes.c_int64(value))

    def close(self) -> None:
        """Let go of the container; it ends with its last map."""
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1

    def __enter__(self) -> Container:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
