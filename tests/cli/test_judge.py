# SPDX-License-Identifier: MIT
"""analyze, compare and verdict on curves whose truth is known."""

import contextlib
import math
import re
import sqlite3
from random import Random

import pytest

GIB = 1 << 30
BLOCK = 4096


@pytest.fixture
def drives(database, script):
    """As two real drives did: one keeps a fiftieth of its burst, the other half. 2 GiB each."""
    s = script().size(2 * GIB)
    s.run("sandforce", "night", "Force", "S1", ("burn",)).state("running").phase(0, "running")
    s.noisy(120, 35000).noisy(600, 9000).noisy(1200, 1500).noisy(3000, 600).phase(0, "done").state("done")
    s.run("slc", "", "Extreme", "S2", ("burn",)).state("running").phase(0, "running")
    s.noisy(60, 15800).noisy(3540, 8000).phase(0, "done").state("done")
    return database.write(s)


def about(value, rel=0.02):
    return pytest.approx(value, rel=rel)


def test_analyze_severe(drives):
    a = drives.json("analyze", 1)
    assert (a["run"], a["phase"], a["phase_index"], a["direction"]) == (1, "burn", 0, "write")
    assert a["burst"]["iops"] == about(35000) and a["burst"]["from_s"] == 0
    assert a["burst"]["to_s"] == pytest.approx(120, abs=20)
    assert a["collapse"]["verdict"] == "severe" and a["collapse"]["ratio"] == about(600 / 35000, 0.03)
    assert a["steady"]["iops"] == about(600) and a["steady"]["since_s"] == pytest.approx(1920, abs=20)
    assert a["cycle"] is None and a["stalls"] == {"count": 0, "longest_s": 0, "share": 0}
    assert [r["iops_mean"] for r in a["regimes"]] == [about(35000), about(9000), about(1500), about(600)]
    for before, after in zip(a["regimes"], a["regimes"][1:], strict=False):
        assert before["to_s"] == after["from_s"]
    for regime in a["regimes"]:
        assert regime["iops_p05"] < regime["iops_mean"] < regime["iops_p95"]
        assert regime["slope_percent_per_hour"] is None or regime["to_s"] - regime["from_s"] >= 1800


def test_a_ramp_is_not_judged(database, script):
    s = script().size(2 * GIB).job("[burn]", "rw=randwrite", "time_based", "runtime=1h", "ramp_time=2m")
    s.run().state("running").phase(0, "running").noisy(120, 35000).noisy(3600, 600).phase(0, "done").state("done")
    cli = database.write(s)
    a = cli.json("analyze", 1)
    assert a["burst"]["iops"] == about(600) and a["burst"]["from_s"] == 120
    assert a["collapse"]["verdict"] == "none" and a["judged_s"] == 3600
    phase = cli.json("show", 1)["phases"][0]
    assert (phase["elapsed_s"], phase["ramp_s"], phase["iops_mean"]) == (3720, 120, about(600))
    assert phase["write_ios"] == sum(s["write_ios"] for s in cli.json("samples", 1)["samples"])
    written = re.search(r"average; ([0-9.]+ \w+) written \(([0-9.]+) x", cli("show", 1).out)
    assert float(written[2]) == pytest.approx(phase["write_bytes"] / (2 * GIB), abs=0.01)
    assert len(cli.json("samples", 1)["samples"]) == 3720


def test_analyze_degraded(drives):
    a = drives.json("analyze", "last")
    assert a["run"] == 2 and a["collapse"]["verdict"] == "degraded" and a["collapse"]["ratio"] == about(0.5)
    assert a["collapse"]["at_s"] == pytest.approx(60, abs=10) and a["collapse"]["fall_s"] <= 30
    assert a["steady"] == {"state": "steady", "since_s": pytest.approx(60, abs=10), "iops": about(8000)}
    assert a["judged_s"] == 3600


def test_analyze_tells_steps_and_fall(drives):
    text = drives("analyze", "1").out
    levels = (r"It went 3[45]\.\dk until 2 min 0 s, "
              r"(9\.0|8\.9)\dk until 12 min 0 s, 1\.\d+k until 32 min 0 s, then \d+ to the end\.")
    assert re.search(levels, text)
    assert re.search(r"at the end: 1\.7\d % of that \(severe\)", text)
    a = drives.json("analyze", 1)
    assert a["end"]["to_s"] == 4920 and a["end"]["iops"] == a["steady"]["iops"] and a["end"]["silent_s"] == 0
    assert a["floor"] == {"iops": a["steady"]["iops"], "ratio": a["collapse"]["ratio"]}
    fall = a["collapse"]
    end = fall["from_s"] + fall["fall_s"]
    assert 100 <= fall["from_s"] <= 730 and fall["from_s"] < end <= 1950 and fall["from_iops"] > 8000


