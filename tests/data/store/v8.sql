-- A store as version 8 of the schema left it: what `list` says of a job's wait is in its JSON. That of
-- jobs 3 to 6 is damaged, job 7 is set aside, and the state of job 8 has a time that is no pause's. Never made anew: it shows that later programs still read it.
PRAGMA application_id = 1785684589; -- "jobm"
PRAGMA user_version = 8;
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
INSERT INTO jobs VALUES(1,'train','ada','v4-32','us-central2-b','','QUEUED','QUEUEING',0,1767225600000,'','{"team":"vision"}',1,'run',1,1767225600000,1,1767225600000,0,'{"state":"QUEUED"}',NULL,NULL,'{"failure":0,"infra":0,"preemption":0,"streak":0}',NULL,'{"search":{"since":"2026-01-01T00:00:00.123Z","tries":31}}',NULL);
INSERT INTO jobs VALUES(2,'train','ada','v4-32','us-central2-b','','BACKOFF','QUEUEING',0,1767225600000,'','{"team":"vision"}',1,'run',1,1767225600000,1,1767225600000,0,'{"error":{"code":"RESOURCE_EXHAUSTED","message":"there is no more capacity","reason":"stockout"},"for_maintenance":true,"state":"BACKOFF","until":"2026-01-01T01:00:00.789Z"}',NULL,NULL,'{"failure":0,"infra":0,"preemption":0,"streak":0}',NULL,'{}',NULL);
INSERT INTO jobs VALUES(3,'train','ada','v4-32','us-central2-b','','BACKOFF','QUEUEING',0,1767225600000,'','{"team":"vision"}',1,'run',1,1767225600000,1,1767225600000,0,'{"state":"BACKOFF","until"',NULL,NULL,'{"failure":0,"infra":0,"preemption":0,"streak":0}',NULL,'{"search":{"since"',NULL);
INSERT INTO jobs VALUES(4,'train','ada','v4-32','us-central2-b','','BACKOFF','QUEUEING',0,1767225600000,'','{"team":"vision"}',1,'run',1,1767225600000,1,1767225600000,0,'{"state":"BACKOFF","until":7,"error":"none"}',NULL,NULL,'{"failure":0,"infra":0,"preemption":0,"streak":0}',NULL,'{"search":{"since":3,"tries":"many"}}',NULL);
INSERT INTO jobs VALUES(5,'train','ada','v4-32','us-central2-b','','BACKOFF','QUEUEING',0,1767225600000,'','{"team":"vision"}',1,'run',1,1767225600000,1,1767225600000,0,'{"state":"BACKOFF","until":"soon"}',NULL,NULL,'{"failure":0,"infra":0,"preemption":0,"streak":0}',NULL,'{"search":{"since":"soon","tries":2}}',NULL);
INSERT INTO jobs VALUES(6,'train','ada','v4-32','us-central2-b','','BACKOFF','QUEUEING',0,1767225600000,'','{"team":"vision"}',1,'run',1,1767225600000,1,1767225600000,0,'7',NULL,NULL,'{"failure":0,"infra":0,"preemption":0,"streak":0}',NULL,'7',NULL);
INSERT INTO jobs VALUES(7,'train','ada','v4-32','us-central2-b','','BACKOFF','QUEUEING',0,1767225600000,'','{"team":"vision"}',1,'run',1,1767225600000,1,1767225600000,0,'{"state":"BACKOFF","until":"2026-01-01T01:00:00.789Z"}',NULL,NULL,'{"failure":0,"infra":0,"preemption":0,"streak":0}',NULL,'{}','it contradicts itself');
INSERT INTO jobs VALUES(8,'train','ada','v4-32','us-central2-b','','QUEUED','QUEUEING',0,1767225600000,'','{"team":"vision"}',1,'run',1,1767225600000,1,1767225600000,0,'{"state":"QUEUED","until":"2026-01-01T01:00:00.789Z"}',NULL,NULL,'{"failure":0,"infra":0,"preemption":0,"streak":0}',NULL,'{}',NULL);
CREATE TABLE job_files (
  job INTEGER PRIMARY KEY,
  spec_json TEXT NOT NULL,
  source TEXT NOT NULL
) STRICT;
INSERT INTO job_files VALUES(1,'{"job":{"name":"train"},"tpu":{"accelerator":"v4-32","zone":"us-central2-b"},"command":{"cmd":"python train.py"}}',replace('command: {cmd: python train.py}\n','\n',char(10)));
INSERT INTO job_files VALUES(2,'{"job":{"name":"train"},"tpu":{"accelerator":"v4-32","zone":"us-central2-b"},"command":{"cmd":"python train.py"}}',replace('command: {cmd: python train.py}\n','\n',char(10)));
INSERT INTO job_files VALUES(3,'{"job":{"name":"train"},"tpu":{"accelerator":"v4-32","zone":"us-central2-b"},"command":{"cmd":"python train.py"}}',replace('command: {cmd: python train.py}\n','\n',char(10)));
INSERT INTO job_files VALUES(4,'{"job":{"name":"train"},"tpu":{"accelerator":"v4-32","zone":"us-central2-b"},"command":{"cmd":"python train.py"}}',replace('command: {cmd: python train.py}\n','\n',char(10)));
INSERT INTO job_files VALUES(5,'{"job":{"name":"train"},"tpu":{"accelerator":"v4-32","zone":"us-central2-b"},"command":{"cmd":"python train.py"}}',replace('command: {cmd: python train.py}\n','\n',char(10)));
INSERT INTO job_files VALUES(6,'{"job":{"name":"train"},"tpu":{"accelerator":"v4-32","zone":"us-central2-b"},"command":{"cmd":"python train.py"}}',replace('command: {cmd: python train.py}\n','\n',char(10)));
INSERT INTO job_files VALUES(7,'{"job":{"name":"train"},"tpu":{"accelerator":"v4-32","zone":"us-central2-b"},"command":{"cmd":"python train.py"}}',replace('command: {cmd: python train.py}\n','\n',char(10)));
INSERT INTO job_files VALUES(8,'{"job":{"name":"train"},"tpu":{"accelerator":"v4-32","zone":"us-central2-b"},"command":{"cmd":"python train.py"}}',replace('command: {cmd: python train.py}\n','\n',char(10)));
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
INSERT INTO sqlite_sequence VALUES('jobs',8);
INSERT INTO sqlite_sequence VALUES('events',1);
CREATE INDEX jobs_active ON jobs (id) WHERE active = 1;
CREATE INDEX jobs_name ON jobs (name);
CREATE INDEX events_job ON events (job, number);
CREATE INDEX deliveries_job ON deliveries (job, number);
CREATE INDEX deliveries_waiting ON deliveries (number) WHERE next_try IS NOT NULL;
CREATE TABLE queues (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  file TEXT NOT NULL UNIQUE,
  read_at INTEGER NOT NULL DEFAULT 0,
  error TEXT NOT NULL DEFAULT '',
  fingerprint TEXT NOT NULL DEFAULT '',
  notes_json TEXT NOT NULL DEFAULT '{}',
  change INTEGER NOT NULL DEFAULT 0,
  erased INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE tasks (
  queue INTEGER NOT NULL,
  id TEXT NOT NULL,
  version INTEGER NOT NULL,
  change INTEGER NOT NULL,
  task_json TEXT NOT NULL,
  UNIQUE (queue, id)
) STRICT;
CREATE INDEX tasks_change ON tasks (queue, change);

CREATE TABLE task_runs (
  queue INTEGER NOT NULL,
  task TEXT NOT NULL,
  number INTEGER NOT NULL,
  run_json TEXT NOT NULL,
  PRIMARY KEY (queue, task, number)
) STRICT, WITHOUT ROWID;
COMMIT;
