import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFailure, type Profile } from '@subluminal/contracts';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ReadyPolicy } from './ready-policy.ts';
import { readyPolicyOf } from './ready-policy.ts';
import type { PolicyRole } from './sources.ts';

const POLICY = `policy_id: own
version: "1"
mode: control
defaults: { decision_on_error: BLOCK }
selectors: {}
rules:
  - rule_id: closed
    kind: deny
    enabled: true
    severity: info
    match: { tool_name: { glob: ["shell_*"] } }
    effect: { action: BLOCK, reason_code: CLOSED, message: Closed. }
`;
const OPEN = POLICY.replace('enabled: true', 'enabled: false');

let home: string;
let path: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'sub-compiled-'));
  path = join(home, 'policy.yaml');
  writeFileSync(path, POLICY, { mode: 0o600 });
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

interface Start {
  readonly build?: string;
  readonly profile?: Profile;
  readonly role?: PolicyRole;
}

async function start({ build = 'one', profile = 'production', role = 'user' }: Start = {}) {
  const ready = await readyPolicyOf([{ path, role }], { home, profile, build });
  if (isFailure(ready)) throw new Error(ready.message);
  return ready;
}

/** Whether the rule is in force. */
async function isClosed(ready: ReadyPolicy): Promise<boolean> {
  const snapshot = await ready.snapshot();
  if (isFailure(snapshot)) throw new Error(snapshot.message);
  return snapshot.rules.some(({ rule }) => rule.rule_id === 'closed');
}

function kept(): string {
  const [name = 'none'] = readdirSync(join(home, 'compiled'));
  return join(home, 'compiled', name);
}

/** Replaces what is kept by what says that nothing is closed. */
function forge(change: (text: string) => string = (text) => text): void {
  const text = readFileSync(kept(), 'utf8');
  writeFileSync(kept(), change(text.replace('"enabled":true', '"enabled":false')));
}

/** Whoever does not believe what is kept puts a file of their own in its place. */
async function isBelieved(given: Start = {}): Promise<boolean> {
  const files = () => readdirSync(join(home, 'compiled')).length;
  const before = [lstatSync(kept()).ino, files()];
  expect(await isClosed(await start(given))).toBe(true);
  const { ino, mode, uid } = lstatSync(kept());
  expect([mode & 0o777, uid]).toEqual([0o600, process.getuid?.()]);
  return ino === before[0] && files() === before[1];
}

describe('a compiled policy', () => {
  test('is kept for its owner alone, and decides as the file does', async () => {
    const first = await start();
    const second = await start();
    expect(second.hashes).toEqual(first.hashes);
    expect(await isClosed(first)).toBe(true);
    expect(await isClosed(second)).toBe(true);
    expect(readdirSync(join(home, 'compiled'))).toHaveLength(1);
    expect(await isBelieved()).toBe(true);
  });

  test('takes the place of YAML', async () => {
    await start();
    const ready = await start();
    // The bytes were read at the start, and nothing reads the file again.
    rmSync(path);
    expect(await isClosed(ready)).toBe(true);
  });

  test('is of no use for another content of its file', async () => {
    await start();
    writeFileSync(path, OPEN);
    expect(await isClosed(await start())).toBe(false);
    writeFileSync(path, POLICY);
    expect(await isClosed(await start())).toBe(true);
  });

  test.each([
    ['another build', { build: 'two' }],
    ['another profile', { profile: 'development' }],
    ['another role', { role: 'untrusted' }],
  ] as const)('is of no use for %s', async (_, given) => {
    await start();
    expect(await isBelieved(given)).toBe(false);
  });

  test('cannot be put in the place of that of another role or profile', async () => {
    await start();
    const own = kept();
    await start({ profile: 'development' });
    const other = readdirSync(join(home, 'compiled')).find((name) => !own.endsWith(name)) ?? '';
    renameSync(own, join(home, 'compiled', other));
    expect(await isClosed(await start({ profile: 'development' }))).toBe(true);
  });

  test.each([
    ['is changed', (text: string) => text],
    ['is cut off', (text: string) => text.slice(0, -20)],
    ['has no MAC', (text: string) => text.slice(65)],
    ['has the MAC of nothing', (text: string) => `${'0'.repeat(64)}${text.slice(64)}`],
    [
      'has a MAC that is no hexadecimal number',
      (text: string) => `${'z'.repeat(64)}${text.slice(64)}`,
    ],
    ['is empty', () => ''],
    ['is no JSON', (text: string) => `${text.slice(0, 65)}{`],
  ])('is not believed when it %s, and the file is read instead', async (_, change) => {
    await start();
    forge(change);
    expect(await isBelieved()).toBe(false);
    expect(await isBelieved()).toBe(true);
  });

  test.each([0o644, 0o666, 0o620])('with mode %o is not believed', async (mode) => {
    await start();
    chmodSync(kept(), mode);
    expect(await isBelieved()).toBe(false);
  });

  test('that a link leads to is not believed', async () => {
    await start();
    const own = kept();
    renameSync(own, join(home, 'elsewhere'));
    symlinkSync(join(home, 'elsewhere'), own);
    expect(await isBelieved()).toBe(false);
  });

  test.runIf(process.getuid?.() === 0)('of another user is not believed', async () => {
    await start();
    chownSync(kept(), 12_345, 12_345);
    expect(await isBelieved()).toBe(false);
  });

  test('of a home with another key is not believed', async () => {
    await start();
    rmSync(join(home, 'ledger.key'));
    expect(await isBelieved()).toBe(false);
  });

  test('is not kept by a program that no build has named', async () => {
    const ready = await readyPolicyOf([{ path, role: 'user' }], { home, profile: 'production' });
    expect(ready.kind).toBe('ready');
    expect(existsSync(join(home, 'compiled'))).toBe(false);
  });

  test('does not let pass a file that others can write to', async () => {
    await start();
    chmodSync(path, 0o666);
    const ready = await readyPolicyOf([{ path, role: 'user' }], {
      home,
      profile: 'production',
      build: 'one',
    });
    expect(ready).toMatchObject({ kind: 'failure', code: 'SUB_FILE_UNSAFE' });
  });

  test('makes room when too many are kept', async () => {
    await start();
    const folder = join(home, 'compiled');
    for (let n = 0; n < 64; n++)
      writeFileSync(join(folder, `policy-${String(n).padStart(64, '0')}`), '');
    await start({ build: 'two' });
    expect(readdirSync(folder)).toHaveLength(1);
  });
});
