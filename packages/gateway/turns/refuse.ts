// A refusal as the client gets it.
import type { OutgoingHttpHeaders } from 'node:http';
import type { Wire } from '@subluminal/core/wires';
import type { TurnRefusal } from './types.ts';

export interface RefusalAnswer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string;
}

const STATUS: {
  readonly [K in TurnRefusal['kind']]: { readonly status: number; readonly type: string };
} = {
  policy: { status: 400, type: 'invalid_request_error' },
  approval: { status: 400, type: 'invalid_request_error' },
  permission: { status: 400, type: 'invalid_request_error' },
  invalid: { status: 400, type: 'invalid_request_error' },
  budget: { status: 429, type: 'rate_limit_error' },
  rate: { status: 429, type: 'rate_limit_error' },
  authentication: { status: 401, type: 'authentication_error' },
  too_large: { status: 413, type: 'request_too_large' },
  unavailable: { status: 503, type: 'api_error' },
};

export function refusalAnswer(wire: Wire, refusal: TurnRefusal): RefusalAnswer {
  const { status, type } = STATUS[refusal.kind];
  const body = JSON.stringify(wire.writeError({ status, type, message: refusal.message }));
  return { status, headers: retryHeaders(refusal), body };
}

function retryHeaders({ kind, retryAfterMs }: TurnRefusal): OutgoingHttpHeaders {
  const stops = kind === 'budget' ? { 'x-should-retry': 'false' } : {};
  if (retryAfterMs === undefined) return stops;
  return { ...stops, 'retry-after': String(Math.ceil(retryAfterMs / 1_000)) };
}

/** The end of a stream that was opened while the turn was held. */
export function refusalEvents(wire: Wire, refusal: TurnRefusal): string {
  const { status, type } = STATUS[refusal.kind];
  return wire.writeErrorEvent({ status, type, message: refusal.message });
}
