# SPDX-License-Identifier: MIT
"""docs/faults.md names tests that exist."""

import re

from harness import SOURCE

NAMED = re.compile(r"`(tests/[\w/.-]+)::(\w+)`")


def exists(path: str, name: str) -> bool:
    file = SOURCE / path
    pattern = rf"^def {name}\(" if path.endswith(".py") else rf"^START_TEST\({name}\)"
    return file.exists() and re.search(pattern, file.read_text(), re.MULTILINE) is not None


def test_every_test_that_the_table_names_exists():
    named = NAMED.findall((SOURCE / "docs" / "faults.md").read_text())
    assert len(named) > 40
    assert [f"{path}::{name}" for path, name in named if not exists(path, name)] == []


def test_every_fault_has_a_test():
    rows = [line for line in (SOURCE / "docs" / "faults.md").read_text().splitlines() if line.startswith("| ")]
    rows = [line for line in rows if not line.startswith("| fault |")]
    assert [line for line in rows if not NAMED.search(line)] == []


def test_a_test_that_is_not_there_is_noticed():
    assert exists("tests/rules/test_faults_table.py", "test_every_fault_has_a_test")
    assert not exists("tests/rules/test_faults_table.py", "test_every_fault")
    assert not exists("tests/rules/gone.py", "test_every_fault_has_a_test")
