// The messages and policies that the contract tests speak with.

export const REVISIONS = [
  '2024-11-05',
  '2025-03-26',
  '2025-06-18',
  '2025-11-25',
  '2026-07-28',
] as const;
export type Revision = (typeof REVISIONS)[number];

/** Ids as they are written: `1`, `"a"`. */
export type Id = number | string;

const PROTOCOL_VERSION = 'io.modelcontextprotocol/protocolVersion';

export function ping(id: Id): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`;
}

export function answer(id: Id, result = '{}'): string {
  return `{"jsonrpc":"2.0","id":${id},"result":${result}}\n`;
}

export function call(id: Id, name: string, args = '{}'): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${name}","arguments":${args}}}\n`;
}

/** A call that says its own revision, as the modern ones must. */
export function modernCall(id: Id, name: string, version: Revision = '2026-07-28'): string {
  const meta = `{"${PROTOCOL_VERSION}":"${version}","io.modelcontextprotocol/clientCapabilities":{}}`;
  const params = `{"name":"${name}","arguments":{},"_meta":${meta}}`;
  return `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${params}}\n`;
}

export function initialize(id: Id, version: string): string {
  const params = `{"protocolVersion":"${version}","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`;
  return `{"jsonrpc":"2.0","id":${id},"method":"initialize","params":${params}}\n`;
}

export function initialized(version: string): string {
  return `{"protocolVersion":"${version}","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`;
}

export function notification(method: string, params = '{}'): string {
  return `{"jsonrpc":"2.0","method":"${method}","params":${params}}\n`;
}

/** Everything but tools called `denied…` passes. */
export const DENIES = bundle(`
  - rule_id: no-denied
    kind: deny
    enabled: true
    severity: critical
    match: { tool_name: { glob: ["denied*"] } }
    effect: { action: BLOCK, reason_code: DENIED, message: Denied by the test. }
`);

/** No tool passes. */
export const DENIES_ALL = bundle(`
  - rule_id: no-tools
    kind: deny
    enabled: true
    severity: critical
    match: { tool_name: { glob: ["*"] } }
    effect: { action: BLOCK, message: No tools at all. }
`);

/** One tool for each action of contract C. */
export const EVERY_ACTION = bundle(`
  - rule_id: blocks
    kind: deny
    enabled: true
    severity: critical
    match: { tool_name: { glob: ["block"] } }
    effect: { action: BLOCK, message: Blocked. }
  - rule_id: throttles
    kind: rate_limit
    enabled: true
    severity: warn
    match: { tool_name: { glob: ["free", "throttle"] } }
    effect:
      rate_limit:
        scope: run
        capacity: 1
        refill_tokens: 1
        refill_period_ms: 31536000000
        on_limit: THROTTLE
        backoff_ms: 250
  - rule_id: hints
    kind: deny
    enabled: true
    severity: warn
    match: { tool_name: { glob: ["hint"] } }
    effect: { action: BLOCK, message: Not so., hint: { hint_text: Do it otherwise. } }
  - rule_id: terminates
    kind: budget
    enabled: true
    severity: critical
    match: { tool_name: { glob: ["terminate"] } }
    effect: { budget: { scope: run, limit_calls: 0, on_exceed: TERMINATE_RUN } }
`);

export function bundle(rules: string, version = '1'): string {
  return `policy_id: contract
version: "${version}"
mode: control
defaults: { decision_on_error: BLOCK }
selectors: {}
rules:${rules}`;
}
