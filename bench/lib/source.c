// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mapping, options and measurement of the benchmarks. See source.h.
 */
#define _GNU_SOURCE	/* O_PATH */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "source.h"
#include "../../userlib/lib/hipec.h"

#define NS UINT64_C(1000000000)

struct disk_stat {
	uint64_t reads, sectors_read, writes, sectors_written;
};

static struct moment {
	struct timespec time;
	struct rusage usage;
	struct disk_stat disk;
	struct hipec_status status;
	uint64_t n;
} start, marks[MOST_MARKS];

static unsigned int nr_marks;

void die(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t number(const char *text, const char *usage)
{
	char *end;
	uint64_t n;

	errno = 0;
	n = strtoull(text, &end, 0);
	if (errno || *end || end == text || *text == '-') {
		fprintf(stderr, "'%s' is not a number\n%s", text, usage);
		exit(2);
	}
	return n;
}

static const struct option long_options[] = {
	{ "policy", required_argument, NULL, 'p' },
	{ "frames", required_argument, NULL, 'f' },
	{ "cluster", required_argument, NULL, 'c' },
	{ "advice", required_argument, NULL, 'a' },
	{ "disk", required_argument, NULL, 'd' },
	{ "passes", required_argument, NULL, 'n' },
	{ "lookups", required_argument, NULL, 'n' },
	{ "rate", required_argument, NULL, 'r' },
	{ "write", no_argument, NULL, 'w' },
	{ "share", no_argument, NULL, 's' },
	{ "in-place", no_argument, NULL, 'i' },
	{ "read", no_argument, NULL, 'R' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 }
};

/* Fill @o; exits with status 2 unless exactly @nr_files arguments are left. */
void parse_options(struct options *o, int argc, char **argv,
		   const char *usage, int nr_files)
{
	int c;

	*o = (struct options){ .advice = "none", .passes = 8, .frames = 1024 };
	while ((c = getopt_long(argc, argv, "h", long_options, NULL)) != -1) {
		switch (c) {
		case 'p':
			o->policy = optarg;
			break;
		case 'f':
			o->frames = number(optarg, usage);
			break;
		case 'c':
			o->cluster = number(optarg, usage);
			break;
		case 'a':
			o->advice = optarg;
			break;
		case 'd':
			o->disk = optarg;
			break;
		case 'n':
			o->passes = number(optarg, usage);
			break;
		case 'r':
			o->rate = number(optarg, usage);
			break;
		case 'w':
			o->write = true;
			break;
		case 's':
			o->share = true;
			break;
		case 'i':
			o->in_place = true;
			break;
		case 'R':
			o->read = true;
			break;
		case 'h':
			fputs(usage, stdout);
			exit(0);
		default:
			fputs(usage, stderr);
			exit(2);
		}
	}
	/* Regions have no read(). */
	if (argc - optind != nr_files || (o->read && o->policy && !o->in_place) ||
	    (o->read && o->write)) {
		fputs(usage, stderr);
		exit(2);
	}
}

/* Load @policy into a container that is open; exits with a message if it fails. */
static void load(const struct options *o, int container, const char *policy,
		 uint64_t frames)
{
	char log[512] = "";
	struct hipec_load args = {
		.flags = o->in_place ? HIPEC_LOAD_IN_PLACE :
			 o->share ? HIPEC_LOAD_SHARE : 0,
		.cluster = o->cluster,
		.frames = frames,
		.log = (uintptr_t)log,
		.log_size = sizeof(log),
	};
	void *image = NULL;
	size_t size = 0;
	int ret = strcmp(policy, "none") ?
			  hipec_image_read(policy, &image, &size) : 0;

	if (!ret) {
		args.image = (uintptr_t)image;
		args.image_size = size;
		ret = hipec_load_args(container, &args);
		free(image);
	}
	if (ret < 0) {
		fprintf(stderr, "%s: %s%s%s\n", policy, strerror(-ret),
			*log ? ": " : "", log);
		exit(1);
	}
}

static int open_container(const struct options *o, uint64_t frames)
{
	int container = hipec_open();

	if (container < 0) {
		errno = -container;
		die(HIPEC_DEVICE);
	}
	load(o, container, o->policy, frames);
	return container;
}

/*
 * A container whose limit is the whole pool is at its limit before the pool is
 * full, and replaces pages of its own; nobody would ask the pool's manager. With
 * one frame of the pool in other hands it is the manager that decides.
 */
static void have_neighbour(const struct options *o)
{
	static int neighbour = -1;

	if (o->share && neighbour < 0)
		neighbour = open_container(o, 1);
}

/* A region over the whole of @file, in the container of @s. */
static int open_region(struct source *s, const struct options *o, int file)
{
	s->region = hipec_attach(s->container, file, 0, 0, o->write,
				 &s->address);
	if (s->region < 0) {
		errno = -s->region;
		die("attach");
	}
	return s->region;
}

static void advise(const struct source *s, const char *advice)
{
	static const struct {
		const char *name;
		int advice;
	} table[] = {
		{ "none", MADV_NORMAL },
		{ "random", MADV_RANDOM },
		{ "sequential", MADV_SEQUENTIAL },
		{ "willneed", MADV_WILLNEED },
	};
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(*table); i++) {
		if (strcmp(advice, table[i].name))
			continue;
		if (i && madvise(s->base, s->bytes, table[i].advice))
			die("madvise");
		return;
	}
	fprintf(stderr, "advice is none, random, sequential or willneed\n");
	exit(2);
}

