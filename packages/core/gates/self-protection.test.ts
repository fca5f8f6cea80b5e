import { describe, expect, it } from 'vitest';
import { namedPaths } from '../paths/named-paths.ts';
import { callOf, optionsOf, request, sealedCall } from './guard.test-support.ts';
import { createGuard } from './guard.ts';
import type { SelfProtection } from './guard-options.ts';
import { mayNamePath } from './self-protection.ts';

const NONE: ReadonlySet<string> = new Set();
const FREE: SelfProtection = {
  enforced: true,
  baseNames: NONE,
  hasBaseName: () => false,
  isMentioned: () => false,
  find: () => undefined,
  findChanged: () => undefined,
  useRoots: () => {},
};

function names(value: unknown, mentioned = 'b.c'): readonly string[] {
  const isMentioned = (text: string) => text.includes(mentioned);
  return namedPaths(value, { baseNames: NONE, isMentioned }).names;
}

describe('the roots of the agent', () => {
  const roots = { roots: [{ uri: 'file:///work' }] };

  it.each([
    ['an answer to roots/list', { kind: 'answer', method: 'roots/list' }, roots],
    [
      'an update of a task',
      { kind: 'request', method: 'tasks/update' },
      { inputResponses: { r: roots } },
    ],
    [
      'a read',
      { kind: 'request', method: 'resources/read' },
      { uri: 'a', inputResponses: { r: roots } },
    ],
  ] as const)('are known from %s', (_, { kind, method }, value) => {
    const used: unknown[] = [];
    const guard = createGuard(
      optionsOf({ selfProtection: { ...FREE, useRoots: (uris) => used.push(uris) } }),
    );
    guard.passing('out', { kind, method, value, isError: false }, 0);
    expect(used).toEqual([['file:///work']]);
  });

  it('are known from the further round of a call, before it is judged', () => {
    const seen: string[] = [];
    const selfProtection: SelfProtection = {
      ...FREE,
      useRoots: (uris) => seen.push(...uris),
      find: (found) => {
        seen.push(...found);
        return undefined;
      },
    };
    const guard = createGuard(optionsOf({ selfProtection }));
    guard.surface(
      callOf({ tool: 't', args: { path: 'a' }, beside: { inputResponses: { r: roots } } }),
      0,
    );
    expect(seen[0]).toBe('file:///work');
    expect(seen).toContain('a');
  });
});

describe('a patch of Codex, which it calls a command', () => {
  const command = '*** Begin Patch\n*** Add File: docs/a.md\n+See /x/policy.yaml\n*** End Patch';

  it.each([
    ['codex', 'apply_patch', ['docs/a.md']],
    ['codex', 'Bash', ['docs/a.md', '/x/policy.yaml']],
    ['other', 'apply_patch', ['docs/a.md', '/x/policy.yaml']],
  ])('of %s %s names files: %j', (server, tool, expected) => {
    const seen: string[] = [];
    const find: SelfProtection['find'] = (found) => {
      seen.push(...found);
      return undefined;
    };
    const guard = createGuard(optionsOf({ server, selfProtection: { ...FREE, find } }));
    guard.surface(callOf({ tool, args: { command } }), 0);
    const named = ['docs/a.md', '/x/policy.yaml'].filter((name) => seen.includes(name));
    expect(named).toEqual(expected);
  });
});

