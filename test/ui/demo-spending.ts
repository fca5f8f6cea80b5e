// What three weeks of model calls leave in the store of a gateway: the same for the same time.
import type { JsonObject } from '@subluminal/contracts';
import { type BudgetLimit, type GatewayStore, openGatewayStore } from '@subluminal/gateway/store';
import { seededRandom } from '../seeded-random.ts';

const TENANT = 'default';
const DAY_MS = 24 * 3_600_000;
const DAYS = 21;
const TURNS_A_DAY = 24;
const SEED = 16;

interface Person {
  readonly userId: string;
  readonly teamId: string;
  readonly repos: readonly string[];
}

const PEOPLE: readonly Person[] = [
  { userId: 'ada', teamId: 'platform', repos: ['infra', 'website'] },
  { userId: 'grace', teamId: 'payments', repos: ['payments-core'] },
  { userId: 'linus', teamId: 'payments', repos: ['payments-core', 'ledger'] },
  { userId: 'margaret', teamId: 'web', repos: ['website', 'design-system'] },
];

interface Route {
  readonly rule: string;
  readonly pool: string;
  readonly task: string;
  readonly provider: string;
  readonly endpointId: string;
  readonly model: string;
  /** Micro-dollars for a token in and out. */
  readonly prices: readonly [number, number];
  readonly degraded: readonly string[];
}

const ANTHROPIC = { provider: 'anthropic', endpointId: 'anthropic-prod', degraded: [] };
const OPENAI = { provider: 'openai', endpointId: 'openai-prod', degraded: ['cache_control'] };
const LOCAL = { provider: 'openai_compat', endpointId: 'local', degraded: ['extended_thinking'] };
const EVERYDAY = { rule: 'P-ROUTE-002', pool: 'standard' };

const ROUTES: readonly Route[] = [
  { ...EVERYDAY, ...ANTHROPIC, task: 'code_edit', model: 'claude-sonnet-4-6', prices: [3, 15] },
  { ...EVERYDAY, ...ANTHROPIC, task: 'review', model: 'claude-sonnet-4-6', prices: [3, 15] },
  { ...EVERYDAY, ...OPENAI, task: 'planning', model: 'gpt-5.4', prices: [2.5, 15] },
  {
    ...ANTHROPIC,
    rule: 'P-ROUTE-003',
    pool: 'strong',
    task: 'debug',
    model: 'claude-opus-4-7',
    prices: [5, 25],
  },
  {
    ...OPENAI,
    rule: 'P-ROUTE-001',
    pool: 'cheap',
    task: 'summary',
    model: 'gpt-5.4-mini',
    prices: [0.75, 4.5],
  },
  {
    ...LOCAL,
    rule: 'P-ROUTE-004',
    pool: 'private_strong',
    task: 'security_review',
    model: 'qwen2.5-coder',
    prices: [0, 0],
  },
];

/** What is used of a limit and what turns under way hold. */
export interface SpentBudget {
  readonly limit: BudgetLimit;
  readonly caller: Pick<Person, 'userId' | 'teamId'>;
  readonly usedMicros: number;
  readonly reservedMicros: number;
}

/** Before the gateway starts: it has its database for itself. */
export async function writeSpending(
  database: string,
  { nowMs, budgets }: { readonly nowMs: number; readonly budgets: readonly SpentBudget[] },
): Promise<void> {
  const store = await openGatewayStore({ database });
  try {
    const random = seededRandom(SEED);
    const turns = Array.from({ length: DAYS * TURNS_A_DAY }, (_, place) => {
      const agoMs = ((place + random()) * DAY_MS) / TURNS_A_DAY;
      return writeTurn(store, { place, eventMs: Math.round(nowMs - agoMs), random });
    });
    await Promise.all(turns);
    for (const budget of budgets) await writeBudget(store, budget, nowMs);
  } finally {
    await store.close();
  }
}

