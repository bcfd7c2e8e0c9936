/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What hipec needs of a machine: checks, as rows of one table.
 *
 * Interface:
 * doctor_open()     look at a machine
 * doctor_check()    one check of it
 * doctor_close()
 */
#ifndef HIPEC_DOCTOR_H
#define HIPEC_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

/* X(NAME, text): how something is */
#define DOCTOR_STATES(X)						\
	X(OK, "ok")							\
	X(NOTE, "note")		/* it works; but this may be wanted */	\
	X(WRONG, "wrong")	/* hipec does not work like this */

enum doctor_state {
#define X(name, text) DOCTOR_##name,
	DOCTOR_STATES(X)
#undef X
};

#define DOCTOR_TEXT 256

struct doctor_finding {
	enum doctor_state state;
	const char *check;
	char text[DOCTOR_TEXT];	/* what is so */
	char mend[DOCTOR_TEXT];	/* a command, or empty */
};

struct doctor {
	int root;		/* folder that names are below */
	char release[65];	/* of the kernel that runs */
	char module[DOCTOR_TEXT]; /* file that modprobe would load, or empty */
	char version[32];	/* that DKMS has, or empty */
	bool loaded;
	bool headers;		/* of this kernel */
};

int doctor_open(struct doctor *d, const char *root);
bool doctor_check(const struct doctor *d, size_t nr, struct doctor_finding *f);
void doctor_close(struct doctor *d);

#endif /* HIPEC_DOCTOR_H */
