-- A store as version 3 of the schema left it, one job in each kind of state. Never made anew: it
-- shows that later programs still read it.
PRAGMA application_id = 1785684589; -- "jobm"
BEGIN TRANSACTION;
CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES('store_id','f5d33d77c34a');
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
  restart_reason TEXT NOT NULL,
  setup_epoch INTEGER NOT NULL,
  state_json TEXT NOT NULL,
  slice_json TEXT,
  stage_json TEXT,
  spent_json TEXT NOT NULL
, given_up_json TEXT) STRICT;
INSERT INTO jobs VALUES(1,'queued','ada','v4-32','us-central2-b','203.0.113.7','QUEUED','QUEUEING',2,1767225700001,'step install runs on 3 hosts','{"team":"vision"}',1,'reboot',0,1767225800003,2,1767225600000,'preempted',4,'{"state":"QUEUED"}','{"absences":0,"asked_at":"2026-01-01T00:00:00.123Z","cloud_state":"READY","generation":2,"hosts":[{"external":"203.0.113.7","internal":"10.0.0.2"},{"internal":"10.0.0.3"}],"mode":"queued-resources","name":"queued-000001-a2","nodes":[{"hosts":2,"uid":"8123456789"}],"notice":{"imminent":false,"kind":"maintenance","text":"SCHEDULED, PENDING"},"phase":"created","project":"lab","ready":true,"unshown":["queued-000001-a2"],"zone":"us-central2-b"}','{"alarm":{"action":"new_slice","host":1,"rule":"bad_output","text":"host 1 wrote a line that matches \"x\": x"},"culprit":1,"generation":2,"hosts":[{"host":0,"notice":{"imminent":true,"kind":"preemption","text":"TRUE"},"phase":"running","scanned":4711},{"exit_code":7,"host":1,"phase":"exited"},{"error":{"code":"UNAVAILABLE","context":["connecting to host 2","running setup-3-install"],"hint":"wait","message":"connection refused","reason":"host_refused","retry_after":30},"host":2,"phase":"lost"}],"lost":{"code":"ABORTED","message":"lost a node"},"moved":true,"name":"setup-3-install","notice":{"imminent":true,"kind":"preemption","text":"TRUE"},"noticed_at":"2026-01-01T00:01:42.003Z","number":3,"started_at":"2026-01-01T00:01:41.002Z","stopping":true,"timed_out":false}','{"failure":2,"infra":3,"preemption":1,"streak":4}','[{"mode":"queued-resources","name":"queued-000001-a1","project":"lab","until":"2026-01-01T00:05:00.004Z","zone":"us-central2-b"}]');
INSERT INTO jobs VALUES(2,'running','ada','v4-32','us-central2-b','203.0.113.7','RUNNING','RUNNING',2,1767225700001,'step install runs on 3 hosts','{"team":"vision"}',1,'reboot',0,1767225800003,2,1767225600000,'preempted',4,'{"state":"RUNNING"}','{"absences":0,"asked_at":"2026-01-01T00:00:00.123Z","cloud_state":"READY","generation":2,"hosts":[{"external":"203.0.113.7","internal":"10.0.0.2"},{"internal":"10.0.0.3"}],"mode":"queued-resources","name":"running-000001-a2","nodes":[{"hosts":2,"uid":"8123456789"}],"notice":{"imminent":false,"kind":"maintenance","text":"SCHEDULED, PENDING"},"phase":"created","project":"lab","ready":true,"unshown":["running-000001-a2"],"zone":"us-central2-b"}','{"alarm":{"action":"new_slice","host":1,"rule":"bad_output","text":"host 1 wrote a line that matches \"x\": x"},"culprit":1,"generation":2,"hosts":[{"host":0,"notice":{"imminent":true,"kind":"preemption","text":"TRUE"},"phase":"running","scanned":4711},{"exit_code":7,"host":1,"phase":"exited"},{"error":{"code":"UNAVAILABLE","context":["connecting to host 2","running setup-3-install"],"hint":"wait","message":"connection refused","reason":"host_refused","retry_after":30},"host":2,"phase":"lost"}],"lost":{"code":"ABORTED","message":"lost a node"},"moved":true,"name":"setup-3-install","notice":{"imminent":true,"kind":"preemption","text":"TRUE"},"noticed_at":"2026-01-01T00:01:42.003Z","number":3,"started_at":"2026-01-01T00:01:41.002Z","stopping":true,"timed_out":false}','{"failure":2,"infra":3,"preemption":1,"streak":4}','[{"mode":"queued-resources","name":"running-000001-a1","project":"lab","until":"2026-01-01T00:05:00.004Z","zone":"us-central2-b"}]');
INSERT INTO jobs VALUES(3,'backoff','ada','v4-32','us-central2-b','203.0.113.7','BACKOFF','QUEUEING',2,1767225700001,'step install runs on 3 hosts','{"team":"vision"}',1,'reboot',0,1767225800003,2,1767225600000,'preempted',4,'{"error":{"code":"RESOURCE_EXHAUSTED","message":"no more capacity","reason":"stockout"},"state":"BACKOFF","until":"2026-01-01T00:00:00.000Z"}','{"absences":0,"asked_at":"2026-01-01T00:00:00.123Z","cloud_state":"READY","generation":2,"hosts":[{"external":"203.0.113.7","internal":"10.0.0.2"},{"internal":"10.0.0.3"}],"mode":"queued-resources","name":"backoff-000001-a2","nodes":[{"hosts":2,"uid":"8123456789"}],"notice":{"imminent":false,"kind":"maintenance","text":"SCHEDULED, PENDING"},"phase":"created","project":"lab","ready":true,"unshown":["backoff-000001-a2"],"zone":"us-central2-b"}','{"alarm":{"action":"new_slice","host":1,"rule":"bad_output","text":"host 1 wrote a line that matches \"x\": x"},"culprit":1,"generation":2,"hosts":[{"host":0,"notice":{"imminent":true,"kind":"preemption","text":"TRUE"},"phase":"running","scanned":4711},{"exit_code":7,"host":1,"phase":"exited"},{"error":{"code":"UNAVAILABLE","context":["connecting to host 2","running setup-3-install"],"hint":"wait","message":"connection refused","reason":"host_refused","retry_after":30},"host":2,"phase":"lost"}],"lost":{"code":"ABORTED","message":"lost a node"},"moved":true,"name":"setup-3-install","notice":{"imminent":true,"kind":"preemption","text":"TRUE"},"noticed_at":"2026-01-01T00:01:42.003Z","number":3,"started_at":"2026-01-01T00:01:41.002Z","stopping":true,"timed_out":false}','{"failure":2,"infra":3,"preemption":1,"streak":4}','[{"mode":"queued-resources","name":"backoff-000001-a1","project":"lab","until":"2026-01-01T00:05:00.004Z","zone":"us-central2-b"}]');
INSERT INTO jobs VALUES(4,'failed','ada','v4-32','us-central2-b','203.0.113.7','FAILED','IDLE',2,1767225700001,'step install runs on 3 hosts','{"team":"vision"}',1,'reboot',0,1767225800003,2,1767225600000,'preempted',4,'{"exit_code":3,"state":"FAILED"}','{"absences":0,"asked_at":"2026-01-01T00:00:00.123Z","cloud_state":"READY","generation":2,"hosts":[{"external":"203.0.113.7","internal":"10.0.0.2"},{"internal":"10.0.0.3"}],"mode":"queued-resources","name":"failed-000001-a2","nodes":[{"hosts":2,"uid":"8123456789"}],"notice":{"imminent":false,"kind":"maintenance","text":"SCHEDULED, PENDING"},"phase":"created","project":"lab","ready":true,"unshown":["failed-000001-a2"],"zone":"us-central2-b"}','{"alarm":{"action":"new_slice","host":1,"rule":"bad_output","text":"host 1 wrote a line that matches \"x\": x"},"culprit":1,"generation":2,"hosts":[{"host":0,"notice":{"imminent":true,"kind":"preemption","text":"TRUE"},"phase":"running","scanned":4711},{"exit_code":7,"host":1,"phase":"exited"},{"error":{"code":"UNAVAILABLE","context":["connecting to host 2","running setup-3-install"],"hint":"wait","message":"connection refused","reason":"host_refused","retry_after":30},"host":2,"phase":"lost"}],"lost":{"code":"ABORTED","message":"lost a node"},"moved":true,"name":"setup-3-install","notice":{"imminent":true,"kind":"preemption","text":"TRUE"},"noticed_at":"2026-01-01T00:01:42.003Z","number":3,"started_at":"2026-01-01T00:01:41.002Z","stopping":true,"timed_out":false}','{"failure":2,"infra":3,"preemption":1,"streak":4}','[{"mode":"queued-resources","name":"failed-000001-a1","project":"lab","until":"2026-01-01T00:05:00.004Z","zone":"us-central2-b"}]');
CREATE TABLE job_files (
  job INTEGER PRIMARY KEY,
  spec_json TEXT NOT NULL,
  source TEXT NOT NULL
) STRICT;
INSERT INTO job_files VALUES(1,'{"cloud":{"endpoint":"","token_command":"","token_file":""},"command":{"cmd":"python train.py","env":{},"grace_ms":30000,"on_notice":{"grace_ms":30000,"signal":"TERM"},"secrets":[],"workdir":"","workers":"all"},"environment":{},"hooks":[],"labels":{"team":"vision"},"name":"queued","retries":{"backoff_cap_ms":600000,"backoff_ms":15000,"failure":0,"infra":10,"preemption":null},"setup":[{"hosts":"all","name":"install","required":true,"run":"pip install jax[tpu]"}],"smtp":{"from":"","host":"","password":{"file":"","name":""},"port":587,"tls":"starttls","user":""},"ssh":{"port":22,"private_key":"/home/ada/.ssh/id_ed25519","user":"ada"},"tpu":{"accelerator":"v4-32","allocation_mode":"queued-resources","external_ips":true,"labels":{},"metadata":{},"name":"","network":"","num_slices":1,"pricing":"ondemand","project":"lab","reservation":"","service_account":"","startup_script":"","subnetwork":"","tags":[],"version":"tpu-ubuntu2204-base","zone":"us-central2-b"},"watchdog":{"bad_output":[],"on_max_duration":"fail","on_no_output":"restart"},"worker_num":null}',replace('command: {}\n','\n',char(10)));
INSERT INTO job_files VALUES(2,'{"cloud":{"endpoint":"","token_command":"","token_file":""},"command":{"cmd":"python train.py","env":{},"grace_ms":30000,"on_notice":{"grace_ms":30000,"signal":"TERM"},"secrets":[],"workdir":"","workers":"all"},"environment":{},"hooks":[],"labels":{"team":"vision"},"name":"running","retries":{"backoff_cap_ms":600000,"backoff_ms":15000,"failure":0,"infra":10,"preemption":null},"setup":[{"hosts":"all","name":"install","required":true,"run":"pip install jax[tpu]"}],"smtp":{"from":"","host":"","password":{"file":"","name":""},"port":587,"tls":"starttls","user":""},"ssh":{"port":22,"private_key":"/home/ada/.ssh/id_ed25519","user":"ada"},"tpu":{"accelerator":"v4-32","allocation_mode":"queued-resources","external_ips":true,"labels":{},"metadata":{},"name":"","network":"","num_slices":1,"pricing":"ondemand","project":"lab","reservation":"","service_account":"","startup_script":"","subnetwork":"","tags":[],"version":"tpu-ubuntu2204-base","zone":"us-central2-b"},"watchdog":{"bad_output":[],"on_max_duration":"fail","on_no_output":"restart"},"worker_num":null}',replace('command: {}\n','\n',char(10)));
INSERT INTO job_files VALUES(3,'{"cloud":{"endpoint":"","token_command":"","token_file":""},"command":{"cmd":"python train.py","env":{},"grace_ms":30000,"on_notice":{"grace_ms":30000,"signal":"TERM"},"secrets":[],"workdir":"","workers":"all"},"environment":{},"hooks":[],"labels":{"team":"vision"},"name":"backoff","retries":{"backoff_cap_ms":600000,"backoff_ms":15000,"failure":0,"infra":10,"preemption":null},"setup":[{"hosts":"all","name":"install","required":true,"run":"pip install jax[tpu]"}],"smtp":{"from":"","host":"","password":{"file":"","name":""},"port":587,"tls":"starttls","user":""},"ssh":{"port":22,"private_key":"/home/ada/.ssh/id_ed25519","user":"ada"},"tpu":{"accelerator":"v4-32","allocation_mode":"queued-resources","external_ips":true,"labels":{},"metadata":{},"name":"","network":"","num_slices":1,"pricing":"ondemand","project":"lab","reservation":"","service_account":"","startup_script":"","subnetwork":"","tags":[],"version":"tpu-ubuntu2204-base","zone":"us-central2-b"},"watchdog":{"bad_output":[],"on_max_duration":"fail","on_no_output":"restart"},"worker_num":null}',replace('command: {}\n','\n',char(10)));
INSERT INTO job_files VALUES(4,'{"cloud":{"endpoint":"","token_command":"","token_file":""},"command":{"cmd":"python train.py","env":{},"grace_ms":30000,"on_notice":{"grace_ms":30000,"signal":"TERM"},"secrets":[],"workdir":"","workers":"all"},"environment":{},"hooks":[],"labels":{"team":"vision"},"name":"failed","retries":{"backoff_cap_ms":600000,"backoff_ms":15000,"failure":0,"infra":10,"preemption":null},"setup":[{"hosts":"all","name":"install","required":true,"run":"pip install jax[tpu]"}],"smtp":{"from":"","host":"","password":{"file":"","name":""},"port":587,"tls":"starttls","user":""},"ssh":{"port":22,"private_key":"/home/ada/.ssh/id_ed25519","user":"ada"},"tpu":{"accelerator":"v4-32","allocation_mode":"queued-resources","external_ips":true,"labels":{},"metadata":{},"name":"","network":"","num_slices":1,"pricing":"ondemand","project":"lab","reservation":"","service_account":"","startup_script":"","subnetwork":"","tags":[],"version":"tpu-ubuntu2204-base","zone":"us-central2-b"},"watchdog":{"bad_output":[],"on_max_duration":"fail","on_no_output":"restart"},"worker_num":null}',replace('command: {}\n','\n',char(10)));
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
INSERT INTO attempts VALUES(1,2,'s','z','preempted',1767225600000,NULL,'');
INSERT INTO attempts VALUES(2,2,'s','z','preempted',1767225600000,NULL,'');
INSERT INTO attempts VALUES(3,2,'s','z','preempted',1767225600000,NULL,'');
INSERT INTO attempts VALUES(4,2,'s','z','preempted',1767225600000,NULL,'');
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
INSERT INTO exits VALUES(1,1,2,'run',1,7,'',1767225600000);
INSERT INTO exits VALUES(2,2,2,'run',1,7,'',1767225600000);
INSERT INTO exits VALUES(3,3,2,'run',1,7,'',1767225600000);
INSERT INTO exits VALUES(4,4,2,'run',1,7,'',1767225600000);
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
INSERT INTO events VALUES(2,1767225600000,1,2,'state','queued','said');
INSERT INTO events VALUES(3,1767225600000,2,0,'state','QUEUED','created by ada');
INSERT INTO events VALUES(4,1767225600000,2,2,'state','running','said');
INSERT INTO events VALUES(5,1767225600000,3,0,'state','QUEUED','created by ada');
INSERT INTO events VALUES(6,1767225600000,3,2,'state','backoff','said');
INSERT INTO events VALUES(7,1767225600000,4,0,'state','QUEUED','created by ada');
INSERT INTO events VALUES(8,1767225600000,4,2,'state','failed','said');
CREATE TABLE host_keys (
  identity TEXT PRIMARY KEY,
  key TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO host_keys VALUES('node-1/0','ssh-ed25519 AAAA');
CREATE TABLE cache (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO cache VALUES('catalog:us-central2-b','[]',1767225600000);
CREATE TABLE lease (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  holder TEXT NOT NULL,
  token INTEGER NOT NULL,
  expires INTEGER NOT NULL
) STRICT;
INSERT INTO lease VALUES(1,'host:1:x',1,1767225630000);
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
INSERT INTO notices VALUES(1,4,2,'4-1','failed',0,'command','{}',1767225700001,1,1767225705001,'exit code 1');
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('jobs',4);
INSERT INTO sqlite_sequence VALUES('events',8);
INSERT INTO sqlite_sequence VALUES('notices',1);
CREATE INDEX jobs_active ON jobs (id) WHERE active = 1;
CREATE INDEX jobs_name ON jobs (name);
CREATE INDEX events_job ON events (job, number);
CREATE INDEX notices_job ON notices (job, number);
CREATE INDEX notices_waiting ON notices (number) WHERE next_try IS NOT NULL;
COMMIT;
PRAGMA user_version = 3;