/* Have the pages of @path be the policy's, before it is opened to be read. */
static void take_file(struct source *s, const char *path)
{
	int file = open(path, O_PATH), ret;
	struct hipec_take take;

	if (file < 0)
		die(path);
	ret = hipec_take(s->container, 0, file, &take);
	if (ret) {
		errno = -ret;
		die(path);
	}
	s->address = take.address;
	close(file);
}

/* Map the whole of @path, from the container of @s if it has one; or get ready to read. */
static void map(struct source *s, const struct options *o, const char *path)
{
	int prot = PROT_READ | (o->write ? PROT_WRITE : 0), file, fd;
	struct stat st;

	if (o->in_place)
		take_file(s, path);
	file = open(path, o->write ? O_RDWR : O_RDONLY);
	if (file < 0 || fstat(file, &st))
		die(path);
	s->bytes = st.st_size;
	s->region = -1;
	s->file = -1;
	if (o->read) {
		s->file = file;
		s->first = s->bytes;
		s->base = malloc(READ_PAGES * PAGE_BYTES);
		if (!s->base)
			die("malloc");
		return;
	}
	fd = s->container < 0 || o->in_place ? file : open_region(s, o, file);
	s->base = mmap(NULL, s->bytes, prot, MAP_SHARED, fd, 0);
	if (s->base == MAP_FAILED)
		die("mmap");
	close(file);
	advise(s, o->advice);
}

void source_fill(struct source *s, uint64_t page)
{
	size_t bytes = READ_PAGES * PAGE_BYTES;

	if (s->bytes - page * PAGE_BYTES < bytes)
		bytes = s->bytes - page * PAGE_BYTES;
	if (pread(s->file, s->base, bytes, page * PAGE_BYTES) != (ssize_t)bytes)
		die("read");
	s->first = page;
}

/* The whole of @path; exits with a message if that fails. */
void source_open(struct source *s, const struct options *o, const char *path,
		 uint64_t frames)
{
	s->container = -1;
	if (o->policy) {
		have_neighbour(o);
		s->container = open_container(o, frames);
	}
	map(s, o, path);
}

void source_open_in(struct source *s, const struct options *o, const char *path,
		    const struct source *first)
{
	s->container = first->container < 0 ? -1 : dup(first->container);
	if (first->container >= 0 && s->container < 0)
		die("dup");
	map(s, o, path);
}

void source_close(struct source *s)
{
	if (s->file >= 0) {
		free(s->base);
		close(s->file);
	} else {
		munmap(s->base, s->bytes);
	}
	if ((s->region >= 0 && close(s->region)) ||
	    (s->container >= 0 && close(s->container)))
		die("close");
}

