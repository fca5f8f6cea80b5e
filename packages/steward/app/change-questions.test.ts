import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ChannelDesk, Confirmation } from '../channels/index.ts';
import { fileRoots } from '../staging/index.ts';
import { ChangeQuestions } from './change-questions.ts';
import { type OpenChanges, openChanges } from './open-changes.ts';

type Decide = Parameters<ChannelDesk['ask']>[2];
interface Asked {
  readonly confirmation: Confirmation;
  readonly decide: Decide;
  readonly ended: Promise<string>;
}

const PERSON = { channel: 'telegram', conversation: 'c', sender: 'ada' } as const;
let home: string;
let path: string;
let changes: OpenChanges;
let questions: ChangeQuestions;
let next: Promise<Asked>;
let asked: (question: Asked) => void;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'sub-questions-'));
  const work = join(home, 'work');
  mkdirSync(work);
  path = join(work, 'a.txt');
  writeFileSync(path, 'one\n');
  next = new Promise((resolve) => {
    asked = resolve;
  });
  changes = await openChanges({
    ...{ state: join(home, 'state'), configFolder: join(home, 'config') },
    roots: fileRoots({ folders: [work] }),
    record: (record) => questions.decided(record),
    proposed: (set) => questions.proposed(set),
    log: () => undefined,
  });
  questions = newQuestions();
});

function newQuestions(): ChangeQuestions {
  return new ChangeQuestions({
    desks: changes.desks,
    channels: {
      ask: (_, confirmation, decide) => {
        let end: (words: string) => void = () => undefined;
        const ended = new Promise<string>((resolve) => {
          end = resolve;
        });
        asked({ confirmation, decide, ended });
        return Promise.resolve({ end: (words) => Promise.resolve(end(words)) });
      },
      reply: () => Promise.resolve({ kind: 'sent', ref: '1' }),
    },
    personOf: (runId) => (runId === 'on-telegram' ? PERSON : undefined),
    nowMs: Date.now,
    log: () => undefined,
  });
}
afterEach(() => {
  questions.stop();
  rmSync(home, { recursive: true });
});

async function propose(text: string) {
  const bytes = Buffer.from(text);
  const files = [{ path, next: () => ({ kind: 'content', bytes }) as const }];
  const set = await changes.staging.stage({ key: 'k', runId: 'on-telegram', why: 'Asked.', files });
  if (isFailure(set)) throw new Error(set.message);
  return set;
}

const approval = (sha256: string) =>
  ({ state: 'approved', by: 'ada', channel: 'telegram', sha256 }) as const;

test('a change is asked about whole on the channel of the request, and a press makes it', async () => {
  await propose('two\n');
  const { confirmation, decide, ended } = await next;
  expect(confirmation.isWhole).toBe(true);
  expect(confirmation.lines).toEqual(expect.arrayContaining(['│ -one', '│ +two']));
  decide(approval(confirmation.sha256));
  expect(await ended).toBe('approved by ada.');
  expect(readFileSync(path, 'utf8')).toBe('two\n');
});

test('what a proposed skill holds is asked about beside its text', async () => {
  const text = '---\nname: tea\ndescription: Brew tea.\n---\n```sh\nrm -rf ~/cups\n```\n';
  mkdirSync(join(home, 'config'));
  await changes.proposals.propose({
    ...{ key: 'k', runId: 'on-telegram', why: 'Asked.' },
    files: [{ path: 'skills/agent-authored/tea/SKILL.md', text }],
  });
  expect((await next).confirmation.lines).toEqual(
    expect.arrayContaining([
      'The skill tea: Brew tea.',
      'DANGER SKILL.md: a command removes or replaces: ~/cups.',
      '│ +rm -rf ~/cups',
    ]),
  );
});

test('a change that is decided elsewhere ends its question', async () => {
  const { id } = await propose('two\n');
  const { ended } = await next;
  await changes.desks.files.reject({ id, by: 'bob', channel: 'web' });
  expect(await ended).toBe('rejected by bob.');
  expect(readFileSync(path, 'utf8')).toBe('one\n');
});

test('a change whose diff is cut cannot be approved where it is not seen', async () => {
  await propose(`${'x'.repeat(3_000)}\n`);
  expect((await next).confirmation.isWhole).toBe(false);
});

test('an open change is asked about again after a restart, and its answer counts', async () => {
  const { id } = await propose('two\n');
  await next;
  questions.stop();
  next = new Promise((resolve) => {
    asked = resolve;
  });
  questions = newQuestions();
  questions.resume();
  const { confirmation, decide, ended } = await next;
  expect(confirmation.id).toBe(id);
  decide(approval(confirmation.sha256));
  expect(await ended).toBe('approved by ada.');
  expect(readFileSync(path, 'utf8')).toBe('two\n');
});
