# SPDX-License-Identifier: MIT

import pytest

GIB = 1 << 30

SANDFORCE = """[sandforce]
bs=4k
numjobs=64
randrepeat=0
rwmixread=0
norandommap
rw=randrw
runtime=60000
do_verify=0
direct=1
ioengine=sync
"""

TWO = """[global]
bs=4k
[a]
rw=randwrite
runtime=10
time_based
[b]
rw=write
bs=8k,16k
size=1g
[c]
rw=randread
size=50%
"""

PHASE_KEYS = {"index", "name", "action", "rw", "bs", "iodepth", "numjobs", "planned_s", "planned_bytes"}


def test_the_sandforce_test_as_it_stands(cli, job):
    document = cli.json("check-job", job(SANDFORCE, "sandforce.fio"), "--size", "120g")
    (phase,) = document["phases"]
    assert set(phase) >= PHASE_KEYS
    assert phase["name"] == "sandforce" and phase["rw"] == "randrw" and phase["bs"] == 4096 and phase["action"] == "io"
    assert phase["numjobs"] == 64 and phase["iodepth"] == 1 and phase["planned_s"] == 60000
    assert any("ioengine" in notice for notice in document["notices"])


def test_phases_with_a_size(cli, job):
    a, b, c = cli.json("check-job", job(TWO), "--size", "4g")["phases"]
    assert [phase["index"] for phase in (a, b, c)] == [0, 1, 2]
    assert a["planned_s"] == 10 and a["planned_bytes"] is None
    assert b["planned_s"] is None and b["planned_bytes"] == GIB and b["bs"] == 16384
    assert c["planned_bytes"] == 0 and c["rw"] == "randread"


def test_without_a_size_only_what_holds_for_every_device(cli, job):
    a, b = cli.json("check-job", job("[a]\nrw=write\nsize=1g\n[b]\nrw=write\n"))["phases"]
    assert a["planned_bytes"] == GIB and b["planned_bytes"] is None


def test_standard_input(cli):
    assert cli.json("check-job", "-", input=TWO)["phases"][0]["name"] == "a"
    assert "stdin:2: " in cli("check-job", "-", input="[a]\nrv=read\n", check=2).err


def test_text_tells_time_and_volume(cli, job):
    text = cli("check-job", job("[a]\nrw=write\nsize=1g\nruntime=90\n")).out
    assert "It takes at most 1 min 30 s. It writes at most 1 GiB." in text


def test_text_tells_what_no_size_can_tell(cli, job):
    timed = job("[a]\nrw=write\ntime_based\nruntime=90\n", "timed.fio")
    for args in ([timed], [timed, "--size", "4g"]):
        assert "How much it writes depends on the device's speed." in cli("check-job", *args).out
    assert "--size tells for one" in cli("check-job", job("[a]\nrw=write\n")).out
    both = job("[a]\nrw=write\ntime_based\nruntime=90\n[b]\nrw=read\n", "both.fio")
    assert "It takes at least 1 min 30 s; how long in all depends on the speed" in cli("check-job", both).out


def test_both_block_sizes_are_told(cli, job):
    path = job("[a]\nrw=randrw\nbs=4k,8k\n")
    assert "4 KiB r, 8 KiB w" in cli("check-job", path).out
    (phase,) = cli.json("check-job", path)["phases"]
    assert (phase["bs"], phase["read_bs"], phase["write_bs"]) == (8192, 4096, 8192)


def test_what_does_not_fit_is_told_with_file_and_line(cli, job):
    path = job("[a]\nrw=write\nbs=4KiB\n")
    error = cli("check-job", path, check=2).err
    assert f"{path}:3: " in error and "powers of 1000" in error


def test_the_random_order_that_differs_from_fio_is_told(cli, job):
    assert "norandommap" in cli("check-job", job("[a]\nrw=randwrite\nruntime=1\n")).out
    assert "norandommap" not in cli("check-job", job("[a]\nrw=randwrite\nruntime=1\nnorandommap=0\n")).out
    assert "norandommap" not in cli("check-job", job("[a]\nrw=write\nruntime=1\n")).out


def test_errors_name_file_line_and_option(cli, job):
    path = job("[a]\nrw=randwrite\nruntme=1\n")
    error = cli("check-job", path, "--json", check=2).json["error"]
    assert error["code"] == "usage"
    assert f"{path}:3: " in error["message"] and "'runtme'" in error["message"] and "'runtime'" in error["message"]


