// What Steward takes while nobody asks: its share of memory, and the tokens of a heartbeat that looks at mail and
// calendar, priced for a day of one each hour. The scripted model counts four characters as a token.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { isFailure } from '@subluminal/contracts';
import { LIST_PRICES, priceBook, turnCost } from '@subluminal/core/routing';
import { askSteward } from '@subluminal/plane/steward-socket';
import { openDemoWorld } from '../../test/steward/demo-task.ts';
import type { Conversation, Reply } from '../../test/steward/model-script.ts';
import type { StewardHome } from '../../test/steward/steward-home.ts';
import { type BenchOptions, goalLine } from '../measure.ts';
import { pssKb } from '../stdio/memory.ts';

const SETTLE_MS = 5_000;
const BEATS_PER_DAY = 24;
const KB_OF_MB = 1_024;
const IDLE_MB_GOAL = 150;
const MICROS = 1_000_000;
const PRICED = [
  ['anthropic', 'claude-haiku-4-5'],
  ['anthropic', 'claude-sonnet-4-5'],
  ['openai', 'gpt-6-luna'],
] as const;

/** Looks once, and finds nothing. */
function watchful({ results }: Conversation): Reply {
  if (results.length > 0) return { text: 'NOTHING' };
  const reasoning = 'The heartbeat looks for what is new.';
  return {
    uses: [
      { name: 'email.search', args: { unread: true, reasoning } },
      { name: 'calendar.list', args: { reasoning } },
    ],
  };
}

export async function measureIdle({ json }: BenchOptions): Promise<void> {
  const world = await openDemoWorld(watchful);
  const { home, configFolder } = world;
  try {
    const guardrails = join(configFolder, 'guardrails.yaml');
    const text = readFileSync(guardrails, 'utf8');
    const { child, isReady } = await home.start(configFolder);
    if (!isReady || child.pid === undefined) throw new Error('Steward does not start');
    await setTimeout(SETTLE_MS);
    const idleMb = pssKb(child.pid) / KB_OF_MB;
    writeFileSync(
      guardrails,
      text.replace('heartbeat: { enabled: false', 'heartbeat: { enabled: true'),
    );
    const { turns, input_tokens: inputTokens, output_tokens: outputTokens } = await beat(home);
    const beatMb = pssKb(child.pid) / KB_OF_MB;
    const days = PRICED.map(([provider, model]) => ({
      model,
      usd: dayMicros(provider, model, { inputTokens, outputTokens }) / MICROS,
    }));
    const figures = { idleMb, beatMb, turns, inputTokens, outputTokens, days };
    process.stdout.write(json ? `${JSON.stringify(figures)}\n` : idleText(figures));
  } finally {
    await world.close();
  }
}

/** What the models of the first heartbeat used. */
async function beat(home: StewardHome) {
  for (;;) {
    const listed = await askSteward(home.socket, 'conversations', { input: {} });
    const [first] = isFailure(listed) ? [] : listed.conversations;
    if (first !== undefined) await home.idle(first.id);
    const status = await askSteward(home.socket, 'status', { input: {} });
    if (isFailure(status)) throw new Error(status.message);
    const spent = status.spending.find(({ purpose }) => purpose === 'background');
    if (spent !== undefined && status.open_tasks.length === 0) return spent;
    await setTimeout(SETTLE_MS);
  }
}

interface Used {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

function dayMicros(provider: 'anthropic' | 'openai', model: string, used: Used): number {
  const price = priceBook(LIST_PRICES).priceFor({ provider, endpointId: '', model });
  const caches = { cacheReadTokens: 0, cacheWriteTokens: 0, cacheWriteHourTokens: 0 };
  const cost = turnCost({ ...used, ...caches, isEstimated: true }, price);
  if (cost.kind === 'unpriced') throw new Error(`${model} has no price`);
  return cost.costMicros * BEATS_PER_DAY;
}

interface IdleFigures extends Used {
  readonly idleMb: number;
  readonly beatMb: number;
  readonly turns: number;
  readonly days: readonly { readonly model: string; readonly usd: number }[];
}

function idleText({ idleMb, beatMb, turns, inputTokens, outputTokens, days }: IdleFigures): string {
  const lines = [
    'Steward while nobody asks',
    `  memory (PSS): ${idleMb.toFixed(1)} MB after its start, ${beatMb.toFixed(1)} MB after a heartbeat`,
    `  a heartbeat that looks at mail and calendar: ${turns} turns, ${inputTokens} tokens in, ${outputTokens} out`,
    ...days.map(
      ({ model, usd }) => `  a day of ${BEATS_PER_DAY} of them with ${model}: $${usd.toFixed(3)}`,
    ),
  ];
  return `${lines.join('\n')}\n${goalLine('idle memory, MB', idleMb, IDLE_MB_GOAL)}`;
}
