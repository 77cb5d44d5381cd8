# SPDX-License-Identifier: MIT
"""[stop] written_max: to the block, over all phases and all parts of a run, as the device itself counts it."""

import pytest
from harness import MIB, is_gone, sysfs_stat_since, wait_for

SIZE = 64 * MIB
READS = "[r]\nrw=randread\nbs=4k\ntime_based\nruntime=60\n"


def written(samples):
    return sum(sample["write_bytes"] for sample in samples)


def states(shown):
    return [phase["state"] for phase in shown["phases"]]


def test_the_whole_run_counts_with_its_ramps_and_no_more_is_written(service, loop):
    device = loop(SIZE)
    before = device.stat()
    job = (
        "[a]\nrw=write\nbs=64k\nsize=24m\n"
        "[b]\nrw=randrw\nbs=16k\niodepth=8\nworkers=2\ntime_based\nruntime=60\nramp_time=30\n" + READS
    )
    shown = service.run_job(job + "[stop]\nwritten_max=1.5 fills\n", device)
    most = 96 * MIB
    assert sysfs_stat_since(device.path, before)["write_bytes"] == most == written(service.samples(shown["run"]))
    assert shown["events"][-1]["detail"] == f"done: [stop] written_max={most}: {most} bytes are written"
    assert states(shown) == ["done", "stopped", "pending"]


def test_it_ends_before_a_block_that_would_be_more(service, loop):
    device = loop(SIZE)
    before = device.stat()
    service.run_job("[a]\nrw=randwrite\nbs=64k\niodepth=8\ntime_based\nruntime=60\n[stop]\nwritten_max=1000k\n", device)
    assert sysfs_stat_since(device.path, before)["write_bytes"] == 1000 // 64 * 64 * 1024


def test_a_phase_that_ends_with_all_that_may_be_written_is_the_last(service, loop):
    shown = service.run_job("[a]\nrw=write\nbs=64k\nsize=1m\n" + READS + "[stop]\nwritten_max=1m\n", loop(SIZE))
    assert states(shown)[1] == "pending" and shown["elapsed_s"] < 30


def test_less_than_may_be_written_stops_nothing(service, loop):
    job = "[a]\nrw=write\nbs=64k\nsize=1m\n[b]\nrw=write\nsize=1m\n[stop]\nwritten_max=3m\n"
    shown = service.run_job(job, loop(SIZE))
    assert states(shown) == ["done", "done"] and shown["events"][-1]["detail"] == "done"


def stop(service):
    service.stop()


def kill(service):
    for worker in service.kill9():
        wait_for(lambda pid=worker: is_gone(pid), 10, "the worker's end")


@pytest.mark.parametrize("end", [stop, kill])
def test_what_was_written_before_an_interruption_counts(own_service, loop, end):
    device = loop(SIZE)
    before = device.stat()
    job = "[global]\nsample_interval=100ms\n[a]\nrw=randwrite\nbs=64k\nrate=16m\ntime_based\nruntime=600\n"
    (run,) = own_service.start_run(job + "[stop]\nwritten_max=40m\n", device)
    own_service.wait_samples(run, 8)
    end(own_service)
    first = written(own_service.samples(run))
    assert 0 < first < 40 * MIB
    own_service.start()
    shown = own_service.wait_state(run, "done")
    assert shown["events"][-1]["detail"].startswith(f"done: [stop] written_max={40 * MIB}: {40 * MIB} bytes")
    # What a worker that is killed had no time to tell comes on top; nothing does where all was waited for.
    lost = sysfs_stat_since(device.path, before)["write_bytes"] - 40 * MIB
    assert written(own_service.samples(run)) == 40 * MIB
    assert lost == 0 if end is stop else 0 <= lost < 40 * MIB - first
