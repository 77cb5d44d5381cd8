-- SPDX-License-Identifier: MIT
--
-- Version 2: a user's wish to stop a run outlives the service that was told of it.

PRAGMA user_version = 2;

ALTER TABLE runs ADD COLUMN stop_asked_at_ns INTEGER; -- when a user first asked for its end; NULL: not yet