def test_a_fall_in_the_last_minutes_is_told(database, script):
    s = script().size(GIB).run().state("running").noisy(3360, 50000).noisy(240, 2000).state("done")
    s.run().state("running").noisy(3360, 50000).samples(240, writes=0).state("done")
    cli = database.write(s)
    text = cli("analyze", "1").out
    assert "50.0k in the last state that held" in text and "at the end" not in text.split("SNIA")[0]
    assert "In its last 4 min 0 s it did 2.00k IOPS (4 % of the burst): too short to call that its state." in text
    assert cli.json("analyze", 1)["end"] == {"from_s": 3360, "to_s": 3600, "iops": about(2000), "ratio": about(0.04),
                                             "silent_s": 0}  # fmt: skip
    verdict = cli("verdict", "1", check=7).out
    assert "fell in its last minutes" in verdict
    assert "It did nothing at all in its last 4 min 0 s." in cli("analyze", "2").out
    assert cli.json("analyze", 2)["end"]["silent_s"] == 240
    assert "nothing completed any more at the end" in cli("verdict", "2", check=1).out


def test_a_drive_that_has_died_looks_dead(database, script):
    s = script().size(GIB).run().state("running").noisy(1800, 50000).samples(1800, writes=0).state("done")
    cli = database.write(s)
    text = cli("analyze", "1").out
    assert "It has done nothing since 30 min 0 s: the drive looks dead." in text and "fills" not in text


def test_a_flat_drive_did_it_throughout(database, script):
    cli = database.write(script().size(GIB).run().state("running").noisy(3600, 5000).state("done"))
    text = cli("analyze", "1").out
    assert "It did 5.00k IOPS (20.5 MB/s) throughout." in text and "at the end" not in text.split("SNIA")[0]


def test_a_cycle_has_range_and_period_and_its_troughs_are_the_floor(database, script):
    s = script().size(GIB).run().state("running")
    for _ in range(12):
        s.samples(450, writes=40000).samples(150, writes=5000)
    cli = database.write(s.state("done"))
    text = cli("analyze", "1").out
    assert "It goes up and down between 5.00k and 40.0k IOPS every 10 min 0 s, with a mean of 31.2k." in text
    assert "passages up and down are left out" in text
    assert cli.json("analyze", 1)["cycle"]["low_iops"] == 5000
    assert "the troughs of its cycles" in cli("verdict", "1", check=1).out


def test_a_slow_wave_is_not_steady_and_keeps_no_claim(database, script):
    s = script().job("[burn]", "rw=randwrite", "[expect]", "claimed_iops=4500").size(GIB).run().state("running")
    random = Random(1)
    for second in range(3600):
        wave = 1 - 0.5 * math.cos(2 * math.pi * second / 900)
        s.samples(1, writes=int(5000 * wave * max(0, random.gauss(1, 0.3))))
    cli = database.write(s.state("done"))
    text = cli("analyze", "1").out
    assert re.search(r"It did [45]\.\d+k IOPS \(.* MB/s\) on average\.", text), text
    told = re.search(r"not steady: since 0 s it has slowly come and gone between ([\d.]+)k and ([\d.]+)k IOPS\.", text)
    assert told and float(told[1]) < 4.2 and float(told[2]) > 6.5, text
    a = cli.json("analyze", 1)
    assert a["steady"]["state"] == "drifting" and a["collapse"]["verdict"] == "none"
    assert a["floor"]["iops"] == pytest.approx(float(told[1]) * 1000, abs=10)
    assert "its level comes and goes slowly: no mean of it lasts" in cli("verdict", "1", check=7).out


def test_frequent_stalls_fail_the_floor(database, script):
    s = script().size(GIB).run().state("running")
    for _ in range(120):
        s.samples(20, writes=5000).samples(10, writes=0)
    cli = database.write(s.samples(1, writes=5000).state("done"))
    assert cli.json("analyze", 1)["steady"]["state"] == "steady"
    assert "stalls took 33 % of the time since 0 s." in cli("analyze", "1").out
    assert "its stalls, which take more than 5 % of the time" in cli("verdict", "1", check=1).out


def test_stalls_are_told_of_the_end_state(database, script):
    s = script().size(GIB).run().state("running").samples(1800, writes=9000)
    for _ in range(60):
        s.samples(20, writes=2000).samples(10, writes=0)
    text = database.write(s.samples(1, writes=2000).state("done"))("analyze", "1").out
    assert "stalls took 33 % of the time since 30 min 0 s." in text


