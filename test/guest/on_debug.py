# SPDX-License-Identifier: GPL-2.0-only
"""Which tests of test/guest/program/ the debug kernel leaves out.

It finds wrong uses of memory, locks and lifetimes, and is several times slower. A test is left
out if it proves a number or a decision, which a stock kernel proves, and if others take its ways
through the module. A new test runs everywhere until it is named here: in ring debug if it is in
RING, else at night.
"""

# What ends, is let go, takes over, is killed or goes while others use it, and what hostile users do.
RING = frozenset("""
    attach_needs_a_policy_and_leaves_no_claim kill_9_while_faulting_gives_all_frames_back
    random_ioctls_do_no_harm mutated_images_are_refused_or_harmless
    frames_go_with_the_last_descriptor_or_mapping
    oom_kill_of_the_owner_gives_all_back_and_loses_no_write
    threads_that_fault_write_and_map_end cgroup_is_gone_after_its_removal
    pool_has_all_back_when_a_task_dies memlock_has_back_what_a_container_had
    record_begins_and_ends_while_threads_fault samples_end_with_their_container
    swap_may_be_killed swap_again_and_again_while_threads_fault
    swap_again_and_again_while_sharing_the_pool swap_that_fails_changes_nothing
    who_lets_a_file_go_can_be_killed_between_events who_asks_a_busy_container_can_be_killed
    contexts_of_hostile_stacks_do_no_harm contexts_of_strangers_are_not_told
    policies_change_and_no_page_that_was_written_is_lost league_refuses_and_ends
    league_changes_while_threads_read league_of_a_share_in_place_finds_the_policy_of_a_loop
    league_s_rival_waits_while_more_pages_are_held_than_it_has_entries
    cache_open_beside_take_keeps_references cache_ends_in_any_order
    cache_hears_descriptors_of_before cache_hears_maps_of_before
    cache_of_a_cgroup_comes_and_goes_under_load cache_of_a_directory_comes_and_goes_under_load
    cache_policy_that_was_revoked_comes_back_by_a_swap cache_swap_keeps_what_is_cached
    cache_why_beside_unlink_ends cache_touch_of_numbers_before_is_nobody_s
    cache_stands_beside_a_region_that_is_synced cache_threads_miss_at_once
    cache_tables_shrink_whatever_they_have cache_without_memory_for_tables_keeps_what_it_has
    cache_keeps_what_one_of_two_has_locked cache_keeps_what_was_locked_as_it_went
    cache_with_a_busy_policy_kills_no_neighbour cache_kept_containers_of_a_user_are_bounded
    cache_pages_may_go_while_maps_change cache_shares_and_threads_miss_at_once
    cache_shares_with_regions cache_shares_and_loses_no_write cache_forgets_what_its_file_lost
    cache_limit_below_the_budget_kills_nobody cache_writers_in_a_cgroup_are_not_killed
    cache_is_taken_and_let_go_under_load
    cache_records_are_closed_beside_an_event cache_is_closed_by_others_beside_an_event
    cache_records_of_what_is_gone_are_closed_beside_an_event
    cache_arrays_are_mapped_beside_an_event cache_that_ends_ends_its_worker_s_event
    cache_of_a_cgroup_is_of_the_one_that_was_checked
""".split())

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
    private_sweeps_cost_the_faults_of_shared_ones private_writes_are_reads_to_the_policy
    backoff_waits_double backoff_lets_others_in
    samples_are_of_the_pages_that_the_hash_picks
    swap_without_adopt_gives_old_pages_up_first swap_holds_the_new_policy_to_the_contract
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

# Minutes there, and others take their ways.
SLOW = frozenset("""
    cache_file_that_outgrows_its_numbers_is_the_kernel_s cache_runs_no_policy_in_reclaim
    league_s_containers_end_in_each_window_and_no_timer_is_left
    endless_rivals_in_all_places_are_out_after_one_page
    reader_beside_slow_rivals_in_all_places_can_be_killed
    reads_ahead_wait_for_no_event_of_others sync_waits_for_no_event_of_others
""".split())

# It has no network: no sockets to pass descriptors by.
NETWORK = frozenset("""
    region_that_ends_in_a_kernel_thread_is_written
""".split())
