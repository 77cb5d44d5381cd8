# SPDX-License-Identifier: MIT
"""Several runs at once, each on its own device and for itself."""

from harness import MIB, sysfs_stat_since, wait_for

JOB = "[p]\nrw=randwrite\nbs=4k\niodepth=16\ntime_based\nruntime={}\n"


def test_one_start_takes_several_devices(service, loop):
    devices = [loop(64 * MIB), loop(32 * MIB)]
    before = [device.stat() for device in devices]
    runs = service.start_run(JOB.format(3), *devices)
    assert len(set(runs)) == 2
    service.wait_workers(2)
    for run, device, stat in zip(runs, devices, before):
        shown = service.wait_state(run, "done")
        assert shown["device"]["path"] == device.path and shown["device"]["size_bytes"] == device.size
        written = sum(sample["write_ios"] for sample in service.samples(run))
        assert written == sysfs_stat_since(device.path, stat)["write_ios"] > 0


def test_one_start_is_all_or_none(service, loop):
    good, other = loop(64 * MIB), loop(64 * MIB)
    before = good.stat()["write_ios"], service.cli.json("list")
    result = service.cli("start", "-", "--device", good.path, "--device", other.path, "--confirm", good.confirm,
                         input=JOB.format(3), check=3)  # fmt: skip
    assert other.path in result.err and good.path not in result.err
    assert (good.stat()["write_ios"], service.cli.json("list")) == before
    assert good.claim_is_free()


def test_runs_started_apart_go_on_side_by_side(service, loop):
    (first,) = service.start_run(JOB.format(60), loop(64 * MIB))
    (second,) = service.start_run(JOB.format(60), loop(64 * MIB))
    service.wait_samples(first, 3)
    service.wait_samples(second, 3)
    assert {run["run"] for run in service.cli.json("list")["runs"] if run["state"] == "running"} >= {first, second}


def test_stopping_one_leaves_the_other_alone(service, loop):
    first, second = service.start_run(JOB.format(60), loop(64 * MIB), loop(64 * MIB))
    service.wait_samples(first, 1)
    service.cli("stop", first)
    service.wait_state(first, "stopped")
    n = len(service.samples(second))
    wait_for(lambda: len(service.samples(second)) > n, 10, "samples of the other")
    assert service.row(second)["state"] == "running"