@pytest.mark.parametrize("steps", [(), ((600, 1000),)])
def test_the_burst_of_a_drive_that_rises_is_what_it_has_come_to(database, script, steps):
    s = script().size(GIB).run().state("running")
    for seconds, iops in steps:
        s.samples(seconds, writes=iops)
    for minute in range(120):
        s.samples(60, writes=5000 + 5 * minute)
    cli = database.write(s.state("done"))
    a = cli.json("analyze", 1)
    assert a["steady"]["state"] == "drifting" and a["collapse"]["ratio"] == 1
    before = sum(seconds for seconds, _ in steps)
    assert (a["burst"]["from_s"], a["burst"]["to_s"]) == (before + 5400, before + 7200)
    assert a["burst"]["iops"] == a["steady"]["iops"] == about(5000 + 5 * 104.5, 1e-4)
    text = cli("analyze", "1").out
    told = "burst (from 1 h 40 min to 2 h 10 min)" if steps else "IOPS (22.6 MB/s) in the last quarter of that time."
    assert told in text


def test_a_dip_is_told(database, script):
    s = script().size(GIB).run().state("running").noisy(1800, 5000).noisy(600, 2000).noisy(1800, 5000).state("done")
    text = database.write(s)("analyze", "1").out
    assert "It dipped to 2.00k IOPS from 30 min 0 s to 40 min 0 s (40 % of the lower level beside)." in text


def test_what_is_missing_for_a_steady_state(database, script):
    s = script().size(GIB << 10).run().state("running").noisy(1200, 5000).state("done")
    text = database.write(s)("analyze", "1").out
    assert re.search(r"moved 22\.\d GiB at this level: 2(\.0)? TiB more are missing to call that steady", text)


def test_analyze_what_snia_and_fio_say(drives):
    a = drives.json("analyze", 2)
    snia, fio = a["snia"], a["fio"]
    assert snia["n_rounds"] == 60 and snia["window_rounds"] == 5 and snia["round_s"] == 60 and snia["attained"]
    first, last = snia["first"], snia["last"]
    assert (first["first_round"], first["last_round"], first["from_s"], first["to_s"]) == (2, 6, 60, 360)
    assert (last["first_round"], last["last_round"]) == (56, 60)
    for w in (first, last):
        assert w["average_iops"] == about(8000) and w["steady"]
        assert w["data_excursion_allowed_iops"] == pytest.approx(0.2 * w["average_iops"])
        assert w["slope_excursion_allowed_iops"] == pytest.approx(0.1 * w["average_iops"])
        assert 0 < w["data_excursion_iops"] < w["data_excursion_allowed_iops"]
        assert w["slope_excursion_iops"] == pytest.approx(4 * abs(w["fit_slope_iops_per_round"]))
        middle = (w["first_round"] + w["last_round"]) / 2
        assert w["fit_intercept_iops"] + middle * w["fit_slope_iops_per_round"] == pytest.approx(w["average_iops"])
    assert fio["criterion"] == "iops_slope" and fio["limit_percent"] == 0.3 and fio["ss_dur_s"] == 1800
    assert fio["attained"] and fio["attained_at_s"] == 1800 and 0 < fio["value_percent"] < 0.3
    assert fio["mean_iops"] == about((60 * 15800 + 1740 * 8000) / 1800)


@pytest.mark.parametrize("criterion,name,value,mean,unit", [
    ("iops:5%", "iops", "value_percent", "mean_iops", " %"),
    ("iops:300", "iops", "value", "mean_iops", " IOPS"),
    ("bw_slope:1m", "bw_slope", "value", "mean_bytes_per_s", "/s"),
])  # fmt: skip
def test_analyze_judges_by_the_jobs_own_steadystate(database, script, criterion, name, value, mean, unit):
    s = script().job("[burn]", "rw=randwrite", "bs=4k", "time_based", "runtime=10m",
                     f"steadystate={criterion}", "ss_dur=20", "ss_ramp=10")  # fmt: skip
    s.run().state("running").phase(0, "running").samples(60, writes=9000).samples(60, writes=3000).phase(0, "done")
    cli = database.write(s.state("done"))
    fio = cli.json("analyze", 1)["fio"]
    assert (fio["criterion"], fio["of_job"], fio["ss_dur_s"]) == (name, True, 20)
    assert fio["attained"] and fio["attained_at_s"] == 30 and fio[value] == 0
    assert fio[mean] == (9000 * 4096 if mean == "mean_bytes_per_s" else 9000)
    text = cli("analyze", 1).out
    wanted = criterion.replace("1m", str(1 << 20))
    assert f"fio steadystate={wanted}, ss_dur=20, as the job has it: attained after 30.0 s" in text
    assert "iops_slope:0.3%" not in text


