# SPDX-License-Identifier: GPL-2.0-only
"""What ends while others look at it, on a machine with two nodes of memory and a kernel that fills what
is freed with 0x6b: who uses it then dies of that, as he may not elsewhere."""

import pytest

from conftest import NIGHT_ON_SECOND, need
from one_boot import boot, verdict_on

pytestmark = pytest.mark.guest

TESTS = ["cache_touch_of_numbers_before_is_nobody_s", "cache_ends_while_others_are_counted"]

NODES = [word for node in range(2) for word in (
    "-object", f"memory-backend-ram,id=node{node},size=512M",
    "-numa", f"node,nodeid={node},cpus={node},memdev=node{node}")]


@pytest.mark.parametrize("kernel", NIGHT_ON_SECOND)
def test_nobody_uses_what_is_freed(kernel, tmp_path):
    """One boot. Each node has a CPU, without which the second does nothing."""
    need(kernel)
    script = (". /hipec/module.sh; load_module pool_mb=2 backoff_ms=0 others_us=10000 || exit 1; "
              "[ -e /sys/devices/system/node/node1/cpu1 ] || exit 1; "
              f"hipec-guest-test {' '.join(TESTS)} >/results/tests.txt 2>&1; module_is_idle")
    guest = boot(kernel, tmp_path, script, "freed", {}, "slub_debug=FZP", NODES)
    assert guest.verdict == "ok"
    for name in TESTS:
        verdict_on(guest, "tests.txt", name)
    assert guest.status == 0, guest.output
