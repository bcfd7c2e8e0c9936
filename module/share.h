/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HIPEC_SHARE_H
#define HIPEC_SHARE_H

struct hipec_container;
struct hipec_query;
struct hipec_text;

void hipec_share_init(void);
void hipec_share_exit(void);
int hipec_share_join(struct hipec_container *c, struct hipec_text *log);
int hipec_share_fill(struct hipec_container *c);
void hipec_share_leave(struct hipec_container *c);
void hipec_share_query(struct hipec_query *q);

#endif /* HIPEC_SHARE_H */
