// SPDX-License-Identifier: GPL-2.0-only
/*
 * Operations on /dev/hipec: policies sound and unsound, arguments right and wrong.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>

#include "hostile.h"

#define DIR_POLICIES "/hipec/policies/"
#define MAX_POLICIES 128

static struct {
	void *image;
	size_t size;
} policy[MAX_POLICIES];
static uint32_t nr_policies;

/* Return: 0; -errno, said. */
int read_policies(void)
{
	DIR *dir = opendir(DIR_POLICIES);
	struct dirent *e;
	char path[512];
	int ret = 0;

	while (dir && !ret && (e = readdir(dir)) && nr_policies < MAX_POLICIES) {
		if (!strstr(e->d_name, ".hpo"))
			continue;
		snprintf(path, sizeof(path), DIR_POLICIES "%s", e->d_name);
		ret = hipec_image_read(path, &policy[nr_policies].image,
				       &policy[nr_policies].size);
		nr_policies++;
	}
	if (dir)
		closedir(dir);
	if (!ret && !nr_policies)
		ret = -ENOENT;
	if (ret)
		fprintf(stderr, "%s: %s\n", DIR_POLICIES, strerror(-ret));
	return ret;
}

static uint64_t some_frames(void)
{
	uint32_t dice = below(100);

	return dice < 85 ? 1 + below(48) : dice < 98 ? 1 + below(2048) :
	       dice < 99 ? 0 : fuzz_random(&w.rng) >> below(64);
}

/* An open container, at times one in place; a new one if there is none, or if @fresh. */
struct hold *container(bool fresh)
{
	struct hold *h = fresh ? NULL : any_hold(chance(80) ? w.container : w.place);

	if (h)
		return h;
	h = place_for(w.container);
	h->fd = hipec_open();
	return h->fd < 0 ? NULL : h;
}

int load_with(struct hold *h, const void *image, size_t size, uint32_t flags)
{
	struct hipec_load a = {
		.image = (uintptr_t)image, .image_size = size,
		.frames = some_frames(), .cluster = below(6) ? below(33) : 1,
		.seed = below(3), .flags = flags,
	};
	char text[200];
	int ret;

	if (chance(50)) {
		a.log = (uintptr_t)text;
		a.log_size = below(sizeof(text) + 1);
	}
	ret = hipec_load_args(h->fd, &a);
	h->loaded |= !ret;
	return ret;
}

static int load(struct hold *h, const void *image, size_t size)
{
	return load_with(h, image, size, chance(50) ? HIPEC_LOAD_SHARE : 0);
}

static struct hold *empty_container(void)
{
	struct hold *h = any_hold(w.container);

	return h && !h->loaded && chance(70) ? h : container(true);
}

int op_open(void)
{
	return container(true) ? 0 : -EMFILE;
}

int op_load_policy(void)
{
	struct hold *h = chance(95) ? empty_container() : container(false);
	uint32_t i = below(nr_policies);

	if (h && chance(10))
		return load(h, NULL, 0);	/* the built-in one */
	return h ? load(h, policy[i].image, policy[i].size) : -EMFILE;
}

int op_load_generated(void)
{
	static uint64_t image[FUZZ_MAX_IMAGE / 8];
	struct hold *h = empty_container();
	size_t size = fuzz_generate(fuzz_random(&w.rng), image, sizeof(image));

	return h ? load(h, image, size) : -EMFILE;
}

static size_t copy_policy(uint64_t *image)
{
	uint32_t i = below(nr_policies);

	if (policy[i].size > FUZZ_MAX_IMAGE)
		return 0;
	memcpy(image, policy[i].image, policy[i].size);
	return policy[i].size;
}

/* A policy of any kind; none: the built-in one. Return: its size. */
size_t some_image(const void **image)
{
	static uint64_t room[FUZZ_MAX_IMAGE / 8];
	uint32_t dice = below(100), i = below(nr_policies);
	size_t size;

	*image = dice < 10 ? NULL : room;
	if (dice < 10)
		return 0;
	if (dice < 65) {
		*image = policy[i].image;
		return policy[i].size;
	}
	if (dice < 80)
		return fuzz_generate(fuzz_random(&w.rng), room, sizeof(room));
	size = copy_policy(room);
	return size ? fuzz_mutate(fuzz_random(&w.rng), room, size, sizeof(room)) : 0;
}

