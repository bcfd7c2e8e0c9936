# SPDX-License-Identifier: GPL-2.0-only
"""The module on a kernel whose memory cgroups are disabled, as some machines boot to save their
counting: there is none to ask or to charge, and all the rest is as ever."""

import pytest

from conftest import NIGHT_ON_SECOND, need
from one_boot import boot, result, verdict_on

pytestmark = pytest.mark.guest

# A file in place, and budgets; frames of our own; both in the pool.
TESTS = ["cache_says_where_a_page_stands", "cache_budgets_are_bounded",
         "cache_swap_keeps_what_is_cached", "cache_shares_within_a_quota",
         "load_keeps_to_rlimit_memlock", "why_tells_where_a_page_is",
         "pool_takes_all_but_the_first_frames_of_a_hoarder"]


@pytest.mark.parametrize("kernel", NIGHT_ON_SECOND)
def test_nothing_needs_memory_cgroups(kernel, tmp_path):
    """One boot without them, in which there is no folder of theirs."""
    need(kernel)
    script = ("insmod /hipec/hipec.ko pool_mb=2 backoff_ms=0 others_us=10000 || exit 1; "
              "cat /proc/cgroups >/results/cgroups.txt; "
              f"hipec-guest-test {' '.join(TESTS)} >/results/tests.txt 2>&1")
    guest = boot(kernel, tmp_path, script, "no-memcg", {}, "cgroup_disable=memory kmemleak=off")
    assert guest.verdict == "ok"
    memory = [line.split() for line in result(guest, "cgroups.txt").splitlines()
              if line.startswith("memory")]
    assert not memory or memory[0][-1] == "0"
    for name in TESTS:
        verdict_on(guest, "tests.txt", name)
    assert guest.status == 0, guest.output
