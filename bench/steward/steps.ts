// Tasks of ten steps with a model that answers at once, beside a loop that calls the same tool itself: what is left is
// the journal, the judgements, the policy, the gates and the record.
import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isFailure } from '@subluminal/contracts';
import type { OwnServer } from '@subluminal/plane/agent-run';
import { startAgentRuns } from '@subluminal/plane/apps/agent-run';
import { loadConfig } from '@subluminal/plane/config';
import { uuidv7 } from 'uuidv7';
import { readStewardConfig } from '../../packages/steward/config/index.ts';
import { openGuardian } from '../../packages/steward/guardian/index.ts';
import { openJournal } from '../../packages/steward/journal/index.ts';
import { Conversations, stepJudge } from '../../packages/steward/loop/index.ts';
import type { Models } from '../../packages/steward/models/index.ts';
import { permissionsSnapshot } from '../../packages/steward/permissions/index.ts';
import { type BenchOptions, goalLine, measureAsync, report } from '../measure.ts';

const STEPS = 10;
const WARMUP = 3;
const FLOOR = 'bare loop';
const STEWARD = 'Steward';
const NS_OF_MS = 1e6;
const STEP_P50_GOAL_MS = 5;
const RATE = '1000/second';
const EXAMPLE = fileURLToPath(new URL('../../examples/steward', import.meta.url));
const ASKER = { channel: 'terminal', person: 'ada', address: '' };
const LIMITLESS = {
  ...{ taskStepsMax: 1e9, taskCostMicrosMax: 1e9, taskWorkMsMax: 1e9 },
  ...{ dayStepsMax: 1e9, dayCostMicrosMax: 1e9, dayWorkMsMax: 1e9 },
  ...{ backgroundCostMicrosMax: 1e9, repeatsMax: 1e9 },
};

const SERVER: OwnServer = {
  name: 'bench',
  tools: [
    {
      name: 'echo',
      description: 'Says it again.',
      inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
      annotations: { readOnlyHint: true },
      call: async ({ text }) => ({ text: `It says ${JSON.stringify(text)}.` }),
    },
  ],
};

/** Ten uses, one after the other, then words. */
const MODEL: Models = {
  ask: async ({ messages, tools = [] }) => {
    const done = messages.filter(({ role }) => role === 'tool').length;
    const name = tools.find((tool) => tool.name.includes('echo'))?.name ?? '';
    // Calls that are the same again and again are refused.
    const args = { text: uuidv7(), reasoning: 'The user asked for it.' };
    const isEnd = done >= STEPS;
    return {
      ...{ text: isEnd ? 'Done.' : '', uses: isEnd ? [] : [{ id: `use-${done}`, name, args }] },
      ...{ stop: isEnd ? 'end' : 'tools', model: 'bench', costMicros: 0 },
      ...{ inputTokens: 1, outputTokens: 1 },
    };
  },
};

export async function measureSteps({ samples, json }: BenchOptions): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'bench-steward-'));
  const loop = await openLoop(home);
  const bare = async (index: number) => {
    const signal = new AbortController().signal;
    for (let step = 0; step < STEPS; step += 1) {
      await SERVER.tools[0]?.call({ text: uuidv7() }, { key: `${index}-${step}`, signal });
    }
  };
  try {
    const measurement = await measureAsync(
      [
        { name: FLOOR, run: bare },
        { name: STEWARD, run: () => loop.task() },
      ],
      { samples, warmup: WARMUP },
    );
    const title = `A task of ${STEPS} steps without the model's time, journal in ${tmpdir()}`;
    process.stdout.write(report(measurement, { title, floor: FLOOR, json }));
    const p50Of = (wanted: string) =>
      measurement.timings.find(({ name }) => name === wanted)?.p50Ns ?? Number.NaN;
    const stepMs = (p50Of(STEWARD) - p50Of(FLOOR)) / STEPS / NS_OF_MS;
    const line = goalLine('overhead of a step, p50 ms', stepMs, STEP_P50_GOAL_MS);
    if (!json) process.stdout.write(line);
  } finally {
    await loop.close();
    rmSync(home, { recursive: true, force: true });
  }
}

/** The real loop on a governed run, by the permissions that come with the product, without their rates. */
async function openLoop(home: string) {
  const env = { SUB_HOME: home, HOME: home, SUB_EVENTS: `file:${join(home, 'events.jsonl')}` };
  const loaded = await loadConfig({ env, flags: {}, cwd: home });
  if (!loaded.ok) throw new Error('the configuration is broken');
  const config = await benchConfig(home);
  const agent = { loaded, env, cwd: home, agentId: 'steward', warn: () => undefined };
  const [runs, journal] = await Promise.all([
    startAgentRuns(agent),
    openJournal(join(home, 'journal.db'), Date.now),
  ]);
  if (isFailure(runs) || isFailure(journal)) throw new Error('no run, or no journal');
  const { permissions, guardrails } = config;
  const policy = await permissionsSnapshot(permissions, { channel: 'terminal', guardrails });
  const settings = () => guardrails.guardian;
  const guardian = openGuardian({ models: MODEL, settings, nowMs: Date.now });
  const conversations = new Conversations({
    ...{ journal, models: MODEL, uuid: uuidv7, nowMs: Date.now, log: () => undefined },
    knowledge: {
      identity: async () => config.identity,
      skills: async () => '',
      recall: async () => '',
    },
    judge: stepJudge({
      ...{ guardian, config: () => config, journal, nowMs: Date.now },
      recalled: { hasAny: () => false },
      holdsSecret: () => false,
    }),
    limits: LIMITLESS,
    reply: (_conversation, text) => text,
    stopProcesses: () => 0,
    openRun: async () => runs.open({ policy, policyPaths: [], servers: [SERVER] }),
    closeRun: (run) => run.close(),
  });
  return {
    task: async () => {
      const taken = conversations.receive({ ...ASKER, text: 'Say ten things.' });
      if (taken.kind !== 'task') throw new Error('it was not taken');
      const ended = await new Promise<string>((resolve) => {
        const stop = journal.onChange(() => {
          const state = journal.task(taken.task.id)?.state;
          if (state === undefined || state === 'waiting' || state === 'running') return;
          stop();
          resolve(state);
        });
      });
      const steps = journal.steps(taken.task.id);
      const odd = steps.find(({ state }) => state !== 'done')?.result ?? ended;
      const isWhole = steps.filter(({ state }) => state === 'done').length === STEPS;
      if (!isWhole) throw new Error(`the task was not done: ${odd}`);
    },
    close: async () => {
      await conversations.close();
      await runs.close();
      journal.close();
    },
  };
}

async function benchConfig(home: string) {
  const folder = join(home, 'config');
  cpSync(EXAMPLE, folder, { recursive: true });
  const file = join(folder, 'permissions.yaml');
  const text = readFileSync(file, 'utf8')
    .replace('60/minute', RATE)
    .replace('      - files.list\n', '      - bench.echo\n');
  writeFileSync(file, text);
  const breaker = `\ncircuit_breaker: { actions: ${RATE} }\n`;
  appendFileSync(join(folder, 'guardrails.yaml'), breaker);
  const config = await readStewardConfig(folder);
  if (config.kind === 'broken') throw new Error(config.problems[0]?.message);
  return config;
}
