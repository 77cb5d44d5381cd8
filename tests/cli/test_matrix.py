# SPDX-License-Identifier: MIT
"""`plateau matrix` and what `show` makes of its cells, on databases."""

import pytest

MATRIX = ("[m]", "action=matrix", "rw=randwrite", "bs=4k,64k", "iodepth=1,8", "step_time=3")


def filled(script, *job):
    return script().job(*job).run("grid").state("running")


def test_rows_are_depths_and_columns_block_sizes(database, script):
    lines = filled(script, "[torture]", "rw=randwrite", "runtime=60", *MATRIX)
    lines.phase(0, "done").samples(2, phase=0, writes=7)
    for phase, writes in [(1, 100), (2, 200), (3, 10)]:
        lines.phase(phase, "done").cpu(10 * phase).samples(3, phase=phase, writes=writes)
    cli = database.write(lines)

    cells = cli.json("matrix", "1")["cells"]
    assert [(c["bs"], c["iodepth"], c["iops"], c["cpu_percent"], c["state"]) for c in cells] == [
        (4096, 1, 100, 10, "done"), (4096, 8, 200, 20, "done"), (65536, 1, 10, 30, "done"),
        (65536, 8, None, None, "pending"),
    ]  # fmt: skip
    text = cli("matrix", "last").out.splitlines()
    assert "m: IOPS of randwrite (3 of 4 cells are done)" in text
    assert [line.split() for line in text[-3:]] == [
        ["OUTSTANDING", "4", "KiB", "64", "KiB"], ["1", "100", "10"], ["8", "200", "-"],
    ]  # fmt: skip

    shown = cli("show", "1").out
    assert "phases 1 to 4 are the cells of 'm', 3 of which are done: 'plateau matrix 1' shows them" in shown
    assert "64 KiB" not in shown
    assert [phase["cpu_percent"] for phase in cli.json("show", "1")["phases"]] == [None, 10, 20, 30, None]


def test_several_matrices_are_told_apart(database, script):
    row = ["action=matrix", "step_time=1", "bs=4k,8k"]
    lines = filled(script, "[a]", *row, "rw=read", "[a]", *row, "rw=write", "[a]", *row, "rw=write", "[b]", *row,
                   "rw=write")  # fmt: skip
    cli = database.write(lines)
    document = cli.json("matrix", "1")
    assert document["rw"] is None and len(document["cells"]) == 8
    titles = [line for line in cli("matrix", "1").out.splitlines() if "IOPS of" in line]
    assert [title.split(" (")[0] for title in titles] == [
        "a: IOPS of read", "a: IOPS of write", "a: IOPS of write", "b: IOPS of write",
    ]  # fmt: skip
    only = cli.json("matrix", "1", "--phase", "b")
    assert only["rw"] == "write" and [cell["phase"] for cell in only["cells"]] == [6, 7]
    assert [cell["phase"] for cell in cli.json("matrix", "1", "--phase", "3")["cells"]] == [2, 3]
    # One row of cells is no table of its own: `show` has them as they are.
    assert "are the cells of" not in cli("show", "1").out


def broken_off(script, state, phase="stopped", n=2):
    """A matrix of which one cell is done, with errors, and the next was broken off."""
    lines = filled(script, *MATRIX).phase(0, "done").samples(3, phase=0, writes=7000, errors=1)
    return lines.phase(1, "running").samples(n, phase=1, writes=70).phase(1, phase).state(state)


def test_a_cell_that_was_broken_off_is_marked(database, script):
    cli = database.write(broken_off(script, "stopped"))
    cells = cli.json("matrix", "1")["cells"]
    assert [(c["iops"], c["state"], c["incomplete"], c["elapsed_s"], c["errors"]) for c in cells] == [
        (7000, "done", False, 3, 3), (70, "stopped", True, 2, 0), (None, "pending", False, 0, 0),
        (None, "pending", False, 0, 0),
    ]  # fmt: skip
    text = cli("matrix", "1").out.split("\n\n")
    assert [line.split() for line in text[1].splitlines()[-2:]] == [["1", "!7000", "-"], ["8", "*70", "-"]]
    assert text[2].splitlines() == ["* not finished: measured for 2.0 s only (stopped)",
                                    "! some I/O failed: 'plateau show 1' tells with which errors"]  # fmt: skip
    # Nothing is said of marks that there are not.
    whole = database.write(filled(script, *MATRIX).phase(0, "done").samples(3, phase=0))("matrix", "2").out
    assert "*" not in whole and "!" not in whole


def test_a_cell_in_work_is_marked(database, script):
    with database.living(broken_off(script, "running", "running")):
        assert "* not finished: measured for 2.0 s so far (running)" in database.cli("matrix", "1").out


def test_a_phase_of_an_interrupted_run_is_interrupted(database, script):
    lines = broken_off(script, "interrupted").job("[w]", "rw=write").run()
    for _ in range(2):  # of a service that ended by itself, and of one that was killed
        lines = lines.state("running").phase(0, "running").samples(3)
    cli = database.write(lines)
    assert [cell["state"] for cell in cli.json("matrix", "1")["cells"]][:2] == ["done", "interrupted"]
    assert cli.json("show", "1")["phases"][1]["state"] == "interrupted"
    assert cli.json("show", "2")["state"] == cli.json("show", "2")["phases"][0]["state"] == "interrupted"
    assert "interrupted" in next(line for line in cli("show", "2").out.splitlines() if line.split()[:2] == ["0", "w"])
    # One that will not go on was stopped.
    assert database.write(broken_off(script, "failed")).json("show", "3")["phases"][1]["state"] == "stopped"