def test_analyze_tells_that_the_jobs_own_steadystate_was_not_attained(database, script):
    s = script().job("[burn]", "rw=randwrite", "bs=4k", "time_based", "runtime=10m", "steadystate=iops:5%", "ss_dur=60")
    s.run().state("running").phase(0, "running").samples(50, writes=9000).samples(50, writes=3000).state("done")
    cli = database.write(s)
    fio = cli.json("analyze", 1)["fio"]
    # Of the last 60 samples 10 are of 9000, and their mean is 4000.
    assert not fio["attained"] and fio["attained_at_s"] is None and fio["value_percent"] == 125
    assert "as the job has it: not attained: 125 % at the end" in cli("analyze", 1).out


@pytest.fixture
def passes(database, script):
    """Eight phases of a minute, as many passes of the IOPS test: run 2 pauses in the sixth, 3 before the seventh."""
    levels = (4000, 2500, 1050, 1000, 990, 1000, 980, 1000)
    s = script()
    for run in (1, 2, 3):
        s.run(phases=[f"pass{i}" for i in range(len(levels))]).state("running")
        for i, level in enumerate(levels):
            if (run, i) == (3, 6):
                s.event("paused")
            s.phase(i, "running").samples(30, phase=i, writes=level)
            if (run, i) == (2, 5):
                s.event("paused").event("resumed")
            s.samples(30, phase=i, writes=level).phase(i, "done")
        s.state("done")
    return database.write(s)


def test_passes_are_the_rounds_of_the_iops_test(passes):
    test = passes.json("analyze", 1)["snia"]["iops_test"]
    assert test["n_rounds"] == 8 and test["window_rounds"] == 5 and test["attained"]
    w = test["first"]
    assert (w["first_round"], w["last_round"], w["from_s"], w["to_s"]) == (3, 7, 120, 420) and w["steady"]
    assert w["average_iops"] == 1004 and w["data_excursion_iops"] == 70
    assert w["data_excursion_allowed_iops"] == pytest.approx(200.8)
    assert w["slope_excursion_iops"] == pytest.approx(56) and w["slope_excursion_allowed_iops"] == pytest.approx(100.4)
    assert w["fit_slope_iops_per_round"] == pytest.approx(-14) and w["fit_intercept_iops"] == pytest.approx(1074)
    assert (test["last"]["first_round"], test["last"]["last_round"]) == (4, 8)
    line = next(line for line in passes("analyze", 1).out.splitlines() if line.startswith("SNIA PTS IOPS test"))
    assert "steady, rounds 3 to 7 of 8" in line and "average 1.00k IOPS, data excursion 70 of 201 allowed" in line
    assert "slope excursion 56 of 100 allowed; fit line -14 * round +1074" in line
    assert [(r["round"], r["from_s"], r["to_s"], r["iops"]) for r in test["rounds"][:2]] == [
        (1, 0, 60, 4000), (2, 60, 120, 2500),
    ]  # fmt: skip
    assert test["points"] == [{"bs": 4096, "read_percent": 0, "iops": 1004}]


def test_a_job_that_this_version_does_not_read_is_judged(passes, database):
    with contextlib.closing(sqlite3.connect(database.path)) as db, db:
        db.execute("UPDATE runs SET job_text = '[a]' || char(10) || 'of=tomorrow'")
    assert passes.json("analyze", 1)["snia"]["iops_test"]["n_rounds"] == 8
    result = passes("verdict", 1, "--json", check=False)
    assert result.json["expected_by"] == "default" and "run 1: its job cannot be read" in result.err
    assert "the job cannot be read ([expect])" in passes("verdict", 1, check=False).out


def test_what_a_job_that_cannot_be_read_expects_is_no_pass(database, script, tmp_path):
    """Of two runs that are alike the one passes; what the other one claims is not known."""
    s = script()
    for _ in range(2):
        s.run().state("running").phase(0, "running").samples(60, writes=1000).phase(0, "done").state("done")
    cli = database.write(s)
    expect = tmp_path / "expect"
    expect.write_text("[expect]\nerrors_max=0\n")
    with contextlib.closing(sqlite3.connect(database.path)) as db, db:
        db.execute("UPDATE runs SET job_text = '[a]' || char(10) || 'rw=write' || char(10) || '[expect]' || char(10) ||"
                   " 'errors_max=0' WHERE run = 1")
        db.execute("UPDATE runs SET job_text = '[a]' || char(10) || 'of=tomorrow' || char(10) || '[expect]' ||"
                   " char(10) || 'claimed_iops=60k' WHERE run = 2")
    assert cli.json("verdict", 1, check=0)["verdict"] == "pass"
    verdict = cli.json("verdict", 2, check=7)
    (reason,) = [r for r in verdict["reasons"] if r["criterion"] == "run"]
    assert (verdict["verdict"], reason["result"]) == ("inconclusive", "inconclusive")
    assert "cannot read the run's job" in reason["reason"]
    assert "cannot read the run's job" in cli("verdict", 2, check=7).out
    assert cli.json("verdict", 2, "--expect", expect, check=0)["verdict"] == "pass"