int op_load_mutated(void)
{
	static uint64_t image[FUZZ_MAX_IMAGE / 8];
	struct hold *h = empty_container();
	size_t size = copy_policy(image), n;
	uint32_t i;

	for (i = below(4); size && i < 4; i++) {
		n = fuzz_mutate(fuzz_random(&w.rng), image, size,
				sizeof(image));
		if (!n)
			return -ENOSPC;
		size = n;
	}
	return h && size ? load(h, image, size) : -EMFILE;
}

/* Bytes changed, and cut short; the verifier finds most of it. */
int op_load_damaged(void)
{
	static uint64_t image[FUZZ_MAX_IMAGE / 8];
	struct hold *h = empty_container();
	size_t size = copy_policy(image);
	uint32_t i;

	if (!h || !size)
		return -EMFILE;
	for (i = below(4); i < 4; i++)
		((uint8_t *)image)[chance(70) ? below(size) :
				   size - 1 - below(size / 2)] = chance(50) ? below(256) :
							       below(16);
	return load(h, image, chance(90) ? size : below(size));
}

/* Fill the argument of an ioctl. Its size is the value. */
#define FILL(type, ...)                                         \
	({                                                      \
		*(struct type *)arg = (struct type){ __VA_ARGS__ }; \
		sizeof(struct type);                            \
	})

/* The struct of an ioctl as a sound caller has it. */
static size_t sound_args(unsigned int nr, void *arg)
{
	struct hold *f = any_hold(w.file);
	uint32_t i = below(nr_policies);
	uintptr_t image = (uintptr_t)policy[i].image;
	int fd = f ? f->fd : -1;

	switch (nr) {
	case _IOC_NR(HIPEC_IOC_QUERY):
		return FILL(hipec_query, 0);
	case _IOC_NR(HIPEC_IOC_LOAD):
		return FILL(hipec_load, .image = image, .image_size = policy[i].size, .frames = 8);
	case _IOC_NR(HIPEC_IOC_ATTACH):
		return FILL(hipec_attach, .fd = fd);
	case _IOC_NR(HIPEC_IOC_OPERAND):
		return FILL(hipec_operand, .slot = below(12));
	case _IOC_NR(HIPEC_IOC_RECORD):
		return FILL(hipec_record, .ring = HIPEC_RECORD_MIN_RING);
	case _IOC_NR(HIPEC_IOC_SAMPLE):
		return FILL(hipec_sample, .threshold = 1ull << below(33),
			    .ring = HIPEC_RECORD_MIN_RING);
	case _IOC_NR(HIPEC_IOC_SWAP):
		return FILL(hipec_swap, .image = image, .image_size = policy[i].size);
	case _IOC_NR(HIPEC_IOC_REVOKE):
		return FILL(hipec_revoke, 0);
	case _IOC_NR(HIPEC_IOC_WHY):
		return FILL(hipec_why, .flags = below(2), .fd = fd,
			    .offset = below(MAX_PAGES) * PAGE_BYTES);
	case _IOC_NR(HIPEC_IOC_SET_PARAM):
		return FILL(hipec_set_param, .slot = below(16), .value = below(4));
	case _IOC_NR(HIPEC_IOC_LOG):
		return FILL(hipec_log, 0);
	case _IOC_NR(HIPEC_IOC_TAKE):
		return FILL(hipec_take, .fd = fd);
	case _IOC_NR(HIPEC_IOC_RELEASE):
		return FILL(hipec_release, .fd = fd);
	case _IOC_NR(HIPEC_IOC_JOIN):
		return FILL(hipec_join, .image = image, .image_size = policy[i].size);
	case _IOC_NR(HIPEC_IOC_STANDING):
		return FILL(hipec_standing, .team = below(3));
	default:
		return FILL(hipec_status, 0);
	}
}

/* A region that an ioctl made without our asking: keep it as any other. */
void keep_region(int fd, uint64_t pages)
{
	struct hold *h = place_for(w.region);

	*h = (struct hold){ .fd = fd, .file = NR_BACKING, .pages = pages };
}

