# SPDX-License-Identifier: GPL-2.0-only
"""Many containers, files and threads in place, in small: hipec-crowd. `make soak-size` is
larger and longer."""

import pytest

import crowd
from conftest import KERNELS, KUNIT_KERNELS, NIGHT_DEBUG, limit, need, vm
from stress import stress

pytestmark = pytest.mark.guest

SECONDS = 15


@pytest.fixture(scope="session", params=[KERNELS[0], *NIGHT_DEBUG])
def kernel(request):
    """One stock kernel, and our own."""
    need(request.param)
    return request.param


@pytest.fixture(scope="session")
def crowded(kernel):
    """One boot of @kernel: a Result of run.py."""
    seconds = SECONDS * (2 if int(vm.fact(kernel, "slower", "1")) > 1 else 1)
    return crowd.run(kernel, crowd.SMALL, seconds, 1, f"crowd-{kernel}", limit(kernel))


def test_nothing_is_lost_in_a_crowd(crowded):
    """No write, frame or allocation is lost, the module can be unloaded, and the kernel has
    nothing to complain about."""
    assert crowd.complaints(crowded) == []


def test_the_crowd_had_something_to_do(crowded, kernel):
    text = (crowded.results / "crowd.txt").read_text()
    counts = crowd.counts(text)
    least = 500     # of a slow machine
    assert counts["reads"] >= least and counts["maps"] >= least / 20
    assert counts["writes"] >= least / 10
    # A process that was killed may have read what it did not look at.
    assert 0 <= counts["reads"] + counts["maps"] - counts["checks"] <= least / 10
    assert 0 < counts["p50"] <= counts["p99"] <= counts["p99.9"]
    assert counts["p99.9"] <= counts["max"] * 17 / 16     # a step of the histogram
    _, acts = stress.counts(text)
    done = {name for name, times in acts.items() if times}
    if kernel in KUNIT_KERNELS:
        assert len(done) >= 3
    else:
        assert {"swap", "replace", "release"} <= done
    slot, = stress.slots(text)
    assert min(slot["pages_in"], slot["evictions"]) >= least / 10
