// The schema, as the steps that lead to it, in the words of either engine. A step that was released never changes.
// Times are milliseconds since 1970 in UTC, money is micro-dollars; both engines hold them exactly.

export interface ColumnTypes {
  readonly id: string;
  readonly int: string;
  readonly flag: string;
  readonly json: string;
  /** What stands behind the columns of a table. */
  readonly table: string;
  /** The same for a table that is kept in the order of its key. */
  readonly keyed: string;
}

/** Numbered from 1, in this order. */
export type SchemaStep = (types: ColumnTypes) => string;

const identities: SchemaStep = ({ int, keyed }) => `
CREATE TABLE gateway_user (
  tenant_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('developer', 'team_admin', 'platform_admin')),
  created_ms ${int} NOT NULL,
  PRIMARY KEY (tenant_id, user_id)
)${keyed};

CREATE TABLE api_key (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE CHECK (length(hash) = 64),
  last4 TEXT NOT NULL,
  name TEXT NOT NULL,
  created_ms ${int} NOT NULL,
  revoked_ms ${int},
  FOREIGN KEY (tenant_id, user_id) REFERENCES gateway_user (tenant_id, user_id)
)${keyed};
CREATE INDEX api_key_user ON api_key (tenant_id, user_id);

-- The tokens of the first starts: any of them makes the first admin, and then none is left.
CREATE TABLE setup_token (
  hash TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL,
  created_ms ${int} NOT NULL
)${keyed};

-- One row, as soon as there is a first admin.
CREATE TABLE setup (
  tenant_id TEXT PRIMARY KEY,
  done_ms ${int} NOT NULL
)${keyed};

CREATE TABLE invite (
  token_hash TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('developer', 'team_admin', 'platform_admin')),
  created_by TEXT NOT NULL,
  expires_ms ${int} NOT NULL,
  used_ms ${int}
)${keyed};

CREATE TABLE repo_binding (
  tenant_id TEXT NOT NULL,
  repo_id TEXT NOT NULL,
  machine_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  remote_url TEXT NOT NULL,
  expires_ms ${int} NOT NULL,
  revoked_ms ${int},
  PRIMARY KEY (tenant_id, repo_id, machine_id)
)${keyed};
`;

const budgets: SchemaStep = ({ int, json, keyed }) => `
-- What is used and what is reserved of one limit in one period.
CREATE TABLE budget_counter (
  tenant_id TEXT NOT NULL,
  scope TEXT NOT NULL CHECK (scope IN ('team_month', 'user_day', 'run')),
  key TEXT NOT NULL,
  period TEXT NOT NULL,
  used_micros ${int} NOT NULL CHECK (used_micros >= 0),
  reserved_micros ${int} NOT NULL CHECK (reserved_micros >= 0),
  updated_ms ${int} NOT NULL,
  PRIMARY KEY (tenant_id, scope, key, period)
)${keyed};
CREATE INDEX budget_counter_updated ON budget_counter (updated_ms);

CREATE TABLE budget_reservation (
  id TEXT PRIMARY KEY,
  trace_id TEXT NOT NULL,
  tenant_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  team_id TEXT NOT NULL,
  -- [[scope, key, period], …]: the counters that it holds.
  counters ${json} NOT NULL,
  estimated_micros ${int} NOT NULL CHECK (estimated_micros >= 0),
  actual_micros ${int} CHECK (actual_micros >= 0),
  state TEXT NOT NULL CHECK (state IN ('reserved', 'committed', 'released', 'expired')),
  created_ms ${int} NOT NULL,
  -- When the gateway of the turn was last heard of.
  renewed_ms ${int} NOT NULL,
  settled_ms ${int},
  CHECK ((state = 'reserved') = (settled_ms IS NULL)),
  CHECK ((state = 'committed') = (actual_micros IS NOT NULL))
)${keyed};
CREATE INDEX budget_reservation_open ON budget_reservation (renewed_ms) WHERE state = 'reserved';
CREATE INDEX budget_reservation_settled ON budget_reservation (settled_ms);
CREATE INDEX budget_reservation_team ON budget_reservation (tenant_id, team_id, created_ms);
`;

