# SPDX-License-Identifier: GPL-2.0-only
"""hipec trace make and info, against the models of docs/user/traces.md in Python."""

import json
import random
import re
import subprocess
import sys

import pytest

import trace_models as models
from conftest import ROOT
from test_traces import DOC, hipec

sys.path.insert(0, str(ROOT))
from bench.lib import models as bench_models  # noqa: E402

pytestmark = pytest.mark.usefixtures("quick_start")


@pytest.fixture(scope="module", autouse=True)
def built():
    subprocess.run(["make", "-s", "-C", ROOT, "build/asan/hipec"], check=True)


def make(kind, *args):
    done = hipec("trace", "make", kind, *args)
    assert done.returncode == 0, done.stderr
    return models.read_text(done.stdout.decode())[0]


RECIPES = [
    ("loop", {"pages": 100, "accesses": 1030, "writes": 40, "seed": 1}),
    ("loop", {"pages": 7, "accesses": 30, "run": 20}),
    ("sequential", {"pages": 1000, "accesses": 700, "writes": 50, "run": 9, "seed": 2}),
    ("sequential", {"pages": 3, "accesses": 20, "run": 5}),
    ("zipf", {"pages": 300, "accesses": 500, "writes": 10, "seed": (1 << 64) - 1}),
    ("zipf", {"pages": 1, "accesses": 3}),
    ("zipf", {"pages": 50, "accesses": 300, "skew": 0, "writes": 100}),
    ("zipf", {"pages": 50, "accesses": 300, "skew": 4000}),
    ("zipf", {"pages": 333, "accesses": 300, "skew": 677, "seed": 5}),
    ("btree", {"pages": 130, "accesses": 501, "fanout": 5, "writes": 30}),
    ("btree", {"pages": 130, "accesses": 500, "fanout": 2, "skew": 990}),
    ("btree", {"pages": 2, "accesses": 5, "writes": 50}),
    ("mixed", {"pages": 301, "accesses": 900, "run": 7, "writes": 20, "seed": 4}),
    ("mixed", {"pages": 40, "accesses": 300, "run": 50, "scan": 10, "skew": 500}),
    ("mixed", {"pages": 1, "accesses": 5, "scan": 100}),
    ("mixed", {"pages": 9, "accesses": 30, "scan": 100, "run": 3}),
    ("shift", {"pages": 200, "accesses": 600, "writes": 20}),
    ("shift", {"pages": 50, "accesses": 300, "set": 30, "phase": 40, "seed": 3}),
]


@pytest.mark.parametrize("kind, recipe", RECIPES)
def test_a_seed_gives_what_the_document_says(kind, recipe):
    options = [word for key, value in recipe.items()
               for word in (f"--{key}", f"{value / 1000:g}" if key == "skew" else value)]
    model = {"working" if key == "set" else key: value for key, value in recipe.items()}
    want = models.make(kind, **model)
    assert make(kind, *options) == models.plain(want)
    assert len(want) == recipe["accesses"]


def test_a_number_that_would_come_too_often_is_drawn_again(monkeypatch):
    """One in some thousands, where the sum of the weights is large."""
    drawn = []
    bits = models.Random.bits
    monkeypatch.setattr(models.Random, "bits", lambda self: drawn.append(1) or bits(self))
    want = models.make("zipf", 60000, 8000, skew=0, seed=4)
    assert len(drawn) > 59999 + 8000
    assert make("zipf", "--pages", 60000, "--accesses", 8000, "--skew", 0, "--seed", 4) == \
        models.plain(want)


def test_kinds_have_the_shape_that_they_are_for():
    """Shares, which the model could have wrong as well."""
    zipf = make("zipf", "--pages", 64, "--accesses", 30000, "--seed", 9)
    counts = sorted((sum(a[0] == page for a in zipf) for page in range(64)), reverse=True)
    harmonic = sum(1 / i for i in range(1, 65))
    for rank in (1, 2, 8):
        assert counts[rank - 1] == pytest.approx(30000 / harmonic / rank, rel=0.1)
    mixed = make("mixed", "--pages", 200, "--accesses", 20000, "--scan", 30, "--run", 10)
    assert sum(page >= 100 for page, *_ in mixed) / 20000 == pytest.approx(0.3, rel=0.1)
    tree = make("btree", "--pages", 111, "--accesses", 3000, "--fanout", 10, "--writes", 50)
    assert [page == 0 for page, *_ in tree] == [True, False, False] * 1000
    assert {page for page, *_ in tree[1::3]} == set(range(1, 11))
    assert {page for page, *_ in tree[2::3]} == set(range(11, 111))
    assert not any(w for i in (0, 1) for _, w, *_ in tree[i::3])
    assert sum(w for _, w, *_ in tree[2::3]) == pytest.approx(500, rel=0.15)


