# SPDX-License-Identifier: MIT
"""Every second is one row: numbered without gaps, of exact length, none left out."""

import time
from datetime import datetime

import pytest
from harness import MIB, LoopDevice
from needs import need_loop

# What its tests share is made once, in one process.
pytestmark = pytest.mark.xdist_group("samples")

JOB = """
[first]
rw=randwrite
bs=4k
iodepth=8
time_based
runtime=3

[second]
rw=randread
bs=4k
iodepth=8
time_based
runtime=2500ms
"""


@pytest.fixture(scope="module")
def run(shared_service):
    """(show document, samples) of one finished run of two phases."""
    need_loop()
    with LoopDevice(64 * MIB) as device:
        shown = shared_service.run_job(JOB, device)
    return shown, shared_service.samples(shown["run"])


def test_sequence_numbers_have_no_gaps(run):
    _, samples = run
    assert [sample["seq"] for sample in samples] == list(range(len(samples)))


def test_durations_add_up_to_the_elapsed_time(run):
    shown, samples = run
    total = 0
    for sample in samples:
        total += sample["duration_ns"]
        assert sample["elapsed_s"] == pytest.approx(total / 1e9, abs=1e-6)
    assert shown["elapsed_s"] == pytest.approx(total / 1e9, abs=1e-6)


def test_samples_last_a_second_each(run):
    # But for the last of each phase, which ends with it.
    _, samples = run
    for phase, n in ((0, 3), (1, 3)):
        durations = [s["duration_ns"] / 1e9 for s in samples if s["phase"] == phase]
        assert len(durations) in (n, n + 1)
        assert durations[:-1] == pytest.approx([1] * (len(durations) - 1), abs=0.2)


def test_phases_last_as_long_as_asked(run):
    shown, _ = run
    assert [phase["elapsed_s"] for phase in shown["phases"]] == pytest.approx([3, 2.5], abs=0.3)
    assert [phase["state"] for phase in shown["phases"]] == ["done", "done"]


def test_wall_clock_goes_with_the_elapsed_time(run):
    _, samples = run
    times = [datetime.fromisoformat(sample["at"]) for sample in samples]
    for a, b, sample in zip(times, times[1:], samples[1:]):
        assert (b - a).total_seconds() == pytest.approx(sample["duration_ns"] / 1e9, abs=0.3)


def test_latencies_are_of_the_right_size(run):
    # 8 outstanding at R I/Os a second: the mean latency is 8 / R, and percentiles are in order around it.
    shown, samples = run
    for sample in samples:
        ios = sample["write_ios"] + sample["read_ios"]
        if ios < 100:
            continue
        mean_ns = 8 * sample["duration_ns"] / ios
        assert 0 < sample["latency_p50_ns"] <= sample["latency_p99_ns"] <= sample["latency_max_ns"]
        assert sample["latency_p50_ns"] < 2 * mean_ns
    for phase in shown["phases"]:
        assert phase["latency_p50_ns"] <= phase["latency_p99_ns"] <= phase["latency_p999_ns"] <= phase["latency_max_ns"]


def test_samples_are_in_the_database_within_two_seconds(service, loop):
    (run,) = service.start_run("[p]\nrw=randwrite\nbs=4k\ntime_based\nruntime=60\n", loop(64 * MIB))
    service.wait_samples(run, 1)
    ages = []
    end = time.monotonic() + 4
    while time.monotonic() < end:
        asked_at = time.time()  # how long the answer takes is another matter
        last = service.samples(run)[-1]
        ages.append(asked_at - datetime.fromisoformat(last["at"]).timestamp())
    assert max(ages) <= 2


def test_interval_may_be_shorter(service, loop):
    job = "[global]\nsample_interval=100ms\n[p]\nrw=randwrite\nbs=4k\ntime_based\nruntime=2\n"
    shown = service.run_job(job, loop(64 * MIB))
    document = service.cli.json("samples", shown["run"])
    assert document["interval_s"] == pytest.approx(0.1)
    assert 18 <= len(document["samples"]) <= 21
