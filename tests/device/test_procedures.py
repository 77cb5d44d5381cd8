# SPDX-License-Identifier: MIT
"""Published procedures, shortened: presets, matrices, idle phases, and what ends a phase besides time and size."""

import re

import pytest
from harness import KIB, MIB, sysfs_stat_since

SIZE = 64 * MIB
BLOCKS = [512, 4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB]
DEPTHS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]


def shortened(service, preset, **times):
    """The text of a preset with other times in it; each must have been there."""
    text = service.cli("presets", preset).out
    for name, value in times.items():
        text, n = re.subn(rf"^{name}=.*$", f"{name}={value}", text, flags=re.MULTILINE)
        assert n == 1, name
    if "[global]" in text:
        return text.replace("[global]", "[global]\nsample_interval=100ms")
    return "[global]\nsample_interval=100ms\n" + text


def run(service, job, device, name):
    (number,) = service.start_run(job, device, name=name)
    assert service.wait_state(number, "done", "failed", timeout=60)["state"] == "done"
    return service.cli.json("show", number)


def columns(line):
    return re.split(r"\s{2,}", line.strip())


def test_overnight_gives_the_table_as_published(service, loop):
    shown = run(service, shortened(service, "overnight", runtime="500ms", step_time="50ms"), loop(SIZE), "overnight")
    torture, *cells = shown["phases"]
    assert (torture["name"], torture["iodepth"], torture["bs"], torture["rw"]) == ("torture", 64, 4096, "randwrite")
    assert len(cells) == 60 and all(cell["state"] == "done" and cell["action"] == "matrix" for cell in cells)

    matrix = service.cli.json("matrix", "last")
    assert (matrix["run"], matrix["rw"]) == (shown["run"], "randwrite")
    assert [(cell["bs"], cell["iodepth"]) for cell in matrix["cells"]] == [(bs, n) for bs in BLOCKS for n in DEPTHS]
    assert all(cell["iops"] > 0 and cell["latency_p50_ns"] <= cell["latency_p99_ns"] for cell in matrix["cells"])
    for cell, phase in zip(matrix["cells"], cells):
        assert cell["iops"] == pytest.approx(phase["ios"] / phase["elapsed_s"])

    text = service.cli("matrix", "last").out
    head, table = text.split("\n\n")
    assert [line.split()[0] for line in head.splitlines()] == ["model", "firmware", "size", "read-ahead", "driver"]
    title, headings, *rows = table.splitlines()
    assert title == "matrix: IOPS of randwrite"
    assert headings.startswith("OUTSTANDING")
    assert re.findall(r"\d+ (?:B|KiB|MiB)", headings) == ["512 B", "4 KiB", "16 KiB", "64 KiB", "256 KiB", "1 MiB"]
    assert [int(row.split()[0]) for row in rows] == DEPTHS
    by_cell = {(cell["bs"], cell["iodepth"]): cell["iops"] for cell in matrix["cells"]}
    for row in rows:
        depth, *values = map(int, row.split())
        assert values == [round(by_cell[bs, depth]) for bs in BLOCKS]

    # The torture, and not a cell, is what the run is judged by; and `show` is not flooded with cells.
    assert service.cli.json("analyze", "last")["phase"] == "torture"
    text = service.cli("show", "last").out
    assert "phases 1 to 60 are the cells of 'matrix', 60 of which are done" in text
    assert len([event for event in shown["events"] if event["kind"] == "phase"]) == 4
    assert service.cli("verdict", "last", check=7).out  # too short to say


def test_hba_shows_iops_bandwidth_and_cpu_of_each_pattern(service, loop):
    job = shortened(service, "hba", step_time="200ms")
    shown = run(service, job, loop(SIZE), "hba")
    patterns = {"Seq.Read": "read", "Rdm.Read": "randread", "Seq.Write": "write", "Rdm.Write": "randwrite"}
    expected = [(name, rw, bs) for name, rw in patterns.items() for bs in (512, 4 * KIB, 128 * KIB)]
    assert [(phase["name"], phase["rw"], phase["bs"]) for phase in shown["phases"]] == expected
    text = service.cli("show", "last").out
    headings = next(line for line in text.splitlines() if line.startswith("PHASE"))
    assert {"IOPS", "MB/S", "CPU"} <= set(headings.split())
    for phase in shown["phases"]:
        assert phase["iodepth"] == 32 and phase["numjobs"] >= 1 and phase["iops_mean"] > 0
        assert phase["bytes_per_s_mean"] == pytest.approx(phase["iops_mean"] * phase["bs"])
        assert 0 < phase["cpu_percent"] <= 100
        row = next(line for line in text.splitlines() if line.split()[:1] == [str(phase["index"])])
        assert f"{phase['bytes_per_s_mean'] / 1e6:.1f}" in row and f"{phase['cpu_percent']:.1f}%" in row

    samples = service.samples(shown["run"])
    for phase in shown["phases"]:
        mine = [s for s in samples if s["phase"] == phase["index"] and s["cpu_percent"] is not None]
        mean = sum(s["cpu_percent"] * s["duration_ns"] for s in mine) / sum(s["duration_ns"] for s in mine)
        assert phase["cpu_percent"] == pytest.approx(mean)