def plain_text(kind, *args):
    done = hipec("trace", "make", kind, *args)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def test_programs_of_the_paper_touch_what_ours_in_bench_do():
    """join.c: the inner page, then the outer ones, each pass; smpeg.c: each page once; rdr.c, by
    bench/lib/models.py, whose levels are the hints."""
    sweeps = models.plain((page, False) for page in [9, *range(9)] * 2)
    assert make("nlj", "--pages", 9, "--passes", 2) == sweeps
    assert make("nlj", "--pages", 9, "--passes", 2, "--accesses", 12) == sweeps[:12]
    assert plain_text("smpeg", "--pages", 7) == "r 0 7\n"
    assert plain_text("smpeg", "--pages", 7, "--writes", 100) == "w 0 7\n"
    retrieval = bench_models.Retrieval(3)
    want = [(page, False, retrieval.level(page), 0) for pages in retrieval.lookups(300)
            for page in pages]
    assert models.read_text(plain_text("rdr", "--pages", 15, "--lookups", 300))[0] == want
    assert models.read_text(plain_text("rdr", "--pages", 15, "--lookups", 300, "--accesses",
                                       100))[0] == want[:100]
    assert plain_text("rdr", "--pages", 15, "--lookups", 9, "--seed", 1997) == \
        plain_text("rdr", "--pages", 15, "--lookups", 9) != \
        plain_text("rdr", "--pages", 15, "--lookups", 9, "--seed", 1)


def test_programs_have_the_papers_sizes():
    """16 MB of an outer relation and 2 KB, 32 tuples, of an inner one; 16 MB of index and 64 MB of
    data; 4.17 MB of video."""
    assert plain_text("nlj") == "r 4096\n" + "r 0 4097\n" * 31 + "r 0 4096\n"
    assert plain_text("smpeg") == "r 0 1068\n"
    last = plain_text("rdr", "--lookups", 1).strip().split("\n")[-1]
    assert int(last.split()[1]) >= 4096


def test_units_of_pages_are_1024_and_files_are_binary_where_they_are_called_so(tmp_path):
    """Those of accesses are 1000."""
    done = hipec("trace", "make", "loop", "--pages", "2k", "--accesses", "1M", "a.trace",
                 cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    data = (tmp_path / "a.trace").read_bytes()
    assert len(data) < 100 and data[:16] == models.MAGIC
    told = json.loads(hipec("trace", "info", "--json", "a.trace", cwd=tmp_path).stdout)[0]
    assert (told["accesses"], told["pages"]) == (1_000_000, 2048)
    assert told["reuse_distance"] == {q: 2047 for q in ("10", "25", "50", "75", "90", "99", "100")}


@pytest.mark.parametrize("args, words", [
    ((), "hipec trace: make: want one of loop, sequential, zipf, btree, mixed, shift, "
     "nlj, rdr, smpeg\n"),
    (("x",), "hipec trace: make: want one of loop, sequential, zipf, btree, mixed, shift, "
     "nlj, rdr, smpeg, not 'x'\n"),
    (("loop",), "hipec trace: make: want --pages and --accesses\n"),
    (("loop", "--pages", "0"), "hipec trace: --pages: want a number from 1 to 67108864, not '0'\n"),
    (("loop", "--pages", "1x"), "hipec trace: --pages: want a number from 1 to 67108864, not '1x'\n"),
    (("loop", "--pages", "1kk"), "hipec trace: --pages: want a number from 1 to 67108864, not '1kk'\n"),
    (("loop", "--pages", "-1"), "hipec trace: --pages: want a number from 1 to 67108864, not '-1'\n"),
    (("loop", "--accesses", "5G"),
     "hipec trace: --accesses: want a number from 1 to 4294967294, not '5G'\n"),
    (("loop", "--seed", "99999999999G"), "hipec trace: --seed: want a number from 0 to "
     "18446744073709551615, not '99999999999G'\n"),
    (("loop", "--skew", "1.2345"), "hipec trace: --skew: want a number from 0 to 4 with up to three "
     "decimals, not '1.2345'\n"),
    (("loop", "--skew", "4.001"), "hipec trace: --skew: want a number from 0 to 4 with up to three "
     "decimals, not '4.001'\n"),
    (("loop", "--skew", "1."), "hipec trace: --skew: want a number from 0 to 4 with up to three "
     "decimals, not '1.'\n"),
    (("shift", "--pages", "5", "--accesses", "9", "--set", "6"),
     "hipec trace: --set: want at most --pages\n"),
    (("loop", "--pages", "5", "--accesses", "9", "a", "b"),
     "hipec trace: make: want one trace to write\n"),
    (("rdr", "--pages", "9"), "hipec trace: --pages: want a multiple of 5 for rdr: four of data for "
     "each of the index\n"),
    (("loop", "--from", "text"), "hipec trace: 'loop' has no such option\n"),
])
def test_a_wrong_recipe_is_usage(args, words):
    done = hipec("trace", "make", *args)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().startswith(words) and b"usage: hipec trace " in done.stderr


def told(accesses, *args):
    done = hipec("trace", "info", "--json", *args, "-", data=models.write_text(accesses))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)[0]


