// The shim's way to the hub of its run. Loaded only where there is one.
import {
  type EvaluateRequest,
  type EvaluateResponse,
  isFailure,
  type Producer,
  type Profile,
  type ShimCounts,
  type ShimSummary,
} from '@subluminal/contracts';
import { type Snapshot, sealSnapshot } from '@subluminal/core/policy';
import type { HubAnswer, HubQuestion, LimitVerdict, Observation } from '@subluminal/core/session';
import { visible } from '@subluminal/core/visible';
import { uuidv7 } from 'uuidv7';
import {
  createHubClient,
  type Evaluated,
  type HubClient,
  type HubReadiness,
  type Loss,
  type RunTerms,
} from '../hub/client/index.ts';
import { identityOf } from './governed-session.ts';

interface HubReachOptions {
  /** `unix:/path` or `http://127.0.0.1:PORT`. */
  readonly endpoint: string;
  readonly token: string | undefined;
  readonly serverName: string;
  /** What the environment says, for as long as the shim does not know better. */
  readonly runId: string;
  readonly profile: Profile;
  /** How long it is waited for at first. */
  readonly readyMs: number;
  /** The largest call that is inspected, and so asked for. */
  readonly inspectBytesMax: number;
  readonly warn: (text: string) => void;
}

/** What the hub needs to know of the session, once there is one. */
interface HubLinkPeer {
  readonly snapshot: () => Snapshot;
  readonly summary: () => ShimSummary;
  readonly counts: () => ShimCounts;
  /** The run is over: finish and stop. */
  readonly onShutdown: () => void;
}

export interface HubLink {
  /** What decides at the hub beside the rules; known once `HubReach.problem` has settled. */
  readonly judges: { readonly cedar: boolean };
  start(peer: HubLinkPeer): void;
  ask(questions: readonly HubQuestion[]): Promise<readonly HubAnswer[]>;
  /** True when the hub has heard of all of them. Never rejects. */
  observe(observations: readonly Observation[]): Promise<boolean>;
  result(callId: string, result: 'error'): void;
  terminate(reason: { readonly code: string; readonly message: string }): void;
  /** Whether the hub answered when it was last asked for. */
  isThere(): boolean;
  leave(summary: ShimSummary): Promise<void>;
}

/** A hub that is being waited for. */
export interface HubReach {
  /** Why it cannot be reached; undefined when it is there. Never rejects. */
  readonly problem: Promise<string | undefined>;
  /** What its host says of the run; known once `problem` has settled. */
  readonly terms: () => RunTerms;
  /** The link for this producer. */
  link(producer: Producer): HubLink;
  /** The shim is looser than the run, which its host is told. */
  tellUnlike(reason: string): void;
  /** The same, for which its server does not start. Never rejects. */
  refuse(reason: string): Promise<void>;
  /** Nobody needs it after all. */
  drop(): void;
}

type Reached =
  | { readonly ok: true; readonly reach: HubReach }
  | { readonly ok: false; readonly message: string };

const LEAVE_MS = 2_000;
const ENDPOINT_LENGTH_MAX = 200;
const ALIVE_MS = 1_000;
const NOTHING: ShimSummary = {
  calls_total: 0,
  calls_allowed: 0,
  calls_blocked: 0,
  calls_throttled: 0,
  errors_total: 0,
};

/** What is known of this shim so far: the hub is called before all of it is. */
interface HubPeerState {
  producer?: Producer;
  peer?: HubLinkPeer;
  judges: readonly string[];
  terms: RunTerms;
  isThere: boolean;
}

/** Calls the hub at once, so that it answers while the shim still gets ready. */
export function reachHub(options: HubReachOptions): Reached {
  const { endpoint, token, serverName, runId, readyMs, inspectBytesMax, warn } = options;
  const ownId = uuidv7();
  const known: HubPeerState = { judges: [], terms: {}, isThere: true };
  const client = createHubClient({
    endpoint,
    ...(token !== undefined && { token }),
    get runId() {
      return known.producer?.run_id ?? runId;
    },
    get shimId() {
      return known.producer?.source.shim_id ?? ownId;
    },
    serverId: serverName,
    summary: () => known.peer?.summary() ?? NOTHING,
    counts: () => known.peer?.counts(),
    onShutdown: () => known.peer?.onShutdown(),
    onLost: (loss) => lost(options, known, loss),
    inspectBytesMax,
    limits: { readyMs },
    warn,
  });
  if (isFailure(client)) return { ok: false, message: `${client.message} [${client.code}]` };
  // Nothing else may keep the process alive yet.
  const alive = setInterval(() => {}, ALIVE_MS);
  const problem = client.ready().then((ready) => {
    clearInterval(alive);
    return problemOf(options, known, ready);
  });
  const link = (producer: Producer): HubLink => {
    known.producer = producer;
    return linkOf({ client, options, known, producer });
  };
  return {
    ok: true,
    reach: {
      problem,
      terms: () => known.terms,
      link,
      tellUnlike: (reason) => client.tellUnlike(reason),
      refuse: (reason) => client.refuse(reason),
      drop: () => client.close(),
    },
  };
}