def test_cells_below_the_sector_are_left_out_with_a_notice(service, loop):
    device = loop(SIZE, sector=4096)
    started = service.cli("start", "-", "--device", device.path, "--confirm", device.confirm,
                          input=shortened(service, "matrix", step_time="20ms"))  # fmt: skip
    assert "cells with bs=512 are left out: the target's logical blocks have 4096 bytes" in started.err
    number = service.cli.json("list")["runs"][0]["run"]
    service.wait_state(number, "done")
    matrix = service.cli.json("matrix", number)
    assert {cell["bs"] for cell in matrix["cells"]} == set(BLOCKS) - {512}
    assert len(matrix["cells"]) == 50
    assert service.cli("matrix", number, "--phase", "nothing", check=2)


def test_a_matrix_goes_on_where_it_was_interrupted(own_service, loop):
    job = "[fill]\nrw=write\nbs=1m\n[m]\naction=matrix\nrw=randwrite\nbs=4k,8k\niodepth=1,2\nstep_time=1500ms\n"
    (number,) = own_service.start_run(job, loop(SIZE))
    own_service.wait_samples(number, 4)
    own_service.restart()
    shown = own_service.wait_state(number, "done", timeout=60)
    assert len(shown["phases"]) == 5
    assert [phase["elapsed_s"] for phase in shown["phases"][1:]] == pytest.approx([1.5] * 4, abs=0.3)
    cells = own_service.cli.json("matrix", number)["cells"]
    assert [(cell["bs"], cell["iodepth"]) for cell in cells] == [(4096, 1), (4096, 2), (8192, 1), (8192, 2)]


def test_idle_leaves_the_device_alone_and_records_it(service, loop):
    device = loop(SIZE)
    job = "[global]\nsample_interval=100ms\nbs=64k\n[w]\nrw=write\n[rest]\naction=idle\nruntime=1\n[r]\nrw=read\n"
    shown = run(service, job, device, "idle")
    rest = shown["phases"][1]
    assert (rest["action"], rest["rw"], rest["ios"], rest["errors"]) == ("idle", None, 0, 0)
    assert rest["elapsed_s"] == pytest.approx(1, abs=0.15)
    samples = [sample for sample in service.samples(shown["run"]) if sample["phase"] == 1]
    assert len(samples) in range(9, 13)
    assert all(s["read_ios"] == s["write_ios"] == s["in_flight"] == 0 for s in samples)
    assert [phase["bytes"] for phase in shown["phases"]] == [SIZE, 0, SIZE]


def test_a_job_that_only_rests_can_be_paused_and_stopped(service, loop):
    device = loop(SIZE)
    before = device.stat()
    (number,) = service.start_run("[rest]\naction=idle\nruntime=1h\n", device)
    service.wait_samples(number, 1)
    service.cli("pause", number)
    service.wait_state(number, "paused")
    service.cli("resume", number)
    service.wait_state(number, "running")
    service.cli("stop", number)
    assert service.wait_state(number, "stopped")["phases"][0]["state"] == "stopped"
    assert sysfs_stat_since(device.path, before)["write_bytes"] == 0


@pytest.mark.parametrize("options", ["rw=write\nbs=64k", "rw=randwrite\nbs=4k\nnumjobs=3\niodepth=5\nsize=8m"])
def test_capacity_loops_write_exactly_that_often_the_size(service, loop, options):
    device = loop(SIZE)
    before = device.stat()
    shown = run(service, f"[p]\n{options}\ncapacity_loops=3\n", device, "loops")
    assert shown["phases"][0]["bytes"] == 3 * SIZE
    assert sysfs_stat_since(device.path, before)["write_bytes"] == 3 * SIZE


