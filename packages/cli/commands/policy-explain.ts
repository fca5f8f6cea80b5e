import { check, type Failure, type Shape } from '@subluminal/contracts';
import type { Identity } from '@subluminal/core/policy';
import { loadRedactor } from '@subluminal/plane/vault';
import {
  badUsage,
  choice,
  defineCommand,
  EXIT,
  type OptionValues,
  orThrow,
  printout,
  textOption,
  textsOption,
} from '../input/command.ts';
import { CLIENTS, ENVS } from '../input/identity-values.ts';
import { loadOwnConfig } from '../input/own-config.ts';
import { readFileBytes, stdinTwice } from '../input/read-file.ts';
import { BAD_POLICY, PROFILES } from '../input/shared-options.ts';
import { canonicalText, type PlannedCall, parseCalls } from '../policy/call-file.ts';
import { type Explained, explainCalls, explainedReport, lastOf } from '../policy/explain-calls.ts';
import { type CedarGate, openGate } from '../policy/explain-cedar.ts';
import { openExplainGates } from '../policy/explain-gates.ts';
import { notACall } from '../policy/file-kind.ts';
import { loadPolicy, type Policy } from '../policy/load-policy.ts';
import {
  type ExplainedCounts,
  renderCedar,
  renderCedarHead,
  renderExplained,
  renderHead,
  renderSummary,
} from '../policy/render-explanation.ts';
import type { Io } from '../terminal/io.ts';
import { noteTrust } from '../trust/project-policy.ts';

const CALL_BYTES_MAX = 1_048_576;
const NAME_LENGTH_MAX = 1_024;
const DOLLARS = /^\d{1,9}(?:\.\d{1,6})?$/;
const TIME: Shape = { kind: 'string', lengthMin: 1, lengthMax: 64, format: 'rfc3339' };

const OPTIONS = {
  call: textsOption('file', 'A call, or a list of calls made in sequence; can be repeated'),
  server: textOption('name', 'The server of a call given by flags'),
  tool: textOption('name', 'The tool of that call, or resources/read or prompts/get'),
  provider: textOption('name', 'The provider of a turn given by flags, such as anthropic'),
  model: textOption('name', 'The model of that turn'),
  'cost-usd': textOption('dollars', 'What that turn may cost, for budgets in dollars'),
  args: textOption('json', 'The arguments of that call, as a JSON object (default: {})'),
  'agent-id': textOption('name', 'The agent, where the call names none'),
  env: choice(ENVS, 'The environment, where the call names none'),
  client: choice(CLIENTS, 'The client, where the call names none'),
  mode: choice(['observe', 'guardrails', 'control'], 'Decide as if the policy had this mode'),
  profile: choice(PROFILES, 'The profile (default: production)'),
  cedar: textOption('path', 'A folder or file of Cedar policies (default: as configured)'),
  at: textOption('time', 'The time of the first call, as 2026-01-31T12:00:00Z (default: now)'),
  last: 'Explain only the last call',
};
type ExplainFlags = OptionValues<typeof OPTIONS>;

export const command = defineCommand({
  description:
    'Decides calls in sequence, as for an agent, so that budgets and repeats count, and shows for each call the result of every rule and gate. Nothing is sent anywhere.',
  args: { file: 'The bundle or snapshot; - reads standard input' },
  options: OPTIONS,
  examples: [
    'sub policy explain policy.yaml --call call.json',
    `sub policy explain policy.yaml --server github --tool delete_repo --args '{"repo":"a/b"}'`,
    'sub policy explain policy.yaml --provider anthropic --model claude-opus-4-6',
    'sub policy explain policy.yaml --call session.json --profile development --json',
    'sub policy explain policy.yaml --cedar cedar --call call.json',
  ],
  exitCodes: {
    0: 'every explained call is allowed',
    1: 'at least one call is refused, by a rule, a gate or a Cedar policy',
    2: `${BAD_POLICY}; or Cedar policies that cannot be used`,
  },
  run: async ({ args, options }, io) => {
    orThrow(wrongUsage(args.file, options));
    const { mode, profile } = options;
    noteTrust(args.file, io);
    const policy = orThrow(await loadPolicy(args.file, { io, mode, profile }));
    const calls = await readCalls(options, io);
    const loaded = await loadOwnConfig({ cedar: options.cedar });
    const { config } = loaded;
    const { snapshot } = policy;
    const cedar = orThrow(await openGate(options.cedar, { snapshot, config }, io));
    const { plain: redact } = orThrow(await loadRedactor(config['redact.extra_patterns'], []));
    const startMs = options.at === undefined ? Date.now() : Date.parse(options.at);
    const place = { env: process.env, cwd: process.cwd() };
    const setup = { loaded, snapshot, policyFile: args.file, redact, startMs, ...place };
    const gates = orThrow(await openExplainGates(calls, setup));
    const all = explainCalls(snapshot, calls, { startMs, cedar, gates, redact });
    const shown = options.last ? all.slice(-1).map(lastOf) : all;
    const isStopped = shown.some(({ explanation }) => explanation.decision.action !== 'ALLOW');
    const exitCode = isStopped ? EXIT.findings : EXIT.fine;
    return printout(reportOf(shown, policy), textOf(shown, { policy, cedar }, io), exitCode);
  },
});

