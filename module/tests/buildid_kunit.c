// SPDX-License-Identifier: GPL-2.0-only
/*
 * What files are called in contexts: module/context/buildid.c on ELF files, whole and
 * torn, and the names of those that are left out.
 */
#include "../context/stack.h"
#include "kunit_machine.h"

/* Names of the C library and the loader, and names that begin like them. */
static void the_c_library_is_known_by_its_name(struct kunit *test)
{
	static const char *const yes[] = {
		"libc.so.6", "libc-2.31.so", "ld-linux-x86-64.so.2", "ld-2.31.so",
	}, *const no[] = { "libc.so.60", "libc.so", "libcrypto.so.3", "ldd", "l", "" };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(yes); i++)
		KUNIT_EXPECT_TRUE(test, context_is_left_out(yes[i]));
	for (i = 0; i < ARRAY_SIZE(no); i++)
		KUNIT_EXPECT_FALSE(test, context_is_left_out(no[i]));
}

/* The beginning of a file with two parts; the second has two notes. */
static void put_elf(u8 *file)
{
	static const u8 head[] = { 0x7f, 'E', 'L', 'F', 2, 1, 1 };
	static const u32 notes[] = {
		4, 4, 5, 0x00554e47, 0xdeadbeef,
		4, 8, 3, 0x00554e47, 0x04030201, 0x08070605,
	};
	u8 *part = file + 64 + 56;

	memset(file, 0, 256);
	memcpy(file, head, sizeof(head));
	file[32] = 64;			/* phoff */
	file[54] = 56;			/* phentsize */
	file[56] = 2;			/* phnum */
	file[64] = 1;			/* a part to load */
	part[0] = 4;			/* notes */
	part[8] = 180;
	part[32] = sizeof(notes);
	memcpy(file + 180, notes, sizeof(notes));
}

static void build_ids_are_found(struct kunit *test)
{
	u8 *file = kunit_kmalloc(test, 256, GFP_KERNEL);
	u8 id[HIPEC_BUILD_ID_MAX] = { 0 };

	KUNIT_ASSERT_NOT_NULL(test, file);
	put_elf(file);
	KUNIT_EXPECT_EQ(test, hipec_buildid_find(file, 256, id), 8);
	KUNIT_EXPECT_EQ(test, memcmp(id, "\1\2\3\4\5\6\7\10\0", 9), 0);
	file[4] = 1;
	KUNIT_EXPECT_EQ(test, hipec_buildid_find(file, 256, id), 0);
}

/* Of any length, with any bytes: KASAN and ASan see what is read beside it. */
static void torn_files_do_no_harm(struct kunit *test)
{
	u32 seed = 3, i, j, found = 0;

	for (i = 0; i < 2000; i++) {
		u32 size = 1 + hipec_kit_random(&seed, 256);
		u8 *file = kunit_kmalloc(test, size, GFP_KERNEL);
		u8 whole[256], id[HIPEC_BUILD_ID_MAX];

		KUNIT_ASSERT_NOT_NULL(test, file);
		put_elf(whole);
		for (j = hipec_kit_random(&seed, 4); j; j--)
			whole[32 + hipec_kit_random(&seed, 200)] =
				hipec_kit_random(&seed, 256);
		memcpy(file, whole, size);
		j = hipec_buildid_find(file, size, id);
		KUNIT_EXPECT_LE(test, j, HIPEC_BUILD_ID_MAX);
		found += !!j;
	}
	KUNIT_EXPECT_GT(test, found, 10);
}

static struct kunit_case buildid_cases[] = {
	KUNIT_CASE(the_c_library_is_known_by_its_name),
	KUNIT_CASE(build_ids_are_found),
	KUNIT_CASE(torn_files_do_no_harm),
	{ }
};

static struct kunit_suite buildid_suite = {
	.name = "hipec_buildid",
	.test_cases = buildid_cases,
};

kunit_test_suites(&buildid_suite);
