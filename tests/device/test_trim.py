# SPDX-License-Identifier: MIT
"""Trims: what a job trims is gone from the device, counted as trims, and nothing else is."""

import csv
import subprocess

import pytest
from harness import GIB, KIB, MIB, SECTOR, LoopDevice, scratch_path, sysfs_stat_since, wait_for

TIB = 1024 * GIB
SIZE = 32 * MIB
BLOCK = 4 * KIB


def fill(device):
    device.file.write_bytes(b"\xa5" * SIZE)


def trimmed(device, block=BLOCK):
    data = device.file.read_bytes()
    zeros = bytes(block)
    return [data[i : i + block] == zeros for i in range(0, len(data), block)]


def trims(service, shown):
    samples = service.samples(shown["run"])
    assert all(s["read_ios"] == s["write_ios"] == 0 for s in samples)
    return sum(s["trim_ios"] for s in samples), sum(s["trim_bytes"] for s in samples)


def test_region_is_trimmed_and_no_more(service, loop):
    device = loop(SIZE)
    fill(device)
    before = device.stat()
    shown = service.run_job("[p]\nrw=trim\nbs=64k\noffset=8m\nsize=4m\niodepth=8\n", device)
    phase = shown["phases"][0]
    gone = trimmed(device)
    first, end = 8 * MIB // BLOCK, 12 * MIB // BLOCK
    assert not any(gone[:first]) and all(gone[first:end]) and not any(gone[end:])
    assert (phase["rw"], phase["bs"], phase["ios"], phase["trim_ios"]) == ("trim", 64 * KIB, 64, 64)
    assert (phase["bytes"], phase["trim_bytes"], phase["write_bytes"], phase["errors"]) == (4 * MIB, 4 * MIB, 0, 0)
    assert trims(service, shown) == (64, 4 * MIB)
    kernel = sysfs_stat_since(device.path, before)
    assert (kernel["write_bytes"], kernel["sectors_discarded"] * SECTOR) == (0, 4 * MIB)
    assert phase["latency_p99_ns"] > 0


def test_random_trims_with_a_map_reach_every_block_once(service, loop):
    device = loop(SIZE)
    fill(device)
    shown = service.run_job("[p]\nrw=randtrim\nbs=4k,4k,16k\nnorandommap=0\n", device)
    assert all(trimmed(device))
    assert trims(service, shown) == (SIZE // (16 * KIB), SIZE)


def test_trims_go_one_at_a_time(service, loop):
    """Though the job has 64 of them: all their latencies come one after another, within the time that there was."""
    device = loop(SIZE)
    job = "[p]\nrw=randtrim\nbs=4k\niodepth=32\nnumjobs=2\nsize=8m\ntime_based\nruntime=2\n"
    shown = service.run_job(job, device)
    assert all(s["in_flight"] <= 1 for s in service.samples(shown["run"]))
    (phase,) = shown["phases"]
    busy_ns = phase["trim_ios"] * phase["latency_mean_ns"]
    assert 0 < busy_ns <= 1.1e9 * phase["elapsed_s"]  # latencies are known to some percent


def test_discard_covers_its_region_to_the_last_block(service, loop):
    device = loop(SIZE)
    fill(device)
    shown = service.run_job("[global]\nrw=randread\nbs=64k\nruntime=1\ntime_based\n"
                            "[d]\naction=discard\noffset=1m\nsize=8389120\n", device)
    phase = shown["phases"][0]
    data = device.file.read_bytes()
    assert data[MIB : MIB + 8389120 // BLOCK * BLOCK] == bytes(8389120 // BLOCK * BLOCK)
    assert data[:MIB] == b"\xa5" * MIB and data[MIB + 8389120 :] == b"\xa5" * (SIZE - MIB - 8389120)
    assert (phase["action"], phase["trim_ios"], phase["trim_bytes"]) == ("discard", 1, 8389120)


def test_discard_goes_on_where_it_was_interrupted(own_service, loop):
    service, n_pieces = own_service, 128 * 1024
    (run,) = service.start_run("[d]\naction=discard\n", loop(n_pieces * GIB))
    service.wait_samples(run, 1)
    service.cli("pause", run)
    service.wait_state(run, "paused")
    part = service.cli.json("show", run)["phases"][0]["trim_ios"]
    service.cli("resume", run)
    service.wait_samples(run, 3)
    service.stop()
    service.start()
    service.wait_state(run, "done", timeout=60)
    shown = service.cli.json("show", run)
    assert 0 < part < n_pieces
    assert shown["phases"][0]["trim_ios"] == n_pieces
    assert "outage" in [e["kind"] for e in shown["events"]]


def test_discard_can_be_stopped_between_two_pieces(service, loop):
    (run,) = service.start_run("[d]\naction=discard\n", loop(1024 * TIB))
    service.wait_samples(run, 1)
    service.cli("stop", run)
    service.wait_state(run, "stopped")
    assert 0 < service.cli.json("show", run)["phases"][0]["trim_ios"] < 1024 * 1024


@pytest.fixture
def device_without_trims():
    """A loop device on a file of a file system that cannot punch holes."""
    directory = scratch_path("ramfs")
    subprocess.run(["mount", "-t", "ramfs", "ramfs", directory], check=True)
    try:
        with LoopDevice(SIZE, directory=directory) as device:
            yield device
    finally:
        subprocess.run(["umount", directory], check=True)


@pytest.mark.parametrize("options", ["rw=trim\n", "rw=randtrim\n", "action=discard\n"])
def test_device_that_takes_no_trims_is_refused(service, device_without_trims, options):
    job = f"[fine]\nrw=write\n[p]\n{options}"
    before = device_without_trims.stat()
    error = service.start_run(job, device_without_trims, check=3).json["error"]
    assert "phase 'p' trims, and the target takes no trims" in error["message"]
    assert sysfs_stat_since(device_without_trims.path, before)["writes"] == 0


def test_run_goes_on_after_trimming_what_it_wrote(own_service, loop):
    service = own_service
    job = "[w]\nrw=write\nbs=64k\nsize=8m\n[d]\naction=discard\n[i]\naction=idle\nruntime=3\n"
    (run,) = service.start_run(job, loop(SIZE))
    wait_for(lambda: service.row(run)["phase"] == "i", what="the last phase")
    service.stop()
    service.start()
    service.wait_state(run, "done")


def test_trims_are_seen_everywhere(service, loop):
    shown = service.run_job("[p]\nrw=randtrim\nbs=64k\ntime_based\nruntime=2\n", loop(SIZE))
    run = shown["run"]
    assert "trim/s" in service.cli("samples", run).out
    assert "trims of 64 KiB" in service.cli("analyze", run).out
    assert service.cli.json("analyze", run)["direction"] == "trim"
    assert service.cli("plot", run, "--metric", "trim-iops").out
    rows = csv.DictReader(service.cli("export", run, "--format", "csv").out.splitlines())
    assert sum(int(row["trim_ios"]) for row in rows) == trims(service, shown)[0] > 0
