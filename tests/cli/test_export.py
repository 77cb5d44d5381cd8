# SPDX-License-Identifier: MIT
"""export: what it writes, and that import reads back the same numbers."""

import csv
import io
import random
from datetime import datetime

import harness
import pytest

NUMBERS = ("duration_s", "read_ios", "write_ios", "trim_ios", "read_bytes", "write_bytes", "trim_bytes")
COUNTS = [f"{d}_{what}" for d in ("read", "write", "trim") for what in ("ios", "bytes")]
MS = 10**6
MIB = 1024**2
GIB = 1024**3


@pytest.fixture
def cli(database):
    return database.cli


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def exported(cli, run="last", *options):
    return rows(cli("export", run, *options).out)


def numbers(table, columns=NUMBERS):
    return [tuple(row[column] for column in columns) for row in table]


def seconds(ns):
    return f"{ns // 10**9}.{ns % 10**9:09}"


@pytest.fixture
def recorded(cli):
    """Imports samples given as (duration_ns, read_ios, write_ios, read_bytes, write_bytes[, trim_ios, trim_bytes])."""

    def make(samples):
        lines = ["time_s,duration_s,read_ios,write_ios,read_bytes,write_bytes,trim_ios,trim_bytes\n"]
        end_ns = 0
        for duration_ns, *counts in samples:
            end_ns += duration_ns
            counts += [0, 0][len(counts) - 4:]
            lines.append(",".join([seconds(end_ns), seconds(duration_ns), *map(str, counts)]) + "\n")
        return cli.json("import", "-", input="".join(lines))["run"]

    return make


