// Lines of events as a shim writes them, with the time of now: old ones would be pruned.
import {
  type EventBody,
  type EventType,
  type EventWriter,
  eventDecision,
  eventWriter,
} from '@subluminal/contracts';

interface NumberedLine {
  readonly seq: number;
  readonly line: string;
}

const HASH = '0'.repeat(64);
const POLICY = { policy_id: 'none', policy_version: '1', policy_hash: HASH };
const PREVIEW = { truncated: false } as const;

/** One producer; its run is called after it. */
export class CallEvents {
  readonly producer: string;
  readonly #writer: EventWriter;
  #seq = 0;

  constructor(producer: string) {
    this.producer = producer;
    this.#writer = eventWriter({
      run_id: `run-${producer}`,
      agent_id: 'agent',
      client: 'custom',
      env: 'dev',
      source: { host_id: 'h', proc_id: 'p', shim_id: producer },
    });
  }

  line<T extends EventType>(type: T, body: EventBody<NoInfer<T>>): NumberedLine {
    const line = this.#writer.line(type, body, new Date().toISOString());
    return { seq: this.#seq++, line };
  }

  /** A whole call that went well. */
  call(call_id: string): readonly NumberedLine[] {
    const call = { call_id, server_name: 'git', tool_name: 'log', args_hash: HASH };
    const start = { transport: 'mcp_stdio', bytes_in: 1, seq: 1, preview: PREVIEW } as const;
    const made = { action: 'ALLOW', rule_id: null, severity: 'info' } as const;
    const why = { reason_code: 'DEFAULT_ALLOW', summary: 'No rule decided.' } as const;
    const end = { status: 'OK', latency_ms: 1, bytes_out: 1, preview: PREVIEW } as const;
    return [
      this.line('tool_call_start', { call: { ...call, ...start } }),
      this.line('tool_call_decision', {
        call,
        decision: eventDecision({ ...made, ...why }, POLICY),
      }),
      this.line('tool_call_end', { call, ...end }),
    ];
  }

  calls(count: number): readonly NumberedLine[] {
    return Array.from({ length: count }, (_, at) => this.call(`c${at}`)).flat();
  }
}

/** As they stand on the wire and in the spool. */
export function wireText(lines: readonly NumberedLine[]): string {
  return lines.map(({ seq, line }) => `${seq} ${line}\n`).join('');
}
