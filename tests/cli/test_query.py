# SPDX-License-Identifier: MIT
"""list, show, samples, plot and watch on databases of known content."""

import datetime
import json
import signal

import pytest

TIME = "2026-03-01T22:1"  # Europe/Berlin


def is_time(text):
    stamp = datetime.datetime.fromisoformat(text)
    return text.startswith(TIME) and stamp.utcoffset() == datetime.timedelta(hours=1)


@pytest.fixture
def fall(database, script):
    """A run that falls from 35k to 1.5k IOPS, then reads; another that has not begun."""
    s = script().run("sandforce", "night", "Force", "S1", ("burn", "read back")).state("running").phase(0, "running")
    s.samples(120, writes=35000, latency_ns=800_000).samples(60, writes=1500, latency_ns=20_000_000, errors=1)
    s.event("error", "EIO").errno(5, 60).phase(0, "done").phase(1, "running")
    s.samples(10, phase=1, writes=0, reads=5000, latency_ns=300_000).samples(5, phase=1, writes=0, reads=0)
    s.phase(1, "done").state("done").event("finished", "all phases")
    s.run("later", "", "", "", ("one",))
    return database.write(s)


def test_list(fall):
    document = fall.json("list")
    assert list(document) == ["runs"]
    later, run = document["runs"]
    assert (later["run"], run["run"]) == (2, 1)
    assert run["name"] == "sandforce" and run["label"] == "night" and run["state"] == "done"
    device = {"path": "/dev/sdx", "model": "Force", "serial": "S1", "wwn": None, "size_bytes": 1 << 30}
    assert run["device"].items() >= device.items()
    assert run["phase"] == "read back" and is_time(run["started_at"])
    assert run["elapsed_s"] == 195 and run["planned_s"] == 120
    # Of a run that has ended it is the mean, whatever its last second was.
    ios = sum(phase["ios"] for phase in fall.json("show", "1")["phases"])
    assert run["iops"] == pytest.approx(ios / 195)


def test_list_leaves_columns_out_where_there_is_no_room(fall):
    wide = fall("list", env={"COLUMNS": "200"}).out.splitlines()
    assert wide[0].split() == "RUN NAME LABEL STATE DEVICE MODEL SERIAL STARTED ELAPSED PLANNED IOPS ERRORS".split()
    lines = fall("list", env={"COLUMNS": "80"}).out.splitlines()
    assert max(map(len, lines)) <= 80 and "MODEL" not in lines[0] and "STARTED" not in lines[0]
    assert "sandforce" in lines[2] and "IOPS" in lines[0]


def test_list_tells_what_went_wrong_where_something_did(database, script):
    """A run whose every I/O succeeded can still have lost data: neither is to be looked for elsewhere."""
    s = script().run().state("running").phase(0, "running").samples(5, errors=2).state("done")
    s.run().state("running").phase(0, "running").samples(5).verified(4096 * 100, corrupt=3, lost=1).state("failed")
    cli = database.write(s.run())
    heading, *rows = (line.split() for line in cli("list", env={"COLUMNS": "80"}).out.splitlines())
    assert heading[-2:] == ["ERRORS", "WRONG"] and [row[-2:] for row in rows] == [["0", "-"], ["0", "4"], ["10", "-"]]
    told = [(run["io_errors"], run["verify_errors"]) for run in cli.json("list")["runs"]]
    assert told == [(0, None), (0, 4), (10, None)]


def test_list_has_no_column_of_errors_where_there_are_none(database, script):
    s = script().run().state("running").phase(0, "running").samples(5).verified(4096 * 100).state("done")
    cli = database.write(s)
    assert not {"ERRORS", "WRONG"} & set(cli("list").out.split())
    assert cli.json("list")["runs"][0]["verify_errors"] == 0


def test_wrong_blocks_stand_beside_no_errors(database, script):
    s = script().run().state("running").phase(0, "running").samples(5).verified(4096 * 100, torn=1).state("failed")
    cli = database.write(s)
    watched = cli("watch", 1, check=1).out
    assert ", 1 block not as written" in watched and "0 errors" not in watched
    assert cli.json("watch", 1, check=1)["verify_errors"] == 1
    assert "; 0 I/O errors; 1 block was read back not as written\n" in cli("show", 1).out


def test_list_without_labels_has_no_column_for_them(database, script):
    cli = database.write(script().run(label="", model="", serial=""))
    assert not {"LABEL", "MODEL", "SERIAL"} & set(cli("list").out.split())


