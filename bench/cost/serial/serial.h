/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A module that counts what it does under its locks, and in its policies' commands, in
 * instructions: for a guest of run.py --det, whose one CPU's time stamps are those. Each
 * file of the module includes this first (Kbuild); what counting costs is
 * taken off again.
 *
 * All containers' locks are one here, as are locks of one name in one file.
 */
#ifndef HIPEC_BENCH_SERIAL_H
#define HIPEC_BENCH_SERIAL_H

#include <linux/mutex.h>
#include <linux/spinlock.h>

/**
 * struct hipec_serial - a lock, or something else that is counted
 * @name:  as in "pool.c:lock"; the containers' is "container", and commands are "events"
 * @depth: how often it is held now
 * @since: when it was taken
 * @nr:    times that it was
 * @held:  instructions in all
 */
struct hipec_serial {
	char name[40];
	unsigned int depth;
	u64 since, nr, held;
};

struct hipec_serial *hipec_serial_of(const char *file, const char *lock);
void hipec_serial_begin(struct hipec_serial *s);
void hipec_serial_end(struct hipec_serial *s);

#define SERIAL(l) ({						\
	static struct hipec_serial *serial_;			\
	if (unlikely(!serial_))					\
		serial_ = hipec_serial_of(__FILE__, #l);	\
	serial_; })

/* A name in parentheses is no macro's. */
#define SERIAL_LOCK(lock, l) do {	\
	(lock)(l);			\
	hipec_serial_begin(SERIAL(l));	\
} while (0)

#define SERIAL_UNLOCK(unlock, l) do {	\
	hipec_serial_end(SERIAL(l));	\
	(unlock)(l);			\
} while (0)

#define SERIAL_TRY(expression, success, l) ({	\
	int ret_ = (expression);		\
	if (ret_ == (success))			\
		hipec_serial_begin(SERIAL(l));	\
	ret_; })

#define mutex_lock(l) SERIAL_LOCK(mutex_lock, l)
#define mutex_unlock(l) SERIAL_UNLOCK(mutex_unlock, l)
#define mutex_lock_killable(l) SERIAL_TRY((mutex_lock_killable)(l), 0, l)
#define mutex_trylock(l) SERIAL_TRY((mutex_trylock)(l), 1, l)
#define spin_lock(l) SERIAL_LOCK(spin_lock, l)
#define spin_unlock(l) SERIAL_UNLOCK(spin_unlock, l)

#include "vm/tracer.h"

#define hipec_tracer_run(vm, event) ({			\
	int ret_;					\
	hipec_serial_begin(SERIAL(events));		\
	ret_ = (hipec_tracer_run)(vm, event);		\
	hipec_serial_end(SERIAL(events));		\
	ret_; })

#endif /* HIPEC_BENCH_SERIAL_H */
