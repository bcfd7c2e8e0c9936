# SPDX-License-Identifier: GPL-2.0-only
"""What ampc does grows with the length of a source and no faster. Counted in basic
blocks (test/compiler/count.c), which a busy machine does not change. And what
bench/cost/ampc.py writes into docs/policy/ampc.md."""

import os
import pathlib
import subprocess
import sys

import pytest

from conftest import BUILD, ROOT

sys.path.append(str(ROOT))

from bench.cost import ampc as bench  # noqa: E402

pytestmark = pytest.mark.more

COUNT = BUILD / "count" / "ampc"
MAX_GROWTH = 2.2    # of a source that is twice as long


@pytest.fixture(scope="module", autouse=True)
def built():
    subprocess.run(["make", "-s", "-C", ROOT, *(path.relative_to(ROOT) for path in (COUNT, bench.AMPC))],
                   check=True)


def policy(body, declarations="", events=""):
    """One long event."""
    return ("Event Init()\n{\n\tInt v0, v1, v2, v3, v4, v5;\n\tPage page;\n\tQueue q;\n\tQueue g[4];\n"
            f"{declarations}}}\n\nEvent PageFault()\n{{\n{body}}}\n\nEvent Replace()\n{{\n"
            f"\tpage = DeQueue(q, HEAD);\n\tRelease(page);\n}}\n{events}")


def many(text, nr):
    """@text as often, with # its number, % and & numbers below 6, and @ the one before."""
    return "".join(text.replace("#", str(i)).replace("%", str(i % 6)).replace("&", str(i * 7 % 5))
                   .replace("@", str(max(i - 1, 0))) for i in range(nr))


# What once took longer than that, or might.
SHAPES = {
    "statements": lambda n: policy(many("\tv% += v&;\n", n)),
    "conditions": lambda n: policy(many("\tif (v% < &) {\n\t\tv&++;\n\t} else {\n\t\tv&--;\n\t}\n", n // 5)),
    "known conditions": lambda n: policy("\tv0 = 0;\n" + many("\tif (v0)\n\t\tv1++;\n", n // 2)),
    "conditions that go": lambda n: policy(many("\tif (v0) { return; v1++; }\n", n)),
    "loops": lambda n: policy(many("\twhile (v% < 5)\n\t\tv%++;\n", n // 2)),
    "loops in loops": lambda n: policy(many("while (v%) {" * 20 + "v&--;" + "}" * 20 + "\n" * 20, n // 20)),
    "labels": lambda n: policy(many("L#: if (v%) goto L@;\n", n)),
    "gotos backward": lambda n: policy(f"\tgoto L{n - 1};\nL0: return;\n" + many(
        "\tv% = v&;\n\tgoto L@;\n" + "L#: ;\n", n).replace("L0: ;\n", "")),
    "queues of arrays": lambda n: policy(many("\tEnQueue(page, g[v%], TAIL);\n\tv& = Length(g[v%]);\n", n // 2)),
    "dead values": lambda n: policy(many("\tv% = #;\n".replace("#", "&"), n)),
    "events": lambda n: policy(many("\tE%();\n", n), events=many("Event E#() { }\n", 6)),
    "warnings": lambda n: policy(many("\tif (v0 == v0)\n\t\tv1++;\n", n // 2)),
    "errors": lambda n: policy(many("\tx# = 1;\n", n)),
    "too many events": lambda n: policy("", events=many("Event E#() { }\n", n)),
    "too many variables": lambda n: policy(many("x#++;\n", n // 2), declarations=many("Int x#;\n", n // 2)),
    "too many errors of syntax": lambda n: policy(many("\tv0 = ;\n", n)),
    "generated": bench.generated,
}


def steps(source, tmp_path, *options):
    """Basic blocks, and the exit status."""
    path, count = tmp_path / "x.hp", tmp_path / "count"
    path.write_text(source)
    done = subprocess.run([COUNT, *options, "-Wall", "-o", tmp_path / "x.hpo", path], check=False,
                          capture_output=True, env={**os.environ, "COUNT": str(count)})
    return int(count.read_text()), done.returncode


@pytest.mark.parametrize("shape", SHAPES)
def test_twice_the_source_takes_twice_the_steps(shape, tmp_path):
    short, long = (SHAPES[shape](nr) for nr in (1500, 3000))
    assert 1.8 < len(long) / len(short) < 2.2
    few, status = steps(short, tmp_path)
    more, same = steps(long, tmp_path)
    assert status == same == (1 if "error" in shape or "too many" in shape else 0)
    assert more < MAX_GROWTH * few, f"{more / few:.2f} times the steps"


def test_assembler_text_takes_steps_by_its_length(tmp_path):
    found = []
    for nr in (1500, 3000):
        source = tmp_path / f"{nr}.hp"
        text = tmp_path / f"{nr}.hps"
        source.write_text(SHAPES["conditions"](nr))
        text.write_text(subprocess.run([COUNT, "-S", source], capture_output=True, text=True,
                                       check=True).stdout)
        subprocess.run([COUNT, "-o", tmp_path / "x.hpo", text], check=True, capture_output=True,
                       env={**os.environ, "COUNT": str(tmp_path / "count")})
        found.append(int((tmp_path / "count").read_text()))
    assert found[1] < MAX_GROWTH * found[0]


def test_fifty_thousand_lines_compile(tmp_path):
    """Within the limits; each line takes some hundreds of steps, in ten thousand as in fifty."""
    each = []
    for lines in (10000, 50000):
        source = bench.generated(lines)
        assert 0.95 * lines < source.count("\n") < 1.05 * lines
        count, status = steps(source, tmp_path)
        assert status == 0
        each.append(count / lines)
    assert each[1] < 1.1 * each[0] and each[1] < 5000, each


def test_sizes_in_the_docs_are_those_that_ampc_makes():
    """Else run `make docs`."""
    text = pathlib.Path(bench.DOCS).read_text(encoding="utf-8")
    assert text.split(bench.MARKS[0])[1].split(bench.MARKS[1])[0] == bench.sizes()


def test_optimisation_makes_nothing_longer():
    for path in bench.policies():
        plain, short = (bench.compiled(path, level) for level in ("-O0", "-O1"))
        assert plain[0].keys() == short[0].keys() and short[1] <= plain[1]
        assert all(short[0][event] <= nr for event, nr in plain[0].items())
