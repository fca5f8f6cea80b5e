// Proposals of configuration: the agent proposes, a person merges, and git and the ledger say so.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { check, EVENT_BODIES, isFailure } from '@subluminal/contracts';
import { open } from '@subluminal/contracts/shape';
import { afterAll, expect, test } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { readStewardConfig, writeStewardConfig } from '../config/index.ts';
import { type ChangeRecord, ChangeStore } from '../staging/index.ts';
import { configServer } from '../tools/config/index.ts';
import { openConfigProposals, type ProposedConfigFile } from './config-proposals.ts';
import { looseningWords } from './loosening.ts';
import { ProposalDesk } from './proposal-desk.ts';

const EXAMPLE = fileURLToPath(new URL('../../../examples/steward', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'steward-proposals-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

let count = 0;

/** A folder with its history, and both sides of its proposals. */
async function setUp() {
  const own = join(home, String(++count));
  const folder = join(own, 'config');
  const written = await writeStewardConfig({ folder, example: EXAMPLE });
  if (isFailure(written)) throw new Error(written.message);
  const store = new ChangeStore(join(own, 'proposals'));
  const records: ChangeRecord[] = [];
  const proposals = openConfigProposals({ folder, store });
  const options = { folder, store, record: (record: ChangeRecord) => void records.push(record) };
  const desk = new ProposalDesk(options);
  let keys = 0;
  const propose = (...files: readonly ProposedConfigFile[]) =>
    proposals.propose({ key: `step-${++keys}`, runId: 'run-1', why: 'You asked for it.', files });
  const show = async (made: Awaited<ReturnType<typeof propose>>) => {
    if (isFailure(made)) throw new Error(made.message);
    const view = await desk.show(made.id);
    if (isFailure(view)) throw new Error(view.message);
    return view;
  };
  const git = (...words: readonly string[]) =>
    execFileSync('git', ['-C', folder, ...words], { encoding: 'utf8' });
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  return { folder, store, options, records, proposals, desk, propose, show, git, read };
}

/** For tests that change nothing. */
const shared = setUp();
const ANN = { by: 'ann', channel: 'terminal' };

test('a proposal changes nothing until a person merges it; git and the record say who', async () => {
  verifies('ST-5.7');
  const { desk, propose, show, git, read, records, folder } = await setUp();
  const before = read('identity.md');
  const view = await show(await propose({ path: 'identity.md', text: 'Be brief.\n' }));
  expect(read('identity.md')).toBe(before);
  expect(git('status', '--porcelain')).toBe('');
  expect(view).toMatchObject({ kind: 'config', loosens: [] });
  expect(JSON.stringify(view.files)).toContain('+Be brief.');
  const merged = await desk.merge({ id: view.set.id, sha256: view.sha256, ...ANN });
  expect(merged).toMatchObject({ state: 'committed', by: 'ann' });
  expect(read('identity.md')).toBe('Be brief.\n');
  expect(git('log', '-1', '--format=%B').trim()).toBe(
    `Merge ${view.set.id}: identity.md\n\nYou asked for it.\n\nApproved-by: ann (terminal)\nProposed-in-run: run-1`,
  );
  expect(git('status', '--porcelain')).toBe('');
  const [record] = records;
  expect(records).toHaveLength(1);
  expect(record).toMatchObject({
    runId: 'run-1',
    change: { kind: 'config', state: 'approved', commit: git('rev-parse', 'HEAD').trim(), ...ANN },
  });
  const shape = open(EVENT_BODIES.change_decision);
  expect(check(shape, { change: record?.change })).toEqual([]);
  expect(existsSync(join(folder, '.git'))).toBe(true);
});

test('a merged proposal can be taken back', async () => {
  const { desk, propose, show, git, read, records } = await setUp();
  const before = read('guardrails.yaml');
  const view = await show(await propose({ path: 'guardrails.yaml', text: 'task: { usd: 2 }\n' }));
  await desk.merge({ id: view.set.id, sha256: view.sha256, ...ANN });
  expect(await desk.rollback({ id: view.set.id, ...ANN })).toMatchObject({ state: 'rolled_back' });
  expect(read('guardrails.yaml')).toBe(before);
  expect(git('log', '-1', '--format=%s')).toContain('Roll back');
  expect(records.map(({ change }) => change.state)).toEqual(['approved', 'rolled_back']);
});

test('a rejected proposal leaves no trace in the folder', async () => {
  const { desk, propose, show, git, records } = await setUp();
  const view = await show(await propose({ path: 'identity.md', text: 'x' }));
  expect(await desk.reject({ id: view.set.id, ...ANN })).toMatchObject({ state: 'rejected' });
  expect(git('log', '--format=%s').trim().split('\n')).toHaveLength(1);
  expect(records.map(({ change }) => [change.kind, change.state])).toEqual([
    ['config', 'rejected'],
  ]);
  const late = await desk.merge({ id: view.set.id, sha256: view.sha256, ...ANN });
  expect(late).toMatchObject({ code: 'SUB_CHANGE_CONFLICT' });
});

test('a proposal whose file has changed meanwhile is refused with what to do', async () => {
  const { desk, propose, show, folder, read } = await setUp();
  const view = await show(await propose({ path: 'identity.md', text: 'x' }));
  writeFileSync(join(folder, 'identity.md'), 'mine');
  const merged = await desk.merge({ id: view.set.id, sha256: view.sha256, ...ANN });
  expect(merged).toMatchObject({ code: 'SUB_CHANGE_CONFLICT' });
  expect(isFailure(merged) && merged.fix).toContain('proposed again');
  expect(read('identity.md')).toBe('mine');
});

test('another text than the one that was seen is not merged', async () => {
  const { desk, propose, show } = await shared;
  const view = await show(await propose({ path: 'identity.md', text: 'x' }));
  const merged = await desk.merge({ id: view.set.id, sha256: 'f'.repeat(64), ...ANN });
  expect(merged).toMatchObject({ code: 'SUB_CHANGE_CONFLICT' });
});

test('when git refuses, the files are as they were and nothing is told', async () => {
  const { desk, propose, show, folder, read, records, store } = await setUp();
  const before = read('identity.md');
  const view = await show(await propose({ path: 'identity.md', text: 'x' }));
  writeFileSync(join(folder, '.git', 'index.lock'), '');
  const merged = await desk.merge({ id: view.set.id, sha256: view.sha256, ...ANN });
  expect(merged).toMatchObject({ code: 'SUB_STEWARD_GIT' });
  expect(read('identity.md')).toBe(before);
  expect(records).toEqual([]);
  expect(store.get(view.set.id)?.state).toBe('rolled_back');
});

test('no program of the repository runs at a merge', async () => {
  const { desk, propose, show, folder } = await setUp();
  const hook = join(folder, '.git', 'hooks', 'pre-commit');
  mkdirSync(join(folder, '.git', 'hooks'), { recursive: true });
  writeFileSync(hook, `#!/bin/sh\ntouch ${join(folder, 'ran')}\nexit 1\n`);
  chmodSync(hook, 0o755);
  const view = await show(await propose({ path: 'identity.md', text: 'x' }));
  const merged = await desk.merge({ id: view.set.id, sha256: view.sha256, ...ANN });
  expect(merged).toMatchObject({ state: 'committed' });
  expect(existsSync(join(folder, 'ran'))).toBe(false);
});

test('a merge that a crash has cut off is finished at the next start', async () => {
  const { propose, show, store, options, git, read, records } = await setUp();
  const view = await show(await propose({ path: 'identity.md', text: 'x' }));
  store.save({ ...view.set, state: 'committing', by: 'ann' });
  expect(await new ProposalDesk(options).resume()).toEqual([]);
  expect(read('identity.md')).toBe('x');
  expect(git('log', '-1', '--format=%B')).toContain('Approved-by: ann');
  expect(records.map(({ change }) => change.state)).toEqual(['approved']);
});

test('a merge that was written but not committed is committed at the next start, once', async () => {
  const { propose, show, store, options, git, folder, records } = await setUp();
  const view = await show(await propose({ path: 'identity.md', text: 'x' }));
  writeFileSync(join(folder, 'identity.md'), 'x');
  store.save({ ...view.set, state: 'committed', by: 'ann', decided_at_ms: 1 });
  expect(await new ProposalDesk(options).resume()).toEqual([]);
  expect(git('status', '--porcelain')).toBe('');
  expect(git('log', '-1', '--format=%B')).toContain('Approved-by: ann');
  expect(records.map(({ change }) => [change.state, change.by])).toEqual([['approved', 'ann']]);
  // What the user writes by hand is theirs to commit.
  writeFileSync(join(folder, 'identity.md'), 'mine');
  expect(await new ProposalDesk(options).resume()).toEqual([]);
  expect(git('status', '--porcelain')).not.toBe('');
  expect(records).toHaveLength(1);
});

test.each([
  '../outside.yaml',
  '/etc/passwd',
  '.git/config',
  '.git/hooks/pre-commit',
  '.gitattributes',
  'skills/../.git/config',
  'skills/x/../../../y',
  'skills/x/.git/config',
  'mcp-manifests/../permissions.yaml',
  'other.yaml',
  'Permissions.yaml',
  'skills/SKILL.md',
  '',
])('the path %j is no file of the configuration', async (path) => {
  const { propose } = await shared;
  expect(await propose({ path, text: 'x' })).toMatchObject({ code: 'SUB_CHANGE_REFUSED' });
});

test('a link out of the folder leads nowhere', async () => {
  const { propose, folder, desk } = await setUp();
  const outside = join(home, 'outside');
  mkdirSync(outside, { recursive: true });
  mkdirSync(join(folder, 'skills'), { recursive: true });
  symlinkSync(outside, join(folder, 'skills', 'evil'));
  const made = await propose({ path: 'skills/evil/SKILL.md', text: 'x' });
  expect(made).toMatchObject({ code: 'SUB_CHANGE_REFUSED' });
  // A link that comes after the proposal does not lead out either.
  const later = await propose({ path: 'skills/good/SKILL.md', text: 'x' });
  if (isFailure(later)) throw new Error(later.message);
  symlinkSync(outside, join(folder, 'skills', 'good'));
  const view = await desk.show(later.id);
  if (isFailure(view)) throw new Error(view.message);
  const merged = await desk.merge({ id: later.id, sha256: view.sha256, ...ANN });
  expect(isFailure(merged)).toBe(true);
  expect(existsSync(join(outside, 'SKILL.md'))).toBe(false);
});

test('a proposal that would break the configuration, or is too large, is refused with its place', async () => {
  const { propose } = await shared;
  const broken = await propose({ path: 'permissions.yaml', text: 'tiers: { all: {} }' });
  expect(isFailure(broken) && broken.message).toContain(
    'permissions.yaml:1:10: error: unknown field',
  );
  const gone = await propose({ path: 'permissions.yaml', text: undefined });
  expect(isFailure(gone) && gone.message).toContain('the file is missing');
  const unseen = await propose({ path: 'identity.md', text: 'Obey Eve.\0' });
  expect(isFailure(unseen) && unseen.message).toContain('no text');
  const large = await propose({ path: 'identity.md', text: 'x'.repeat(300_000) });
  expect(isFailure(large) && large.message).toContain('larger than');
});

test('what a proposal would loosen is said in words', async () => {
  verifies('ST-5.7');
  const { propose, show, read } = await shared;
  const text = read('permissions.yaml')
    .replace('      - email.send\n', '')
    .replace('      - email.read\n', '      - email.read\n      - email.send\n')
    .replace('      - credentials.*\n', '')
    .replace('20/hour', '90/hour');
  const { loosens } = await show(await propose({ path: 'permissions.yaml', text }));
  expect(loosens).toContainEqual(
    expect.stringContaining('email.send: runs at once; until now it asks you (on terminal, web'),
  );
  expect(loosens).toContainEqual(
    expect.stringContaining('credentials.*: asks you; until now it never runs'),
  );
  expect(loosens).toContainEqual(expect.stringContaining('the capacity is raised'));
  const contacts = 'egress: { contacts: [{ name: Eve, emails: [eve@example.net] }] }\n';
  const more = await show(await propose({ path: 'guardrails.yaml', text: contacts }));
  expect(more.loosens.join()).toContain('eve@example.net');
});

test.each(['payments.[p]ay', 'payments.\\\\pay', 'payments.[!x]ay', 'pay?ents.{pay,send}'])(
  'the pattern %s does not hide behind another change',
  async (pattern) => {
    const { propose, show, read } = await shared;
    const more = `      - files.list\n      - music.play\n      - "${pattern}"\n`;
    const text = read('permissions.yaml').replace('      - files.list\n', more);
    const { loosens } = await show(await propose({ path: 'permissions.yaml', text }));
    const named = loosens.filter((line) =>
      /^pay.*: runs at once; until now it asks you/.test(line),
    );
    expect(named).toHaveLength(pattern.includes('{') ? 2 : 1);
    expect(loosens.join()).toContain('music.play');
  },
);

test('each value of the guardrails and integrations that would change is said', async () => {
  const { propose, show, read } = await shared;
  const guardrails = read('guardrails.yaml')
    .replace('enabled: true', 'enabled: false')
    .replace('messages_per_hour: 20', 'messages_per_hour: 900');
  const { notes } = await show(await propose({ path: 'guardrails.yaml', text: guardrails }));
  expect(notes).toEqual([
    'guardian.enabled: false; until now true',
    'egress.messages_per_hour: 900; until now 20',
  ]);
  // Among so many lines nobody would find it.
  const lines = Array.from({ length: 2_000 }, (_, at) => `# ${at}\n`).join('');
  const channel = 'channels: { telegram: { token_ref: "env://T", allowed: ["666"] } }\n';
  const integrations = `${lines}${read('integrations.yaml')}${channel}`.replace(
    'folders: []',
    'folders: [/srv]',
  );
  const told = await show(await propose({ path: 'integrations.yaml', text: integrations }));
  expect(told.notes).toEqual([
    'files.folders comes: "/srv"',
    expect.stringMatching(/^channels\.telegram comes: .*"allowed":\["666"\]/),
  ]);
});

test('a looser limit of a channel is said', async () => {
  const { propose, show, read } = await shared;
  const text = read('permissions.yaml').replace(
    'schedule: {',
    'telegram: { constraints: { cooldown: 1s } }\n  schedule: {',
  );
  const tighter = await show(await propose({ path: 'permissions.yaml', text }));
  expect(tighter.loosens).toEqual([]);
  const changed = new Map([['permissions.yaml', Buffer.from(text)]]);
  const before = await readStewardConfig(EXAMPLE, changed);
  const after = await readStewardConfig(EXAMPLE);
  if (before.kind === 'broken' || after.kind === 'broken') throw new Error('broken');
  expect(looseningWords(before, after).join()).toContain('channel_telegram');
});

test('stricter permissions loosen nothing', async () => {
  const { propose, show, read } = await shared;
  const text = read('permissions.yaml')
    .replace('      - email.read\n', '')
    .replace('20/hour', '2/hour');
  expect((await show(await propose({ path: 'permissions.yaml', text }))).loosens).toEqual([]);
});

test('a proposal of several files has the kind of what comes with them', async () => {
  const { propose, show } = await shared;
  const manifest = { path: 'mcp-manifests/music.yaml', text: 'server: music\n' };
  expect((await show(await propose(manifest))).kind).toBe('server');
  const skill = { path: 'skills/claims/SKILL.md', text: '# Claims\n' };
  expect((await show(await propose(skill))).kind).toBe('skill');
});

test('the tool proposes once for a step, and can do nothing else', async () => {
  verifies('ST-5.7');
  const { proposals, desk, git } = await setUp();
  const server = configServer({ proposals, runId: () => 'run-9' });
  expect(server.tools.map(({ name }) => name)).toEqual(['propose']);
  const [tool] = server.tools;
  const args = { path: 'identity.md', text: 'Be kind.\n', why: 'Kindness.' };
  const use = { key: 'step-1', signal: new AbortController().signal };
  const first = await tool?.call(args, use);
  expect(first?.text).toContain('The user decides; nothing has changed yet.');
  expect(await tool?.call(args, use)).toEqual(first);
  expect(desk.list()).toHaveLength(1);
  expect(git('status', '--porcelain')).toBe('');
  const skill = await tool?.call({ ...args, path: 'skills/a/SKILL.md' }, use);
  expect(skill).toMatchObject({ isError: true });
  const broken = await tool?.call({ ...args, path: 'permissions.yaml' }, { ...use, key: 'step-2' });
  expect(broken?.isError).toBe(true);
  expect(broken?.text).toContain('permissions.yaml:1:1');
});
