# SPDX-License-Identifier: GPL-2.0-only
"""What hipec profile says of a trace, whatever the policy: popularity with a law of Zipf, reuse over
time, and request rate; docs/user/profile.md. All is counted once more here, in other ways."""

import collections
import json
import math
import random
import re
import subprocess

import pytest

from test_profile import ENV, HIPEC, built, counted, profile, some_trace, text_of  # noqa: F401

pytestmark = pytest.mark.more


def pattern(trace, *more, key):
    return counted("-p", "lru", "-f", 10, *more, trace=trace)["traces"][0][key]


def made(*args):
    """A generated trace, as text."""
    done = subprocess.run([HIPEC, "trace", "make", *map(str, args), "-"], check=True, text=True,
                          capture_output=True, env=ENV)
    return done.stdout


def pages_of(text):
    """Its pages, access by access."""
    for line in text.splitlines():
        _, first, *nr = line.split()
        yield from range(int(first), int(first) + int(nr[0] if nr else 1))


def test_popularity_is_what_was_counted():
    """Of each rank the accesses, and the sum up to it; the last rank is the last page."""
    trace = some_trace(5000)
    found = pattern(text_of(trace), key="popularity")
    counts = sorted(collections.Counter(page for page, _ in trace).values(), reverse=True)
    assert found["ranks"][:3] == [1, 2, 3] and found["ranks"][-1] == len(counts)
    assert found["ranks"] == sorted(set(found["ranks"]))
    assert found["accesses"] == [counts[rank - 1] for rank in found["ranks"]]
    assert found["sums"] == [sum(counts[:rank]) for rank in found["ranks"]]


def likelihood(counts, skew):
    """Its logarithm, by definition."""
    sizes = [rank ** -skew for rank in range(1, len(counts) + 1)]
    return sum(n * math.log(size / sum(sizes)) for n, size in zip(counts, sizes))


def test_the_skew_is_the_likeliest():
    """No skew near it is likelier, by sums over all ranks: of 700 pages, so hipec's are by a rule."""
    text = made("zipf", "--pages", 700, "--accesses", 60000, "--skew", 0.7)
    law = pattern(text, key="popularity")["zipf"]
    counts = sorted((n for n in collections.Counter(pages_of(text)).values() if n >= 20), reverse=True)
    assert (law["pages"], law["accesses"]) == (len(counts), sum(counts))
    assert len(counts) > 600
    skew = law["skew"]
    best = likelihood(counts, skew)
    assert best > likelihood(counts, skew - 1e-4) and best > likelihood(counts, skew + 1e-4)
    sizes = [rank ** -skew for rank in range(1, len(counts) + 1)]
    assert law["first"] == pytest.approx(sum(counts) / sum(sizes), rel=1e-5)
    sums = [0, 0]
    off = 0
    for n, size in zip(counts, sizes):
        sums = [sums[0] + n, sums[1] + law["first"] * size]
        off = max(off, abs(sums[0] - sums[1]))
    assert law["misfit"] == pytest.approx(off / sum(counts), rel=1e-4)


@pytest.mark.parametrize("pages, accesses", [(1000, 60000), (20000, 60000)])
def test_the_error_is_what_the_skew_is_off_by(pages, accesses):
    """19 times of 20: of ten traces of known skews one may be off by more."""
    off = 0
    for seed in range(2):
        for skew in (0.4, 0.6, 0.8, 1, 1.3):
            text = made("zipf", "--pages", pages, "--accesses", accesses, "--skew", skew, "--seed",
                        17 + seed)
            law = pattern(text, key="popularity")["zipf"]
            off += abs(law["skew"] - skew) > law["error"]
            assert law["error"] < 0.2 and law["misfit"] < 0.04
    assert off <= 1


def test_pages_that_are_alike_have_no_skew():
    """A loop, and chance: what counts show is within the error, and the text says no number."""
    chance = random.Random(1)
    for text in (made("loop", "--pages", 100, "--accesses", 5000),
                 "".join(f"r {chance.randrange(200)}\n" for _ in range(8000))):
        law = pattern(text, key="popularity")["zipf"]
        assert law["skew"] <= law["error"]
        done = profile("--text", "-p", "lru", "-f", 10, "-", trace=text)
        assert re.search(r"a\s+skew\s+that\s+cannot\s+be\s+told\s+from\s+0:\s+it\s+is\s+less\s+than\s+0\.\d\d",
                         done.stdout)


def test_a_few_accesses_are_no_law():
    """9 pages with 20 accesses, and many with less; then 10."""
    text = "r 0 9\n" * 20 + "r 100 500\n"
    assert pattern(text, key="popularity")["zipf"] is None
    done = profile("--text", "-p", "lru", "-f", 10, "-", trace=text)
    assert "No law of Zipf is fitted: fewer than 10 pages have 20 accesses." in done.stdout
    assert pattern(text + "r 100\n" * 19, key="popularity")["zipf"]["pages"] == 10


