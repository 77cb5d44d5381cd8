# SPDX-License-Identifier: MIT
"""What a job asks for is what reaches the device: how much, where, in which order and mix."""

import pytest
from harness import KIB, MIB, sysfs_stat_since

SIZE = 32 * MIB
BLOCK = 4 * KIB

SANDFORCE = (
    "bs=4k numjobs=64 randrepeat=0 rwmixread=0 norandommap rw=randrw runtime=60000 do_verify=0 direct=1 ioengine=sync"
)


def blocks_written(device, block=BLOCK):
    """Which blocks of a device that was all zeros are no longer."""
    data = device.file.read_bytes()
    zeros = bytes(block)
    return [data[i : i + block] != zeros for i in range(0, len(data), block)]


@pytest.mark.parametrize(
    "options, expected",
    [
        ("rw=write\nbs=64k\nsize=8m", 8 * MIB),
        ("rw=write\nbs=64k\nsize=8m\nloops=3", 24 * MIB),
        ("rw=randwrite\nbs=4k\nsize=4m\nnumjobs=3", 12 * MIB),
        ("rw=randwrite\nbs=4k\nsize=4m\nnumjobs=2\nloops=2\niodepth=7", 16 * MIB),
        ("rw=randwrite\nbs=4k\nsize=4m\nio_size=10m", 10 * MIB),
        ("rw=write\nbs=64k\nsize=50%", SIZE // 2),
        ("rw=write\nbs=1m\nruntime=30\nsize=8m", 8 * MIB),
        ("rw=write\nbs=64k", SIZE),
    ],
)
def test_volume_is_exact(service, loop, options, expected):
    device = loop(SIZE)
    before = device.stat()
    shown = service.run_job(f"[p]\n{options}\n", device)
    assert shown["phases"][0]["bytes"] == expected
    assert sysfs_stat_since(device.path, before)["write_bytes"] == expected


BOUNDED = """[global]
numjobs=3
workers=3
bs=64k
[odd]
rw=write
io_size=1001k
[random]
rw=randwrite
io_size=1001k
[paced]
rw=randwrite
time_based
runtime=1
rate=96k
"""


def test_no_more_is_written_than_check_job_says(service, loop, tmp_path):
    path = tmp_path / "job.fio"
    path.write_text(BOUNDED)
    checked = service.cli.json("check-job", path, "--size", SIZE)["phases"]
    shown = service.run_job(BOUNDED, loop(SIZE))["phases"]
    written = {phase["name"]: phase["write_bytes"] for phase in shown}
    planned = {phase["name"]: phase["planned_bytes"] for phase in checked}
    assert not any(phase["planned_by_chance"] for phase in checked)
    assert written["odd"] == written["random"] == planned["odd"] == planned["random"] == 48 * 64 * KIB
    # A second has room for a block and a half, and a second block is not cut: more, if the machine lets it begin.
    assert written["paced"] <= planned["paced"] == 6 * 64 * KIB


def test_time_based_goes_on_beyond_the_size(service, loop):
    shown = service.run_job("[p]\nrw=write\nbs=64k\nsize=1m\ntime_based\nruntime=2\n", loop(SIZE))
    assert shown["phases"][0]["bytes"] > 16 * MIB
    assert shown["elapsed_s"] == pytest.approx(2, abs=0.3)


def test_nothing_outside_offset_and_size_is_touched(service, loop):
    device = loop(SIZE)
    service.run_job("[p]\nrw=randwrite\nbs=4k\nnorandommap=0\noffset=8m\nsize=4m\n", device)
    written = blocks_written(device)
    first, end = 8 * MIB // BLOCK, 12 * MIB // BLOCK
    assert not any(written[:first]) and all(written[first:end]) and not any(written[end:])


def test_random_order_with_a_map_writes_every_block_once(service, loop):
    device = loop(SIZE)
    shown = service.run_job("[p]\nrw=randwrite\nbs=4k\niodepth=16\nnorandommap=0\n", device)
    assert shown["phases"][0]["ios"] == SIZE // BLOCK
    assert all(blocks_written(device))


def test_random_order_is_uniform_with_replacement(service, loop):
    # As many writes as there are blocks leave 1/e of them untouched.
    device = loop(SIZE)
    service.run_job("[p]\nrw=randwrite\nbs=4k\niodepth=16\n", device)
    written = blocks_written(device)
    assert 1 - sum(written) / len(written) == pytest.approx(0.368, abs=0.02)


def test_sequential_order_grows_from_the_start(service, nbd):
    device = nbd(64 * MIB)
    device.set_rate("16M")
    (run,) = service.start_run("[p]\nrw=write\nbs=4k\niodepth=4\n", device)
    service.wait_samples(run, 2)
    service.cli("stop", run)
    done = service.wait_state(run, "stopped")["phases"][0]["ios"]
    service.wait_workers(0)
    device.set_rate("")
    with open(device.path, "rb") as f:
        data = f.read((done + 1024) * BLOCK)
    written = [any(data[i : i + BLOCK]) for i in range(0, len(data), BLOCK)]
    assert done > 100
    assert all(written[:done]) and not any(written[done:])


def test_same_seed_gives_the_same_order(service, loop):
    job = "[p]\nrw=randwrite\nbs=4k\nsize=32m\nio_size=2m\nrandrepeat=1\n"
    one, two = loop(SIZE), loop(SIZE)
    service.run_job(job, one)
    service.run_job(job, two)
    assert blocks_written(one) == blocks_written(two)


def test_without_randrepeat_the_order_is_another(service, loop):
    job = "[p]\nrw=randwrite\nbs=4k\nsize=32m\nio_size=2m\nrandrepeat=0\n"
    one, two = loop(SIZE), loop(SIZE)
    service.run_job(job, one)
    service.run_job(job, two)
    assert blocks_written(one) != blocks_written(two)


@pytest.mark.parametrize("percent", [10, 50, 70])
def test_mix_has_the_shares_asked_for(service, loop, percent):
    job = f"[p]\nrw=randrw\nrwmixread={percent}\nbs=4k\niodepth=16\nio_size=128m\n"
    shown = service.run_job(job, loop(SIZE))
    samples = service.samples(shown["run"])
    reads = sum(sample["read_ios"] for sample in samples)
    writes = sum(sample["write_ios"] for sample in samples)
    assert reads / (reads + writes) == pytest.approx(percent / 100, abs=0.01)


@pytest.mark.parametrize(
    "rate, iops", [("rate_iops=500", 500), ("rate_iops=250\nnumjobs=2", 500), ("rate=2m\nbs=16k", 128)]
)
def test_rates_are_kept_on_the_average(service, loop, rate, iops):
    seconds = 4
    job = f"[p]\nrw=randwrite\niodepth=4\ntime_based\nruntime={seconds}\n{rate}\n"
    ios = service.run_job(job, loop(SIZE))["phases"][0]["ios"]
    assert ios == pytest.approx(iops * seconds, rel=0.01)


def test_the_slower_direction_holds_up_a_mix(service, loop):
    job = "[p]\nrw=rw\nrwmixread=75\niodepth=4\nrate_iops=600,400\ntime_based\nruntime=3\n"
    shown = service.run_job(job, loop(SIZE))
    samples = service.samples(shown["run"])
    reads = sum(sample["read_ios"] for sample in samples)
    writes = sum(sample["write_ios"] for sample in samples)
    assert reads == pytest.approx(1800, rel=0.01) and writes == pytest.approx(600, rel=0.01)


def test_each_block_is_written_once_in_several_sizes(service, loop):
    device = loop(SIZE)
    before = device.stat()
    job = "[p]\nrw=randwrite\nbssplit=4k/60:16k/30:64k/10\niodepth=16\nnorandommap=0\n"
    phase = service.run_job(job, device)["phases"][0]
    stat = sysfs_stat_since(device.path, before)
    assert phase["bytes"] == SIZE == stat["write_bytes"]
    assert phase["ios"] == stat["write_ios"] == pytest.approx(SIZE / (0.6 * 4 + 0.3 * 16 + 0.1 * 64) / KIB, rel=0.02)
    assert all(blocks_written(device))


def test_streams_write_their_own_regions(service, loop):
    device = loop(SIZE)
    service.run_job("[p]\nrw=write\nbs=64k\nnumjobs=3\nsize=2m\noffset_increment=8m\n", device)
    written = blocks_written(device)
    for first in range(0, SIZE // BLOCK, 8 * MIB // BLOCK):
        has_stream = first < 24 * MIB // BLOCK
        assert all(block == has_stream for block in written[first : first + 2 * MIB // BLOCK])
        assert not any(written[first + 2 * MIB // BLOCK : first + 8 * MIB // BLOCK])


def test_a_number_of_ios_ends_the_phase(service, loop):
    shown = service.run_job("[p]\nrw=randwrite\nnumber_ios=777\nnumjobs=2\niodepth=8\n", loop(SIZE))
    assert shown["phases"][0]["ios"] == 2 * 777


def test_the_cache_is_flushed_after_so_many_writes(service, loop):
    device = loop(SIZE)
    before = device.stat()
    shown = service.run_job("[p]\nrw=randwrite\nfsync=10\nnumber_ios=500\niodepth=1\n", device)
    # The kernel adds one of its own when the device is closed.
    assert sysfs_stat_since(device.path, before)["flushes"] in (49, 50, 51)
    assert shown["phases"][0]["ios"] == 500 and shown["errors"] == []


def test_reads_and_writes_may_differ_in_size(service, loop):
    shown = service.run_job("[p]\nrw=randrw\nbs=4k,16k\niodepth=8\nio_size=64m\n", loop(SIZE))
    samples = service.samples(shown["run"])
    reads = sum(sample["read_ios"] for sample in samples)
    writes = sum(sample["write_ios"] for sample in samples)
    assert sum(sample["read_bytes"] for sample in samples) == reads * 4 * KIB > 0
    assert sum(sample["write_bytes"] for sample in samples) == writes * 16 * KIB > 0


def test_depth_is_kept(service, nbd):
    device = nbd(64 * MIB)
    device.set_rate("16M")
    job = "[p]\nrw=randwrite\nbs=4k\niodepth=8\nnumjobs=3\ntime_based\nruntime=3\n"
    (run,) = service.start_run(job, device)
    service.wait_samples(run, 2)
    assert {sample["in_flight"] for sample in service.samples(run)} == {24}
    device.set_rate("")
    service.wait_state(run, "done")


def test_drive_of_4_kib_sectors_takes_4_kib_blocks(service, loop):
    device = loop(SIZE, sector=4096)
    shown = service.run_job("[p]\nrw=randwrite\nbs=4k\nnorandommap=0\n", device)
    assert shown["phases"][0]["bytes"] == SIZE and shown["errors"] == []


def test_block_below_the_sector_is_refused(service, loop):
    device = loop(SIZE, sector=4096)
    before = device.stat()["write_ios"]
    result = service.start_run("[p]\nrw=randwrite\nbs=512\n", device, check=3)
    assert "512" in result.out and "4096" in result.out
    assert device.stat()["write_ios"] == before and device.claim_is_free()


def test_size_that_is_no_multiple_of_the_block_loses_its_tail(service, loop):
    device = loop(SIZE + 4 * KIB)
    shown = service.run_job("[p]\nrw=write\nbs=64k\n", device)
    assert shown["phases"][0]["bytes"] == SIZE
    assert not blocks_written(device)[-1]


def test_sandforce_command_line_runs_as_it_stands(service, loop):
    (run,) = service.start_run("[sandforce]\n" + SANDFORCE.replace(" ", "\n") + "\n", loop(SIZE))
    samples = service.wait_samples(run, 2)
    assert samples[-1]["in_flight"] <= 64 and sum(sample["read_ios"] for sample in samples) == 0
