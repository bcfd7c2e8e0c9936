#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Print the device's structs and numbers for ctypes, from its header.

    abi.py module/include/uapi/hipec.h VERSION >hipec/_abi.py
"""

import re
import sys

STRUCTS = ["exit", "counters", "load", "status", "query"]
TYPES = {"__u32": "c_uint32", "__s32": "c_int32", "__u64": "c_uint64", "__s64": "c_int64",
         "char": "c_char"}


def numbers(header):
    """{name: value} of what is defined as a number."""
    return {name: int(value, 0) for name, value in
            re.findall(r"^#define HIPEC_(\w+) \(?(0x[0-9a-f]+|\d+)\b(?!.*<<)", header, re.M)}


def fields(header, name):
    """[(field, its type)]"""
    if name == "counters":
        rows = re.search(r"#define HIPEC_COUNTERS\(X\)(.*?[^\\])\n", header, re.S)[1]
        return [(field, "c_uint64") for field in re.findall(r"(?:X|HIPEC_GAP)\((\w+)", rows)]
    body = re.search(rf"^struct hipec_{name} \{{\n(.*?)^\}};", header, re.S | re.M)[1]
    found = []
    for kind, field, size in re.findall(r"^\t(struct hipec_\w+|\w+) (\w+)(?:\[(\w+)\])?;", body,
                                        re.M):
        kind = TYPES.get(kind) or kind.removeprefix("struct hipec_").capitalize()
        size = size and str(numbers(header).get(size.removeprefix("HIPEC_"), size))
        found.append((field, f"{kind} * {size}" if size else kind))
    return found


def main():
    """Print them."""
    with open(sys.argv[1], encoding="ascii") as file:
        header = file.read()
    print('# SPDX-License-Identifier: LGPL-2.1-or-later\n"""The device, from its header."""\n\n'
          f'from ctypes import Structure, {", ".join(sorted(set(TYPES.values())))}\n')
    print(f'VERSION = "{sys.argv[2]}"')
    for name, value in numbers(header).items():
        if name.startswith(("LOAD_", "HINT_", "MAX_CLUSTER", "FEATURE_")):
            print(f"{name} = {value}")
    for name in STRUCTS:
        print(f"\n\nclass {name.capitalize()}(Structure):\n"
              f'    """struct hipec_{name}"""\n    _fields_ = [')
        for field, kind in fields(header, name):
            print(f'        ("{field}", {kind}),')
        print("    ]")


if __name__ == "__main__":
    main()
