# SPDX-License-Identifier: MIT
"""The tree keeps the rules of the house, and each rule notices when it does not."""

import sys
from pathlib import Path

import pytest

import harness

sys.path.insert(0, str(Path(__file__).resolve().parent))

import house  # noqa: E402  (rules would be what pytest calls the folder)

HEADER = "/* SPDX-License-Identifier: MIT */\n#pragma once\n"
SOURCE = "/* SPDX-License-Identifier: MIT */\n"

GOOD = {
    "lib/meson.build": "x = files('util/text.c', 'engine/ring.c', 'store/store.c')\n",
    "lib/util/text.h": HEADER,
    "lib/util/text.c": SOURCE + '#include "util/text.h"\n',
    "lib/engine/ring.h": HEADER,
    "lib/engine/ring.c": SOURCE + '#include <liburing.h>\n#include "engine/ring.h"\n#include "util/text.h"\n',
    "lib/store/store.h": HEADER,
    "lib/store/store.c": SOURCE + "#include <sqlite3.h>\n",
    "daemon/meson.build": "x = files('main.c', 'manager-bus.c', 'worker/main.c')\n",
    "daemon/main.c": SOURCE + '#include "store/store.h"\nint main(void) {\n        return 0;\n}\n',
    "daemon/manager-bus.c": SOURCE + "#include <systemd/sd-bus.h>\n",
    "daemon/worker/main.c": SOURCE + '#include "engine/ring.h"\n',
}

# What each rule must notice: (file, what is added to it or the new file's text).
BAD = [
    ("rooms_include_only_rooms_before_them", "lib/util/text.c", '#include "engine/ring.h"'),
    ("rooms_include_only_rooms_before_them", "lib/util/text.c", '#include "text.h"'),
    ("rooms_include_only_rooms_before_them", "lib/util/text.c", '#include "../util/text.h"'),
    ("rooms_include_only_rooms_before_them", "lib/attic/old.c", '#include "util/text.h"'),
    ("quoted_includes_exist_from_a_root", "daemon/main.c", '#include "cli/verb.h"'),
    ("quoted_includes_exist_from_a_root", "lib/util/text.c", '#include "util/gone.h"'),
    ("libraries_stay_in_their_homes", "lib/engine/engine.c", "#include <liburing.h>"),
    ("libraries_stay_in_their_homes", "daemon/main.c", "#include <sqlite3.h>"),
    ("libraries_stay_in_their_homes", "daemon/main.c", "#include <systemd/sd-bus.h>"),
    ("worker_knows_neither_database_nor_bus", "daemon/worker/main.c", '#include "store/store.h"'),
    ("worker_knows_neither_database_nor_bus", "daemon/worker/main.c", "#include <systemd/sd-daemon.h>"),
    ("library_neither_logs_nor_exits", "lib/util/text.c", "        exit(1);"),
    ("library_neither_logs_nor_exits", "lib/util/text.c", '        fprintf(stderr, "no");'),
    ("no_unsafe_calls", "daemon/main.c", "        strcpy(a, b);"),
    ("no_tabs_and_no_trailing_blanks", "daemon/main.c", "\tint a;"),
    ("no_tabs_and_no_trailing_blanks", "daemon/main.c", "int a; "),
    ("lines_fit", "daemon/main.c", "/* " + "x" * 120 + " */"),
    ("lines_fit", "tests/run", "#!/bin/sh\n# " + "x" * 120),
    ("files_are_one_thing", "daemon/main.c", "\n" * 800),
    ("functions_are_one_thing", "daemon/main.c", "int long_one(void) {\n" + "        a++;\n" * 71 + "}"),
    ("licence_is_named", "schema/0001.sql", "CREATE TABLE a (b);"),
    ("headers_are_guarded", "lib/util/new.h", "int a(void);"),
    ("nothing_is_left_for_later", "daemon/main.c", "/* TO" + "DO: later */"),
    ("every_source_is_built", "daemon/forgotten.c", "int a;"),
]


@pytest.fixture
def tree(tmp_path):
    for name, text in GOOD.items():
        add(tmp_path, name, text)
    return tmp_path


def add(root: Path, name: str, text: str):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a", encoding="utf-8") as f:
        f.write(text)


@pytest.mark.parametrize("name", house.RULES)
def test_tree_keeps_rule(name):
    found = list(house.RULES[name](harness.SOURCE))
    assert not found, "\n".join(["", *found])


def test_good_tree_breaks_no_rule(tree):
    assert {name: found for name, found in house.violations(tree).items() if found} == {}


@pytest.mark.parametrize("name, file, text", BAD)
def test_rule_notices(tree, name, file, text):
    add(tree, file, text + "\n")
    found = list(house.RULES[name](tree))
    assert len(found) == 1 and found[0].startswith(file), found


def test_every_rule_is_tried():
    assert {name for name, _, _ in BAD} == set(house.RULES)
