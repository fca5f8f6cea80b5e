// Writes examples/events/session.jsonl: a run as examples/policies/guardrails.json decided it, made
// with the product's own writer. With --check it only says whether the file is up to date.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Decision, eventDecision, eventWriter, type JsonObject } from '@subluminal/contracts';
import { argsHash } from '@subluminal/core/json';
import {
  compileBundle,
  decide,
  initialState,
  loadPatternChecks,
  parseBundle,
  recordResult,
  type Snapshot,
} from '@subluminal/core/policy';
import { sha256 } from '@subluminal/plane/crypto';

interface Made {
  readonly second: number;
  readonly tool: string;
  readonly args: JsonObject;
  /** The preview was cut, so whoever replays does not know the arguments. */
  readonly cut?: boolean;
  /** The recording ends before the decision. */
  readonly undecided?: boolean;
}

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const FILE = join('examples', 'events', 'session.jsonl');
const POLICY = join('examples', 'policies', 'guardrails.json');
const START_MS = Date.UTC(2026, 0, 31, 12);
const PRODUCER = {
  run_id: 'run-2026-01-31',
  agent_id: 'repo-keeper',
  client: 'claude',
  env: 'dev',
  source: { host_id: 'host-1', proc_id: 'proc-1', shim_id: 'shim-1' },
} as const;

const SITE = { repo: 'acme/site' };
const ISSUE = { ...SITE, title: 'The old site can go' };
const CLOSE = { ...SITE, issue: 7, state: 'closed' };
const FILE_ARGS = { ...SITE, path: 'README.md' };

/** One call of every kind that a replay can tell apart, by examples/policies/starter.yaml. */
const CALLS: readonly Made[] = [
  { second: 0, tool: 'list_issues', args: SITE },
  ...[1, 2, 3, 4, 5].map((second) => ({ second, tool: 'get_file', args: FILE_ARGS })),
  { second: 10, tool: 'create_issue', args: ISSUE },
  { second: 12, tool: 'create_issue', args: ISSUE },
  { second: 20, tool: 'delete_repo', args: { repo: 'acme/old-site', permanent: true } },
  { second: 25, tool: 'shell_run', args: { command: 'git gc' } },
  { second: 30, tool: 'delete_branch', args: { ...SITE, branch: 'old' }, cut: true },
  ...[40, 51, 62, 73, 75].map((second) => ({ second, tool: 'update_issue', args: CLOSE })),
  { second: 80, tool: 'push_files', args: { ...SITE, files: 2 }, undecided: true },
];

/** The lines of the file, as a shim would have written them. */
export async function exampleEvents(): Promise<string> {
  const snapshot = await loadPolicy();
  const writer = eventWriter(PRODUCER);
  const run = { started_at: timeAt(0), mode: snapshot.document.mode, policy: snapshot.ref };
  const lines = [writer.line('run_start', { run }, timeAt(0))];
  let state = initialState(snapshot);
  for (const [index, made] of CALLS.entries()) {
    const { call, started } = callOf(made, index + 1);
    const nowMs = START_MS + made.second * 1_000;
    lines.push(writer.line('tool_call_start', { call: started }, timeAt(made.second)));
    const outcome = decide(snapshot, call, state, nowMs);
    state = outcome.state;
    if (made.undecided === true) break;
    const { decision, trace } = outcome;
    const { call_id, server_name, tool_name, args_hash } = started;
    const ref = { call_id, server_name, tool_name, args_hash };
    const decided = { call: ref, decision: eventDecision(decision, snapshot.ref) };
    lines.push(writer.line('tool_call_decision', decided, timeAt(made.second)));
    lines.push(
      writer.line('tool_call_end', { call: ref, ...endOf(decision) }, timeAt(made.second)),
    );
    if (decision.action === 'ALLOW') {
      state = recordResult(snapshot, { call, result: 'ok', trace, nowMs }, state);
    }
  }
  return `${lines.join('\n')}\n`;
}

async function loadPolicy(): Promise<Snapshot> {
  const bytes = readFileSync(join(ROOT, POLICY));
  const parsed = parseBundle({ file: POLICY, bytes }, { checks: await loadPatternChecks() });
  if (!parsed.ok) throw new Error(`${POLICY} does not parse`);
  return compileBundle(parsed.bundle, { sha256 });
}

function callOf({ tool, args, cut = false }: Made, seq: number) {
  const hashed = argsHash(JSON.stringify(args), sha256);
  if (!hashed.ok) throw new Error(hashed.message);
  const { canonical, hash: args_hash } = hashed;
  const { run_id, agent_id, client, env } = PRODUCER;
  const names = { server_name: 'github', tool_name: tool, args_hash };
  const bytes_in = Buffer.byteLength(canonical);
  const preview = {
    truncated: cut,
    args_preview: cut ? canonical.slice(0, 12) : canonical,
  };
  return {
    call: { identity: { run_id, agent_id, client, env }, ...names, args, bytes_in },
    started: { call_id: `call-${seq}`, ...names, transport: 'mcp_stdio', bytes_in, preview, seq },
  } as const;
}

function endOf({ action, summary }: Decision) {
  const preview = { truncated: false };
  if (action === 'ALLOW') return { status: 'OK', latency_ms: 40, bytes_out: 128, preview } as const;
  const error = { class: 'policy_block', message: summary } as const;
  return { status: 'ERROR', latency_ms: 0, bytes_out: 256, preview, error } as const;
}

function timeAt(second: number): string {
  return new Date(START_MS + second * 1_000).toISOString();
}

async function main(args: readonly string[]): Promise<number> {
  const unknown = args.find((arg) => arg !== '--check');
  if (unknown !== undefined) {
    process.stderr.write(`example-events: unknown option ${unknown}; the only one is --check\n`);
    return 2;
  }
  const path = join(ROOT, FILE);
  const text = await exampleEvents();
  const same = existsSync(path) && readFileSync(path, 'utf8') === text;
  if (args.includes('--check')) {
    if (!same) process.stderr.write(`${FILE} is stale: run \`${COMMAND}\`.\n`);
    return same ? 0 : 1;
  }
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  process.stdout.write(`${same ? 'Kept' : 'Wrote'} ${FILE}.\n`);
  return 0;
}

const COMMAND = 'node tools/run.mjs tools/example-events.ts';

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.exitCode = await main(process.argv.slice(2));
}