describe('the names in the arguments of a call', () => {
  it.each<[string, unknown, string]>([
    ['a whole text', { path: 'a/b.c' }, 'a/b.c'],
    ['a plain word behind a key of files', { path: 'link' }, 'link'],
    ['a key', { files: { 'a/b.c': 'x' } }, 'a/b.c'],
    ['deep in a list', { a: [[{ b: ['x/y'] }]] }, 'x/y'],
    ['a command', { command: 'rm "a"/b.c' }, 'a/b.c'],
    ['a plain word of a command', { command: 'cat link' }, 'link'],
    ['a command behind an unknown key', { zz: 'rm a/b.c' }, 'a/b.c'],
    ['JSON in a text', { zz: '{"path":"a/b.c"}' }, 'path:a/b.c'],
    ['code', { code: "open('a/b.c')" }, 'a/b.c'],
    ['the file of a patch', { patch: '--- a/x/b.c\n+++ b/x/b.c\n' }, 'x/b.c'],
    ['the quoted file of a patch', { patch: '--- "a/x/\\142.c"\n+++ "b/x/\\142.c"\n' }, 'x/b.c'],
    ['the file of a patch further right', { patch: '  --- a/x/b.c\n  +++ b/x/b.c\n' }, 'x/b.c'],
    ['more folders left out', { argv: ['git', 'apply', '-p2'], patch: '+++ b/x/b.c\n\n' }, 'b.c'],
    ['folders left out by a number', { patch: '+++ b/x/y/b.c\n\n', strip: 3 }, 'b.c'],
    ['a patch in a command', { command: 'git apply <<E\n--- a/b.c\n+++ b/b.c\nE' }, 'b.c'],
    ['such a patch', { command: 'patch -p2 <<E\n--- a/x/b.c\n+++ b/x/b.c\nE' }, 'b.c'],
    ['a list of patterns', { command: 'shopt -s extglob\nrm @(b|x).c' }, 'b.c'],
    ['lists in lists', { command: 'shopt -s extglob\nrm ?(@(b)|x).c' }, 'b.c'],
    ['a repeated pattern', { zz: 'bash -O extglob -c "rm ab+(c)/x"' }, 'abc/x'],
    ['a rooted path behind a key of prose', { content: '/a/b.c' }, '/a/b.c'],
    ['one line of text', { text: 'rm a/b.c' }, 'a/b.c'],
    ['several files', { paths: 'x.c, y.c' }, 'y.c'],
    ['a pattern among words', { zz: 'all of x* here' }, 'x*'],
    ['what only a shell fills in', { zz: 'rm $X/y.c' }, '$X/y.c'],
    ['a source whose line `..` takes back', { source: 'x\n/../b.c' }, 'b.c'],
    ['content whose words `..` takes back', { content: 'a word\n/../x/b.c' }, 'x/b.c'],
    ['lines of text that `..` takes back', { text: 'x\ny/../b.c' }, 'b.c'],
    ['a blank that `..` takes back', { path: ' /../b.c' }, 'b.c'],
    ['a line break that `..` takes back', { zz: '\n/../my dir/link' }, 'my dir/link'],
    ['a blank before a long path', { path: ` /${'./'.repeat(2_100)}../link` }, 'link'],
    ['a title that goes up', { title: 'a/../../../x' }, '../../x'],
    ['a path with a blank', { location: 'my dir/link' }, 'my dir/link'],
    ['a long path', { path: `${'./'.repeat(2_100)}src/link` }, 'src/link'],
    ['a long path with a blank', { path: `${'.//'.repeat(2_100)}my dir/link` }, 'my dir/link'],
    ['a long path that goes up', { zz: `/p/${'a/../'.repeat(1_000)}link` }, '/p/link'],
    ['a long URI', { uri: `file:///p/${'./'.repeat(2_100)}link` }, 'file:///p/link'],
    ['a long encoded path', { zz: `src/${'%2e/'.repeat(1_100)}link` }, 'src/link'],
    ['a long word of a command', { command: `cat ${'./'.repeat(2_100)}link` }, 'link'],
    ['a path that is searched for', { query: "ATTACH '/x/b.c'" }, '/x/b.c'],
  ])('are found: %s', (_name, value, name) => {
    expect(names(value)).toContain(name);
  });

  it.each<[string, unknown]>([
    ['the content of a file', { content: 'see a/b.c\nand more' }],
    ['one line of content', { content: 'see a/b.c' }],
    ['an edit', { edits: [{ oldText: 'a/b.c', newText: 'see a/b.c' }] }],
    ['a message', { message: 'see a/b.c' }],
    ['what is left out', { excludePatterns: ['a/b.c'] }],
    ['several lines of text', { text: 'hello\nsee a/b.c' }],
    ['the content in a map of files', { 'x.md': 'hello\nsee a/b.c' }],
    ['the body of a patch', { patch: '--- a/x\n+++ b/x\n+see a/b.c\n' }],
    ['a commit message', { command: 'git commit -m "see a/b.c"' }],
  ])('are not looked for in %s', (_name, value) => {
    expect(names(value)).not.toContain('a/b.c');
  });

  it.each([
    "import a from '../../../x';",
    '[see](../../../x.md)',
    "// a comment\nrequire('../../../x')",
    'a/../.. and more',
  ])('are not made of code and sentences: %s', (newText) => {
    expect(names({ edits: [{ newText }] })).toEqual([]);
  });

  it('of a patch keep their folders if no option strips them', () => {
    expect(names({ patch: '--- a/x/b.c\n+++ b/x/b.c\n' })).not.toContain('b.c');
    expect(names({ command: 'git apply <<E\n--- a/x/b.c\n+++ b/x/b.c\nE' })).not.toContain('b.c');
  });

  it('are not looked for in words that nothing protected is called like', () => {
    expect(names({ zz: 'see x/y.c and z.c' })).toEqual(['see x/y.c and z.c']);
    expect(names({ zz: 'see x/y.c\nand z.c' })).toEqual([]);
    expect(names({ query: 'where is b.c loaded?', pattern: 'b.c' })).toEqual([]);
  });

  it.each([
    '{"query":"hello","paths":[],"limit":5}',
    '{"limit":5,"Old_Path" : "link"}',
    '{"q":"\\u002e"}',
    '{"a.b":1}',
    '{"content":"/etc/x"}',
    '{"content":"a word\\n/../b"}',
    '{"content":"a word\\n/\\u002e\\u002E/b"}',
    '{"text":"a\\nword/../b"}',
    '{"text":"one line with a/b.c"}',
    '{"text":"a/b.c\\n"}',
    '{"text":"\\na/b.c"}',
    '{"text":"a \\\\n/b"}',
    '{"content":["see","a b/c"]}',
    '{"content":"  /etc/x"}',
    '{"content":"\\t /etc/x"}',
    '{"content":"/etc/x  "}',
    '{"content":"\u00a0 /etc/x"}',
    '{"text":"\u00a0\\na/b"}',
    '{"content":"see \\"x\\"","b":"a/b"}',
    '{"content":"see","list":["x","a/b"]}',
    '["a/b"]',
  ])('may be in %s', (json) => {
    expect(mayNamePath(new TextEncoder().encode(json))).toBe(true);
  });

  it.each([
    '{"query":"hello path","limit" : 5,"list":["path","x"]}',
    '{"content":"see a/b.c and more"}',
    '{"content":"see \\"a/b.c\\" and","n":5}',
    '{"n":"5","text":"see\\nthe a/b.c"}',
    '{}',
  ])('are not looked for in %s', (json) => {
    expect(mayNamePath(new TextEncoder().encode(json))).toBe(false);
  });

  it('are not complete if one is too long to read and mentions a protected file', () => {
    const known = { baseNames: NONE, isMentioned: (text: string) => text.includes('b.c') };
    expect(namedPaths({ path: `${'x/'.repeat(2_100)}b.c` }, known).isWhole).toBe(false);
    expect(namedPaths({ zz: `${'x/'.repeat(2_100)}b.c` }, known).isWhole).toBe(false);
    expect(namedPaths({ zz: 'A/b+'.repeat(2_000) }, known)).toEqual({ names: [], isWhole: true });
    expect(namedPaths({ content: `${'x '.repeat(4_000)}b.c` }, known).isWhole).toBe(true);
  });

  it('are not complete if percent signs stand in percent signs too deep to be undone', () => {
    const known = { baseNames: NONE, isMentioned: () => false };
    expect(namedPaths({ path: '%2525252eenv' }, known).isWhole).toBe(true);
    expect(namedPaths({ path: '%252525252eenv' }, known).isWhole).toBe(false);
    expect(namedPaths({ path: '100%25 of it' }, known).isWhole).toBe(true);
  });

  it('are looked for in very many texts together only so far', () => {
    const known = { baseNames: NONE, isMentioned: () => false };
    const texts = Array.from({ length: 47_000 }, (_, index) => `"$A ${index}"$B$C$D$E$F$G`);
    expect(namedPaths({ texts }, known).isWhole).toBe(false);
  });

  it('are bounded, and `isWhole` is false when there are more', () => {
    const many = Array.from({ length: 20_000 }, (_, index) => `a/${index}`);
    expect(namedPaths(many, { baseNames: NONE, isMentioned: () => false }).isWhole).toBe(false);
  });
});