@pytest.mark.parametrize("name, begin", [("m.svg", b"<?xml"), ("m.PNG", b"\x89PNG\r\n\x1a\n")])
def test_a_matrix_becomes_a_picture(database, script, tmp_path, name, begin):
    lines = filled(script, *MATRIX, "[n]", *MATRIX[1:]).phase(0, "done").samples(3, phase=0, writes=100)
    cli = database.write(lines)
    assert cli("matrix", "1", "-o", tmp_path / name).out == ""
    both = (tmp_path / name).read_bytes()
    assert both.startswith(begin)
    # One matrix of them makes a smaller one; and JSON comes besides.
    one = tmp_path / f"one-{name}"
    assert len(cli.json("matrix", "1", "--phase", "n", "--output", one)["cells"]) == 4
    assert len(one.read_bytes()) < len(both)


def test_a_picture_that_cannot_be_made_leaves_nothing(database, script, tmp_path):
    cli = database.write(filled(script, *MATRIX))
    assert "ends in .svg or .png" in cli("matrix", "1", "-o", tmp_path / "m.pdf", check=2).err
    assert "No such file or directory" in cli("matrix", "1", "-o", tmp_path / "none" / "m.svg", check=8).err
    (tmp_path / "m.svg").write_text("mine")
    assert "exists already" in cli("matrix", "1", "-o", tmp_path / "m.svg", check=2).err
    assert (tmp_path / "m.svg").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix != ".db" and "db-" not in path.name) == [
        "m.svg"
    ]


def test_a_picture_on_a_full_disk_leaves_nothing(database, script, small_disk):
    cli = database.write(filled(script, *MATRIX))
    with open(small_disk / "filler", "wb") as filler:
        filler.write(bytes(2 * 1024 * 1024 - 8192))
    for name in "m.svg", "m.png":
        assert "No space left on device" in cli("matrix", "1", "-o", small_disk / name, check=8).err
    assert [path.name for path in small_disk.iterdir()] == ["filler"]


def test_more_matrices_than_a_picture_holds(database, script, tmp_path):
    cli = database.write(filled(script, "[global]", *MATRIX[1:], *(f"[m{i}]" for i in range(17))))
    message = "run 1 has 17 matrices, and a picture holds 16: choose one with --phase"
    assert message in cli("matrix", "1", "-o", tmp_path / "m.svg", check=2).err
    assert cli("matrix", "1", "-o", tmp_path / "m.svg", "--phase", "m16").out == ""


def test_a_picture_takes_hostile_names(database, script, tmp_path):
    lines = script().job("[m\u202e<&]", *MATRIX[1:]).run("grid", "\u202elabel\udcff&<>", "Model\x1b[31m\udc80")
    cli = database.write(lines.state("running").phase(0, "done").samples(3, phase=0))
    for name in "m.svg", "m.png":
        assert cli("matrix", "1", "-o", tmp_path / name).out == ""


def test_outstanding_counts_streams(database, script):
    cli = database.write(filled(script, *MATRIX, "numjobs=3"))
    rows = cli("matrix", "1").out.splitlines()[-2:]
    assert [row.split()[0] for row in rows] == ["3", "24"]


def test_a_run_without_a_matrix_says_so(database, script):
    cli = database.write(filled(script, "[w]", "rw=write", *MATRIX).job("[w]", "rw=write").run())
    assert "run 2 has no matrix: that takes a section with action=matrix" in cli("matrix", "2", check=2).err
    assert "phase 0 of run 1 is no cell of a matrix" in cli("matrix", "1", "--phase", "0", check=2).err
    assert "no phase 'quite-another' in run 1" in cli("matrix", "1", "--phase", "quite-another", check=2).err


def test_the_head_names_the_drive(database, script):
    cli = database.write(filled(script, *MATRIX))
    head = dict(line.split(maxsplit=1) for line in cli("matrix", "1").out.split("\n\n")[0].splitlines())
    assert head == {"model": "ModelX", "firmware": "-", "size": "1 GiB (1073741824 bytes)", "read-ahead": "128 KiB",
                    "driver": "-"}  # fmt: skip
    assert cli.json("matrix", "1")["device"]["read_ahead_kib"] == 128


def test_an_idle_phase_is_called_so(database, script):
    lines = filled(script, "[rest]", "action=idle", "runtime=5").phase(0, "done").samples(5, writes=0)
    cli = database.write(lines)
    phase = cli.json("show", "1")["phases"][0]
    assert (phase["action"], phase["rw"], phase["bs"], phase["iodepth"]) == ("idle", None, None, None)
    row = next(line for line in cli("show", "1").out.splitlines() if line.split()[:2] == ["0", "rest"])
    assert row.split()[2:5] == ["idle", "-", "-"]


@pytest.mark.parametrize("purged", ["not purged", None])
def test_show_tells_the_jobs_description(database, script, purged):
    job = ["[global]", f"description=a test, {purged}"] if purged else []
    cli = database.write(filled(script, *job, "[w]", "rw=write"))
    assert cli.json("show", "1")["description"] == (f"a test, {purged}" if purged else None)
    assert ("not purged" in cli("show", "1").out) == bool(purged)
