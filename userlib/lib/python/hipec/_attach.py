# SPDX-License-Identifier: LGPL-2.1-or-later
"""hipec attach: files whose pages in the page cache a policy chooses among."""

from __future__ import annotations

import json
from typing import Any, Mapping, Sequence, Union

from hipec._command import Path, listed, run
from hipec._error import Error


class Attachment:
    """Files under a policy, until detach(): at the end of a with block, or later by anybody
    with `hipec detach`."""

    def __init__(self, number: int) -> None:
        self.id = number

    def status(self) -> dict[str, Any]:
        """What the policy did so far: a dict as an element of hipec status --json.

        Raises Error: it is gone, or not the caller's."""
        for container in json.loads(run("status", ["--json"])):
            if container["id"] == self.id:
                found: dict[str, Any] = container
                return found
        raise Error(2, f"there is no container {self.id} of yours")

    def set_param(self, name: str, value: int) -> None:
        """Change a parameter of the policy that runs. Raises Error: it has none, or not such."""
        run("swap", ["--param", str(self.id), f"{name}={value}"])

    def detach(self, paths: Path | Sequence[Path] = ()) -> None:
        """End it, or let go of some of its files. Raises Error: it does not have them."""
        run("detach", [str(self.id), *listed(paths)])

    def __enter__(self) -> Attachment:
        return self

    def __exit__(self, *_: object) -> None:
        self.detach()


def attach(paths: Path | Sequence[Path], policy: str, budget: Union[int, str],
           cgroups: str | Sequence[str] = (), params: Mapping[str, int] | None = None) -> Attachment:
    """Let a policy choose which pages of files stay in the page cache, for all programs.

    paths    a file or a directory, or several; none, if there are cgroups
    policy   the name of a shipped one, a .hp or .hpo file, or "builtin"
    budget   memory that the files share: a number of pages, or a text: "512M", "auto"
    cgroups  names of cgroups whose processes' files are taken as they are opened
    params   of the policy: {"name": value}

    Returns an Attachment, with the container's number as its id. It lives on when this
    program ends, unless it is detached.
    Raises Error with what hipec attach said: the module is not there, the policy is
    refused, or a file cannot be had (docs/user/in-place.md).
    """
    args = ["--policy", policy, "--budget", str(budget)]
    for name, value in (params or {}).items():
        args += ["--param", f"{name}={value}"]
    for cgroup in listed(cgroups):
        args += ["--cgroup", cgroup]
    return Attachment(int(run("attach", [*args, "--", *listed(paths)])))
