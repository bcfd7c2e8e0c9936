# SPDX-License-Identifier: GPL-2.0-only
"""Which tests of test/guest/program/ some kernels leave out.

The debug kernel finds wrong uses of memory, locks and lifetimes, and is several times
slower. A test is left out if it proves a number or a decision, which a stock kernel
proves, and if others take its ways through the module. The second stock kernel leaves
these to ring long. A new test runs everywhere until it is named here.
"""

COUNTS = frozenset("""
    reads_of_a_sequence_double read_ahead_waits_for_a_touch
    reads_without_a_sequence_are_of_one_page two_pages_are_hardly_a_sequence
    four_sequences_do_not_disturb_each_other prefetch_of_a_stride_saves_its_waits
    builtin_decides_as_fifo2_does builtin_decides_as_fifo2_does_at_its_limit
    contexts_are_the_same_in_the_next_run contexts_are_the_same_in_all_threads
    pool_policy_that_is_ill_advised_stays_without_revocation
    pool_policy_that_is_good_is_not_revoked pool_lets_no_neighbour_pay_for_a_bad_policy
    endless_page_fault_lets_a_neighbour_fault endless_page_fault_lets_the_pool_go_on
    levels_of_a_shared_array_keep_an_index_resident ordered_queue_gives_the_highest_key
    param_says_from_then_on_which_page_goes hints_say_which_pages_go_first
    pool_takes_the_oldest_pages pool_lets_the_policy_name_other_pages
    pool_lets_good_advice_stand a_shared_container_alone_is_like_a_reserved_one
    awst_has_no_second_chance awst_takes_a_containers_own_at_its_max
    awst_lets_the_policy_name_other_pages awst_lets_good_advice_stand
    awst_takes_all_but_the_min_of_a_hoarder awst_keeps_to_the_quota_of_a_user
    private_sweeps_cost_the_faults_of_shared_ones private_writes_are_reads_to_the_policy
    backoff_waits_double backoff_lets_others_in
    samples_are_of_the_pages_that_the_hash_picks
    swap_without_adopt_gives_old_pages_up_first swap_holds_the_new_policy_to_the_contract
    image_of_version_3_loads_and_decides_as_it_did
    cgroup_of_a_reservation_holds_its_process replace_without_victims_is_revoked
    pool_policy_that_is_ill_advised_is_revoked replace_for_others_has_less_time
    pool_takes_all_but_the_first_frames_of_a_hoarder prefetch_is_bounded
    pool_reverses_bad_advice pool_lets_bad_advice_stand_without_recovery
    backoff_does_not_ask_who_has_its_own_frames backoff_refuses_until_the_wait_is_over
    builtin_containers_lose_what_the_pool_chooses cache_sweeps_by_read_miss_no_more_than_they_must
    cache_sweeps_by_map_miss_hardly_more
    league_follows_phases league_gives_a_large_loop_to_mru_by_a_sample
    league_gives_the_loop_of_a_map_to_mru league_gives_a_loop_to_mru league_s_take_overs_are_traced
    cache_policy_is_judged_by_maps cache_policy_is_revoked_by_a_sample
    cache_policy_that_is_ill_advised_may_stay cache_policy_that_is_good_is_not_revoked
    cache_policy_is_not_judged_by_what_stays cache_random_reads_are_those_of_lru
    cache_shares_and_lets_no_neighbour_pay cache_shares_and_the_oldest_go
""".split())

# It has no network: no sockets to pass descriptors by, and no switches of the JIT of BPF.
NETWORK = frozenset("""
    region_that_ends_in_a_kernel_thread_is_written
    native_code_that_is_hardened_decides_so_too native_code_is_not_needed_without_a_jit
    native_code_is_not_needed_at_the_limit
""".split())
