# SPDX-License-Identifier: GPL-2.0-only
#
# crowd.sh RESULT POOL_MB OPTION...: hipec-crowd with these options on /data. RESULT.txt and
# RESULT-frames.txt are what is left to be read.

. /hipec/module.sh

result=/results/$1
pool_mb=$2
shift 2

load_module backoff_ms=0 pool_mb=$pool_mb || exit 1
echo 60 >/proc/sys/kernel/hung_task_timeout_secs
hipec-crowd "$@" /data/crowd >"$result.txt" 2>&1
status=$?
echo 30 >/proc/sys/kernel/hung_task_timeout_secs
cat /sys/kernel/debug/hipec/frames >"$result-frames.txt"
module_is_idle || exit 1
exit $status
