// What is counted and known over the borders of a run: rates, and what was read before.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readStewardConfig } from '../config/index.ts';
import { type Conversation, type Journal, openJournal } from '../journal/index.ts';
import { readPermissions } from '../permissions/index.ts';
import { stepJudge } from './index.ts';

const EXAMPLE = join(import.meta.dirname, '..', '..', '..', 'examples', 'steward');
const TEXT = `version: 1
tiers:
  log_and_execute: { actions: [lamp.*], constraints: { rate_limit: 2/hour } }
limits:
  lamp.burn: { cooldown: 1h }
channels:
  telegram: { constraints: { cooldown: 1m } }
`;

let folder: string;
let journal: Journal;
let nowMs = Date.parse('2026-03-04T12:00:00Z');
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sub-step-judge-'));
  await openAgain();
});
afterEach(() => {
  journal.close();
  rmSync(folder, { recursive: true });
});

async function openAgain(): Promise<void> {
  const opened = await openJournal(join(folder, 'journal.db'), () => nowMs);
  if (isFailure(opened)) throw new Error(opened.message);
  journal = opened;
}

const example = readStewardConfig(EXAMPLE);

async function judge() {
  const config = await example;
  const permissions = readPermissions({ file: 'permissions.yaml', bytes: Buffer.from(TEXT) });
  if (config.kind === 'broken' || permissions.kind === 'broken') throw new Error('broken');
  const { guardrails } = config;
  return stepJudge({
    ...{ journal, nowMs: () => nowMs, config: () => ({ permissions, guardrails }) },
    guardian: { judge: async () => undefined },
    recalled: { hasAny: () => false },
    holdsSecret: () => false,
  });
}

let made = 0;

/** Takes the action in a conversation of its own, as each sub-agent has one; gives who refuses it. */
async function act(tool: string, state: 'done' | 'failed' | 'refused' = 'done', channel = 'web') {
  const id = `id-${++made}`;
  const conversation: Conversation = journal.conversationFor({
    ...{ id, channel, person: 'ada', address: id },
  });
  const asked = { purpose: 'agent', askedBy: 'user', request: 'Light.' } as const;
  const task = journal.addTask({ id: `task-${id}`, conversationId: id, ...asked });
  const named = { server: 'lamp', tool, args: {}, reasoning: '', key: `key-${id}` };
  const step = journal.addStep({ taskId: task.id, n: 1, turn: 1, useId: 'use', ...named });
  const proposal = { ...named, conversation, task, runId: id, request: 'Light.', userWords: [] };
  const { judgements } = await (await judge()).judge(proposal, new AbortController().signal);
  const blocked = judgements.find(({ verdict }) => verdict === 'BLOCK');
  const callId = state === 'refused' ? {} : { callId: 'call' };
  journal.changeStep(step, { state: blocked === undefined ? state : 'refused', ...callId });
  return blocked?.by;
}

test('a rate counts over all conversations and restarts, with calls that were answered by an error', async () => {
  expect(await act('shine')).toBeUndefined();
  expect(await act('shine', 'failed')).toBeUndefined();
  expect(await act('shine')).toBe('rates');
  journal.close();
  await openAgain();
  expect(await act('shine')).toBe('rates');
  // Each tool has a rate of its own.
  expect(await act('blink')).toBeUndefined();
  nowMs += 30 * 60_000;
  expect(await act('shine')).toBeUndefined();
  expect(await act('shine')).toBe('rates');
});

test('a cooldown holds in the next conversation, and what was refused does not begin it', async () => {
  expect(await act('burn', 'refused')).toBeUndefined();
  expect(await act('burn')).toBeUndefined();
  expect(await act('burn')).toBe('rates');
  nowMs += 3_600_000;
  expect(await act('burn')).toBeUndefined();
});

test('a limit of a channel counts what is done there', async () => {
  expect(await act('glow', 'done', 'web')).toBeUndefined();
  expect(await act('glow', 'done', 'telegram')).toBeUndefined();
  nowMs += 3_600_000;
  expect(await act('glow', 'done', 'telegram')).toBeUndefined();
  expect(await act('glow', 'done', 'telegram')).toBe('rates');
  expect(await act('glow', 'done', 'web')).toBeUndefined();
});