async function writeTurn(
  store: GatewayStore,
  turn: { readonly place: number; readonly eventMs: number; readonly random: () => number },
): Promise<void> {
  const { place, eventMs, random } = turn;
  const { repos, ...person } = chosen(PEOPLE, random());
  // Most work is everyday work.
  const route = chosen(ROUTES, random() ** 1.5);
  const traceId = `demo-${String(place).padStart(4, '0')}`;
  const who = { tenantId: TENANT, ...person, repoId: chosen(repos, random()) };
  const sessionId = `session-${person.userId}-${Math.floor(place / 8)}`;
  const inputTokens = 4_000 + Math.floor(random() * 90_000);
  const outputTokens = 200 + Math.floor(random() * 6_000);
  const [pricePerIn, pricePerOut] = route.prices;
  const isFailed = random() < 0.04;
  const member = {
    endpoint_id: route.endpointId,
    provider: route.provider,
    model: route.model,
    private: route.endpointId === 'local',
  };
  const decision: JsonObject = {
    primary_action: 'route',
    modifiers: random() < 0.1 ? ['redact'] : [],
    side_effects: [],
    model_pool: route.pool,
    reasons: [route.rule],
  };
  const error = isFailed ? 'upstream_5xx' : null;
  await store.records.write({
    settlement: null,
    raw: null,
    audit: [
      {
        ...who,
        eventMs,
        traceId,
        sessionId,
        eventType: 'turn',
        decision,
        ruleIds: [route.rule],
        detail: null,
        requestSummary: { task_type: route.task, model: route.model, messages: 7, tools: 12 },
        routedTo: `${route.endpointId}:${route.model}`,
        fallbackChain: [member],
        errorCode: error,
      },
    ],
    costs: [
      {
        ...who,
        eventMs,
        traceId,
        sessionId,
        attemptNo: 1,
        taskType: route.task,
        ruleId: route.rule,
        provider: route.provider,
        endpointId: route.endpointId,
        model: route.model,
        pool: route.pool,
        isPrivate: member.private,
        isShadow: false,
        inputTokens,
        outputTokens: isFailed ? 0 : outputTokens,
        cacheReadTokens: Math.floor(inputTokens / 2),
        cacheCreateTokens: 0,
        costMicros: isFailed
          ? 0
          : Math.round(inputTokens * pricePerIn + outputTokens * pricePerOut),
        costSource: 'provider_usage',
        latencyMs: 800 + Math.floor(random() * 20_000),
        isSuccess: !isFailed,
        errorClass: error,
      },
    ],
    routing: [
      {
        eventMs,
        traceId,
        attemptNo: 1,
        tenantId: TENANT,
        teamId: person.teamId,
        decision,
        pool: route.pool,
        member,
        choice: {},
        fallbackChain: [member],
        degradedFeatures: route.degraded,
        breakerState: 'closed',
        seed: traceId,
        error,
      },
    ],
  });
}

async function writeBudget(store: GatewayStore, spent: SpentBudget, nowMs: number): Promise<void> {
  const { limit, caller, usedMicros, reservedMicros } = spent;
  const reserve = async (part: string, estimateMicros: number) => {
    const id = `demo-${limit.key}-${part}`;
    await store.budgets.reserve({
      id,
      traceId: id,
      caller: { ...caller, tenantId: TENANT, role: 'developer', keyId: 'demo' },
      estimateMicros,
      limits: [limit],
      nowMs,
    });
    return id;
  };
  const reservationId = await reserve('used', usedMicros);
  await store.records.write({
    settlement: { kind: 'commit', reservationId, actualMicros: usedMicros },
    audit: [],
    costs: [],
    routing: [],
    raw: null,
  });
  if (reservedMicros > 0) await reserve('reserved', reservedMicros);
}

function chosen<T>(from: readonly T[], share: number): T {
  const found = from[Math.min(from.length - 1, Math.floor(share * from.length))];
  if (found === undefined) throw new Error('there is nothing to choose from');
  return found;
}