def test_list_bounds_a_label(database, script):
    cli = database.write(script().run(label="x" * 200))
    assert "x" * 39 + "… " in cli("list", env={"LC_ALL": "C.UTF-8", "COLUMNS": "400"}).out
    assert cli.json("list")["runs"][0]["label"] == "x" * 200


def test_what_is_not_known_is_null(fall):
    later = fall.json("list")["runs"][0]
    assert all(later[key] is None for key in ("label", "phase", "started_at", "iops"))
    assert later["device"]["model"] is None and later["elapsed_s"] == 0


def test_show(fall):
    run = fall.json("show", 1)
    burn, read = run["phases"]
    assert burn["index"] == 0 and burn["name"] == "burn" and burn["action"] == "io" and burn["state"] == "done"
    assert is_time(burn["started_at"]) and burn["elapsed_s"] == 180
    assert burn["ios"] == 120 * 35000 + 60 * 1500 and burn["bytes"] == burn["ios"] * 4096
    assert burn["iops_mean"] == pytest.approx(burn["ios"] / 180)
    assert burn["latency_p50_ns"] == pytest.approx(800_000, rel=0.01)
    assert burn["latency_p999_ns"] == pytest.approx(20_000_000, rel=0.01)
    assert burn["latency_max_ns"] == pytest.approx(20_000_000, rel=0.01)
    assert burn["latency_p99_ns"] == pytest.approx(20_000_000, rel=0.01)
    assert burn["errors"] == 60 and read["errors"] == 0
    assert read["ios"] == 50000 and read["latency_p50_ns"] == pytest.approx(300_000, rel=0.01)
    assert [event["kind"] for event in run["events"]] == ["error", "finished"]
    assert run["events"][1]["detail"] == "all phases" and run["events"][1]["elapsed_s"] == 195
    assert is_time(run["events"][0]["at"])
    (error,) = run["errors"]
    assert error["errno"] == 5 and error["name"] == "EIO" and error["count"] == 60 and error["first_offset"] == 4096
    assert is_time(error["first_at"]) and is_time(error["last_at"])


def test_show_a_phase_without_samples(fall):
    (phase,) = fall.json("show", 2)["phases"]
    assert phase["ios"] == 0 and phase["iops_mean"] is None and phase["latency_p99_ns"] is None
    assert phase["started_at"] is None and phase["state"] == "pending"


def test_show_as_text(fall):
    text = fall("show", "1").out
    for part in ("sandforce", "Force", "S1", "burn", "read back", "EIO", "all phases", "22:14:05"):
        assert part in text
    assert "16.37 x the device" in text and "60 I/O errors" in text


def test_show_tells_reads_and_writes_of_a_mixed_phase(database, script):
    cli = database.write(script().run().state("running").phase(0, "running").samples(10, writes=3000, reads=5000))
    assert "5.00k r, 3.00k w" in cli("show", "1").out


def test_show_tells_workers_where_there_are_several(database, script):
    lines = ["rw=randwrite", "iodepth=32", "runtime=60", "time_based"]
    s = script().job("[a]", *lines).run().job("[a]", *lines, "[b]", *lines, "workers=4").run()
    cli = database.write(s)
    assert "WORKERS" not in cli("show", "1").out
    heading, a, b = (line.split() for line in cli("show", 2, env={"COLUMNS": "200"}).out.splitlines()[-5:-2])
    at = heading.index("WORKERS") + 1  # BS is two words
    assert (a[at], b[at]) == ("-", "4")


def test_show_within_80_columns(fall):
    lines = fall("show", "1", env={"COLUMNS": "80"}).out.splitlines()
    heading = next(line for line in lines if line.startswith("PHASE"))
    assert "P99.9" not in heading and "IOPS" in heading and "ERRORS" in heading
    assert any(line.startswith("    1 read back ") for line in lines)


SAMPLE_KEYS = set("""seq phase at elapsed_s duration_ns write_ios read_ios trim_ios write_bytes read_bytes errors
                     in_flight latency_p50_ns latency_p99_ns latency_max_ns cpu_percent temperature_c
                     worker_cpu_percent ring_cpu_percent held_percent""".split())


def test_samples(fall):
    document = fall.json("samples", 1)
    assert document["run"] == 1 and document["interval_s"] == 1
    samples = document["samples"]
    assert [s["seq"] for s in samples] == list(range(195))
    assert all(set(s) >= SAMPLE_KEYS for s in samples)
    first = samples[0]
    assert first["write_ios"] == 35000 and first["write_bytes"] == 35000 * 4096 and first["read_ios"] == 0
    assert first["duration_ns"] == 10**9 and first["elapsed_s"] == 1 and is_time(first["at"])
    assert first["in_flight"] == 32
    assert first["latency_p99_ns"] == pytest.approx(800_000, rel=0.01)
    assert first["cpu_percent"] is None and first["temperature_c"] is None
    assert samples[-1]["phase"] == 1 and samples[-1]["latency_max_ns"] is None