def test_the_rounds_of_the_iops_test_are_a_table(passes):
    lines = passes("analyze", 1).out.splitlines()
    (head,) = (i for i, line in enumerate(lines) if line.split() == ["ROUND", "FROM", "IOPS", "AVERAGE", "EXCURSION",
                                                                    "SLOPE", "STEADY"])  # fmt: skip
    assert [line.split()[-1] for line in lines[head + 1 : head + 9]] == ["-"] * 4 + ["no", "no", "yes", "yes"]
    assert lines[head + 7].split() == ["7", "6", "min", "0", "s", "980", "1.00k", "7.0", "%", "5.6", "%", "yes"]
    paused = passes("analyze", 3).out.splitlines()
    assert [line.split()[-1] for line in paused[head + 1 : head + 9]] == ["-"] * 4 + ["no", "no", "-", "-"]


def test_no_window_goes_across_a_pause_of_the_iops_test(passes):
    interrupted = passes.json("analyze", 2)["snia"]["iops_test"]
    assert interrupted["n_rounds"] == 7 and not interrupted["attained"]
    assert interrupted["last"]["last_round"] == 5 and not interrupted["last"]["steady"]
    between = passes.json("analyze", 3)["snia"]["iops_test"]
    assert between["n_rounds"] == 8 and not between["attained"] and between["last"]["last_round"] == 6


def test_one_phase_is_no_iops_test(drives):
    assert drives.json("analyze", 1)["snia"]["iops_test"] is None
    assert "IOPS test" not in drives("analyze", 1).out


def test_analyze_as_text(drives):
    text = drives("analyze", "1").out
    title, *_ = text.splitlines()
    assert title == "run 1 sandforce, night on /dev/sdx, Force, serial S1, phase 'burn': writes of 4 KiB, 1 h 22 min"
    for part in ("MB/s) in its burst", "(severe)", "SNIA PTS: steady", "fio steadystate=iops_slope:0.3%"):
        assert part in text, part
    assert "nan" not in text


def test_a_run_without_samples_tells_nothing(database, script):
    cli = database.write(script().run())
    a = cli.json("analyze", 1)
    assert a["steady"] == {"state": "too-short", "since_s": None, "iops": None}
    assert a["collapse"]["verdict"] == "none" and a["collapse"]["ratio"] is None and a["regimes"] == []
    assert a["snia"]["first"] is None and a["snia"]["last"] is None and a["fio"]["value_percent"] is None
    assert "Too little was measured" in cli("analyze", "1").out
    assert cli.json("verdict", 1, check=7)["verdict"] == "inconclusive"


def test_a_dead_drive_tells_no_nan(database, script):
    cli = database.write(script().run().state("running").samples(1200, writes=0).state("stopped"))
    assert cli.json("analyze", 1)["collapse"]["ratio"] is None
    assert "Nothing completed." in cli("analyze", "1").out and "nan" not in cli("analyze", "1").out


def test_the_longest_writing_phase_is_judged(database, script):
    s = script().run("job", phases=("fill", "burn", "read back")).state("running")
    s.noisy(60, 500, phase=0).noisy(200, 1000, phase=1).samples(700, phase=2, writes=0, reads=3000)
    cli = database.write(s.state("done"))
    a = cli.json("analyze", 1)
    assert a["phase"] == "burn" and a["direction"] == "write" and a["burst"]["iops"] == about(1000)
    assert a["regimes"][0]["from_s"] == 0 and a["regimes"][-1]["to_s"] == 200  # of the phase, not of the run
    for phase in ("read back", "2"):
        a = cli.json("analyze", 1, "--phase", phase)
        assert a["phase"] == "read back" and a["direction"] == "read" and a["burst"]["iops"] == about(3000)
    assert "no phase 'x'" in cli("analyze", "1", "--phase", "x", check=2).err


def test_reads_are_judged_if_nothing_was_written(database, script):
    s = script().run(phases=("read",)).state("running").samples(700, writes=0, reads=3000).state("done")
    a = database.write(s).json("analyze", 1)
    assert a["direction"] == "read" and a["steady"]["iops"] == 3000 and a["collapse"]["verdict"] == "none"


def test_writes_are_judged_without_the_reads_beside_them(database, script):
    s = script().size(GIB).run().state("running").samples(600, writes=1000, reads=9000)
    s.samples(600, writes=1000, reads=100)
    a = database.write(s.state("done")).json("analyze", 1)
    assert a["collapse"]["verdict"] == "none" and a["burst"]["iops"] == about(1000)


