import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SANDBOX_DIALECTS, withProtected } from '@subluminal/core/sandbox';
import { CLIENTS, clientOf } from '@subluminal/plane/clients';
import { planSandbox } from '@subluminal/plane/clients/sandbox';
import { planHooks, trustState } from '@subluminal/plane/clients/setup';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Finding, Machine } from './check.ts';
import { checkHooks } from './check-hooks.ts';
import { machineIn, put } from './machine.test-support.ts';

let folder = '';
let machine: Machine;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sub-hooks-'));
  const launcher = put(join(folder, 'lib', 'sub.mjs'), '');
  put(join(folder, 'lib', 'sub.cjs'), '');
  machine = { ...(await machineIn(folder)), launcher };
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const look = (): Promise<Finding> => checkHooks(machine);

function options() {
  const { env, cwd: project, paths, launcher: script } = machine;
  const own = { runtime: process.execPath, script };
  return { env, project, paths, own, redactPatterns: [], isManaged: false };
}

async function install(client: string): Promise<void> {
  const plan = await planHooks({ ...options(), clients: [clientOf(client)] });
  if (plan.kind === 'failure') throw new Error(plan.message);
  for (const file of plan.files) expect(file.apply().kind).toBe('applied');
}

const claude = () => join(machine.userHome, '.claude', 'settings.json');

test('a machine without clients is fine', async () => {
  expect(await look()).toEqual({ level: 'ok', text: 'no client with tools of its own here' });
});

test('a client without hooks is named, with what puts them in', async () => {
  put(claude(), '{}');
  expect(await look()).toMatchObject({
    level: 'warn',
    text: 'Claude Code: own tools and prompts governed by `sub run` and `sub wrap` only',
    fix: 'Start them by `sub run`, or put hooks in: `sub import claude-code --hooks`.',
  });
});

test('a client that takes hooks from its settings alone is named as such', async () => {
  put(join(machine.userHome, '.gemini', 'settings.json'), '{}');
  expect(await look()).toMatchObject({
    level: 'warn',
    text: 'Gemini CLI: own tools and prompts not governed: it takes hooks from its settings alone',
    fix: 'Put hooks in: `sub import gemini-cli --hooks`.',
  });
});

test.each([
  ['enabled', false],
  ['disabled', ['mine', 'subluminal']],
])('a project of Gemini CLI that has `hooksConfig.%s` is found', async (key, value) => {
  await install('gemini-cli');
  expect((await look()).level).toBe('ok');
  const hooksConfig = { [key]: value };
  put(join(machine.cwd, '.gemini', 'settings.json'), JSON.stringify({ hooksConfig }));
  const { level, more = [] } = await look();
  expect([level, more[0]]).toEqual(['broken', expect.stringContaining('called')]);
});

test('hooks that are in place are fine, and what they do not hold against is told', async () => {
  await install('claude-code');
  const { level, text, more = [] } = await look();
  expect([level, text]).toEqual([
    'ok',
    `Claude Code: own tools and prompts governed by hooks in ${claude()}`,
  ]);
  expect(more.join(' ')).toContain('disableAllHooks');
});

test.each([
  ['a sub that is gone', () => rmSync(join(folder, 'lib', 'sub.cjs')), 'which is gone'],
  [
    'a project that switches them off',
    () => put(join(machine.cwd, '.claude', 'settings.json'), '{"disableAllHooks": true}'),
    'has disableAllHooks',
  ],
])('%s is found', async (_what, harm, words) => {
  await install('claude-code');
  harm();
  const { level, more = [] } = await look();
  expect(level).toBe('broken');
  expect(more[0]).toContain(words);
});

test('hooks that Codex skips are found, until they are trusted', async () => {
  await install('codex');
  const { level, more = [] } = await look();
  expect(level).toBe('broken');
  expect(more[0]).toContain('nobody has trusted them');
  const state = trustState(options());
  if (state === undefined || state.kind === 'failure') throw new Error('there is no state');
  expect(state.apply().kind).toBe('applied');
  expect((await look()).level).toBe('ok');
});

test('every client with tools of its own has a state', async () => {
  for (const client of CLIENTS) {
    const [first] = client.files({
      platform: process.platform,
      userHome: machine.userHome,
      project: machine.cwd,
      env: machine.env,
    });
    if (first !== undefined) put(first.path, '');
  }
  const { text } = await look();
  const titles = CLIENTS.filter(({ builtInTools }) => builtInTools.length > 0);
  for (const { title } of titles) expect(text).toContain(`${title}: own tools`);
});

test('a settings file that is broken is named: nobody knows what is in it', async () => {
  put(claude(), '{ "hooks": ');
  const { level, more = [] } = await look();
  expect(level).toBe('warn');
  expect(more[0]).toMatch(
    /settings\.json is broken at line 1, column \d+: .* hooks in it are not known/,
  );
});

test('sandbox settings of a policy are told, and what others have done to them', async () => {
  put(claude(), '{}');
  expect((await look()).text).not.toContain('sandbox');
  const { env, project, paths } = options();
  const dialect = SANDBOX_DIALECTS.find(({ client }) => client === 'claude-code');
  if (dialect === undefined) throw new Error('there is no dialect');
  const places = { home: machine.userHome, project, tmp: '/tmp' };
  const none = { writeRoots: undefined, readRoots: undefined, onlyHosts: undefined };
  const empty = { ...none, denied: [], deniedTools: [], deniedHosts: [], left: [] };
  const plan = withProtected(empty, [join(project, 'policy.yaml')], places);
  const file = await planSandbox({
    env,
    project,
    paths,
    dialect,
    plan,
    places,
    redactPatterns: [],
  });
  if (file.kind === 'failure') throw new Error(file.message);
  expect(file.apply()).toEqual([]);
  expect((await look()).text).toContain(`; sandbox settings of a policy in ${claude()}`);
  put(claude(), '{}');
  expect((await look()).text).toContain('others have changed the sandbox settings of a policy in');
});
