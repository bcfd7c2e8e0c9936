# SPDX-License-Identifier: GPL-2.0-only
"""The Python package as a wheel: what pip asks for with `pip install .` (PEP 517, 427). A wheel is
a zip of the package, beside three files about it; nothing is compiled, so it is for any machine."""

import base64
import hashlib
import pathlib
import re
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT / "userlib/lib/python"
METADATA = """\
Metadata-Version: 2.1
Name: hipec
Version: {version}
Summary: Application-chosen page replacement: containers, policies on traces
License: LGPL-2.1-or-later
Requires-Python: >=3.9
Description-Content-Type: text/plain

{description}
"""
WHEEL = "Wheel-Version: 1.0\nGenerator: hipec\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
DATE = (1980, 1, 1, 0, 0, 0)    # of all that is in it: the same sources make the same bytes


class UnsupportedOperation(Exception):
    """What pip is told where there is no such thing."""


def version():
    """Of the Makefile."""
    return re.search(r"^VERSION := (.*)", (ROOT / "Makefile").read_text(), re.M)[1]


def contents():
    """{name in the wheel: bytes}"""
    found = {f"hipec/{path.name}": path.read_bytes() for path in sorted(SOURCE.glob("hipec/*"))
             if path.suffix == ".py" or path.name == "py.typed"}
    found["hipec/_abi.py"] = subprocess.run(
        [sys.executable, SOURCE / "abi.py", ROOT / "module/include/uapi/hipec.h", version()],
        capture_output=True, check=True).stdout
    about = f"hipec-{version()}.dist-info"
    text = re.search(r'"""(.*?)"""', found["hipec/__init__.py"].decode(), re.S)[1]
    found[f"{about}/METADATA"] = METADATA.format(version=version(), description=text).encode()
    found[f"{about}/WHEEL"] = WHEEL.encode()
    found[f"{about}/LICENSE"] = (ROOT / "COPYING.LESSER").read_bytes()
    rows = [f"{name},sha256={digest(data)},{len(data)}" for name, data in found.items()]
    found[f"{about}/RECORD"] = "\n".join([*rows, f"{about}/RECORD,,", ""]).encode()
    return found


def digest(data):
    """As a wheel's RECORD has it."""
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Write the wheel. Return: its name. pip names the arguments."""
    del config_settings, metadata_directory
    name = f"hipec-{version()}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in contents().items():
            info = zipfile.ZipInfo(path, DATE)
            info.external_attr = 0o644 << 16
            wheel.writestr(info, data, zipfile.ZIP_DEFLATED)
    return name


def build_sdist(sdist_directory, config_settings=None):
    """A source archive of the package alone would lack the header that it is made from."""
    del sdist_directory, config_settings
    raise UnsupportedOperation("the sources are the whole project's")
