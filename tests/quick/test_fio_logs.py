# SPDX-License-Identifier: MIT
"""Logs that fio itself writes, without a device, come back as the numbers that are in them."""

import collections
import csv
import subprocess

import pytest

import harness
import needs

JOB = """
[global]
ioengine=null
size=1g
time_based
runtime=1
rate_iops=2000
log_avg_msec=100
write_iops_log=x
write_bw_log=x
write_lat_log=x
{options}
[mix]
rw=randrw
rwmixread=30
bs=8k
numjobs=2
"""


def lines(path):
    return [[int(field, 0) for field in line.split(",")[:3]] for line in path.read_text().splitlines()]


def amount(paths, direction):
    """Rates times their intervals."""
    total = 0
    for path in paths:
        previous_ms = 0
        for ms, value, d in lines(path):
            if d == direction:
                if ms < previous_ms:  # the next job in the same file
                    previous_ms = 0
                total += value * (ms - previous_ms) / 1000
                previous_ms = ms
    return total


@pytest.fixture(params=["", "per_job_logs=0", "log_offset=1\nlog_prio=1\nwrite_hist_log=x\nlog_hist_msec=500"],
                ids=["by job", "one file", "more columns"])  # fmt: skip
def logs(request, tmp_path):
    needs.need_build()
    needs.need_programs("fio")
    (tmp_path / "job.fio").write_text(JOB.format(options=request.param))
    subprocess.run(["fio", "--output=/dev/null", "job.fio"], cwd=tmp_path, timeout=60, check=True)
    by_kind = collections.defaultdict(list)
    for path in sorted(tmp_path.glob("x_*.log")):
        by_kind[path.name.split("_", 1)[1].split(".")[0]].append(path)
    return by_kind


def test_logs_of_a_run(logs, tmp_path):
    cli = harness.Cli(db=tmp_path / "x.db")
    result = cli("import", *sum(logs.values(), []))
    left_out = [path for kind, paths in logs.items() for path in paths if kind in ("slat", "clat_hist")]
    assert result.err.count("is left out") == len(left_out) > 0 and all(str(path) in result.err for path in left_out)
    phase = cli.json("show", "last")["phases"][0]
    rows = list(csv.DictReader(cli("export", "last").out.splitlines()))
    for direction, name in enumerate(("read", "write")):
        assert phase[f"{name}_ios"] == pytest.approx(amount(logs["iops"], direction), rel=0.02, abs=4)
        assert phase[f"{name}_bytes"] == pytest.approx(1024 * amount(logs["bw"], direction), rel=0.02, abs=4 * 8192)
        means = [ns for path in logs["clat"] for _, ns, d in lines(path) if d == direction]
        got = [int(row[f"{name}_latency_ns"]) for row in rows if row[f"{name}_latency_ns"]]
        assert len(got) >= 8 and all(min(means) <= ns <= max(means) for ns in got)
    assert phase["bs"] == 8192 and cli.json("samples", "last")["interval_s"] == 0.1
    assert 8 <= len(cli.json("samples", "last")["samples"]) <= 11
