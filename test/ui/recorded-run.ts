// Events of runs as shims and proxies write them, with whatever decisions, times and texts a test of the page needs.

import { createHash } from 'node:crypto';
import {
  type Action,
  type CallStatus,
  type Client,
  type EventBody,
  type EventType,
  type EventWriter,
  eventDecision,
  eventWriter,
} from '@subluminal/contracts';

interface RunOptions {
  readonly runId: string;
  readonly agentId?: string;
  readonly client?: Client;
  readonly principal?: string;
  readonly startMs: number;
}

export interface RecordedCall {
  readonly server?: string;
  readonly tool?: string;
  readonly args?: object;
  readonly result?: string;
  readonly action?: Action;
  readonly ruleId?: string;
  readonly summary?: string;
  readonly hint?: string;
  readonly status?: CallStatus;
  readonly latencyMs?: number;
  /** How long after the call before it. */
  readonly afterMs?: number;
  /** Without it, the call ends. */
  readonly isPending?: boolean;
  readonly isTruncated?: boolean;
  /** A person was asked first, and agreed. */
  readonly approval?: { readonly by: string; readonly waitedMs: number };
}

export interface RecordedTurn {
  readonly provider?: string;
  readonly model?: string;
  readonly tokensIn?: number;
  readonly tokensOut?: number;
  readonly costMicros?: number;
  readonly latencyMs?: number;
  readonly afterMs?: number;
}

const POLICY = { policy_id: 'starter', policy_version: '1', policy_hash: '0'.repeat(64) };
const REASONS: { readonly [action in Action]: string } = {
  ALLOW: 'DEFAULT_ALLOW',
  BLOCK: 'DENYLIST_MATCH',
  THROTTLE: 'RATE_LIMIT',
  REJECT_WITH_HINT: 'DENYLIST_MATCH',
  TERMINATE_RUN: 'BUDGET_EXCEEDED',
};

interface StartedCall {
  readonly call_id: string;
  readonly server_name: string;
  readonly tool_name: string;
  readonly args_hash: string;
}

/** The lines of one run, in their order. */
export class RecordedRun {
  readonly runId: string;
  readonly lines: string[] = [];
  readonly #writer: EventWriter;
  readonly #startMs: number;
  #nowMs: number;
  #count = 0;
  #refused = 0;
  #pending: StartedCall | undefined;