def test_what_is_no_job_file(cli, tmp_path):
    assert "No such file" in cli("check-job", tmp_path / "none", check=2).err
    assert "directory" in cli("check-job", tmp_path, check=2).err
    (tmp_path / "large").write_bytes(b"#" * (1 << 20) + b"\n")
    assert "larger than" in cli("check-job", tmp_path / "large", check=2).err


def test_a_bad_size(cli, job):
    for size in ("0", "x", "-1"):
        assert "--size" in cli("check-job", job(TWO), "--size", size, check=2).err


def test_a_job_that_does_not_fit(cli, job):
    cli("check-job", job("[a]\nrw=write\nbs=1m\n"), "--size", "4k", check=2)


def test_expectations(cli, job):
    path = job("[a]\nrw=write\n[expect]\nclaimed_iops=60k\nclaimed_bandwidth=550m\nlatency_p999_max=5ms\n")
    assert cli.json("check-job", path)["expect"] == [
        {"criterion": "claimed_iops", "expected": 60000, "unit": "iops"},
        {"criterion": "claimed_bandwidth", "expected": 550 << 20, "unit": "bytes_per_s"},
        {"criterion": "latency_p999_max", "expected": 5e6, "unit": "ns"},
    ]
    text = cli("check-job", path).out
    assert "expected: claimed_iops, at least 60000 IOPS\n" in text
    assert "expected: claimed_bandwidth, at least 576.7 MB/s (550 MiB/s)\n" in text
    assert "expected: latency_p999_max, at most 5 ms\n" in text
    assert cli.json("check-job", job(TWO))["expect"] == []


def test_when_it_stops(cli, job):
    path = job("[a]\nrw=write\n[stop]\nerrors_max=5\n")
    assert cli.json("check-job", path)["stop_errors_max"] == 5
    assert "stops: when more than 5 I/Os have failed\n" in cli("check-job", path).out
    assert "stop_errors_max" not in cli.json("check-job", job(TWO)) and "stops: " not in cli("check-job", job(TWO)).out


ROUNDS = "[global]\naction=matrix\nstep_time=1m\nbs=8k,4k\n[stop]\nsnia_iops_steady=1\n" + 6 * "[w]\nrw=randwrite\n"
FILL = "[fill]\naction=io\nrw=write\nbs=1m\n"


@pytest.mark.parametrize("first, most", [
    ("", "."),
    (FILL, ", and beside that what the device needs for the phase without a time."),
    (2 * FILL, ", and beside that what the device needs for the 2 phases without a time."),
])  # fmt: skip
def test_a_test_that_ends_when_it_is_steady_takes_at_most_all_its_rounds(cli, job, first, most):
    path = job(ROUNDS + first)
    text = cli("check-job", path).out
    assert f"\nIt takes at most 12 min 0 s{most}" in text
    assert "stops: when SNIA's IOPS test is steady over 5 rounds, at the end of the last of them\n" in text
    assert cli.json("check-job", path)["stop_snia_iops_steady"] is True
    assert "stop_snia_iops_steady" not in cli.json("check-job", job(TWO))


WRITES = "[a]\nrw=randwrite\nruntime=1h\ntime_based\n[b]\nrw=randwrite\ncapacity_loops=2\n[stop]\nwritten_max="


@pytest.mark.parametrize("words, size, told, most", [
    ("10t", (), "10 TiB", "10 TiB"),
    ("10t", ("--size", "1g"), "10 TiB", "10 TiB"),
    ("2.5 fills", ("--size", "4g"), "2.5 fills of the device (10 GiB)", "10 GiB"),
    ("1 fill", ("--size", "4g"), "1 fill of the device (4 GiB)", "4 GiB"),
])  # fmt: skip
def test_what_may_be_written_bounds_the_plan(cli, job, words, size, told, most):
    text = cli("check-job", *size, job(WRITES + words + "\n")).out
    assert f"stops: when {told} are written\n" in text
    assert f"It writes at most {most}.\n" in text and "takes at least" not in text


@pytest.mark.parametrize("options, told", [
    ("rw=rw\nrwmixread=20", "about 6.4 MiB"), ("rw=randwrite\nbssplit=4k/50:16k/50", "about 8 MiB"),
    ("rw=rw\nrwmixread=0", "at most 8 MiB"), ("rw=randwrite\nbssplit=4k", "at most 8 MiB"),
    ("rw=write\nio_size=6082000", "at most 5.9 MiB"), ("rw=rw\n[stop]\nwritten_max=1g", "about 4 MiB"),
    ("rw=rw\n[stop]\nwritten_max=1m", "at most 1 MiB"),
])  # fmt: skip
def test_what_chance_decides_is_no_bound(cli, job, options, told):
    path = job(f"[a]\nsize=8m\n{options}\n")
    assert f" It writes {told}.\n" in cli("check-job", path).out
    (phase,) = cli.json("check-job", path)["phases"]
    assert phase["planned_by_chance"] == ("rw=rw\n[" in options or told.startswith("about"))


