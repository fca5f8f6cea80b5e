import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { markOf, watchPolicy } from './policy.ts';

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
  const mark = markOf(path);
  replace('2');
  const version = await new Promise((resolve, reject) => {
    const watch = watchPolicy({
      path,
      mark,
      profile: 'production',
      changed: ({ ref }) => Promise.resolve(resolve(ref.policy_version)),
      broken: (message) => reject(new Error(message)),
    });
    onTestFinished(() => watch.stop());
  });
  expect(version).toBe('2');
});

test('the mark of a file that cannot be seen is that of none', () => {
  const { path } = policyFile();
  expect(markOf(path)).not.toBe('');
  expect([markOf(null), markOf(`${path}/x`), markOf(`${path}.none`)]).toEqual(['', '', '']);
});
