// Processes that are killed between any two steps, and what the next one makes of it.
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { verifies } from '../../../../../test/requirements.ts';
import type { ChangeStep } from './config-file.ts';
import { Bench, CONFIG, governing } from './testing/bench.ts';
import { bundleChildren, type Children } from './testing/children.ts';

let children: Children;
beforeAll(async () => {
  children = await bundleChildren();
});
afterAll(() => children.end());

const APPLY: readonly ChangeStep[] = [
  'locked',
  'read',
  'planned',
  'base written',
  'record written',
  'base in place',
  'draft made',
  'draft written',
  'compared',
  'replaced',
  'done',
];
const RESTORE: readonly ChangeStep[] = [
  'locked',
  'planned',
  'draft made',
  'draft written',
  'compared',
  'replaced',
  'record dropped',
  'base dropped',
  'done',
];

function bench(): Bench {
  const made = new Bench(CONFIG);
  onTestFinished(() => made.end());
  return made;
}

/** What the config becomes by a change, without making it. */
function after(one: Bench, flags: readonly string[] = []): string {
  const rewritten = governing(one.file, flags)(CONFIG);
  if ('kind' in rewritten) throw new Error(rewritten.message);
  return rewritten.text;
}

const isPast = (list: readonly ChangeStep[], step: ChangeStep): boolean =>
  list.indexOf(step) >= list.indexOf('replaced');

describe('a session killed while it changes the config', () => {
  test.each(APPLY)('at "%s": the config is whole, and is put back', async (killAt) => {
    verifies('EC-STDIO-006', 'F-020', 'NFR-003.4');
    const one = bench();
    const { home, file } = one;
    const { signal } = await children.run({ does: 'apply', home, file, kind: 'wrap', killAt });
    expect(signal).toBe('SIGKILL');
    expect(one.text).toBe(isPast(APPLY, killAt) ? after(one) : CONFIG);
    one.repair();
    expect(one.text).toBe(CONFIG);
    expect(one.beside()).toEqual([]);
    expect(one.repair()).toEqual([]);
    expect(one.kept().filter((name) => !name.endsWith('.lock'))).toEqual([]);
    expect(one.apply()).toMatchObject({ kind: 'applied', warnings: [] });
  });
});

describe('an import killed while it changes the config', () => {
  test.each(APPLY)('at "%s": it is made or not, and can be undone', async (killAt) => {
    verifies('EC-STDIO-044', 'NFR-003.4');
    const one = bench();
    const { home, file } = one;
    await children.run({ does: 'apply', home, file, killAt });
    const left = one.text;
    expect(left).toBe(isPast(APPLY, killAt) ? after(one) : CONFIG);
    one.repair();
    expect(one.text).toBe(left);
    expect(one.beside()).toEqual([]);
    expect(one.restore().kind).toBe(isPast(APPLY, killAt) ? 'restored' : 'none');
    expect(one.text).toBe(CONFIG);
  });

  test.each(APPLY)('at "%s", on top of an older one: both can be undone', async (killAt) => {
    verifies('NFR-003.4');
    const one = bench();
    const { home, file } = one;
    one.apply({ rewrite: governing(file, ['--profile', 'old']) });
    const old = one.text;
    // The newer one leaves a server out that the older one had.
    const task = { does: 'apply', home, file, flags: ['--profile', 'new'] } as const;
    await children.run({ ...task, names: ['bare'], killAt });
    expect(one.text === old).toBe(!isPast(APPLY, killAt));
    one.repair();
    expect(one.beside()).toEqual([]);
    expect(one.text.includes('shim')).toBe(true);
    // Also when somebody else has written the file since.
    one.write(`${JSON.stringify(JSON.parse(one.text))}\n`);
    expect(one.restore()).toMatchObject({ kind: 'restored', how: 'merged', left: [] });
    expect(JSON.parse(one.text)).toEqual(JSON.parse(CONFIG));
  });
});

describe('a restore that is killed', () => {
  test.each(RESTORE)('at "%s": the next one ends it', async (killAt) => {
    verifies('F-020', 'NFR-003.4');
    const one = bench();
    const { home, file } = one;
    one.apply();
    const { signal } = await children.run({ does: 'restore', home, file, killAt });
    expect(signal).toBe('SIGKILL');
    expect(one.text).toBe(isPast(RESTORE, killAt) ? CONFIG : after(one));
    one.repair();
    expect(one.beside()).toEqual([]);
    one.restore();
    expect(one.text).toBe(CONFIG);
    expect(one.kept().filter((name) => !name.endsWith('.lock'))).toEqual([]);
  });

  test.each([...RESTORE, 'kept aside'] as const)(
    'at "%s", of a config that others have changed: their changes stay',
    async (killAt) => {
      verifies('NFR-003.4');
      const one = bench();
      const { home, file } = one;
      await children.run({ does: 'apply', home, file, kind: 'wrap' });
      one.write(one.text.replace('abc', 'theirs'));
      const theirs = CONFIG.replace('abc', 'theirs');
      const { signal } = await children.run({ does: 'restore', home, file, killAt });
      expect(signal).toBe('SIGKILL');
      one.repair();
      expect(one.text).toBe(theirs);
      expect(one.beside()).toEqual([]);
      expect(one.repair()).toEqual([]);
      const kept = one.kept().filter((name) => !name.endsWith('.lock'));
      expect(kept).toEqual([expect.stringMatching(/^[0-9a-f]{32}\.replaced-\d{8}T\d{6}Z$/)]);
    },
  );
});
