# SPDX-License-Identifier: MIT
"""import: what other tools recorded becomes a run like any other. What its lines may be is tested in
tests/unit/sample/recording.c."""

import contextlib
import itertools
import json
import os
import pty
import signal
import sqlite3
from datetime import datetime

import harness
import needs
import pytest

from harness import wait_for


def fio_log(values, step_ms=1000, direction=1, block=4096):
    return "".join(f"{step_ms * (i + 1)}, {value}, {direction}, {block}\n" for i, value in enumerate(values))


def csv(values, step=1):
    return "time_s,write_iops\n" + "".join(f"{step * (i + 1)},{value}\n" for i, value in enumerate(values))


@pytest.fixture
def cli(database):
    return database.cli


@pytest.fixture
def recording(tmp_path):
    """Writes a file: recording(name, text)."""

    def make(name, text):
        path = tmp_path / name
        path.write_text(text)
        return path

    return make


@pytest.fixture
def fall(recording):
    """35k, then 2k IOPS; half the size of an I/O of fio's own default, and latencies."""
    iops = [35000] * 60 + [2000] * 1740
    return [recording("night_iops.1.log", fio_log(iops, block=2048)),
            recording("night_clat.1.log", fio_log([500_000] * 60 + [8_000_000] * 1740))]


def test_run(cli, fall):
    assert cli.json("import", *fall) == {"run": 1, "n_samples": 1800, "elapsed_s": 1800, "assumed_bs": None,
                                         "changes": [], "n_missing": 0, "notices": []}
    (run,) = cli.json("list")["runs"]
    assert run["run"] == 1 and run["name"] == "night" and run["state"] == "done" and run["label"] is None
    assert run["device"] == {"path": "night_iops.1.log", "model": None, "serial": None, "wwn": None, "size_bytes": 0}
    assert run["elapsed_s"] == 1800 and run["planned_s"] is None and run["iops"] == 3100  # the mean
    assert run["started_at"] < run["finished_at"]


def test_every_query_verb_works(cli, fall):
    cli("import", *fall)
    show = cli.json("show", "last")
    (phase,) = show["phases"]
    assert phase["name"] == "import" and phase["rw"] == "randwrite" and phase["state"] == "done"
    assert phase["ios"] == 35000 * 60 + 2000 * 1740 and phase["bytes"] == phase["ios"] * 2048
    assert phase["iodepth"] is phase["numjobs"] is None
    assert [e["kind"] for e in show["events"]] == ["started", "finished"]
    assert show["events"][0]["detail"] == "imported from night_iops.1.log, night_clat.1.log"
    assert show["events"][1]["elapsed_s"] == 1800

    document = cli.json("samples", 1)
    assert document["interval_s"] == 1 and len(document["samples"]) == 1800
    sample = document["samples"][59]
    assert sample["seq"] == 59 and sample["elapsed_s"] == 60 and sample["duration_ns"] == 10**9
    assert sample["write_ios"] == 35000 and sample["write_bytes"] == 35000 * 2048 and sample["read_ios"] == 0
    assert sample["latency_mean_ns"] == pytest.approx(500_000, rel=0.01)
    assert sample["latency_p50_ns"] is sample["latency_p99_ns"] is sample["latency_max_ns"] is None
    assert document["samples"][60]["latency_mean_ns"] == pytest.approx(8_000_000, rel=0.01)
    assert sample["cpu_percent"] is None and sample["temperature_c"] is None

    analysis = cli.json("analyze", 1)
    assert analysis["collapse"]["verdict"] == "collapse" and analysis["collapse"]["at_s"] == pytest.approx(60, abs=10)
    for verb in (["show", 1], ["samples", 1], ["plot", 1], ["plot", 1, "--metric", "latency-mean"], ["watch", 1],
                 ["list"], ["analyze", 1], ["compare", 1, 1]):  # fmt: skip
        assert cli(*verb).out, verb


