import {
  chmodSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { verifies } from '../../../../../test/requirements.ts';
import { configKey } from './change-store.ts';
import { draftPath } from './config-file.ts';
import { recordText } from './record-text.ts';
import { listRecords, originalPath, readRecord } from './records.ts';
import { leftBehind } from './repair-configs.ts';
import { forgetRecord, keepChange, releaseConfig } from './restore-config.ts';
import { Bench, CONFIG } from './testing/bench.ts';
import { bundleChildren, type Children } from './testing/children.ts';
import { findRecord } from './testing/find.ts';

let children: Children;
beforeAll(async () => {
  children = await bundleChildren();
});
afterAll(() => children.end());

function bench(): Bench {
  const made = new Bench(CONFIG);
  onTestFinished(() => made.end());
  return made;
}

/** A session that has ended without a word. */
async function deadSession(): Promise<Bench> {
  const one = bench();
  await children.run({ does: 'apply', home: one.home, file: one.file, kind: 'wrap' });
  return one;
}

function recordPath(one: Bench): string {
  return join(one.store.paths.backups, configKey(one.file.path), 'record.json');
}

describe('repair', () => {
  test('does nothing, and makes nothing, where nothing was ever changed', () => {
    const one = bench();
    expect(one.repair()).toEqual([]);
    expect(() => readFileSync(one.home)).toThrow('ENOENT');
  });

  test('restores the config of a dead session, and reports it once', async () => {
    verifies('F-020', 'NFR-003.4');
    const one = await deadSession();
    expect(one.text).not.toBe(CONFIG);
    expect(one.repair()).toMatchObject([
      { what: 'restored', path: one.file.path, how: 'same', left: [] },
    ]);
    expect(one.text).toBe(CONFIG);
    expect(one.repair()).toEqual([]);
    expect(one.kept()).toEqual([]);
  });

  test('leaves living sessions and imports alone', () => {
    const [one, other] = [bench(), bench()];
    const wrapped = one.apply({ kind: 'wrap' });
    other.apply();
    for (const { text, repair } of [one, other].map((made) => ({
      text: made.text,
      repair: () => [made.repair(), made.text],
    }))) {
      expect(repair()).toEqual([[], text]);
    }
    if ('lock' in wrapped) wrapped.lock?.release();
    // Its owner lives, though its lock is gone.
    expect(one.repair()).toEqual([]);
  });

  test('does not follow a link that has taken the place of the config', async () => {
    const one = await deadSession();
    const changed = one.text;
    const { path } = one.file;
    renameSync(path, `${path}.kept`);
    const other = bench();
    other.write(`${CONFIG}\n`);
    other.apply();
    const governed = other.text;
    symlinkSync(other.file.path, path);
    expect(one.repair()).toMatchObject([{ what: 'problem', problem: { path } }]);
    expect(other.text).toBe(governed);
    rmSync(path);
    renameSync(`${path}.kept`, path);
    expect(one.text).toBe(changed);
    expect(one.repair()).toMatchObject([{ what: 'restored', path }]);
    expect(one.text).toBe(CONFIG);
  });

  test('leaves alone the config of a session with `--no-restore`', async () => {
    const one = await deadSession();
    const changed = one.text;
    const key = configKey(realpathSync(one.file.path));
    expect(keepChange({ key }, one.store)).toBeUndefined();
    expect(one.repair()).toEqual([]);
    expect(one.text).toBe(changed);
    one.restore();
    expect(one.text).toBe(CONFIG);
  });

  test('drops the record of a change that somebody has undone by hand', () => {
    const one = bench();
    one.apply();
    one.write(CONFIG);
    expect(one.repair()).toMatchObject([{ what: 'dropped', path: one.file.path, missing: [] }]);
    expect(one.kept()).toEqual([]);
  });

  test('removes no file but the draft that the record names', async () => {
    const one = await deadSession();
    const stranger = join(one.place, '.mcp.json.subluminal-00000000-0000-0000-0000-000000000000');
    writeFileSync(stranger, 'x');
    one.repair();
    expect(one.beside()).toEqual(['.mcp.json.subluminal-00000000-0000-0000-0000-000000000000']);
  });

  test('keeps one copy of what it merged away, the last', async () => {
    const one = await deadSession();
    for (const mark of ['first', 'second']) {
      const theirs = one.text.replace(/abc|first/, mark);
      one.write(theirs);
      const [repaired] = one.repair();
      expect(repaired).toMatchObject({ what: 'restored', how: 'merged' });
      if (repaired?.what !== 'restored') throw new Error('not restored');
      expect(readFileSync(String(repaired.replaced), 'utf8')).toBe(theirs);
      await children.run({ does: 'apply', home: one.home, file: one.file, kind: 'wrap' });
    }
    expect(one.kept().filter((name) => name.includes('.replaced-'))).toHaveLength(1);
  });

  test('says where the backup of a config is that is gone, and keeps it', async () => {
    verifies('F-020');
    const one = await deadSession();
    rmSync(one.file.path);
    expect(one.repair()).toMatchObject([
      {
        what: 'problem',
        problem: {
          path: one.file.path,
          fix: expect.stringContaining('Put it back by hand: rm -f ') as unknown,
        },
      },
    ]);
    const key = configKey(one.file.path);
    expect(readFileSync(originalPath(key, one.store.paths), 'utf8')).toBe(CONFIG);
  });
});

describe('a damaged record', () => {
  const DAMAGES: readonly (readonly [string, (text: string) => string])[] = [
    ['is cut off', (text) => text.slice(0, 100)],
    ['is of a version to come', (text) => text.replace('"v": 1', '"v": 2')],
    ['names a draft that is none', (text) => text.replace(/"draft": ".*"/, '"draft": "/etc/x"')],
    ['has no base', (text) => text.replace('"base"', '"bass"')],
    ['is empty', () => ''],
    ['is too deep in its data', (text) => text.replace('"changes": [', '"changes": [[], ')],
  ];

  test.each(DAMAGES)('that %s is reported, and nothing is touched', (_what, damage) => {
    const one = bench();
    one.apply();
    const changed = one.text;
    const path = recordPath(one);
    writeFileSync(path, damage(readFileSync(path, 'utf8')));
    const told = { kind: 'failure', fix: expect.stringContaining('/original') as unknown };
    expect(one.repair()).toMatchObject([{ what: 'problem', problem: told }]);
    expect(one.restore()).toMatchObject(told);
    expect(one.apply()).toMatchObject(told);
    expect(listRecords(one.store.paths)).toMatchObject([told]);
    expect(one.text).toBe(changed);
    const key = configKey(one.file.path);
    expect(readFileSync(originalPath(key, one.store.paths), 'utf8')).toBe(CONFIG);
  });

  test('behind a link is not followed, and its backup not dropped', () => {
    const one = bench();
    one.apply();
    const path = recordPath(one);
    renameSync(path, `${path}.moved`);
    symlinkSync(`${path}.moved`, path);
    expect(one.repair()).toMatchObject([{ what: 'problem' }]);
    expect(one.restore()).toMatchObject({ kind: 'failure' });
  });

  test('with a changed backup is reported, and nothing is touched', () => {
    const one = bench();
    one.apply();
    const changed = one.text;
    const key = configKey(one.file.path);
    writeFileSync(originalPath(key, one.store.paths), CONFIG.replace('abc', 'xyz'));
    expect(one.restore()).toMatchObject({
      kind: 'failure',
      message: expect.stringContaining('is missing or damaged.') as unknown,
    });
    expect(one.text).toBe(changed);
  });
});

test('records that others could have written are not read', async () => {
  const one = await deadSession();
  const changed = one.text;
  chmodSync(one.store.paths.backups, 0o777);
  const told = { message: `${one.store.paths.backups} can be written to by others.` };
  expect(one.repair()).toMatchObject([{ what: 'problem', problem: told }]);
  expect(one.restore()).toMatchObject(told);
  expect(one.text).toBe(changed);
});

test('a failed restore says how to do it by hand, and changes nothing', () => {
  verifies('F-020');
  const one = bench();
  one.apply();
  const changed = one.text;
  const result = one.restore({
    onStep: (step) => {
      // The folder of the config takes no draft any more.
      if (step === 'planned') renameSync(one.place, `${one.place}-away`);
    },
  });
  renameSync(`${one.place}-away`, one.place);
  const key = configKey(one.file.path);
  expect(result).toMatchObject({
    kind: 'failure',
    message: `${one.file.path} cannot be written (ENOENT).`,
    fix: `Check the path and its disk, then try again. Put it back by hand: rm -f ${one.file.path} && cp ${originalPath(key, one.store.paths)} ${one.file.path}`,
  });
  expect(one.text).toBe(changed);
  expect(one.restore().kind).toBe('restored');
});

describe('the record of a config', () => {
  test('holds the change, and no secret of the config', () => {
    const one = bench();
    one.apply({ kind: 'wrap', wrapId: 'w-1' });
    const found = readRecord(configKey(one.file.path), one.store.paths);
    if (found.kind !== 'record') throw new Error(found.kind);
    const { record } = found;
    expect(record).toMatchObject({
      v: 1,
      kind: 'wrap',
      client: 'cursor',
      path: one.file.path,
      target: one.file.path,
      format: 'json',
      wrap_id: 'w-1',
      owner: { pid: process.pid },
      base: { bytes: CONFIG.length },
    });
    expect(record.changes.map(({ name }) => name)).toEqual(['files', 'bare', 'far']);
    expect(recordText(record)).not.toMatch(/abc\\?"/);
  });

  test('is found by the name of a link that leads elsewhere now', () => {
    const one = bench();
    const [real, other] = [join(one.folder, 'real.json'), join(one.folder, 'other.json')];
    renameSync(one.file.path, real);
    symlinkSync(real, one.file.path);
    one.apply();
    writeFileSync(other, CONFIG);
    rmSync(one.file.path);
    symlinkSync(other, one.file.path);
    expect(one.restore()).toMatchObject({ kind: 'restored', how: 'same' });
    expect(readFileSync(real, 'utf8')).toBe(CONFIG);
  });

  test('serves a config that has become a link since', () => {
    const one = bench();
    one.apply();
    const folder = join(one.folder, 'dotfiles');
    mkdirSync(folder);
    renameSync(one.file.path, join(folder, 'moved.json'));
    symlinkSync(join(folder, 'moved.json'), one.file.path);
    expect(one.restore()).toMatchObject({ kind: 'restored', how: 'same' });
    expect(one.text).toBe(CONFIG);
    expect(one.kept()).toEqual([]);
  });
});

const FREED = {
  path: ['mcpServers', 'far'],
  addressKey: 'url',
  url: () => undefined,
  beside: () => [],
  type: 'http',
  commandKeys: ['args', 'env'],
};

test('a config without a record is set free by what its entries say', () => {
  const one = bench();
  one.apply();
  rmSync(one.home, { recursive: true });
  expect(one.restore()).toEqual({ kind: 'none', path: one.file.path });
  const { path } = one.file;
  const entries = () =>
    ['files', 'bare', 'far'].map((name) => ({
      name,
      at: { command: ['mcpServers', name, 'command'], args: ['mcpServers', name, 'args'] },
      ...(name === 'far' && { freed: FREED }),
    }));
  const result = releaseConfig({ ...one.store, file: one.file, entries });
  expect(result).toMatchObject({
    kind: 'restored',
    path,
    taken: [{ name: 'files' }, { name: 'bare' }, { name: 'far' }],
  });
  expect(JSON.parse(one.text)).toEqual(JSON.parse(CONFIG));
  expect(one.kept()).toEqual([]);
  expect(releaseConfig({ ...one.store, file: one.file, entries })).toEqual({ kind: 'none', path });
});

test('a config without a record loses its drafts, and no other file beside it', () => {
  const one = bench();
  const stranger = '.mcp.json.subluminal-notes';
  writeFileSync(draftPath(one.file.path), 'x');
  writeFileSync(join(one.place, stranger), 'x');
  releaseConfig({ ...one.store, file: one.file, entries: () => [] });
  expect(one.beside()).toEqual([stranger]);
});

describe('a config that others have emptied', () => {
  test('is not put back: missing entries are reported, and the original is kept', () => {
    const one = bench();
    one.apply();
    one.write('{}');
    const result = one.restore();
    expect(result).toMatchObject({
      kind: 'untouched',
      missing: [{ name: 'files' }, { name: 'bare' }, { name: 'far' }],
      original: expect.stringContaining('.original-') as unknown,
    });
    const original = result.kind === 'untouched' ? result.original : undefined;
    expect(readFileSync(original ?? '', 'utf8')).toBe(CONFIG);
    expect(one.text).toBe('{}');
    expect(one.repair()).toEqual([]);
    expect(readFileSync(original ?? '', 'utf8')).toBe(CONFIG);
  });

  test('of one server gets the others back, and the original is kept', () => {
    const one = bench();
    one.apply();
    one.write(one.text.replace(/ {4}"bare": \{[^}]*\},\n/, ''));
    expect(one.restore()).toMatchObject({
      kind: 'restored',
      taken: [{ name: 'files' }, { name: 'far' }],
      missing: [{ name: 'bare' }],
      original: expect.stringContaining('.original-') as unknown,
    });
  });
});

describe('a config that was deleted', () => {
  function recordOf(one: Bench) {
    const found = findRecord(one.file.path, one.store);
    if (found.kind !== 'record') throw new Error(found.kind);
    return found;
  }

  test('is forgotten on request, and its backup is kept', () => {
    const one = bench();
    one.apply();
    const found = recordOf(one);
    rmSync(one.file.path);
    const result = forgetRecord(found, one.store);
    const original = result.kind === 'forgotten' ? result.original : '';
    expect(readFileSync(original, 'utf8')).toBe(CONFIG);
    expect(one.restore()).toMatchObject({ kind: 'none' });
    expect(one.repair()).toEqual([]);
  });

  test('is not forgotten while it is there', () => {
    const one = bench();
    one.apply();
    expect(forgetRecord(recordOf(one), one.store)).toMatchObject({ kind: 'there' });
    one.restore();
    expect(one.text).toBe(CONFIG);
  });
});

test('a look at the home reports what a dead session has left, and changes nothing', async () => {
  const one = await deadSession();
  const left = one.text;
  expect(leftBehind(one.store)).toEqual([one.file.path]);
  expect(one.text).toBe(left);
  one.repair();
  expect(leftBehind(one.store)).toEqual([]);
});
