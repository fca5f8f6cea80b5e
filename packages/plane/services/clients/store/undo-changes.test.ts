// Configs of every client, changed by us, then by others, and put back.
import * as fc from 'fast-check';
import { parse as parseJson } from 'jsonc-parser';
import { parse as parseToml, stringify as tomlText } from 'smol-toml';
import { describe, expect, onTestFinished, test } from 'vitest';
import { verifies } from '../../../../../test/requirements.ts';
import { runs } from '../../../../../test/runs.ts';
import { clientOf } from '../registry.ts';
import { type Generated, generated, LAYOUTS } from '../testing/configs.ts';
import { readDocument } from '../text/document.ts';
import { applyEdits, replaceValue } from '../text/edits.ts';
import { sameData } from '../text/plain-data.ts';
import type { ConfigFile, ServerEntry, ValuePath } from '../types.ts';
import { draftPath } from './config-file.ts';
import type { ConfigRecord } from './record-text.ts';
import { digestOf } from './records.ts';
import { Bench, CONFIG, governing } from './testing/bench.ts';
import { undoChanges } from './undo-changes.ts';

const RUNS = runs(100);
/** Longer than any name that is generated. */
const ADDED = 'added-by-somebody-else';

type Data = { [key: string]: unknown };

/** By parsers that know nothing of positions. */
function dataOf(text: string, format: ConfigFile['format']): unknown {
  return format === 'toml' ? parseToml(text) : parseJson(text.replace(/^\uFEFF/, ''));
}

/** As a client does that knows nothing of comments and styles. */
function rewritten(data: unknown, format: ConfigFile['format']): string {
  return format === 'toml' ? tomlText(data) : JSON.stringify(data, null, 2);
}

function holderAt(data: unknown, path: ValuePath): Data {
  return path.reduce<Data>((holder, key) => holder[key] as Data, data as Data);
}

function entriesOf(file: ConfigFile, text: string): readonly ServerEntry[] {
  const config = clientOf(file.client).read(file, text);
  if (config.kind === 'failure') throw new Error(config.message);
  return config.entries;
}

function withBench(one: Generated, check: (bench: Bench) => void): void {
  const bench = new Bench(one.text, one.file);
  try {
    check(bench);
  } finally {
    bench.end();
  }
}

/** A config after our change, without a file, and what becomes of the texts that others make of it. */
function changedByUs(file: ConfigFile, text: string) {
  const rewrite = governing(file)(text);
  if ('kind' in rewrite) throw new Error(rewrite.message);
  const record: ConfigRecord = {
    v: 1,
    kind: 'import',
    client: file.client,
    path: file.path,
    target: file.path,
    format: file.format,
    created_at: '2026-11-16T00:00:00.000Z',
    base: digestOf(Buffer.from(text)),
    after: digestOf(Buffer.from(rewrite.text)),
    changes: rewrite.changes,
    draft: draftPath(file.path),
  };
  const backup = { path: '/nowhere/original', bytes: Buffer.from(text) };
  return {
    text: rewrite.text,
    undo: (theirs: string) => undoChanges({ text: theirs, record, backup }),
  };
}

/** What others do to a file: by the place of an entry, in a copy of its data. */
type Foreign = (data: unknown, entry: ServerEntry) => void;

const FOREIGN: { readonly [what: string]: Foreign } = {
  'writes it in a style of its own': () => undefined,
  'adds a server': (data, { path }) => {
    holderAt(data, path.slice(0, -1))[ADDED] = { command: 'new', args: ['x'] };
  },
  'gives a server another environment': (data, { path }) => {
    holderAt(data, path)['env'] = { NEW: '1' };
  },
  'removes a server': (data, { path }) => {
    delete holderAt(data, path.slice(0, -1))[String(path.at(-1))];
  },
};