def rested(s, cut):
    """A drive that is fast for half a minute after a pause, and starts slowly into it: no burst, no cliff."""
    s.noisy(900, 4000).samples(1, duration_ns=10**9, writes=100)
    if cut:
        s.event("paused").event("resumed")
    return s.noisy(25, 40000).noisy(900, 4000)


def test_a_pause_is_no_burst_and_no_collapse(database, script):
    s = rested(script().size(GIB).run().state("running"), True).state("done")
    rested(s.run().state("running"), False).state("done")
    cli = database.write(s)
    a = cli.json("analyze", 1)
    assert a["collapse"]["verdict"] == "none" and a["burst"]["iops"] == about(4000) and a["stalls"]["count"] == 0
    assert a["steady"]["iops"] == about(4000)
    assert a["judged_s"] == 900 + 1 + 25 + 900 - 1 - 1 - 30  # both samples at the pause, and 30 s
    b = cli.json("analyze", 2)  # the same curve without the event is told as it looks
    assert b["judged_s"] == 1826 and b["stalls"]["count"] == 1


def test_a_fall_over_an_outage_is_not_claimed(database, script):
    s = script().size(GIB).run().state("running").noisy(900, 4000).event("outage", "the service was stopped")
    a = database.write(s.noisy(900, 1000).state("done")).json("analyze", 1)
    assert a["collapse"]["at_s"] is None and a["collapse"]["fall_s"] is None
    assert a["judged_s"] == 1800 - 2 - 30


def test_a_sample_of_no_length_makes_no_rate(database, script):
    s = script().size(GIB).run().state("running").noisy(300, 4000).samples(60, duration_ns=0, writes=5).noisy(300, 4000)
    a = database.write(s.state("done")).json("analyze", 1)
    assert a["judged_s"] == 600 and all(regime["iops_p95"] is not None for regime in a["regimes"])
    assert a["stalls"]["count"] == 0


def test_a_hung_drive_is_no_cut(database, script):
    s = script().size(GIB).run().state("running").noisy(900, 4000).samples(7, writes=0).event("stalled", "7 s")
    a = database.write(s.event("recovered").noisy(900, 4000).state("done")).json("analyze", 1)
    assert a["judged_s"] == 1807 and a["stalls"] == {"count": 1, "longest_s": 7, "share": about(7 / 1807)}


# -- verdict --


def run_with(s, *expect, levels=((3600, 8000),)):
    s.expect(*expect).size(2 * GIB).run().state("running")
    for seconds, iops in levels:
        s.noisy(seconds, iops)
    return s.state("done")


def reasons(document):
    return {reason["criterion"]: reason for reason in document["reasons"]}


def test_verdict_pass(database, script):
    cli = database.write(run_with(script(), "claimed_iops=7900", "floor_ratio_min=0.8", "errors_max=0"))
    document = cli.json("verdict", 1)
    assert document["verdict"] == "pass" and document["run"] == 1 and document["expected_by"] == "job"
    claim = reasons(document)["claimed_iops"]
    assert claim["expected"] == 7900 and claim["measured"] == about(8000) and claim["result"] == "pass"
    assert claim["unit"] == "iops" and list(reasons(document)) == ["claimed_iops", "floor_ratio_min", "errors_max"]
    assert "verdict: pass" in cli("verdict", "1").out


@pytest.mark.parametrize("limit", ["rate_iops=4000", "rate=31m", "rate_iops=4k,8k", "rate=16m,31m"])
def test_a_claim_above_the_limit_of_the_job_tells_nothing(database, script, limit):
    job = ["[write]", "rw=randwrite", "bs=4k", "numjobs=2" if limit == "rate_iops=4000" else "numjobs=1", limit]
    claim = ["[expect]", "claimed_iops=10k"]
    s = script().job(*job, *claim).size(2 * GIB).run().state("running")
    cli = database.write(s.noisy(3600, 8000).state("done"))
    document = cli.json("verdict", 1, check=7)
    assert "rate limit" in reasons(document)["claimed_iops"]["reason"]


def test_a_claim_is_held_against_the_floor_and_not_the_burst(database, script):
    cli = database.write(run_with(script(), "claimed_iops=60k", levels=((120, 65000), (3600, 8000))))
    document = cli.json("verdict", 1, check=1)
    claim = reasons(document)["claimed_iops"]
    assert document["verdict"] == claim["result"] == "fail" and claim["measured"] == about(8000)
    assert claim["expected"] == 60000
    text = cli("verdict", "1", check=1).out
    assert "verdict: fail" in text and "claimed_iops: expected at least 60000 IOPS, measured " in text


