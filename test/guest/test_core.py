# SPDX-License-Identifier: GPL-2.0-only
"""What the product promises, in one short boot of a stock kernel: `make check` has it on 6.12. The
VM core's files, and of the guest's tests one or two for each promise. test_counts.py, test_place.py,
test_around.py and test_hostile.py are of the same ring; test_guest.py has all."""

import pytest

from conftest import CORE_KERNELS, ROOT, need
from one_boot import boot, names_of_tests, verdict_on

pytestmark = pytest.mark.core

FILES = sorted(path.stem for path in (ROOT / "test/vm/cases").glob("*.hpt"))

# README's promises: a policy is loaded and decides, in regions and in place; it is bounded in time,
# repaired and revoked; a league finds one; nothing is lost; nobody sees or pays for another's.
TESTS = """
    load_refuses_an_operand_out_of_range load_refuses_an_unknown_command load_keeps_to_rlimit_memlock
    status_shows_only_own_containers attach_keeps_to_the_descriptor_s_access_mode
    rmmod_is_refused_while_a_region_is_mapped builtin_takes_over_when_a_policy_ends
    data_survives_eviction_of_dirty_pages msync_and_fsync_write_what_is_asked_for
    truncate_gives_sigbus_and_no_growth private_copies_survive_eviction
    endless_page_fault_ends_the_policy endless_replace_ends_the_policy replace_that_gives_none_is_helped
    kill_9_while_faulting_gives_all_frames_back random_ioctls_do_no_harm
    mutated_images_are_refused_or_harmless read_error_is_sigbus_for_that_page_alone
    write_error_is_reported_and_the_data_kept cgroup_has_its_charges_back_after_close
    oom_kill_of_the_owner_gives_all_back_and_loses_no_write pool_takes_the_oldest_pages
    pool_reverses_bad_advice pool_has_all_back_when_a_task_dies
    cache_sweeps_by_read_miss_no_more_than_they_must cache_sweeps_by_map_miss_hardly_more
    cache_hears_descriptors_of_before cache_takes_what_a_cgroup_opens
    cache_takes_what_comes_into_a_directory cache_policy_that_is_ill_advised_is_revoked
    cache_policy_that_is_good_is_not_revoked cache_swap_keeps_what_is_cached
    cache_says_where_a_page_stands cache_writes_are_read_back cache_map_writes_are_read_back
    cache_shares_and_the_oldest_go cache_limit_below_the_budget_kills_nobody
    cache_file_that_outgrows_its_numbers_is_the_kernel_s cache_runs_no_policy_in_reclaim
    cache_kept_containers_of_a_user_are_bounded league_gives_a_loop_to_mru
    endless_rivals_in_all_places_are_out_after_one_page contexts_of_strangers_are_not_told
    swap_revives_a_container_whose_policy_was_revoked frames_of_the_pool_show_nothing_of_another_user
    containers_of_others_are_not_there
""".split()

SCRIPT = f"""
. /hipec/module.sh
insmod /hipec/hipec_vmtest.ko || exit 1
hpt --module /hipec/vm/*.hpt >/results/hpt.txt 2>&1
rmmod hipec_vmtest
load_module pool_mb=2 backoff_ms=0 others_us=10000 || exit 1
hipec-guest-test {' '.join(TESTS)} >/results/tests.txt 2>&1
module_is_idle
"""


@pytest.fixture(scope="session", params=CORE_KERNELS)
def core(request, tmp_path_factory):
    """One boot of a stock kernel: a Result of run.py."""
    need(request.param)
    return boot(request.param, tmp_path_factory.mktemp(f"core-{request.param}"), SCRIPT, "core", {})


def test_kernel_has_nothing_to_complain_about(core):
    """No oops, warning, hang; and the run came to its end."""
    assert (core.verdict, core.status) == ("ok", 0), core.output


@pytest.mark.parametrize("name", FILES)
def test_vm_file(core, name):
    """The VM core gives the same answers in the kernel."""
    verdict_on(core, "hpt.txt", name)


@pytest.mark.parametrize("name", TESTS)
def test_promise(core, name):
    """One test of test/guest/program/."""
    verdict_on(core, "tests.txt", name)


def test_promises_are_tests_of_the_guest_program():
    """A test that has another name now would be run by nobody."""
    names = names_of_tests("6.12")
    assert not names or set(TESTS) <= set(names)
