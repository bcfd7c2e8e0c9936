// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs and policies that are older or newer than the module: structs of
 * another length, images of another version.
 */
#include <fcntl.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "guest.h"

/* A struct of a program that is older: it ends before a field. */
#define BEFORE(type, field) offsetof(struct type, field)

/* Call with so many bytes of a struct; those behind stay as they are. */
static int call(int fd, unsigned int cmd, const void *args, uint32_t size,
		void *answer)
{
	unsigned char bytes[8192];
	size_t i;
	int err;

	memset(bytes, 0xa5, sizeof(bytes));
	memcpy(bytes, args, size);
	memcpy(bytes, &size, sizeof(size));
	err = ioctl(fd, cmd, bytes) ? errno : 0;
	for (i = size; i < sizeof(bytes); i++)
		CHECK_EQ(bytes[i], 0xa5);
	if (answer)
		memcpy(answer, bytes, size);
	return err;
}

static void older_programs(void)
{
	struct hipec_query query = { 0 };
	struct hipec_status status = { 0 };
	struct hipec_operand operand = { .slot = 1 };
	struct hipec_attach attach = { 0 };
	struct hipec_record record = { 0 };
	struct hipec_sample sample = { 0 };
	struct hipec_load load = { .frames = 8 };
	int fd = hipec_open();
	void *image;
	size_t size;

	read_image("fifo", &image, &size);
	load.image = (uintptr_t)image;
	load.image_size = size;
	CHECK(fd >= 0);
	CHECK_EQ(call(fd, HIPEC_IOC_QUERY, &query, BEFORE(hipec_query, pool_frames),
		      &query), 0);
	CHECK_EQ(query.abi_version, HIPEC_ABI_VERSION);
	CHECK_EQ(query.image_version, HIPEC_IMAGE_VERSION);
	CHECK_EQ(query.quota, 0);
	CHECK_EQ(call(fd, HIPEC_IOC_LOAD, &load, BEFORE(hipec_load, seed), NULL), 0);
	CHECK_EQ(call(fd, HIPEC_IOC_STATUS, &status, BEFORE(hipec_status, exit),
		      &status), 0);
	CHECK_EQ(status.limit, 8);
	CHECK_EQ(status.counters.events, 0);
	CHECK_EQ(call(fd, HIPEC_IOC_OPERAND, &operand, BEFORE(hipec_operand, low),
		      &operand), 0);
	CHECK(!strcmp(operand.name, "_free_count"));
	/* Where the answer is a descriptor there has to be a place for it. */
	CHECK_EQ(call(fd, HIPEC_IOC_ATTACH, &attach,
		      BEFORE(hipec_attach, address), NULL), EINVAL);
	CHECK_EQ(call(fd, HIPEC_IOC_RECORD, &record,
		      BEFORE(hipec_record, record_fd), NULL), EINVAL);
	CHECK_EQ(call(fd, HIPEC_IOC_SAMPLE, &sample,
		      BEFORE(hipec_sample, sample_fd), NULL), EINVAL);
	free(image);
	close(fd);
}

/* What the module does not know has to be zero, and is not gone through for ever. */
static void newer_programs(void)
{
	unsigned char *longest = mmap(NULL, 1u << 30, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
				      -1, 0);
	struct {
		struct hipec_query q;
		uint64_t more[2];
	} newer = { .q = { 0 } };
	int fd = hipec_open();

	CHECK(fd >= 0 && longest != MAP_FAILED);
	CHECK_EQ(call(fd, HIPEC_IOC_QUERY, &newer, sizeof(newer), &newer), 0);
	CHECK_EQ(newer.q.abi_version, HIPEC_ABI_VERSION);
	newer = (typeof(newer)){ .more = { 0, 1 } };
	CHECK_EQ(call(fd, HIPEC_IOC_QUERY, &newer, sizeof(newer), NULL), E2BIG);
	newer = (typeof(newer)){ .q.flags = 1u << 31 };
	CHECK_EQ(call(fd, HIPEC_IOC_QUERY, &newer, sizeof(newer), NULL), EINVAL);
	CHECK_EQ(call(fd, _IOWR('h', 0xff, newer), &newer, sizeof(newer), NULL),
		 ENOTTY);
	/* The size in the number is the caller's; the number alone counts. */
	newer = (typeof(newer)){ 0 };
	CHECK_EQ(call(fd, _IOWR('h', 0x80, newer), &newer, sizeof(newer), NULL), 0);

	*(uint32_t *)longest = PAGE_BYTES;
	CHECK(!ioctl(fd, HIPEC_IOC_QUERY, longest));
	*(uint32_t *)longest = PAGE_BYTES + 1;
	CHECK(ioctl(fd, HIPEC_IOC_QUERY, longest) && errno == E2BIG);
	*(uint32_t *)longest = 1u << 30;
	CHECK(ioctl(fd, HIPEC_IOC_QUERY, longest) && errno == E2BIG);
	close(fd);
}

static void newer_images(void)
{
	static const struct {
		uint16_t version;
		const char *words;
	} other[] = {
		{ HIPEC_IMAGE_VERSION + 1, "install a newer hipec" },
		{ 0xffff, "install a newer hipec" },
		{ HIPEC_IMAGE_VERSION - 1, "compile the policy again" },
	};
	int fd = hipec_open();
	char log[256];
	void *image;
	size_t size, i;

	read_image("fifo", &image, &size);
	for (i = 0; i < sizeof(other) / sizeof(*other); i++) {
		((struct hipec_image *)image)->version = other[i].version;
		CHECK_EQ(hipec_load(fd, image, size, 8, 1, log, sizeof(log)), -EINVAL);
		if (!strstr(log, other[i].words))
			FAIL("version %u: the log says '%s'", other[i].version, log);
	}
	free(image);
	close(fd);
}

static const struct test upgrade_tests[] = {
	{ "structs_of_older_programs_are_taken_and_not_written_behind", older_programs },
	{ "structs_of_newer_programs_are_taken_up_to_a_page", newer_programs },
	{ "image_of_another_version_is_refused_and_told_what_to_do", newer_images },
	{ 0 }
};
SUITE(upgrade_tests, 0);