def test_means_are_no_percentiles(cli, fall, tmp_path):
    cli("import", *fall)
    (phase,) = cli.json("show", 1)["phases"]
    mean = (60 * 35000 * 500_000 + 1740 * 2000 * 8_000_000) / (60 * 35000 + 1740 * 2000)
    assert phase["latency_mean_ns"] == pytest.approx(mean, rel=0.01)
    assert all(phase[f"latency_{p}_ns"] is None for p in ("p50", "p99", "p999", "max"))
    assert "MEAN" in cli("show", 1).out
    for row in cli.json("samples", 1, "--every", "10m")["samples"]:
        assert row["latency_p50_ns"] is row["latency_max_ns"] is None and row["latency_mean_ns"] > 0
    run = cli.json("compare", 1, 1)["runs"][0]
    assert run["burst_latency_p50_ns"] is run["steady_latency_p999_ns"] is None
    expect = tmp_path / "expect.fio"
    expect.write_text("[expect]\nlatency_p999_max=1s\nerrors_max=0\n")
    reasons = cli.json("verdict", 1, "--expect", expect, check=7)["reasons"]
    assert {r["criterion"]: r["result"] for r in reasons} == {"latency_p999_max": "inconclusive",
                                                              "errors_max": "inconclusive"}  # fmt: skip
    assert all("import" in r["reason"] for r in reasons)


def test_options(cli, recording):
    path = recording("x.csv", csv([100] * 20))
    cli("import", path, "--name", "SSD of/rack 7", "--serial", "S3Z8", "--capacity", "745g", "--bs", "8k")
    run = cli.json("show", 1)
    assert run["name"] == "SSD of/rack 7" and run["device"]["serial"] == "S3Z8"
    assert run["device"]["size_bytes"] == 745 << 30
    assert run["phases"][0]["bytes"] == 20 * 100 * 8192 and run["phases"][0]["bs"] == 8192


@pytest.mark.parametrize("name,expected", [
    ("a_iops.1.log", "a"), ("a.b_clat.12.log", "a.b"), ("a_bw.1.bw.log", "a"), ("a.csv", "a"), ("a.tsv", "a"),
    ("a.iops.log", "a"), ("a", "a"), ("iops.log", "iops"),
])  # fmt: skip
def test_name_of_the_files(cli, recording, name, expected):
    cli("import", recording(name, fio_log([1])), "--kind", "iops", "--format", "fio")
    assert cli.json("list")["runs"][0]["name"] == expected


def test_format_by_content(cli, recording):
    cli("import", recording("x_iops.csv", fio_log([7])))
    cli("import", recording("x_iops.log", csv([7])))
    assert [run["iops"] for run in cli.json("list")["runs"]] == [7, 7]


def test_format_as_told(cli, recording):
    assert "header" in cli("import", recording("x_iops.log", fio_log([7])), "--format", "csv", check=2).err
    path = recording("x_iops.csv", "time_s,write_iops,x\n")
    assert ":1: the time" in cli("import", path, "--format", "fio", check=2).err


def test_standard_input(cli):
    assert cli.json("import", "-", input=csv([5, 6]))["run"] == 1
    assert "--kind" in cli("import", "-", input=fio_log([5]), check=2).err
    cli("import", "-", "--kind", "bw", input=fio_log([40]))
    later, first = cli.json("list")["runs"]
    assert first["name"] == "stdin" and first["iops"] == 5.5 and later["iops"] == 10


def test_interval_of_any_length(cli, recording):
    cli("import", recording("x.csv", csv([100] * 50, step=60)))
    assert cli.json("samples", 1)["interval_s"] == 60
    cli("import", recording("x_iops.log", fio_log([100] * 50, step_ms=250)))
    assert cli.json("samples", 2)["interval_s"] == 0.25


@pytest.mark.parametrize("directions,rw", [([0], "randread"), ([1], "randwrite"), ([0, 1], "randrw"),
                                           ([2], "randtrim")])  # fmt: skip
def test_directions(cli, recording, directions, rw):
    cli("import", recording("x_iops.log", "".join(fio_log([100] * 3, direction=d) for d in directions)))
    assert cli.json("show", 1)["phases"][0]["rw"] == rw


def test_trims_are_judged_where_there_is_nothing_else(cli, recording, database):
    cli("import", recording("x_iops.log", fio_log([100] * 90, direction=2)), "--name", "n" * 255)
    cli("import", recording("y.csv", cli("export", 1, "--format", "csv").out))
    for run in (1, 2):
        assert cli.json("analyze", run)["direction"] == "trim"
        assert cli.json("verdict", run, check=7)["reasons"][0]["measured"] == 1  # the floor, of trims
    assert " 0.4 " in cli("samples", 1).out.splitlines()[-1]  # MB/s
    assert "0.4 ┤⠤" in cli("plot", 1, "--metric", "bandwidth").out


