# SPDX-License-Identifier: MIT
"""A worker has no privileges left when the first I/O of its workload reaches the device."""

import contextlib
import os
import threading
import time

import pytest
from harness import MIB, process_status, process_threads

JOB = "[p]\nrw=randwrite\nbs=4k\niodepth=16\ntime_based\nruntime=60\n"
NO_CAPABILITIES = "0" * 16


def describe(status):
    return {
        "user": "root" if "0" in status["Uid"].split() else "other",
        "group": "root" if "0" in status["Gid"].split() else "other",
        "groups": status["Groups"],
        **{key: status[key] for key in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")},
        "no new privileges": status["NoNewPrivs"],
        "filter": status["Seccomp"],
    }


DROPPED = {
    "user": "other", "group": "other", "groups": "",
    **dict.fromkeys(("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"), NO_CAPABILITIES),
    "no new privileges": "1", "filter": "2",
}  # fmt: skip


@pytest.fixture
def worker(own_service, loop):
    (run,) = own_service.start_run(JOB, loop(64 * MIB))
    own_service.wait_samples(run, 1)
    (pid,) = own_service.workers()
    return pid


def test_every_thread_of_a_worker_has_dropped_everything(worker):
    for thread in process_threads(worker):
        with contextlib.suppress(FileNotFoundError):  # kernel threads of the ring come and go
            assert describe(process_status(worker, thread)) == DROPPED


def test_worker_holds_only_its_device_and_its_link(worker):
    files = [os.readlink(f"/proc/{worker}/fd/{fd}") for fd in os.listdir(f"/proc/{worker}/fd") if int(fd) > 2]
    devices = [name for name in files if name.startswith("/dev/")]
    assert len(devices) == 1 and devices[0].startswith("/dev/loop")
    assert len([name for name in files if name.startswith("socket:")]) == 1
    assert not [name for name in files if ".db" in name]


def test_privileges_are_gone_before_the_first_write(own_service, loop):
    device = loop(64 * MIB)
    before = device.stat()["write_ios"]  # the counters outlive a loop device's file
    seen = []
    over = threading.Event()

    def watch():
        while not over.is_set():
            # In this order: if it has written by now, whatever is read afterwards must be without privileges.
            written = device.stat()["write_ios"] - before
            for pid in own_service.workers():
                with contextlib.suppress(OSError, KeyError):
                    seen.append((written, describe(process_status(pid))))
            time.sleep(0.001)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        (run,) = own_service.start_run(JOB, device)
        own_service.wait_samples(run, 1)
    finally:
        over.set()
        watcher.join()
    assert any(status["CapEff"] != NO_CAPABILITIES for _, status in seen), "came too late to see it begin"
    assert any(written > 0 for written, _ in seen)
    assert [status for written, status in seen if written > 0 and status != DROPPED] == []