/* Some of it changed: fields, the size that it says, the size it has, flags. */
int op_changed_ioctl(void)
{
	static uint32_t arg[1024];
	struct hold *h = container(chance(30));
	unsigned int nr = chance(75) ? _IOC_NR(HIPEC_IOC_QUERY) + below(14) :
				       _IOC_NR(HIPEC_IOC_TAKE) + below(4);
	size_t size = sound_args(nr, memset(arg, 0, sizeof(arg)));
	uint32_t i;
	int ret;

	if (!h)
		return -EMFILE;
	arg[0] = chance(70) ? size : below(2 * size);
	arg[1] = chance(90) ? 0 : fuzz_random(&w.rng);
	for (i = below(4); i < 3; i++)
		arg[2 + below(size / 4 - 2)] ^= chance(50) ? 1u << below(32) :
						(uint32_t)fuzz_random(&w.rng);
	ret = or_errno(ioctl(h->fd, _IOWR('h', nr, struct hipec_query), arg));
	if (!ret && nr == _IOC_NR(HIPEC_IOC_ATTACH))
		keep_region(((struct hipec_attach *)arg)->region_fd, 1);
	if (!ret && nr == _IOC_NR(HIPEC_IOC_RECORD))
		keep_record(((struct hipec_record *)arg)->record_fd);
	if (!ret && nr == _IOC_NR(HIPEC_IOC_SAMPLE))
		keep_record(((struct hipec_sample *)arg)->sample_fd);
	if (!ret && nr == _IOC_NR(HIPEC_IOC_LOAD))
		h->loaded = true;
	return ret;
}

/* Another policy for one's own container, or for any: sound, random or none. */
int op_swap(void)
{
	static uint64_t image[FUZZ_MAX_IMAGE / 8];
	struct hold *h = container(false);
	struct hipec_status s = { 0 };
	struct hipec_swap a = { 0 };
	uint32_t i = below(nr_policies);

	if (!h)
		return -EMFILE;
	if (chance(20) && !hipec_next(h->fd, below(1000), &s))
		a.id = s.id;
	if (chance(70)) {
		a.image = (uintptr_t)policy[i].image;
		a.image_size = policy[i].size;
	} else if (chance(80)) {
		a.image = (uintptr_t)image;
		a.image_size = fuzz_generate(fuzz_random(&w.rng), image,
					     sizeof(image));
	}
	return hipec_swap_args(h->fd, &a);
}

/*
 * A rival, of which some never end, or another budget. Most play in the accesses of whoever
 * has the container's mappings.
 */
int op_join(void)
{
	struct hold *h = container(false);
	uint32_t i = below(nr_policies);

	if (!h)
		return -EMFILE;
	if (chance(20))
		return hipec_join_budget(h->fd, 0, below(HIPEC_MAX_QUARTERS + 2), NULL, 0);
	return hipec_join(h->fd, 0, policy[i].image, policy[i].size, NULL, 0);
}

int op_standing(void)
{
	struct hold *h = container(false);
	struct hipec_standing s;
	int ret;

	if (!h)
		return -EMFILE;
	/* There is a league, most often. */
	if (chance(50))
		hipec_join(h->fd, 0, NULL, 0, NULL, 0);
	ret = hipec_standing(h->fd, 0, chance(50) ? 0 : below(HIPEC_MAX_TEAMS), &s);
	if (!ret && s.runs >= s.nr)
		wrong("standing: team %u of %u runs", s.runs, s.nr);
	return ret;
}

int op_revoke(void)
{
	struct hold *h = container(false);

	return h ? hipec_revoke(h->fd, 0) : -EMFILE;
}

int op_why(void)
{
	struct hold *h = container(false), *f = any_hold(w.file);
	struct hipec_why a = { .offset = below(MAX_PAGES) * PAGE_BYTES };
	int ret;

	if (!h)
		return -EMFILE;
	if (f && chance(30)) {
		a.flags = HIPEC_WHY_BY_FILE;
		a.fd = f->fd;
	}
	ret = hipec_why(h->fd, 0, &a);
	if (!ret && a.on && a.place >= a.nr)
		wrong("why: place %u of %u", a.place, a.nr);
	return ret;
}

/* Hints for some of a region, most of them sound. */
int op_hint(void)
{
	struct hold *r = any_hold(w.region);
	struct hipec_hint a = {
		.size = chance(95) ? sizeof(a) : below(64),
		.flags = chance(98) ? 0 : fuzz_random(&w.rng),
		.offset = below(40) * PAGE_BYTES + (chance(95) ? 0 : below(99)),
		.length = below(20) * PAGE_BYTES,
		.hint = below(chance(90) ? 4 : 300),
	};

	if (!r)
		return -EMFILE;
	return or_errno(ioctl(r->fd, HIPEC_IOC_HINT, &a));
}

