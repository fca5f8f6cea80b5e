// The pins on real files: changed by many processes at once, and by one that is killed.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { isFailure } from '@subluminal/contracts';
import { EMPTY_PINS, type PinStore, pinOf, type ServerPins } from '@subluminal/core/surface';
import { build } from 'esbuild';
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  onTestFinished,
} from 'vitest';
import { createKeyPair, sha256 } from '../../os/crypto/index.ts';
import {
  openPins,
  openUntrustedPins,
  rememberPins,
  resetPins,
  savePins,
  signPins,
} from './pins-file.ts';
import type { Step } from './testing/pinner.ts';

let folder: string;
let home: string;
let program: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sub-pinner-'));
  program = join(folder, 'pinner.mjs');
  await build({
    entryPoints: [fileURLToPath(new URL('./testing/pinner.ts', import.meta.url))],
    outfile: program,
    bundle: true,
    format: 'esm',
    platform: 'node',
    mainFields: ['module', 'main'],
    target: 'node20.19',
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'sub-pins-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const file = () => join(home, 'pins.json');

function pinsOf(...names: readonly string[]): ServerPins {
  const pins = names.map((name) => {
    const pinned = pinOf({ name }, sha256);
    const hash = pinned.ok ? pinned.hash : '';
    return [name, { hash, definition: { name }, seenAtMs: 5, acceptedAtMs: null }] as const;
  });
  return { instructions: undefined, tools: new Map(pins) };
}

const pin = (server: string, ...names: readonly string[]) =>
  savePins(home, (store) => rememberPins(store, server, pinsOf(...names)));

function stored(): PinStore {
  const opened = openPins(home);
  if (isFailure(opened)) throw new Error(opened.message);
  return opened.store;
}

function pinner(killAt: Step | '', ...servers: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, [program, home, killAt, ...servers], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

async function saidBy(child: ChildProcess): Promise<string> {
  const closed = once(child, 'close');
  const said = child.stdout === null ? '' : await text(child.stdout);
  await closed;
  return said;
}

describe('the pins', () => {
  it('are none where there is no file, and nothing is made by looking', () => {
    expect(openPins(join(home, 'not', 'there'))).toEqual({ store: EMPTY_PINS, revision: 0 });
    expect(readdirSync(home)).toEqual([]);
  });

  it('are written for their owner alone, also into a home that is not there yet', async () => {
    home = join(home, 'a', 'b');
    await pin('files', 'read', 'list');
    expect([...(stored().servers.get('files')?.tools.keys() ?? [])]).toEqual(['list', 'read']);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(statSync(home).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(home, 'run'))).toEqual([]);
  });

  it('are left alone by a change that changes nothing', async () => {
    await pin('files', 'read');
    const before = statSync(file());
    expect(await pin('files', 'read')).toHaveProperty('servers');
    expect(statSync(file()).ino).toBe(before.ino);
  });

  it('of the first sight stay when another session has seen something else', async () => {
    await pin('files', 'read');
    const [first] = [...(stored().servers.get('files')?.tools.values() ?? [])];
    const other = { hash: 'f'.repeat(64), seenAtMs: 9, acceptedAtMs: null };
    await savePins(home, (store) =>
      rememberPins(store, 'files', { instructions: other, tools: new Map([['read', other]]) }),
    );
    expect(stored().servers.get('files')?.tools.get('read')).toEqual(first);
    expect(stored().servers.get('files')?.instructions).toEqual(other);
  });
});

describe('pins that nobody vouches for', () => {
  it('are believed again once a person has signed them', async () => {
    await pin('files', 'read');
    const { pins } = JSON.parse(readFileSync(file(), 'utf8')) as { pins: unknown };
    writeFileSync(file(), `${JSON.stringify(pins)}\n`, { mode: 0o600 });
    const shown = openUntrustedPins(home);
    if (isFailure(shown)) throw new Error(shown.message);
    expect(isFailure(openPins(home))).toBe(true);
    expect(await signPins(home, EMPTY_PINS)).toBeUndefined();
    expect(isFailure(openPins(home))).toBe(true);
    expect(await signPins(home, shown.store)).toHaveProperty('servers');
    expect([...(stored().servers.get('files')?.tools.keys() ?? [])]).toEqual(['read']);
  });

  it('grow in revision with each write, also over a reset', async () => {
    const revision = () => {
      const opened = openPins(home);
      return isFailure(opened) ? -1 : opened.revision;
    };
    await pin('files', 'read');
    const first = revision();
    await pin('files', 'list');
    const second = revision();
    await resetPins(home, Date.now());
    await pin('files', 'read');
    expect(second).toBeGreaterThan(first);
    expect(revision()).toBeGreaterThan(0);
  });
});

describe('a file that is not as we wrote it', () => {
  const damages: readonly (readonly [string, () => void, string])[] = [
    [
      'has an edited definition',
      () => edit((one) => one.replace('"read"}', '"reed"}')),
      'does not hold',
    ],
    ['is consistent with itself', () => edit((one) => consistent(one)), 'does not hold'],
    [
      'has another revision',
      () => edit((one) => one.replace(/"revision": \d/, '"revision": 9')),
      'does not hold',
    ],
    ['is signed with another key', () => otherKey(), 'does not hold'],
    ['is from before there was a signature', () => edit((one) => bodyOf(one)), 'is not signed'],
    ['has no key any more', () => rmSync(join(home, 'ledger.key')), 'is missing'],
    ['is cut off', () => edit((one) => one.slice(0, 60)), 'not what'],
    ['is no JSON', () => edit(() => 'pins'), 'not what'],
    ['is of a newer format', () => edit((one) => one.replace('pins/2', 'pins/3')), 'not what'],
    [
      'says something twice',
      () => edit((one) => one.replace('{\n', '{\n  "format": "x",\n')),
      'not what',
    ],
    ['is no text', () => writeFileSync(file(), Buffer.from([0xff, 0xfe])), 'UTF-8'],
    ['can be written to by others', () => chmodSync(file(), 0o622), 'by others'],
    ['is a link', () => linked(), 'is a symbolic link'],
    ['is a folder', () => replaced(), 'is a directory'],
  ];

  function edit(change: (text: string) => string): void {
    writeFileSync(file(), change(readFileSync(file(), 'utf8')));
  }
  /** Another definition, and the hash that belongs to it. */
  function consistent(written: string): string {
    const [was, is] = [pinOf({ name: 'read' }, sha256), pinOf({ name: 'reed' }, sha256)];
    if (!was.ok || !is.ok) throw new Error('no hash');
    return written.replace(was.hash, is.hash).replace('{"name":"read"}', '{"name":"reed"}');
  }
  const bodyOf = (written: string) =>
    `${JSON.stringify((JSON.parse(written) as { pins: unknown }).pins)}\n`;
  function otherKey(): void {
    writeFileSync(join(home, 'ledger.key'), createKeyPair().privatePem, { mode: 0o600 });
  }
  function linked(): void {
    renameSync(file(), join(home, 'other.json'));
    symlinkSync(join(home, 'other.json'), file());
  }
  function replaced(): void {
    rmSync(file());
    mkdirSync(file());
  }

  it.each(damages)('that %s is no proof, and nobody writes over it', async (_, damage, said) => {
    await pin('files', 'read');
    damage();
    const opened = openPins(home);
    expect(opened).toMatchObject({ kind: 'failure', code: 'SUB_PINS_UNREADABLE' });
    expect(isFailure(opened) ? opened.message : '').toContain(said);
    const saved = await pin('mail', 'send');
    expect(saved).toMatchObject({ kind: 'failure', code: 'SUB_PINS_UNREADABLE' });
    expect(isFailure(saved) ? saved.fix : '').toContain('sub pins reset');
    expect(isFailure(openPins(home))).toBe(true);
  });

  it('is kept aside when the pins start anew', async () => {
    await pin('files', 'read');
    edit((one) => one.slice(0, 60));
    const damaged = readFileSync(file());
    const nowMs = Date.parse('2026-11-16T05:00:00Z');
    const reset = await resetPins(home, nowMs);
    const backup = join(home, 'backups', 'pins-20261116T050000Z.json');
    expect(reset).toEqual({ backup });
    expect(readFileSync(backup)).toEqual(damaged);
    expect(stored()).toEqual(EMPTY_PINS);
    await pin('files', 'read');
    const again = await resetPins(home, nowMs);
    expect(again).toEqual({ backup: backup.replace('Z.json', 'Z-1.json') });
    expect(await resetPins(home, nowMs)).toEqual({ backup: null });
  });
});

describe('several processes', () => {
  it('that pin twenty servers at once lose none', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `server-${index}`);
    const said = await Promise.all(names.map((name) => saidBy(pinner('', name))));
    expect(said).toEqual(names.map((name) => `saved ${name}\n`));
    expect([...stored().servers.keys()].toSorted()).toEqual(names.toSorted());
    expect(readdirSync(join(home, 'run'))).toEqual([]);
  });

  const STEPS: readonly (readonly [Step, boolean])[] = [
    ['openSync', false],
    ['writeFileSync', false],
    ['fsyncSync', false],
    ['closeSync', false],
    ['renameSync', true],
  ];

  it.each(STEPS)('of which one was killed after %s leave whole pins', async (step, isDone) => {
    await pin('before', 'read');
    const child = pinner(step, 'killed');
    await once(child, 'close');
    expect(child.signalCode).toBe('SIGKILL');
    expect([...stored().servers.keys()]).toEqual(isDone ? ['before', 'killed'] : ['before']);
    // Its lock and its draft are still there, and stop nobody.
    expect(readdirSync(join(home, 'run'))).toHaveLength(1);
    expect(await pin('after', 'read')).toHaveProperty('servers');
    expect([...stored().servers.keys()]).toContain('after');
    expect(readdirSync(join(home, 'run'))).toEqual([]);
    expect(readdirSync(home).toSorted()).toEqual(['ledger.key', 'pins.json', 'run']);
  });

  it('wait for each other within one process, too', async () => {
    const names = Array.from({ length: 8 }, (_, index) => `server-${index}`);
    await Promise.all(names.map((name) => pin(name, 'read')));
    expect(stored().servers.size).toBe(8);
  });

  it('are told when the folder takes no pins', async () => {
    writeFileSync(join(home, 'run'), '');
    const saved = await pin('files', 'read');
    expect(saved).toMatchObject({ kind: 'failure', code: 'SUB_FILE_WRITE' });
    expect(existsSync(file())).toBe(false);
  });
});
