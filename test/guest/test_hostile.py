# SPDX-License-Identifier: GPL-2.0-only
"""Hostile clients for a minute. `make hostile` is longer, and on the debug kernel."""

import pytest

from conftest import CORE_KERNELS, need
from hostile.hostile import complaints
from one_boot import boot

pytestmark = pytest.mark.core

SECONDS = 60


@pytest.mark.parametrize("kernel", CORE_KERNELS)
def test_hostile_clients_do_no_harm(kernel, tmp_path):
    """Frames came back, nobody had to be left alive; rare operations may not have had their luck
    on a busy machine."""
    need(kernel)
    guest = boot(kernel, tmp_path, f"sh /hipec/hostile.sh {SECONDS} 1", "hostile-minute", {})
    assert (guest.verdict, guest.status) == ("ok", 0), guest.output
    assert complaints(guest.results, least=0.5) == []
