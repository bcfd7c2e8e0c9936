# SPDX-License-Identifier: GPL-2.0-only
#
# part.sh PART PARAMETER...: what test_guest.py has the guest do for tests that want other parameters
# of the module than the rest: those that /hipec/PART names.

. /hipec/module.sh
part=$1
shift
load_module "$@" || exit 1
# shellcheck disable=SC2046 # names
hipec-guest-test $(cat "/hipec/$part") >/results/tests.txt 2>&1
module_is_idle
