// The shim's way to the hub of its run. Loaded only where there is one.
import {
  definedFields,
  type EvaluateRequest,
  type EvaluateResponse,
  type Failure,
  isFailure,
  NO_CALLS,
  type Producer,
  type Profile,
  type ShimCounts,
  type ShimSummary,
} from '@subluminal/contracts';
import type { Lease, Recall } from '@subluminal/contracts/hub-frames';
import { identityOf, type Snapshot, sealSnapshot } from '@subluminal/core/policy';
import type { HubAnswer, HubQuestion, LimitVerdict, Observation } from '@subluminal/core/session';
import { visible } from '@subluminal/core/visible';
import { uuidv7 } from 'uuidv7';
import {
  createHubClient,
  type Evaluated,
  type HubClient,
  type HubReadiness,
  type Loss,
  type ReturnedLeases,
  type RunTerms,
} from '../hub/client/index.ts';

interface HubLinkOptions {
  /** `unix:/path` or `http://127.0.0.1:PORT`. */
  readonly endpoint: string;
  readonly token: string | undefined;
  readonly serverName: string;
  /** The run id in the environment, which holds until the shim knows better. */
  readonly runId: string;
  readonly profile: Profile;
  /** How long the shim waits for the hub at first. */
  readonly readyMs: number;
  /** The largest call that is inspected, and that the hub is asked about. */
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
  /** Gives up what is left of leased counters, or of all of them. */
  readonly giveUpLeases: (counters?: Recall['leases']) => readonly Lease[];
}

const LEAVE_MS = 2_000;
const ENDPOINT_LENGTH_MAX = 200;
const ALIVE_MS = 1_000;
const IDLE_MS = 5_000;

/** What is known of this shim and its hub so far: the hub is called before everything is known. */
interface LinkState {
  producer?: Producer;
  peer?: HubLinkPeer;
  judges: readonly string[];
  terms: RunTerms;
  isThere: boolean;
}

/** Calls the hub at once, so that it answers while the shim still gets ready. */
export function reachHub(options: HubLinkOptions): HubLink | Failure {
  const { endpoint, token, serverName, runId, readyMs, inspectBytesMax, warn } = options;
  const ownId = uuidv7();
  const known: LinkState = { judges: [], terms: {}, isThere: true };
  const client = createHubClient({
    endpoint,
    ...definedFields({ token }),
    get runId() {
      return known.producer?.run_id ?? runId;
    },
    get shimId() {
      return known.producer?.source.shim_id ?? ownId;
    },
    serverId: serverName,
    summary: () => known.peer?.summary() ?? NO_CALLS,
    counts: () => known.peer?.counts(),
    onShutdown: () => known.peer?.onShutdown(),
    onLost: (loss) => lost(options, known, loss),
    onRecall: (counters) => returned(known, counters),
    // Nobody could recall them: what is left of them counts as used.
    onBroken: () => void known.peer?.giveUpLeases(),
    inspectBytesMax,
    limits: { readyMs },
    warn,
  });
  return isFailure(client) ? client : new HubLink(client, options, known);
}

/** In production a shim does not outlive its hub; a slow hub is not gone. */
function lost({ profile, warn }: HubLinkOptions, known: LinkState, { reason, isGone }: Loss): void {
  known.isThere = false;
  if (!isGone) return warn(`the hub of this run does not answer: ${reason}`);
  if (profile !== 'production') return warn(`the hub of this run is gone, and we go on: ${reason}`);
  warn(`the hub of this run is gone, so this shim ends: ${reason} [SUB_HUB_DOWN]`);
  known.peer?.onShutdown();
}

/** What is left of leases, as it goes back to the hub. */
function returned({ peer }: LinkState, counters?: Recall['leases']): ReturnedLeases | undefined {
  if (peer === undefined) return undefined;
  const { policy_hash } = peer.snapshot().ref;
  return { policy_hash, leases: peer.giveUpLeases(counters) };
}

