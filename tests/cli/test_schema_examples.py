# SPDX-License-Identifier: MIT
"""The SQL in docs/schema.md does what the sentence before it says."""

import contextlib
import re
import sqlite3

import harness
import pytest


def examples():
    text = (harness.SOURCE / "docs" / "schema.md").read_text()
    text = text[text.index("## Examples") :]
    return [block for block in re.findall(r"(?:^    .*\n)+", text, re.MULTILINE) if "SELECT" in block]


@pytest.fixture
def ask(database, script):
    """A drive's runs: one that wrote, read and wrote again, slower, and one that only read; the first is the newer."""

    def query(sql):
        with contextlib.closing(sqlite3.connect(f"file:{database.path}?mode=ro", uri=True)) as connection:
            return connection.execute(sql.replace("S3Z8NB0K", "S1")).fetchall()

    s = script().run(phases=("look",)).state("running").phase(0, "running").samples(60, writes=0, reads=500)
    s.phase(0, "done").state("done")
    s.run(phases=("burn", "read", "again")).state("running").phase(0, "running").samples(60, writes=8000)
    s.samples(60, writes=4000).phase(0, "done").phase(1, "running").samples(60, phase=1, writes=0, reads=9000)
    s.phase(1, "done").phase(2, "running").samples(59, phase=2, writes=3000).phase(2, "done").state("done")
    database.write(s)
    return query


def test_there_are_two_examples():
    assert len(examples()) == 2


def test_the_slowest_minute(ask):
    assert ask(examples()[0]) == [(2, 3, 3000)]


def test_what_is_left_of_the_first_writing_phase(ask):
    assert ask(examples()[1]) == [(2, 0.5)]
