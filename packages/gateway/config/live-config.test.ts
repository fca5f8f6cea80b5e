import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import { formatProblem, type Problem } from '@subluminal/core/source';
import { expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../../test/requirements.ts';
import { type ConfigChange, openLiveConfig } from './live-config.ts';
import { CONFIG_ENV, CONFIG_TEXTS, configFolder, writeConfig } from './testing/config-folder.ts';

const HOME = join(tmpdir(), 'no-home-of-subluminal');
const POOLS = CONFIG_TEXTS['pools.yaml'] ?? '';
const BROKEN = POOLS.replace('endpoint_id: hosted', 'endpoint_id: gone');

/** Something that comes once, and then is waited for again. */
function signal<T>() {
  const waiting: ((value: T) => void)[] = [];
  const ready: T[] = [];
  return {
    give: (value: T) => {
      const taker = waiting.shift();
      if (taker === undefined) ready.push(value);
      else taker(value);
    },
    next: () =>
      new Promise<T>((resolve) => {
        const value = ready.shift();
        if (value === undefined) waiting.push(resolve);
        else resolve(value);
      }),
  };
}

async function opened(env: { [name: string]: string } = CONFIG_ENV) {
  const dir = configFolder();
  const changes = signal<ConfigChange>();
  const rejections = signal<readonly Problem[]>();
  const live = await openLiveConfig({
    dir,
    places: { env, home: HOME, userHome: HOME, settings: {} },
    changed: changes.give,
    rejected: rejections.give,
    everyMs: 20,
  });
  if (isFailure(live) || !('kind' in live)) throw new Error('not opened');
  onTestFinished(() => live.stop());
  return { dir, live, changes, rejections };
}

it('a changed file is put in force for new turns, and a turn keeps what it began with', async () => {
  const { dir, live, changes } = await opened();
  const before = live.current();
  writeConfig(dir, { 'pools.yaml': POOLS.replace('weight: 3', 'weight: 7') });
  const { config, afterRestart } = await changes.next();
  expect(live.current()).toBe(config);
  expect(config.version).not.toBe(before.version);
  expect(config.pools.get('standard')?.members[0]?.weight).toBe(7);
  expect(before.pools.get('standard')?.members[0]?.weight).toBe(3);
  expect(afterRestart).toEqual([]);
});

it('a broken reload keeps the old configuration and says why, once', async () => {
  verifies('R-5');
  const { dir, live, changes, rejections } = await opened();
  const before = live.current();
  writeConfig(dir, { 'pools.yaml': BROKEN });
  const problems = await rejections.next();
  expect(problems.map(formatProblem)).toEqual([
    expect.stringMatching(/^pools\.yaml:17:24: error: there is no endpoint `gone`/),
  ]);
  expect(live.current()).toBe(before);
  writeConfig(dir, { 'pools.yaml': `${POOLS}# mended\n` });
  const { config } = await changes.next();
  expect(live.current()).toBe(config);
});

it('a policy that does not compile keeps the old rules', async () => {
  verifies('R-12');
  const { dir, live, rejections } = await opened();
  const { policy } = live.current();
  const rules = 'rules:\n  - { id: R1, when: "server_class.tsk == 1", action: block }\n';
  writeConfig(dir, { 'policies/main.yaml': `version: 1\n${rules}` });
  expect(await rejections.next()).toMatchObject([
    { file: 'policies/main.yaml', position: { line: 3 }, code: 'SUB_GATEWAY_CONDITION' },
  ]);
  expect(live.current().policy).toBe(policy);
});

it('a folder that has gone keeps the old configuration', async () => {
  const { dir, live, rejections } = await opened();
  const before = live.current();
  rmSync(dir, { recursive: true });
  expect((await rejections.next())[0]).toMatchObject({ code: 'SUB_FILE_READ' });
  expect(live.current()).toBe(before);
});

it('a reload on demand answers with what came of it', async () => {
  const env = { ...CONFIG_ENV };
  const { dir, live } = await opened(env);
  live.stop();
  expect(await live.reload()).toMatchObject({ kind: 'unchanged' });
  env.TEST_ANTHROPIC_KEY = 'a-new-key';
  await live.reload();
  expect(live.current().secrets.get('env://TEST_ANTHROPIC_KEY')).toBe('a-new-key');
  writeConfig(dir, { 'pools.yaml': BROKEN });
  expect(await live.reload()).toMatchObject({ kind: 'rejected' });
  writeConfig(dir, { 'pools.yaml': `${POOLS}# mended\n` });
  expect(await live.reload()).toMatchObject({ kind: 'changed' });
});

it('what a running server cannot change holds from the next start on', async () => {
  const { dir, live } = await opened();
  live.stop();
  writeConfig(dir, {
    'gateway.yaml': `tenant_id: other
listen: { port: 9 }
ip_allowlist: [10.0.0.0/8]
limits: { turns_max: 5 }
approvals: { expires_ms: 5000 }
`,
  });
  const result = await live.reload();
  expect(result).toMatchObject({
    kind: 'changed',
    afterRestart: ['tenant_id', 'listen', 'ip_allowlist', 'limits'],
  });
  expect(live.current().settings).toMatchObject({
    tenantId: 'acme',
    listen: { port: 8_790 },
    ipAllowlist: [],
    limits: { turnsMax: 1_000 },
    approvals: { expiresMs: 5_000 },
  });
});

it('reloads at the same time run one after the other, and the last files win', async () => {
  const { dir, live } = await opened();
  live.stop();
  const reloads = [4, 5, 6].map((weight) => {
    writeConfig(dir, { 'pools.yaml': POOLS.replace('weight: 3', `weight: ${weight}`) });
    return live.reload();
  });
  await Promise.all(reloads);
  expect(live.current().pools.get('standard')?.members[0]?.weight).toBe(6);
});

it('a folder that is broken at the start is not followed', async () => {
  const dir = configFolder({ 'pools.yaml': BROKEN });
  const live = await openLiveConfig({
    dir,
    places: { env: CONFIG_ENV, home: HOME, userHome: HOME, settings: {} },
    changed: () => {},
    rejected: () => {},
  });
  expect(live).toMatchObject({ ok: false, problems: [{ code: 'SUB_GATEWAY_REFERENCE' }] });
});
