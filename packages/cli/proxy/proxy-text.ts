// What a running proxy says about itself, in words.
import { isObject } from '@subluminal/contracts';
import type { ProxyState } from '@subluminal/gateway/proxy';

export interface ProxyHealth {
  readonly status: 'ok' | 'degraded' | 'silent';
  readonly gateway_url?: string;
  readonly problem?: string;
}

const HEALTH_MS = 10_000;

export async function healthOf({ url }: ProxyState): Promise<ProxyHealth> {
  try {
    const answer = await fetch(`${url}/_aicg/health`, { signal: AbortSignal.timeout(HEALTH_MS) });
    const told: unknown = await answer.json();
    if (!isObject(told)) return { status: 'silent' };
    const { status, gateway_url: gateway, problem } = told;
    const message = isObject(problem) ? problem['message'] : undefined;
    return {
      status: status === 'ok' ? 'ok' : 'degraded',
      ...(typeof gateway === 'string' && { gateway_url: gateway }),
      ...(typeof message === 'string' && { problem: message }),
    };
  } catch {
    return { status: 'silent' };
  }
}

export function stateText(
  { identity, url, version, startedAt, mode }: ProxyState,
  { status, gateway_url: gateway, problem }: ProxyHealth,
  isNew: boolean,
): readonly string[] {
  const where = mode === 'own' ? 'to the providers, with the keys of the agents' : `to ${gateway}`;
  const since = isNew ? '' : ` since ${startedAt}`;
  const first = `The proxy runs (pid ${identity.pid}, version ${version})${since} on ${url}; turns go ${where}.`;
  if (status === 'ok') return [first];
  if (status === 'silent') return [first, 'It does not answer: look at run/proxy.log of the home.'];
  return [first, `No turn passes now: ${problem ?? 'the gateway does not take its key.'}`];
}