function guardWith(more: Partial<SelfProtection> = {}) {
  const selfProtection: SelfProtection = {
    enforced: true,
    baseNames: NONE,
    hasBaseName: () => false,
    isMentioned: (text) => text.includes('policy.yaml'),
    find: (found) =>
      found.includes('policy.yaml')
        ? { name: 'policy.yaml', what: 'the policy in force' }
        : undefined,
    findChanged: () => undefined,
    useRoots: () => undefined,
    ...more,
  };
  return createGuard(optionsOf({ selfProtection }));
}

describe('the gate', () => {
  it('stops a call that names a protected file, and reveals no path', () => {
    const call = callOf({ tool: 'edit', args: { path: 'policy.yaml' } });
    const verdict = guardWith().surface(call, 0);
    const stop = { rule_id: 'gate:self-protection', reason_code: 'SELF_PROTECTION' };
    expect(verdict).toMatchObject({ kind: 'stop', decision: { action: 'BLOCK', ...stop } });
    expect(JSON.stringify(verdict)).toContain(
      'its arguments name the policy in force (`policy.yaml`).',
    );
    const free = callOf({ tool: 'edit', args: { path: 'x.yaml' } });
    expect(guardWith().surface(free, 0)).toEqual({ kind: 'pass' });
  });

  it('checks the members beside the arguments, but not those that describe the client', () => {
    const beside = { inputResponses: { f: { content: { file: 'policy.yaml' } } } };
    expect(guardWith().surface(callOf({ tool: 't', args: {}, beside }), 0).kind).toBe('stop');
    const told = { _meta: { cwd: 'policy.yaml' } };
    expect(guardWith().surface(callOf({ tool: 't', args: {}, beside: told }), 0).kind).toBe('pass');
  });

  it('stops a command that would remove or overwrite a protected file, also in a large call', () => {
    const guard = guardWith({
      findChanged: ({ removes }) =>
        removes.includes('conf') ? { name: 'conf', what: 'the policy in force' } : undefined,
    });
    const words = 'it would remove or overwrite the policy in force (`conf`).';
    const small = guard.surface(callOf({ tool: 'Bash', args: { command: 'rm -r conf' } }), 0);
    expect(JSON.stringify(small)).toContain(words);
    expect(JSON.stringify(small)).toContain('work in a folder of its own');
    const texts = [{ key: 'command', text: 'cd . && rm -r conf' }];
    const large = guard.gathered?.(sealedCall('Bash'), { texts, isWhole: true });
    expect(JSON.stringify(large)).toContain(words);
    const free = callOf({ tool: 'Bash', args: { command: 'ls conf' } });
    expect(guard.surface(free, 0)).toEqual({ kind: 'pass' });
  });

  it('stops a command that is too long to be read', () => {
    const call = callOf({ tool: 'Bash', args: { command: `${'ls;'.repeat(100_000)} ls` } });
    expect(guardWith().surface(call, 0)).toMatchObject({ kind: 'stop' });
  });

  it('only records where it is not enforced', () => {
    const call = callOf({ tool: 'edit', args: { path: 'policy.yaml' } });
    expect(guardWith({ enforced: false }).surface(call, 0)).toMatchObject({
      kind: 'pass',
      would: { reason_code: 'SELF_PROTECTION' },
    });
  });

  it('stops names that could not be looked up, and arguments that could not be read', () => {
    const broken = guardWith({
      find: () => {
        throw new Error('no disk');
      },
    });
    expect(broken.surface(callOf({ tool: 't', args: { path: 'a/b' } }), 0).kind).toBe('stop');
    expect(guardWith().surface(callOf({ tool: 't' }), 0).kind).toBe('stop');
  });

  it('stops a call that breaks it, at any step', () => {
    const broken = guardWith({
      isMentioned: () => {
        throw new RangeError('Maximum call stack size exceeded');
      },
    });
    const stop = { kind: 'stop', decision: { reason_code: 'SELF_PROTECTION' } };
    const text = 'say "hello"';
    expect(broken.surface(callOf({ tool: 't', args: { x: text, path: 'y' } }), 0)).toMatchObject(
      stop,
    );
    const texts = { texts: [{ key: 'x', text }], isWhole: true };
    expect(broken.gathered?.(sealedCall('write'), texts)).toMatchObject(stop);
    const passage = broken.passing('out', request('own/method', { x: text }), 0);
    expect(passage).toMatchObject({ kind: 'refused', reason_code: 'SELF_PROTECTION' });
  });

  it('leaves a large call to its end, and judges it by its texts', () => {
    const guard = guardWith();
    const call = sealedCall('write');
    expect(guard.surface(call, 0).kind).toBe('pass');
    const verdict = (texts: readonly { key: string; text: string | undefined }[], more = {}) =>
      guard.gathered?.(call, { texts, isWhole: true, ...more }).kind;
    expect(verdict([{ key: 'path', text: 'policy.yaml' }])).toBe('stop');
    expect(verdict([{ key: 'content', text: 'see policy.yaml' }])).toBe('pass');
    const long = { text: undefined, mayBeCommand: true };
    expect(verdict([{ key: 'content', ...long }])).toBe('pass');
    expect(verdict([{ key: 'command', ...long }])).toBe('stop');
    expect(verdict([{ key: 'blob64', text: undefined }])).toBe('pass');
    expect(verdict([], { isWhole: false })).toBe('stop');
  });

  it.each(['resources/read', 'prompts/get', 'own/method', 'tasks/update'])(
    'refuses %s',
    (method) => {
      const guard = guardWith();
      expect(guard.wants('out', 'request', method)).toBe(true);
      const passage = guard.passing('out', request(method, { uri: 'policy.yaml' }), 0);
      expect(passage).toMatchObject({ kind: 'refused', reason_code: 'SELF_PROTECTION' });
      expect(guard.unseen('out', 'request', method).kind).toBe('refused');
      expect(guard.passing('out', request(method, { uri: 'x.yaml' }), 0)).toEqual({ kind: 'same' });
    },
  );

  it('takes the roots of the agent', () => {
    const told: string[] = [];
    const guard = guardWith({ useRoots: (uris) => told.push(...uris) });
    const value = { roots: [{ uri: 'file:///a' }, { uri: 7 }] };
    guard.passing('out', { kind: 'answer', method: 'roots/list', value, isError: false }, 0);
    expect(told).toEqual(['file:///a']);
  });
});
