// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests in batches: all of a batch are handed to the kernel at once, by its own
 * asynchronous I/O, and the next batch waits for the last of them.
 */
#include <errno.h>
#include <linux/aio_abi.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "play.h"

int play_say(struct play_error *err, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(err->text, sizeof(err->text), format, ap);
	va_end(ap);
	return -EINVAL;
}

static int add(struct play_plan *plan, u64 page, u32 pages, bool write)
{
	if (plan->nr == plan->max) {
		size_t max = plan->max ? 2 * plan->max : 1024;
		void *more = reallocarray(plan->request, max,
					  sizeof(*plan->request));

		if (!more)
			return -ENOMEM;
		plan->request = more;
		plan->max = max;
	}
	plan->request[plan->nr++] = (struct play_request){ page, pages, write };
	*(write ? &plan->written_pages : &plan->read_pages) += pages;
	if (pages > plan->largest)
		plan->largest = pages;
	if (page + pages > plan->end)
		plan->end = page + pages;
	return 0;
}

/**
 * play_plan() - make requests of a trace
 * @plan:       empty but for its batch; play_plan_free() it, also after an error
 * @t:          trace
 * @most_pages: of a request; pages that follow each other are one up to that
 * @read_only:  writes become reads of the same pages
 *
 * Return: 0; -ENOMEM.
 */
int play_plan(struct play_plan *plan, const struct trace *t, u32 most_pages,
	      bool read_only)
{
	size_t i;
	u32 done, pages;
	int ret;

	for (i = 0; i < t->nr_runs; i++) {
		const struct trace_run *run = &t->run[i];

		for (done = 0; done < run->nr; done += pages) {
			pages = run->nr - done < most_pages ? run->nr - done :
							      most_pages;
			ret = add(plan, (u64)run->pgno + done, pages,
				  run->write && !read_only);
			if (ret)
				return ret;
		}
	}
	return 0;
}

void play_plan_free(struct play_plan *plan)
{
	free(plan->request);
	*plan = (struct play_plan){ 0 };
}

static int wrong(const struct play_request *r, s64 res, struct play_error *err)
{
	return play_say(err, "%s %u pages from page %llu on: %s",
			r->write ? "writing" : "reading", r->pages,
			(unsigned long long)r->page,
			res < 0 ? strerror(-res) : "not all of it was done");
}

/* The requests from @first on; @buffers has room for each. */
static int play_batch(aio_context_t aio, const struct play_request *first, u32 nr,
		      int fd, char *buffers, size_t stride,
		      struct play_error *err)
{
	struct iocb cb[PLAY_MAX_BATCH], *list[PLAY_MAX_BATCH];
	struct io_event done[PLAY_MAX_BATCH];
	u32 i, submitted = 0, ended = 0;
	long n = 0;
	int ret = 0;

	for (i = 0; i < nr; i++) {
		cb[i] = (struct iocb){
			.aio_data = i,
			.aio_lio_opcode = first[i].write ? IOCB_CMD_PWRITE :
							   IOCB_CMD_PREAD,
			.aio_fildes = fd,
			.aio_buf = (uintptr_t)(buffers + i * stride),
			.aio_nbytes = (u64)first[i].pages * TRACE_PAGE_BYTES,
			.aio_offset = first[i].page * TRACE_PAGE_BYTES,
		};
		list[i] = &cb[i];
	}
	while (submitted < nr) {
		n = syscall(SYS_io_submit, aio, nr - submitted, list + submitted);
		if (n <= 0 && errno != EINTR)
			break;
		submitted += n > 0 ? n : 0;
	}
	if (n < 0)
		ret = wrong(&first[submitted], -errno, err);
	/* What is under way uses the buffers, whatever went wrong. */
	while (ended < submitted) {
		n = syscall(SYS_io_getevents, aio, submitted - ended,
			    submitted - ended, done, NULL);
		for (i = 0; n > 0 && i < n; i++)
			if (!ret && done[i].res != (s64)cb[done[i].data].aio_nbytes)
				ret = wrong(&first[done[i].data], done[i].res, err);
		ended += n > 0 ? n : 0;
	}
	return ret;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/**
 * play_round() - do all requests once
 * @plan:    requests
 * @fd:      of play_open()
 * @seconds: set to the time that it took
 * @err:     filled for -EINVAL
 *
 * Context: any; waits for the disk.
 * Return: 0; -EINVAL, said; -ENOMEM; -EAGAIN if the system has no room for
 *         asynchronous I/O.
 */
int play_round(const struct play_plan *plan, int fd, double *seconds,
	       struct play_error *err)
{
	size_t stride = (size_t)plan->largest * TRACE_PAGE_BYTES, i;
	aio_context_t aio = 0;
	void *buffers;
	double start;
	int ret = 0;

	if (posix_memalign(&buffers, TRACE_PAGE_BYTES, plan->batch * stride))
		return -ENOMEM;
	memset(buffers, 0, plan->batch * stride);
	if (syscall(SYS_io_setup, plan->batch, &aio)) {
		ret = -errno;
		free(buffers);
		return ret;
	}
	start = now();
	for (i = 0; i < plan->nr && !ret; i += plan->batch) {
		size_t left = plan->nr - i;

		ret = play_batch(aio, plan->request + i,
				 left < plan->batch ? left : plan->batch, fd,
				 buffers, stride, err);
	}
	*seconds = now() - start;
	syscall(SYS_io_destroy, aio);
	free(buffers);
	return ret;
}

/* Student's t for 95 %, by degrees of freedom. */
static double t_value(u32 freedom)
{
	static const double t[] = {
		0, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306,
		2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110,
		2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
		2.052, 2.048, 2.045, 2.042,
	};

	return freedom < ARRAY_SIZE(t) ? t[freedom] : 1.96 + 2.5 / freedom;
}

/**
 * play_stable() - is the mean of the rounds known well enough?
 * @times:   rounds so far; mean, lowest and within are filled in
 * @percent: of the mean, which half of its 95 % interval may be
 *
 * Return: that; never with less than PLAY_MIN_ROUNDS.
 */
bool play_stable(struct play_times *times, double percent)
{
	double sum = 0, squares = 0;
	u32 i, n = times->nr;

	times->lowest = n ? times->second[0] : 0;
	for (i = 0; i < n; i++) {
		sum += times->second[i];
		if (times->second[i] < times->lowest)
			times->lowest = times->second[i];
	}
	times->mean = n ? sum / n : 0;
	for (i = 0; i < n; i++)
		squares += (times->second[i] - times->mean) *
			   (times->second[i] - times->mean);
	times->within = n < 2 || !times->mean ? INFINITY :
			100 * t_value(n - 1) * sqrt(squares / (n - 1) / n) /
			times->mean;
	return n >= PLAY_MIN_ROUNDS && times->within <= percent;
}
