# SPDX-License-Identifier: GPL-2.0-only
"""The guest's tests on the debug kernel once more, which looks for memory that nobody has a
pointer to when the module is gone. Ring debug does so behind its random runs, and kunit."""

import pytest

from conftest import KUNIT_KERNELS, need
from one_boot import boot, lists_of_tests, names_of_tests, result

pytestmark = pytest.mark.night


@pytest.mark.parametrize("kernel", KUNIT_KERNELS)
def test_no_memory_is_lost(kernel, tmp_path):
    """When the module is gone, all that it had allocated is free."""
    need(kernel)
    ran = boot(kernel, tmp_path, "sh /hipec/run.sh debug && sh /hipec/last.sh", "leaks",
               lists_of_tests(names_of_tests(kernel)))
    assert (ran.verdict, ran.status) == ("ok", 0), ran.output
    assert result(ran, "kmemleak.txt") == ""
