# SPDX-License-Identifier: GPL-2.0-only
#
# Load the KUnit suites: that runs them, and the log has what came of it. insmod waits for the
# thread that runs them all this time, without a signal; one that hangs is ended by KUnit itself.

echo 300 >/proc/sys/kernel/hung_task_timeout_secs
insmod /hipec/hipec_kunit.ko && rmmod hipec_kunit