def test_samples_of_a_run_without_any(fall):
    assert fall.json("samples", 2)["samples"] == []


def test_samples_from_to(fall):
    seen = fall.json("samples", 1, "--from", "119", "--to", "2m")["samples"]
    assert [s["elapsed_s"] for s in seen] == [119, 120]


def test_times_have_fractions(database, script):
    cli = database.write(script().run().state("running").samples(100, duration_ns=10**8).state("done"))
    for times in (["--from", "6.45", "--to", "6.7"], ["--from", "6450ms", "--to", "6.7s"], ["--from", "0.1075m",
                                                                                             "--to", "6.7999"]):
        assert [s["elapsed_s"] for s in cli.json("samples", 1, *times)["samples"]] == [6.5, 6.6, 6.7], times
        assert [p["to_s"] for p in cli.json("plot", 1, *times)["points"]] == [6.5, 6.6, 6.7], times
    rows = cli.json("samples", 1, "--every", "2.5")
    assert rows["interval_s"] == 2.5 and [row["elapsed_s"] for row in rows["samples"]] == [2.5, 5, 7.5, 10]


@pytest.mark.parametrize("verb", ["samples", "plot"])
def test_times_beyond_the_run_are_told(fall, verb):
    assert fall(verb, 1, "--from", "194.5", "--to", "195").err == ""
    assert "run 1 is 3 min 15 s long, and ends before --to" in fall(verb, 1, "--to", "195.5").err
    result = fall(verb, 1, "--from", "10m", "--json")
    assert "run 1 is 3 min 15 s long: there is nothing after --from" in result.err
    assert result.json["samples" if verb == "samples" else "points"] == []


def test_a_run_that_goes_on_may_come_to_the_time_yet(database, script):
    cli = database.write(script().run().state("running").samples(10))
    assert cli("samples", 1, "--to", "1h").err == ""
    assert "run 1 is 10.0 s long so far" in cli("samples", 1, "--from", "1h").err


def test_samples_every(fall):
    all_of_it = fall.json("samples", 1)["samples"]
    document = fall.json("samples", 1, "--every", "50")
    rows = document["samples"]
    assert document["interval_s"] == 50
    # 0..50..100..150..180 (the phase ends) ..195
    assert [row["elapsed_s"] for row in rows] == [50, 100, 150, 180, 195]
    for key in ("write_ios", "read_ios", "duration_ns", "errors", "write_bytes", "read_bytes"):
        assert sum(row[key] for row in rows) == sum(s[key] for s in all_of_it), key
    assert [row["n_samples"] for row in rows] == [50, 50, 50, 30, 15]
    mixed = rows[2]  # 20 s of the burst, 30 s of the floor
    assert mixed["seq"] == 100 and mixed["write_ios"] == 20 * 35000 + 30 * 1500
    assert mixed["latency_p50_ns"] == pytest.approx(800_000, rel=0.01)
    assert mixed["latency_max_ns"] == pytest.approx(20_000_000, rel=0.01)


def test_samples_that_end_late_stay_in_their_interval(database, script):
    cli = database.write(script().run().samples(100, duration_ns=1_000_300_000))
    rows = cli.json("samples", 1, "--every", "10")["samples"]
    assert [row["n_samples"] for row in rows] == [10] * 10


def test_samples_as_text_have_a_row_each(fall):
    lines = fall("samples", "1").out.splitlines()
    assert len(lines) == 196 and max(map(len, lines)) <= 120
    assert "35.0k" in lines[1] and "1.50k" in lines[121]


@pytest.mark.parametrize("args", [["--from", "x"], ["--every", "0"], ["--every", "-1"], ["--to", "1 h"],
                                  ["--from", "6,5"], ["--to", "6."], ["--every", "1e3"], ["--every", "0.0000000001"]])
def test_samples_with_a_bad_time(fall, args):
    assert args[0] in fall("samples", "1", *args, check=2).err


def test_plot_as_json(fall):
    document = fall.json("plot", 1)
    assert document["run"] == 1 and document["metric"] == "iops" and document["unit"] == "IOPS"
    points = document["points"]
    assert len(points) == 195
    assert points[0] == {"from_s": 0, "to_s": 1, "value": 35000}
    assert points[120]["value"] == 1500 and points[-1]["value"] == 0
    (run,) = document["runs"]
    assert run == {"run": 1, "name": "sandforce", "label": "night", "points": points}