def test_a_short_run_of_a_good_drive_is_inconclusive_and_says_why(database, script):
    cli = database.write(run_with(script(), "claimed_iops=7000", levels=((120, 8000),)))
    assert cli.json("verdict", 1, check=7)["verdict"] == "inconclusive"
    assert "too short to know" in cli("verdict", "1", check=7).out


def test_a_short_run_of_a_bad_drive_is_a_fail(database, script):
    cli = database.write(run_with(script(), "claimed_iops=7000", levels=((60, 8000), (60, 800))))
    assert cli.json("verdict", 1, check=1)["verdict"] == "fail"
    assert "missed already" in cli("verdict", "1", check=1).out


def test_verdict_without_expectations(drives):
    severe = drives.json("verdict", 1, check=1)
    assert severe["verdict"] == "fail" and severe["expected_by"] == "default" and severe["collapse"] == "severe"
    assert drives.json("verdict", 2)["verdict"] == "pass"
    assert "the job expects nothing" in drives("verdict", "2").out


def test_a_run_is_held_against_any_claim(drives, tmp_path):
    claim = tmp_path / "claim.fio"
    claim.write_text("[expect]\nclaimed_iops=7900\nclaimed_bandwidth=30m\n")
    document = drives.json("verdict", 2, "--expect", claim)
    assert document["verdict"] == "pass" and document["expected_by"] == "file"
    assert list(reasons(document)) == ["claimed_iops", "claimed_bandwidth", "errors_max"]
    text = drives("verdict", "2", "--expect", claim).out
    assert "at least 31.46 MB/s (30 MiB/s)" in text
    claim.write_text("[global]\nbs=4k\n[burn]\nrw=randwrite\n[expect]\nclaimed_iops=60k\n")
    assert drives.json("verdict", 2, "--expect", claim, check=1)["verdict"] == "fail"
    claim.write_text("[expect]\nclaimed_iopses=60k\n")
    assert "claim.fio:2" in drives("verdict", "2", "--expect", claim, check=2).err
    claim.write_text("[expect]\n")
    assert "the file expects nothing" in drives("verdict", "2", "--expect", claim).out


def test_what_is_missed_by_a_little_is_told_apart(database, tmp_path):
    """No "expected 8000 IOPS, measured 8000 IOPS" beside a fail."""
    path = tmp_path / "claim.ini"
    path.write_text("[expect]\nclaimed_iops=8000\n")
    rows = "".join(f"{t},{7999 + (t % 5 > 0)}\n" for t in range(1, 3601))
    cli = database.cli
    cli("import", "-", "--capacity", "4g", input="time_s,write_ios\n" + rows)
    text = cli("verdict", 1, "--expect", path, check=1).out
    assert "expected at least 8000.0 IOPS, measured 7999.8 IOPS" in text


def test_verdict_of_several_is_the_worst(database, script):
    s = run_with(script(), "claimed_iops=7000")
    run_with(s, "claimed_iops=7000", levels=((120, 8000),))
    run_with(s, "claimed_iops=9000")
    cli = database.write(s)
    for runs, status, verdict in (((1, 1), 0, "pass"), ((1, 2), 7, "inconclusive"), ((2, 3, 1), 1, "fail")):
        document = cli.json("verdict", *runs, check=status)
        assert document["verdict"] == verdict and [v["run"] for v in document["verdicts"]] == list(runs)
        cli("verdict", *map(str, runs), check=status)


def test_errors_of_all_phases_count(database, script):
    s = script().expect("errors_max=4").run(phases=("a", "b")).state("running")
    s.samples(5, phase=0, errors=1).samples(1000, phase=1).state("done")
    document = database.write(s).json("verdict", 1, check=1)
    assert reasons(document)["errors_max"]["measured"] == 5


def test_latency_and_temperature(database, script):
    s = script().size(GIB).expect("latency_p999_max=21ms", "temperature_max=70").temperature(50).run().state("running")
    s.samples(1200, writes=1000, latency_ns=9_000_000).temperature(71).samples(6, writes=1000, latency_ns=20_000_000)
    document = database.write(s.state("done")).json("verdict", 1, check=1)
    assert reasons(document)["latency_p999_max"]["result"] == "pass"
    assert reasons(document)["latency_p999_max"]["measured"] == about(20e6)
    assert reasons(document)["temperature_max"]["result"] == "fail"
    assert reasons(document)["temperature_max"]["measured"] == 71


def test_temperature_that_nobody_recorded_is_inconclusive(database, script):
    document = database.write(run_with(script(), "temperature_max=70")).json("verdict", 1, check=7)
    reason = reasons(document)["temperature_max"]
    assert reason["result"] == "inconclusive" and reason["measured"] is None and "recorded" in reason["reason"]


