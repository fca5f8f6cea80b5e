// The worked policy of the requirements, and turns to decide with it.
import type { ModelEnvelope } from '@subluminal/contracts';
import { sha256 } from '../../surface/gmail.test-support.ts';
import type { Endpoint } from '../types.ts';
import { readTurnPolicy, type TurnPolicy, type TurnPolicyInput } from './index.ts';

export const WORKED_POLICY = `version: 1
defaults:
  on_no_match: { action: route, model_pool: standard, reasons: ["default-fallthrough"] }
rules:
  - id: P-SEC-001
    description: "Restricted repos block hard secrets pattern"
    priority: 1000
    when: |
      envelope.repo.repo_id in restricted_repos
      && (envelope.task_hints.contains_secret_like_pattern
      || server_class.has_secret_finding)
    action: block
    reasons: ["restricted-repo + secret-detected"]
  - id: P-SEC-002
    description: "Any provider key / private key -> redact"
    priority: 990
    when: |
      server_class.findings.exists(f, f.type in ["aws_key","gcp_key","private_key","jwt"])
    action: redact
  - id: P-ROUTE-001
    description: "summary / test_output / repo_search -> cheap"
    priority: 500
    when: |
      server_class.task_type in ["summary","test_output","repo_search"]
      && envelope.task_hints.data_sensitivity != "high"
    action: route
    model_pool: cheap
  - id: P-ROUTE-002
    description: "code_edit / simple_edit / planning -> standard"
    priority: 500
    when: |
      server_class.task_type in ["code_edit","simple_edit","planning"]
    action: route
    model_pool: standard
  - id: P-ROUTE-003
    description: "architecture / debug / security_review -> strong"
    priority: 500
    when: |
      server_class.task_type in ["architecture","debug","security_review"]
    action: route
    model_pool: strong
  - id: P-ROUTE-004
    description: "Restricted repo or high sensitivity -> private_strong"
    priority: 700
    when: |
      envelope.repo.repo_id in restricted_repos
      || server_class.data_sensitivity == "high"
    action: route_to_private_model
    model_pool: private_strong
  - id: P-BUDGET-001
    description: "Team monthly budget hit hard cap -> escalate to require_approval"
    priority: 800
    when: |
      budget.team_monthly_used_cents >= budget.team_monthly_cap_cents
    action: require_approval
  - id: P-EVAL-001
    description: "Shadow eval: 5% of code_edit also sent to strong for evaluation"
    priority: 100
    when: |
      server_class.task_type == "code_edit" && rand() < 0.05
    action: shadow_eval
    model_pool: strong
variables:
  restricted_repos: ["repo_payments_core", "repo_keys_vault"]
`;

const POOLS: ReadonlySet<string> = new Set(['cheap', 'standard', 'strong', 'private_strong']);

const AZURE: Endpoint = {
  id: 'azure-tenant-1',
  provider: 'azure_openai',
  url: 'https://acme.openai.azure.com',
  teamKeyRefs: {},
  dataResidency: 'eu',
  trustTier: 'private',
  supports: new Set(['streaming', 'tools']),
  deployments: [],
  concurrencyMax: 8,
};
const ENDPOINTS: ReadonlyMap<string, Endpoint> = new Map([[AZURE.id, AZURE]]);

export function readPolicy(text: string) {
  const surroundings = { pools: POOLS, endpoints: ENDPOINTS, sha256 };
  return readTurnPolicy({ file: 'policies/main.yaml', text }, surroundings);
}

export function policyFrom(text: string): TurnPolicy {
  const read = readPolicy(text);
  if (!read.ok) throw new Error(JSON.stringify(read.problems, null, 2));
  return read.policy;
}

/** A policy of rules only, as JSON: each field that is not given has a plain value. */
export function policyOf(
  rules: readonly { readonly [name: string]: unknown }[],
  rest: { readonly [name: string]: unknown } = {},
): TurnPolicy {
  const written = rules.map((rule, index) => ({ id: `R${index + 1}`, when: 'true', ...rule }));
  return policyFrom(JSON.stringify({ version: 1, rules: written, ...rest }));
}

const ENVELOPE: ModelEnvelope = {
  schema_version: '1.0',
  client: { lp_version: '0.3.1', os: 'linux', arch: 'amd64' },
  identity: { machine_id: 'm-1' },
  agent: { tool: 'claude_code', wire_protocol: 'anthropic_messages' },
  session: { session_id: 's-1', turn_index: 3, is_continuation: true },
  repo: { repo_id: 'repo_web' },
  context_signals: {
    file_paths: ['src/app.ts'],
    file_fingerprints: [],
    diff_summary: {
      lines_added: 4,
      lines_removed: 2,
      contains_test_failure_keyword: false,
      contains_stack_trace: false,
    },
  },
  task_hints: {
    task_type: 'code_edit',
    complexity: 'medium',
    data_sensitivity: 'medium',
    agentic_loop: true,
    contains_secret_like_pattern: false,
    contains_pii_like_pattern: false,
    security_sensitive_area: false,
    confidence: { task_type: 0.8, complexity: 0.5, data_sensitivity: 0.5 },
  },
  scan: { pre_scan_engine: 'sub@1', pre_scan_findings: [] },
  custom_tags: { ticket: 'A-1', weight: 3, ratio: 0.5, urgent: true },
};

export function envelope(over: {
  readonly repo?: ModelEnvelope['repo'];
  readonly hints?: Partial<ModelEnvelope['task_hints']>;
}): ModelEnvelope {
  return {
    ...ENVELOPE,
    ...(over.repo && { repo: over.repo }),
    task_hints: { ...ENVELOPE.task_hints, ...over.hints },
  };
}

export function turn(over: Partial<TurnPolicyInput> = {}): TurnPolicyInput {
  return {
    traceId: 'trace-1',
    envelope: ENVELOPE,
    serverClass: serverClass({}),
    caller: {
      tenantId: 'default',
      userId: 'ada',
      teamId: 'web',
      role: 'developer',
      keyId: 'key-1',
    },
    repo: {
      id: 'repo_web',
      teamId: 'web',
      sensitivity: 'medium',
      tags: ['public'],
      storage: 'metadata_only',
    },
    budget: {
      teamMonthlyUsedMicros: 0,
      teamMonthlyReservedMicros: 0,
      teamMonthlyCapMicros: null,
      userDailyUsedMicros: 0,
      userDailyReservedMicros: 0,
      userDailyCapMicros: null,
      isSoftHit: false,
      isHardHit: false,
    },
    request: {
      model: 'claude-sonnet-4-6',
      wire: 'anthropic_messages',
      isStream: true,
      maxTokens: 64_000,
    },
    ...over,
  };
}

export function serverClass(
  over: Partial<TurnPolicyInput['serverClass']>,
): TurnPolicyInput['serverClass'] {
  return {
    taskType: 'code_edit',
    complexity: 'medium',
    dataSensitivity: 'medium',
    isAgenticLoop: true,
    hasSecretFinding: false,
    hasPersonalDataFinding: false,
    findings: [],
    languages: ['typescript'],
    ...over,
  };
}
