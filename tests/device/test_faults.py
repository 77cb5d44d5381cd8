# SPDX-License-Identifier: MIT
"""What drives do at three in the morning, one fault a test. Those that hang are in test_stall.py, those that fail some
writes in test_errors.py, those that are refused in test_refusals.py."""

import os
import re
import signal
import subprocess
import time

import pytest
from harness import MIB, LoopDevice, is_gone, process_state, wait_for
from needs import need_loop

HEAD = "[p]\nrw=randwrite\nbs=4k\niodepth=16\ntime_based\n"
JOB = HEAD + "runtime=60\n"
DEPTH = 16


def kinds(shown):
    return [event["kind"] for event in shown["events"]]


def last_detail(shown):
    return shown["events"][-1]["detail"]


def stop(service, run):
    service.cli("stop", run)
    return service.wait_state(run, "stopped")


# --- errors ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def failing(service, nbd):
    """Starts a run of job on a drive, all of whose writes fail from the second sample on."""

    def start(job):
        device = nbd(64 * MIB)
        (run,) = service.start_run(job, device)
        service.wait_samples(run, 2)
        device.fail()
        return run

    return start


def test_errors_without_end_cost_a_row_an_event_and_no_log(service, failing):
    run = failing("[global]\nsample_interval=100ms\n" + JOB)
    wait_for(lambda: service.row(run)["errors"], 20, "errors")
    lines = len(service.log().splitlines())
    n = len(service.samples(run))
    service.wait_samples(run, n + 30)
    assert len(service.log().splitlines()) == lines
    shown = stop(service, run)
    (error,) = shown["errors"]
    assert error["count"] > 1000
    assert kinds(shown).count("error") == 1
    assert error["count"] == sum(sample["errors"] for sample in service.samples(run))


def test_first_error_ends_a_run_that_does_not_continue(service, failing):
    run = failing(HEAD + "continue_on_error=none\nruntime=60\n[q]\nrw=randread\nruntime=60\ntime_based\n")
    shown = service.wait_state(run, "failed")
    assert 1 <= sum(error["count"] for error in shown["errors"]) <= DEPTH
    assert f"a write at offset {shown['errors'][0]['first_offset']} failed with EIO" in last_detail(shown)
    assert [phase["state"] for phase in shown["phases"]] == ["stopped", "pending"]


def test_a_run_that_continues_on_reads_only_ends_with_a_write(service, failing):
    run = failing(HEAD + "rw=randrw\ncontinue_on_error=read\nruntime=60\n")
    assert "a write at offset" in last_detail(service.wait_state(run, "failed"))


def test_too_many_errors_are_a_result(service, failing):
    run = failing(JOB + "[stop]\nerrors_max=100\n")
    shown = service.wait_state(run, "done")
    told = re.fullmatch(r"done: \[stop\] errors_max=100: (\d+) I/Os have failed", last_detail(shown))
    # What was outstanding then may have failed on top.
    assert 100 < int(told[1]) <= shown["errors"][0]["count"] <= int(told[1]) + DEPTH
    assert shown["phases"][0]["state"] == "stopped"


def test_few_errors_stop_nothing(service, nbd):
    device = nbd(64 * MIB, error_rate="1%")
    device.fail()
    (run,) = service.start_run(JOB + "[stop]\nerrors_max=1000000\n", device)
    wait_for(lambda: service.row(run)["errors"], 20, "errors")
    n = len(service.samples(run))
    service.wait_samples(run, n + 2)
    shown = stop(service, run)
    assert 0 < shown["errors"][0]["count"] < sum(sample["write_ios"] for sample in service.samples(run))


# --- another device than before -------------------------------------------------------------------------------------


def run_and_resize(service, device, size, job=JOB):
    """While it is paused: a write would make the file longer again before the kernel looks at it."""
    (run,) = service.start_run(job, device)
    service.wait_samples(run, 1)
    service.cli("pause", run)
    service.wait_state(run, "paused")
    os.truncate(device.file, size)
    subprocess.run(["losetup", "--set-capacity", device.path], check=True)
    service.cli("resume", run)
    return service.wait_state(run, "lost")


@pytest.mark.parametrize("size, words", ((32 * MIB, "has changed its size"), (0, "is gone")))
def test_device_that_shrinks_or_goes_is_lost(service, loop, size, words):
    shown = run_and_resize(service, loop(64 * MIB), size)
    assert kinds(shown)[-1] == "lost" and words in last_detail(shown)
    assert shown["phases"][0]["state"] == "stopped"
    service.wait_workers(0)


def test_lost_whatever_the_job_says_of_errors(service, loop):
    shown = run_and_resize(service, loop(64 * MIB), 0, HEAD + "continue_on_error=none\nruntime=60\n")
    assert "is gone" in last_detail(shown)


