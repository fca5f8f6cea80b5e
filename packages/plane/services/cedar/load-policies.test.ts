import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CedarPaths, loadCedar } from './load-policies.ts';
import { opened, problemsOf, request } from './testing/requests.ts';
import { type CedarReload, watchCedar } from './watch-policies.ts';

const ALL = 'permit (principal, action, resource);\n';
const NONE = 'forbid (principal, action, resource);\n';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sub-cedar-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

const put = (name: string, text: string | Uint8Array) => writeFile(join(folder, name), text);

/** The reloads as they come, each awaited by its turn. */
function reloads() {
  const waiting: ((reload: CedarReload) => void)[] = [];
  const come: CedarReload[] = [];
  return {
    onReload: (reload: CedarReload) => {
      const next = waiting.shift();
      if (next === undefined) come.push(reload);
      else next(reload);
    },
    next: () =>
      new Promise<CedarReload>((resolve) => {
        const there = come.shift();
        if (there === undefined) waiting.push(resolve);
        else resolve(there);
      }),
  };
}

describe('a folder of policies', () => {
  it('names policies by their id, or by their file and place', async () => {
    await put('one.cedar', `// comment; with a semicolon\n${ALL}// the end`);
    await put('two.cedar', `@id("named")\n@message("a;b // \\"c\\"")\n${ALL}\n${NONE}`);
    await put('README.md', 'not ours');
    const cedar = opened(await loadCedar({ policies: folder }));
    expect(cedar.policies).toMatchObject([
      { id: 'one', effect: 'permit', position: { line: 2, column: 1 } },
      { id: 'named', message: 'a;b // "c"', position: { line: 1, column: 1 } },
      { id: 'two#2', effect: 'forbid', position: { line: 5, column: 1 } },
    ]);
    expect(cedar.evaluate(request()).reasons).toEqual(['two#2']);
    cedar.close();
  });

  it.each<[string, () => Promise<unknown>, string]>([
    ['nothing', async () => undefined, ':1:1: error: there is no policy'],
    ['an unfinished policy', () => put('a.cedar', `${ALL}permit (principal`), 'a.cedar:2:1'],
    [
      'a slip in the second policy',
      () => put('a.cedar', `${ALL}\npermit (principal, action, resource) when { x };`),
      'a.cedar:3:45',
    ],
    [
      'an unfinished string',
      () => put('a.cedar', '@message("abc\npermit (principal, action, resource);'),
      '[SUB_CEDAR_SYNTAX]',
    ],
    [
      'bytes that are no UTF-8',
      () => put('a.cedar', Uint8Array.of(0xff, 0xfe)),
      '[SUB_CEDAR_FILES]',
    ],
    [
      'a folder that is called like a file',
      () => mkdir(join(folder, 'a.cedar')),
      'this is a directory',
    ],
    ['too much', () => put('a.cedar', `//${'x'.repeat(1_100_000)}`), 'more than 1048576 bytes'],
    [
      'two schemas',
      async () => {
        await put('a.cedarschema', '');
        await put('b.cedarschema', '');
      },
      'a second schema',
    ],
    [
      'entities that are no JSON',
      async () => {
        await put('a.cedar', ALL);
        await put('entities.json', '{');
      },
      '[SUB_CEDAR_ENTITIES]',
    ],
  ])('is refused with a file and a fix when it holds %s', async (_name, write, expected) => {
    await write();
    const result = await loadCedar({ policies: folder });
    expect(result.ok).toBe(false);
    expect(problemsOf(result).join('\n')).toContain(expected);
    expect(problemsOf(result).join('\n')).toContain(folder);
  });

  it('is refused when it is not there', async () => {
    const result = await loadCedar({ policies: join(folder, 'gone') });
    expect(problemsOf(result).join('\n')).toContain('gone:1:1: error: this does not exist');
  });
});

