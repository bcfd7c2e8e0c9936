#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
"""True and said savings of a program that nobody here wrote: a search for nearest
neighbours in an index that it maps (PyPI: annoy, numpy).

    nearest.py [--python PYTHON] [--frames N] [--queries N] [--samples N]

Its touches of the index are recorded (hipec trace --mmap). Each policy then runs in the
simulator, beside the same default with a sample of the pages that the module has. TRUE is what
the policy's faults save of those of a full run of the default; SAID is what a container
says of itself, with its error, by the first sample; INSIDE in how many of all samples the
true number is inside of what is said. Exit status 1 if in fewer than 95 of 100.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HIPEC = ROOT / "build/hipec"
POLICIES = ("mru", "sieve", "scan-resistant", "2q", "arc", "lirs", "s3-fifo", "lru")

# 60,000 vectors around 400 points, which are asked for by Zipf's law.
POINTS = """
import sys
import numpy
from annoy import AnnoyIndex
index = AnnoyIndex(96, "euclidean")
points = numpy.random.default_rng(1).normal(size=(400, 96)).astype("f4") * 2
random = numpy.random.default_rng(2)
def near(point):
    return points[point] + random.normal(size=96).astype("f4")
"""
BUILD = POINTS + """
index.set_seed(1)
for i in range(60000):
    index.add_item(i, near(i * 400 // 60000))
index.build(8, n_jobs=1)
index.save("index.ann")
"""
SEARCH = POINTS + """
index.load("index.ann")
share = numpy.arange(1, 401) ** -.7
for point in random.choice(400, int(sys.argv[1]), p=share / share.sum()):
    index.get_nns_by_vector(near(point), 10, search_k=400)
"""


def rows(trace, frames, salt):
    """The policies' rows by one sample."""
    done = subprocess.run(
        [HIPEC, "sim", "--json", f"--contract={salt * 0x9e3779b9 % 2 ** 32}", "-p",
         ",".join(str(ROOT / f"build/policies/{name}.hpo") for name in POLICIES), "-f", str(frames),
         trace], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def said(row):
    """(savings in percent, their error)"""
    least, most = (100 - 100 * row["faults"] / row["contract"][key]
                   for key in ("least_faults", "most_faults"))
    return (least + most) / 2, (most - least) / 2


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable, help="one that has annoy and numpy")
    parser.add_argument("--frames", type=int, default=4096)
    parser.add_argument("--queries", type=int, default=3000)
    parser.add_argument("--samples", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([options.python, "-c", BUILD], cwd=folder, check=True)
        (pathlib.Path(folder) / "search.py").write_text(SEARCH)
        subprocess.run([HIPEC, "trace", "--all", "--mmap", "-o", "search.trace", "--", options.python,
                        "search.py", str(options.queries)], cwd=folder, check=True)
        samples = [rows(f"{folder}/search.trace", options.frames, salt)
                   for salt in range(1, options.samples + 1)]
    inside = 0
    print(f"{'policy':14} {'faults':>8} {'default':>8} {'true':>7}  {'said':>16}  inside")
    for i, name in enumerate(POLICIES):
        first, mine = samples[0][i], [sample[i]["contract"] for sample in samples]
        hits = sum(c["least_faults"] <= c["default_faults"] <= c["most_faults"] for c in mine)
        default = first["contract"]["default_faults"]
        gain, error = said(first)
        words = f"{gain:+.1f} % ± {error:.1f} %"
        print(f"{name:14} {first['faults']:8} {default:8} {100 - 100 * first['faults'] / default:+6.1f} %"
              f"{words:>18}  {hits} of {len(mine)}")
        inside += hits
    return inside < .95 * len(samples) * len(POLICIES)


if __name__ == "__main__":
    sys.exit(main())
