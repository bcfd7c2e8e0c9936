# SPDX-License-Identifier: GPL-2.0-only
"""What each policy of policies/ should do, written a second time: plain, slow, and
from the paper that defines it, not from the .hp.

One file a policy, its name with '_' for '-' and a '_' before a digit (other names with
a '_' in front are helpers), with a class Cache:

Cache(frames)               empty
access(page, write, hint)   True on a hit; on a miss the page comes in

A module may have PARAMETERS, values of the policy's `param` integers: it is compared with
these as well, and Cache takes them as keywords.
"""
