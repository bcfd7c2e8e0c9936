# SPDX-License-Identifier: GPL-2.0-only
#
# For scripts to source: the module is loaded, and is idle in the end. From the first file that is
# attached on it stays loaded, until the machine is booted again.

# PARAMETER...: it is loaded, unless it is so already.
load_module()
{
	[ -e /sys/module/hipec ] || insmod "${HIPEC_MODULE:-/hipec/hipec.ko}" "$@"
}

# Nothing holds it, but that it stays loaded. A file that was closed is put a moment later.
module_is_idle()
{
	tries=100
	until [ "$(cat /sys/module/hipec/refcnt)" = 1 ]; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || return 1
		sleep 0.1
	done
}