describe('policies with their schema and entities elsewhere', () => {
  const FORCE = 'forbid (principal, action, resource) when { context.args has force };';
  const elsewhere = (name: string) => join(folder, 'elsewhere', name);

  async function placed(): Promise<CedarPaths> {
    await mkdir(join(folder, 'elsewhere'));
    await put('one.policies', `${ALL}\n@id("no-force") ${FORCE}`);
    await put('elsewhere/args.txt', 'type Arguments = { force?: Bool };');
    await put('elsewhere/who.json', '[]');
    const policies = join(folder, 'one.policies');
    return { policies, schema: elsewhere('args.txt'), entities: elsewhere('who.json') };
  }

  it('are one set, from a file of any name', async () => {
    const cedar = opened(await loadCedar(await placed()));
    const forced = cedar.evaluate(request({ args: { force: true } }));
    expect(forced).toMatchObject({ decision: 'deny', policyId: 'no-force' });
    expect(cedar.evaluate(request()).decision).toBe('allow');
  });

  it('may be named although they are in the folder, but there is one of each only', async () => {
    await put('a.cedar', ALL);
    await put('a.cedarschema', '');
    await put('entities.json', '[]');
    const within = {
      schema: join(folder, 'a.cedarschema'),
      entities: join(folder, 'entities.json'),
    };
    expect((await loadCedar({ policies: folder, ...within })).ok).toBe(true);
    await mkdir(join(folder, 'elsewhere'));
    await put('elsewhere/other', '[]');
    const two = await loadCedar({ policies: folder, schema: elsewhere('other') });
    expect(problemsOf(two).join()).toContain('there is a second schema');
    const more = await loadCedar({ policies: folder, entities: elsewhere('other') });
    expect(problemsOf(more).join()).toContain('entities in a second file');
  });

  it('are followed wherever they are', async () => {
    const place = await placed();
    const { onReload, next } = reloads();
    const result = await watchCedar(place, { onReload, pollMs: 200 });
    if (!result.ok) throw new Error(problemsOf(result).join('\n'));
    await put('elsewhere/args.txt', 'type Arguments = { forse?: Bool };');
    const problems = [{ code: 'SUB_CEDAR_POLICY', file: place.policies }];
    expect(await next()).toMatchObject({ kind: 'kept', problems });
    await result.watched.close();
  });
});

describe('a folder that is watched', () => {
  async function watched(onReload: (reload: CedarReload) => void) {
    const result = await watchCedar({ policies: folder }, { onReload, pollMs: 200 });
    if (!result.ok) throw new Error(problemsOf(result).join('\n'));
    return result.watched;
  }

  it('is used as it becomes, keeps the old set while the new one is broken, and says so', async () => {
    await put('a.cedar', ALL);
    const { onReload, next } = reloads();
    const cedar = await watched(onReload);
    expect(cedar.current().evaluate(request()).decision).toBe('allow');
    const first = cedar.current().hash;

    await put('a.cedar', 'permit (oops');
    const kept = await next();
    expect(kept).toMatchObject({
      kind: 'kept',
      hash: first,
      problems: [{ code: 'SUB_CEDAR_SYNTAX' }],
    });
    expect(cedar.current().evaluate(request()).decision).toBe('allow');

    // As editors do: write beside, then put in place.
    await put('.a.tmp', NONE);
    await rename(join(folder, '.a.tmp'), join(folder, 'a.cedar'));
    expect(await next()).toMatchObject({ kind: 'replaced', hash: cedar.current().hash });
    expect(cedar.current().hash).not.toBe(first);
    expect(cedar.current().evaluate(request()).decision).toBe('deny');
    await cedar.close();
  });

  it('keeps its policies when the folder is gone or empty', async () => {
    await put('a.cedar', NONE);
    const { onReload, next } = reloads();
    const cedar = await watched(onReload);
    await rm(folder, { recursive: true });
    expect(await next()).toMatchObject({ kind: 'kept' });
    expect(cedar.current().evaluate(request()).decision).toBe('deny');
    await cedar.close();
  });

  it('is looked at when asked, and is not replaced by the same', async () => {
    await put('a.cedar', ALL);
    const seen: CedarReload[] = [];
    const cedar = await watched((reload) => seen.push(reload));
    const { hash } = cedar.current();
    expect(await cedar.reload()).toEqual({ kind: 'unchanged', hash });
    await put('b.cedar', NONE);
    seen.push(await cedar.reload());
    // On a busy machine the watch may have been there first.
    expect(seen.filter(({ kind }) => kind === 'replaced')).toHaveLength(1);
    expect(cedar.current().evaluate(request())).toMatchObject({ reasons: ['b'] });
    await cedar.close();
  });

  it('is not watched when its first set is broken', async () => {
    await put('a.cedar', 'permit');
    expect(await watchCedar({ policies: folder }, { onReload: () => undefined })).toMatchObject({
      ok: false,
    });
  });
});
