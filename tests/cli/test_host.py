# SPDX-License-Identifier: MIT
"""Whether the host, not the drive, set the pace: what each verb makes of what samples say of it."""

import csv

import pytest


@pytest.fixture
def limited(database, script):
    """Twenty seconds in which the host had time, thirty in which no core had, fifteen in which a ring thread never
    waited."""
    s = script().run("load", "", "Model", "S1", ("burn",)).state("running").phase(0, "running")
    s.cpu(40, 70, 60).samples(20, writes=1000).cpu(99, 90, 80).samples(30, writes=800)
    s.cpu(60, 120, 100).samples(15, writes=900).phase(0, "done").state("done")
    return database.write(s)


def test_samples_carry_it(limited):
    samples = limited.json("samples", 1)["samples"]
    assert [(s["cpu_percent"], s["worker_cpu_percent"], s["ring_cpu_percent"]) for s in samples] == (
        [(40, 70, 60)] * 20 + [(99, 90, 80)] * 30 + [(60, 120, 100)] * 15
    )
    (whole,) = limited.json("samples", 1, "--every", "100")["samples"]
    assert whole["worker_cpu_percent"] == pytest.approx((70 * 20 + 90 * 30 + 120 * 15) / 65)
    assert whole["ring_cpu_percent"] == pytest.approx((60 * 20 + 80 * 30 + 100 * 15) / 65)


def test_show_tells_for_how_long(limited):
    (phase,) = limited.json("show", 1)["phases"]
    assert phase["host_limited_s"] == 45
    assert phase["worker_cpu_percent"] == pytest.approx((70 * 20 + 90 * 30 + 120 * 15) / 65)
    assert ("The host, not the drive, set the pace for 45.0 s of the run: all of its cores were busy for 30.0 s, and a "
            "ring thread never waited for the drive for 15.0 s.") in limited("show", "1").out  # fmt: skip


def test_analyze_tells_for_how_long(limited):
    assert limited.json("analyze", 1)["host_limited_s"] == 45
    assert "For 45.0 s of it the host, not the drive, set the pace." in limited("analyze", "1").out


def test_moments_are_no_matter(database, script):
    s = script().run("load", "", "Model", "S1", ("burn",)).state("running").phase(0, "running")
    s.cpu(40, 70, 60).samples(60, writes=1000).cpu(99, 90, 80).samples(9, writes=800).phase(0, "done").state("done")
    cli = database.write(s)
    assert cli.json("show", 1)["phases"][0]["host_limited_s"] == cli.json("analyze", 1)["host_limited_s"] == 9
    assert "not the drive" not in cli("show", "1").out + cli("analyze", "1").out


def test_what_the_job_itself_held_back_is_not_limited(database, script):
    """A rate that is kept, or a phase that is idle: however busy the host is, the drive waited for the job."""
    s = script().run("load", "", "Model", "S1", ("burn",)).state("running").phase(0, "running").cpu(100, 100, 100)
    s.held(100).samples(60, writes=1000).held(0).samples(20, writes=1000).phase(0, "done").state("done")
    cli = database.write(s)
    samples = cli.json("samples", 1)["samples"]
    assert [sample["held_percent"] for sample in samples] == [100] * 60 + [0] * 20
    (whole,) = cli.json("samples", 1, "--every", "100")["samples"]
    assert whole["held_percent"] == pytest.approx(75)
    assert cli.json("show", 1)["phases"][0]["host_limited_s"] == cli.json("analyze", 1)["host_limited_s"] == 20
    assert "set the pace for 20.0 s of the run" in cli("show", "1").out


def test_runs_that_know_nothing_of_it_are_not_limited(database, script):
    s = script().run("load", "", "Model", "S1", ("burn",)).state("running").phase(0, "running")
    cli = database.write(s.samples(60, writes=1000).phase(0, "done").state("done"))
    assert cli.json("show", 1)["phases"][0]["worker_cpu_percent"] is None
    assert cli.json("show", 1)["phases"][0]["host_limited_s"] == cli.json("analyze", 1)["host_limited_s"] == 0


def test_csv_holds_it(limited):
    rows = list(csv.DictReader(limited("export", "1", "--format", "csv").out.splitlines()))
    assert [(row["cpu_percent"], row["worker_cpu_percent"], row["ring_cpu_percent"]) for row in rows[-2:]] == (
        [("60", "120", "100")] * 2
    )


def test_a_host_that_set_the_pace_fails_no_drive(database, script):
    """But one that was busy during the burst only does not excuse what the drive did afterwards."""
    both, burst = (
        script().expect("claimed_iops=60k").size(2**31).run().state("running").phase(0, "running").cpu(99, 90, 80)
        for _ in range(2)
    )
    both.noisy(2700, 8000).phase(0, "done").state("done")
    burst.noisy(900, 20000).cpu(40, 70, 60).noisy(2700, 8000).phase(0, "done").state("done")
    cli = database.write(both)
    database.write(burst)
    document = cli.json("verdict", 1, check=7)
    (reason,) = [r for r in document["reasons"] if r["criterion"] == "claimed_iops"]
    assert (reason["result"], reason["reason"]) == ("inconclusive", "the host, not the drive, set the pace")
    assert cli.json("verdict", 2, check=1)["verdict"] == "fail"
