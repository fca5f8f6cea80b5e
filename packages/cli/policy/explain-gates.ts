// The gates beside the rules, for `sub policy explain`: the same that a shim of this machine would have.
import { resolve } from 'node:path';
import { type Decision, type Failure, failure, isFailure } from '@subluminal/contracts';
import type { Call, Identity, Outcome, PolicyState, Snapshot } from '@subluminal/core/policy';
import { type GateVerdict, judgeCall } from '@subluminal/core/session';
import type { ServerPins } from '@subluminal/core/surface';
import { sha256 } from '@subluminal/plane/crypto';
import type { GatesLifecycle } from '@subluminal/plane/governor';
import type { LoadedConfig } from '../input/own-config.ts';
import type { PlannedCall } from './call-file.ts';

/** One stage of gates, and what it did with a call. */
export interface ExplainedStage {
  readonly stage: 'surface' | 'content';
  /** The gates in force there. */
  readonly gates: readonly string[];
  readonly outcome: 'passed' | 'noted' | 'decided' | 'asks' | 'would_decide' | 'skipped';
  readonly rule_id: string | null;
  /** As `class:rule`; never the content itself. */
  readonly findings: readonly string[];
  readonly why: string;
}

export interface JudgedByGates {
  readonly decision: Decision;
  readonly state: PolicyState;
  readonly stages: readonly ExplainedStage[];
}

interface AskedOfGates extends Pick<PlannedCall, 'call' | 'argsText' | 'result'> {
  /** The outcome of the rules and of Cedar. */
  readonly rules: Outcome<PolicyState>;
  /** Before the rules. */
  readonly state: PolicyState;
  readonly nowMs: number;
}

export interface ExplainGates {
  /** Judges a call, and counts it if it passes. */
  judge(asked: AskedOfGates): JudgedByGates;
}

interface GatesSetup {
  readonly loaded: LoadedConfig;
  readonly snapshot: Snapshot;
  /** The file of the policy, which no call may name. */
  readonly policyFile: string;
  readonly redact: (text: string) => string;
  readonly startMs: number;
  /** What the servers would have. */
  readonly env: { readonly [name: string]: string | undefined };
  readonly cwd: string;
}

/** Opens the gates for the servers of these calls. */
export async function openExplainGates(
  calls: readonly PlannedCall[],
  setup: GatesSetup,
): Promise<ExplainGates | Failure> {
  const pins = await knownPins(setup.loaded);
  const opened = new Map<string, GatesLifecycle>();
  for (const { call } of calls) {
    if (opened.has(keyOf(call))) continue;
    const gates = await gatesFor(call, pins.get(call.server_name), setup);
    if (isFailure(gates)) return gates;
    opened.set(keyOf(call), gates);
  }
  let number = 0;
  return {
    judge: (asked) => {
      number += 1;
      const gates = opened.get(keyOf(asked.call));
      if (gates === undefined) throw new Error('no gates were opened for this call');
      return judged(asked, { gates, snapshot: setup.snapshot, callId: `call-${number}` });
    },
  };
}

/** Counters and taint belong to one agent's session with one server. */
function keyOf({ server_name, identity }: Pick<Call, 'server_name' | 'identity'>): string {
  return JSON.stringify([server_name, identity]);
}

async function knownPins({ paths }: LoadedConfig): Promise<ReadonlyMap<string, ServerPins>> {
  const { openPins } = await import('@subluminal/plane/surface');
  const pins = openPins(paths.home);
  return isFailure(pins) ? new Map() : pins.store.servers;
}

async function gatesFor(
  {
    server_name: serverName,
    identity,
  }: { readonly server_name: string; readonly identity: Identity },
  pins: ServerPins | undefined,
  { loaded, snapshot, policyFile, redact, startMs, env, cwd }: GatesSetup,
): Promise<GatesLifecycle | Failure> {
  const { finderOptions, openGates } = await import('@subluminal/plane/governor');
  const { config, paths } = loaded;
  const server = { env, cwd, command: serverName, args: [] };
  const policies = [resolve(policyFile)];
  const opened = await openGates({
    serverName,
    home: paths.home,
    manifests: config['surface.manifests'],
    // Nothing is known of the tools of a server that is not pinned.
    pinsMode: pins === undefined ? 'off' : config['pins.mode'],
    profile: snapshot.profile,
    snapshot,
    hasPolicy: true,
    identity,
    hasHub: false,
    hasCedar: false,
    secrets: [],
    redact,
    inspectBytesMax: config['limits.max_inspect_bytes'],
    protects: finderOptions(server, { config, paths, policies }),
  });
  if (!opened.ok) {
    const message = `the manifest of ${serverName} cannot be used: ${opened.message}`;
    return failure('SUB_MANIFEST_SYNTAX', message, 'Run `sub manifest check`.');
  }
  const { guarding } = opened;
  await guarding.prepare();
  if (pins !== undefined) showTools(guarding, pins, startMs);
  return guarding;
}