static void read_disk(const char *disk, struct disk_stat *d)
{
	char path[128];
	FILE *f;

	memset(d, 0, sizeof(*d));
	if (!disk)
		return;
	snprintf(path, sizeof(path), "/sys/block/%s/stat", disk);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%" SCNu64 " %*u %" SCNu64 " %*u %" SCNu64
			 " %*u %" SCNu64, &d->reads, &d->sectors_read,
			 &d->writes, &d->sectors_written) != 4)
		die(path);
	fclose(f);
}

/* Sleep until @pages more pages than those before are due, at the rate of @o. */
uint64_t pace(const struct options *o, uint64_t pages)
{
	static uint64_t due;
	struct timespec t;
	uint64_t now;

	if (!o->rate)
		return 0;
	clock_gettime(CLOCK_MONOTONIC, &t);
	now = t.tv_sec * NS + t.tv_nsec;
	if (!due)
		due = now;
	due += pages * PAGE_BYTES * NS / (o->rate * 1024);
	if (now > due)
		return now - due;
	t.tv_sec = due / NS;
	t.tv_nsec = due % NS;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) ==
	       EINTR)
		;
	return 0;
}

static void take(struct moment *m, const struct options *o,
		 const struct source *s)
{
	int ret = 0;

	clock_gettime(CLOCK_MONOTONIC, &m->time);
	getrusage(RUSAGE_SELF, &m->usage);
	read_disk(o->disk, &m->disk);
	if (s && s->container >= 0)
		ret = hipec_status(s->container, &m->status);
	if (ret) {
		errno = -ret;
		die("status");
	}
}

void measure_begin(const struct options *o)
{
	take(&start, o, NULL);
}

void measure_mark(const struct options *o, const struct source *s, uint64_t n)
{
	if (nr_marks == MOST_MARKS) {
		fprintf(stderr, "too many marks\n");
		exit(2);
	}
	take(&marks[nr_marks], o, s);
	marks[nr_marks++].n = n;
}

/* What was done from the start to @now; @prefix makes the names unique. */
static void print_until(const struct moment *now, const char *prefix)
{
	printf(" %selapsed_ns=%" PRIu64 " %smajor=%ld %sminor=%ld", prefix,
	       (uint64_t)(now->time.tv_sec - start.time.tv_sec) * NS +
	       now->time.tv_nsec - start.time.tv_nsec, prefix,
	       now->usage.ru_majflt - start.usage.ru_majflt, prefix,
	       now->usage.ru_minflt - start.usage.ru_minflt);
	printf(" %sdisk_reads=%" PRIu64 " %sdisk_pages=%" PRIu64
	       " %sdisk_writes=%" PRIu64 " %sdisk_written=%" PRIu64,
	       prefix, now->disk.reads - start.disk.reads, prefix,
	       (now->disk.sectors_read - start.disk.sectors_read) / 8,
	       prefix, now->disk.writes - start.disk.writes, prefix,
	       (now->disk.sectors_written - start.disk.sectors_written) / 8);
}

void measure_end(const struct options *o, const struct source *s,
		 const char *name)
{
	struct moment now = { 0 };
	unsigned int i;

	take(&now, o, s);
	printf("bench=%s policy=%s advice=%s frames=%" PRIu64 " passes=%" PRIu64,
	       name, o->policy ? o->policy : "-", o->advice, o->frames,
	       o->passes);
	print_until(&now, "");
	for (i = 0; i < nr_marks; i++) {
		char prefix[32];

		snprintf(prefix, sizeof(prefix), "at_%" PRIu64 "_", marks[i].n);
		print_until(&marks[i], prefix);
		printf(" %spages_in=%" PRIu64, prefix,
		       (uint64_t)marks[i].status.counters.pages_in);
	}
	if (s->container >= 0) {
		printf(" exit=%u", now.status.exit.kind);
#define X(counter, help) printf(" " #counter "=%" PRIu64, (uint64_t)now.status.counters.counter);
		HIPEC_COUNTERS(X)
#undef X
	}
	printf("\n");
}