def test_a_lost_or_read_only_drive_fails(database, script):
    s = script().expect("claimed_iops=7000").size(2 * GIB)
    s.run().state("running").noisy(3600, 8000).state("lost")
    s.run().state("running").noisy(3600, 8000).event("read-only").state("failed")
    cli = database.write(s)
    for run, word in ((1, "went away"), (2, "read-only")):
        document = cli.json("verdict", run, check=1)
        assert reasons(document)["run"]["result"] == "fail" and word in reasons(document)["run"]["reason"]
        assert reasons(document)["claimed_iops"]["result"] == "pass"


# -- compare --


def test_compare(drives):
    document = drives.json("compare", 2, 1)
    slc, sandforce = document["runs"]
    assert (slc["run"], sandforce["run"]) == (2, 1)
    assert slc["burst_iops"] == about(16000) and slc["steady_iops"] == about(8000) and slc["ratio"] == about(0.5)
    assert slc["ratio_to_first"] == slc["burst_ratio_to_first"] == 1
    assert slc["cliff_s"] == pytest.approx(60, abs=10)
    assert slc["cliff_bytes"] == about(60 * 16000 * BLOCK)
    assert slc["cliff_fills"] == about(60 * 16000 * BLOCK / (2 * GIB))
    assert sandforce["ratio_to_first"] == about(600 / 8000) and sandforce["burst_ratio_to_first"] == about(35 / 16)
    for run, burst, steady in ((slc, 16000, 8000), (sandforce, 35000, 600)):
        for p in ("p50", "p99", "p999"):
            assert run[f"burst_latency_{p}_ns"] == about(32e9 / burst), p
            assert run[f"steady_latency_{p}_ns"] == about(32e9 / steady), p
    assert sandforce["collapse"] == "severe" and slc["steady_state"] == "steady"
    for run in (slc, sandforce):  # a slow fall, too, is told by its beginning
        assert run["cliff_s"] == drives.json("analyze", run["run"])["collapse"]["from_s"]
    assert slc["outliers"] == sandforce["outliers"] == []
    text = drives("compare", "2", "1").out
    assert "15.8k" in text and "severe" in text and "1 min 0 s" in text and "nan" not in text


def test_compare_needs_two(drives):
    drives("compare", "1", check=2)
    drives("compare", "1", "3", check=6)


def test_compare_a_run_without_samples(database, script):
    document = database.write(run_with(script()).run()).json("compare", 2, 1)
    empty, run = document["runs"]
    assert empty["burst_iops"] is None and empty["cliff_fills"] is None and empty["burst_latency_p50_ns"] is None
    assert run["ratio_to_first"] is None and run["burst_iops"] == about(8000)


def test_outliers_among_drives_of_a_model(database, script):
    s = script().size(2 * GIB)
    for model, floor in (("A", 8000), ("B", 3000), ("A", 8100), ("A", 5000), ("A", 7900), ("A", 8050), ("B", 9000)):
        s.run(model=model).state("running").noisy(60, 16000).noisy(900, floor).state("done")
    cli = database.write(s)
    runs = cli.json("compare", *range(1, 8))["runs"]
    assert [run["run"] for run in runs if run["outliers"]] == [4]
    assert set(runs[3]["outliers"]) == {"steady_iops", "ratio", "steady_latency_p99_ns"}
    text = cli("compare", *map(str, range(1, 8))).out
    assert re.search(r"run 4 is not like the others of its model: its end level is (5\.0|4\.9)\dk IOPS, lower than the "
                     r"usual [78]\.\d\dk IOPS", text)  # fmt: skip
    assert re.search(r"its 99th percentile of latency at the end is [\d.]+ ms, higher than", text)


def test_hostile_names_are_harmless(database, script):
    hostile = "\x1b[2J%s\u202e" + "\udcff"
    s = script().size(GIB).run("job", hostile, hostile, hostile, ("a%sb",)).state("running").noisy(700, 1000)
    cli = database.write(s.state("done"))
    for args in (["analyze", "1"], ["verdict", "1"], ["compare", "1", "1"]):
        text = cli(*args, check=False).out if args[0] == "verdict" else cli(*args).out
        assert "\x1b" not in text and "\u202e" not in text and "\udcff" not in text, args
    assert cli.json("analyze", 1)["label"] == hostile[:-1] + "\ufffd"


@pytest.mark.parametrize("verb", [["analyze"], ["verdict"], ["compare", "1"]])
def test_no_such_run(drives, verb):
    assert drives(*verb, "9", "--json", check=6).json["error"]["code"] == "not-found"