@pytest.mark.parametrize("metric,first,read", [
    ("write-iops", 35000, 0), ("read-iops", 0, 5000), ("bandwidth", 143.36, 20.48), ("write-bandwidth", 143.36, 0),
    ("read-bandwidth", 0, 20.48), ("latency-p50", 0.8, 0.3), ("latency-p99", 0.8, 0.3), ("latency-max", 0.8, 0.3),
    ("errors", 0, 0), ("in-flight", 32, 32), ("cpu", None, None), ("temperature", None, None)])  # fmt: skip
def test_plot_of_each_metric(fall, metric, first, read):
    points = fall.json("plot", 1, "--metric", metric)["points"]
    for value, expected in ((points[0]["value"], first), (points[180]["value"], read)):
        assert value == (expected if expected is None else pytest.approx(expected, rel=0.01))


def test_plot_of_a_phase_by_name_and_by_number(fall):
    for phase in ("read back", "1"):
        points = fall.json("plot", 1, "--phase", phase)["points"]
        assert points[0]["from_s"] == 180 and len(points) == 15


def test_plot_over_what_was_written(fall, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    points = fall.json("plot", 1, "--over", "written")["points"]
    # 120 s of 35000 writes of 4 KiB, then 60 s of 1500; then it only reads.
    assert points[0]["written_gb"] == pytest.approx(0.14336) and points[119]["written_gb"] == pytest.approx(17.2032)
    assert [p["written_gb"] for p in points[180:]] == pytest.approx([17.2032 + 0.36864] * 15)
    # So the fall, two thirds along in time, is near the end; and what was not written lies nowhere.
    lines = fall("plot", 1, "--over", "written").out.splitlines()
    axis = next(i for i, line in enumerate(lines) if "└" in line or line.lstrip().startswith("+-"))
    assert "15 GB" in lines[axis + 1] and " s" not in lines[axis + 1]
    assert any("read back" in line for line in lines[axis + 2 :])
    # The 5000 reads a second of the end have no place there.
    assert "k ┤" in fall("plot", 1, "--metric", "read-iops").out.replace("+", "┤")
    assert "k ┤" not in fall("plot", 1, "--metric", "read-iops", "--over", "written").out.replace("+", "┤")
    assert "--over space: expected time or written" in fall("plot", 1, "--over", "space", check=2).err
    assert "--from and --to are times" in fall("plot", 1, "--over", "written", "--from", "3", check=2).err


def test_plot_of_a_phase_that_is_not_there(fall):
    assert "did you mean 'burn'?" in fall("plot", "1", "--phase", "bunr", check=2).err
    assert "no phase '2'" in fall("plot", "1", "--phase", "2", check=2).err


def test_plot_of_several_runs(fall):
    document = fall.json("plot", 1, 2)
    assert [run["run"] for run in document["runs"]] == [1, 2]
    assert len(document["runs"][0]["points"]) == 195 and document["runs"][1]["points"] == []


@pytest.mark.parametrize("args", [["plot", "1"], ["samples", "1"]])
def test_times_the_wrong_way_round(fall, args):
    assert "--from 20 comes after --to 10" in fall(*args, "--from", "20", "--to", "10", check=2).err
    fall(*args, "--from", "10", "--to", "10")


def test_plot_of_what_was_not_recorded(fall):
    assert fall("plot", "1", "--metric", "temperature").out == "no temperature was recorded in run 1\n"
    assert "no samples to plot" in fall("plot", "2", "--metric", "temperature").out


def test_a_phase_that_is_not_there_is_told_with_its_run(fall):
    assert "no phase 'look' in run 1" in fall("plot", "1", "--phase", "look", check=2).err


def test_plot_on_a_pipe_keeps_to_its_width(fall):
    for columns in (60, 80, 133):
        lines = fall("plot", "1", env={"COLUMNS": str(columns)}).out.splitlines()
        assert len(lines) > 10 and max(map(len, lines)) <= columns
        assert "burn" in "".join(lines) and "\x1b" not in "".join(lines)


def test_plot_in_a_locale_without_utf8(fall):
    assert fall("plot", "1", env={"LC_ALL": "C"}).out.isascii()


def test_last_is_the_newest(fall):
    assert fall.json("show", "last")["run"] == 2


@pytest.mark.parametrize("verb", ["show", "samples", "plot", "watch"])
def test_no_such_run(fall, verb):
    assert fall(verb, "3", "--json", check=6).json["error"]["code"] == "not-found"
    assert "3" in fall(verb, "3", check=6).err
    fall(verb, "three", check=2)


def test_last_of_nothing(database, script):
    cli = database.write(script())
    assert cli.json("list") == {"runs": []}
    assert cli("list").out == "no runs yet\n"
    cli("show", "last", check=6)


@pytest.mark.parametrize("verb", [["list"], ["show", "1"], ["samples", "1"], ["plot", "1"], ["watch"]])
def test_no_database(database, verb):
    result = database.cli(*verb, "--json", check=5)
    assert result.json["error"]["code"] == "unreachable" and str(database.path) in result.json["error"]["message"]
    assert not database.path.exists()


def test_a_file_that_is_no_database(database):
    database.path.write_text("nothing of the kind")
    database.cli("list", check=5)
    assert database.path.read_text() == "nothing of the kind"


HOSTILE = "\x1b[2J%s'\"\\<b>\u202e\x7f" + "\udcff"


def test_hostile_strings_are_harmless(database, script):
    s = script().run("job", HOSTILE, HOSTILE, HOSTILE, ("a\x1b[2J\u202eb", "c")).state("running").phase(0, "running")
    s.samples(1).event("error", HOSTILE)
    cli = database.write(s.state("failed"))
    for args in (["list"], ["show", "1"], ["samples", "1"], ["watch", "1"], ["plot", "1"]):
        text = cli(*args, check=1 if args[0] == "watch" else 0).out
        assert "\x1b" not in text and "\u202e" not in text and "\x7f" not in text and "\udcff" not in text, args
    for verb in ("show", "plot"):  # escaped, and once
        assert "\\x1B[2J%s" in cli(verb, "1").out and "\\\\x1B" not in cli(verb, "1").out, verb
    run = cli.json("show", 1)
    assert run["label"] == run["device"]["serial"] == run["events"][0]["detail"] == HOSTILE[:-1] + "\ufffd"


def test_a_run_without_its_service_is_interrupted(database, script):
    cli = database.write(script().run().state("running").samples(3))
    assert cli.json("show", "last")["state"] == "interrupted"
    lines = [json.loads(line) for line in cli("watch", "--json", check=5).out.splitlines()]
    assert [line["state"] for line in lines] == ["interrupted"]
    assert "run 1 is interrupted, and no service is there" in cli("watch", check=5).err


@pytest.mark.parametrize("state,status", [("done", 0), ("stopped", 0), ("failed", 1), ("lost", 1), ("refused", 3)])
def test_watch_tells_what_became_of_the_run(database, script, state, status):
    cli = database.write(script().run().state("running").samples(3).state(state))
    assert cli("watch", check=status).out.startswith(f"run 1 {state}")
    assert cli("watch", "--json", check=status).json["state"] == state


def test_watch_follows_a_run_to_its_end(database, script):
    begun = script().run().state("running").phase(0, "running").samples(2, errors=3).samples(1)
    with database.living(begun) as more:
        process = database.cli.popen("watch", "--json")
        first = json.loads(process.stdout.readline())
        assert first["state"] == "running" and first["iops"] == 100
        assert first["errors"] == 6 and first["in_flight"] == 32
        assert first["latency_p99_ns"] == pytest.approx(50000, rel=0.01) and first["elapsed_s"] == 3

        more(script().samples(1, writes=200, errors=2))
        second = json.loads(process.stdout.readline())
        assert second["iops"] == 200 and second["errors"] == 8 and second["elapsed_s"] == 4

        more(script().state("done"))
        last = json.loads(process.stdout.readline())
        assert last["state"] == "done" and last["iops"] == 125
        assert process.stdout.read() == "" and process.wait() == 0
        process.stdout.close()
        process.stderr.close()


def test_watch_piped_prints_lines(database, script):
    with database.living(script().run().state("running").phase(0, "running").samples(3)) as more:
        process = database.cli.popen("watch", "1")
        line = process.stdout.readline()
        assert line.startswith("run 1 running on sdx, write, 3.")
        assert line.endswith(" of 1 min 0 s, 100 IOPS, 0.4 MB/s, p99 49.9 us, 0 errors, 32 in flight\n")
        more(script().state("failed"))
        assert process.stdout.read().startswith("run 1 failed") and process.wait() == 1
        process.stdout.close()
        process.stderr.close()


def test_watch_ends_with_ctrl_c(database, script):
    with database.living(script().run().state("running").samples(3)):
        process = database.cli.popen("watch")
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        process.stdout.close()
        process.stderr.close()
