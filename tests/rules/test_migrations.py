# SPDX-License-Identifier: MIT
"""A migration that has been released is never edited: databases that have been through it would lack what it adds."""

import hashlib
from pathlib import Path

import harness

# `sha256sum`'s form. A new migration adds a line; no line changes.
RELEASED = Path(__file__).with_name("migrations.sha256")


def test_no_migration_is_edited():
    released = dict(reversed(line.split()) for line in RELEASED.read_text(encoding="ascii").splitlines())
    now = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in (harness.SOURCE / "schema").glob("*.sql")}
    assert now == released
