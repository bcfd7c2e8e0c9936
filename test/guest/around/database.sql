-- What test_around.py has sqlite3 do: 3 MB in a table with an index, in transactions, of
-- which some are rolled back; then changes and deletions in no order.
PRAGMA synchronous = normal;
CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT, text TEXT);
CREATE INDEX by_name ON item (name);
BEGIN;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
INSERT INTO item SELECT i, printf('%05d', i * 7919 % 6007), printf('%0800d', i) FROM n;
COMMIT;
BEGIN;
UPDATE item SET text = 'lost' WHERE id % 3 = 0;
ROLLBACK;
BEGIN;
UPDATE item SET text = printf('%0500d', id * 3) WHERE id * 7919 % 6007 % 5 = 1;
DELETE FROM item WHERE id * 104729 % 6007 % 7 = 2;
COMMIT;
SELECT count(*), sum(length(text)), max(name) FROM item;
SELECT sum(id) FROM item WHERE name BETWEEN '01000' AND '02000';
INSERT INTO item SELECT id + 10000, name || 'b', text FROM item WHERE id % 2 = 1;
PRAGMA wal_checkpoint(TRUNCATE);
VACUUM;
SELECT count(*), sum(length(text)) FROM item;
