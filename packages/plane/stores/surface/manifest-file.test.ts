import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Manifest } from '@subluminal/core/surface';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { loadManifest, manifestFileName, watchManifest } from './manifest-file.ts';

let folder: string;
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'sub-manifests-')), 'manifests');
  mkdirSync(folder, { mode: 0o700 });
});
afterEach(() => rmSync(join(folder, '..'), { recursive: true, force: true }));

const GMAIL = 'server: gmail\nallowed_tools:\n  - name: gmail.read\n';
const load = (server = 'gmail', profile: 'production' | 'development' = 'production') =>
  loadManifest({ folder, server, profile });

function write(text: string, name = 'gmail.yaml'): string {
  const path = join(folder, name);
  writeFileSync(`${path}.next`, text, { mode: 0o600 });
  renameSync(`${path}.next`, path);
  return path;
}

describe('the file of a manifest', () => {
  it.each([
    ['gmail-mcp', 'gmail-mcp.yaml'],
    ['a/b', 'a%2Fb.yaml'],
    ['../../etc/passwd', '..%2F..%2Fetc%2Fpasswd.yaml'],
    ['..', '...yaml'],
    ['100%', '100%25.yaml'],
    ['Bücher 📚', 'B%C3%BCcher%20%F0%9F%93%9A.yaml'],
    ['', '.yaml'],
  ])('of %s is %s', (server, name) => {
    expect(manifestFileName(server)).toBe(name);
  });

  it('is in the folder, and shared by no two names', () => {
    const names = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(names, names, (one, other) => {
        expect(manifestFileName(one)).toMatch(/^[A-Za-z0-9._%-]*\.yaml$/);
        expect(manifestFileName(one) === manifestFileName(other)).toBe(one === other);
        expect(decodeURIComponent(manifestFileName(one))).toBe(`${one}.yaml`);
      }),
    );
  });
});

describe('a manifest', () => {
  it('is none where there is no file, and where no file could have that name', async () => {
    expect(await load()).toMatchObject({ kind: 'none', path: join(folder, 'gmail.yaml') });
    expect(await load('x'.repeat(300))).toMatchObject({ kind: 'none' });
    rmSync(folder, { recursive: true });
    expect(await load()).toMatchObject({ kind: 'none' });
  });

  it('is read', async () => {
    write(GMAIL);
    expect(await load()).toMatchObject({ kind: 'manifest', manifest: { server: 'gmail' } });
  });

  it('that is broken is told with its place', async () => {
    write('server: gmail\nalowed_tools: []\n');
    const loaded = await load();
    expect(loaded).toMatchObject({
      kind: 'problems',
      problems: [{ code: 'SUB_MANIFEST_FIELD', position: { line: 2, column: 1 } }],
    });
  });

  it('of another server is none of this one', async () => {
    write(`# a copy\n${GMAIL}`, 'mail.yaml');
    expect(await load('mail')).toMatchObject({
      kind: 'problems',
      problems: [{ code: 'SUB_MANIFEST_CONFLICT', position: { line: 2, column: 1 } }],
    });
  });

  it.each([
    ['a folder', () => mkdirSync(join(folder, 'gmail.yaml')), 'SUB_FILE_READ'],
    ['too large', () => write(`${GMAIL}#${'x'.repeat(1_100_000)}`), 'SUB_FILE_READ'],
    ['no text', () => write('\uFEFF\u0000'), 'SUB_MANIFEST_SYNTAX'],
    ['empty', () => write(''), 'SUB_MANIFEST_SYNTAX'],
  ])('that is %s is a problem, not none', async (_, make, code) => {
    make();
    expect(await load()).toMatchObject({ kind: 'problems', problems: [{ code }] });
  });

  it.each([
    ['it', () => chmodSync(join(folder, 'gmail.yaml'), 0o666)],
    ['its folder', () => chmodSync(folder, 0o777)],
  ])('counts in development only where others can write to %s', async (_, open) => {
    write(GMAIL);
    open();
    expect(await load()).toMatchObject({
      kind: 'problems',
      problems: [{ code: 'SUB_MANIFEST_UNSAFE' }],
    });
    expect(await load('gmail', 'development')).toMatchObject({ kind: 'manifest' });
  });

  it('that is missing proves nothing where others can write to the folder', async () => {
    chmodSync(folder, 0o777);
    expect(await load()).toMatchObject({ kind: 'problems' });
  });
});

describe('a change of a manifest', () => {
  /** What the watch tells, one after the other. */
  async function watching() {
    const loaded = await load();
    const told: string[] = [];
    const waiting: (() => void)[] = [];
    const tell = (what: string): void => {
      told.push(what);
      for (const wake of waiting.splice(0)) wake();
    };
    const watch = watchManifest({
      folder,
      server: 'gmail',
      profile: 'production',
      current: loaded.kind === 'manifest' ? loaded.manifest : undefined,
      changed: (manifest) => tell(toolsOf(manifest)),
      gone: () => tell('gone'),
      broken: ({ problems }) => tell(problems.map(({ code }) => code).join()),
      everyMs: 20,
    });
    onTestFinished(() => watch.stop());
    return async (count: number): Promise<readonly string[]> => {
      while (told.length < count) await new Promise<void>((wake) => waiting.push(wake));
      return told;
    };
  }

  const toolsOf = ({ exact }: Manifest): string => [...exact.keys()].join();

  it('is taken when it is good, told when it is broken, and its end is told as well', async () => {
    const path = write(GMAIL);
    const told = await watching();
    write(GMAIL.replace('gmail.read', 'gmail.search'));
    expect(await told(1)).toEqual(['gmail.search']);
    write('server: gmail\nallowed_tools: 5\n');
    expect(await told(2)).toEqual(['gmail.search', 'SUB_MANIFEST_VALUE']);
    write(GMAIL);
    expect((await told(3)).at(-1)).toBe('gmail.read');
    rmSync(path);
    expect((await told(4)).at(-1)).toBe('gone');
    // The last one was never out of force, so that it is back is no news; another one is.
    write(GMAIL);
    write(GMAIL.replace('gmail.read', 'gmail.send'));
    expect((await told(5)).at(-1)).toBe('gmail.send');
  });

  it('that is only a comment is no change', async () => {
    write(GMAIL);
    const told = await watching();
    write(`# reviewed\n${GMAIL}`);
    write(`${GMAIL}  - name: gmail.send\n`);
    expect(await told(1)).toEqual(['gmail.read,gmail.send']);
  });
});
