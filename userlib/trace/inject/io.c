// SPDX-License-Identifier: GPL-2.0-only
/*
 * The calls that move data of files. Each does what the C library's does, and is
 * noted. Positions need no care: the kernel is asked, so whatever opened,
 * duplicated or moved the descriptor, and whoever shares it, is right.
 */
#define _GNU_SOURCE	/* preadv2(), copy_file_range(), splice() */
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tracer.h"

/* What programs call that were compiled with _FORTIFY_SOURCE. */
TRACER_EXPORT ssize_t __read_chk(int fd, void *buf, size_t n, size_t size);
TRACER_EXPORT ssize_t __pread_chk(int fd, void *buf, size_t n, off_t at, size_t size);
TRACER_EXPORT ssize_t __pread64_chk(int fd, void *buf, size_t n, off64_t at, size_t size);

static void touchv(const struct iovec *iov, int n, bool write)
{
	int i;

	tracer_touch(iov, n > 0 ? n * sizeof(*iov) : 0, false);
	for (i = 0; i < n; i++)
		tracer_touch(iov[i].iov_base, iov[i].iov_len, write);
}

/* Negative ones are refused, and nothing is noted. */
static int64_t offset(off_t at)
{
	return at < 0 ? 0 : at;
}

#define READS false
#define WRITES true

/* Name, parameters, arguments, how memory is opened and which, offset, direction. */
#define CALLS(X)                                                                  \
	X(read, (int fd, void *buf, size_t n), (fd, buf, n),                      \
	  tracer_touch, buf, TRACER_POSITION, READS)                              \
	X(__read_chk, (int fd, void *buf, size_t n, size_t size),                 \
	  (fd, buf, n, size), tracer_touch, buf, TRACER_POSITION, READS)          \
	X(pread, (int fd, void *buf, size_t n, off_t at), (fd, buf, n, at),       \
	  tracer_touch, buf, offset(at), READS)                                   \
	X(pread64, (int fd, void *buf, size_t n, off64_t at),                     \
	  (fd, buf, n, at), tracer_touch, buf, offset(at), READS)                 \
	X(__pread_chk, (int fd, void *buf, size_t n, off_t at, size_t size),      \
	  (fd, buf, n, at, size), tracer_touch, buf, offset(at), READS)           \
	X(__pread64_chk, (int fd, void *buf, size_t n, off64_t at, size_t size),  \
	  (fd, buf, n, at, size), tracer_touch, buf, offset(at), READS)           \
	X(readv, (int fd, const struct iovec *v, int n), (fd, v, n),              \
	  touchv, v, TRACER_POSITION, READS)                                      \
	X(preadv, (int fd, const struct iovec *v, int n, off_t at),               \
	  (fd, v, n, at), touchv, v, offset(at), READS)                           \
	X(preadv64, (int fd, const struct iovec *v, int n, off64_t at),           \
	  (fd, v, n, at), touchv, v, offset(at), READS)                           \
	X(preadv2, (int fd, const struct iovec *v, int n, off_t at, int flags),   \
	  (fd, v, n, at, flags), touchv, v, at, READS)                            \
	X(preadv64v2, (int fd, const struct iovec *v, int n, off64_t at, int flags), \
	  (fd, v, n, at, flags), touchv, v, at, READS)                            \
	X(write, (int fd, const void *buf, size_t n), (fd, buf, n),               \
	  tracer_touch, buf, TRACER_POSITION, WRITES)                             \
	X(pwrite, (int fd, const void *buf, size_t n, off_t at),                  \
	  (fd, buf, n, at), tracer_touch, buf, offset(at), WRITES)                \
	X(pwrite64, (int fd, const void *buf, size_t n, off64_t at),              \
	  (fd, buf, n, at), tracer_touch, buf, offset(at), WRITES)                \
	X(writev, (int fd, const struct iovec *v, int n), (fd, v, n),             \
	  touchv, v, TRACER_POSITION, WRITES)                                     \
	X(pwritev, (int fd, const struct iovec *v, int n, off_t at),              \
	  (fd, v, n, at), touchv, v, offset(at), WRITES)                          \
	X(pwritev64, (int fd, const struct iovec *v, int n, off64_t at),          \
	  (fd, v, n, at), touchv, v, offset(at), WRITES)                          \
	X(pwritev2, (int fd, const struct iovec *v, int n, off_t at, int flags),  \
	  (fd, v, n, at, flags), touchv, v,                                       \
	  flags & RWF_APPEND && at != -1 ? TRACER_END : at, WRITES)               \
	X(pwritev64v2, (int fd, const struct iovec *v, int n, off64_t at, int flags), \
	  (fd, v, n, at, flags), touchv, v,                                       \
	  flags & RWF_APPEND && at != -1 ? TRACER_END : at, WRITES)

#define X(name, params, args, touch, memory, where, write)                        \
	TRACER_EXPORT ssize_t name params                                         \
	{                                                                         \
		struct tracer_op op;                                              \
		TRACER_REAL(real, name);                                          \
                                                                                  \
		touch(memory, n, !(write));                                       \
		tracer_begin(&op, fd, where, write);                              \
		return tracer_end(&op, real args);                                \
	}
CALLS(X)
#undef X

/* From one descriptor to another. */
struct pair {
	struct tracer_op in, out;
};

static void begin_pair(struct pair *p, int in, const off64_t *in_at, int out,
		       const off64_t *out_at)
{
	tracer_touch(in_at, in_at ? sizeof(*in_at) : 0, true);
	tracer_touch(out_at, out_at ? sizeof(*out_at) : 0, true);
	p->in = (struct tracer_op){
		.fd = in, .offset = in_at ? offset(*in_at) : TRACER_POSITION,
	};
	p->out = (struct tracer_op){
		.fd = out, .offset = out_at ? offset(*out_at) : TRACER_POSITION,
		.write = true,
	};
	tracer_begin_two(&p->in, &p->out);
}

static ssize_t end_pair(struct pair *p, ssize_t ret)
{
	tracer_end(&p->in, ret);
	return tracer_end(&p->out, ret);
}

TRACER_EXPORT ssize_t sendfile(int out, int in, off_t *at, size_t n)
{
	struct pair p;
	TRACER_REAL(real, sendfile);

	begin_pair(&p, in, at, out, NULL);
	return end_pair(&p, real(out, in, at, n));
}

TRACER_EXPORT ssize_t sendfile64(int out, int in, off64_t *at, size_t n)
{
	struct pair p;
	TRACER_REAL(real, sendfile64);

	begin_pair(&p, in, at, out, NULL);
	return end_pair(&p, real(out, in, at, n));
}

TRACER_EXPORT ssize_t copy_file_range(int in, off64_t *in_at, int out,
				      off64_t *out_at, size_t n,
				      unsigned int flags)
{
	struct pair p;
	TRACER_REAL(real, copy_file_range);

	begin_pair(&p, in, in_at, out, out_at);
	return end_pair(&p, real(in, in_at, out, out_at, n, flags));
}

TRACER_EXPORT ssize_t splice(int in, off64_t *in_at, int out, off64_t *out_at,
			     size_t n, unsigned int flags)
{
	struct pair p;
	TRACER_REAL(real, splice);

	begin_pair(&p, in, in_at, out, out_at);
	return end_pair(&p, real(in, in_at, out, out_at, n, flags));
}
