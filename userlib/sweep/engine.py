# SPDX-License-Identifier: GPL-2.0-only
"""Who runs the tasks: threads of this process, or a cluster of Dask's, which schedules them. Both
are executors as of concurrent.futures."""

import concurrent.futures
import contextlib
import logging
import pathlib

import plan
import task

CONNECT = 30        # seconds until a scheduler counts as gone


@contextlib.contextmanager
def cluster(address):
    """The executor of a cluster, and how many threads its workers have."""
    distributed = plan.python_has("distributed")
    # What it says of a lost connection is said in a line below.
    for name in list(logging.root.manager.loggerDict):
        if name.split(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = distributed.Client(address, timeout=CONNECT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise plan.Wrong(f"--scheduler: {address}: {error}") from None
    try:
        # Workers that come later get it as well.
        client.upload_file(str(pathlib.Path(task.__file__)))
        yield client.get_executor(pure=False), sum(client.nthreads().values()) or 1
    finally:
        with contextlib.suppress(Exception):
            client.close(timeout=2)


@contextlib.contextmanager
def executor(scheduler, jobs):
    """Who runs tasks, and how many at a time."""
    if scheduler:
        with cluster(scheduler) as found:
            yield found
        return
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        yield pool, jobs


def gather(futures):
    """Results as they come, (place in @futures, result); of a task whose workers were killed one by
    one the result is the exception."""
    place = {future: number for number, future in enumerate(futures)}
    try:
        for future in concurrent.futures.as_completed(futures):
            error = None if future.cancelled() else future.exception()
            if future.cancelled() or type(error).__name__ in ("FutureCancelledError",
                                                              "CommClosedError"):
                raise plan.Wrong("the connection to the scheduler is lost; the same command goes on "
                                 "where it was")
            if error and type(error).__name__ != "KilledWorker":
                raise error
            yield place[future], error or future.result()
    except BaseException:
        for future in futures:
            future.cancel()
        raise
