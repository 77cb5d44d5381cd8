# SPDX-License-Identifier: MIT
"""Killed without warning: what was recorded stays, what was running ends, and nobody is told anything untrue."""

import os
import random
import signal
import sqlite3
import time
from datetime import datetime

import pytest
from harness import MIB, is_gone, wait_for

JOB = "[p]\nrw=randwrite\nbs=4k\niodepth=16\ntime_based\nruntime=600\n"

# Later than the design's limits by what a busy machine may take to notice.
LOST_S_MAX = 2
SUBMITS_S_MAX = 1
SLACK_S = 1

MOMENTS = 10 if os.environ.get("PLATEAU_TEST_LONG") else 2


def start(service, *devices):
    runs = service.start_run(JOB, *devices)
    for run in runs:
        service.wait_samples(run, 2)
    time.sleep(random.uniform(0, 3))  # no event is awaited: the moment is what is tried
    return runs


def check_integrity(path):
    database = sqlite3.connect(path)
    try:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert database.execute("PRAGMA foreign_key_check").fetchall() == []
    finally:
        database.close()


@pytest.mark.parametrize("moment", range(MOMENTS))
def test_killed_service_loses_at_most_two_seconds(own_service, loop, moment):
    (run,) = start(own_service, loop(64 * MIB))
    killed_at = time.time()
    own_service.kill9()
    samples = own_service.samples(run)
    assert [sample["seq"] for sample in samples] == list(range(len(samples)))
    last = datetime.fromisoformat(samples[-1]["at"]).timestamp()
    assert killed_at - last <= LOST_S_MAX, f"lost {killed_at - last:.3f} s"


def test_killed_service_leaves_an_intact_database(own_service, loop):
    start(own_service, loop(64 * MIB))
    own_service.kill9()
    check_integrity(own_service.db)


def test_run_of_a_killed_service_is_interrupted(own_service, loop):
    device = loop(64 * MIB)
    (run,) = start(own_service, device)
    own_service.kill9()
    assert own_service.row(run)["state"] == "interrupted"
    with open(device.path, "rb"):  # so it is not taken up again
        own_service.start()
        own_service.wait_event(run, "outage", 2)
        assert own_service.row(run)["state"] == "interrupted"


def test_worker_of_a_killed_service_stops_within_a_second(own_service, loop):
    device = loop(64 * MIB)
    start(own_service, device)
    (worker,) = own_service.kill9()
    time.sleep(SUBMITS_S_MAX)
    before = device.stat()["write_ios"]
    wait_for(lambda: is_gone(worker), SLACK_S, "the worker's end")
    # Only what was outstanding may have come on top.
    assert device.stat()["write_ios"] - before <= 16


def test_device_of_a_killed_service_is_free_again(own_service, loop):
    device = loop(64 * MIB)
    start(own_service, device)
    own_service.kill9()
    wait_for(device.claim_is_free, SUBMITS_S_MAX + SLACK_S, "the device to be free")


def test_device_of_an_interrupted_run_that_is_stopped_is_free_again(own_service, loop):
    device = loop(64 * MIB)
    (run,) = start(own_service, device)
    own_service.kill9()
    own_service.start()
    own_service.cli("stop", run)
    (run,) = own_service.start_run(JOB, device)
    own_service.wait_samples(run, 1)


def test_killed_worker_interrupts_its_run_only(own_service, loop):
    one, two = loop(64 * MIB), loop(64 * MIB)
    (first,) = start(own_service, one)
    (worker,) = own_service.workers()
    (second,) = start(own_service, two)
    os.kill(worker, signal.SIGKILL)
    assert "SIGKILL" in own_service.wait_event(first, "outage")["detail"]
    n = len(own_service.samples(second))
    own_service.wait_samples(second, n + 2)
    assert own_service.row(second)["state"] == "running"


def test_killed_worker_loses_at_most_two_seconds(own_service, loop):
    (run,) = start(own_service, loop(64 * MIB))
    (worker,) = own_service.workers()
    killed_at = time.time()
    os.kill(worker, signal.SIGKILL)
    until_s = own_service.wait_event(run, "outage")["elapsed_s"]
    before = [sample for sample in own_service.samples(run) if sample["elapsed_s"] <= until_s]
    last = datetime.fromisoformat(before[-1]["at"]).timestamp()
    assert killed_at - last <= LOST_S_MAX
    check_integrity(own_service.db)


def test_device_of_a_killed_worker_is_free_again(own_service, loop):
    device = loop(64 * MIB)
    (run,) = start(own_service, device)
    (worker,) = own_service.workers()
    os.kill(worker, signal.SIGKILL)
    own_service.wait_event(run, "outage")
    own_service.cli("stop", run)
    (again,) = own_service.start_run(JOB, device)
    own_service.wait_samples(again, 1)


def test_stopped_service_interrupts_and_records_to_the_end(own_service, loop):
    device = loop(64 * MIB)
    before = device.stat()
    (run,) = start(own_service, device)
    assert own_service.stop() == 0
    assert own_service.row(run)["state"] == "interrupted"
    written = sum(sample["write_ios"] for sample in own_service.samples(run))
    assert written == device.stat()["write_ios"] - before["write_ios"]
    assert device.claim_is_free()
