CREATE TABLE session (
    id TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL
) STRICT;

-- One row an event. `data` is the payload; where it is large it is NULL and `blob` is its hash.
CREATE TABLE event (
    seq INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    type TEXT NOT NULL,
    v INTEGER NOT NULL,
    ignorable INTEGER NOT NULL,
    data TEXT,
    blob BLOB,
    hash BLOB NOT NULL,
    CHECK ((data IS NULL) <> (blob IS NULL))
) STRICT;

CREATE TRIGGER event_is_never_changed BEFORE UPDATE ON event
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;

CREATE TRIGGER event_is_never_removed BEFORE DELETE ON event
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
