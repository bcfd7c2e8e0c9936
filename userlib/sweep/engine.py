# SPDX-License-Identifier: GPL-2.0-only
"""Threads of this process run the tasks, or a Dask cluster does; both are used like an executor of
concurrent.futures."""

import concurrent.futures
import contextlib
import logging
import pathlib

import plan
import task

CONNECT = 30        # seconds until a scheduler counts as gone
WAITING = 64        # tasks of a cluster that are waited for at once


class Cluster:
    """Tasks go to the scheduler at once; threads wait for them, the first ones first.

    Dask's own executor says that a task failed if its worker dies as the result arrives."""

    def __init__(self, client):
        self.client = client
        self.waiting = concurrent.futures.ThreadPoolExecutor(WAITING)

    def submit(self, *call):
        """Return: a future of concurrent.futures."""
        return self.waiting.submit(self.client.submit(*call, pure=False).result)

    def close(self):
        """Nothing is waited for any more."""
        self.waiting.shutdown(wait=False, cancel_futures=True)
        with contextlib.suppress(Exception):
            self.client.close(timeout=2)


@contextlib.contextmanager
def cluster(address):
    """The executor of a cluster, and how many threads its workers have."""
    distributed = plan.python_has("distributed")
    # What it says of a lost connection is said in a line below.
    for name in [*logging.root.manager.loggerDict, "tornado.application", "asyncio"]:
        if name.split(".")[0] in ("distributed", "tornado", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        client = distributed.Client(address, timeout=CONNECT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise plan.Wrong(f"--scheduler: {address}: {error}") from None
    pool = Cluster(client)
    try:
        # Workers that come later get it as well.
        client.upload_file(str(pathlib.Path(task.__file__)))
        yield pool, sum(client.nthreads().values()) or 1
    finally:
        pool.close()


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
