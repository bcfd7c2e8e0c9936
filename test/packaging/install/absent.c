// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every function of libhipec without the module: what it returns, and that it does
 * nothing. C and C++, for the header is for both.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <hipec.h>

static int failed;

static void want(const char *call, int got, int wanted)
{
	if (got == wanted)
		return;
	printf("%s: %d, want %d\n", call, got, wanted);
	failed = 1;
}

#define WANT(call, wanted) want(#call, call, wanted)

int main(void)
{
	struct hipec_query query;
	static struct hipec_load load;
	struct hipec_status status;
	static struct hipec_swap swap;
	struct hipec_standing standing;
	struct hipec_why why;
	struct hipec_take take;
	struct hipec_log record;
	struct hipec_operand operand;
	struct hipec_param param;
	void *image = NULL;
	size_t size = 0;
	int64_t *array = NULL;
	char log[64] = "";
	int fd = hipec_open();

	want("hipec_open()", fd, -ENOENT);
	WANT(hipec_query(fd, &query), -EBADF);
	WANT(hipec_load(fd, NULL, 0, 1, 0, log, sizeof(log)), -EBADF);
	WANT(hipec_load_args(fd, &load), -EBADF);
	WANT(hipec_load_file(fd, NULL, 1, 0, log, sizeof(log)), -EBADF);
	WANT(hipec_attach(fd, 0, 0, 0, false, NULL), -EBADF);
	WANT(hipec_status(fd, &status), -EBADF);
	WANT(hipec_next(fd, 0, &status), -EBADF);
	WANT(hipec_operand(fd, 0, 0, &operand), -EBADF);
	WANT(hipec_record(fd, 0, 0), -EBADF);
	WANT(hipec_sample(fd, 0, 0, 0), -EBADF);
	WANT(hipec_shared(fd, "levels", &array, &size), -EBADF);
	WANT(hipec_param(fd, "limit", &param), -EBADF);
	WANT(hipec_set_param(fd, "limit", 1), -EBADF);
	WANT(hipec_param_of(fd, 1, "limit", &param), -EBADF);
	WANT(hipec_set_param_of(fd, 1, "limit", 1), -EBADF);
	WANT(hipec_swap(fd, 1, NULL, 0, log, sizeof(log)), -EBADF);
	WANT(hipec_swap_args(fd, &swap), -EBADF);
	WANT(hipec_swap_file(fd, 1, NULL, log, sizeof(log)), -EBADF);
	WANT(hipec_revoke(fd, 1), -EBADF);
	WANT(hipec_join(fd, 1, NULL, 0, log, sizeof(log)), -EBADF);
	WANT(hipec_join_budget(fd, 1, 8, log, sizeof(log)), -EBADF);
	WANT(hipec_standing(fd, 1, 0, &standing), -EBADF);
	WANT(hipec_why(fd, 1, &why), -EBADF);
	WANT(hipec_log(fd, 0, &record), -EBADF);
	WANT(hipec_take(fd, 0, 0, &take), -EBADF);
	WANT(hipec_take_cgroup(fd, 0, 0, 0, NULL, &take), -EBADF);
	WANT(hipec_release(fd, 0, -1), -EBADF);
	WANT(hipec_hint(fd, 0, 0, HIPEC_HINT_NONE), -EBADF);
	if (array || status.id || status.frames || query.frames)
		want("what was left alone", 1, 0);
	/* These need no module. */
	WANT(hipec_image_read("/nowhere.hpo", &image, &size), -ENOENT);
	WANT(hipec_image_param("", 0, "limit", &param), -EINVAL);
	WANT(hipec_image_set_param(image, 0, "limit", 1), -EINVAL);
	if (!failed)
		puts("all is refused");
	return failed;
}