def test_what_chance_trims_is_no_bound(cli, job):
    for options, told in ("bssplit=4k/50:16k/50", "about"), ("bs=4k", "at most"):
        assert f" It trims {told} 8 MiB.\n" in cli("check-job", job(f"[a]\nrw=randtrim\n{options}\nsize=8m\n")).out


def test_all_cells_of_a_matrix_write(cli, job):
    path = job("[m]\naction=matrix\nrw=randwrite\nbs=4k\niodepth=1,2,4\nstep_time=10\nrate_iops=128\n")
    out = cli("check-job", path).out
    assert " 15 MiB" in out.splitlines()[1] and " It writes at most 15 MiB.\n" in out


@pytest.mark.parametrize("options, noted", [
    ("rate_iops=100", False), ("rate=1m", False), ("rate_iops=70,30\nrwmixread=70", False),
    ("rate=2m,4m\nbs=4k,8k", False),
    ("rate_iops=100\nrwmixread=70", True), ("rate=1m,", True), ("rate_iops=,5", True), ("rate=1m\nbs=4k,8k", True),
    ("rate=1m,\nrwmixread=100", False), ("rate=1m,\nrw=write", False), ("rate=1m,\nrw=randtrim", False),
])  # fmt: skip
def test_rates_that_a_mix_does_not_follow_are_told(cli, job, options, noted):
    path = job(f"[a]\nrw=rw\n{options}\nruntime=9\n")
    assert ("reads and writes stay mixed" in cli("check-job", path).out) == noted


def test_fills_of_no_device_in_particular(cli, job):
    path = job(WRITES + "2.5 fills\n")
    text = cli("check-job", path).out
    assert "stops: when 2.5 fills of the device are written\n" in text
    assert "How much it writes depends on the device; --size tells for one.\n" in text
    document = cli.json("check-job", path)
    assert document["stop_written_max_fills"] == 2.5 and "stop_written_max" not in document
    document = cli.json("check-job", "--size", "4g", path)
    assert document["stop_written_max_fills"] == 2.5 and document["stop_written_max"] == 10 << 30
    document = cli.json("check-job", job(WRITES + "10t\n"))
    assert document["stop_written_max"] == 10 << 40 and "stop_written_max_fills" not in document


DETAILS = """[a]
rw=randrw
rate_iops=500,100
runtime=10m
time_based
ramp_time=30
ss=iops:2%
ss_dur=60
offset=1m
size=50%
[d]
action=discard
[t]
rw=trim
rate=1m
until=steady:5m
runtime=1h
"""


def test_text_tells_what_limits_ends_and_destroys(cli, job):
    text = cli("check-job", job(DETAILS), "--size", "1g").out
    details = {line.split("'")[1]: line for line in text.splitlines() if line.startswith("phase '")}
    assert "512 MiB from byte 1048576 (1 MiB) on" in details["a"]
    path = job("[v]\nrw=write\nsize=1m\nverify=md5\n", "verify.fio")
    whole = cli("check-job", path, "--size", "1g").out
    assert all(f"phase '{name}': 1 MiB from the start of the device on\n" in whole for name in ("v", "v verify"))
    assert "at most 500 reads a second; at most 100 writes a second" in details["a"]
    assert "the first 30.0 s are not counted" in details["a"]
    assert "when the deviation of IOPS was below 2 % for 1 min 0 s" in details["a"]
    assert "discards what the region holds" in details["d"]
    assert "trims at most 1 MiB a second; ends early, when a steady state has held for 5 min" in details["t"]
    assert "at least" not in text  # each may end early, or takes what the device takes


