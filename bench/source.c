// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mapping, options and measurement of the benchmarks. See source.h.
 */
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
#include "../userlib/hipec.h"

struct disk_stat {
	uint64_t reads, sectors_read, writes, sectors_written;
};

static struct {
	struct timespec time;
	struct rusage usage;
	struct disk_stat disk;
} start;

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

/* Fill @o; exits with status 2 unless exactly @nr_files arguments are left. */
void parse_options(struct options *o, int argc, char **argv,
		   const char *usage, int nr_files)
{
	static const struct option table[] = {
		{ "policy", required_argument, NULL, 'p' },
		{ "frames", required_argument, NULL, 'f' },
		{ "cluster", required_argument, NULL, 'c' },
		{ "advice", required_argument, NULL, 'a' },
		{ "disk", required_argument, NULL, 'd' },
		{ "passes", required_argument, NULL, 'n' },
		{ "write", no_argument, NULL, 'w' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	int c;

	*o = (struct options){ .advice = "none", .passes = 8, .frames = 1024 };
	while ((c = getopt_long(argc, argv, "h", table, NULL)) != -1) {
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
		case 'w':
			o->write = true;
			break;
		case 'h':
			fputs(usage, stdout);
			exit(0);
		default:
			fputs(usage, stderr);
			exit(2);
		}
	}
	if (argc - optind != nr_files) {
		fputs(usage, stderr);
		exit(2);
	}
}

/* A container of its own and a region over the whole file. */
static int open_region(struct source *s, const struct options *o, int file,
		       uint64_t frames)
{
	char log[512] = "";
	int ret;

	s->container = hipec_open();
	if (s->container < 0) {
		errno = -s->container;
		die(HIPEC_DEVICE);
	}
	ret = hipec_load_file(s->container, o->policy, frames, o->cluster, log,
			      sizeof(log));
	if (ret < 0) {
		fprintf(stderr, "%s: %s%s%s\n", o->policy, strerror(-ret),
			*log ? ": " : "", log);
		exit(1);
	}
	s->region = hipec_attach(s->container, file, 0, 0, o->write, NULL);
	if (s->region < 0) {
		errno = -s->region;
		die("attach");
	}
	return s->region;
}

/* Map the whole of @path; exits with a message if that fails. */
void source_open(struct source *s, const struct options *o, const char *path,
		 uint64_t frames)
{
	int prot = PROT_READ | (o->write ? PROT_WRITE : 0);
	int file = open(path, o->write ? O_RDWR : O_RDONLY);
	struct stat st;
	int fd;

	if (file < 0 || fstat(file, &st))
		die(path);
	s->bytes = st.st_size;
	s->container = s->region = -1;
	fd = o->policy ? open_region(s, o, file, frames) : file;
	s->base = mmap(NULL, s->bytes, prot, MAP_SHARED, fd, 0);
	if (s->base == MAP_FAILED)
		die("mmap");
	close(file);
	if (!strcmp(o->advice, "random")) {
		if (madvise(s->base, s->bytes, MADV_RANDOM))
			die("madvise");
	} else if (!strcmp(o->advice, "sequential")) {
		if (madvise(s->base, s->bytes, MADV_SEQUENTIAL))
			die("madvise");
	} else if (strcmp(o->advice, "none")) {
		fprintf(stderr, "advice is none, random or sequential\n");
		exit(2);
	}
}

void source_close(struct source *s)
{
	munmap(s->base, s->bytes);
	if (s->region >= 0 && (close(s->region) || close(s->container)))
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

void measure_begin(const struct options *o)
{
	read_disk(o->disk, &start.disk);
	getrusage(RUSAGE_SELF, &start.usage);
	clock_gettime(CLOCK_MONOTONIC, &start.time);
}

void measure_end(const struct options *o, const struct source *s,
		 const char *name)
{
	struct hipec_status status = { 0 };
	struct disk_stat disk;
	struct timespec now;
	struct rusage usage;

	clock_gettime(CLOCK_MONOTONIC, &now);
	getrusage(RUSAGE_SELF, &usage);
	read_disk(o->disk, &disk);
	printf("bench=%s policy=%s advice=%s frames=%" PRIu64 " passes=%" PRIu64,
	       name, o->policy ? o->policy : "-", o->advice, o->frames,
	       o->passes);
	printf(" elapsed_ns=%" PRIu64 " major=%ld minor=%ld",
	       (uint64_t)(now.tv_sec - start.time.tv_sec) * 1000000000 +
	       now.tv_nsec - start.time.tv_nsec,
	       usage.ru_majflt - start.usage.ru_majflt,
	       usage.ru_minflt - start.usage.ru_minflt);
	printf(" disk_reads=%" PRIu64 " disk_pages=%" PRIu64
	       " disk_written=%" PRIu64, disk.reads - start.disk.reads,
	       (disk.sectors_read - start.disk.sectors_read) / 8,
	       (disk.sectors_written - start.disk.sectors_written) / 8);
	if (s->container >= 0) {
		int ret = hipec_status(s->container, &status);

		if (ret) {
			errno = -ret;
			die("status");
		}
		printf(" exit=%u", status.exit.kind);
#define X(counter, help) printf(" " #counter "=%" PRIu64, (uint64_t)status.counters.counter);
		HIPEC_COUNTERS(X)
#undef X
	}
	printf("\n");
}
