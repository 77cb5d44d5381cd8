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


def amount(paths, direction, usual_ms=float("inf")):
    """Rates times their intervals; of one that is longer than usual, as after a gap, times the usual."""
    total = 0
    for path in paths:
        previous_ms = 0
        for ms, value, d in lines(path):
            if d == direction:
                if ms < previous_ms:  # the next job in the same file
                    previous_ms = 0
                total += value * min(ms - previous_ms, usual_ms) / 1000
                previous_ms = ms
    return total


def steps(paths):
    """From each row of a job and a direction to the next, in ms. On a busy machine fio is late with its rows."""
    found = []
    for path in paths:
        for direction in (0, 1):
            at = [ms for ms, _, d in lines(path) if d == direction]
            found += [to - ms for ms, to in zip(at, at[1:]) if to > ms]
    return found


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
    shown = cli.json("samples", "last")
    usual_ms = 1000 * shown["interval_s"]
    for direction, name in enumerate(("read", "write")):
        for got, log, unit in ((phase[f"{name}_ios"], "iops", 1), (phase[f"{name}_bytes"], "bw", 1024)):
            least, most = (unit * amount(logs[log], direction, ms) for ms in (usual_ms, float("inf")))
            slack = 4 * (1 if log == "iops" else 8192)  # rates are whole numbers
            assert 0 < 0.98 * least - slack <= got <= 1.02 * most + slack
        means = [ns for path in logs["clat"] for _, ns, d in lines(path) if d == direction]
        got = [int(row[f"{name}_latency_ns"]) for row in rows if row[f"{name}_latency_ns"]]
        assert got and all(min(means) <= ns <= max(means) for ns in got)
    assert phase["bs"] == 8192
    told = steps(logs["iops"])
    assert min(100, *told) <= round(usual_ms) <= max(told)
    last_ms = max(ms for path in logs["iops"] for ms, _, _ in lines(path))
    assert shown["samples"][-1]["elapsed_s"] == pytest.approx(last_ms / 1000, abs=max(told) / 1000)
    assert len(shown["samples"]) >= len(told) / 4  # of two jobs in two directions
