# SPDX-License-Identifier: MIT
"""Errors of a drive are counted, told apart by errno, and cost nothing else."""

import os
import subprocess

import pytest
from harness import MIB, NbdDevice, wait_for
from needs import need_nbd

# What its tests share is made once, in one process.
pytestmark = pytest.mark.xdist_group("errors")

JOB = "[p]\nrw=randwrite\nbs=4k\niodepth=16\ntime_based\nruntime=60\n"


@pytest.fixture(scope="module")
def failing(shared_service):
    """What was recorded of a drive that failed every write for three seconds."""
    need_nbd()
    service = shared_service
    with NbdDevice(64 * MIB) as device:
        (run,) = service.start_run(JOB, device)
        service.wait_samples(run, 2)
        device.fail()
        n = len(service.samples(run))
        service.wait_samples(run, n + 3)
        device.fail(False)
        healthy = wait_for(lambda: _healthy_tail(service.samples(run)), 20, "writes after the errors")
        service.cli("stop", run)
        shown = service.wait_state(run, "stopped")
        service.wait_workers(0)
        return shown, service.samples(run), healthy


def _healthy_tail(samples):
    return len(samples) > 3 and all(s["errors"] == 0 and s["write_ios"] > 0 for s in samples[-2:])


def test_errors_are_counted_per_errno(failing):
    shown, samples, _ = failing
    (error,) = shown["errors"]
    assert (error["errno"], error["name"]) == (5, "EIO")
    assert error["count"] == sum(sample["errors"] for sample in samples) > 0
    assert error["count"] == shown["phases"][0]["errors"]


def test_first_and_last_error_have_time_and_place(failing):
    (error,) = failing[0]["errors"]
    assert error["first_at"] < error["last_at"]
    assert 0 <= error["first_offset"] < 64 * MIB and error["first_offset"] % 4096 == 0


def test_failed_writes_are_no_completions(failing):
    _, samples, _ = failing
    worst = max(samples, key=lambda sample: sample["errors"])
    assert worst["write_ios"] < worst["errors"]
    for sample in samples:
        assert sample["write_bytes"] == 4096 * sample["write_ios"]


def test_many_errors_are_one_event(failing):
    assert len([event for event in failing[0]["events"] if event["kind"] == "error"]) == 1


def test_run_goes_on_after_errors(failing):
    assert failing[2]


def test_a_device_that_grows_is_lost_at_once(service, loop):
    """No I/O fails on it, but it is not the drive any more that was claimed."""
    device = loop(64 * MIB)
    (run,) = service.start_run(JOB, device)
    service.wait_samples(run, 2)
    os.truncate(device.file, 128 * MIB)
    subprocess.run(["losetup", "--set-capacity", device.path], check=True)
    shown = service.wait_state(run, "lost")
    assert "has changed its size" in shown["events"][-1]["detail"]
    assert shown["elapsed_s"] < 30 and shown["phases"][0]["state"] == "stopped"
