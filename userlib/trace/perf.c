// SPDX-License-Identifier: GPL-2.0-only
/*
 * What "perf script" prints of the kernel's events "filemap": which pages of which files
 * are read, whoever reads them and by whatever call. A read is one event for each batch of
 * pages that it gets; where the events of calls that return are in the log as well, a read
 * that the end of the file cuts short is cut here. Files have no names in these events,
 * except for programs and libraries, which are left out.
 */
#include <errno.h>
#include <stdlib.h>

#include "reader.h"

#define GET_PAGES "filemap:mm_filemap_get_pages: "
#define MAP_PAGES "filemap:mm_filemap_map_pages: "
#define FAULT "filemap:mm_filemap_fault: "

/* A read of which nobody knows yet whether it gets all of its pages. */
struct pending {
	u64 task;
	u32 file;
	u64 first, last;	/* pages */
	u64 next;		/* the one that its last batch began with */
	bool waits;
};

struct known {	/* of a file */
	bool code;	/* it was mapped for execution */
	u64 mapped;	/* pages, each time that they were */
};

struct perf {
	struct trace_in *r;
	struct trace_files files;
	struct known *known;	/* by file */
	size_t max_known;
	struct pending *pending;	/* by task */
	size_t nr_pending;
	u64 code, mapped;	/* accesses to code, which are left out; pages of others */
	u64 lost;		/* records */
};

bool trace_is_perf(const char *line)
{
	return strstr(line, "filemap:mm_filemap_") || strstr(line, ": PERF_RECORD_MMAP");
}

/* The number in front of "[001]", which is the processor; 0: there is none. */
static u64 task_of(const char *line)
{
	const char *c = line;

	while ((c = strstr(c, " ["))) {
		size_t n = strspn(c + 2, "0123456789");
		const char *end = c;

		if (n && c[2 + n] == ']') {
			while (c > line && c[-1] >= '0' && c[-1] <= '9')
				c--;
			return c < end ? strtoull(c, NULL, 10) : 0;
		}
		c += 2;
	}
	return 0;
}

/* The number of a file, with room for what is known of it. */
static s64 file_of(struct perf *p, u32 major, u32 minor, u64 inode)
{
	char name[64];
	s64 file;

	snprintf(name, sizeof(name), "inode %llu of %u:%u", (unsigned long long)inode,
		 major, minor);
	file = trace_file(p->r, &p->files, name);
	if (file >= (s64)p->max_known) {
		size_t max = file < 8 ? 16 : 2 * file;
		struct known *more = reallocarray(p->known, max, sizeof(*more));

		if (!more)
			return -ENOMEM;
		memset(more + p->max_known, 0, (max - p->max_known) * sizeof(*more));
		p->known = more;
		p->max_known = max;
	}
	return file;
}

static struct pending *pending_of(struct perf *p, u64 task)
{
	struct pending *more;
	size_t i;

	for (i = p->nr_pending; i--;)
		if (p->pending[i].task == task)
			return &p->pending[i];
	/* 16, 32 and so on have room. */
	if (!p->nr_pending || (p->nr_pending >= 16 && !(p->nr_pending & (p->nr_pending - 1)))) {
		more = reallocarray(p->pending, p->nr_pending ? 2 * p->nr_pending : 16,
				    sizeof(*more));
		if (!more)
			return NULL;
		p->pending = more;
	}
	p->pending[p->nr_pending] = (struct pending){ .task = task };
	return &p->pending[p->nr_pending++];
}

/* Accesses to pages @first to @last. */
static int touch(struct perf *p, u32 file, u64 first, u64 last)
{
	return trace_touch(p->r, &p->files, file, first * TRACE_PAGE_BYTES,
			   (last - first + 1) * TRACE_PAGE_BYTES, false);
}

static int end_read(struct perf *p, struct pending *one)
{
	if (!one->waits)
		return 0;
	one->waits = false;
	return touch(p, one->file, one->first, one->last);
}

/* A call has returned: a read that gave so few bytes was at the end of its file. */
static int end_call(struct perf *p, const char *call)
{
	struct pending *one = pending_of(p, task_of(p->r->line));
	const char *value = strstr(call, ": ");
	size_t n = strcspn(call, ":");
	bool reads = false;
	u64 bytes, pages;
	size_t i;

	if (!one)
		return -ENOMEM;
	if (!one->waits || !value)
		return 0;
	for (i = 0; i + 4 <= n; i++)
		reads = reads || !strncmp(call + i, "read", 4);
	bytes = strtoull(value + 2, NULL, 0);
	if (reads && (s64)bytes <= 0) {
		one->waits = false;
		return 0;
	}
	pages = one->last - one->first;
	if (reads && pages > 1 && bytes < (pages - 1) * TRACE_PAGE_BYTES + 2)
		one->last = one->first + (bytes - 1) / TRACE_PAGE_BYTES;
	return end_read(p, one);
}