function wrongUsage(file: string, options: ExplainFlags): Failure | undefined {
  const { call, server, tool, provider, model, at } = options;
  const wrong = wrongSubject(options);
  if (wrong !== undefined) return wrong;
  if (call.length === 0 && tool === undefined && model === undefined) {
    const fix = 'Give --call FILE, --server and --tool, or --provider and --model.';
    return badUsage('there is no call to explain.', fix);
  }
  const names = { server, tool, provider, model, 'agent-id': options['agent-id'] };
  for (const [option, name] of Object.entries(names)) {
    if (name === undefined || (name !== '' && name.length <= NAME_LENGTH_MAX)) continue;
    const problem = name === '' ? 'is empty' : `has ${name.length} characters`;
    return badUsage(
      `--${option} ${problem}.`,
      `Give a name of 1 to ${NAME_LENGTH_MAX} characters.`,
    );
  }
  if (options.cedar === '') return badUsage('--cedar is empty.', 'Name a folder or a file.');
  if (at !== undefined && check(TIME, at).length > 0) {
    return badUsage(`--at ${at} is not a time in UTC.`, 'Write it as 2026-01-31T12:00:00Z.');
  }
  return stdinTwice([file, ...call]);
}

function wrongSubject(options: ExplainFlags): Failure | undefined {
  const { server, tool, provider, model, args, 'cost-usd': cost } = options;
  if ((server === undefined) !== (tool === undefined)) {
    return badUsage('--server and --tool belong together.', 'Give both.');
  }
  if ((provider === undefined) !== (model === undefined)) {
    return badUsage('--provider and --model belong together.', 'Give both.');
  }
  if (args !== undefined && tool === undefined) {
    return badUsage('--args needs a tool.', 'Give --server and --tool, too.');
  }
  if (cost === undefined) return undefined;
  if (model === undefined) {
    return badUsage('--cost-usd needs a model.', 'Give --provider and --model, too.');
  }
  return DOLLARS.test(cost)
    ? undefined
    : badUsage(`--cost-usd ${cost} is no amount.`, 'Write dollars, such as 0.25.');
}

async function readCalls(options: ExplainFlags, io: Io): Promise<readonly PlannedCall[]> {
  const identity = identityOf(options);
  const calls: PlannedCall[] = [];
  for (const path of options.call) {
    const file = orThrow(await readFileBytes(path, { io, bytesMax: CALL_BYTES_MAX }));
    orThrow(notACall(file));
    // The decoder drops the byte order mark that some editors write.
    const text = new TextDecoder().decode(file.bytes);
    calls.push(...parseCalls({ name: file.name, text, identity }));
  }
  calls.push(...turnOf(options, identity));
  if (options.tool === undefined) return calls;
  const args = canonicalText(options.args ?? '{}', '--args');
  // Spliced, not parsed and written again, so that the arguments keep their digits.
  const names = JSON.stringify({ server_name: options.server, tool_name: options.tool });
  const text = `${names.slice(0, -1)},"args":${args}}`;
  return [...calls, ...parseCalls({ name: '--args', text, identity })];
}

/** The turn that is given by flags. Rules call the provider the server, and the model the tool. */
function turnOf(options: ExplainFlags, identity: Identity): readonly PlannedCall[] {
  const { provider, model, 'cost-usd': cost } = options;
  if (model === undefined) return [];
  const dollars = cost === undefined ? {} : { cost_usd: Number(cost) };
  const turn = { server_name: provider, tool_name: model, subject: 'turn', ...dollars };
  return parseCalls({ name: '--model', text: JSON.stringify(turn), identity });
}

function identityOf(options: ExplainFlags): Identity {
  return {
    run_id: 'explain',
    agent_id: options['agent-id'] ?? 'agent',
    client: options.client ?? 'custom',
    env: options.env ?? 'dev',
  };
}

function countsOf(shown: readonly Explained[]): ExplainedCounts {
  const counts = { calls: 0, allowed: 0, asked: 0, refused: 0 };
  for (const { from, to, explanation } of shown) {
    const count = to - from + 1;
    counts.calls += count;
    const { action, approval } = explanation.decision;
    if (action === 'ALLOW') counts.allowed += count;
    else counts[approval === undefined ? 'refused' : 'asked'] += count;
  }
  return counts;
}

function reportOf(shown: readonly Explained[], { modeOverridden }: Policy) {
  return {
    calls: shown.map((one) => {
      const { from, to } = one;
      return { from, to, mode_overridden: modeOverridden, ...explainedReport(one) };
    }),
    summary: countsOf(shown),
  };
}

function textOf(
  shown: readonly Explained[],
  { policy, cedar }: { readonly policy: Policy; readonly cedar: CedarGate | undefined },
  { out }: Io,
): string {
  const parts = shown.map((one) => {
    const spared = one.explanation.decision.would !== undefined;
    const said = one.cedar === undefined ? '' : renderCedar(one.cedar, spared, out);
    return renderExplained(one, out) + said;
  });
  const head = renderHead(policy, out) + (cedar === undefined ? '' : renderCedarHead(cedar, out));
  return [head, ...parts, renderSummary(countsOf(shown), out)].join('\n');
}