def test_reuse_is_by_distances_of_a_list():
    """Frames that lru needs, rounded up to a power of two, in bins of 9 accesses."""
    trace = some_trace(2100)
    rows = pattern(text_of(trace), key="reuse")
    held, expected = [], collections.Counter()
    for number, (page, _) in enumerate(trace):
        frames = None
        if page in held:
            needs = len(held) - held.index(page)
            frames = 1 << (needs - 1).bit_length()
            held.remove(page)
        held.append(page)
        expected[frames, number // 9] += 1
    assert [row["frames"] for row in rows] == [None, 1, 2, 4, 8, 16, 32, 64, 128][:len(rows)]
    assert {(row["frames"], bin): n for row in rows
            for bin, n in enumerate(row["accesses"]) if n} == expected
    assert all(len(row["accesses"]) == -(-2100 // 9) for row in rows)


def test_a_loop_needs_all_of_its_pages():
    rows = pattern("r 0 100\n" * 10, key="reuse")
    assert {row["frames"]: sum(row["accesses"]) for row in rows if any(row["accesses"])} == {
        None: 100, 128: 900}


SECOND = 10 ** 9
# Requests at 0, 1, 3 and 7 times of something, as forms write them: (text, options, unit in ns).
TIMED = {
    "csv, us": ("timestamp_us,offset,size,op\n" + "{t},0,4096,r\n", (), 1000),
    "csv, no unit": ("time,offset,size,op\n" + "{t},0,4096,r\n", (), None),
    "columns": ("{t},0,4096,r\n", ("--columns", "time=1*1000000,offset=2,size=3,op=4"), 10 ** 6),
    "columns, no unit": ("{t},0,4096,r\n", ("--columns", "offset=2,size=3,op=4,time=1"), None),
    "spc": ("0,8,4096,R,{t}.0\n", (), SECOND),
    "msr": ("{t},hm,1,Read,0,4096,99\n", (), 100),
    "alibaba": ("3,R,0,4096,{t}\n", (), 1000),
    "tencent": ("{t},0,8,0,77\n", ("--from", "tencent"), SECOND),
    "systor": ("{t}.5,0.001,R,1,0,4096\n", (), SECOND),
    "fiu": ("{t} 12 app 8 8 R 8 0 abc\n", ("--from", "fiu"), 1),
    "twitter": ("{t},abc7,3,10,1,get,0\n", ("--from", "twitter"), SECOND),
    "cos": ("{t} REST.GET.OBJECT abc 10\n", ("--from", "cos"), 10 ** 6),
    "wiki": ("1 {t}.25 http://a/b -\n", ("--from", "wiki"), SECOND),
    "lrb": ("{t} 5 100\n", ("--from", "lrb"), None),
    "fio": ("fio version 3 iolog\n" + "{t} /a read 0 4096\n", (), 1000),
    "blkparse": ("  8,0 1 1 {t}.000000000 7 Q R 8 + 8 [x]\n", (), SECOND),
}


def timed(form, times):
    """The form's header, and a line for each time."""
    lines = TIMED[form][0].splitlines(keepends=True)
    return "".join(lines[:-1]) + "".join(lines[-1].replace("{t}", str(time)) for time in times)


@pytest.mark.parametrize("form", TIMED)
def test_the_request_rate_is_by_the_clock_of_the_trace(form):
    """In its unit: the first request, the last one, and how many there are in each part."""
    times = [1000, 1001, 1003, 1007]
    _, more, ns = TIMED[form]
    rate = pattern(timed(form, times), *more, key="rate")
    unit = 1 if ns is None else ns / SECOND
    assert rate["unit"] == (None if ns is None else "s")
    start = times[0] + (0.5 if form == "systor" else 0.25 if form == "wiki" else 0)
    assert rate["first"] == pytest.approx(start * unit, rel=1e-9)
    requests = [0] * len(rate["requests"])
    for time in times:
        requests[int((time - times[0]) * unit / rate["part"] + 1e-6)] += 1
    assert rate["requests"] == requests and 256 <= len(requests) <= 512


def test_logs_need_not_be_in_order():
    """Times by chance, earlier ones than the first among them, over seven powers of ten."""
    chance = random.Random(4)
    times = [int(10 ** chance.uniform(2, 9)) for _ in range(3000)]
    rate = pattern(timed("csv, no unit", times), key="rate")
    assert len(rate["requests"]) <= 512 and sum(rate["requests"]) == 3000
    expected = collections.Counter(int((time - rate["first"]) // rate["part"]) for time in times)
    assert dict(enumerate(rate["requests"])) | {} == {
        part: expected.get(part, 0) for part in range(len(rate["requests"]))}


def test_requests_that_count_have_times_that_count():
    """A request that is issued, then queued ones: those issued have no part. A row that stands for
    three requests is three; what neither reads nor writes is none."""
    line = "  8,0 1 1 {}.000000000 7 {} R 8 + 8 [x]\n"
    rate = pattern(line.format(1, "D") + line.format(100, "Q") + line.format(109, "D") +
                   line.format(110, "Q"), key="rate")
    assert rate["first"] == 100 and sum(rate["requests"]) == 2
    rate = pattern("op_time,key,op,size,op_count\n5,a,GET,9,3\n7,b,DELETE,9,1\n9,c,SET,9,2\n", key="rate")
    assert (rate["requests"][0], rate["requests"][-1], sum(rate["requests"])) == (3, 2, 5)


@pytest.mark.parametrize("trace, why", [
    ("r 0 10\n" * 3, "no times"),
    (timed("spc", [5, 5, 5]), "all the same"),
    ("time,offset,size,op\n2024-01-01 10:00:00,0,4096,r\n2024-01-02 10:00:00,0,4096,r\n", "dates")])
def test_without_times_there_is_no_rate(trace, why):
    assert pattern(trace, key="rate") is None, why
    done = profile("--text", "-p", "lru", "-f", 10, "-", trace=trace)
    assert done.returncode == 0 and "Request rate" not in done.stdout


def test_a_time_that_was_asked_for_is_a_number():
    """Not told apart from others, a date is of no matter; asked for, it is a mistake."""
    trace = "2024-01-01,0,4096,r\n"
    done = profile("--json", "-p", "lru", "-f", 1, "--columns", "time=1,offset=2,size=3,op=4", "-", trace=trace)
    assert done.returncode == 1
    assert done.stderr == "hipec profile: -:1: want a number as time in column 1, not '2024-01-01'\n"
    done = profile("--json", "-p", "lru", "-f", 1, "--columns", "offset=2,size=3,op=4,time=9", "-", trace=trace)
    assert "-:1: want 9 columns, of which the last has the time" in done.stderr


def test_text_says_what_the_trace_does():
    """Ten requests a second for 100 s, and one at 200 s: 1,001 in 401 halves of a second. A part has
    the requests of half a second, that are ten at once."""
    times = [n // 10 for n in range(1000)] + [200]
    done = profile("--text", "-p", "lru", "-f", 10, "--from", "spc", "-", trace=timed("spc", times))
    assert done.returncode == 0 and not done.stderr
    lines = done.stdout.split("\n")
    assert all(len(line) <= 80 for line in lines)
    at = lines.index("Request rate over the trace's time; full at the most")
    assert re.fullmatch(r"4\.99\d requests per second in the mean, at most 20 in 0\.5 s", lines[at + 2])
    assert lines[at + 1].startswith("|\u2588") and lines[at + 1].endswith("|")
    at = lines.index("Reuse over time: memory that lru needs to have the page; full at 100.0 %")
    assert lines[at + 1].split()[:2] == ["first", "access"]
    assert lines[at + 2].split()[:2] == ["4", "KiB"]
    at = lines.index("Popularity of pages: shares of the accesses")
    assert lines[at + 2].split() == ["1", "page", "100.0", "%", "100.0", "%"]


def test_the_page_has_the_charts(tmp_path):
    """Of a trace with times all three; the law's ends are on its line."""
    pytest.importorskip("plotly", reason="python3-plotly is not installed: make packages")
    chance = random.Random(2)
    trace = "time,offset,size,op\n" + "".join(
        f"{n},{4096 * int(100 * chance.random() ** 2)},4096,r\n" for n in range(4000))
    (tmp_path / "t").write_text(trace)
    done = profile("-p", "lru", "-f", 10, "-o", tmp_path / "page.html", tmp_path / "t")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "page.html").read_text()
    section, = json.loads(re.search(r'id="charts">(.*?)</script>', text, re.S)[1])
    found = counted("-p", "lru", "-f", 10, trace=trace)["traces"][0]
    charts = section["charts"]
    assert [*charts][-3:] == ["reuse", "rate", "popularity"]
    pages, law = charts["popularity"]["data"]
    assert pages["x"] == found["popularity"]["ranks"] and pages["y"] == found["popularity"]["accesses"]
    zipf = found["popularity"]["zipf"]
    assert law["y"] == [zipf["first"] * rank ** -zipf["skew"] for rank in (1, zipf["pages"])]
    assert f"The nearest law of Zipf has a skew of {zipf['skew']:.2f}" in text
    assert charts["rate"]["data"][0]["y"][:-1] == [
        requests / found["rate"]["part"] for requests in found["rate"]["requests"]]
    rows = [row for row in found["reuse"] if any(row["accesses"])]
    assert len(charts["reuse"]["data"][0]["z"]) == len(rows)
    assert sum(column[0] for column in charts["reuse"]["data"][0]["z"]) == pytest.approx(100, abs=0.1)
