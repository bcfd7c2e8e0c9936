// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * In the place of libhipec.so.0: says what it is asked, by the header's structs, and
 * a region is the whole file. So the Python package is tried without the module.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <hipec.h>

int hipec_open(void)
{
	return open("/dev/null", O_RDWR | O_CLOEXEC);
}

int hipec_query(int fd, struct hipec_query *query)
{
	(void)fd;
	*query = (struct hipec_query){ .abi_version = 7, .quota = 1ULL << 40 };
	return 0;
}

int hipec_load_args(int fd, struct hipec_load *load)
{
	const char *image = (const char *)load->image;

	(void)fd;
	printf("load %u bytes, first %d, %llu frames, cluster %u, flags %u\n",
	       load->image_size, image ? *image : -1,
	       (unsigned long long)load->frames, load->cluster, load->flags);
	fflush(stdout);
	if (load->frames)
		return 0;
	snprintf((char *)load->log, load->log_size, "no frames");
	return -EINVAL;
}

int hipec_attach(int fd, int file, uint64_t offset, uint64_t length,
		 bool writable, uint64_t *address)
{
	(void)fd;
	printf("attach %llu %llu %d %d\n", (unsigned long long)offset,
	       (unsigned long long)length, writable, !address);
	fflush(stdout);
	return offset % 4096 ? -EINVAL : dup(file);
}

int hipec_status(int fd, struct hipec_status *status)
{
	(void)fd;
	memset(status, 0, sizeof(*status));
	strcpy(status->policy, "stub");
	status->regions = 3;
	status->exit.kind = 5;
	strcpy(status->late.message, "late");
	status->counters.faults = 1ULL << 33;
	status->counters.ahead_dropped = 9;
	return 0;
}

int hipec_set_param(int fd, const char *name, int64_t value)
{
	(void)fd;
	printf("set %s %lld\n", name, (long long)value);
	fflush(stdout);
	return *name == 'x' ? -ENOENT : 0;
}
