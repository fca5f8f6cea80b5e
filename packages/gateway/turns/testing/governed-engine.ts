// An engine behind a real HTTP server, with a governor that lets every turn pass and notes what it is told.
import type { Endpoint } from '@subluminal/core/routing';
import { openUpstream } from '@subluminal/plane/upstream';
import { onTestFinished } from 'vitest';
import { providerFor } from '../../providers/registry/index.ts';
import {
  type Attempt,
  type AttemptOutcome,
  coreWires,
  createTurnEngine,
  type TurnEngineOptions,
  type TurnGovernor,
  type TurnOutcome,
  type TurnPlan,
  type TurnRequest,
  type TurnRoute,
} from '../index.ts';
import { loopback } from './loopback.ts';

export const TAIL = 'event: aicg.usage\ndata: {"cost_cents":1}\n\n';

export function endpointAt(url: string, parts: Partial<Endpoint> = {}): Endpoint {
  return {
    id: 'upstream-1',
    provider: 'anthropic',
    url,
    teamKeyRefs: {},
    dataResidency: 'us',
    trustTier: 'vendor',
    supports: new Set(),
    deployments: [],
    concurrencyMax: 10,
    ...parts,
  };
}

export function attemptAt(url: string, parts: Partial<Attempt> = {}): Attempt {
  const endpoint = endpointAt(url);
  return {
    attemptNo: 1,
    provider: providerFor(endpoint.provider),
    endpoint,
    model: 'upstream-model',
    credentials: { kind: 'key', key: 'ours' },
    timeoutMs: 60_000,
    release: () => {},
    ...parts,
  };
}

export interface Told {
  readonly turns: TurnRequest[];
  readonly attempts: AttemptOutcome[];
  readonly ends: TurnOutcome[];
  readonly defects: unknown[];
  released: number;
}

export interface GovernedEngine {
  readonly url: string;
  readonly told: Told;
  /** Resolves when so many turns have ended. */
  ended(count: number): Promise<void>;
}

export type UngovernedRoute = Omit<TurnRoute, 'governor'>;

const ROUTE: UngovernedRoute = {
  wire: 'anthropic_messages',
  kind: 'answer',
  path: '/v1/messages',
};

export async function governedEngine(
  urls: readonly string[],
  options: Partial<TurnEngineOptions> & {
    readonly route?: UngovernedRoute;
    readonly attempt?: Partial<Attempt>;
    readonly tail?: string;
    readonly plan?: (send: TurnPlan, turn: TurnRequest) => TurnPlan;
  } = {},
): Promise<GovernedEngine> {
  const told: Told = { turns: [], attempts: [], ends: [], defects: [], released: 0 };
  const waiting: { count: number; go: () => void }[] = [];
  const upstream = openUpstream();
  onTestFinished(() => upstream.close());
  const begin = (turn: TurnRequest): TurnPlan => {
    told.turns.push(turn);
    const attempts = urls.map((url, index) =>
      attemptAt(url, { attemptNo: index + 1, release: () => told.released++, ...options.attempt }),
    );
    const send: TurnPlan = {
      kind: 'send',
      turn: {
        body: turn.body,
        attempts,
        headers: { 'x-aicg-decision': 'allow' },
        attemptEnded: (_attempt, outcome) => void told.attempts.push(outcome),
        end: async (outcome) => {
          told.ends.push(outcome);
          for (const { count, go } of waiting) if (told.ends.length >= count) go();
          return { events: options.tail ?? TAIL, headers: { 'x-aicg-cost-cents': '1' } };
        },
      },
    };
    return options.plan?.(send, turn) ?? send;
  };
  const engine = createTurnEngine({
    wires: coreWires,
    upstream,
    nowMs: Date.now,
    onDefect: (_traceId, cause) => void told.defects.push(cause),
    ...options,
  });
  const governor: TurnGovernor = { begin: async (turn) => begin(turn) };
  const route = { governor, ...(options.route ?? ROUTE) };
  const { url } = await loopback((request, response) => {
    void engine.handle(request, response, route);
  });
  const ended = (count: number) =>
    new Promise<void>((go) => {
      if (told.ends.length >= count) go();
      else waiting.push({ count, go });
    });
  return { url, told, ended };
}
