# SPDX-License-Identifier: MIT
"""ramp_time is recorded like the rest and kept out of what is told of the phase; steadystate ends one as fio does."""

import pytest
from harness import MIB

JOB = "[p]\nrw=write\nbs=4k\niodepth=8\nsize=8m\ntime_based\nramp_time=2\nruntime=3\n"


def test_ramp_is_recorded_and_counted_in_no_mean(service, loop):
    shown = service.run_job(JOB, loop(32 * MIB))
    samples = service.samples(shown["run"])
    ramp = [s for s in samples if s["ramp"]]
    counted = [s for s in samples if not s["ramp"]]
    assert ramp == [s for s in samples if s["elapsed_s"] - s["duration_ns"] / 1e9 < 2] and ramp and counted
    phase = shown["phases"][0]
    assert sum(s["write_ios"] for s in ramp) > 0
    assert phase["elapsed_s"] >= 5  # the time of both
    assert phase["ramp_s"] == pytest.approx(sum(s["duration_ns"] for s in ramp) / 1e9)
    assert phase["ios"] == sum(s["write_ios"] for s in samples)
    assert phase["bytes"] == 4096 * phase["ios"]
    seconds = sum(s["duration_ns"] for s in counted) / 1e9
    assert phase["iops_mean"] == pytest.approx(sum(s["write_ios"] for s in counted) / seconds, rel=1e-6)
    assert phase["latency_max_ns"] == max(s["latency_max_ns"] for s in counted)
    (row,) = [r for r in service.cli.json("list")["runs"] if r["run"] == shown["run"]]
    assert row["iops"] == pytest.approx(phase["iops_mean"], rel=1e-6)


def test_phase_that_ends_in_its_ramp_has_no_means(service, loop):
    phase = service.run_job("[p]\nrw=write\nbs=1m\nramp_time=1h\n", loop(32 * MIB))["phases"][0]
    assert (phase["ios"], phase["bytes"]) == (32, 32 * MIB)
    assert (phase["iops_mean"], phase["latency_p50_ns"]) == (None, None)
    assert phase["state"] == "done" and phase["ramp_s"] == phase["elapsed_s"]


@pytest.mark.parametrize("ramps, seconds", [("", 3), ("ramp_time=1\nss_ramp=1\n", 5)])
def test_steadystate_ends_the_phase(service, loop, ramps, seconds):
    job = f"[p]\nrw=randwrite\nrate_iops=500\ntime_based\nruntime=60\nss=iops:20%\nss_dur=3\n{ramps}[q]\nsize=1m\n"
    shown = service.run_job(job, loop(32 * MIB))
    first, second = shown["phases"]
    assert seconds - 0.5 < first["elapsed_s"] < seconds + 8 and second["state"] == "done"
    details = [e["detail"] for e in shown["events"] if "steadystate is attained, a deviation of IOPS" in e["detail"]]
    assert len(details) == 1 and details[0].startswith("0 'p' ends")


def test_steadystate_that_is_not_attained_ends_nothing(service, loop):
    job = "[p]\nrw=randwrite\nrate_iops=500\ntime_based\nruntime=4\nss=iops:0.0000001\nss_dur=60\n"
    shown = service.run_job(job, loop(32 * MIB))
    assert shown["phases"][0]["elapsed_s"] == pytest.approx(4, abs=0.3)
