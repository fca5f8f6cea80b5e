// What a proxy says about a turn of which nothing is known: rules are tried with it, and with what one adds.
import type { ModelEnvelope } from '@subluminal/contracts';

const PLAIN_ENVELOPE: ModelEnvelope = {
  schema_version: '1.0',
  client: { lp_version: '0', os: 'linux', arch: 'amd64' },
  identity: { machine_id: 'page' },
  agent: { tool: 'custom_oai', wire_protocol: 'anthropic_messages' },
  session: { session_id: 'page', turn_index: 0, is_continuation: false },
  repo: {},
  context_signals: {
    file_paths: [],
    file_fingerprints: [],
    diff_summary: {
      lines_added: 0,
      lines_removed: 0,
      contains_test_failure_keyword: false,
      contains_stack_trace: false,
    },
  },
  task_hints: {
    task_type: 'unknown',
    complexity: 'unknown',
    data_sensitivity: 'unknown',
    agentic_loop: false,
    contains_secret_like_pattern: false,
    contains_pii_like_pattern: false,
    security_sensitive_area: false,
    confidence: { task_type: 0, complexity: 0, data_sensitivity: 0 },
  },
  scan: { pre_scan_engine: 'none', pre_scan_findings: [] },
};

/** A turn as one writes it, with an envelope where it has none. Throws for what is no JSON. */
export function wholeTurn(text: string): string {
  const turn: unknown = JSON.parse(text);
  return JSON.stringify(
    typeof turn === 'object' && turn !== null ? { envelope: PLAIN_ENVELOPE, ...turn } : turn,
  );
}
