// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of a compilation: one arena, which goes with it.
 *
 * Interface:
 * ampc_alloc(), ampc_grow(), ampc_strndup(), ampc_printf(), ampc_free()
 * ampc_mark(), ampc_release()  for work space
 */
#include <stdlib.h>

#include "mark.h"

/* Bytes; under ASan each object has a chunk of its own, whose ends are watched. */
#ifdef __SANITIZE_ADDRESS__
#define CHUNK_SIZE 0
#else
#define CHUNK_SIZE 65536
#endif

struct ampc_chunk {
	struct ampc_chunk *next;
	size_t used, size;	/* bytes of data */
	max_align_t data[];
};

static void *xmalloc(size_t size)
{
	void *p = malloc(size);

	if (!p) {
		fprintf(stderr, "ampc: error: out of memory\n");
		exit(1);
	}
	return p;
}

/**
 * ampc_alloc() - zeroed memory that lives as long as the compilation
 * @c:    compilation
 * @size: bytes
 *
 * Return: the memory; does not return if there is none.
 */
void *ampc_alloc(struct ampc *c, size_t size)
{
	struct ampc_chunk *chunk = c->chunks;
	void *p;

	if (CHUNK_SIZE)
		size = (size + sizeof(max_align_t) - 1) & -sizeof(max_align_t);
	if (!chunk || chunk->size - chunk->used < size) {
		size_t room = size > CHUNK_SIZE ? size : CHUNK_SIZE;

		chunk = xmalloc(sizeof(*chunk) + room);
		*chunk = (struct ampc_chunk){ .next = c->chunks, .size = room };
		c->chunks = chunk;
	}
	p = (char *)chunk->data + chunk->used;
	chunk->used += size;
	return memset(p, 0, size);
}

/**
 * ampc_grow() - make room for one more element of an array
 * @c:    compilation
 * @old:  array, or NULL
 * @nr:   elements in use
 * @max:  elements there is room for; updated
 * @size: bytes of an element
 *
 * Return: the array, moved if it was full.
 */
void *ampc_grow(struct ampc *c, void *old, size_t nr, u32 *max, size_t size)
{
	void *p;

	if (nr < *max)
		return old;
	*max = *max ? 2 * *max : 16;
	p = ampc_alloc(c, *max * size);
	if (nr)
		memcpy(p, old, nr * size);
	return p;
}

/* Where the memory ends now, for ampc_release(). */
struct ampc_mark ampc_mark(const struct ampc *c)
{
	return (struct ampc_mark){
		.chunk = c->chunks,
		.used = c->chunks ? c->chunks->used : 0,
	};
}

/* Give back what was allocated since @mark. */
void ampc_release(struct ampc *c, struct ampc_mark mark)
{
	while (c->chunks != mark.chunk) {
		struct ampc_chunk *next = c->chunks->next;

		free(c->chunks);
		c->chunks = next;
	}
	if (c->chunks)
		c->chunks->used = mark.used;
}

/* Copy of the @n bytes at @s, and a zero. */
char *ampc_strndup(struct ampc *c, const char *s, size_t n)
{
	return memcpy(ampc_alloc(c, n + 1), s, n);
}

/* Formatted text of any length. */
char *ampc_printf(struct ampc *c, const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	s = ampc_alloc(c, n + 1);
	va_start(ap, fmt);
	vsnprintf(s, n + 1, fmt, ap);
	va_end(ap);
	return s;
}

/* Give back all memory of the compilation. */
void ampc_free(struct ampc *c)
{
	ampc_release(c, (struct ampc_mark){ NULL, 0 });
}
