/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SHA-256, which names the source that an image was compiled from.
 *
 * Interface:
 * ampc_sha256()  bytes -> hash
 */
#ifndef AMPC_SHA256_H
#define AMPC_SHA256_H

#include "../../module/vm/vm.h"

void ampc_sha256(const void *bytes, size_t size, u8 hash[HIPEC_HASH_SIZE]);

#endif /* AMPC_SHA256_H */
