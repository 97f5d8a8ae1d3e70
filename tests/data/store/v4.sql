-- A store as version 4 of the schema left it, of a job with every key of a job file. Never made anew:
-- it shows that later programs still read it.
PRAGMA application_id = 1785684589; -- "jobm"
BEGIN TRANSACTION;
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
INSERT INTO "attempts" VALUES(1,2,'s','z','preempted',1767225600000,NULL,'');
CREATE TABLE cache (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE events (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  job INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  kind TEXT NOT NULL,
  subject TEXT NOT NULL,
  text TEXT NOT NULL
) STRICT;
INSERT INTO "events" VALUES(1,1767225600000,1,0,'state','QUEUED','created by ada');
INSERT INTO "events" VALUES(2,1767225600000,1,2,'state','SETUP','said');
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
INSERT INTO "exits" VALUES(1,1,2,'run',1,7,'',1767225600000);
CREATE TABLE host_keys (
  identity TEXT PRIMARY KEY,
  key TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "host_keys" VALUES('node-1/0','ssh-ed25519 AAAA');
CREATE TABLE job_files (
  job INTEGER PRIMARY KEY,
  spec_json TEXT NOT NULL,
  source TEXT NOT NULL
) STRICT;
INSERT INTO "job_files" VALUES(1,'{"cloud":{"endpoint":"https://tpu.googleapis.com","token_command":"","token_file":"/home/ada/token"},"command":{"cmd":"python train.py","env":{"A":""},"grace_ms":120000,"on_notice":{"grace_ms":10000,"signal":"USR1"},"secrets":[{"file":"","name":"KEY"},{"file":"/home/ada/.hf","name":"HF"}],"workdir":"~/code","workers":"0"},"environment":{"EMPTY":"","WAIT_ms":"5"},"hooks":[{"command":"./notify.sh","event":"started","folder":"/home/ada/jobs","kind":"command","mail_to":[],"timeout_ms":60000,"token":{"file":"","name":""},"url":"","url_from":{"file":"","name":""}},{"command":"","event":"failed","folder":"","kind":"webhook","mail_to":[],"timeout_ms":5000,"token":{"file":"/home/ada/token","name":""},"url":"https://example.com/a","url_from":{"file":"","name":""}},{"command":"","event":"failed","folder":"","kind":"webhook","mail_to":[],"timeout_ms":60000,"token":{"file":"","name":""},"url":"","url_from":{"file":"","name":"HOOK_URL"}},{"command":"","event":"failed","folder":"","kind":"mail","mail_to":["a@example.com","b@example.com"],"timeout_ms":60000,"token":{"file":"","name":""},"url":"","url_from":{"file":"","name":""}}],"labels":{"note":"","team":"vision"},"name":"train","retries":{"backoff_cap_ms":1200000,"backoff_ms":1200000,"failure":3,"infra":null,"preemption":null},"setup":[{"hosts":"0-1,3","name":"install","required":false,"run":"pip install jax\n","timeout_ms":1500},{"hosts":"all","name":"step-2","required":true,"run":"true"}],"smtp":{"from":"jobman@example.com","host":"smtp.example.com","password":{"file":"","name":"SMTP_PASSWORD"},"port":465,"tls":"tls","user":"u"},"ssh":{"port":0,"private_key":"/home/ada/.ssh/id_ed25519","user":"ada"},"tpu":{"accelerator":"v4-32","allocation_mode":"queued-resources","external_ips":false,"labels":{"k":"v"},"metadata":{"m_ms":""},"name":"big","network":"net","num_slices":2,"pricing":"reserved","project":"lab","reservation":"mine","service_account":"","startup_script":"#!/bin/sh\ntrue\n","subnetwork":"","tags":["a","b"],"valid_for_ms":5400000,"version":"tpu-ubuntu2204-base","zone":"us-central2-b"},"watchdog":{"bad_output":[{"do":"fail","match":"nan"},{"do":"restart","match":"x"}],"no_output_ms":1800000,"on_max_duration":"fail","on_no_output":"new_slice"},"worker_num":4}','command: {}
');
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
, abandoned_json TEXT, attempt_json TEXT NOT NULL DEFAULT '{}') STRICT;
INSERT INTO "jobs" VALUES(1,'train','ada','2 x v4-32','us-central2-b','203.0.113.7','SETUP','RUNNING',2,1767225700001,'step install runs on 3 hosts','{"note":"","team":"vision"}',1,'reboot',1,1767225800003,2,1767225600000,4,'{"state":"SETUP","step":3}','{"absences":0,"cloud_state":"READY","delete_requested_at":"2026-01-01T00:00:00.124Z","generation":2,"hosts":[{"external":"203.0.113.7","internal":"10.0.0.2"},{"internal":"10.0.0.3"}],"last_evidence_at":"2026-01-01T00:00:00.125Z","mode":"queued-resources","name":"train-000001-a2","nodes":[{"hosts":2,"uid":"8123456789"}],"notice":{"imminent":false,"kind":"maintenance","text":"SCHEDULED, PENDING"},"phase":"created","project":"lab","ready":true,"requested_at":"2026-01-01T00:00:00.123Z","requests_sent":2,"unshown":["train-000001-a2"],"zone":"us-central2-b"}','{"alarm":{"action":"new_slice","host":1,"rule":"bad_output","text":"host 1 wrote a line that matches \"x\": x"},"first_failed":1,"generation":2,"hosts":[{"host":0,"notice":{"imminent":true,"kind":"preemption","text":"TRUE"},"phase":"running","scanned":4711},{"exit_code":7,"host":1,"phase":"exited"},{"error":{"code":"UNAVAILABLE","context":["connecting to host 2","running setup-3-install"],"hint":"wait","message":"connection refused","reason":"host_refused","retry_after":30},"host":2,"phase":"lost"}],"name":"setup-3-install","notice":{"imminent":true,"kind":"preemption","text":"TRUE"},"noticed_at":"2026-01-01T00:01:42.003Z","started_at":"2026-01-01T00:01:41.002Z","step":3,"stop":"alarm"}','{"failure":2,"infra":3,"preemption":1,"streak":4,"waited_until":"2026-01-01T00:01:39.000Z"}','[{"mode":"queued-resources","name":"train-000001-a1","project":"lab","until":"2026-01-01T00:05:00.004Z","zone":"us-central2-b"}]','{"restart":{"cause":"watchdog","detail":"no_output: none"}}');
CREATE TABLE lease (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  holder TEXT NOT NULL,
  token INTEGER NOT NULL,
  expires INTEGER NOT NULL
) STRICT;
INSERT INTO "lease" VALUES(1,'',0,0);
CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "meta" VALUES('store_id','b4a82273c06e');
CREATE TABLE notices (
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
INSERT INTO "notices" VALUES(1,1,2,'1-1','failed',3,'mail','{}',1767225600000,1,1767225600000,'refused');
CREATE INDEX jobs_active ON jobs (id) WHERE active = 1;
CREATE INDEX jobs_name ON jobs (name);
CREATE INDEX events_job ON events (job, number);
CREATE INDEX notices_job ON notices (job, number);
CREATE INDEX notices_waiting ON notices (number) WHERE next_try IS NOT NULL;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('jobs',1);
INSERT INTO "sqlite_sequence" VALUES('events',2);
INSERT INTO "sqlite_sequence" VALUES('notices',1);
COMMIT;
PRAGMA user_version = 4;
