// Where the questions of one endpoint go, and with which key. Keys are fetched when they are first needed, and are in
// nothing but the headers that go out.
import { type Failure, failure, isFailure, type StewardModel } from '@subluminal/contracts';
import { ownEndpoint, type TurnTarget } from '@subluminal/gateway/local';
import { providerFor } from '@subluminal/gateway/providers';
import type { Attempt } from '@subluminal/gateway/turns';
import { isLoopbackHost } from '@subluminal/plane/os';
import type { Purpose } from './types.ts';

export interface FoundEndpoint {
  readonly kind: 'found';
  readonly url: string;
  readonly key: string | undefined;
}

export interface GatewayPlace {
  readonly gatewayUrl: string;
  readonly apiKey: string;
}

interface EndpointPlaces {
  readonly secret: (ref: string) => Promise<string | Failure>;
  /** The gateway that this machine is logged in to. */
  readonly gateway: () => Promise<GatewayPlace | Failure>;
}

const OWN = {
  anthropic: { url: 'https://api.anthropic.com', keyRef: 'env://ANTHROPIC_API_KEY' },
  openai: { url: 'https://api.openai.com/v1', keyRef: 'env://OPENAI_API_KEY' },
} as const;

export async function findEndpoint(
  endpoint: StewardModel,
  { secret, gateway }: EndpointPlaces,
): Promise<FoundEndpoint | Failure> {
  const { provider, base_url, key_ref } = endpoint;
  if (provider === 'gateway') {
    const place = await gateway();
    if (isFailure(place)) return place;
    return checked({ kind: 'found', url: place.gatewayUrl, key: place.apiKey });
  }
  const own = provider === 'openai_compat' ? undefined : OWN[provider];
  const url = base_url ?? own?.url;
  if (url === undefined) return unusable('has no address', 'Write its `base_url`.');
  const ref = key_ref ?? own?.keyRef;
  const key = ref === undefined ? undefined : await secret(ref);
  return isFailure(key) ? key : checked({ kind: 'found', url, key });
}

function checked(found: FoundEndpoint): FoundEndpoint | Failure {
  const { url, key } = found;
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol) || parsed.username !== '') {
    return unusable('is no address', 'Write http:// or https://, without a password.');
  }
  if (parsed.protocol === 'http:' && key !== undefined && !isLoopbackHost(parsed.hostname)) {
    return unusable(
      'would get its key over plain http',
      'Use https://, or a server without a key.',
    );
  }
  return found;
}

/** Without the address: it may hold a password. */
function unusable(why: string, fix: string): Failure {
  return failure('SUB_MODELS_ADDRESS', `The model ${why}.`, fix);
}

export function targetOf(
  { provider, model, timeout_s }: StewardModel,
  { url, key }: FoundEndpoint,
  purpose: Purpose,
): TurnTarget {
  const isGateway = provider === 'gateway';
  const name = isGateway ? 'anthropic' : provider;
  const told = { micros: undefined as number | undefined };
  const attempt: Attempt = {
    attemptNo: 1,
    provider: providerFor(name),
    endpoint: { ...ownEndpoint(name, url), id: provider },
    model,
    credentials: key === undefined ? { kind: 'none' } : { kind: 'key', key },
    timeoutMs: timeout_s * 1_000,
    release: () => {},
    ...(isGateway && { gateway: gatewayLink(told) }),
  };
  return { attempt, facts: { purpose }, ...(isGateway && { toldMicros: () => told.micros }) };
}

const OUR_HEADER = /^x-aicg-[a-z-]{1,64}$/;

/** A gateway takes turns on their own wire as well; only what it tells of them is heard. */
function gatewayLink(told: { micros: number | undefined }): NonNullable<Attempt['gateway']> {
  return {
    envelop: (body) => body,
    answerHeaders: (from) => {
      const ours = Object.entries(from).filter(([name]) => OUR_HEADER.test(name));
      const micros = Number(from['x-aicg-cost-micros'] ?? Number.NaN);
      if (Number.isSafeInteger(micros) && micros >= 0) told.micros = micros;
      return Object.fromEntries(ours);
    },
    takesEvent: () => false,
    unreachable: {
      status: 503,
      type: 'overloaded_error',
      message: 'The gateway cannot be reached.',
    },
    refused: ({ message }) => ({ status: 400, type: 'invalid_request_error', message }),
  };
}
