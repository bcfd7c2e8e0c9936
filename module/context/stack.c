// SPDX-License-Identifier: GPL-2.0-only
/*
 * Walks of call stacks; stack.h says what for.
 *
 * A frame is believed if it is aligned, above what was walked, not far, and the
 * word above the saved frame pointer points behind a call instruction. The C library
 * has no frames: if the walk begins there, who called it is looked for below the
 * caller's frame; and frames that end there end the walk, as at main().
 *
 * Without frames the words above are tried. Of those that point behind calls many
 * are left from calls that have returned. So a direct call must lead to a little
 * below where its callee stands, or through the linkage table to the mapping that
 * that is in. Of an indirect call nothing is known.
 *
 * Interface: see stack.h
 */
#include "stack.h"

#define PAGE_BYTES 4096u
#define TOP (1ull << 47)	/* of addresses of programs, with four levels */

enum call { NO_CALL, DIRECT, INDIRECT };

/* A walk. @inner is where the last function stands, in @map if @known. */
struct walk {
	const struct hipec_stack_ops *ops;
	void *host;
	struct hipec_stack_point *point;
	u32 depth;
	struct hipec_stack *s;
	u64 inner;
	struct hipec_stack_map map;
	bool known;
	u64 sp;
	u64 bp;
	u64 end;
	u64 block_at;
	u64 block[HIPEC_STACK_BLOCK];
	u32 nr_ranges;
	struct hipec_stack_map range[HIPEC_STACK_RANGES];
};

static bool is_inside(const struct hipec_stack_map *map, u64 at)
{
	return at >= map->start && at < map->end;
}

static bool read_word(struct walk *w, u64 at, u64 *word)
{
	u64 from = at & -(u64)sizeof(w->block);

	if (from != w->block_at) {
		w->block_at = 1;	/* none */
		if (!w->ops->words(w->host, from, w->block))
			return false;
		w->block_at = from;
	}
	*word = w->block[(at - from) / 8];
	return true;
}

/* The executable mapping of a file that @at is in; NULL: it is in none. */
static const struct hipec_stack_map *map_of(struct walk *w, u64 at)
{
	struct hipec_stack_map *map = w->range;
	u32 i;

	for (i = 0; i < HIPEC_STACK_RANGES; i++, map++)
		if (at - map->start < map->end - map->start)
			return map->code ? map : NULL;
	map = &w->range[w->nr_ranges++ % HIPEC_STACK_RANGES];
	*map = (struct hipec_stack_map){ 0 };
	w->ops->map(w->host, at, map);
	return map->code && is_inside(map, at) ? map : NULL;
}

static bool read_code(struct walk *w, u64 at, u64 *bytes)
{
	return w->s->reads < HIPEC_STACK_READS && ++w->s->reads &&
	       w->ops->code(w->host, at, bytes);
}

/* The eight bytes before @at; where the page before is not there, zeros for its. */
static bool read_before(struct walk *w, u64 at, u64 *bytes)
{
	u32 own = at % PAGE_BYTES;

	if (read_code(w, at - 8, bytes))
		return true;
	if (own < 2 || own >= 8 || !read_code(w, at - own, bytes))
		return false;
	*bytes <<= 8 * (8 - own);
	return true;
}

/* Bytes of "call *..." whose second byte is @modrm, and third @sib; 0: it is none. */
static u32 indirect_bytes(u8 modrm, u8 sib)
{
	u32 mod = modrm >> 6, rm = modrm & 7, n = 2;

	if ((modrm & 0x38) != 0x10)
		return 0;
	if (mod == 3)
		return n;
	if (rm == 4)
		n++;
	if (mod == 1)
		return n + 1;
	if (mod == 2 || rm == 5 || (rm == 4 && (sib & 7) == 5))
		return n + 4;
	return n;
}

/* What call ends at @at, in @map, and where does a direct one lead to? */
static enum call call_before(struct walk *w, u64 at,
			     const struct hipec_stack_map *map, u64 *target)
{
	u64 bytes;
	u32 n;

	if (at - map->start < 2 || !read_before(w, at, &bytes))
		return NO_CALL;
	if ((u8)(bytes >> 24) == 0xe8) {
		*target = at + (u64)(s64)(s32)(bytes >> 32);
		if (is_inside(map, *target))
			return DIRECT;
	}
	for (n = 2; n <= 7; n++) {
		u64 insn = bytes >> 8 * (8 - n);

		if ((u8)insn == 0xff &&
		    indirect_bytes(insn >> 8, n > 2 ? insn >> 16 : 0) == n)
			return INDIRECT;
	}
	return NO_CALL;
}

/* A jump through the linkage table at @at: where to? */
static bool jumps_to(struct walk *w, u64 at, u64 *to)
{
	u64 bytes, entry;

	if (!read_code(w, at, &bytes))
		return false;
	if ((u32)bytes == 0xfa1e0ff3) {		/* endbr64 */
		at += 4;
		if (!read_code(w, at, &bytes))
			return false;
	}
	if ((u8)bytes == 0xf2) {		/* bnd */
		at++;
		bytes >>= 8;
	}
	if ((bytes & 0xffff) != 0x25ff)		/* jmp *...(%rip) */
		return false;
	entry = at + 6 + (u64)(s64)(s32)(bytes >> 16);
	return !(entry % 8) && read_word(w, entry, to);
}

/* Does a direct call to @target, from @map, explain that the callee stands at inner? */
static bool explains_inner_call(struct walk *w, u64 target,
				const struct hipec_stack_map *map)
{
	u64 to;

	if (!w->known)
		return false;
	if (is_inside(map, w->inner) && target <= w->inner &&
	    w->inner - target <= HIPEC_STACK_FUNCTION)
		return true;
	return jumps_to(w, target, &to) && is_inside(&w->map, to);
}