const audit: SchemaStep = ({ id, int, json, table, keyed }) => `
-- Only added to; retention alone deletes, and nothing younger than its border.
CREATE TABLE audit_event (
  id ${id},
  -- The hash of what the row says: a record that is written twice is there once.
  event_key TEXT NOT NULL UNIQUE,
  event_ms ${int} NOT NULL,
  trace_id TEXT NOT NULL,
  session_id TEXT,
  tenant_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  team_id TEXT NOT NULL,
  repo_id TEXT,
  event_type TEXT NOT NULL,
  decision ${json},
  rule_ids ${json} NOT NULL,
  detail ${json},
  request_summary ${json},
  routed_to TEXT,
  fallback_chain ${json},
  error_code TEXT,
  prev_hash TEXT,
  self_hash TEXT
)${table};
CREATE INDEX audit_event_trace ON audit_event (trace_id);
CREATE INDEX audit_event_time ON audit_event (tenant_id, event_ms);
CREATE INDEX audit_event_team ON audit_event (tenant_id, team_id, event_ms);
CREATE INDEX audit_event_user ON audit_event (tenant_id, user_id, event_ms);
CREATE INDEX audit_event_repo ON audit_event (tenant_id, repo_id, event_ms);

CREATE TABLE audit_retention (
  tenant_id TEXT PRIMARY KEY,
  before_ms ${int} NOT NULL
)${keyed};

CREATE TABLE audit_chain_root (
  tenant_id TEXT NOT NULL,
  day ${int} NOT NULL,
  root TEXT NOT NULL,
  events ${int} NOT NULL,
  created_ms ${int} NOT NULL,
  PRIMARY KEY (tenant_id, day)
)${keyed};
`;

const costs: SchemaStep = ({ id, int, flag, table, keyed }) => `
CREATE TABLE cost_event (
  id ${id},
  event_ms ${int} NOT NULL,
  trace_id TEXT NOT NULL,
  session_id TEXT,
  attempt_no ${int} NOT NULL CHECK (attempt_no >= 1),
  tenant_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  team_id TEXT NOT NULL,
  repo_id TEXT,
  task_type TEXT NOT NULL,
  rule_id TEXT,
  provider TEXT NOT NULL,
  endpoint_id TEXT NOT NULL,
  model TEXT NOT NULL,
  pool TEXT NOT NULL,
  is_private ${flag} NOT NULL,
  is_shadow ${flag} NOT NULL,
  input_tokens ${int} NOT NULL CHECK (input_tokens >= 0),
  output_tokens ${int} NOT NULL CHECK (output_tokens >= 0),
  cache_read_tokens ${int} NOT NULL CHECK (cache_read_tokens >= 0),
  cache_create_tokens ${int} NOT NULL CHECK (cache_create_tokens >= 0),
  cost_micros ${int} NOT NULL CHECK (cost_micros >= 0),
  cost_source TEXT NOT NULL CHECK (cost_source IN ('provider_usage', 'estimated')),
  latency_ms ${int} NOT NULL,
  is_success ${flag} NOT NULL,
  error_class TEXT,
  UNIQUE (trace_id, attempt_no)
)${table};
CREATE INDEX cost_event_time ON cost_event (tenant_id, event_ms);
CREATE INDEX cost_event_session ON cost_event (session_id) WHERE session_id IS NOT NULL;

-- The sums of cost_event by day (days since 1970), kept in the transaction that adds to it. Empty stands for none.
CREATE TABLE cost_daily (
  tenant_id TEXT NOT NULL,
  day ${int} NOT NULL,
  team_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  repo_id TEXT NOT NULL,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  pool TEXT NOT NULL,
  task_type TEXT NOT NULL,
  rule_id TEXT NOT NULL,
  cost_micros ${int} NOT NULL,
  input_tokens ${int} NOT NULL,
  output_tokens ${int} NOT NULL,
  requests ${int} NOT NULL,
  failed ${int} NOT NULL,
  PRIMARY KEY (tenant_id, day, team_id, user_id, repo_id, provider, model, pool, task_type, rule_id)
)${keyed};
`;

const routing: SchemaStep = ({ id, int, json, table }) => `
CREATE TABLE routing_event (
  id ${id},
  event_ms ${int} NOT NULL,
  trace_id TEXT NOT NULL,
  attempt_no ${int} NOT NULL CHECK (attempt_no >= 1),
  tenant_id TEXT NOT NULL,
  team_id TEXT NOT NULL,
  decision ${json} NOT NULL,
  pool TEXT NOT NULL,
  member ${json} NOT NULL,
  choice ${json} NOT NULL,
  fallback_chain ${json} NOT NULL,
  degraded_features ${json} NOT NULL,
  breaker_state TEXT NOT NULL,
  seed TEXT NOT NULL,
  error TEXT,
  UNIQUE (trace_id, attempt_no)
)${table};
CREATE INDEX routing_event_time ON routing_event (tenant_id, event_ms);
CREATE INDEX routing_event_team ON routing_event (tenant_id, team_id, event_ms);
`;