def test_all_that_fio_writes_at_once(cli, recording):
    """night_*.log, with what is of no use and the last window of latencies twice."""
    files = [recording("night_iops.1.log", fio_log([100] * 5)), recording("night_bw.1.log", fio_log([400] * 5)),
             recording("night_clat.1.log", fio_log([5000] * 5) + fio_log([7000] * 5).splitlines()[-1] + "\n"),
             recording("night_slat.1.log", ""), recording("night_clat_hist.1.log", "1000, 1, 4096, 0, 3, 0\n")]
    result = cli("import", *files)
    assert result.err.count("is left out") == 2
    assert cli.json("show", 1)["phases"][0]["ios"] == 500
    told = [cli("show", 1).out, cli("import", *reversed(files)).out]
    assert not any("slat" in text or "hist" in text for text in told), told
    assert "from night_clat.1.log, night_bw.1.log, night_iops.1.log\n" in told[1]
    assert "nothing to import" in cli("import", files[3], check=2).err


@pytest.mark.parametrize("times,n,first", [([1, 2, 3], 0, None), ([1, 2, 3, 6, 7, 9], 3, "3.0 s"),
                                           ([1, 2, 4], 1, "2.0 s")])  # fmt: skip
def test_rows_that_are_missing_are_told(cli, times, n, first):
    result = cli("import", "-", "--json", input="time_s,write_ios\n" + "".join(f"{t},100\n" for t in times))
    assert result.json["n_missing"] == n and len(result.json["notices"]) == (n > 0)
    if n == 0:
        assert result.err == ""
        return
    (notice,) = result.json["notices"]
    assert result.err == f"plateau: {notice}\n"
    assert notice.startswith(f"{n} interval{'s' * (n > 1)} of {times[-1]} ha") and f"after {first}" in notice


@pytest.mark.parametrize("name,text", [
    ("x_iops.log", "1,500,7\n"), ("x_iops.log", "1,500\n"), ("x_iops.log", "1,500,1,4096.5\n"), ("x.csv", "1,500,1\n"),
    ("x_iops.log", "1,2,1,4,5,6,7,8\n"), ("x.log", "1.0,35000.5,0.25\n"),
])  # fmt: skip
def test_csv_without_a_header_is_not_taken_for_a_log(cli, recording, name, text):
    path = recording(name, text)
    told = cli("import", path, check=2).err
    assert f"{path}:1: no line of a log of fio's" in told and "it has no header" in told


def test_one_interval_is_one(cli):
    assert cli("import", "-", input="time_s,write_ios\n1,100\n").out.startswith("run 1: 1 interval, ")
    assert "imported 1 interval," in cli("show", 1).out


def test_a_job_that_ends_early_is_no_fall(cli, recording):
    """The sum of both falls to a tenth; the drive does what it did."""
    longer, shorter = (recording(f"night_iops.{i}.log", fio_log([iops] * n)) for i, iops, n in ((1, 100, 2000),
                                                                                                 (2, 900, 1000)))
    result = cli("import", longer, shorter, "--json")
    assert "night_iops.2.log ended after 16 min 40 s, while others went on: phase 1 begins" in result.err
    assert result.json["changes"] == [{"phase": 1, "at_s": 1000, "text": "night_iops.2.log ended"}]
    show = cli.json("show", 1)
    assert [(phase["elapsed_s"], phase["iops_mean"]) for phase in show["phases"]] == [(1000, 1000), (1000, 100)]
    assert [e["detail"] for e in show["events"] if e["kind"] == "phase"] == [
        "0 'phase-0' begins", "1 'phase-1' begins: night_iops.2.log ended"]
    for phase in ([], ["--phase", "1"]):
        assert cli.json("analyze", 1, *phase)["collapse"]["verdict"] == "none"
    assert cli("verdict", 1, "--json", check=False).json["verdict"] != "fail"
    assert cli.json("import", longer)["changes"] == [] and cli.json("show", 2)["phases"][0]["name"] == "import"


def test_a_file_named_twice_is_told(cli, recording):
    path = recording("x_iops.1.log", fio_log([1] * 5))
    assert "is named twice" in cli("import", path, path.parent / "." / path.name, check=2).err