static void take_return_address(struct walk *w, u64 at, const struct hipec_stack_map *map)
{
	w->inner = at;
	w->map = *map;
	w->known = true;
	if (!map->skip && w->s->nr < w->depth)
		w->point[w->s->nr++] = (struct hipec_stack_point){
			map->file, at - map->start + map->offset,
		};
}

/*
 * A return address may be the first byte behind its function, so its file is that
 * of the byte before.
 */
static bool find_map(struct walk *w, u64 address, struct hipec_stack_map *map)
{
	const struct hipec_stack_map *found;

	if (address < PAGE_BYTES || address >= TOP)
		return false;
	found = map_of(w, address - 1);
	if (found)
		*map = *found;	/* the place may be used for another one */
	return found;
}

/* The frame at bp, if it is one. */
static bool find_stack_frame(struct walk *w, u64 *next, u64 *address,
			     struct hipec_stack_map *map)
{
	u64 target;

	return !(w->bp % 8) && w->bp >= w->sp &&
	       w->bp - w->sp <= HIPEC_STACK_FRAME && w->bp < TOP &&
	       read_word(w, w->bp, next) &&
	       read_word(w, w->bp + 8, address) &&
	       find_map(w, *address, map) &&
	       call_before(w, *address, map, &target) != NO_CALL;
}

static bool step_by_frame(struct walk *w)
{
	struct hipec_stack_map map;
	u64 next, address;

	if (!find_stack_frame(w, &next, &address, &map))
		return false;
	take_return_address(w, address, &map);
	w->sp = w->bp + 16;
	w->bp = next;
	w->s->frames++;
	return true;
}

/* The next word below @end that is a return address. */
static bool scan_for_return(struct walk *w, u64 end)
{
	struct hipec_stack_map map;
	u64 at, word, target;
	enum call call;

	if (w->end > w->sp && w->end < end)
		end = w->end;
	for (at = w->sp; at < end; at += 8) {
		if (w->s->words >= HIPEC_STACK_WORDS)
			return false;
		w->s->words++;
		if (!read_word(w, at, &word))
			return false;
		if (!find_map(w, word, &map))
			continue;
		call = call_before(w, word, &map, &target);
		if (call == NO_CALL ||
		    (call == DIRECT && !explains_inner_call(w, target, &map)))
			continue;
		take_return_address(w, word, &map);
		w->sp = at + 8;
		return true;
	}
	return false;
}

/*
 * The C library's calls from sp on, and who called it. Where there is a frame above
 * it is the caller's, and the search ends there.
 */
static void leave_library(struct walk *w)
{
	u64 from = w->sp, end = from + 8 * HIPEC_STACK_GAP, next, address;
	struct hipec_stack_map map;

	if (find_stack_frame(w, &next, &address, &map) && w->bp < end)
		end = w->bp;
	while (w->s->nr < w->depth && w->s->steps++ < HIPEC_STACK_STEPS) {
		if (!scan_for_return(w, end)) {
			w->sp = end;
			break;
		}
		if (!w->map.skip)
			break;
	}
	w->s->lead = (w->sp - from) / 8;
}

/* Behind the last frame, or where there is none. */
static void scan_rest(struct walk *w)
{
	u32 before = w->s->words;

	while (w->s->nr < w->depth && w->s->steps++ < HIPEC_STACK_STEPS)
		if (!scan_for_return(w, w->sp + 8 * HIPEC_STACK_GAP))
			break;
	w->s->tail = w->s->words - before;
}

/**
 * hipec_stack_walk() - the innermost points of a call stack
 * @ops:   of the host
 * @host:  handed to them
 * @regs:  of the program
 * @point: gets them, the innermost first
 * @depth: most points
 * @s:     gets how it went
 *
 * Nothing else decides than @regs->ip, @s->lead words of the stack, where @regs->bp
 * is from there, the return addresses of @s->frames frames, and @s->tail words behind
 * these: with the same mappings and the same of all this the answer is the same.
 *
 * Context: any; as the host's operations.
 * Return: points, 0 to @depth.
 * Source: ours.
 */
u32 hipec_stack_walk(const struct hipec_stack_ops *ops, void *host,
		     const struct hipec_stack_regs *regs,
		     struct hipec_stack_point *point, u32 depth,
		     struct hipec_stack *s)
{
	struct walk w = {
		.ops = ops, .host = host, .point = point, .depth = depth,
		.s = s, .sp = regs->sp, .bp = regs->bp, .end = regs->end,
		.block_at = 1,
	};
	const struct hipec_stack_map *map;

	*s = (struct hipec_stack){ 0 };
	if (regs->sp % 8 || regs->sp >= TOP)
		return 0;
	if (regs->ip && regs->ip < TOP) {
		map = map_of(&w, regs->ip);
		if (map)
			take_return_address(&w, regs->ip, map);
	}
	if (regs->ip && (!w.known || w.map.skip))
		leave_library(&w);
	while (s->nr < depth && s->steps++ < HIPEC_STACK_STEPS && step_by_frame(&w))
		;
	/* What is no frame now does not become one: so all words are of one piece. */
	if (s->nr < depth && !(s->frames && w.map.skip))
		scan_rest(&w);
	return s->nr;
}

/**
 * hipec_stack_context() - the program context
 * @point: the innermost first
 * @nr:    points
 *
 * Return: the context; 0 if there is no point.
 */
u64 hipec_stack_context(const struct hipec_stack_point *point, u32 nr)
{
	u64 hash = CONTEXT_NONE;
	u32 i;

	for (i = 0; i < nr; i++)
		hash = context_add(hash, context_add(point[i].file,
						     point[i].offset));
	return context_end(hash, nr);
}