export class HubLink {
  /** Most calls are decided in the session, which counts what the hub has leased to it. */
  readonly leases = true;
  /** Why the hub cannot be reached; undefined when it is there. Never rejects. */
  readonly problem: Promise<string | undefined>;
  readonly #client: HubClient;
  readonly #options: HubLinkOptions;
  readonly #known: LinkState;
  #idling: NodeJS.Timeout | undefined;

  constructor(client: HubClient, options: HubLinkOptions, known: LinkState) {
    this.#client = client;
    this.#options = options;
    this.#known = known;
    // Nothing else may keep the process alive yet.
    const alive = setInterval(() => {}, ALIVE_MS);
    this.problem = client.ready().then((ready) => {
      clearInterval(alive);
      return this.#settle(ready);
    });
  }

  #settle(ready: HubReadiness): string | undefined {
    const known = this.#known;
    if (ready.kind === 'ready') {
      known.judges = ready.judges;
      known.terms = ready.terms;
      return undefined;
    }
    known.isThere = false;
    const endpoint = visible(this.#options.endpoint, ENDPOINT_LENGTH_MAX);
    return `the hub of this run at ${endpoint} is not there: ${ready.reason} [${ready.code}]`;
  }

  /** The terms of the run, as its host says; known once `problem` has settled. */
  get terms(): RunTerms {
    return this.#known.terms;
  }

  /** Whether Cedar decides at the hub; known once `problem` has settled. */
  get asksCedar(): boolean {
    return this.#known.judges.includes('cedar');
  }

  /** Whether the hub answered the last time. */
  get isThere(): boolean {
    return this.#known.isThere;
  }

  /** The shim speaks as this producer from now on. */
  use(producer: Producer): void {
    this.#known.producer = producer;
  }