def test_what_is_trimmed_is_told(cli, job):
    text = job("[t]\nrw=trim\nsize=64m\n[d]\naction=discard\n[w]\nrw=write\nsize=1m\n")
    result = cli("check-job", text, "--size", "1g").out
    heading, t, d, w = (line.split() for line in result.splitlines()[:4])
    assert heading[-1] == "TRIMS" and (t[-2:], d[-2:], w[-3:]) == (["64", "MiB"], ["1", "GiB"], ["1", "MiB", "-"])
    assert "It writes at most 1 MiB. It trims at most 1.1 GiB.\n" in result
    phases = cli.json("check-job", text, "--size", "1g")["phases"]
    assert [phase["planned_trim_bytes"] for phase in phases] == [64 << 20, GIB, 0]
    phases = cli.json("check-job", text)["phases"]
    assert [phase["planned_trim_bytes"] for phase in phases] == [64 << 20, None, 0]
    assert "How much it trims depends on the device." in cli("check-job", text).out
    timed = cli("check-job", job("[t]\nrw=randtrim\nruntime=5\ntime_based\n"), "--size", "1g").out
    assert "It writes at most 0 B. How much it trims depends on the device.\n" in timed
    assert "rims" not in cli("check-job", job("[w]\nrw=write\n")).out


def test_workers_are_told_where_there_are_several(cli, job):
    one, two = "[a]\nrw=write\n", "[b]\nrw=write\niodepth=8\nworkers=2\n"
    heading, a, b = (line.split() for line in cli("check-job", job(one + two)).out.splitlines()[:3])
    at = heading.index("WORKERS")
    assert heading[at - 1] == "NUMJOBS" and a[at + 1] == "-" and b[at + 1] == "2"  # BS is two words
    assert "WORKERS" not in cli("check-job", job(one)).out


def notices(cli, path, *args):
    return cli.json("check-job", path, *args)["notices"]


def test_options_that_an_action_does_not_heed_are_told(cli, job):
    path = job("[global]\nbs=4k\nrw=write\n[d]\naction=discard\nsize=1m\noffset=1m\nbs=64k\nrate=1m\n"
               "[i]\naction=idle\ntime_based\nruntime=5\niodepth=4\n[w]\nbs=8k\n")  # fmt: skip
    told = [notice.split(": the region")[0].split(": nothing is")[0] for notice in notices(cli, path)]
    assert told == [f"{path}:8: phase 'd': bs has no effect with action=discard",
                    f"{path}:9: phase 'd': rate has no effect with action=discard",
                    f"{path}:14: phase 'i': iodepth has no effect with action=idle"]  # fmt: skip


@pytest.mark.parametrize("times,never", [("ss_dur=61", True), ("ss_dur=60", False), ("ss_dur=50\nss_ramp=11", True)])
def test_a_steadystate_that_no_window_can_attain_is_told(cli, job, times, never):
    path = job(f"[a]\nrw=write\nss=iops:2%\nruntime=60\n{times}\n")
    found = [notice for notice in notices(cli, path) if "steadystate never ends it" in notice]
    assert len(found) == never and all(":1: phase 'a'" in notice and "1 min 1 s" in notice for notice in found)


@pytest.mark.parametrize("lines,told", [
    ("size=2g", "the size of 2147483648 bytes reaches beyond the target's end: cut to 1073741824"),
    ("size=10000", "its last 1808 bytes are left out: no multiple of bs=4096"),
])  # fmt: skip
def test_a_region_that_is_cut_is_told_with_its_line(cli, job, lines, told):
    path = job("[a]\nrw=write\nbs=4k\n" + lines + "\n")
    line = 4 + lines.count("\n")
    (notice,) = notices(cli, path, "--size", "1g")
    assert notice.startswith(f"{path}:{line}: phase 'a': {told}")


def test_each_cell_of_a_matrix_has_a_ramp(cli, job):
    path = job("[global]\nramp_time=10\n[m]\naction=matrix\nrw=randwrite\nbs=4k,8k\niodepth=1,2\nstep_time=3\n")
    text = cli("check-job", path).out
    assert "It takes at most 52.0 s." in text and "phase 'm': the first 10.0 s of each cell are not counted" in text


def test_json_tells_region_rates_and_ramp(cli, job):
    a, d, t = cli.json("check-job", job(DETAILS), "--size", "1g")["phases"]
    assert (a["region_offset"], a["region_bytes"], a["ramp_s"]) == (1 << 20, 512 << 20, 30)
    assert (a["read_iops_max"], a["write_iops_max"], a["read_bytes_per_s_max"]) == (500, 100, None)
    assert (d["action"], d["rw"], d["planned_bytes"], d["region_bytes"]) == ("discard", "trim", 0, GIB)
    assert (t["trim_bytes_per_s_max"], t["until_steady_s"], t["planned_bytes"]) == (1 << 20, 300, 0)
    assert cli.json("check-job", job(DETAILS))["phases"][0]["region_bytes"] is None
