// SPDX-License-Identifier: GPL-2.0-only
/* Calls with frame pointers: test/build.mk has the flag. */
#define CALLS calls_frames
#include "callpaths.h"
