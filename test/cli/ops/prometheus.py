# SPDX-License-Identifier: GPL-2.0-only
"""The text format of Prometheus, version 0.0.4, read more strictly than its own parser
does: each family has one HELP, one TYPE and then its samples, in one piece."""

import re

from prometheus_client.parser import text_string_to_metric_families

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? (-?\d+)")
ESCAPED = {r"\\": "\\", r"\"": '"', r"\n": "\n"}


def labels_of(text):
    """{name: value}"""
    pairs = re.findall(LABEL, text or "")
    found = {}
    for pair in pairs:
        name, _, value = pair.partition("=")
        assert name not in found, f"{name} twice: {text}"
        found[name] = re.sub(r'\\["\\n]', lambda m: ESCAPED[m[0]], value[1:-1])
    return found


def read(text):
    """{name of a metric: (type, help, {labels, sorted: value})}"""
    assert text.endswith("\n")
    families, name = {}, None
    lines = iter(text[:-1].split("\n"))
    for line in lines:
        if line.startswith("# "):
            head = re.fullmatch(rf"# HELP ({NAME}) (\S.*)", line)
            assert head and head[1] not in families, line
            name = head[1]
            kind = re.fullmatch(rf"# TYPE {name} (counter|gauge)", next(lines))
            assert kind and (kind[1] == "counter") == name.endswith("_total"), name
            families[name] = (kind[1], head[2], {})
            continue
        sample = SAMPLE.fullmatch(line)
        assert sample and sample[1] == name, line
        key = tuple(sorted(labels_of(sample[2]).items()))
        assert key not in families[name][2], line
        families[name][2][key] = int(sample[3])
    others = {sample.name: {} for family in text_string_to_metric_families(text)
              for sample in family.samples}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            others[sample.name][tuple(sorted(sample.labels.items()))] = sample.value
    assert others == {key: samples for key, (_, _, samples) in families.items() if samples}
    return families