@pytest.mark.parametrize("seed", range(5))
def test_statistics_are_what_counting_gives(seed):
    """Long enough for the tree of distances to be compacted many times."""
    rng = random.Random(seed)
    pages = rng.choice([1, 3, 40, 200])
    accesses = models.plain((min(int(rng.expovariate(3 / pages)), 4 * pages) * rng.choice([1, 1, 7]),
                             rng.random() < .3) for _ in range(3000))
    got = told(accesses, "--top", 7)
    want = models.info(accesses, 7)
    assert all(top.pop("region") is None for top in got["top_pages"])
    assert {key: got[key] for key in want} == want
    assert got["top_pages"] == want["top_pages"]


def test_a_trace_without_reuse_has_no_distances():
    got = told(models.plain([(5, 1), (6, 0), (9, 0)]), "--top", 0)
    assert (got["reuse_distance"], got["reuses"], got["top_pages"]) == ({}, 0, [])
    out = hipec("trace", "info", "-", data="r 5\n").stdout.decode()
    assert "reuse distance   none: no page is accessed again\n" in out


def test_info_says_what_a_reader_noted_and_how_many_tags():
    text = "f 7 2 a\nr 1 h=1\nr 2 c=1\nr 1 h=1\nr 5\n"
    got = json.loads(hipec("trace", "info", "--json", "-", data=text).stdout)[0]
    assert (got["tags"], got["regions"], got["notes"]) == \
        (2, [{"page": 7, "pages": 2, "name": "a", "accesses": 0, "accessed_pages": 0}], "")
    got = json.loads(hipec("trace", "info", "--json", "--from", "sectors", "-",
                           data="r -1\n").stdout)[0]
    assert got["notes"] == "1 accesses to negative sectors are accesses to page 0\n"


def test_distances_are_the_frames_that_lru_needs():
    """n percent of the reuses hit with one frame more than their quantile."""
    accesses = models.plain(models.make("zipf", 100, 2000, seed=1))
    got = told(accesses)
    for q in ("25", "50", "90"):
        frames = got["reuse_distance"][q] + 1
        done = hipec("sim", "--json", "-p", "lru", "-f", f"{frames},{max(frames - 1, 1)}", "-",
                     data=models.write_text(accesses))
        enough, fewer = (row["hits"] for row in json.loads(done.stdout))
        assert fewer < int(q) / 100 * got["reuses"] <= enough


def test_json_has_the_keys_of_the_document():
    table = DOC[DOC.index("| key | holds |"):]
    keys = [key for line in re.findall(r"^\| ([a-z_, ]+) \|", table, re.M)[1:]
            for key in line.split(", ")]
    assert list(told(models.plain([(1, 0)]))) == keys
    kinds = re.findall(r"^\| `(\w+)` \| ", DOC[DOC.index("| kind | what it does |"):], re.M)
    assert f"want one of {', '.join(kinds)}\n" in hipec("trace", "make").stderr.decode()


def test_several_traces_are_told_one_after_the_other(tmp_path):
    for name in "ab":
        (tmp_path / name).write_text("r 1\n")
    out = hipec("trace", "info", "a", "b", cwd=tmp_path).stdout.decode()
    assert out.startswith("a: 1 access to 1 page\n") and "\n\nb: 1 access to 1 page\n" in out
    (tmp_path / "b").write_text("x\n")
    done = hipec("trace", "info", "--json", "a", "b", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, b"")