/* Pages of a file are to be read: all of a request, or the rest of it. */
static int get_pages(struct perf *p, u32 file, u64 first, u64 last)
{
	struct pending *one = pending_of(p, task_of(p->r->line));
	int ret;

	if (!one)
		return -ENOMEM;
	if (one->waits && one->file == file && one->last == last && first > one->next) {
		one->next = first;
		return 0;
	}
	ret = end_read(p, one);
	*one = (struct pending){ one->task, file, first, last, first, true };
	return ret;
}

static int map_pages(struct perf *p, u32 file, u64 first, u64 last)
{
	struct pending *one = pending_of(p, task_of(p->r->line));

	p->known[file].mapped += last - first + 1;
	return one ? end_read(p, one) ?: touch(p, file, first, last) : -ENOMEM;
}

/* "dev=254:0 ino=9a8039 ofs=0-131071", and with one offset for a fault. */
static int read_event(struct perf *p, const char *event)
{
	int (*act)(struct perf *p, u32 file, u64 first, u64 last) =
		strstr(event, GET_PAGES) == event ? get_pages : map_pages;
	unsigned long long inode, from, to;
	unsigned int major, minor;
	s64 file;
	int n;

	n = sscanf(strchr(event, ' ') + 1, "dev=%u:%u ino=%llx ofs=%llu-%llu", &major,
		   &minor, &inode, &from, &to);
	if (n == 4)
		to = from;
	if (n < 4 || to < from || to / TRACE_PAGE_BYTES - from / TRACE_PAGE_BYTES >= SIM_MAX_PAGES)
		return trace_malformed(p->r, "want 'dev=MAJOR:MINOR ino=INODE ofs=FROM-TO', not '%s'",
				       trace_quote(p->r, event));
	file = file_of(p, major, minor, inode);
	return file < 0 ? file : act(p, file, from / TRACE_PAGE_BYTES, to / TRACE_PAGE_BYTES);
}

/* "[0x7f00(0x6000) @ 0x3000 fe:00 326657 0]: r-xp /usr/lib/libnuma.so": code. */
static int note_map(struct perf *p, const char *map)
{
	const char *at = strstr(map, " @ "), *prot = strstr(map, "]: ");
	unsigned int major, minor;
	unsigned long long inode;
	s64 file;

	if (!at || !prot || !memchr(prot, 'x', strnlen(prot, 7)) ||
	    sscanf(at, " @ %*x %x:%x %llu", &major, &minor, &inode) != 3 || !inode)
		return 0;
	file = file_of(p, major, minor, inode);
	if (file >= 0)
		p->known[file].code = true;
	return file < 0 ? file : 0;
}

static int read_line(struct perf *p)
{
	static const char *const events[] = { GET_PAGES, MAP_PAGES, FAULT };
	const char *c;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(events); i++) {
		c = strstr(p->r->line, events[i]);
		if (c)
			return read_event(p, c);
	}
	c = strstr(p->r->line, "syscalls:sys_exit_");
	if (c)
		return end_call(p, c + strlen("syscalls:"));
	c = strstr(p->r->line, "PERF_RECORD_MMAP2 ");
	if (c)
		return note_map(p, c);
	p->lost += !!strstr(p->r->line, "PERF_RECORD_LOST");
	return 0;
}

/* Programs and libraries go; what of the others was mapped is counted. */
static void leave_code(struct perf *p)
{
	size_t i, n = 0;

	for (i = 0; i < p->files.nr_ops; i++)
		if (p->known[p->files.op[i].file].code)
			p->code += p->files.op[i].nr;
		else
			p->files.op[n++] = p->files.op[i];
	p->files.nr_ops = n;
	p->files.nr_accesses -= p->code;
	for (i = 0; i < p->files.nr_files; i++)
		if (p->known[i].code)
			p->files.file[i].pages = 0;
		else
			p->mapped += p->known[i].mapped;
}

static int end_log(struct perf *p, struct trace *t)
{
	size_t i;
	int ret = 0;

	for (i = 0; i < p->nr_pending && !ret; i++)
		ret = end_read(p, &p->pending[i]);
	if (ret)
		return ret;
	leave_code(p);
	ret = trace_files_end(p->r, &p->files, t);
	if (!ret && p->code)
		ret = trace_note(t, "left out %llu accesses to programs and libraries",
				 (unsigned long long)p->code);
	if (!ret && p->mapped)
		ret = trace_note(t, "%llu pages were mapped: touches of pages that are mapped already are not in this log",
				 (unsigned long long)p->mapped);
	if (!ret && p->lost)
		ret = trace_note(t, "perf lost records, %llu times: accesses are missing",
				 (unsigned long long)p->lost);
	if (p->lost)
		t->partial = "records are missing";
	else if (p->mapped > p->files.nr_accesses / 10)
		t->partial = "the kernel does not tell of touches of mapped pages";
	return ret;
}

int trace_read_perf(struct trace_in *r, struct trace *t)
{
	struct perf p = { .r = r };
	int ret;

	while ((ret = trace_next_line(r)) > 0) {
		ret = read_line(&p);
		if (ret)
			break;
	}
	if (!ret)
		ret = end_log(&p, t);
	trace_files_free(&p.files);
	free(p.known);
	free(p.pending);
	return ret;
}
