// SPDX-License-Identifier: GPL-2.0-only
/*
 * hipec: replacement policies that applications bring. Module init and exit.
 */
#include <linux/miscdevice.h>
#include <linux/module.h>

#include "base/volume.h"
#include "cache/host.h"
#include "context/context.h"
#include "internal.h"

static struct miscdevice hipec_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "hipec",
	.fops = &hipec_dev_fops,
	.mode = 0600,
};

static int __init hipec_module_init(void)
{
	int ret;

	ret = hipec_context_init();
	if (ret)
		return ret;
	ret = hipec_log_init();
	if (ret)
		goto no_log;
	hipec_share_init();
	ret = hipec_work_init();
	if (ret)
		goto no_workers;
	ret = hipec_shrink_init();
	if (ret)
		goto no_shrinker;
	ret = hipec_cgroup_init();
	if (ret)
		goto no_cgroup;
	ret = hipec_cache_init();
	if (ret)
		goto no_cache;
	hipec_debugfs_init();
	ret = misc_register(&hipec_device);
	if (!ret)
		return 0;
	hipec_debugfs_exit();
	hipec_cache_exit();
no_cache:
	hipec_cgroup_exit();
no_cgroup:
	hipec_shrink_exit();
no_shrinker:
	hipec_work_exit();
no_workers:
	hipec_share_exit();
	hipec_log_exit();
no_log:
	hipec_context_exit();
	return ret;
}

static void __exit hipec_module_exit(void)
{
	misc_deregister(&hipec_device);
	/* Containers that others have closed may be left, and have something of all that goes now. */
	hipec_work_drain();
	/* And workers that have ended the last regions just now. */
	hipec_volume_drain();
	hipec_cache_exit();
	hipec_debugfs_exit();
	hipec_cgroup_exit();
	hipec_shrink_exit();
	hipec_work_exit();
	hipec_share_exit();
	hipec_log_exit();
	hipec_context_exit();
}

module_init(hipec_module_init);
module_exit(hipec_module_exit);

MODULE_DESCRIPTION("Page replacement policies that applications bring");
MODULE_LICENSE("GPL");