describe.each(LAYOUTS)('$client, $path', (layout) => {
  test('comes back to the last byte, and a second change changes nothing', () => {
    verifies('F-020', 'NFR-003.4');
    fc.assert(
      fc.property(generated(layout), (one) =>
        withBench(one, (bench) => {
          const first = bench.apply();
          const after = bench.text;
          expect(bench.apply().kind).toBe('unchanged');
          expect(bench.text).toBe(after);
          expect(bench.restore().kind).toBe(first.kind === 'applied' ? 'restored' : 'none');
          expect(bench.text).toBe(one.text);
          expect(bench.beside()).toEqual([]);
          expect(bench.kept()).toEqual([]);
        }),
      ),
      { numRuns: 8 },
    );
  });

  test.each(Object.entries(FOREIGN))('when somebody %s, his change stays', (_what, change) => {
    verifies('NFR-003.4');
    fc.assert(
      fc.property(generated(layout), fc.nat(), ({ file, text }, pick) => {
        const { format } = file;
        const entries = entriesOf(file, text);
        const entry = entries[pick % Math.max(1, entries.length)];
        fc.pre(entry !== undefined);
        const changed = changedByUs(file, text);
        const [theirs, expected] = [changed.text, text].map((one) => dataOf(one, format));
        change(theirs, entry);
        change(expected, entry);
        const undone = changed.undo(rewritten(theirs, format));
        expect(undone).toMatchObject({ left: [] });
        expect(sameData('text' in undone && dataOf(undone.text, format), expected)).toBe(true);
      }),
      RUNS,
    );
  });

  test('when somebody edits one value, the rest comes back to the last byte', () => {
    fc.assert(
      fc.property(generated(layout), ({ file, text }) => {
        const theme = file.format === 'toml' ? ['model'] : ['theme'];
        const edited = (before: string): string => {
          const read = readDocument(before, file.format);
          if (read.kind === 'broken') throw new Error(read.message);
          return applyEdits(before, [replaceValue(read.document, theme, 'edited')]);
        };
        const changed = changedByUs(file, text);
        expect(changed.undo(edited(changed.text))).toMatchObject({
          kind: 'merged',
          text: edited(text),
          left: [],
        });
      }),
      RUNS,
    );
  });
});

describe('an entry that others have changed', () => {
  function bench(): Bench {
    const made = new Bench(CONFIG);
    onTestFinished(() => made.end());
    made.apply();
    return made;
  }

  test('starts what stands behind the shim, with what was added there', () => {
    const one = bench();
    one.write(one.text.replace('"/tmp"]', '"/tmp", "--more"]').replace('"files",', '"renamed",'));
    expect(one.restore()).toMatchObject({ kind: 'restored', how: 'merged', left: [] });
    expect(one.text).toBe(CONFIG.replace('"/tmp"]', '"/tmp", "--more"]'));
  });

  test('stays as it is when it starts no shim any more, and is named', () => {
    const one = bench();
    const data = JSON.parse(one.text) as { mcpServers: { [name: string]: Data } };
    data.mcpServers['files'] = { command: 'mine' };
    one.write(JSON.stringify(data));
    expect(one.restore()).toMatchObject({
      kind: 'restored',
      taken: [{ name: 'bare' }, { name: 'far' }],
      left: [{ name: 'files' }],
    });
    data.mcpServers['bare'] = { command: 'bare-mcp' };
    data.mcpServers['far'] = { url: 'https://mcp.example.com' };
    expect(JSON.parse(one.text)).toEqual(data);
  });

  test('is no reason to touch a file that does not parse: it says where the backup is', () => {
    verifies('F-020');
    const one = bench();
    const broken = one.text.replace('}', '');
    one.write(broken);
    const result = one.restore();
    expect(result).toMatchObject({
      kind: 'failure',
      message: expect.stringMatching(
        /cannot be taken out of .*: it is broken at line \d+/,
      ) as unknown,
      fix: expect.stringMatching(
        /Put it back by hand: rm -f (\S+\/mcp\.json) && cp \S+\/original \1$/,
      ) as unknown,
    });
    expect(one.text).toBe(broken);
    const [, from = '', to = ''] = /cp (\S+) (\S+)$/.exec('fix' in result ? result.fix : '') ?? [];
    expect(to).toBe(one.file.path);
    expect(from.startsWith(one.store.paths.backups)).toBe(true);
    one.write(CONFIG);
    expect(one.restore()).toMatchObject({ kind: 'untouched', left: [] });
  });

  test('of an older change is set free too, when the newer one was written over by others', () => {
    const one = bench();
    const old = one.text;
    one.apply({ rewrite: governing(one.file, ['--profile', 'x'], ['bare']) });
    one.write(old.replace('abc', 'theirs'));
    expect(one.restore()).toMatchObject({ kind: 'restored', how: 'merged', left: [] });
    expect(one.text).toBe(CONFIG.replace('abc', 'theirs'));
  });
});