int op_random_ioctl(void)
{
	static uint32_t arg[1024];
	struct hold *h = container(false);
	uint32_t i, nr = 0x7e + below(24);
	unsigned int cmd = _IOC(chance(80) ? 3 : below(4),
				chance(90) ? 'h' : below(256), nr, below(4096));
	void *at = chance(95) ? (void *)arg : (void *)fuzz_random(&w.rng);
	int ret;

	if (!h)
		return -EMFILE;
	for (i = 0; i < 128; i++)
		arg[i] = fuzz_random(&w.rng) & fuzz_random(&w.rng);
	if (chance(60)) {
		memset(arg, 0, sizeof(arg));
		arg[0] = below(1200);
	}
	ret = or_errno(ioctl(h->fd, cmd, at));
	if (!ret && at == arg && nr == _IOC_NR(HIPEC_IOC_ATTACH))
		keep_region(((struct hipec_attach *)arg)->region_fd, 1);
	if (!ret && at == arg && nr == _IOC_NR(HIPEC_IOC_RECORD))
		keep_record(((struct hipec_record *)arg)->record_fd);
	if (!ret && at == arg && nr == _IOC_NR(HIPEC_IOC_SAMPLE))
		keep_record(((struct hipec_sample *)arg)->sample_fd);
	return ret;
}

/* Loads that ask for too much, twice, or from nowhere; one in four is sound. */
int op_load_odd(void)
{
	struct hold *h = empty_container();
	uint32_t i = below(nr_policies);
	struct hipec_load a = {
		.image = (uintptr_t)policy[i].image,
		.image_size = policy[i].size, .frames = 4,
	};
	int ret;

	if (!h)
		return -EMFILE;
	a.flags = chance(30) ? HIPEC_LOAD_SHARE : 0;
	switch (below(8)) {
	case 0:
		a.frames = 1ull << below(64);
		break;
	case 1:
		a.image = chance(50) ? 0 : ~0ull << below(48);
		break;
	case 2:
		a.image_size = below(2 * policy[i].size);
		break;
	case 3:
		a.cluster = below(80);
		break;
	case 4:
		a.log = 8;
		a.log_size = 100;
		break;
	case 5:
		a.log_size = ~0u;
		break;
	}
	ret = hipec_load_args(h->fd, &a);
	h->loaded |= !ret;
	return ret;
}

int op_query(void)
{
	struct hold *h = container(false);
	struct hipec_query q = { 0 };

	return h ? hipec_query(h->fd, &q) : -EMFILE;
}

int op_status(void)
{
	struct hold *h = container(false);
	struct hipec_status s = { 0 };
	int ret = h ? hipec_status(h->fd, &s) : -EMFILE;

	if (!ret && s.free_frames > s.frames)
		wrong("status: %llu of %llu frames free",
		      (unsigned long long)s.free_frames,
		      (unsigned long long)s.frames);
	return ret;
}

int op_next(void)
{
	struct hold *h = container(false);
	struct hipec_status s = { 0 };
	uint64_t id = 0;
	int ret, nr = 0;

	if (!h)
		return -EMFILE;
	while (!(ret = hipec_next(h->fd, id, &s)) && ++nr < 200) {
		if (s.id <= id)
			wrong("next: id %llu is not above %llu",
			      (unsigned long long)s.id, (unsigned long long)id);
		id = s.id;
	}
	return ret == -ENOENT && nr ? 0 : ret;
}

int op_operand(void)
{
	struct hold *h = container(false);
	struct hipec_operand o;
	struct hipec_status s = { 0 };
	uint64_t id = 0;

	if (!h)
		return -EMFILE;
	if (chance(50) && !hipec_next(h->fd, below(1000), &s))
		id = s.id;
	return hipec_operand(h->fd, id, chance(90) ? below(20) : below(300),
			     &o);
}

int op_poll(void)
{
	struct hold *h = container(false);
	struct pollfd p = { .events = POLLIN };

	if (!h)
		return -EMFILE;
	p.fd = h->fd;
	return or_errno(poll(&p, 1, below(2)));
}