@pytest.mark.parametrize("name,data,says", [
    ("x_iops.1.log.gz", b"\x1f\x8b\x08\x00", "compressed"), ("x.json", b'{\n "fio version"', "interval logs"),
    ("x_clat.1.log", b"1000, 5, 1\n2000, 5, 1\n", "only latencies"),
])  # fmt: skip
def test_what_is_no_interval_log(cli, tmp_path, name, data, says):
    (tmp_path / name).write_bytes(data)
    assert says in cli("import", tmp_path / name, check=2).err


def test_capacity_unknown_is_told(cli, recording):
    cli("import", recording("x.csv", csv([5000] * 1200)))
    story = cli("analyze", 1).out.split("What other tools")[0]
    assert "the capacity is unknown" in story and "--capacity" in story and "fills" not in story


# --- the steady state, decided as while a run goes on


def steady_events(cli, run):
    return [(e["kind"], e["elapsed_s"]) for e in cli.json("show", run)["events"] if "steady" in e["kind"]]


def test_steady_is_replayed(cli, recording):
    cli("import", recording("x.csv", csv([1000] * 400, step=10)), "--capacity", "4g")
    ((kind, at),) = steady_events(cli, 1)
    assert kind == "steady" and 2000 <= at <= 4000


def test_steady_is_revoked(cli, recording):
    cli("import", recording("x.csv", csv([1000] * 400 + [500] * 400, step=10)), "--capacity", "4g")
    kinds = [kind for kind, _ in steady_events(cli, 1)]
    assert kinds[:2] == ["steady", "steady-revoked"]
    assert steady_events(cli, 1)[1][1] > 4000


def test_reads_are_judged_where_nothing_is_written(cli, recording):
    cli("import", recording("x_iops.log", fio_log([1000] * 400, step_ms=10000, direction=0)), "--capacity", "4g")
    event = next(e for e in cli.json("show", 1)["events"] if e["kind"] == "steady")
    assert "read IOPS" in event["detail"]


# --- what goes wrong


def test_wrong_lines_are_told_and_leave_nothing(cli, database, recording):
    good, bad = recording("x_iops.1.log", fio_log([1] * 5)), recording("x_iops.2.log", fio_log([1] * 5)[:-10])
    result = cli("import", good, bad, check=2)
    assert f"{bad}:5: " in result.err and result.out == ""
    error = json.loads(cli("import", bad, "--json", check=2).out)["error"]
    assert error["code"] == "usage" and ":5: " in error["message"]
    assert not database.path.exists()


@pytest.mark.parametrize("options,says", [
    (["--format", "xml"], "fio, csv or json"), (["--kind", "slat"], "iops, bw or lat"), (["--bs", "0"], "--bs 0"),
    (["--name", "n" * 256], "--name: 256 bytes"),
    (["--bs", "1g"], "--bs 1g"), (["--capacity", "big"], "--capacity big"), (["--capacity", "0"], "--capacity 0"),
])  # fmt: skip
def test_wrong_options(cli, recording, options, says):
    assert says in cli("import", recording("x.csv", csv([1])), *options, check=2).err


def test_files_that_are_none(cli, tmp_path):
    assert "No such file" in cli("import", tmp_path / "none.log", check=2).err
    assert "directory" in cli("import", tmp_path, check=2).err
    assert "too few" in cli("import", check=2).err


def test_hostile_names(cli, recording):
    path = recording("\x1b[31mx\n_iops.log", fio_log([1]))
    assert "\x1b" not in cli("import", path).out
    assert "\x1b" not in cli("show", 1).out


def test_no_service_and_no_root(tmp_path):
    """As nobody, in a folder of theirs, and read by a member of their group."""
    needs.need_root()
    folder = harness.scratch_path("import")
    folder.chmod(0o777)
    database = folder / "x.db"
    cli = harness.Cli(db=database)
    nobody = {"user": 65534, "group": 65534, "extra_groups": []}
    cli("import", "-", input=csv([1] * 5000), **nobody)
    assert (folder / "x.db-wal").exists()  # for readers that may not make it
    assert len(cli.json("samples", 1, user=65533, group=65534, extra_groups=[])["samples"]) == 5000
    result = cli("import", "-", "--db", "/nonexistent/x.db", input=csv([1]), check=5, **nobody)
    assert "--db" in result.err
    stranger = {"user": 65533, "group": 65534, "extra_groups": []}
    before = database.read_bytes()
    result = cli("import", "-", "--json", input=csv([1]), check=4, **stranger)
    assert result.json["error"]["code"] == "not-permitted" and "--db" in result.json["error"]["message"]
    assert database.read_bytes() == before


