# SPDX-License-Identifier: GPL-2.0-only
#
# Load the KUnit suites: that runs them, and the log has what came of it.

insmod /hipec/hipec_kunit.ko && rmmod hipec_kunit
