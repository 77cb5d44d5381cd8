# SPDX-License-Identifier: MIT
"""The command line itself: help, unknown words, where the output goes when it cannot go anywhere."""

import json
import re
import subprocess

import harness
import pytest

VERBS = ("devices check-job presets start list show watch pause resume stop samples plot analyze matrix compare "
         "verdict import export help").split()
DATABASE = set("list show watch samples plot analyze matrix compare verdict import export".split())
BUS = set("start pause resume stop".split())


def words(cli, *verb):
    return cli("--complete", *verb).out.split()


def test_help_lists_every_verb(cli):
    listed = [line.split()[0] for line in cli("--help").out.splitlines() if line.startswith("  ")]
    assert listed[: len(VERBS)] == VERBS
    assert [word for word in words(cli) if not word.startswith("-")] == VERBS


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb_lists_every_option(cli, verb):
    text = cli(verb, "--help").out
    assert text.startswith(f"usage: plateau {verb}")
    options = words(cli, verb)
    assert {"--json", "--host", "--help"} <= set(options) and "--version" not in options
    assert ("--db" in options) == (verb in DATABASE) and ("--bus" in options) == (verb in BUS)
    explained = re.findall(r"^  (?:-\w, )?(--[\w-]+).*  \S", text, re.MULTILINE)
    assert explained == options


@pytest.mark.parametrize("verb", VERBS)
def test_the_manual_tells_every_option(cli, verb):
    manual = (harness.SOURCE / "docs" / "plateau.1").read_text()
    assert f".It Cm {verb}" in manual
    for option in words(cli, verb):
        assert re.search(rf"(Fl |, )-{option[2:]}\b", manual), option


def test_help_is_a_verb_too(cli):
    assert cli("help").out == cli("--help").out == cli("-h").out
    assert cli("help", "start").out == cli("start", "--help").out
    assert "did you mean 'start'?" in cli("help", "strat", check=2).err


def test_help_tells_every_exit_status(cli):
    text = cli("help").out
    for text in (text[text.index("Exit status"):], (harness.SOURCE / "README.md").read_text().split("exit status")[1]):
        for status in (0, 1, 2, 3, 4, 5, 6, 7, 8, 130):
            assert re.search(rf"\b{status}\b", text[:500]), status


def test_help_tells_every_metric(cli):
    error = cli("plot", "1", "--metric", "quite-another", check=2).err
    metrics = error.split("there are ")[1].strip().split(", ")
    assert "iops" in metrics and "latency-p99" in metrics
    text = " ".join(cli("plot", "--help").out.split())
    for metric in metrics:
        assert metric in text, metric


def test_version(cli):
    assert cli("--version").out.startswith("plateau 0.") and cli("-V").out == cli("--version").out


def test_no_verb(cli):
    assert "no verb" in cli(check=2).err


@pytest.mark.parametrize("wrong,meant", [("lst", "list"), ("statr", "start"), ("wach", "watch"),
                                         ("chek-job", "check-job")])  # fmt: skip
def test_did_you_mean_a_verb(cli, wrong, meant):
    result = cli(wrong, check=2)
    assert f"did you mean '{meant}'?" in result.err and result.out == ""


def test_did_you_mean_an_option(cli):
    assert "did you mean --every?" in cli("samples", "1", "--evry", "3", check=2).err
    assert "did you mean --json?" in cli("list", "--jsno", check=2).err
    assert "did you mean --erase-existing?" in cli("start", "--erase", check=2).err


@pytest.mark.parametrize("args", [["strat"], ["show"], ["list", "x"], ["list", "--nonsense"],
                                  ["list", "--bus", "x"], []])  # fmt: skip
def test_usage_errors_as_json_wherever_it_stands(cli, args):
    for with_json in (["--json", *args], [*args, "--json"]):
        result = cli(*with_json, check=2)
        assert json.loads(result.out)["error"]["code"] == "usage"
        assert json.loads(result.out)["error"]["message"]
        assert result.err == ""


def test_too_many_and_too_few_words(cli):
    assert "usage: plateau show RUN" in cli("show", check=2).err
    assert "unexpected argument '2'" in cli("show", "1", "2", check=2).err