const rawRecords: SchemaStep = ({ id, int, flag, json, table, keyed }) => `
CREATE TABLE raw_record (
  trace_id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  team_id TEXT NOT NULL,
  repo_id TEXT,
  sensitivity TEXT NOT NULL CHECK (sensitivity IN ('low', 'medium', 'high', 'unknown')),
  storage_policy TEXT NOT NULL CHECK (storage_policy IN ('metadata_only', 'redacted_only', 'full')),
  object_uri TEXT,
  object_size ${int},
  kek_id TEXT,
  redacted_fields ${json},
  created_ms ${int} NOT NULL,
  expires_ms ${int} NOT NULL,
  deleted_ms ${int},
  CONSTRAINT raw_record_object CHECK (
    (storage_policy IN ('redacted_only', 'full')
      AND object_uri IS NOT NULL AND object_size IS NOT NULL AND kek_id IS NOT NULL)
    OR (storage_policy = 'metadata_only'
      AND object_uri IS NULL AND object_size IS NULL AND kek_id IS NULL)
  )
)${keyed};
CREATE INDEX raw_record_repo ON raw_record (tenant_id, repo_id, created_ms);
CREATE INDEX raw_record_expires ON raw_record (expires_ms) WHERE deleted_ms IS NULL;

CREATE TABLE raw_access_audit (
  id ${id},
  tenant_id TEXT NOT NULL,
  accessed_ms ${int} NOT NULL,
  accessor_user TEXT NOT NULL,
  accessor_role TEXT NOT NULL,
  target_trace_id TEXT NOT NULL,
  target_repo_id TEXT,
  purpose TEXT,
  is_break_glass ${flag} NOT NULL,
  ip TEXT,
  user_agent TEXT
)${table};
`;

const coordination: SchemaStep = ({ int, json, keyed }) => `
CREATE TABLE approval_request (
  id TEXT PRIMARY KEY,
  trace_id TEXT NOT NULL,
  tenant_id TEXT NOT NULL,
  requestor TEXT NOT NULL,
  team_id TEXT NOT NULL,
  repo_id TEXT,
  snapshot ${json} NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending', 'approved', 'rejected', 'expired')),
  created_ms ${int} NOT NULL,
  expires_ms ${int} NOT NULL,
  resolved_ms ${int},
  resolver TEXT,
  note TEXT,
  CHECK ((state = 'pending') = (resolved_ms IS NULL))
)${keyed};
CREATE INDEX approval_request_state ON approval_request (tenant_id, state, created_ms);

CREATE TABLE webhook (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL,
  url TEXT NOT NULL,
  events ${json} NOT NULL,
  secret_ref TEXT NOT NULL,
  created_ms ${int} NOT NULL
)${keyed};
CREATE INDEX webhook_tenant ON webhook (tenant_id);

-- The webhook may stand in the configuration instead of in the table.
CREATE TABLE webhook_delivery (
  id TEXT PRIMARY KEY,
  tenant_id TEXT NOT NULL,
  webhook_id TEXT NOT NULL,
  event TEXT NOT NULL,
  body TEXT NOT NULL,
  attempts ${int} NOT NULL,
  due_ms ${int} NOT NULL
)${keyed};
CREATE INDEX webhook_delivery_due ON webhook_delivery (due_ms);

CREATE TABLE breaker (
  tenant_id TEXT NOT NULL,
  key TEXT NOT NULL,
  opened_ms ${int} NOT NULL,
  probe_ms ${int},
  PRIMARY KEY (tenant_id, key)
)${keyed};
`;

/** An approval that is told by 202 is used later, once, by the same key for the same request. */
export const USED_APPROVALS: SchemaStep = ({ int }) => `
ALTER TABLE approval_request ADD COLUMN key_id TEXT;
ALTER TABLE approval_request ADD COLUMN request_hash TEXT;
ALTER TABLE approval_request ADD COLUMN used_ms ${int};
`;

/**
 * Each index costs pages of every commit: none that no query needs, and no entries for what is not there. Retention
 * reads the counters without an index: they are few, and every move would write it.
 */
export const FEWER_INDEXES: SchemaStep = () => `
DROP INDEX budget_counter_updated;
DROP INDEX budget_reservation_team;
DROP INDEX budget_reservation_settled;
CREATE INDEX budget_reservation_settled ON budget_reservation (settled_ms)
  WHERE settled_ms IS NOT NULL;
DROP INDEX audit_event_repo;
CREATE INDEX audit_event_repo ON audit_event (tenant_id, repo_id, event_ms)
  WHERE repo_id IS NOT NULL;
DROP INDEX raw_record_repo;
-- Retention asks by this alone.
DROP INDEX raw_record_expires;
CREATE INDEX raw_record_expires ON raw_record (expires_ms);
`;

export const FIRST_STEP: SchemaStep = (types) =>
  [identities, budgets, audit, costs, routing, rawRecords, coordination]
    .map((part) => part(types))
    .join('');
