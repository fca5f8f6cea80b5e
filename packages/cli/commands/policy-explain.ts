import { check, type Shape } from '@subluminal/contracts';
import {
  decide,
  type Explanation,
  explain,
  type Identity,
  initialState,
  recordResult,
  type Snapshot,
} from '@subluminal/core/policy';
import { type Calls, canonicalText, type PlannedCall, parseCalls } from '../call-file.ts';
import type { ExplainInput } from '../catalog/policy.ts';
import { done, type Outcome } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { type Failure, failure, isFailure } from '../failure.ts';
import type { Io } from '../io.ts';
import { loadPolicy } from '../load-policy.ts';
import { readFileBytes, STDIO } from '../read-file.ts';
import { renderExplained, renderHead, renderSummary } from '../render-explanation.ts';
import { jsonText } from '../text.ts';

/** Calls in a row that came out the same, explained by the first of them. */
interface Explained {
  readonly from: number;
  to: number;
  readonly atMs: number;
  readonly argsText: string;
  readonly explanation: Explanation;
}

type Options = ExplainInput['options'];

const CALL_BYTES_MAX = 1_048_576;
const TIME: Shape = { kind: 'string', lengthMin: 1, lengthMax: 64, format: 'rfc3339' };

async function run({ args, options }: ExplainInput, io: Io): Promise<Outcome> {
  const wrong = wrongUsage(args.file, options);
  if (wrong !== undefined) return wrong;
  const { mode, profile } = options;
  const policy = await loadPolicy(args.file, { io, mode, profile });
  if (isFailure(policy)) return policy;
  const calls = await readCalls(options, io);
  if (isFailure(calls)) return calls;
  const startMs = options.at === undefined ? Date.now() : Date.parse(options.at);
  const all = explainAll(policy.snapshot, calls, startMs);
  const shown = options.last ? all.slice(-1) : all;
  io.out.write(options.json ? jsonText(reportOf(shown)) : textOf(shown, policy.snapshot, io));
  const refused = shown.some(({ explanation }) => explanation.decision.action !== 'ALLOW');
  return done(refused ? EXIT.findings : EXIT.fine);
}

function wrongUsage(file: string, options: Options): Failure | undefined {
  const { call, server, tool, args, at } = options;
  const usage = (message: string, fix: string) => failure('SUB_USAGE', message, fix);
  if ((server === undefined) !== (tool === undefined)) {
    return usage('--server and --tool belong together.', 'Give both.');
  }
  if (args !== undefined && tool === undefined) {
    return usage('--args needs a tool.', 'Give --server and --tool, too.');
  }
  if (call.length === 0 && tool === undefined) {
    return usage('there is no call to explain.', 'Give --call FILE, or --server and --tool.');
  }
  if ([file, ...call].filter((path) => path === STDIO).length > 1) {
    return usage('standard input can be only one of the files.', 'Write the others to files.');
  }
  if (at !== undefined && check(TIME, at).length > 0) {
    return usage(`--at ${at} is no time in UTC.`, 'Write it as 2026-01-31T12:00:00Z.');
  }
  return undefined;
}

async function readCalls(options: Options, io: Io): Promise<readonly PlannedCall[] | Failure> {
  const identity = identityOf(options);
  const calls: PlannedCall[] = [];
  for (const path of options.call) {
    const file = await readFileBytes(path, { io, bytesMax: CALL_BYTES_MAX });
    if (isFailure(file)) return file;
    const text = Buffer.from(file.bytes).toString('utf8');
    const parsed = parseCalls({ name: file.name, text, identity });
    if (isFailure(parsed)) return parsed;
    calls.push(...parsed.calls);
  }
  if (options.tool === undefined) return calls;
  const parsed = callOfFlags(options, identity);
  return isFailure(parsed) ? parsed : [...calls, ...parsed.calls];
}

function callOfFlags(options: Options, identity: Identity): Calls | Failure {
  const args = canonicalText(options.args ?? '{}', '--args');
  if (isFailure(args)) return args;
  // Spliced, not parsed and written again, so that the arguments keep their digits.
  const names = JSON.stringify({ server_name: options.server, tool_name: options.tool });
  const text = `${names.slice(0, -1)},"args":${args.text}}`;
  return parseCalls({ name: '--args', text, identity });
}

function identityOf(options: Options): Identity {
  return {
    run_id: 'explain',
    agent_id: options['agent-id'] ?? 'agent',
    client: options.client ?? 'custom',
    env: options.env ?? 'dev',
  };
}

function explainAll(
  snapshot: Snapshot,
  calls: readonly PlannedCall[],
  startMs: number,
): readonly Explained[] {
  const all: Explained[] = [];
  let state = initialState(snapshot);
  let nowMs = startMs;
  let number = 0;
  for (const { call, argsText, atMs, repeat, result } of calls) {
    nowMs = atMs ?? nowMs;
    let known: string | undefined;
    for (let left = repeat; left > 0; left--) {
      number++;
      const { decision, trace, state: next } = decide(snapshot, call, state, nowMs);
      const key = `${decision.action} ${decision.rule_id} ${decision.reason_code}`;
      const last = all.at(-1);
      if (last !== undefined && known === key) last.to = number;
      else {
        const explanation = explain(snapshot, { call, state, nowMs });
        all.push({ from: number, to: number, atMs: nowMs, argsText, explanation });
      }
      known = key;
      state = next;
      if (decision.action === 'ALLOW') {
        state = recordResult(snapshot, { call, result, trace, nowMs }, state);
      }
    }
  }
  return all;
}

function countsOf(shown: readonly Explained[]) {
  const counts = { calls: 0, allowed: 0, refused: 0 };
  for (const { from, to, explanation } of shown) {
    const count = to - from + 1;
    counts.calls += count;
    counts[explanation.decision.action === 'ALLOW' ? 'allowed' : 'refused'] += count;
  }
  return counts;
}

function reportOf(shown: readonly Explained[]) {
  return {
    calls: shown.map(({ from, to, atMs, explanation }) => {
      return { from, to, at: new Date(atMs).toISOString(), ...explanation };
    }),
    summary: countsOf(shown),
  };
}

function textOf(shown: readonly Explained[], snapshot: Snapshot, { out }: Io): string {
  const parts = shown.map((explained) => renderExplained(explained, out));
  return [renderHead(snapshot, out), ...parts, renderSummary(countsOf(shown), out)].join('\n');
}

export { run };