def test_device_that_becomes_read_only_says_so(service, loop):
    device = loop(64 * MIB)
    (run,) = service.start_run(JOB, device)
    service.wait_samples(run, 1)
    subprocess.run(["blockdev", "--setro", device.path], check=True)
    try:
        shown = {}
        wait_for(lambda: shown.update(service.row(run)) or "read-only" in kinds(shown), 20, "read-only")
        n = len(service.samples(run))
        service.wait_samples(run, n + 2)
        shown = stop(service, run)
        assert kinds(shown).count("read-only") == 1
        assert service.cli("verdict", run, check=1)
    finally:
        subprocess.run(["blockdev", "--setrw", device.path], check=True)


def test_phase_that_writes_does_not_begin_on_a_read_only_device(service, loop):
    device = loop(64 * MIB)
    (run,) = service.start_run("[r]\nrw=randread\ntime_based\nruntime=3\n[w]\nrw=randwrite\ntime_based\nruntime=60\n",
                               device)  # fmt: skip
    service.wait_samples(run, 1)
    subprocess.run(["blockdev", "--setro", device.path], check=True)
    try:
        shown = service.wait_state(run, "failed")
        assert "became read-only, and the next phase writes" in last_detail(shown)
        assert [phase["state"] for phase in shown["phases"]] == ["done", "pending"]
    finally:
        subprocess.run(["blockdev", "--setrw", device.path], check=True)


# --- a drive that hangs for good ------------------------------------------------------------------------------------


def test_a_service_that_comes_back_puts_no_second_writer_on_a_hung_drive(own_service, nbd):
    device = nbd(64 * MIB)
    (run,) = own_service.start_run(JOB, device)
    own_service.wait_samples(run, 1)
    (worker,) = own_service.workers()
    device.hang()
    assert own_service.stop() == 0
    own_service.start()
    refused = own_service.start_run(JOB, device, check=3)
    held = f"still held by a former worker of plateau (process {worker})"
    assert held in refused.json["error"]["message"]
    assert held in own_service.wait_event(run, "outage", 2)["detail"]
    assert own_service.row(run)["state"] == "interrupted"
    assert set(device.holders()) <= {worker}
    device.unhang()
    wait_for(lambda: is_gone(worker), 20, "the old worker's end")


# --- processes that stand still -------------------------------------------------------------------------------------

STOPPED_S = 4


@pytest.fixture(scope="module")
def stopped(shared_service):
    """What was recorded of a run whose worker was stopped for some seconds."""
    need_loop()
    service = shared_service
    with LoopDevice(64 * MIB) as device:
        before = device.stat()
        (run,) = service.start_run(HEAD + "runtime=5\n", device)
        service.wait_samples(run, 2)
        (worker,) = service.workers()
        os.kill(worker, signal.SIGSTOP)
        wait_for(lambda: process_state(worker) == "T", 5, "worker stopped")
        time.sleep(STOPPED_S)
        os.kill(worker, signal.SIGCONT)
        shown = service.wait_state(run, "done")
        service.wait_workers(0)
        return shown, service.samples(run), device.stat()["write_ios"] - before["write_ios"]


def test_a_stopped_worker_is_an_outage_with_its_length(stopped):
    shown, _, _ = stopped
    (outage,) = [event for event in shown["events"] if event["kind"] == "outage"]
    assert outage["detail"].startswith(f"the worker did not run for {STOPPED_S}."), outage


def test_an_outage_is_not_averaged_into_a_sample(stopped):
    _, samples, written = stopped
    assert max(sample["duration_ns"] for sample in samples) < 2e9
    assert max(sample["latency_max_ns"] or 0 for sample in samples) < 2e9
    assert [sample["seq"] for sample in samples] == list(range(len(samples)))
    assert sum(sample["write_ios"] for sample in samples) == written


def test_an_outage_is_no_running_time(stopped):
    shown, samples, _ = stopped
    assert shown["elapsed_s"] == pytest.approx(5, abs=0.5)
    assert sum(sample["duration_ns"] for sample in samples) / 1e9 == pytest.approx(shown["elapsed_s"], abs=1e-3)
    first, last = (samples[i]["at"] for i in (0, -1))
    assert first < last


def test_a_stopped_service_loses_no_second(own_service, loop):
    (run,) = own_service.start_run(JOB, loop(64 * MIB))
    own_service.wait_samples(run, 2)
    os.kill(own_service.pid, signal.SIGSTOP)
    time.sleep(STOPPED_S)
    os.kill(own_service.pid, signal.SIGCONT)
    n = len(own_service.samples(run))
    samples = own_service.wait_samples(run, n + STOPPED_S)
    assert [sample["seq"] for sample in samples] == list(range(len(samples)))
    assert max(sample["duration_ns"] for sample in samples) < 2e9
    assert all(sample["write_ios"] > 0 for sample in samples)
    assert "outage" not in kinds(stop(own_service, run))
