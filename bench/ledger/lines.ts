// Event lines of calls as shims write them, by the contracts' writer. Their texts are pieces of this tree:
// paths, code and prose, another piece for each call.
import { createHash, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Decision, type EventWriter, eventDecision, eventWriter } from '@subluminal/contracts';
import { callIds } from '@subluminal/plane/crypto';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDERS = ['packages', 'docs', 'test'];
const TEXT_FILE = /\.(?:ts|tsx|md)$/;
const RUN_CALLS = 500;
const PIECE = { min: 300, spread: 1_200 };
const TOOLS = [
  ['files', 'read_file', 'read_like'],
  ['files', 'write_file', 'write_like'],
  ['files', 'edit_file', 'write_like'],
  ['shell', 'run_command', 'exec_like'],
  ['search', 'find_text', 'read_like'],
] as const;
const POLICY = {
  policy_id: 'team',
  policy_version: '1.4.0',
  policy_hash: createHash('sha256').update('team').digest('hex'),
};
const ALLOWED: Decision = {
  action: 'ALLOW',
  rule_id: null,
  severity: 'info',
  reason_code: 'DEFAULT_ALLOW',
  summary: 'No rule decided.',
};
const BLOCKED: Decision = {
  action: 'BLOCK',
  rule_id: 'no-writes-outside',
  severity: 'warn',
  reason_code: 'PATH_DENIED',
  summary: 'Writes go into the repository alone.',
};

export interface Source {
  readonly path: string;
  readonly text: string;
}

/** All texts of this tree; one reading of them serves all producers of a process. */
export function sources(): readonly Source[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => TEXT_FILE.test(name) && !/node_modules|dist/.test(name))
      .map((name) => ({
        path: `/home/dev/code/${folder}/${name}`,
        text: readFileSync(join(ROOT, folder, name), 'utf8'),
      })),
  ).filter(({ text }) => text.length > PIECE.min + PIECE.spread);
}

/** One shim after the other, each with some hundred calls of a run of its own. */
export class LineMaker {
  readonly producer: string;
  readonly #sources: readonly Source[];
  readonly #callId = callIds();
  #random: number;
  #calls = 0;
  #writer: EventWriter | undefined;

  constructor(all: readonly Source[], number: number) {
    this.#sources = all;
    this.producer = `shim-${randomUUID()}`;
    this.#random = number * 7_919 + 1;
  }

  /** Start, decision and end of one call; the first of a run comes behind its start. */
  call(): readonly string[] {
    const nowMs = Date.now();
    const ts = new Date(nowMs).toISOString();
    const isNew = this.#calls % RUN_CALLS === 0;
    if (isNew) this.#writer = this.#newRun();
    this.#calls += 1;
    const writer = this.#writer ?? this.#newRun();
    const lines = isNew ? [this.#runStart(writer, ts)] : [];
    const [server_name, tool_name, risk] = TOOLS[this.#below(TOOLS.length)] ?? TOOLS[0];
    const { path, piece } = this.#piece();
    const args_preview = JSON.stringify({ path, ...argsOf(tool_name, piece) });
    const args_hash = createHash('sha256').update(args_preview).digest('hex');
    const call = { call_id: this.#callId(), server_name, tool_name, args_hash };
    const seq = ((this.#calls - 1) % RUN_CALLS) + 1;
    const started = { ...call, transport: 'mcp_stdio', seq, tags: [risk] } as const;
    const bytes_in = args_preview.length + 180;
    const preview = { truncated: false, args_preview };
    lines.push(writer.line('tool_call_start', { call: { ...started, bytes_in, preview } }, ts));
    const isBlocked = this.#below(50) === 0;
    const decision = eventDecision(isBlocked ? BLOCKED : ALLOWED, POLICY);
    const tally = { count: seq, limit: 10_000 };
    const traced = { rule_id: 'calls-of-a-run', kind: 'budget', outcome: 'counted' } as const;
    const trace = [{ ...traced, tally, note: null }];
    lines.push(
      writer.line('tool_call_decision', { call, decision, counter_scope: 'run', trace }, ts),
    );
    lines.push(this.#end(writer, { call, isBlocked, nowMs }));
    return lines;
  }

  #end(
    writer: EventWriter,
    {
      call,
      isBlocked,
      nowMs,
    }: {
      readonly call: CallNames;
      readonly isBlocked: boolean;
      readonly nowMs: number;
    },
  ): string {
    const latency_ms = isBlocked ? 0 : 1 + this.#below(200);
    const ts = new Date(nowMs + latency_ms).toISOString();
    if (isBlocked) {
      const error = { class: 'policy_block', message: BLOCKED.summary } as const;
      const fixed = { status: 'ERROR', latency_ms, bytes_out: 120 } as const;
      return writer.line(
        'tool_call_end',
        { call, ...fixed, preview: { truncated: false }, error },
        ts,
      );
    }
    const text = this.#piece().piece;
    const result_preview = JSON.stringify({ content: [{ type: 'text', text }] });
    const preview = { truncated: false, result_preview };
    const bytes_out = result_preview.length + 60;
    const isFailed = this.#below(30) === 0;
    const ended = isFailed
      ? ({
          status: 'ERROR',
          error: { class: 'upstream_error', message: 'ENOENT: no such file' },
        } as const)
      : ({ status: 'OK' } as const);
    return writer.line('tool_call_end', { call, latency_ms, bytes_out, preview, ...ended }, ts);
  }

  #newRun(): EventWriter {
    return eventWriter({
      run_id: this.#callId(),
      agent_id: `agent-${this.#below(8)}`,
      client: 'claude',
      env: 'dev',
      source: { host_id: 'workstation-17', proc_id: `pid-${process.pid}`, shim_id: this.producer },
      principal: 'dev@example.com',
      workload: { user: 'dev', repo_path: '/home/dev/work' },
    });
  }

  #runStart(writer: EventWriter, ts: string): string {
    const run = { started_at: ts, mode: 'guardrails', policy: POLICY } as const;
    return writer.line('run_start', { run }, ts);
  }

  #piece(): { readonly path: string; readonly piece: string } {
    const source = this.#sources[this.#below(this.#sources.length)];
    if (source === undefined) throw new Error('this tree has no texts');
    const length = PIECE.min + this.#below(PIECE.spread);
    const from = this.#below(source.text.length - length);
    return { path: source.path, piece: wellFormed(source.text.slice(from, from + length)) };
  }

  /** Numbers that look random, and are the same in each run. */
  #below(limit: number): number {
    this.#random = (Math.imul(this.#random, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#random / 2 ** 32) * limit);
  }
}

interface CallNames {
  readonly call_id: string;
  readonly server_name: string;
  readonly tool_name: string;
  readonly args_hash: string;
}

function argsOf(tool: string, piece: string): object {
  switch (tool) {
    case 'write_file':
      return { content: piece };
    case 'edit_file':
      return {
        old_text: piece.slice(0, piece.length / 2),
        new_text: piece.slice(piece.length / 2),
      };
    case 'run_command':
      return {
        command: `grep -rn ${JSON.stringify(piece.slice(0, 200))} . && cat <<'END'\n${piece}\nEND`,
      };
    default:
      return { query: piece.slice(0, 120), context: piece };
  }
}

/** A cut may go through a character of two units. */
function wellFormed(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}
