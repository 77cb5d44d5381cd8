# SPDX-License-Identifier: MIT
"""Several ring threads: each has a part of the device, and together they are the phase that the job asks for."""

import pytest
from harness import MIB, sysfs_stat_since

SECOND = 1_000_000_000


def job(rw="randwrite", bs="4k", **options):
    return "[w]\n" + "".join(f"{key}={value}\n" for key, value in dict(rw=rw, bs=bs, **options).items())


def totals(samples):
    keys = ("write_ios", "read_ios", "write_bytes", "read_bytes", "errors")
    return {key: sum(sample[key] for sample in samples) for key in keys}


@pytest.mark.parametrize("options", [
    dict(iodepth=16, workers=3),
    dict(numjobs=5, workers=3),
    dict(rw="write", bs="64k", iodepth=2, numjobs=3, workers=3),
], ids=["depth", "streams", "sequential"])  # fmt: skip
def test_counts_are_those_of_the_kernel(service, loop, options):
    device = loop(64 * MIB)
    before = device.stat()
    shown = service.run_job(job(time_based=1, runtime=2, **options), device)
    kernel = sysfs_stat_since(device.path, before)
    samples = service.samples(shown["run"])
    sums = totals(samples)
    assert sums["write_bytes"] == kernel["write_bytes"] > 0
    assert sums["write_ios"] == kernel["write_ios"] == shown["phases"][0]["ios"]
    assert sums["read_ios"] == sums["errors"] == 0
    assert shown["phases"][0]["workers"] == 3
    assert all(sample["worker_cpu_percent"] > 0 and 0 <= sample["ring_cpu_percent"] <= 100 for sample in samples)
    assert max(sample["in_flight"] for sample in samples) <= options.get("iodepth", 1) * options.get("numjobs", 1)


@pytest.mark.parametrize("options", [
    dict(rw="write", iodepth=8, workers=3),
    dict(norandommap=0, iodepth=7, workers=3),
    dict(rw="write", bs="64k", iodepth=1, numjobs=4, workers=4, size="8m", offset_increment="16m"),
], ids=["sequential", "map", "regions"])  # fmt: skip
def test_every_block_of_the_region_is_written_and_none_besides(service, loop, options):
    """All that is written carries a stamp, and the device was blank."""
    device = loop(64 * MIB)
    shown = service.run_job(job(offset="4m", **dict(dict(size="41m"), **options)), device)
    step = 16 * MIB if "offset_increment" in options else 0
    regions = [(4 * MIB + step * i, 8 * MIB) for i in range(4)] if step else [(4 * MIB, 41 * MIB)]
    assert totals(service.samples(shown["run"]))["write_bytes"] == sum(length for _, length in regions)

    left = device.file.read_bytes()
    written = [any(left[at : at + 4096]) for at in range(0, len(left), 4096)]
    expected = [any(start <= at < start + length for start, length in regions) for at in range(0, len(left), 4096)]
    assert written == expected


def test_limits_are_exact(service, loop):
    device = loop(64 * MIB)
    text = "[global]\nrw=randwrite\nbs=4k\niodepth=8\nworkers=3\n"
    text += "[ios]\nnumber_ios=1001\n[bytes]\nio_size=4100k\n[few]\nnumber_ios=2\n[loops]\ncapacity_loops=1\n"
    shown = service.run_job(text, device)
    assert [phase["ios"] for phase in shown["phases"]] == [1001, 1025, 2, 64 * MIB // 4096]


def test_pause_resume_and_stop_reach_all_of_them(service, loop):
    (run,) = service.start_run(job(time_based=1, runtime=60, iodepth=8, workers=4), loop(64 * MIB))
    service.wait_samples(run, 1)
    service.cli("pause", run)
    service.wait_state(run, "paused")
    n = len(service.samples(run))
    assert service.samples(run)[-1]["in_flight"] == 0
    service.cli("resume", run)
    service.wait_samples(run, n + 1)
    service.cli("stop", run)
    shown = service.wait_state(run, "stopped")
    assert sum(s["write_ios"] for s in service.samples(run)) == shown["phases"][0]["ios"]


def test_phases_may_differ_in_how_many_they_have(service, loop):
    text = "[global]\nbs=4k\niodepth=8\nsize=16m\n[a]\nrw=write\n[b]\nrw=read\nworkers=4\n[c]\nrw=write\nworkers=2\n"
    shown = service.run_job(text, loop(64 * MIB))
    assert [phase["ios"] for phase in shown["phases"]] == [4096] * 3
    assert [phase["workers"] for phase in shown["phases"]] == [1, 4, 2]


def test_an_error_in_one_ends_the_phase_in_all(service, nbd):
    device = nbd(64 * MIB)
    (run,) = service.start_run(job(time_based=1, runtime=60, iodepth=8, workers=4, continue_on_error="none"), device)
    service.wait_samples(run, 1)
    device.fail()
    shown = service.wait_state(run, "failed")
    assert any("does not continue on that error" in event["detail"] for event in shown["events"])


def test_several_runs_at_once_keep_their_samples_exact(service, loop):
    """More ring threads than the machine has cores to spare: counts and durations are exact all the same."""
    devices = [loop(32 * MIB) for _ in range(3)]
    before = [device.stat() for device in devices]
    runs = [service.start_run(job(time_based=1, runtime=3, iodepth=8, workers=2), device)[0] for device in devices]
    for run, device, stat in zip(runs, devices, before):
        service.wait_state(run, "done")
        kernel = sysfs_stat_since(device.path, stat)
        samples = service.samples(run)
        assert totals(samples)["write_ios"] == kernel["write_ios"] > 0
        assert totals(samples)["write_bytes"] == kernel["write_bytes"]
        assert [sample["seq"] for sample in samples] == list(range(len(samples)))
        elapsed = 0
        for sample in samples:
            elapsed += sample["duration_ns"]
            assert abs(sample["elapsed_s"] * SECOND - elapsed) < 1000
        assert elapsed >= 3 * SECOND


def test_samples_tell_what_the_job_itself_held_back(service, loop):
    """Ahead of its rate, or idle."""
    text = "[global]\nbs=4k\niodepth=8\ntime_based\nruntime=1\n"
    text += "[rate]\nrw=randwrite\nrate_iops=500\n[idle]\naction=idle\n[load]\nrw=randwrite\n"
    samples = service.samples(service.run_job(text, loop(64 * MIB))["run"])
    held = [[s["held_percent"] for s in samples if s["phase"] == i and s["duration_ns"] > SECOND / 2] for i in range(3)]
    assert all(held) and min(held[0]) > 50 and min(held[1]) > 90 and max(held[2]) == 0
