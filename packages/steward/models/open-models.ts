// Asks models along the chain of a purpose. Every question is a turn of its run: governed by its policy, priced and on
// record. The next model is asked when one fails, never because a policy has refused.
import {
  type Failure,
  failure,
  type IntegrationsFile,
  isFailure,
  type StewardModel,
} from '@subluminal/contracts';
import { REFUSAL_MEDIA_TYPE } from '@subluminal/core/wires';
import type { SecretPlaces } from '@subluminal/gateway/config';
import { type GovernorSettings, openOwnTurns, type RunTurns } from '@subluminal/gateway/local';
import type { AgentTurns } from '@subluminal/plane/agent-run';
import { isLoopbackHost } from '@subluminal/plane/os';
import { openUpstream, proxyOf, type Upstream } from '@subluminal/plane/upstream';
import { type ModelReply, readReply } from './read-reply.ts';
import { type FoundEndpoint, findEndpoint, type GatewayPlace, targetOf } from './targets.ts';
import type { ModelAnswer, ModelQuestion, Models, Purpose } from './types.ts';
import { writeQuestion } from './write-question.ts';

export interface ModelsOptions extends GovernorSettings {
  readonly chains: () => IntegrationsFile['models'];
  readonly secrets: SecretPlaces;
  /** Fetches a key. */
  readonly secret: (ref: string) => Promise<string | Failure>;
}

export interface StewardModels extends Models {
  /** Questions of this run may be asked from now on. */
  openRun(run: AgentTurns): Promise<Failure | undefined>;
  /** Before the run itself is closed. */
  closeRun(runId: string): void;
  close(): Promise<void>;
}

const LIMITS = { answerBytesMax: 8 * 1024 * 1024, turnsMax: 64 };
/** A server that sends a little now and then ends here. */
const WHOLE_TIMES_MAX = 2;

export function openModels(options: ModelsOptions): StewardModels {
  const gateway = new GatewayAccess(options);
  const upstream = upstreamsFor(options, gateway);
  // An agent of our own is governed from its first turn on: nothing is only reported.
  const config = { ...options.config, profile: 'production' as const };
  const turns = openOwnTurns({ ...options, config, upstream, limits: LIMITS });
  const found = new FoundEndpoints(options, gateway);
  const runs = new Map<string, RunTurns>();
  return {
    ask: (question) => {
      const run = runs.get(question.runId);
      const chain = chainFor(options.chains(), question.purpose);
      return run === undefined
        ? Promise.resolve(failed(['The run of the question is not open.']))
        : askChain(question, { run, chain, found });
    },
    async openRun(run) {
      const opened = await turns.open(run);
      if (isFailure(opened)) return opened;
      runs.set(run.producer.run_id, opened);
      return undefined;
    },
    closeRun(runId) {
      runs.get(runId)?.close();
      runs.delete(runId);
    },
    async close() {
      for (const run of runs.values()) run.close();
      runs.clear();
      await upstream.close();
    },
  };
}

function chainFor(chains: IntegrationsFile['models'], purpose: Purpose): readonly StewardModel[] {
  return chains[purpose] ?? chains.agent;
}

interface ChainQuestion {
  readonly run: RunTurns;
  readonly chain: readonly StewardModel[];
  readonly found: FoundEndpoints;
}

async function askChain(
  question: ModelQuestion,
  { run, chain, found }: ChainQuestion,
): Promise<ModelAnswer | Failure> {
  const faults: string[] = [];
  for (const endpoint of chain) {
    const reply = await askOne(question, { run, endpoint, found });
    if (question.signal?.aborted === true) return stopped();
    if (reply.kind === 'answer') return reply.answer;
    if (reply.kind === 'refused') return refused(reply.message);
    faults.push(`${endpoint.model} (${endpoint.provider}): ${reply.message}`);
  }
  return failed(faults);
}

