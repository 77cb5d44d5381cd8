-- SPDX-License-Identifier: MIT
--
-- Version 8: what a run has written can be read back and verified, also after interruptions.

PRAGMA user_version = 8;

-- What is known of the writes of each ring thread's share of a phase whose contents are to be verified, besides its row
-- in positions. No row: as with a ceiling of 67108864, and nothing flushed.
CREATE TABLE histories (
        run INTEGER NOT NULL,
        phase INTEGER NOT NULL,
        share INTEGER NOT NULL CHECK (share >= 0), -- number of the ring thread, from 0
        ceiling_index INTEGER NOT NULL,       -- no I/O from this index on has been submitted, ever
        reach_index INTEGER NOT NULL,         -- those up to it may have been submitted by a process that died
        flushed_index INTEGER NOT NULL,       -- what was written below has been flushed from the device's cache
        PRIMARY KEY (run, phase, share),
        FOREIGN KEY (run, phase) REFERENCES phases (run, phase) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Writes of which nobody knows whether they took effect: those that failed, or were outstanding when a process died or
-- the power was cut. Indices [from_index, to_index) of a share.
CREATE TABLE maybes (
        run INTEGER NOT NULL,
        phase INTEGER NOT NULL,
        share INTEGER NOT NULL,
        from_index INTEGER NOT NULL,
        to_index INTEGER NOT NULL CHECK (to_index > from_index),
        PRIMARY KEY (run, phase, share, from_index),
        FOREIGN KEY (run, phase, share) REFERENCES histories (run, phase, share) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- What came of holding what a phase read against what the run had written. Blocks are the smallest that the run wrote.
CREATE TABLE verifications (
        run INTEGER NOT NULL,
        phase INTEGER NOT NULL,
        asked_bytes INTEGER NOT NULL CHECK (asked_bytes >= 0), -- of the device, that the phase was to read
        checked_bytes INTEGER NOT NULL CHECK (checked_bytes >= 0), -- held against what was to be there
        corrupt INTEGER NOT NULL CHECK (corrupt >= 0),     -- blocks: not what any write of the run put there
        misplaced INTEGER NOT NULL CHECK (misplaced >= 0), -- what the run wrote somewhere else
        torn INTEGER NOT NULL CHECK (torn >= 0),           -- sectors of an older write among those of the newest
        lost INTEGER NOT NULL CHECK (lost >= 0),           -- an older write, or what an earlier run had left
        PRIMARY KEY (run, phase),
        FOREIGN KEY (run, phase) REFERENCES phases (run, phase) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- The first of them, each as it was found; blocks side by side are one.
CREATE TABLE findings (
        finding INTEGER PRIMARY KEY,          -- in the order in which they were recorded
        run INTEGER NOT NULL,
        phase INTEGER NOT NULL,
        kind TEXT NOT NULL CHECK (kind IN ('corrupt', 'misplaced', 'torn', 'lost')),
        offset_bytes INTEGER NOT NULL CHECK (offset_bytes >= 0), -- on the device
        length_bytes INTEGER NOT NULL CHECK (length_bytes > 0),  -- from the first wrong sector to the last
        detail TEXT NOT NULL,                 -- what was expected and what was found, for people
        FOREIGN KEY (run, phase) REFERENCES phases (run, phase) ON DELETE CASCADE
) STRICT;

CREATE INDEX findings_of_run ON findings (run, phase, finding);

CREATE VIEW verification_summary AS
SELECT run, phase, asked_bytes, checked_bytes, corrupt, misplaced, torn, lost,
       corrupt + misplaced + torn + lost AS errors
FROM verifications;