def test_hostile_arguments_are_escaped(cli):
    assert cli("\x1b[3mlist", check=2).err.startswith("plateau: unknown verb '\\x1B[3mlist';")


def test_global_options_before_and_after_the_verb(database, script):
    cli = database.write(script().run())
    cli.environment.pop("PLATEAU_DB")
    for args in (["--db", database.path, "list"], ["list", "--db", database.path], ["list", f"--db={database.path}"]):
        assert "ModelX" in cli(*args).out


def test_an_option_wins_over_the_environment(database, script):
    cli = database.write(script().run())
    assert "ModelX" in cli("list", "--db", database.path, env={"PLATEAU_DB": "/nonexistent"}).out


@pytest.mark.parametrize("args", [["list"], ["list", "--json"], ["show", "1"], ["samples", "1"],
                                  ["samples", "1", "--json"], ["plot", "1"], ["--help"]])  # fmt: skip
def test_output_that_cannot_be_written(database, script, args):
    cli = database.write(script().run().samples(10))
    with open("/dev/full", "w") as full:
        process = cli.popen(*args, stdout=full)
        _, error = process.communicate()
    assert process.returncode == 8
    assert "cannot write the output" in error


@pytest.mark.parametrize("args", [["samples", "1"], ["samples", "1", "--json"]])
def test_reader_that_goes_away(database, script, args):
    cli = database.write(script().run().samples(20000))
    process = cli.popen(*args)
    process.stdout.read(100)
    process.stdout.close()
    assert process.wait() == 8
    assert process.stderr.read() == ""
    process.stderr.close()


COMPLETE = """
source "$1"; shift
plateau() { command "$PLATEAU" "$@"; }
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_WORDS[0]=$PLATEAU
_plateau; printf '%s\\n' "${COMPREPLY[@]}"
"""


def complete(cli, *typed):
    script = harness.SOURCE / "packaging" / "completions" / "plateau"
    done = subprocess.run(["bash", "-c", COMPLETE, "bash", script, "plateau", *typed], capture_output=True, text=True,
                          env={**cli.environment, "PLATEAU": str(cli.program)})  # fmt: skip
    assert done.returncode == 0 and done.stderr == "", done
    return done.stdout.split()


def test_completion_of_verbs_and_options(cli):
    assert complete(cli, "sta") == ["start"]
    assert complete(cli, "--json", "s") == ["start", "show", "stop", "samples"]
    assert complete(cli, "samples", "--e") == ["--every"]
    assert complete(cli, "--db", "x", "samples", "--fr") == ["--from"]
    assert complete(cli, "list", "--bus", "s") == ["system", "session"]
    assert complete(cli, "samples", "1", "--every", "") == []


def test_completion_of_runs(database, script):
    cli = database.write(script().run().run())
    assert complete(cli, "show", "") == ["last", "2", "1"]


@pytest.fixture
def ssh(cli, tmp_path):
    """A cli whose ssh is a program that hands the command to a shell, as sshd does."""
    fake = tmp_path / "bin" / "ssh"
    fake.parent.mkdir()
    fake.write_text('#!/bin/sh\n[ "$1" = -- ] || exit 9\n[ "$2" = down ] && exit 255\n'
                    'plateau() { printf "%s\\n" "$@"; exit 3; }\neval "$3"\n')  # fmt: skip
    fake.chmod(0o755)
    cli.environment["PATH"] = f"{fake.parent}:{cli.environment['PATH']}"
    return cli


def test_another_machine_gets_the_same_arguments(ssh):
    result = ssh("-H", "root@rack7", "samples", "it's $HOME `x`", "--every", "a b", "--json", check=3)
    assert result.out.splitlines() == ["samples", "--every=a b", "--json", "--", "it's $HOME `x`"]


def test_another_machine_without_a_name(ssh):
    assert "--host needs" in ssh("list", "--host=", check=2).err


def test_another_machine_that_is_down(ssh):
    result = ssh("list", "--host", "down", "--json", check=5)
    assert result.json["error"]["code"] == "unreachable"
