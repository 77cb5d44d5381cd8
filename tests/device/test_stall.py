# SPDX-License-Identifier: MIT
"""A drive that stops answering for more than seven seconds, while another one works."""

import os
import signal
import time

import pytest
from harness import MIB, LoopDevice, NbdDevice, wait_for
from needs import need_nbd

# What its tests share is made once, in one process.
pytestmark = pytest.mark.xdist_group("stall")

# Begins and ends within an interval, so one more second than the whole intervals that must be empty.
N_EMPTY = 7
HANG_S = N_EMPTY + 1
DEPTH = 16
JOB = f"[p]\nrw=randwrite\nbs=4k\niodepth={DEPTH}\ntime_based\nruntime=60\n"


def is_zero(sample):
    return sample["write_ios"] == sample["read_ios"] == sample["write_bytes"] == sample["read_bytes"] == 0


@pytest.fixture(scope="module")
def stall(shared_service):
    """What was recorded of a drive that hung, and of one beside it that did not."""
    need_nbd()
    service = shared_service
    with NbdDevice(64 * MIB) as hung, LoopDevice(64 * MIB) as other:
        before = hung.stat()
        (run,) = service.start_run(JOB, hung)
        (other_run,) = service.start_run(JOB, other)
        service.wait_samples(run, 2)
        hung.hang()
        during = []
        end = time.monotonic() + HANG_S
        while time.monotonic() < end:
            start = time.monotonic()
            service.cli("list")
            service.cli("show", other_run)
            during.append(time.monotonic() - start)
            time.sleep(0.5)
        hung.unhang()
        n = len(service.samples(run))
        wait_for(lambda: len(new := service.samples(run)[n + 1 :]) >= 2 and not any(map(is_zero, new)), 20, "I/O")
        for number in (run, other_run):
            service.cli("stop", number)
            service.wait_state(number, "stopped")
        service.wait_workers(0)
        return {
            "shown": service.row(run), "samples": service.samples(run), "other": service.samples(other_run),
            "answer_s": during, "kernel_writes": hung.stat()["write_ios"] - before["write_ios"],
        }  # fmt: skip


def test_seconds_without_completions_are_rows_of_zeros(stall):
    assert N_EMPTY <= len([sample for sample in stall["samples"] if is_zero(sample)]) <= HANG_S


def test_rows_of_zeros_are_a_second_each(stall):
    for sample in stall["samples"]:
        if is_zero(sample):
            assert sample["duration_ns"] / 1e9 == pytest.approx(1, abs=0.3)


def test_rows_of_zeros_tell_what_is_outstanding(stall):
    assert {sample["in_flight"] for sample in stall["samples"] if is_zero(sample)} == {DEPTH}


def test_rows_of_zeros_have_no_latency(stall):
    zeros = [sample for sample in stall["samples"] if is_zero(sample)]
    assert all(sample["latency_p99_ns"] is None for sample in zeros)


def test_run_goes_on_afterwards(stall):
    zero = [i for i, sample in enumerate(stall["samples"]) if is_zero(sample)]
    assert zero == list(range(zero[0], zero[-1] + 1))
    assert sum(sample["write_ios"] for sample in stall["samples"][zero[-1] + 1 :]) > 100


def test_the_stall_is_in_a_latency(stall):
    assert max(s["latency_max_ns"] or 0 for s in stall["samples"]) >= (HANG_S - 0.5) * 1e9


def test_stalled_and_recovered_are_events(stall):
    events = [event for event in stall["shown"]["events"] if event["kind"] in ("stalled", "recovered")]
    assert [event["kind"] for event in events] == ["stalled", "recovered"]
    assert 1 <= events[1]["elapsed_s"] - events[0]["elapsed_s"] <= HANG_S - 5 + 2


def test_nothing_is_counted_twice_or_lost(stall):
    assert sum(sample["write_ios"] for sample in stall["samples"]) == stall["kernel_writes"]


def test_other_runs_and_the_service_do_not_notice(stall):
    assert not any(is_zero(sample) for sample in stall["other"][:-1])
    assert max(stall["answer_s"]) < 5


WAIT_S = 5  # that the command has for a drive that is only slow


def is_told_at_once(service, run):
    """That I/O is pending, by pause and by stop: well before the command would wait no longer for it to end."""
    took = []
    for verb, doing in (("pause", "pausing"), ("stop", "stopping")):
        start = time.monotonic()
        told = service.cli(verb, run).out
        took.append(time.monotonic() - start)
        assert told.startswith(f"run {run} is {doing}: ") and told.endswith(" still pending\n"), told
    return min(took) < WAIT_S - 1


def test_stop_answers_at_once_while_the_drive_hangs(own_service, nbd):
    device = nbd(64 * MIB)
    (run,) = own_service.start_run(JOB, device)
    own_service.wait_samples(run, 1)
    device.hang()
    assert is_told_at_once(own_service, run)
    assert own_service.row(run)["state"] == "running"
    for verb in ("resume", "pause"):
        assert "is stopping" in own_service.cli(verb, run, check=8).err
    device.unhang()
    own_service.wait_state(run, "stopped")


def test_a_hang_is_told_however_far_apart_samples_are(own_service, nbd):
    device = nbd(64 * MIB)
    (run,) = own_service.start_run("[global]\nsample_interval=10s\n" + JOB, device)
    own_service.wait_state(run, "running")
    wait_for(lambda: device.stat()["write_ios"] > 0, 10, "I/O")
    device.hang()
    own_service.wait_event(run, "stalled", timeout=20)
    assert len(own_service.samples(run)) <= 1
    assert is_told_at_once(own_service, run)
    device.unhang()
    own_service.wait_state(run, "stopped")


def test_stop_answers_at_once_while_the_worker_is_stopped(service, loop):
    (run,) = service.start_run(JOB, loop(64 * MIB))
    service.wait_samples(run, 1)
    (worker,) = service.wait_workers(1)
    os.kill(worker, signal.SIGSTOP)
    try:
        assert is_told_at_once(service, run)
    finally:
        os.kill(worker, signal.SIGCONT)
    service.wait_state(run, "stopped")


def test_a_paused_run_whose_worker_is_stopped_says_so_at_once(service, loop):
    (run,) = service.start_run(JOB, loop(64 * MIB))
    service.wait_samples(run, 1)
    service.cli("pause", run)
    (worker,) = service.wait_workers(1)
    os.kill(worker, signal.SIGSTOP)
    took = []
    try:
        for verb, doing in (("resume", "resuming"), ("stop", "stopping")):
            start = time.monotonic()
            assert service.cli(verb, run).out == f"run {run} is {doing}: its worker process does not answer\n"
            took.append(time.monotonic() - start)
    finally:
        os.kill(worker, signal.SIGCONT)
    assert min(took) < WAIT_S - 1
    service.wait_state(run, "stopped")


def test_service_stops_while_the_drive_hangs(own_service, nbd):
    device = nbd(64 * MIB)
    (run,) = own_service.start_run(JOB, device)
    own_service.wait_samples(run, 1)
    device.hang()
    assert own_service.stop(timeout=20) == 0
    assert own_service.row(run)["state"] == "interrupted"
    assert not device.claim_is_free()  # the kernel keeps it for the I/O that is still pending
    device.unhang()
    wait_for(device.claim_is_free, 10, "the worker to let the device go")