  constructor({
    runId,
    agentId = 'fixer',
    client = 'claude',
    principal = 'ada',
    startMs,
  }: RunOptions) {
    this.runId = runId;
    this.#startMs = startMs;
    this.#nowMs = startMs;
    const source = { host_id: 'host', proc_id: 'proc', shim_id: runId };
    this.#writer = eventWriter({
      run_id: runId,
      agent_id: agentId,
      client,
      env: 'dev',
      source,
      principal,
    });
    const started_at = new Date(startMs).toISOString();
    this.#add('run_start', { run: { started_at, mode: 'guardrails', policy: POLICY } });
  }

  /** Adds a call; gives its id. */
  call(made: RecordedCall = {}): string {
    const { server = 'files', tool = 'read_file', args = { path: '/srv/app/README.md' } } = made;
    const { action = 'ALLOW', ruleId, latencyMs = 12, status = 'OK', isTruncated = false } = made;
    const call_id = `c${++this.#count}`;
    this.#nowMs += made.afterMs ?? 1_000;
    const text = JSON.stringify(args);
    const args_hash = createHash('sha256').update(text).digest('hex');
    const call = { call_id, server_name: server, tool_name: tool, args_hash };
    const sizes = { bytes_in: text.length, seq: this.#count } as const;
    const preview = { truncated: isTruncated, args_preview: text };
    this.#add('tool_call_start', { call: { ...call, ...sizes, transport: 'mcp_stdio', preview } });
    this.#ask(call_id, made);
    this.#decide(call, made);
    if (made.isPending) {
      this.#pending = call;
      return call_id;
    }
    const isRefused = action !== 'ALLOW';
    this.#refused += isRefused ? 1 : 0;
    this.#nowMs += latencyMs;
    const result = made.result ?? (isRefused ? '' : 'done');
    this.#add('tool_call_end', {
      call,
      status: isRefused ? 'ERROR' : status,
      latency_ms: latencyMs,
      bytes_out: result.length,
      preview: { truncated: isTruncated, result_preview: result },
      ...(isRefused && {
        error: { class: 'policy_block', message: `Refused by ${ruleId ?? 'policy'}` },
      }),
    });
    return call_id;
  }

  /** Ends the last call that was left pending. */
  endPending(): void {
    if (this.#pending === undefined) throw new Error('No call is pending.');
    const preview = { truncated: false, result_preview: 'done' };
    const sizes = { latency_ms: 5, bytes_out: 4 };
    this.#add('tool_call_end', { call: this.#pending, status: 'OK', ...sizes, preview });
    this.#pending = undefined;
  }

  #ask(call_id: string, { approval, ruleId = 'ask' }: RecordedCall): void {
    if (approval === undefined) return;
    const asked = { id: `${this.runId}-${call_id}`, rule_id: ruleId };
    this.#add('approval', { call: { call_id }, approval: { ...asked, state: 'asked' } });
    const { by, waitedMs } = approval;
    this.#nowMs += waitedMs;
    const decided = { state: 'approved', by, channel: 'page', waited_ms: waitedMs } as const;
    this.#add('approval', { call: { call_id }, approval: { ...asked, ...decided } });
  }

  #decide(call: StartedCall, made: RecordedCall): void {
    const {
      action = 'ALLOW',
      ruleId = null,
      summary = 'No rule decided.',
      hint = 'Use another file.',
    } = made;
    const isHint = action === 'REJECT_WITH_HINT';
    const decided = {
      action,
      rule_id: ruleId,
      severity: action === 'ALLOW' ? 'info' : 'warn',
      reason_code: REASONS[action],
      summary,
      ...(isHint && {
        hint: { hint_text: hint, hint_kind: 'OTHER', suggested_args: null, retry_advice: null },
      }),
      ...(action === 'THROTTLE' && { backoff_ms: 1_000 }),
      ...(action === 'TERMINATE_RUN' && {
        terminate: { terminate_code: 'BUDGET', terminate_message: summary },
      }),
    } as const;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- The writer checks it.
    const decision = eventDecision(decided as Parameters<typeof eventDecision>[0], POLICY);
    const outcome = { kind: 'deny', outcome: 'decided', tally: null, note: null } as const;
    const trace = ruleId === null ? {} : { trace: [{ rule_id: ruleId, ...outcome }] };
    this.#add('tool_call_decision', { call, decision, ...trace });
  }

  /** Adds a turn of a model; gives its id. */
  turn(made: RecordedTurn = {}): string {
    const { provider = 'anthropic', model = 'claude-opus-4-6', latencyMs = 900 } = made;
    const { tokensIn = 1_200, tokensOut = 300, costMicros = 12_000 } = made;
    const call_id = `t${++this.#count}`;
    this.#nowMs += made.afterMs ?? 1_000;
    const call = { call_id, provider, model };
    const preview = { truncated: false };
    const sizes = { bytes_in: 4_096, seq: this.#count } as const;
    this.#add('turn_start', { call: { ...call, ...sizes, transport: 'messages_api', preview } });
    const allowed = { action: 'ALLOW', rule_id: null, severity: 'info' } as const;
    const why = { reason_code: 'DEFAULT_ALLOW', summary: 'No rule decided.' } as const;
    this.#add('turn_decision', { call, decision: eventDecision({ ...allowed, ...why }, POLICY) });
    this.#nowMs += latencyMs;
    const usage = { tokens_in: tokensIn, tokens_out: tokensOut, cost_micros: costMicros };
    this.#add('turn_end', {
      call,
      status: 'OK',
      latency_ms: latencyMs,
      bytes_out: 2_048,
      preview,
      usage,
    });
    return call_id;
  }

  end(status: 'SUCCEEDED' | 'FAILED' | 'TERMINATED' = 'SUCCEEDED'): this {
    const ended_at = new Date(this.#nowMs).toISOString();
    const summary = {
      calls_total: this.#count,
      calls_allowed: this.#count - this.#refused,
      calls_blocked: this.#refused,
      calls_throttled: 0,
      errors_total: 0,
      duration_ms: this.#nowMs - this.#startMs,
    };
    this.#add('run_end', { run: { ended_at, status, summary } });
    return this;
  }

  #add<T extends EventType>(type: T, body: EventBody<NoInfer<T>>): void {
    this.lines.push(this.#writer.line(type, body, new Date(this.#nowMs).toISOString()));
  }
}