function problemOf(
  { endpoint }: HubReachOptions,
  known: HubPeerState,
  ready: HubReadiness,
): string | undefined {
  if (ready.kind === 'ready') {
    known.judges = ready.judges;
    known.terms = ready.terms;
    return undefined;
  }
  known.isThere = false;
  return `the hub of this run at ${visible(endpoint, ENDPOINT_LENGTH_MAX)} is not there: ${ready.reason} [${ready.code}]`;
}

/** Where decisions count, a shim does not outlive its hub; a slow one is another matter. */
function lost(
  { profile, warn }: HubReachOptions,
  known: HubPeerState,
  { reason, isGone }: Loss,
): void {
  known.isThere = false;
  if (!isGone) return warn(`the hub of this run does not answer: ${reason}`);
  if (profile !== 'production') return warn(`the hub of this run is gone, and we go on: ${reason}`);
  warn(`the hub of this run is gone, so this shim ends: ${reason} [SUB_HUB_DOWN]`);
  known.peer?.onShutdown();
}

interface Linking {
  readonly client: HubClient;
  readonly options: HubReachOptions;
  readonly known: HubPeerState;
  readonly producer: Producer;
}

function linkOf(linking: Linking): HubLink {
  const { client, known } = linking;
  return {
    get judges() {
      return { cedar: known.judges.includes('cedar') };
    },
    start(given) {
      known.peer = given;
      client.start();
    },
    ask: async (questions) => {
      const answers = await Promise.all(questions.map((question) => askOne(linking, question)));
      known.isThere = answers.every(({ outcome }) => outcome !== undefined);
      return answers;
    },
    observe: async (observations) => {
      const heard = await Promise.all(observations.map((one) => tellOne(linking, one)));
      return heard.every(Boolean);
    },
    result: (callId, result) => client.result(callId, result),
    terminate: (reason) => client.terminate(reason),
    isThere: () => known.isThere,
    leave: async (summary) => {
      await client.leave(summary, LEAVE_MS);
      client.close();
    },
  };
}

async function askOne(linking: Linking, question: HubQuestion): Promise<HubAnswer> {
  const { client, options, known } = linking;
  const { ref } = question;
  if (known.peer === undefined) return { callId: ref.call_id, outcome: undefined };
  const snapshot = known.peer.snapshot();
  const request = requestFor(linking, question, snapshot);
  const ask = () => client.evaluate(request, () => sealSnapshot(snapshot));
  const first = await ask();
  // A machine under load is late, not gone. The hub knows the call by its id and counts it once.
  const evaluated = first.kind === 'unavailable' ? await ask() : first;
  if (evaluated.kind === 'unavailable') {
    options.warn(`the hub of this run could not be asked: ${evaluated.reason}`);
  }
  return { callId: ref.call_id, outcome: outcomeOf(evaluated) };
}

async function tellOne({ client, known }: Linking, observation: Observation): Promise<boolean> {
  if (known.peer === undefined) return false;
  const snapshot = known.peer.snapshot();
  const { callId: call_id, tool: tool_name, text } = observation;
  const observed = { policy_hash: snapshot.ref.policy_hash, call_id, tool_name, text };
  return client.observe(observed, () => sealSnapshot(snapshot));
}

function outcomeOf(evaluated: Evaluated): HubAnswer['outcome'] {
  if (evaluated.kind === 'unavailable') return undefined;
  const { call_decision: decision, risk_class = [], trace = [], content } = evaluated.response;
  const limit = limitOf(evaluated.response);
  // An answer without a decision is none: then the profile says what happens.
  return decision === undefined ? undefined : { decision, risk_class, trace, content, limit };
}

/** Only a question with limits is answered with one, and then its calls are counted by the hub. */
function limitOf({ limit_wait, limits_counted }: EvaluateResponse): LimitVerdict | undefined {
  if (limit_wait === undefined) return limits_counted === true ? { kind: 'counted' } : undefined;
  const { kind, wait_ms: waitMs, words } = limit_wait;
  return { kind, waitMs, words };
}

function limitsIn(
  limits: NonNullable<HubQuestion['limits']>,
): NonNullable<EvaluateRequest['limits']> {
  return limits.map(({ key, calls, periodMs, cooldownMs }) => ({
    key,
    ...(calls !== undefined && { calls }),
    ...(periodMs !== undefined && { period_ms: periodMs }),
    ...(cooldownMs !== undefined && { cooldown_ms: cooldownMs }),
  }));
}

function requestFor(
  { options: { serverName, profile }, producer }: Linking,
  { ref, call, beside, limits }: HubQuestion,
  snapshot: Snapshot,
): EvaluateRequest {
  const { run_id, ...identity } = identityOf(producer);
  return {
    server_id: serverName,
    direction: 'agent_to_server',
    method: 'tools/call',
    message_type: 'request',
    profile,
    run_id,
    identity,
    call_id: ref.call_id,
    tool_name: call.tool_name,
    args_hash: ref.args_hash,
    policy_hash: snapshot.ref.policy_hash,
    bytes_in: call.bytes_in,
    ...(call.approved !== undefined && call.approved.length > 0 && { approved: call.approved }),
    // Without arguments, rules that need them refuse.
    ...(call.args !== undefined && { params: { name: call.tool_name, arguments: call.args } }),
    ...(beside !== undefined && { beside }),
    ...(limits !== undefined && limits.length > 0 && { limits: limitsIn(limits) }),
    ...(call.round !== undefined && { round: call.round }),
  };
}
