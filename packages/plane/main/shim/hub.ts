// The shim's way to the hub of its run. Loaded only where there is one.
import type { EvaluateRequest, Producer, Profile, ShimSummary } from '@subluminal/contracts';
import { type Snapshot, sealSnapshot } from '@subluminal/core/policy';
import type { HubAnswer, Question } from '@subluminal/core/session';
import { createHubClient, type Evaluated, type HubClient } from '../../hub/client/index.ts';

interface HubLinkOptions {
  /** `unix:/path` or `http://127.0.0.1:PORT`. */
  readonly endpoint: string;
  readonly token: string | undefined;
  readonly producer: Producer;
  readonly serverName: string;
  readonly profile: Profile;
  readonly warn: (text: string) => void;
}

/** What the hub needs to know of the session, once there is one. */
interface HubLinkPeer {
  readonly snapshot: () => Snapshot;
  readonly summary: () => ShimSummary;
  /** The run is over: finish and stop. */
  readonly onShutdown: () => void;
}

interface HubLink {
  start(peer: HubLinkPeer): void;
  ask(questions: readonly Question[]): Promise<readonly HubAnswer[]>;
  result(callId: string, result: 'error'): void;
  terminate(reason: { readonly code: string; readonly message: string }): void;
  /** Whether the hub answered when it was last asked for. */
  isThere(): boolean;
  leave(summary: ShimSummary): Promise<void>;
}

type Linked =
  | { readonly ok: true; readonly link: HubLink }
  | { readonly ok: false; readonly message: string };

const LEAVE_MS = 2_000;
const NOTHING: ShimSummary = {
  calls_total: 0,
  calls_allowed: 0,
  calls_blocked: 0,
  calls_throttled: 0,
  errors_total: 0,
};

/** Makes the link; nobody is waited for. */
function linkHub(options: HubLinkOptions): Linked {
  const { endpoint, token, producer, serverName, warn } = options;
  let peer: HubLinkPeer | undefined;
  let there = true;
  const made = createHubClient({
    endpoint,
    ...(token !== undefined && { token }),
    runId: producer.run_id,
    shimId: producer.source.shim_id,
    serverId: serverName,
    summary: () => peer?.summary() ?? NOTHING,
    onShutdown: () => peer?.onShutdown(),
    onLost: (reason) => {
      there = false;
      warn(`the hub of this run is gone: ${reason}`);
    },
    warn,
  });
  if (made.kind === 'refused') return { ok: false, message: `${made.message} [${made.code}]` };
  const { client } = made;
  const link: HubLink = {
    start(given) {
      peer = given;
      client.start();
    },
    ask: async (questions) => {
      const answers = await Promise.all(
        questions.map((question) => askOne({ client, options, question, peer })),
      );
      there = answers.every(({ outcome }) => outcome !== undefined);
      return answers;
    },
    result: (callId, result) => client.result(callId, result),
    terminate: (reason) => client.terminate(reason),
    isThere: () => there,
    leave: async (summary) => {
      await client.leave(summary, LEAVE_MS);
      client.close();
    },
  };
  return { ok: true, link };
}

interface Asked {
  readonly client: HubClient;
  readonly options: HubLinkOptions;
  readonly question: Question;
  readonly peer: HubLinkPeer | undefined;
}

async function askOne({ client, options, question, peer }: Asked): Promise<HubAnswer> {
  const { at, ref } = question;
  if (peer === undefined) return { at, callId: ref.call_id, outcome: undefined };
  const snapshot = peer.snapshot();
  const request = requestFor(options, question, snapshot);
  const ask = () => client.evaluate(request, () => sealSnapshot(snapshot));
  const first = await ask();
  // A machine under load is late, not gone. The hub knows the call by its id and counts it once.
  const evaluated = first.kind === 'unavailable' ? await ask() : first;
  if (evaluated.kind === 'unavailable') {
    options.warn(`the hub of this run could not be asked: ${evaluated.reason}`);
  }
  return { at, callId: ref.call_id, outcome: outcomeOf(evaluated) };
}

function outcomeOf(evaluated: Evaluated): HubAnswer['outcome'] {
  if (evaluated.kind === 'unavailable') return undefined;
  const { call_decision: decision, risk_class = [], trace = [] } = evaluated.response;
  // An answer without a decision is none: then the profile says what happens.
  return decision === undefined ? undefined : { decision, risk_class, trace };
}

function requestFor(
  { serverName, producer, profile }: HubLinkOptions,
  { ref, call }: Question,
  snapshot: Snapshot,
): EvaluateRequest {
  const { run_id, agent_id, client, env, principal, workload } = producer;
  return {
    server_id: serverName,
    direction: 'agent_to_server',
    method: 'tools/call',
    message_type: 'request',
    profile,
    run_id,
    identity: {
      agent_id,
      client,
      env,
      ...(principal !== undefined && { principal }),
      ...(workload !== undefined && { workload }),
    },
    call_id: ref.call_id,
    tool_name: call.tool_name,
    args_hash: ref.args_hash,
    policy_hash: snapshot.ref.policy_hash,
    bytes_in: call.bytes_in,
    // Without arguments, rules that need them refuse.
    ...(call.args !== undefined && { params: { name: call.tool_name, arguments: call.args } }),
  };
}

export type { HubLink };
export { linkHub };
