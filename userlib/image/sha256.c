// SPDX-License-Identifier: GPL-2.0-only
/*
 * SHA-256 of a text in memory, as FIPS 180-4 defines it. The names are the
 * standard's. Its round constants are the first 32 bits of the fractions of
 * roots of primes, so they are computed here, in integers.
 */
#include "sha256.h"

#define BLOCK 64	/* bytes */
#define ROUNDS 64

struct state {
	u32 h[8];
	u32 k[ROUNDS];
};

static u32 rotr(u32 x, u32 n)
{
	return x >> n | x << (32 - n);
}

/* The first 32 bits behind the point of the 2nd or 3rd root of @n. */
static u32 root_fraction(u32 n, u32 degree)
{
	/* The largest x with (x / 2^32)^degree <= n, bit by bit. */
	u64 root = 0, next;
	u32 bit;

	for (bit = 40; bit--; ) {
		unsigned __int128 power;

		next = root | 1ull << bit;
		power = (unsigned __int128)next * next;
		if (degree == 2) {
			if (power <= (unsigned __int128)n << 64)
				root = next;
			continue;
		}
		/* n / next, rounded down, is enough to compare with. */
		if (power <= ((unsigned __int128)n << 96) / next)
			root = next;
	}
	return root;
}

static bool is_prime(u32 n)
{
	u32 i;

	for (i = 2; i * i <= n; i++)
		if (n % i == 0)
			return false;
	return true;
}

static void start(struct state *s)
{
	u32 n, nr = 0;

	for (n = 2; nr < ROUNDS; n++) {
		if (!is_prime(n))
			continue;
		if (nr < ARRAY_SIZE(s->h))
			s->h[nr] = root_fraction(n, 2);
		s->k[nr++] = root_fraction(n, 3);
	}
}

static void expand(const u8 *block, u32 *w)
{
	u32 t;

	for (t = 0; t < 16; t++)
		w[t] = (u32)block[4 * t] << 24 | block[4 * t + 1] << 16 |
		       block[4 * t + 2] << 8 | block[4 * t + 3];
	for (; t < ROUNDS; t++) {
		u32 x = w[t - 15], y = w[t - 2];

		w[t] = (rotr(y, 17) ^ rotr(y, 19) ^ y >> 10) + w[t - 7] +
		       (rotr(x, 7) ^ rotr(x, 18) ^ x >> 3) + w[t - 16];
	}
}

static void add_block(struct state *s, const u8 *block)
{
	u32 w[ROUNDS], v[ARRAY_SIZE(s->h)], t, i;

	expand(block, w);
	memcpy(v, s->h, sizeof(v));
	for (t = 0; t < ROUNDS; t++) {
		const u32 a = v[0], b = v[1], c = v[2], e = v[4];
		const u32 ch = (e & v[5]) ^ (~e & v[6]);
		const u32 maj = (a & b) ^ (a & c) ^ (b & c);
		const u32 t1 = v[7] + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) +
			       ch + s->k[t] + w[t];

		memmove(v + 1, v, sizeof(v) - sizeof(v[0]));
		v[4] += t1;
		v[0] = t1 + (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + maj;
	}
	for (i = 0; i < ARRAY_SIZE(v); i++)
		s->h[i] += v[i];
}

/**
 * ampc_sha256() - SHA-256
 * @bytes: message
 * @size:  bytes of it
 * @hash:  gets the digest
 */
void ampc_sha256(const void *bytes, size_t size, u8 hash[HIPEC_HASH_SIZE])
{
	u8 last[2 * BLOCK] = { 0 };
	size_t whole = size - size % BLOCK, rest = size - whole, i;
	/* A one bit, and the length in 8 bytes, need room behind the rest. */
	size_t end = rest + 9 <= BLOCK ? BLOCK : 2 * BLOCK;
	struct state s;

	start(&s);
	for (i = 0; i < whole; i += BLOCK)
		add_block(&s, (const u8 *)bytes + i);
	memcpy(last, (const u8 *)bytes + whole, rest);
	last[rest] = 0x80;
	for (i = 0; i < 8; i++)
		last[end - 1 - i] = (u64)size * 8 >> 8 * i;
	for (i = 0; i < end; i += BLOCK)
		add_block(&s, last + i);
	for (i = 0; i < HIPEC_HASH_SIZE; i++)
		hash[i] = s.h[i / 4] >> (24 - 8 * (i % 4));
}
