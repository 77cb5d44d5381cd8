-- SPDX-License-Identifier: MIT
--
-- Version 10: an interrupted run that is not taken up by itself says what it waits for.

PRAGMA user_version = 10;

ALTER TABLE runs ADD COLUMN waits_for TEXT; -- for people, of a user that has to do something; NULL: for nothing
