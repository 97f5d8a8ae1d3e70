-- A store as version 7 of the schema left it: without queues of tasks. Never made anew: it shows that
-- later programs still read it.
PRAGMA application_id = 1785684589; -- "jobm"
PRAGMA user_version = 7;
BEGIN TRANSACTION;
CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES('store_id','0a1b2c3d4e5f');
CREATE TABLE jobs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  user TEXT NOT NULL,
  accelerator TEXT NOT NULL,
  zone TEXT NOT NULL,
  host0 TEXT NOT NULL,
  state TEXT NOT NULL,
  familiar TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  since INTEGER NOT NULL,
  why TEXT NOT NULL,
  labels_json TEXT NOT NULL,
  active INTEGER NOT NULL,
  wish TEXT NOT NULL,
  wish_new INTEGER NOT NULL,
  wake_at INTEGER,
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  setup_epoch INTEGER NOT NULL,
  state_json TEXT NOT NULL,
  slice_json TEXT,
  stage_json TEXT,
  spent_json TEXT NOT NULL
, abandoned_json TEXT, attempt_json TEXT NOT NULL DEFAULT '{}', set_aside TEXT) STRICT;
INSERT INTO jobs VALUES(1,'train','ada','v4-32','us-central2-b','','QUEUED','QUEUEING',0,1767225600000,'','{"team":"vision"}',1,'run',1,1767225600000,1,1767225600000,0,'{"state":"QUEUED"}',NULL,NULL,'{"failure":0,"infra":0,"preemption":0,"streak":0}',NULL,'{}',NULL);
CREATE TABLE job_files (
  job INTEGER PRIMARY KEY,
  spec_json TEXT NOT NULL,
  source TEXT NOT NULL
) STRICT;
INSERT INTO job_files VALUES(1,'{"job":{"name":"train"},"tpu":{"accelerator":"v4-32","zone":"us-central2-b"},"command":{"cmd":"python train.py"}}',replace('command: {cmd: python train.py}\n','\n',char(10)));
CREATE TABLE attempts (
  job INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  slice TEXT NOT NULL,
  zone TEXT NOT NULL,
  reason TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  outcome TEXT NOT NULL,
  PRIMARY KEY (job, attempt)
) STRICT, WITHOUT ROWID;
CREATE TABLE exits (
  number INTEGER PRIMARY KEY,
  job INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  stage TEXT NOT NULL,
  host INTEGER NOT NULL,
  exit_code INTEGER NOT NULL,
  error TEXT NOT NULL,
  at INTEGER NOT NULL,
  UNIQUE (job, attempt, stage, host)
) STRICT;
CREATE TABLE events (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  job INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  kind TEXT NOT NULL,
  subject TEXT NOT NULL,
  text TEXT NOT NULL
) STRICT;
INSERT INTO events VALUES(1,1767225600000,1,0,'state','QUEUED','created by ada');
CREATE TABLE host_keys (
  identity TEXT PRIMARY KEY,
  key TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE cache (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE lease (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  holder TEXT NOT NULL,
  token INTEGER NOT NULL,
  expires INTEGER NOT NULL
) STRICT;
INSERT INTO lease VALUES(1,'',0,0);
CREATE TABLE IF NOT EXISTS "deliveries" (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  job INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  event_id TEXT NOT NULL,
  event TEXT NOT NULL,
  hook INTEGER NOT NULL,
  target TEXT NOT NULL,
  body TEXT NOT NULL,
  at INTEGER NOT NULL,
  tries INTEGER NOT NULL,
  next_try INTEGER,
  error TEXT NOT NULL
) STRICT;
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('jobs',1);
INSERT INTO sqlite_sequence VALUES('events',1);
CREATE INDEX jobs_active ON jobs (id) WHERE active = 1;
CREATE INDEX jobs_name ON jobs (name);
CREATE INDEX events_job ON events (job, number);
CREATE INDEX deliveries_job ON deliveries (job, number);
CREATE INDEX deliveries_waiting ON deliveries (number) WHERE next_try IS NOT NULL;
COMMIT;