async function askOne(
  question: ModelQuestion,
  { run, endpoint, found }: Omit<ChainQuestion, 'chain'> & { readonly endpoint: StewardModel },
): Promise<ModelReply> {
  const place = await found.find(endpoint);
  if (isFailure(place)) return { kind: 'fault', message: `${place.message} ${place.fix}` };
  const { purpose } = question;
  const ownSignal = AbortSignal.timeout(endpoint.timeout_s * 1_000 * WHOLE_TIMES_MAX);
  const signal = question.signal ? AbortSignal.any([question.signal, ownSignal]) : ownSignal;
  const whole = await run.ask({
    target: targetOf(endpoint, place, purpose),
    body: writeQuestion(question, endpoint.model),
    conversation: purpose,
    headers: { accept: REFUSAL_MEDIA_TYPE },
    signal,
  });
  const reply = readReply(whole, endpoint);
  // A key may have been replaced meanwhile.
  if (reply.kind === 'fault') found.forget(endpoint);
  const { key } = place;
  if (reply.kind === 'answer' || key === undefined) return reply;
  return { ...reply, message: reply.message.replaceAll(key, '[key]') };
}

/** Addresses and keys that were looked up. */
class FoundEndpoints {
  readonly #options: ModelsOptions;
  readonly #gateway: GatewayAccess;
  readonly #found = new Map<string, FoundEndpoint>();

  constructor(options: ModelsOptions, gateway: GatewayAccess) {
    this.#options = options;
    this.#gateway = gateway;
  }

  async find(endpoint: StewardModel): Promise<FoundEndpoint | Failure> {
    const name = nameOf(endpoint);
    const known = this.#found.get(name);
    if (known !== undefined) return known;
    const { secret } = this.#options;
    const gateway = () => this.#gateway.place();
    const found = await findEndpoint(endpoint, { secret, gateway });
    if (!isFailure(found)) this.#found.set(name, found);
    return found;
  }

  forget(endpoint: StewardModel): void {
    this.#found.delete(nameOf(endpoint));
  }
}

function nameOf({ provider, base_url, key_ref }: StewardModel): string {
  return JSON.stringify([provider, base_url, key_ref]);
}

/** The gateway of `sub login`, loaded only where a chain names it. */
class GatewayAccess {
  readonly #options: ModelsOptions;
  #upstream: { readonly origin: string; readonly link: Upstream } | undefined;

  constructor(options: ModelsOptions) {
    this.#options = options;
  }

  async place(): Promise<GatewayPlace | Failure> {
    const { config, secrets } = this.#options;
    const { openLogin, openGatewayLink, notLoggedIn } = await import('@subluminal/gateway/proxy');
    const { passphraseFile = null } = secrets.settings;
    const { home } = secrets;
    const login = await openLogin({ home, passphraseFile, nowMs: Date.now });
    if (login === undefined) return notLoggedIn();
    if (isFailure(login)) return login;
    const { origin } = new URL(login.gatewayUrl);
    if (this.#upstream?.origin !== origin) {
      const link = openGatewayLink(config, login.gatewayUrl);
      if (isFailure(link)) return link;
      // Set before anything is awaited: two questions at once open one link.
      const before = this.#upstream;
      this.#upstream = { origin, link };
      await before?.link.close();
    }
    return login;
  }

  /** With the certificates that the gateway asks for. */
  linkTo(url: URL): Upstream | undefined {
    return this.#upstream?.origin === url.origin ? this.#upstream.link : undefined;
  }

  async close(): Promise<void> {
    await this.#upstream?.link.close();
  }
}

/** Models of this machine are reached directly, whatever proxy the network has. */
function upstreamsFor({ secrets }: ModelsOptions, gateway: GatewayAccess): Upstream {
  const local = openUpstream();
  const outside = openUpstream({ proxy: proxyOf(secrets.env) });
  return {
    call(wanted) {
      const url = new URL(wanted.url);
      const link = gateway.linkTo(url) ?? (isLoopbackHost(url.hostname) ? local : outside);
      return link.call(wanted);
    },
    async close() {
      await Promise.all([local.close(), outside.close(), gateway.close()]);
    },
  };
}

function failed(faults: readonly string[]): Failure {
  const fix =
    'Check the models in integrations.yaml, their addresses and keys, and that a local one runs.';
  return failure('SUB_MODEL_FAILED', `No model answered. ${faults.join(' ')}`, fix);
}

function refused(why: string): Failure {
  const fix = 'Raise the limit that the message names, or wait until it counts anew.';
  return failure('SUB_MODEL_REFUSED', why, fix);
}

function stopped(): Failure {
  return failure('SUB_MODEL_STOPPED', 'The question to the model was stopped.', 'Ask again.');
}
