// SPDX-License-Identifier: GPL-2.0-only
/* Calls without frame pointers: test/build.mk has the flag. */
#define CALLS calls_scan
#include "callpaths.h"
