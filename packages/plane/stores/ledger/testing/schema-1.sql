-- A ledger of schema 1, as the version that brought this schema wrote it. It never changes: every later
-- version must open it, find what is in it, and verify it.
-- Pruned: all of run-old, the previews of run-lean.
-- Head: {"format":"subluminal.head.v1","ledger_id":"d0fdc6a6-b4bd-4356-9550-5bd117d3ed45","head":{"n":4,"kind":"close","seq":25,"hash":"e7f2741f3c1248f348302cb7372311b98e9a1f8471ebbaeef2690bc7198ac410","count":25,"createdAtMs":1769860800008,"prev":"ad9669f7401b3c2328abf5b12a69fd75896f6667a7c45b70b70e290506941ac2","keyId":"f622eb06c062f9e6","signature":"Lvc+3bdhuo5WMAcfLxvedpiWIdYiynVHIl9/gwoTFCN/jU/B2VH8ezZfuHu8P1vmcfHMJ7ysjPSPEC9I2HJOCg=="}}
-- Key: MCowBQYDK2VwAyEAaeX/GMEMPgio9PkIwwvR4ksASZlqRKUF7q/89KF9dZI=
PRAGMA application_id = 1937072673;
PRAGMA user_version = 1;
CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE producers (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE events (
  seq INTEGER PRIMARY KEY,
  producer_id INTEGER NOT NULL REFERENCES producers (id),
  producer_seq INTEGER NOT NULL,
  hash BLOB NOT NULL,
  digest BLOB,
  type TEXT,
  ts INTEGER,
  run_id TEXT,
  line TEXT
) STRICT;
CREATE UNIQUE INDEX events_producer ON events (producer_id, producer_seq);
CREATE INDEX events_run ON events (run_id) WHERE run_id IS NOT NULL;
CREATE INDEX events_pruned ON events (seq) WHERE digest IS NOT NULL;
CREATE TABLE heads (
  n INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  seq INTEGER NOT NULL,
  hash TEXT NOT NULL,
  count INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  prev TEXT NOT NULL,
  key_id TEXT NOT NULL,
  signature TEXT NOT NULL
) STRICT;
CREATE TABLE rejects (
  id INTEGER PRIMARY KEY,
  producer TEXT NOT NULL,
  producer_seq INTEGER NOT NULL,
  reason TEXT NOT NULL,
  line TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (producer, producer_seq)
) STRICT;
CREATE TABLE runs (
  run_id TEXT PRIMARY KEY,
  agent_id TEXT,
  client TEXT,
  env TEXT,
  principal TEXT,
  started_at INTEGER,
  ended_at INTEGER,
  status TEXT,
  mode TEXT,
  policy_id TEXT,
  policy_version TEXT,
  policy_hash TEXT,
  metadata_json TEXT,
  summary_json TEXT,
  first_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  events INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_time ON runs (first_at);
CREATE INDEX runs_agent ON runs (agent_id, first_at);
CREATE INDEX runs_last ON runs (last_at);
CREATE TABLE tool_calls (
  id INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL,
  call_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  server_name TEXT NOT NULL,
  tool_name TEXT NOT NULL,
  args_hash TEXT NOT NULL,
  transport TEXT,
  call_seq INTEGER,
  bytes_in INTEGER,
  risk_json TEXT,
  decision TEXT,
  rule_id TEXT,
  severity TEXT,
  reason_code TEXT,
  summary TEXT,
  would_action TEXT,
  would_rule_id TEXT,
  status TEXT,
  latency_ms INTEGER,
  bytes_out INTEGER,
  error_class TEXT,
  error_message TEXT,
  preview_truncated INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  events INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX calls_key ON tool_calls (run_id, call_id);
CREATE INDEX calls_run ON tool_calls (run_id, created_at);
CREATE INDEX calls_server_tool ON tool_calls (server_name, tool_name, created_at);
CREATE INDEX calls_tool ON tool_calls (tool_name, created_at);
CREATE INDEX calls_decision_status ON tool_calls (decision, status, created_at);
CREATE INDEX calls_args ON tool_calls (args_hash, created_at);
CREATE INDEX calls_agent ON tool_calls (agent_id, created_at);
CREATE INDEX calls_time ON tool_calls (created_at);
CREATE INDEX calls_refused ON tool_calls (created_at, decision) WHERE decision <> 'ALLOW';
CREATE INDEX calls_failed ON tool_calls (created_at, status)
  WHERE status IS NULL OR status <> 'OK';
CREATE INDEX calls_rule ON tool_calls (rule_id, created_at) WHERE rule_id IS NOT NULL;
CREATE TABLE previews (
  id INTEGER PRIMARY KEY REFERENCES tool_calls (id) ON DELETE CASCADE,
  call_id TEXT NOT NULL,
  redaction_flags INTEGER NOT NULL,
  args_preview TEXT,
  result_preview TEXT
) STRICT;
CREATE TABLE hints (
  run_id TEXT NOT NULL,
  call_id TEXT NOT NULL,
  hint_text TEXT NOT NULL,
  suggested_args_json TEXT,
  retry_advice TEXT,
  hint_kind TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (run_id, call_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE policy_versions (
  policy_id TEXT NOT NULL,
  version TEXT NOT NULL,
  rules_hash TEXT NOT NULL,
  mode TEXT,
  rules_json TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (policy_id, version, rules_hash)
) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES ('ledger_id', 'd0fdc6a6-b4bd-4356-9550-5bd117d3ed45');
INSERT INTO meta VALUES ('projection', '2');
INSERT INTO producers VALUES (1, 'old');
INSERT INTO producers VALUES (2, 'lean');
INSERT INTO producers VALUES (3, 'a');
INSERT INTO producers VALUES (4, 'subluminal.ledger');
INSERT INTO events VALUES (1, 1, 0, X'b18e3c93d061284e619b4c7ffb04868d1bb2447bf978e783f1cebb961ea7224d', X'298841d67c9c52c2ddba2bcc1a585019123dc21de1802b38b66081475a75474b', NULL, NULL, NULL, NULL);
INSERT INTO events VALUES (2, 1, 1, X'0b5e596a61709307391d597da0943f1271c992b08f359072656cb761ab132c80', X'217f1065c049c89944443f5dee9dff6d1980fde8a54d95becba440ef8ce69aad', NULL, NULL, NULL, NULL);
INSERT INTO events VALUES (3, 1, 2, X'045d4b38eb8c42c312adb5f4e25dbeba1c624499be71e03764c660631245527e', X'0c13d5883e643da12dda83aab29a9c2bdf36567c2656989403cc0b4fe92e177c', NULL, NULL, NULL, NULL);
INSERT INTO events VALUES (4, 1, 3, X'b2c9e6f71e243b96a2a029705e9e8d9a7bf2fb5add7234922856c308e4b6045e', X'995c22f6f838f070c55311f7a48ea9cabaf71fffa0271881631ea72dc7126ef3', NULL, NULL, NULL, NULL);
INSERT INTO events VALUES (5, 1, 4, X'8dffaa2b4575a0bd7a32e2f3ec882602cee5108d05231109f28ffc3e7ceb3777', X'c1a9c1e3f499e23ee43007ef1f1254fdd167e2dbff812c0a15702cba3ce920a9', NULL, NULL, NULL, NULL);
INSERT INTO events VALUES (6, 2, 0, X'61b37ffa84bad806e36cf36101b3e510036186e819e320121415ff1df53fac00', NULL, 'run_start', 1766404800000, 'run-lean', '{"v":"0.2.0","type":"run_start","ts":"2025-12-22T12:00:00.000Z","run_id":"run-lean","agent_id":"writer","client":"claude","env":"dev","source":{"host_id":"h","proc_id":"p","shim_id":"lean"},"run":{"started_at":"2025-12-22T12:00:00.000Z","mode":"guardrails","policy":{"policy_id":"team","policy_version":"1.2.0","policy_hash":"2649686cc2790bfb789475c9345496d7603bc832ed71c876fc6852658db6e531"},"meta":{"issue":7}}}');
INSERT INTO events VALUES (7, 2, 1, X'069cafcf3620a7142fd4a06601e1626eef336d22270205498d5dadfd3345d86f', X'e6178b0aa37ac25a93aa2770f554d08cf09b0ba499385c3fc679c855964f2034', 'tool_call_start', 1766404800001, 'run-lean', '{"v":"0.2.0","type":"tool_call_start","ts":"2025-12-22T12:00:00.001Z","run_id":"run-lean","agent_id":"writer","client":"claude","env":"dev","source":{"host_id":"h","proc_id":"p","shim_id":"lean"},"call":{"call_id":"l1","server_name":"git","tool_name":"log","args_hash":"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","transport":"mcp_stdio","bytes_in":100,"seq":1,"preview":{"truncated":false,"pruned":true}}}');
INSERT INTO events VALUES (8, 2, 2, X'90844e07fb3cc6fe423f03eaa6d2a58bc0d3dd126d26278f17aaa2f160f020f1', NULL, 'tool_call_decision', 1766404800002, 'run-lean', '{"v":"0.2.0","type":"tool_call_decision","ts":"2025-12-22T12:00:00.002Z","run_id":"run-lean","agent_id":"writer","client":"claude","env":"dev","source":{"host_id":"h","proc_id":"p","shim_id":"lean"},"call":{"call_id":"l1","server_name":"git","tool_name":"log","args_hash":"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"},"decision":{"action":"ALLOW","rule_id":null,"severity":"info","explain":{"summary":"No rule decided.","reason_code":"DEFAULT_ALLOW"},"policy":{"policy_id":"team","policy_version":"1.2.0","policy_hash":"2649686cc2790bfb789475c9345496d7603bc832ed71c876fc6852658db6e531"}}}');
INSERT INTO events VALUES (9, 2, 3, X'c09d2a626bc9fe575d621de2938160c31f442a48cc09357c63e1855217df910a', X'f403011c0c4a92de03a17371bdfa7a68555714cf98b2704857bf518f47501d26', 'tool_call_end', 1766404800003, 'run-lean', '{"v":"0.2.0","type":"tool_call_end","ts":"2025-12-22T12:00:00.003Z","run_id":"run-lean","agent_id":"writer","client":"claude","env":"dev","source":{"host_id":"h","proc_id":"p","shim_id":"lean"},"call":{"call_id":"l1","server_name":"git","tool_name":"log","args_hash":"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"},"status":"OK","latency_ms":12,"bytes_out":34,"preview":{"truncated":false,"pruned":true}}');
INSERT INTO events VALUES (10, 2, 4, X'1f6d660cac61c429aed2014de35c1564add7d7498d84eb9c20ad167c27ad6f0c', NULL, 'run_end', 1766404800004, 'run-lean', '{"v":"0.2.0","type":"run_end","ts":"2025-12-22T12:00:00.004Z","run_id":"run-lean","agent_id":"writer","client":"claude","env":"dev","source":{"host_id":"h","proc_id":"p","shim_id":"lean"},"run":{"ended_at":"2025-12-22T12:00:00.004Z","status":"SUCCEEDED","summary":{"calls_total":1,"calls_allowed":1,"calls_blocked":0,"calls_throttled":0,"errors_total":0,"duration_ms":5}}}');
INSERT INTO events VALUES (11, 3, 0, X'46e11faa3101a0cf290d64058d73b9dc867d3a0c35f05d05f403bbfbb3590c7b', NULL, 'run_start', 1769860800000, 'run-a', '{"v":"0.2.0","type":"run_start","ts":"2026-01-31T12:00:00.000Z","run_id":"run-a","agent_id":"fixer","client":"claude","env":"dev","source":{"host_id":"h","proc_id":"p","shim_id":"a"},"run":{"started_at":"2026-01-31T12:00:00.000Z","mode":"guardrails","policy":{"policy_id":"team","policy_version":"1.2.0","policy_hash":"2649686cc2790bfb789475c9345496d7603bc832ed71c876fc6852658db6e531"},"meta":{"issue":7}}}');
INSERT INTO events VALUES (12, 3, 1, X'5394258890a48f19e1e1ab2bcb6548fd372c187b7bc9825c29585228ef1529ae', NULL, 'policy_loaded', 1769860800001, 'run-a', '{"v":"0.2.0","type":"policy_loaded","ts":"2026-01-31T12:00:00.001Z","run_id":"run-a","agent_id":"fixer","client":"claude","env":"dev","source":{"host_id":"h","proc_id":"p","shim_id":"a"},"policy":{"policy_id":"team","policy_version":"1.2.0","policy_hash":"2649686cc2790bfb789475c9345496d7603bc832ed71c876fc6852658db6e531"},"mode":"guardrails","document":{"mode":"guardrails","policy_id":"team","rules":[]}}');
INSERT INTO events VALUES (13, 3, 2, X'ede58698760d6c368a6738fb570fedb18aa0edc0f5c11968ee19295bce0eeb45', NULL, 'tool_call_start', 1769860800002, 'run-a', '{"v":"0.2.0","type":"tool_call_start","ts":"2026-01-31T12:00:00.002Z","run_id":"run-a","agent_id":"fixer","client":"claude","env":"dev","source":{"host_id":"h","proc_id":"p","shim_id":"a"},"call":{"call_id":"a1","server_name":"git","tool_name":"log","args_hash":"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","transport":"mcp_stdio","bytes_in":100,"seq":1,"preview":{"truncated":false,"args_preview":"{\"of\":\"a1\"}"}}}');
INSERT INTO events VALUES (14, 3, 3, X'4b09a191220cb7310b700be7dbe005a5bb5da0b80a25b85ca6e7c30f4069a45f', NULL, 'tool_call_decision', 1769860800003, 'run-a', '{"v":"0.2.0","type":"tool_call_decision","ts":"2026-01-31T12:00:00.003Z","run_id":"run-a","agent_id":"fixer","client":"claude","env":"dev","source":{"host_id":"h","proc_id":"p","shim_id":"a"},"call":{"call_id":"a1","server_name":"git","tool_name":"log","args_hash":"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"},"decision":{"action":"ALLOW","rule_id":null,"severity":"info","explain":{"summary":"No rule decided.","reason_code":"DEFAULT_ALLOW"},"policy":{"policy_id":"team","policy_version":"1.2.0","policy_hash":"2649686cc2790bfb789475c9345496d7603bc832ed71c876fc6852658db6e531"}}}');
INSERT INTO events VALUES (15, 3, 4, X'ce533b12f74082abad0e123ec621123a439a2a53482761f91ec6083674a400ab', NULL, 'tool_call_end', 1769860800004, 'run-a', '{"v":"0.2.0","type":"tool_call_end","ts":"2026-01-31T12:00:00.004Z","run_id":"run-a","agent_id":"fixer","client":"claude","env":"dev","source":{"host_id":"h","proc_id":"p","shim_id":"a"},"call":{"call_id":"a1","server_name":"git","tool_name":"log","args_hash":"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"},"status":"OK","latency_ms":12,"bytes_out":34,"preview":{"truncated":false,"result_preview":"result of a1"}}');
INSERT INTO events VALUES (16, 3, 5, X'5b29f3a81a613310465a9604d8497b5ad3d49d5ea553110b5799edb455a99afc', NULL, 'tool_call_start', 1769860800005, 'run-a', '{"v":"0.2.0","type":"tool_call_start","ts":"2026-01-31T12:00:00.005Z","run_id":"run-a","agent_id":"fixer","client":"claude","env":"dev","source":{"host_id":"h","proc_id":"p","shim_id":"a"},"call":{"call_id":"a2","server_name":"git","tool_name":"log","args_hash":"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","transport":"mcp_stdio","bytes_in":100,"seq":1,"preview":{"truncated":false,"args_preview":"{\"of\":\"a2\"}"}}}');
INSERT INTO events VALUES (17, 3, 6, X'2d69fb0d130bba84892ccf3439c52d8229ea6935edbdda1a68ecba98ea87b57d', NULL, 'tool_call_decision', 1769860800006, 'run-a', '{"v":"0.2.0","type":"tool_call_decision","ts":"2026-01-31T12:00:00.006Z","run_id":"run-a","agent_id":"fixer","client":"claude","env":"dev","source":{"host_id":"h","proc_id":"p","shim_id":"a"},"call":{"call_id":"a2","server_name":"git","tool_name":"log","args_hash":"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"},"decision":{"action":"BLOCK","rule_id":"no-writes","severity":"warn","explain":{"summary":"It is read-only: “é\u0000”.","reason_code":"READ_ONLY"},"policy":{"policy_id":"team","policy_version":"1.2.0","policy_hash":"2649686cc2790bfb789475c9345496d7603bc832ed71c876fc6852658db6e531"}}}');
INSERT INTO events VALUES (18, 3, 7, X'c347be3c17f63ba0a9860df9436662a68c00768ac2d79d4b0fe58ce966c9d13d', NULL, 'tool_call_start', 1769860800007, 'run-a', '{"v":"0.2.0","type":"tool_call_start","ts":"2026-01-31T12:00:00.007Z","run_id":"run-a","agent_id":"fixer","client":"claude","env":"dev","source":{"host_id":"h","proc_id":"p","shim_id":"a"},"call":{"call_id":"a3","server_name":"git","tool_name":"log","args_hash":"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a","transport":"mcp_stdio","bytes_in":100,"seq":1,"preview":{"truncated":false,"args_preview":"{\"of\":\"a3\"}"}}}');
INSERT INTO events VALUES (19, 3, 8, X'2b4c5eec11df259a0dc44fb45c56eec4dc495a6017cd32294bcbfaf500bd8bea', NULL, 'tool_call_decision', 1769860800008, 'run-a', '{"v":"0.2.0","type":"tool_call_decision","ts":"2026-01-31T12:00:00.008Z","run_id":"run-a","agent_id":"fixer","client":"claude","env":"dev","source":{"host_id":"h","proc_id":"p","shim_id":"a"},"call":{"call_id":"a3","server_name":"git","tool_name":"log","args_hash":"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"},"decision":{"action":"ALLOW","rule_id":null,"severity":"info","explain":{"summary":"No rule decided.","reason_code":"DEFAULT_ALLOW"},"policy":{"policy_id":"team","policy_version":"1.2.0","policy_hash":"2649686cc2790bfb789475c9345496d7603bc832ed71c876fc6852658db6e531"}}}');
INSERT INTO events VALUES (20, 3, 9, X'05c6e523c324aeabbfacbc85ab5eb8c0cc121f74c14bb2db1a1af15125fb4cde', NULL, 'tool_call_end', 1769860800009, 'run-a', '{"v":"0.2.0","type":"tool_call_end","ts":"2026-01-31T12:00:00.009Z","run_id":"run-a","agent_id":"fixer","client":"claude","env":"dev","source":{"host_id":"h","proc_id":"p","shim_id":"a"},"call":{"call_id":"a3","server_name":"git","tool_name":"log","args_hash":"44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"},"status":"ERROR","latency_ms":12,"bytes_out":34,"preview":{"truncated":false,"result_preview":"result of a3"},"error":{"class":"upstream_error","message":"Broken pipe"}}');
INSERT INTO events VALUES (21, 3, 10, X'8fe5eb5ac6b29f0b6ab4eae68ed248bd8d7e53efe24b9d68c6dde8a085e1c23e', NULL, 'of_tomorrow', 1769860801000, 'run-a', '{"v":"0.3.0","type":"of_tomorrow","ts":"2026-01-31T12:00:01.000Z","run_id":"run-a","n":1}');
INSERT INTO events VALUES (22, 3, 12, X'c93697af360243432180c33ec847538cb14c4ba215a50f06dfc7f771e9202e6d', NULL, 'run_end', 1769860800010, 'run-a', '{"v":"0.2.0","type":"run_end","ts":"2026-01-31T12:00:00.010Z","run_id":"run-a","agent_id":"fixer","client":"claude","env":"dev","source":{"host_id":"h","proc_id":"p","shim_id":"a"},"run":{"ended_at":"2026-01-31T12:00:00.010Z","status":"SUCCEEDED","summary":{"calls_total":3,"calls_allowed":3,"calls_blocked":0,"calls_throttled":0,"errors_total":0,"duration_ms":5}}}');
INSERT INTO events VALUES (23, 4, 23, X'8186c2b430f39ea51875e1be07042ec67e2b597c7aae3b1969e14cb35200be5e', NULL, 'ledger_policy', 1769860800004, NULL, '{"v":"0.2.0","type":"ledger_policy","ts":"2026-01-31T12:00:00.004Z","policy":{"policy_id":"team","version":"1.2.0","rules_hash":"2649686cc2790bfb789475c9345496d7603bc832ed71c876fc6852658db6e531","mode":"guardrails","rules_json":"{\"mode\":\"guardrails\",\"policy_id\":\"team\",\"rules\":[]}","created_at_ms":1762084800000}}');
INSERT INTO events VALUES (24, 4, 24, X'71e7911021e9c2e8d1a4a7b58144552e2fae3a242a43447870c1b67a058bdcb4', NULL, 'ledger_prune', 1769860800004, NULL, '{"v":"0.2.0","type":"ledger_prune","ts":"2026-01-31T12:00:00.004Z","prune":{"reason":"all, before 2025-12-02T12:00:00.000Z","events":5,"count":5,"hash":"49a49e5449ea8e76c8ab021b73f79f6c378616712f4fe9ad19ccc7a223d15a3f","marks":[[1,"08e00266fff0aacc64974f22a53622a7dc458ac1b5fd446ae7c99a4a99a564e6"],[2,"7880a8529a23849942a4626063ef580b48165bc0dec2083b17101ef58b654e0e"],[3,"502fff3545f495b6b470f3efdb317e77345fc169df1e6b82852f46462a854473"],[4,"19365405897acc850a24d979aa9380ada5851a5a5336cb4686aad6480de14f19"],[5,"49a49e5449ea8e76c8ab021b73f79f6c378616712f4fe9ad19ccc7a223d15a3f"]]}}');
INSERT INTO events VALUES (25, 4, 25, X'e7f2741f3c1248f348302cb7372311b98e9a1f8471ebbaeef2690bc7198ac410', NULL, 'ledger_prune', 1769860800006, NULL, '{"v":"0.2.0","type":"ledger_prune","ts":"2026-01-31T12:00:00.006Z","prune":{"reason":"previews, before 2026-01-01T12:00:00.000Z","events":2,"count":7,"hash":"ffa323bd37988d0bf7fc43f80019275e2d0bc2bb099df4636c222ba181064f6e","marks":[[1,"08e00266fff0aacc64974f22a53622a7dc458ac1b5fd446ae7c99a4a99a564e6"],[2,"7880a8529a23849942a4626063ef580b48165bc0dec2083b17101ef58b654e0e"],[3,"502fff3545f495b6b470f3efdb317e77345fc169df1e6b82852f46462a854473"],[4,"19365405897acc850a24d979aa9380ada5851a5a5336cb4686aad6480de14f19"],[5,"49a49e5449ea8e76c8ab021b73f79f6c378616712f4fe9ad19ccc7a223d15a3f"],[7,"29d42b28e2592bceec3bf93c571ae7d97d3752df9f6896d7dca9918d45794892"],[9,"ffa323bd37988d0bf7fc43f80019275e2d0bc2bb099df4636c222ba181064f6e"]]}}');
INSERT INTO heads VALUES (1, 'open', 5, '8dffaa2b4575a0bd7a32e2f3ec882602cee5108d05231109f28ffc3e7ceb3777', 5, 1769860800001, '0000000000000000000000000000000000000000000000000000000000000000', 'f622eb06c062f9e6', 'UZMgrDnESWakmtb9lY7S0V78V+X1Pi3OxS4W09VzLR0wBYGDH12ijfvnx6X7rgbgcfePMvqj1D9+VSJfgVXqAA==');
INSERT INTO heads VALUES (2, 'interval', 24, '71e7911021e9c2e8d1a4a7b58144552e2fae3a242a43447870c1b67a058bdcb4', 24, 1769860800005, 'abd85d04f8d3c902665699fd0a7c1d63062e4837305c639b2b4369ea8465d637', 'f622eb06c062f9e6', 'o/VffU1li3rewJRdmAGrt81Q8qBJGqKtG+hP5NVOgozJc4kGSX0LBrrzWtrLQVP6mBctk2gzgVD6bUCP8VMDAw==');
INSERT INTO heads VALUES (3, 'interval', 25, 'e7f2741f3c1248f348302cb7372311b98e9a1f8471ebbaeef2690bc7198ac410', 25, 1769860800007, 'a8130d0ded09f90ee458c2262ce6a33f75eb1d1e14400559517491e97fa4a13e', 'f622eb06c062f9e6', 'JATWiRc+Nhx523xX3AimMnYbwKInjef/MYlqiYZeWniHmBcW9sF0JV3sxZAdx4ENh1KC/G89q61PkjgqjJebAw==');
INSERT INTO heads VALUES (4, 'close', 25, 'e7f2741f3c1248f348302cb7372311b98e9a1f8471ebbaeef2690bc7198ac410', 25, 1769860800008, 'ad9669f7401b3c2328abf5b12a69fd75896f6667a7c45b70b70e290506941ac2', 'f622eb06c062f9e6', 'Lvc+3bdhuo5WMAcfLxvedpiWIdYiynVHIl9/gwoTFCN/jU/B2VH8ezZfuHu8P1vmcfHMJ7ysjPSPEC9I2HJOCg==');
INSERT INTO rejects VALUES (1, 'a', 11, 'SUB_EVENT_MALFORMED: expected one JSON object on one line, got text that is not JSON', 'no event', 1769860800003);
INSERT INTO runs VALUES ('run-a', 'fixer', 'claude', 'dev', NULL, 1769860800000, 1769860800010, 'SUCCEEDED', 'guardrails', 'team', '1.2.0', '2649686cc2790bfb789475c9345496d7603bc832ed71c876fc6852658db6e531', '{"meta":{"issue":7}}', '{"calls_total":3,"calls_allowed":3,"calls_blocked":0,"calls_throttled":0,"errors_total":0,"duration_ms":5}', 1769860800000, 1769860800010, 11);
INSERT INTO runs VALUES ('run-lean', 'writer', 'claude', 'dev', NULL, 1766404800000, 1766404800004, 'SUCCEEDED', 'guardrails', 'team', '1.2.0', '2649686cc2790bfb789475c9345496d7603bc832ed71c876fc6852658db6e531', '{"meta":{"issue":7}}', '{"calls_total":1,"calls_allowed":1,"calls_blocked":0,"calls_throttled":0,"errors_total":0,"duration_ms":5}', 1766404800000, 1766404800004, 5);
INSERT INTO tool_calls VALUES (7, 'run-lean', 'l1', 'writer', 'git', 'log', '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a', 'mcp_stdio', 1, 100, NULL, 'ALLOW', NULL, 'info', 'DEFAULT_ALLOW', 'No rule decided.', NULL, NULL, 'OK', 12, 34, NULL, NULL, 0, 1766404800001, 3);
INSERT INTO tool_calls VALUES (13, 'run-a', 'a1', 'fixer', 'git', 'log', '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a', 'mcp_stdio', 1, 100, NULL, 'ALLOW', NULL, 'info', 'DEFAULT_ALLOW', 'No rule decided.', NULL, NULL, 'OK', 12, 34, NULL, NULL, 0, 1769860800002, 3);
INSERT INTO tool_calls VALUES (16, 'run-a', 'a2', 'fixer', 'git', 'log', '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a', 'mcp_stdio', 1, 100, NULL, 'BLOCK', 'no-writes', 'warn', 'READ_ONLY', 'It is read-only: “é�”.', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 1769860800005, 2);
INSERT INTO tool_calls VALUES (18, 'run-a', 'a3', 'fixer', 'git', 'log', '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a', 'mcp_stdio', 1, 100, NULL, 'ALLOW', NULL, 'info', 'DEFAULT_ALLOW', 'No rule decided.', NULL, NULL, 'ERROR', 12, 34, 'upstream_error', 'Broken pipe', 0, 1769860800007, 3);
INSERT INTO previews VALUES (7, 'l1', 48, NULL, NULL);
INSERT INTO previews VALUES (13, 'a1', 0, '{"of":"a1"}', 'result of a1');
INSERT INTO previews VALUES (16, 'a2', 0, '{"of":"a2"}', NULL);
INSERT INTO previews VALUES (18, 'a3', 0, '{"of":"a3"}', 'result of a3');
INSERT INTO policy_versions VALUES ('team', '1.2.0', '2649686cc2790bfb789475c9345496d7603bc832ed71c876fc6852658db6e531', 'guardrails', '{"mode":"guardrails","policy_id":"team","rules":[]}', 1762084800000);
