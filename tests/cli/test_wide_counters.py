# SPDX-License-Identifier: MIT
"""Counters wider than any run: 50 days and 4 PiB in a sample, 2^40 I/Os, all exact to the last one."""

DAYS_NS = 50 * 86400 * 10**9
IOS = 2**40 + 1
BLOCK = 4096
ERRORS = 2**33 + 1


def wide(script):
    """Two samples of 50 days, each of 2^40 + 1 writes of 4 KiB."""
    s = script().add("size", 64 << 40).run("wide").state("running")
    s.add("samples", 2, 0, DAYS_NS, IOS, 0, ERRORS, 90000).errno(5, 2 * ERRORS)
    return s.add("phase", 0, "done").state("done")


def test_sums_are_exact_in_json(database, script):
    cli = database.write(wide(script))
    (phase,) = cli.json("show", "last")["phases"]
    assert phase["ios"] == 2 * IOS
    assert phase["bytes"] == 2 * IOS * BLOCK
    assert phase["errors"] == 2 * ERRORS
    assert phase["elapsed_s"] == 100 * 86400
    assert cli.json("list")["runs"][0]["elapsed_s"] == 100 * 86400
    assert cli.json("show", "last")["errors"][0]["count"] == 2 * ERRORS
    assert cli.json("show", "last")["device"]["size_bytes"] == 64 << 40


def test_samples_are_exact_in_json_and_csv(database, script):
    cli = database.write(wide(script))
    samples = cli.json("samples", "last")["samples"]
    assert [sample["write_ios"] for sample in samples] == [IOS, IOS]
    assert [sample["write_bytes"] for sample in samples] == [IOS * BLOCK, IOS * BLOCK]
    assert [sample["duration_ns"] for sample in samples] == [DAYS_NS, DAYS_NS]
    assert samples[1]["elapsed_s"] == 100 * 86400
    csv = cli("export", "last", "--format", "csv").out
    assert csv.count(f",{IOS * BLOCK},") == 2 and csv.count(",4320000.000000000,") == 2


def test_tables_tell_them_to_people(database, script):
    cli = database.write(wide(script))
    text = cli("show", "last").out
    assert "8 PiB in 100 d 0 h" in text and "64 TiB" in text and f"{2 * ERRORS} I/O errors" in text
    assert "100 d" in cli("list").out
