// Lines as shims write them, in few words.
import { createHash } from 'node:crypto';
import {
  type Client,
  type ContentOutcome,
  type Decision,
  type EventBody,
  type EventType,
  type EventWriter,
  eventDecision,
  eventWriter,
  type StartedCall,
} from '@subluminal/contracts';
import type { IncomingLine } from '../chain/event-line.ts';

export const T0_MS = Date.parse('2026-01-31T12:00:00.000Z');
/** In the order of its canonical form. */
export const POLICY_DOCUMENT = { mode: 'guardrails', policy_id: 'team', rules: [] };
export const POLICY = {
  policy_id: 'team',
  policy_version: '1.2.0',
  policy_hash: createHash('sha256').update(JSON.stringify(POLICY_DOCUMENT)).digest('hex'),
};
const ALLOWED: Decision = {
  action: 'ALLOW',
  rule_id: null,
  severity: 'info',
  reason_code: 'DEFAULT_ALLOW',
  summary: 'No rule decided.',
};

interface Names {
  readonly run?: string;
  readonly agent?: string;
  readonly server?: string;
  readonly tool?: string;
  readonly args?: string;
  readonly principal?: string;
  /** The repository that the run works in. */
  readonly folder?: string;
  readonly host?: string;
  readonly client?: Client;
}

interface DecisionParts {
  readonly content?: ContentOutcome;
  readonly trace?: NonNullable<EventBody<'tool_call_decision'>['trace']>;
}

/** One producer: its lines are numbered as they are made. */
export class Shim {
  readonly producer: string;
  readonly #names: Required<Omit<Names, 'principal' | 'folder' | 'host' | 'client'>>;
  readonly #writer: EventWriter;
  #seq = 0;
  #nowMs: number;

  constructor(producer: string, names: Names = {}, startMs = T0_MS) {
    this.producer = producer;
    this.#nowMs = startMs;
    this.#names = {
      run: 'run-1',
      agent: 'fixer',
      server: 'git',
      tool: 'log',
      args: '{}',
      ...names,
    };
    this.#writer = eventWriter({
      run_id: this.#names.run,
      agent_id: this.#names.agent,
      client: names.client ?? 'claude',
      env: 'dev',
      source: { host_id: names.host ?? 'h', proc_id: 'p', shim_id: producer },
      ...(names.principal !== undefined && { principal: names.principal }),
      ...(names.folder !== undefined && { workload: { repo_path: names.folder } }),
    });
  }

  /** How many lines it has made. */
  get count(): number {
    return this.#seq;
  }

  raw(line: string): IncomingLine {
    return { producer: this.producer, seq: this.#seq++, line };
  }

  line<T extends EventType>(type: T, body: EventBody<NoInfer<T>>): IncomingLine {
    const ts = new Date(this.#nowMs++).toISOString();
    return this.raw(this.#writer.line(type, body, ts));
  }

  runStart(): IncomingLine {
    const started_at = new Date(this.#nowMs).toISOString();
    const run = { started_at, mode: 'guardrails', policy: POLICY, meta: { issue: 7 } } as const;
    return this.line('run_start', { run });
  }

  runEnd(calls = 0): IncomingLine {
    const ended_at = new Date(this.#nowMs).toISOString();
    const counts = { calls_blocked: 0, calls_throttled: 0, errors_total: 0, duration_ms: 5 };
    const summary = { calls_total: calls, calls_allowed: calls, ...counts };
    return this.line('run_end', { run: { ended_at, status: 'SUCCEEDED', summary } });
  }

  start(call_id: string, parts: Partial<StartedCall> = {}): IncomingLine {
    const fixed = { transport: 'mcp_stdio', bytes_in: 100, seq: 1 } as const;
    const preview = { truncated: false, args_preview: `{"of":"${call_id}"}` };
    return this.line('tool_call_start', {
      call: { ...this.ref(call_id), ...fixed, preview, ...parts },
    });
  }

  decision(
    call_id: string,
    made: Partial<Decision> = {},
    { content, trace }: DecisionParts = {},
  ): IncomingLine {
    const decision = eventDecision({ ...ALLOWED, ...made }, POLICY);
    const call = { ...this.ref(call_id), ...(content && { content }) };
    return this.line('tool_call_decision', { call, decision, ...(trace && { trace }) });
  }

  end(call_id: string, parts: Partial<EventBody<'tool_call_end'>> = {}): IncomingLine {
    const preview = { truncated: false, result_preview: `result of ${call_id}` };
    const fixed = { status: 'OK', latency_ms: 12, bytes_out: 34, preview } as const;
    return this.line('tool_call_end', { call: this.ref(call_id), ...fixed, ...parts });
  }

  approval(call_id: string, ended: EventBody<'approval'>['approval']): IncomingLine {
    return this.line('approval', { call: { call_id }, approval: ended });
  }

  /** A whole call with these arguments. */
  callWith(call_id: string, args: unknown): readonly IncomingLine[] {
    const preview = { truncated: false, args_preview: JSON.stringify(args) };
    return [this.start(call_id, { preview }), this.decision(call_id), this.end(call_id)];
  }

  /** A whole call that went well. */
  call(call_id: string): readonly IncomingLine[] {
    return [this.start(call_id), this.decision(call_id), this.end(call_id)];
  }

  ref(call_id: string) {
    const { server, tool, args } = this.#names;
    const args_hash = createHash('sha256').update(args).digest('hex');
    return { call_id, server_name: server, tool_name: tool, args_hash };
  }
}