/** The pinned definitions, as if the server had just listed them. */
function showTools({ guard }: GatesLifecycle, { tools }: ServerPins, nowMs: number): void {
  const method = 'tools/list';
  if (guard?.wants('in', 'answer', method) !== true) return;
  const definitions = [...tools.values()].flatMap(({ definition }) => definition ?? []);
  const value = { tools: definitions };
  guard.passing('in', { kind: 'answer', method, value, isError: false }, nowMs);
}

function judged(
  { call, argsText, rules, state, nowMs, result }: AskedOfGates,
  { gates, snapshot, callId }: { gates: GatesLifecycle; snapshot: Snapshot; callId: string },
): JudgedByGates {
  const { guard, inForce } = gates;
  const name = JSON.stringify(call.tool_name);
  const [method, params] =
    call.subject === undefined
      ? ['"tools/call"', `{"name":${name},"arguments":${argsText}}`]
      : [name, argsText];
  const message = Buffer.from(`{"jsonrpc":"2.0","id":1,"method":${method},"params":${params}}`);
  const { server_name: serverName, identity } = call;
  const { profile } = snapshot;
  const config = { serverName, profile, snapshot, state, identity, sha256, guard };
  const found = judgeCall({ ...config, callId: () => callId }, { message, call, rules, nowMs });
  const { decision, state: after } = found.outcome;
  if (decision.action === 'ALLOW' && guard !== undefined && found.guarded !== undefined) {
    guard.passed(found.guarded, nowMs);
    const isError = result === 'error';
    guard.ended({ callId, tool: call.tool_name, isError, tookMs: 0 }, nowMs);
  }
  const stages = (['surface', 'content'] as const).map((stage) => ({
    stage,
    gates: inForce[stage],
    ...stageOutcome(found[stage], decision),
  }));
  return { decision, state: after, stages: stages.filter(({ gates: named }) => named.length > 0) };
}

function stageOutcome(
  verdict: GateVerdict | undefined,
  decision: Decision,
): Pick<ExplainedStage, 'outcome' | 'rule_id' | 'findings' | 'why'> {
  const said = decision.would ?? decision;
  if (verdict === undefined) {
    const why = `not asked: \`${said.rule_id ?? said.reason_code}\` stops the call first`;
    return { outcome: 'skipped', rule_id: null, findings: [], why };
  }
  const { note } = verdict;
  const findings = note?.findings ?? [];
  const found = note === undefined ? '' : `${findings.join(', ')} (${note.action})`;
  const own = verdict.kind === 'stop' ? verdict.decision : verdict.would;
  if (own === undefined) {
    const why = note === undefined ? 'nothing stops it' : `it passes with ${found}`;
    return { outcome: note === undefined ? 'passed' : 'noted', rule_id: null, findings, why };
  }
  const { rule_id, action, reason_code } = own;
  const what = `${action}, \`${reason_code}\`${found === '' ? '' : `: ${found}`}`;
  if (verdict.kind === 'pass') {
    return { outcome: 'would_decide', rule_id, findings, why: `it would decide: ${what}` };
  }
  if (said.rule_id !== rule_id) {
    const why = `it stops the call too, but \`${said.rule_id}\` decides: ${what}`;
    return { outcome: 'would_decide', rule_id, findings, why };
  }
  if (verdict.decision.approval === undefined) {
    return { outcome: 'decided', rule_id, findings, why: `it decides: ${what}` };
  }
  const why = `it asks a person, \`${reason_code}\`${found === '' ? '' : `: ${found}`}`;
  return { outcome: 'asks', rule_id, findings, why };
}