  start(peer: HubLinkPeer): void {
    this.#known.peer = peer;
    this.#client.start();
    let callsBefore = 0;
    this.#idling = setInterval(() => {
      const calls = peer.summary().calls_total;
      // Others may need what a session without calls holds, and it is lost if this process is killed.
      if (calls === callsBefore) this.giveBack();
      callsBefore = calls;
    }, IDLE_MS).unref();
  }

  async ask(questions: readonly HubQuestion[]): Promise<readonly HubAnswer[]> {
    const decided = questions.filter(({ leases }) => leases === undefined);
    const answers = await Promise.all(decided.map((question) => this.#askOne(question)));
    // The last thing before a message is handled: what was leased must be used before it can be recalled.
    for (const question of questions) {
      if (question.leases !== undefined) answers.push(await this.#lease(question, question.leases));
    }
    this.#known.isThere = answers.every(
      ({ outcome, leased, isStale }) => outcome !== undefined || leased !== undefined || isStale,
    );
    return answers;
  }

  /** Returns what is left of all leases. */
  giveBack(): void {
    const all = returned(this.#known);
    if (all !== undefined) this.#client.giveBack(all);
  }

  /** True when the hub has received all of them. Never rejects. */
  async observe(observations: readonly Observation[]): Promise<boolean> {
    const { peer } = this.#known;
    if (peer === undefined) return false;
    const snapshot = peer.snapshot();
    const { policy_hash } = snapshot.ref;
    const heard = observations.map(({ callId: call_id, tool: tool_name, text }) =>
      this.#client.observe({ policy_hash, call_id, tool_name, text }, () => sealSnapshot(snapshot)),
    );
    return (await Promise.all(heard)).every(Boolean);
  }

  result(callId: string, result: 'error'): void {
    this.#client.result(callId, result);
  }

  terminate(reason: { readonly code: string; readonly message: string }): void {
    this.#client.terminate(reason);
  }

  /** Tells the host that this shim is looser than the run. */
  tellUnlike(reason: string): void {
    this.#client.tellUnlike(reason);
  }

  /** Tells the host that the server does not start for this reason. Never rejects. */
  refuse(reason: string): Promise<void> {
    return this.#client.refuse(reason);
  }

  /** Closes the connection of a shim that does not start. */
  drop(): void {
    this.#client.close();
  }

  async leave(summary: ShimSummary): Promise<void> {
    clearInterval(this.#idling);
    this.giveBack();
    await this.#client.leave(summary, LEAVE_MS);
    this.#client.close();
  }

  async #lease({ ref }: HubQuestion, leases: readonly Lease[]): Promise<HubAnswer> {
    const { peer } = this.#known;
    const callId = ref.call_id;
    const none = { callId, outcome: undefined };
    if (peer === undefined) return none;
    const snapshot = peer.snapshot();
    const { policy_hash: policyHash } = snapshot.ref;
    const asked = { policy_hash: policyHash, leases };
    const ask = () => this.#client.lease(asked, () => sealSnapshot(snapshot));
    const first = await ask();
    // A machine under load is late, not gone. What comes late after all, the client gives back.
    const leased = first.kind === 'unavailable' ? await ask() : first;
    if (leased.kind === 'unavailable') {
      this.#options.warn(`the hub of this run could not be asked: ${leased.reason}`);
      return none;
    }
    const { leases: given, terminated } = leased.response;
    if (peer.snapshot() === snapshot) {
      return { ...none, leased: { policyHash, leases: given, terminated } };
    }
    // Another policy is in force by now, which may have other counters.
    this.#client.giveBack({ policy_hash: policyHash, leases: given });
    return { ...none, isStale: true };
  }

  async #askOne(question: HubQuestion): Promise<HubAnswer> {
    const { peer, producer } = this.#known;
    const callId = question.ref.call_id;
    if (peer === undefined || producer === undefined) return { callId, outcome: undefined };
    const snapshot = peer.snapshot();
    const { policy_hash } = snapshot.ref;
    const request = { ...hubRequest(this.#options, producer, question), policy_hash };
    const ask = () => this.#client.evaluate(request, () => sealSnapshot(snapshot));
    const first = await ask();
    // A machine under load is late, not gone. The hub knows the call by its id and counts it once.
    const evaluated = first.kind === 'unavailable' ? await ask() : first;
    if (evaluated.kind === 'unavailable') {
      this.#options.warn(`the hub of this run could not be asked: ${evaluated.reason}`);
    }
    return { callId, outcome: outcomeOf(evaluated) };
  }
}

function outcomeOf(evaluated: Evaluated): HubAnswer['outcome'] {
  return evaluated.kind === 'unavailable' ? undefined : hubOutcome(evaluated.response);
}

export function hubOutcome(response: EvaluateResponse): HubAnswer['outcome'] {
  const { call_decision: decision, risk_class = [], trace = [], content } = response;
  const limit = limitOf(response);
  // Without a decision, the profile decides.
  return decision === undefined ? undefined : { decision, risk_class, trace, content, limit };
}

/** The hub answers with a limit only if the question had one; it has counted the call then. */
function limitOf({ limit_wait, limits_counted }: EvaluateResponse): LimitVerdict | undefined {
  if (limit_wait === undefined) return limits_counted === true ? { kind: 'counted' } : undefined;
  const { kind, wait_ms: waitMs, words } = limit_wait;
  return { kind, waitMs, words };
}

function hubRequest(
  { serverName, profile }: Pick<HubLinkOptions, 'serverName' | 'profile'>,
  producer: Producer,
  { ref, call, beside, limits = [] }: HubQuestion,
): Omit<EvaluateRequest, 'policy_hash'> {
  const { run_id, ...identity } = identityOf(producer);
  const { approved = [], args, tool_name, args_hash, bytes_in, round } = call;
  return {
    server_id: serverName,
    direction: 'agent_to_server',
    method: call.subject === undefined ? 'tools/call' : tool_name,
    message_type: 'request',
    profile,
    run_id,
    identity,
    call_id: ref.call_id,
    tool_name,
    args_hash,
    bytes_in,
    ...(approved.length > 0 && { approved }),
    // Without arguments, rules that need them refuse.
    ...(args !== undefined && { params: { name: tool_name, arguments: args } }),
    ...(limits.length > 0 && { limits: hubLimits(limits) }),
    ...definedFields({ beside, round }),
  };
}

export function hubLimits(limits: NonNullable<HubQuestion['limits']>) {
  return limits.map(({ key, calls, periodMs: period_ms, cooldownMs: cooldown_ms }) => ({
    key,
    ...definedFields({ calls, period_ms, cooldown_ms }),
  }));
}