def test_write_saturation_ends_at_four_times_the_capacity(service, loop):
    shown = run(service, shortened(service, "snia-wsat"), loop(SIZE), "snia-wsat")
    assert shown["phases"][0]["bytes"] == 4 * SIZE
    assert "not purged" in service.cli("show", "last").out


def test_rounds_of_snias_iops_test_are_judged_by_their_tracked_point(service, loop):
    text = shortened(service, "snia-iops", step_time="20ms")
    text = text[: text.index("[6: 100/0]")].replace("sample_interval=100ms", "sample_interval=1s")
    shown = run(service, text, loop(SIZE), "snia-iops")
    assert shown["phases"][0]["bytes"] == 2 * SIZE and "not purged" in shown["description"]
    assert len(shown["phases"]) == 1 + 5 * 56
    cells = service.cli.json("matrix", "last")["cells"]
    assert len(cells) == 5 * 56 and all(cell["iops"] > 0 for cell in cells)

    test = service.cli.json("analyze", "last")["snia"]["iops_test"]
    tracked = [cell["iops"] for cell in cells if (cell["rw"], cell["bs"]) == ("randwrite", 4 * KIB)]
    assert [r["iops"] for r in test["rounds"]] == pytest.approx(tracked) and len(tracked) == 5
    sizes = [512, *(n * KIB for n in (4, 8, 16, 32, 64, 128, 1024))]
    mixes = [100, 95, 65, 50, 35, 5, 0]
    assert [(p["bs"], p["read_percent"]) for p in test["points"]] == [(bs, mix) for bs in sizes for mix in mixes]
    by_point = {(p["bs"], p["read_percent"]): p["iops"] for p in test["points"]}
    mixed = [cell["iops"] for cell in cells if cell["name"].endswith(": 65/35") and cell["bs"] == 8 * KIB]
    assert by_point[8 * KIB, 65] == pytest.approx(sum(mixed) / 5)

    lines = service.cli("analyze", "last").out.splitlines()
    (table,) = (i for i, line in enumerate(lines) if line.startswith("Its IOPS by block size and mix"))
    assert lines[table + 1].split() == ["BLOCK", *(f"{mix}/{100 - mix}" for mix in mixes)]
    assert len(lines[table + 2 : table + 10]) == 8
    assert [int(cell) for cell in lines[table + 2].split()[2:]] == [round(by_point[512, mix]) for mix in mixes]


def test_endurance_mix_has_jedecs_sizes_and_share_of_writes(service, loop):
    text = shortened(service, "jesd219", runtime="2s")
    shown = run(service, text, loop(SIZE), "jesd219")
    fill, endurance = shown["phases"]
    assert fill["bytes"] == SIZE
    assert endurance["write_ios"] / endurance["ios"] == pytest.approx(0.6, abs=0.02)
    # 4 % of 512 bytes, 1 % of each 512 bytes more up to 3584, 67 % of 4k, 10 % of 8k, 7 % of 16k, 3 % of 32k and of 64k
    mean = 0.04 * 512 + sum(range(1024, 4096, 512)) / 100 + KIB * (0.67 * 4 + 0.1 * 8 + 0.07 * 16 + 0.03 * (32 + 64))
    assert endurance["bytes"] / endurance["ios"] == pytest.approx(mean, rel=0.05)


def test_a_drive_of_larger_sectors_is_refused_for_the_endurance_mix(service, loop):
    device = loop(SIZE, sector=4096)
    result = service.cli("start", "jesd219", "--device", device.path, "--confirm", device.confirm, check=3)
    assert "bssplit" in result.err and "logical blocks of 4096 bytes" in result.err


def test_sandforce_shows_what_idling_and_a_discard_bring_back(service, loop):
    text, n = re.subn(r"^runtime=.*$", "runtime=300ms", service.cli("presets", "sandforce").out, flags=re.MULTILINE)
    assert n == 6
    device = loop(SIZE)
    shown = run(service, text.replace("[global]", "[global]\nsample_interval=100ms"), device, "sandforce")
    phases = {phase["name"]: phase for phase in shown["phases"]}
    assert list(phases) == ["compressible", "incompressible", "rest", "after rest", "discard", "after discard",
                            "compressible again"]
    assert all(phase["state"] == "done" for phase in shown["phases"])
    assert phases["rest"]["ios"] == 0 and phases["discard"]["trim_bytes"] == SIZE
    written = [phase["write_ios"] for name, phase in phases.items() if name not in ("rest", "discard")]
    assert len(written) == 5 and all(ios > 0 for ios in written)
