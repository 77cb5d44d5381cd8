-- SPDX-License-Identifier: MIT
--
-- Version 9: what the order of a phase's I/O depends on, so that a run goes on in its own order or not at all.

PRAGMA user_version = 9;

ALTER TABLE phases ADD COLUMN order_hash INTEGER NOT NULL DEFAULT 0; -- of its plan; 0: not known, of an earlier version
