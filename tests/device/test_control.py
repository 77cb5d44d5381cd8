# SPDX-License-Identifier: MIT
"""Pause, resume and stop."""

import time

import pytest
from harness import MIB, sysfs_stat_since, wait_for

JOB = "[p]\nrw=randwrite\nbs=4k\niodepth=16\ntime_based\nruntime=60\n"


@pytest.fixture
def paused(service, loop):
    device = loop(64 * MIB)
    before = device.stat()
    (run,) = service.start_run(JOB, device)
    service.wait_samples(run, 1)
    service.cli("pause", run)
    service.wait_state(run, "paused")
    return run, device, before


def test_paused_run_does_no_io(service, paused):
    _, device, _ = paused
    stat = device.stat()
    assert stat["in_flight"] == 0
    time.sleep(1.5)
    assert sysfs_stat_since(device.path, stat)["write_ios"] == 0


def test_paused_time_makes_no_samples_and_is_no_running_time(service, paused):
    run, _, _ = paused
    before = len(service.samples(run)), service.row(run)["elapsed_s"]
    time.sleep(2.5)
    assert (len(service.samples(run)), service.row(run)["elapsed_s"]) == before
    service.cli("resume", run)
    service.wait_samples(run, before[0] + 2)
    samples = service.samples(run)
    assert [sample["seq"] for sample in samples] == list(range(len(samples)))
    assert samples[-1]["elapsed_s"] == pytest.approx(sum(sample["duration_ns"] for sample in samples) / 1e9, abs=1e-6)
    assert max(sample["duration_ns"] for sample in samples) < 2e9


def test_pause_and_resume_lose_no_count(service, paused):
    run, device, before = paused
    service.cli("resume", run)
    service.wait_state(run, "running")
    n = len(service.samples(run))
    service.wait_samples(run, n + 1)
    service.cli("stop", run)
    shown = service.wait_state(run, "stopped")
    service.wait_workers(0)
    written = sum(sample["write_ios"] for sample in service.samples(run))
    assert written == sysfs_stat_since(device.path, before)["write_ios"]
    kinds = [event["kind"] for event in shown["events"]]
    assert kinds.index("paused") < kinds.index("resumed") < kinds.index("stopping") <= kinds.index("finished")


def test_paused_run_keeps_the_device(service, paused):
    _, device, _ = paused
    assert not device.claim_is_free()


def test_paused_run_can_be_stopped(service, paused):
    run, device, _ = paused
    service.cli("stop", run)
    service.wait_state(run, "stopped")
    wait_for(device.claim_is_free, 5, "the device to be free")


def test_stop_frees_the_device(service, loop):
    device = loop(64 * MIB)
    (run,) = service.start_run(JOB, device)
    service.wait_samples(run, 1)
    assert not device.claim_is_free()
    service.cli("stop", run)
    shown = service.wait_state(run, "stopped")
    assert shown["phases"][0]["state"] == "stopped"
    wait_for(device.claim_is_free, 5, "the device to be free")


def test_start_wait_returns_when_the_run_is_done(service, loop):
    device = loop(64 * MIB)
    result = service.cli("start", "-", "--device", device.path, "--confirm", device.confirm, "--wait",
                         input="[p]\nrw=write\nbs=64k\nsize=16m\n")  # fmt: skip
    assert result.rc == 0
    (newest, *_) = service.cli.json("list")["runs"]
    assert (newest["device"]["path"], newest["state"]) == (device.path, "done")


def test_what_is_over_cannot_be_paused(service, loop):
    shown = service.run_job("[p]\nrw=write\nbs=64k\nsize=1m\n", loop(16 * MIB))
    assert service.cli("pause", shown["run"], check=False).rc == 8
    service.cli("stop", shown["run"])
    assert service.row(shown["run"])["state"] == "done"


@pytest.mark.parametrize("verb", ["pause", "resume", "stop", "show", "samples"])
def test_unknown_run_is_not_found(service, verb):
    assert service.cli(verb, "4000000", check=False).rc == 6
