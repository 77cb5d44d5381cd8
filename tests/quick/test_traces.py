# SPDX-License-Identifier: MIT
"""The analysis against recordings of real drives, where a folder of them lies beside this tree."""

import os
import subprocess
import sys
from pathlib import Path

import harness
import needs
import pytest

FOLDER = Path(os.environ.get("PLATEAU_TRACES", harness.SOURCE.parent / "shared" / "traces"))


def test_every_recording_is_judged_as_a_person_judged_it():
    needs.need_build()
    if not (FOLDER / "EXPECTED.tsv").exists():
        pytest.skip(f"there are no recordings in {FOLDER} (PLATEAU_TRACES)")
    program = harness.BUILD / "cli" / "plateau"
    command = [sys.executable, harness.SOURCE / "tests" / "traces", "--plateau", program, FOLDER]
    process = subprocess.run(command, capture_output=True, text=True)
    assert process.returncode == 0, process.stdout + process.stderr


@pytest.fixture
def folder(tmp_path):
    """A recording that falls to a fifth after 200 s, and what is to be expected of it."""
    lines = [f"{1000 * t}, {10000 if t <= 200 else 2000}, 1, 4096\n" for t in range(1, 3601)]
    (tmp_path / "fall_iops.1.log").write_text("".join(lines))

    def expect(**changes):
        row = {"file": "fall_iops.1.log", "direction": "write", "capacity_gib": "1", "verdict": "cliff",
               "ratio_min": "0.19", "ratio_max": "0.21", "cliff_s_min": "190", "cliff_s_max": "210", "steady": "yes",
               "steady_since_s_max": "300", "steady_level_min": "1990", "steady_level_max": "2010", "note": "x"}
        row.update(changes)
        (tmp_path / "EXPECTED.tsv").write_text("\t".join(row) + "\n" + "\t".join(row.values()) + "\n")
        return subprocess.run([sys.executable, harness.SOURCE / "tests" / "traces", "--plateau",
                               harness.BUILD / "cli" / "plateau", tmp_path], capture_output=True, text=True)

    needs.need_build()
    return expect


def test_agreement(folder):
    process = folder()
    assert process.stdout == "ok       fall_iops.1.log\n1 ok, 0 differ\n" and process.returncode == 0
    assert folder(verdict="any", steady="any", ratio_min="-", ratio_max="-").returncode == 0


@pytest.mark.parametrize("column,value,says", [
    ("direction", "read", "direction is write"), ("verdict", "severe", "verdict is cliff, expected severe"),
    ("ratio_max", "0.195", "ratio is 0.2"), ("ratio_min", "0.205", "ratio is 0.2"),
    ("cliff_s_min", "205", "cliff_s is 200"), ("cliff_s_max", "195", "cliff_s is 200"),
    ("steady", "no", "steady is yes"), ("steady_since_s_max", "100", "steady since_s is 200"),
    ("steady_level_min", "2005", "steady level is 2000"),
    ("steady_level_max", "1995", "steady level is 2000"), ("file", "none_iops.log", "none_iops.log"),
])  # fmt: skip
def test_difference(folder, column, value, says):
    process = folder(**{column: value})
    assert process.returncode == 1
    assert process.stdout.startswith("differs") and says in process.stdout
    assert process.stdout.endswith("0 ok, 1 differ\n")
