# SPDX-License-Identifier: MIT
"""Presets: what there is, what they say of themselves, and which of a preset and a file a name means."""

import harness
import pytest

PRESETS = sorted(path.stem for path in (harness.SOURCE / "packaging" / "presets").glob("*.fio"))
GIB = 1024**3


def test_every_preset_is_listed_with_what_it_does(cli):
    listed = cli.json("presets")["presets"]
    assert sorted(preset["name"] for preset in listed) == PRESETS and len(PRESETS) >= 4
    assert all(preset["description"] for preset in listed)
    rows = cli("presets").out.splitlines()[1:]
    assert [row.split()[0] for row in rows] == [preset["name"] for preset in listed]
    for row, preset in zip(rows, listed):
        assert preset["description"] in row


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_its_file_and_says_what_it_imitates(cli, name):
    text = (harness.SOURCE / "packaging" / "presets" / f"{name}.fio").read_text()
    assert cli("presets", name).out == text
    assert cli.json("presets", name)["presets"][0]["job"] == text
    assert "# Imitates: " in text and "# Source: " in text


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_a_job_without_complaint(cli, name):
    checked = cli.json("check-job", name, "--size", "120g")
    assert checked["name"] == name and checked["phases"]
    if name == "burn-in":  # that says what its verify= means
        (notice,) = checked["notices"]
        assert "compares every byte" in notice
    else:
        assert checked["notices"] == []
    assert all(phase["planned_s"] is not None or phase["planned_bytes"] is not None for phase in checked["phases"])


@pytest.mark.parametrize("name, seconds, written", [
    ("overnight", 36000 + 60 * 3, None),
    ("matrix", 60 * 3, None),
    ("hba", 12 * 60, None),
    ("sandforce", None, None),
    ("snia-wsat", 24 * 3600, 480 * GIB),
    ("snia-iops", None, None),
    ("jesd219", None, None),
    ("burn-in", None, 2 * 120 * GIB),
])  # fmt: skip
def test_time_and_volume_are_told_for_a_size(cli, name, seconds, written):
    phases = cli.json("check-job", name, "--size", "120g")["phases"]
    if name == "sandforce":
        assert sum(phase["planned_s"] or 0 for phase in phases) == 3 * 3600
    if seconds is None:
        assert any(phase["planned_s"] is None for phase in phases)
    else:
        assert sum(phase["planned_s"] for phase in phases) == seconds
    if written is None:
        assert any(phase["planned_bytes"] is None for phase in phases)
    else:
        assert sum(phase["planned_bytes"] for phase in phases) == written


def test_snias_iops_test_has_the_25_rounds_of_the_specification(cli):
    document = cli.json("check-job", "snia-iops", "--size", "120g")
    wipc, *cells = document["phases"]
    assert wipc["planned_bytes"] == 240 * GIB and document["stop_snia_iops_steady"] is True
    assert len(cells) == 25 * 56 and all(cell["planned_s"] == 60 for cell in cells)
    blocks = [1024 * 1024, *(n * 1024 for n in (128, 64, 32, 16, 8, 4)), 512]
    mixes = ("100/0", "95/5", "65/35", "50/50", "35/65", "5/95", "0/100")
    expected = [(f"{i}: {mix}", bs, 32) for i in range(1, 26) for mix in mixes for bs in blocks]
    assert [(cell["name"], cell["bs"], cell["iodepth"]) for cell in cells] == expected
    assert "It takes at most 23 h 20 min, and beside that" in cli("check-job", "snia-iops").out


@pytest.mark.parametrize("verb", [("presets",), ("check-job",), ("start", "--device", "/dev/null", "--")])
def test_an_unknown_preset_is_told_the_nearest(cli, verb):
    error = cli(*verb, "overnigt", check=2).err
    assert "did you mean" in error and "'overnight'" in error
    assert "'plateau presets' lists them" in cli(*verb, "quite-another", check=2).err


def test_a_path_is_never_a_preset(cli, tmp_path):
    error = cli("check-job", tmp_path / "overnight", check=2).err
    assert "cannot read the job file" in error and "no preset" not in error


def test_a_name_means_the_preset_whatever_lies_in_the_directory(cli, tmp_path, monkeypatch):
    (tmp_path / "matrix").write_text("[other]\nrw=read\n")
    monkeypatch.chdir(tmp_path)
    result = cli("check-job", "matrix", "--json")
    assert result.json["phases"][0]["action"] == "matrix"
    assert "the file of that name is ./matrix" in result.err
    assert cli.json("check-job", "./matrix")["phases"][0]["name"] == "other"


def test_completion_knows_presets(cli):
    completion = (harness.SOURCE / "packaging" / "completions" / "plateau").read_text()
    assert "presets" in completion.split("start | check-job)")[1].split(";;")[0]


@pytest.mark.parametrize("levels, status, word, level", [
    ([(1500, 5000)], 0, "pass", 1),
    ([(300, 35000), (1800, 500)], 1, "fail", 0.0143),
    ([(60, 5000)], 7, "inconclusive", 1),
])
def test_overnight_is_judged_out_of_the_box(database, script, levels, status, word, level):
    text = database.cli("presets", "overnight").out
    lines = script().size(64 << 20).job(*(line for line in text.splitlines() if line and line[0] != "#"))
    lines = lines.run("overnight").state("running").phase(0, "running")
    for seconds, writes in levels:
        lines = lines.noisy(seconds, writes)
    for cell in range(1, 61):
        lines = lines.samples(3, phase=cell, writes=10).phase(cell, "done")
    cli = database.write(lines.phase(0, "done").state("done"))

    # Its cells are no rounds of SNIA's IOPS test, though they do the same points again and again.
    assert cli.json("analyze", 1)["snia"]["iops_test"] is None
    document = cli.json("verdict", 1, check=status)
    assert (document["verdict"], document["expected_by"], document["phase"]) == (word, "default", "torture")
    floor, errors = document["reasons"]
    assert (floor["criterion"], floor["expected"], floor["result"]) == ("floor_ratio_min", 0.2, word)
    assert floor["measured"] == pytest.approx(level, rel=0.05)
    assert (errors["criterion"], errors["measured"], errors["result"]) == ("errors_max", 0, "pass")
    _, head, standard, *reasons = cli("verdict", 1, check=status).out.splitlines()
    assert head == f"verdict: {word}, by plateau's own standard, as the job expects nothing ([expect]):"
    assert standard == "  20 % of the burst must last, and no I/O may fail" and len(reasons) == 2
