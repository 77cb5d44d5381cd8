# SPDX-License-Identifier: MIT
"""tests/run counts every outcome, and a suite that died before it could report counts as failed."""

import subprocess
import sys

import pytest

import harness

CASE = '<testcase name="{}">{}</testcase>'


def tally(*reports):
    command = [sys.executable, harness.SOURCE / "tests" / "tally.py", *reports]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return tuple(map(int, done.stdout.split()))


def report(path, *outcomes, extra=""):
    cases = "".join(CASE.format(i, outcome and f"<{outcome}/>") for i, outcome in enumerate(outcomes))
    path.write_text(f"<testsuites><testsuite>{cases}{extra}</testsuite></testsuites>")
    return path


@pytest.mark.parametrize(
    "outcomes, counts",
    [
        ([], (0, 0, 0)),
        (["", "", ""], (3, 0, 0)),
        (["", "failure", "error", "skipped"], (1, 2, 1)),
    ],
)
def test_each_case_counts_once(tmp_path, outcomes, counts):
    assert tally(report(tmp_path / "a.xml", *outcomes)) == counts


def test_reports_are_added_up(tmp_path):
    assert tally(report(tmp_path / "a.xml", "", "failure"), report(tmp_path / "b.xml", "", "skipped")) == (2, 1, 1)


def test_control_characters_of_a_failing_test_do_not_hide_it(tmp_path):
    assert tally(report(tmp_path / "a.xml", "failure", extra="<system-out>\x1b[1m\x00</system-out>")) == (0, 1, 0)


@pytest.mark.parametrize("text", [None, "", "<testsuites>", "no xml"])
def test_report_that_is_not_there_or_cut_short_is_a_failure(tmp_path, text):
    path = tmp_path / "a.xml"
    if text is not None:
        path.write_text(text)
    assert tally(path) == (0, 1, 0)