def opened(process, path):
    return any(fd.resolve() == path for fd in harness.Path(f"/proc/{process.pid}/fd").iterdir())


def test_waits_while_another_writes(database, recording):
    path = recording("x.csv", csv([1] * 10))
    database.cli("import", path)
    with contextlib.closing(sqlite3.connect(database.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        process = database.cli.popen("import", path, "--json")
        wait_for(lambda: opened(process, database.path))
        other.execute("UPDATE runs SET label = 'x'")
        other.execute("COMMIT")
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 0 and json.loads(out)["run"] == 2


@contextlib.contextmanager
def halted_import(database, recording):
    """An import stopped in its midst: more is written than SQLite keeps in memory, and nothing is committed."""
    wal = database.path.with_name(database.path.name + "-wal")
    process = database.cli.popen("import", recording("long.csv", csv([1000] * 300_000)))
    try:
        wait_for(lambda: wal.exists() and wal.stat().st_size > 2_000_000, 60, interval=0.002)
        process.send_signal(signal.SIGSTOP)
        wait_for(lambda: harness.process_state(process.pid) == "T")
        yield process
    finally:
        process.kill()
        process.communicate()


def test_two_imports_at_once_both_succeed(database, recording):
    """Even if one writes for longer than SQLite waits for a lock, and the other can be given up meanwhile."""
    path = recording("x.csv", csv([1] * 10))
    with halted_import(database, recording) as first:
        others = [database.cli.popen("import", path) for _ in range(2)]
        for other in others:
            assert "another program writes to the database; waiting" in other.stderr.readline()
        others[0].send_signal(signal.SIGINT)
        first.send_signal(signal.SIGCONT)
        assert first.wait(60) == 0
        assert others[0].wait(60) == 130 and others[1].wait(60) == 0
        for other in others:
            other.communicate()
    runs = database.cli.json("list")["runs"]
    assert [(run["run"], run["elapsed_s"]) for run in runs] == [(2, 10), (1, 300_000)]


def assert_nothing_left(database, recording):
    """Nothing of it is in the file, to any program, and the next import takes its number."""
    assert database.cli.json("list")["runs"] == []
    with contextlib.closing(sqlite3.connect(database.path)) as db:
        for table in ("runs", "phases", "samples", "events"):
            assert db.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,), table
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert database.cli.json("import", recording("x.csv", csv([1])))["run"] == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_import_leaves_nothing(database, recording, number):
    with halted_import(database, recording) as process:
        process.send_signal(number)
        process.send_signal(signal.SIGCONT)
        process.communicate()
        assert process.returncode == 130
    assert_nothing_left(database, recording)


def test_killed_import_leaves_nothing(database, recording):
    with halted_import(database, recording) as process:
        assert database.cli.json("list")["runs"] == []  # nor is anything seen of it before its end
        process.kill()
    assert_nothing_left(database, recording)


def test_full_disk(small_disk, recording):
    cli = harness.Cli(db=small_disk / "x.db")
    assert cli.json("import", recording("x.csv", csv([1] * 10)))["run"] == 1
    result = cli("import", recording("long.csv", csv([1000] * 50_000)), check=5)
    assert "No space left" in result.err
    assert [run["run"] for run in cli.json("list")["runs"]] == [1]
    assert len(cli.json("samples", 1)["samples"]) == 10
    assert cli.json("import", recording("y.csv", csv([1] * 10)))["run"] == 2  # the space was given back


def test_progress_on_a_terminal(database, recording):
    path = recording("long.csv", csv([1000] * 30_000))
    terminal, stderr = pty.openpty()
    with open(terminal, "rb", buffering=0) as shown:
        process = database.cli.popen("import", path, stderr=stderr)
        os.close(stderr)
        out, _ = process.communicate()
        text = shown.read(4096).decode()
    assert process.returncode == 0 and out.startswith("run 1: 30000 intervals")
    assert "imported 8.19k of 30.0k intervals" in text and text.endswith("\r\033[K")
    assert database.cli("import", path).err == ""


# --- what is no recording


@pytest.mark.parametrize("data,says", [
    (b"", "nothing to import"), (b"\0" * 100, ":1: not a line of text"),
    (b"time_s,write_iops\n1,\0\n", ":2: not a line"), (b"x" * 100_000, ":1: not a line of text"),
    (b"\x7fELF\x02\x01", ":1: not a line of text"),
    (b"time_s,write_iops,write_iops\n1,1,1\n", "write_iops twice"), (b"time_s,write_iops\n1,-5\n", "is '-5'"),
    (b"time_s,write_iops\n1,nan\n", "is 'nan'"), (b"time_s,write_iops\n1,inf\n", "is 'inf'"),
    (b"time_s,write_iops\n1,1e99\n", "is '1e99'"), (b"time_s,write_iops\n2,1\n1,1\n", ":3: the time does not go on"),
])  # fmt: skip
def test_what_is_no_recording_has_its_message(cli, database, tmp_path, data, says):
    path = tmp_path / "x"
    path.write_bytes(data)
    assert says in cli("import", path, check=2).err
    assert not database.path.exists()


def test_text_from_windows(cli, tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(b"\xef\xbb\xbftime_s;write_iops\r\n1;10\r\n2;20\r\n")
    cli("import", path)
    assert [s["write_ios"] for s in cli.json("samples", 1)["samples"]] == [10, 20]


def test_endless_and_silent_files(cli, tmp_path):
    assert "/dev/zero:1: not a line of text" in cli("import", "/dev/zero", check=2).err
    assert "nothing to import" in cli("import", "/dev/null", check=2).err
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    assert "nothing to import" in cli("import", fifo, check=2).err  # nobody writes to it


def test_pipe(cli, recording):
    """As of the shell's <(zcat x.csv.gz)."""
    text = csv([5, 6])
    read, write = os.pipe()
    with open(write, "w") as f:
        f.write(text)
    with open(read) as f:
        cli("import", f"/dev/fd/{f.fileno()}", pass_fds=[f.fileno()])
    assert len(cli.json("samples", 1)["samples"]) == 2


def test_last_line_without_end(cli, recording):
    """fio ends every line, so that the last one was cut off; of CSV nobody knows, and it is told."""
    path = recording("x_iops.log", fio_log([100] * 5)[:-1])
    assert ":5: the line is cut off" in cli("import", path, check=2).err
    path = recording("x.csv", csv([100] * 5)[:-1])
    assert f"{path}:6: the last line has no end" in cli("import", path).err
    assert cli("import", recording("y.csv", csv([100] * 5))).err == ""


def test_what_is_left_out_of_csv_is_told(cli, recording):
    path = recording("x.csv", "time_s,write_iops,wa,note\n0,7,1,1\n1,8,1,1\n")
    told = cli("import", path).err
    assert f"{path}:2: an interval that ends at 0 has no length and is left out" in told
    assert f"{path}: columns that are not read: wa, note\n" in told
    assert cli.json("samples", 1)["samples"][0]["write_ios"] == 8
    assert cli("import", "-", input=cli("export", 1).out).err == ""


def test_contradictions_are_told_with_line_and_column(cli, database, recording):
    path = recording("x.csv", "time_s,write_iops,write_ios\n1,100,100\n2,100,7\n")
    assert f"{path}:3: write_ios is 7 and write_iops is 100, which contradict" in cli("import", path, check=2).err
    path = recording("y.csv", "time_s,write_iops,iops\n1,100,100\n")
    assert f"{path}:1: column 3, iops, does not tell whether of reads or writes" in cli("import", path, check=2).err
    assert not database.path.exists()


SAMPLES = r"""{"run": 1, "note": "[{\"[{\\", "samples": [
  {"elapsed_s": 1.5, "duration_ns": 1500000001, "write_ios": 7, "write_bytes": 28672, "errors": null,
   "more": {"a": [{"b": "}"}]}}, {"elapsed_s":3, "duration_ns":1500000000, "write_ios":9, "write_bytes":36864}]}"""


def test_json_however_it_is_laid_out(cli):
    for text in (SAMPLES, json.dumps(json.loads(SAMPLES))):
        cli("import", "-", input=text)
        samples = cli.json("samples", "last")["samples"]
        assert [(s["duration_ns"], s["write_ios"]) for s in samples] == [(1500000000, 7), (1500000000, 9)]
        assert samples[0]["errors"] is None and samples[0]["latency_mean_ns"] is None


@pytest.mark.parametrize("text,says", [
    (SAMPLES[:-30], "cut off after sample 1"), ("{}", "not of samples"), ("{", "not of samples"),
    ('{"jobs": [{"elapsed_s": 1}]}', "not of samples"), ('{"a": [{"x": "' + "y" * 20_000 + '"}]}', "not of samples"),
    (SAMPLES.replace("36864", '"1,2"'), "sample 2 has a value"),
    (SAMPLES.replace("36864", "true"), "sample 2 has a value"),
    (SAMPLES.replace('"errors": null', '"errors": false'), "sample 1 has a value"),
    (SAMPLES.replace("36864", "[]]"), "sample 2 is no JSON"),
    (SAMPLES.replace("36864", "-1"), "stdin:3: write_bytes is '-1'"),
    ('{"a": [{"elapsed_s" 1}]}', "sample 1 is no JSON"), ("{" * 100_000, "not of samples"),
], ids=itertools.count())  # fmt: skip
def test_what_is_no_json_of_samples(cli, database, text, says):
    assert says in cli("import", "-", input=text, check=2).err
    assert not database.path.exists()


# --- what nobody told


def test_errors_that_nobody_counted_are_not_none(cli, fall):
    cli("import", *fall)
    (phase,) = cli.json("show", 1)["phases"]
    assert phase["errors"] is None
    assert cli.json("samples", 1)["samples"][0]["errors"] is None
    assert cli.json("samples", 1, "--every", "1h")["samples"][0]["errors"] is None
    assert "0 I/O errors" not in cli("show", 1).out and "errors unknown" in cli("show", 1).out
    names, values = (line.split(",") for line in cli("export", 1).out.splitlines()[:2])
    assert dict(zip(names, values))["errors"] == ""


def test_errors_that_were_counted(cli, recording):
    cli("import", recording("x.csv", "time_s,write_ios,errors\n1,10,0\n2,10,3\n"))
    assert cli.json("show", 1)["phases"][0]["errors"] == 3 and "; 3 I/O errors" in cli("show", 1).out
    assert [s["errors"] for s in cli.json("samples", 1)["samples"]] == [0, 3]


def test_size_that_is_assumed_is_told(cli, recording):
    path = recording("x.csv", csv([100] * 20))
    assert "4 KiB is assumed" in cli("import", path).out
    assert cli.json("import", path)["assumed_bs"] == 4096
    assert "4 KiB are assumed" in cli.json("show", 1)["events"][0]["detail"]
    assert "assumed" not in cli("import", path, "--bs", "4k").out


def test_time_of_day_as_told(cli, recording):
    text = "time_s,write_ios,at\n10,1,2020-01-01T00:00:10Z\n20,1,2020-01-01T01:00:00+00:00\n"
    cli("import", recording("x.csv", text))
    run = cli.json("show", 1)
    assert datetime.fromisoformat(run["started_at"]).timestamp() == 1577836800
    assert datetime.fromisoformat(run["phases"][0]["finished_at"]).timestamp() == 1577840400


def test_time_of_day_of_jobs_that_ran_one_after_the_other(cli, recording):
    """As with fio's log_unix_epoch=1 and stonewall: each job has its place, and is a phase."""
    rows = [f"{1577836800000 + 1000 * (i + 1)}, {1000 if i < 30 else 100}, 1, 4096\n" for i in range(60)]
    cli("import", recording("x_iops.1.log", "".join(rows[:30])), recording("x_iops.2.log", "".join(rows[30:])))
    run = cli.json("show", 1)
    assert datetime.fromisoformat(run["started_at"]).timestamp() == 1577836800
    assert datetime.fromisoformat(run["finished_at"]).timestamp() == 1577836860
    assert [(phase["elapsed_s"], phase["iops_mean"]) for phase in run["phases"]] == [(30, 1000), (30, 100)]
    assert "x_iops.1.log ended" in run["events"][2]["detail"] and "x_iops.2.log began" in run["events"][2]["detail"]


def test_mean_of_all_directions_as_told(cli, recording):
    """It is not reckoned again: the others have been rounded."""
    header = "time_s,read_ios,write_ios,read_latency_ns,write_latency_ns,latency_mean_ns\n"
    text = header + "1,1,1,100,201,151\n2,1,1,100,201,\n"
    cli("import", recording("x.csv", text))
    assert [s["latency_mean_ns"] for s in cli.json("samples", 1)["samples"]] == [151, 150]
