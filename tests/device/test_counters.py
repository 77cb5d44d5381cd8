# SPDX-License-Identifier: MIT
"""What the samples add up to is what the kernel says it did."""

import pytest
from harness import MIB, sysfs_stat_since, wait_for

JOB = "[work]\nrw={rw}\nbs={bs}\niodepth=16\ntime_based\nruntime=2\n"


def totals(samples):
    keys = ("write_ios", "read_ios", "write_bytes", "read_bytes", "errors")
    return {key: sum(sample[key] for sample in samples) for key in keys}


@pytest.mark.parametrize("rw, bs", [("randwrite", "4k"), ("write", "64k")])
@pytest.mark.parametrize("kind", ["loop", "loop of 4 KiB sectors", "nbd", "zram"])
def test_writes_are_those_of_the_kernel(service, request, kind, rw, bs):
    make = request.getfixturevalue(kind.split()[0])
    device = make(64 * MIB, sector=4096) if "sectors" in kind else make(64 * MIB)
    before = device.stat()
    shown = service.run_job(JOB.format(rw=rw, bs=bs), device)
    kernel = sysfs_stat_since(device.path, before)
    sums = totals(service.samples(shown["run"]))
    assert sums["write_bytes"] == kernel["write_bytes"] > 0
    assert sums["write_ios"] == kernel["write_ios"]
    assert sums["read_ios"] == sums["errors"] == 0


@pytest.mark.parametrize("rw, bs", [("randread", "4k"), ("read", "64k"), ("randrw", "4k")])
def test_reads_are_those_of_the_kernel(service, loop, rw, bs):
    # The first phase reads nothing; so all reads up to then are the search for signatures, which is no workload.
    device = loop(64 * MIB)
    (run,) = service.start_run(JOB.format(rw="randwrite", bs="4k") + JOB.format(rw=rw, bs=bs), device)
    wait_for(lambda: device.stat()["write_ios"] > 0, 10, "writes of the first phase")
    before = device.stat()
    service.wait_state(run, "done")
    kernel = sysfs_stat_since(device.path, before)
    sums = totals(service.samples(run))
    assert sums["read_ios"] == kernel["read_ios"] > 0
    assert sums["read_bytes"] == kernel["read_bytes"]


def test_phase_totals_are_the_sums_of_their_samples(service, loop):
    shown = service.run_job("[a]\nrw=randwrite\nbs=4k\nsize=8m\n[b]\nrw=read\nbs=64k\nsize=8m\n", loop(64 * MIB))
    samples = service.samples(shown["run"])
    for phase in shown["phases"]:
        mine = [sample for sample in samples if sample["phase"] == phase["index"]]
        assert sum(s["write_ios"] + s["read_ios"] for s in mine) == phase["ios"]
        assert sum(s["write_bytes"] + s["read_bytes"] for s in mine) == phase["bytes"] == 8 * MIB
