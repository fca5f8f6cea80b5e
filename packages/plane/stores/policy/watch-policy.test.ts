import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import { expect, onTestFinished, test } from 'vitest';
import { hasPolicy } from './untrusted-alone.ts';
import { loadPolicy, markOf, mayLoosen, watchPolicy } from './watch-policy.ts';

const textOf = (version: string) =>
  JSON.stringify({
    policy_id: 'p',
    version,
    mode: 'control',
    defaults: { decision_on_error: 'BLOCK' },
    selectors: {},
    rules: [],
  });

function policyFile(): { readonly path: string; readonly replace: (version: string) => void } {
  const folder = mkdtempSync(join(tmpdir(), 'sub-policy-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'policy.json');
  const replace = (version: string) => {
    writeFileSync(`${path}.next`, textOf(version));
    renameSync(`${path}.next`, path);
  };
  replace('1');
  return { path, replace };
}

test('a policy that changed after it was read and before the watch began is noticed', async () => {
  const { path, replace } = policyFile();
  const sources = [{ path, role: 'named' }] as const;
  const mark = markOf(sources);
  replace('2');
  const version = await new Promise((resolve, reject) => {
    const watch = watchPolicy({
      sources,
      home: join(path, '..'),
      mark,
      profile: 'production',
      changed: ({ snapshot }) => Promise.resolve(resolve(snapshot.ref.policy_version)),
      broken: (message) => reject(new Error(message)),
    });
    onTestFinished(() => watch.stop());
  });
  expect(version).toBe('2');
});

test('the mark of a file that cannot be seen is that of none', () => {
  const { path } = policyFile();
  const mark = (one: string) => markOf([{ path: one, role: 'user' }]);
  expect(mark(path)).not.toBe('');
  expect([markOf([]), mark(`${path}/x`), mark(`${path}.none`)]).toEqual(['', '', '']);
});

test('two policies are loaded as one that the second tightens', async () => {
  const [user, project] = [policyFile(), policyFile()];
  project.replace('7');
  const loaded = await loadPolicy(
    [
      { path: user.path, role: 'user' },
      { path: project.path, role: 'untrusted' },
    ],
    'production',
  );
  if (isFailure(loaded)) throw new Error(loaded.message);
  expect(loaded.snapshot.document).toMatchObject({ version: '1', tightened_by: { version: '7' } });
  expect(loaded.hashes).toHaveLength(2);
});

test('a broken second policy is an error, not a policy less', async () => {
  const [user, project] = [policyFile(), policyFile()];
  writeFileSync(project.path, '{');
  const loaded = await loadPolicy(
    [
      { path: user.path, role: 'user' },
      { path: project.path, role: 'untrusted' },
    ],
    'production',
  );
  expect(loaded).toMatchObject({ kind: 'failure', code: 'SUB_BUNDLE_SYNTAX' });
});

test('only what nobody has trusted is kept from loosening where everything may be reloaded', async () => {
  const { path } = policyFile();
  const loaded = await loadPolicy([{ path, role: 'untrusted' }], 'production');
  if (isFailure(loaded)) throw new Error(loaded.message);
  const changed = (role: 'named' | 'trusted' | 'untrusted') => {
    return { ...loaded, sources: [{ path, role }] };
  };
  expect(mayLoosen(changed('named'), ['other'])).toBe(true);
  expect(mayLoosen(changed('trusted'), ['other'])).toBe(true);
  expect(mayLoosen(changed('untrusted'), ['other'])).toBe(false);
  expect(mayLoosen(changed('untrusted'), loaded.hashes)).toBe(true);
});

test('a change of the second policy is noticed as well', async () => {
  const [user, project] = [policyFile(), policyFile()];
  const sources = [
    { path: user.path, role: 'user' },
    { path: project.path, role: 'untrusted' },
  ] as const;
  const mark = markOf(sources);
  project.replace('9');
  const version = await new Promise((resolve, reject) => {
    const watch = watchPolicy({
      sources,
      home: join(user.path, '..'),
      mark,
      profile: 'production',
      changed: ({ snapshot }) => Promise.resolve(resolve(snapshot.document.tightened_by?.version)),
      broken: (message) => reject(new Error(message)),
    });
    onTestFinished(() => watch.stop());
  });
  expect(version).toBe('9');
});

test('an untrusted policy that only observes is put beside having none', async () => {
  const { path } = policyFile();
  writeFileSync(path, textOf('1').replace('control', 'observe'));
  const load = async (role: 'named' | 'untrusted') => {
    const loaded = await loadPolicy([{ path, role }], 'production');
    if (isFailure(loaded)) throw new Error(loaded.message);
    return loaded.snapshot;
  };
  const untrusted = await load('untrusted');
  expect(untrusted.document).toMatchObject({ policy_id: 'none', tightened_by: { policy_id: 'p' } });
  expect([hasPolicy(untrusted), hasPolicy(await load('named'))]).toEqual([false, true]);
});

test('an untrusted policy does not switch off self-protection', async () => {
  const { path } = policyFile();
  writeFileSync(path, textOf('1').replace('"rules":[]', '"rules":[],"self_protection":"off"'));
  const offIn = async (role: 'named' | 'untrusted') => {
    const loaded = await loadPolicy([{ path, role }], 'production');
    if (isFailure(loaded)) throw new Error(loaded.message);
    return loaded.snapshot.document.self_protection;
  };
  expect(await offIn('named')).toBe('off');
  expect(await offIn('untrusted')).toBeUndefined();
});