def samples_of(seed):
    """A run of any shape: wobbling and odd lengths, 100 ms samples, silence, blocks that do not divide the bytes."""
    r = random.Random(seed)
    usual = r.choice([100 * MS, 1000 * MS, 10_000 * MS])
    wobble = r.choice([0, 1, usual // 1000, usual // 3])
    for _ in range(r.choice([1, 2, 3, 400])):
        reads, writes = (r.choice([0, r.randrange(10), r.randrange(10**6)]) for _ in range(2))
        block = r.choice([512, 4096, 131072])
        odd = r.choice([0, 0, 1])
        length = usual + r.randint(-wobble, wobble)
        trims = r.choice([0, 0, r.randrange(1000)])
        yield (length, reads, writes, reads * block, writes * block + (odd if writes else 0), trims, trims * 2 * MIB)


def test_csv(database, script):
    s = script().run(phases=("write", "read")).samples(2, writes=100, errors=1, latency_ns=50_000)
    s.samples(1, phase=1, duration_ns=1_500_000_001, writes=0, reads=7).samples(1, phase=1, writes=0)
    cli = database.write(s)
    table = exported(cli, 1)
    assert [row["seq"] for row in table] == ["0", "1", "2", "3"] and [row["phase"] for row in table] == list("0011")
    assert table[0]["at"] == "2026-03-01T22:14:06.123+01:00"
    assert [row["elapsed_s"] for row in table][1:] == ["2.000000000", "3.500000001", "4.500000001"]
    assert table[2]["duration_s"] == "1.500000001"
    assert (table[0]["write_ios"], table[0]["write_bytes"], table[0]["read_ios"]) == ("100", "409600", "0")
    assert (table[0]["errors"], table[0]["in_flight"], table[0]["oldest_io_ns"]) == ("1", "32", "0")
    for column in ("write_latency_ns", "latency_p50_ns", "latency_p99_ns", "latency_max_ns"):
        assert float(table[0][column]) == pytest.approx(50_000, rel=0.01), column
    for column in ("read_latency_ns", "trim_latency_ns", "cpu_percent", "temperature_c"):
        assert table[0][column] == "", column
    assert table[3]["latency_p50_ns"] == "" and table[3]["read_ios"] == "0"
    assert numbers(exported(cli, 1, "--phase", "read")) == numbers(table[2:])


def test_latencies_of_each_direction_come_back_from_json(cli):
    csv = "time_s,read_ios,write_ios,read_latency_ns,write_latency_ns\n" + "".join(
        f"{t},{10 * t},30,{1000 * t},{5000 * t}\n" for t in (1, 2, 3))
    cli("import", "-", input=csv)
    cli("import", "-", input=cli("export", 1, "--json").out)
    assert cli("export", 2).out == cli("export", 1).out
    (row,) = cli.json("samples", 1, "--every", "3")["samples"]
    assert row["read_latency_ns"] == (10 * 1000 + 20 * 2000 + 30 * 3000) // 60
    assert (row["write_latency_ns"], row["trim_latency_ns"]) == (10000, None)


def test_json_is_that_of_samples(database, script):
    cli = database.write(script().run(phases=("a", "b")).samples(3).samples(2, phase=1, reads=5))
    assert cli("export", 1, "--format", "json").out == cli("samples", 1, "--json").out
    (head, *rest) = harness.json.loads(cli("export", 1, "--format", "json", "--phase", "b").out)["samples"]
    assert head["seq"] == 3 and len(rest) == 1


def test_fio_logs(database, script, tmp_path):
    cli = database.write(script().run().samples(2, writes=100).samples(1, duration_ns=1_250_000_000, writes=5, reads=4))
    cli("export", 1, "--format", "fio", "-o", tmp_path / "x")
    assert sorted(path.name for path in tmp_path.glob("x*")) == ["x_bw.1.log", "x_clat.1.log", "x_iops.1.log"]
    assert (tmp_path / "x_iops.1.log").read_text() == (
        "1000, 0, 0, 0\n1000, 100, 1, 4096\n2000, 0, 0, 0\n2000, 100, 1, 4096\n3250, 3.2, 0, 4096\n3250, 4, 1, 4096\n")
    assert (tmp_path / "x_bw.1.log").read_text().endswith("3250, 12.8, 0, 4096\n3250, 16, 1, 4096\n")
    assert [line.split(", ")[0] for line in (tmp_path / "x_clat.1.log").read_text().splitlines()] == [
        "1000", "2000", "3250", "3250"]
    assert cli("export", 1, "--format", "fio", "--kind", "iops").out == (tmp_path / "x_iops.1.log").read_text()
    cli("export", 1, "--format", "fio", "--kind", "lat", "-o", tmp_path / "y")
    assert [path.name for path in tmp_path.glob("y*")] == ["y_clat.1.log"]


def test_no_log_of_latencies_without_any(cli, recorded, tmp_path):
    recorded([(10**9, 0, 5, 0, 20480)])
    cli("export", 1, "--format", "fio", "-o", tmp_path / "x")
    assert sorted(path.name for path in tmp_path.glob("x*")) == ["x_bw.1.log", "x_iops.1.log"]


# --- there and back


@pytest.mark.parametrize("seed", range(12))
def test_csv_reads_back(cli, recorded, seed):
    samples = list(samples_of(seed))
    recorded(samples)
    table = exported(cli)
    assert numbers(table) == [(seconds(s[0]), *(str(s[i]) for i in (1, 2, 5, 3, 4, 6))) for s in samples]
    for form in ("csv", "json"):
        cli("import", "-", input=cli("export", 1, "--format", form).out)
        assert numbers(exported(cli)) == numbers(table), form


@pytest.mark.parametrize("seed", range(12))
def test_fio_logs_read_back(cli, recorded, seed, tmp_path):
    recorded(samples_of(seed))
    cli("export", 1, "--format", "fio", "-o", tmp_path / "x")
    cli("import", *sorted(tmp_path.glob("x_*.log")))
    assert numbers(exported(cli)) == numbers(exported(cli, 1))


def test_one_fio_log_reads_back(cli, recorded, tmp_path):
    recorded([(1_000_000_007, 0, i, 0, i * 8192) for i in range(50)])
    cli("export", 1, "--format", "fio", "--kind", "iops", "-o", tmp_path / "x")
    cli("import", tmp_path / "x_iops.1.log", "--bs", "8k")
    assert numbers(exported(cli)) == numbers(exported(cli, 1))


def test_latencies_read_back(database, script, tmp_path):
    s = script().run()
    for latency_ns in (800, 50_000, 7_654_321, 12_000_000_000):
        s.samples(2, writes=100, reads=50, latency_ns=latency_ns)
    cli = database.write(s)
    first = exported(cli, 1)
    columns = ["read_latency_ns", "write_latency_ns", "trim_latency_ns"]  # of which an import makes no percentiles
    cli("import", "-", input=cli("export", 1).out)
    assert numbers(exported(cli), columns) == numbers(first, columns)
    cli("export", 1, "--format", "fio", "-o", tmp_path / "x")
    cli("import", *tmp_path.glob("x_*.log"))
    assert numbers(exported(cli), columns) == numbers(first, columns)


@pytest.mark.parametrize("lengths", [
    [1000] * 5 + [7300] + [1000] * 5, [1000, 1500, 1000, 1499, 1000], [100, 100, 100, 60_000], [5000, 1000, 1000, 1000],
    [300, 3000, 500, 2500, 700, 1400, 2100, 2900], [1000, 1, 1000, 2000, 1], [1000] * 3 + [10],
])  # fmt: skip
def test_long_samples_become_several_rows_of_a_fio_log(cli, recorded, tmp_path, lengths):
    recorded([(ms * MS, 0, ms * 3, 0, ms * 3 * 4096) for ms in lengths])
    cli("export", 1, "--format", "fio", "-o", tmp_path / "x")
    cli("import", *tmp_path.glob("x_*.log"))
    before, after = exported(cli, 1), exported(cli)
    for column in COUNTS:
        assert sum(int(row[column]) for row in after) == sum(int(row[column]) for row in before), column
    assert after[-1]["elapsed_s"] == before[-1]["elapsed_s"]
    ends = {row["elapsed_s"] for row in after}
    assert all(row["elapsed_s"] in ends for row in before)
    for row in after:
        assert int(row["write_ios"]) == pytest.approx(3000 * float(row["duration_s"]), abs=1.01)


def of_all_kinds(script):
    """Phases of which one did nothing, errors, temperatures, reads and writes, silence, latencies of all sizes."""
    s = script().run(phases=("fill", "mix", "skipped", "end")).state("running").phase(0, "running")
    s.temperature(31).cpu(12, 250, 99)
    s.samples(5, writes=100, errors=2, latency_ns=51_234).samples(2, writes=0).phase(0, "done").phase(1, "running")
    s.samples(3, phase=1, writes=7, reads=90, latency_ns=7_654_321, duration_ns=1_000_123_456)
    s.samples(1, phase=1, writes=1, duration_ns=1_000_001).phase(1, "done").phase(3, "running").temperature(52)
    s.noisy(40, 5000, phase=3)
    s.samples(2, phase=3, writes=3, reads=2, latency_ns=12_000_000_000, duration_ns=999_999_999)
    return s.phase(3, "done").state("done")


def moment(text):
    return datetime.fromisoformat(text).timestamp()


def without(document, *keys):
    return {key: value for key, value in document.items() if key not in keys}


def test_a_run_reads_back_whole(database, script):
    cli = database.write(of_all_kinds(script))
    text = cli("export", 1).out
    cli("import", "-", input=text)
    assert cli("export", 2).out == text
    first, second = (cli.json("export", run, "--format", "json") for run in (1, 2))
    assert len(first["samples"]) == 53 and without(first, "run") == without(second, "run")
    cli("import", "-", input=cli("export", 2).out)
    assert cli("export", 3).out == text
    cli("import", "-", input=cli("export", 1, "--json").out)
    assert without(cli.json("export", 4), "run") == without(first, "run")


def test_phases_read_back_as_phases(database, script):
    cli = database.write(of_all_kinds(script))
    cli("import", "-", input=cli("export", 1).out)
    before, after = cli.json("show", 1), cli.json("show", 2)
    kept = ("index", "ios", "bytes", "errors", "elapsed_s", "iops_mean", "finished_at")
    ran = [phase for phase in after["phases"] if phase["ios"] > 0]
    assert [phase["state"] for phase in after["phases"]] == ["done", "done", "pending", "done"]
    assert [[phase[key] for key in kept] for phase in ran] == [
        [phase[key] for key in kept] for phase in before["phases"] if phase["ios"] > 0]
    for phase in ran:  # at has milliseconds
        assert abs(moment(phase["started_at"]) - moment(before["phases"][phase["index"]]["started_at"])) < 0.002
    assert [e["detail"] for e in after["events"] if e["kind"] == "phase"] == [
        "0 'phase-0' begins", "1 'phase-1' begins", "3 'phase-3' begins"]
    assert after["started_at"] == before["started_at"] and after["elapsed_s"] == before["elapsed_s"]
    assert "phase-3" in cli("analyze", 2, "--phase", "3").out


def test_a_ramp_reads_back_as_one(database, script):
    s = script().size(2 * GIB).job("[a]", "rw=randwrite", "time_based", "runtime=1h", "ramp_time=2m", "[b]", "rw=write")
    s.run().state("running").phase(0, "running").noisy(120, 35000).noisy(3600, 600).phase(0, "done")
    s.phase(1, "running").samples(3, phase=1, writes=5).phase(1, "done").state("done")
    cli = database.write(s)
    text = cli("export", 1).out
    assert [row["ramp"] for row in rows(text)] == ["1"] * 120 + ["0"] * 3603
    cli("import", "-", input=text)
    cli("import", "-", input=cli("export", 1, "--json").out)
    kept = ("elapsed_s", "ramp_s", "ios", "bytes", "iops_mean")
    before = cli.json("show", 1)["phases"]
    for run in (2, 3):
        assert [row["ramp"] for row in exported(cli, run)] == [row["ramp"] for row in rows(text)]
        assert [[p[k] for k in kept] for p in cli.json("show", run)["phases"]] == [[p[k] for k in kept] for p in before]
        a = cli.json("analyze", run)
        assert a["collapse"]["verdict"] == "none" and a["burst"] == cli.json("analyze", 1)["burst"]
    assert "ramp is '2'" in cli("import", "-", input="time_s,write_ios,ramp\n1,5,2\n", check=2).err


def test_no_steady_state_is_told_of_a_ramp_that_is_imported(cli):
    r = random.Random(1)
    ios = [5000 + r.randrange(-200, 200) for _ in range(4800)]

    def steady_s(ramp_s):
        lines = [f"{i + 1},{n},{n * 4096},{int(i < ramp_s)}\n" for i, n in enumerate(ios)]
        cli("import", "-", "--capacity", "2GiB", input="time_s,write_ios,write_bytes,ramp\n" + "".join(lines))
        return [e["elapsed_s"] for e in cli.json("show", "last")["events"] if e["kind"] == "steady"][0]

    assert steady_s(0) < 1800 < steady_s(1800)


@pytest.mark.parametrize("phase", ["fill", "mix", "end"])
def test_each_phase_reads_back_from_fio_logs(database, script, tmp_path, phase):
    cli = database.write(of_all_kinds(script))
    cli("export", 1, "--phase", phase, "--format", "fio", "-o", tmp_path / "x")
    cli("import", *sorted(tmp_path.glob("x_*.log")))
    columns = (*COUNTS, "duration_s", "read_latency_ns", "write_latency_ns")
    assert numbers(exported(cli), columns) == numbers(exported(cli, 1, "--phase", phase), columns)
    cli("export", "last", "--format", "fio", "-o", tmp_path / "y")
    for kind in ("iops", "bw", "clat"):
        assert (tmp_path / f"y_{kind}.1.log").read_text() == (tmp_path / f"x_{kind}.1.log").read_text(), kind


def test_a_phase_reads_back(database, script, tmp_path):
    cli = database.write(script().run(phases=("a", "b")).samples(100, writes=9).samples(20, phase=1, writes=5, reads=2))
    wanted = numbers(exported(cli, 1, "--phase", "b"))
    cli("import", "-", input=cli("export", 1, "--phase", "b").out)
    assert numbers(exported(cli)) == wanted and exported(cli)[0]["elapsed_s"] == "1.000000000"
    cli("export", 1, "--phase", "b", "--format", "fio", "-o", tmp_path / "x")
    assert (tmp_path / "x_iops.1.log").read_text().startswith("1000, ")
    cli("import", *tmp_path.glob("x_*.log"))
    assert numbers(exported(cli)) == wanted


# --- where to


def test_files(cli, recorded, tmp_path):
    recorded([(10**9, 0, 5, 0, 20480)])
    for form in ("csv", "json"):
        path = tmp_path / f"x.{form}"
        assert cli("export", 1, "--format", form, "-o", path).out == ""
        assert path.read_text() == cli("export", 1, "--format", form, "-o", "-").out
    assert "exists already" in cli("export", 1, "-o", tmp_path / "x.csv", check=2).err
    assert "exists already" in cli("export", 1, "-o", tmp_path, check=2).err
    assert "cannot write" in cli("export", 1, "-o", tmp_path / "none" / "x", check=8).err


def test_one_log_that_exists_keeps_all_from_being_written(cli, recorded, tmp_path):
    recorded([(10**9, 0, 5, 0, 20480)])
    (tmp_path / "x_bw.1.log").write_text("mine")
    assert "x_bw.1.log exists" in cli("export", 1, "--format", "fio", "-o", tmp_path / "x", check=2).err
    assert [path.name for path in tmp_path.glob("x*")] == ["x_bw.1.log"]
    assert (tmp_path / "x_bw.1.log").read_text() == "mine"


@pytest.mark.parametrize("form", ["csv", "json", "fio"])
def test_full_disk_leaves_nothing(cli, recorded, small_disk, form):
    recorded([(10**9, 1, 5, 4096, 20480)] * 60_000)
    result = cli("export", 1, "--format", form, "-o", small_disk / "x", check=8)
    assert "No space left" in result.err and str(small_disk / "x") in result.err
    assert list(small_disk.iterdir()) == []


@pytest.mark.parametrize("form", ["csv", "json", "fio"])
def test_output_that_cannot_be_written(cli, recorded, form):
    recorded([(10**9, 0, 5, 0, 20480)])
    with open("/dev/full", "w") as full:
        process = cli.popen("export", "1", "--format", form, "--kind", "iops", stdout=full)
        _, error = process.communicate()
    assert process.returncode == 8 and "cannot write the output" in error


@pytest.mark.parametrize("args,status,says", [
    (["1", "--format", "xml"], 2, "csv, json or fio"), (["1", "--format", "fio"], 2, "-o PREFIX"),
    (["1", "--kind", "slat"], 2, "iops, bw or lat"), (["9"], 6, "no run 9"), (["1", "--phase", "x"], 2, "no phase"),
])  # fmt: skip
def test_wrong_usage(cli, recorded, args, status, says):
    recorded([(10**9, 0, 5, 0, 20480)])
    assert says in cli("export", *args, check=status).err


def test_run_without_samples(database, script, tmp_path):
    cli = database.write(script().run())
    assert exported(cli, 1) == []
    assert "not one sample" in cli("export", 1, "--format", "fio", "-o", tmp_path / "x", check=8).err
    assert list(tmp_path.glob("x*")) == []


def test_fio_logs_are_of_one_phase(database, script, tmp_path):
    s = script().run(phases=("a", "b")).state("running").samples(20, phase=0).samples(20, phase=1, writes=500)
    cli = database.write(s.state("done"))
    assert "choose one with --phase" in cli("export", 1, "--format", "fio", "-o", tmp_path / "x", check=2).err
    assert list(tmp_path.glob("x*")) == []


def test_json_is_the_format_json(database, script):
    cli = database.write(script().run().state("running").samples(3).state("done"))
    assert cli("export", 1, "--json").out == cli("export", 1, "--format", "json").out
