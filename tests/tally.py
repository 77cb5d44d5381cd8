# SPDX-License-Identifier: MIT
"""usage: tally.py FILE...

Adds up JUnit reports, as meson and pytest write them, and prints `passed failed skipped`. A report that is not there
or cannot be read counts as one failure, for whatever should have written it died.
"""

import re
import sys
import xml.etree.ElementTree as ElementTree

# What a failing test printed is quoted as it came, and XML has no way to hold control characters.
NOT_XML = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def outcomes(report: str) -> tuple[int, int, int]:
    passed = failed = skipped = 0
    try:
        with open(report, "rb") as f:
            root = ElementTree.fromstring(NOT_XML.sub(b"?", f.read()))
    except (OSError, ElementTree.ParseError) as error:
        print(f"{report}: {error}", file=sys.stderr)
        return 0, 1, 0
    for case in root.iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is not None:
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


if __name__ == "__main__":
    print(*map(sum, zip((0, 0, 0), *map(outcomes, sys.argv[1:]))))
