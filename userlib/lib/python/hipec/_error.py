# SPDX-License-Identifier: LGPL-2.1-or-later
"""What all of the package raises."""


class Error(OSError):
    """What did not work: errno, a text, and the file if it is about one."""
