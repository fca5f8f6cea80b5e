import { describe, expect, test } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { clientOf } from './registry.ts';
import type { Client, ClientId, ReadConfig, ServerEntry } from './types.ts';
import { expandText, mayExpandTo, unresolved } from './variables.ts';

const SERVER = {
  command: '${BIN:-npx}',
  args: ['${PLAIN}', '${env:PREFIXED}', '${input:token}', '${workspaceFolder}/x', '$BARE', '${1}'],
  cwd: '${env:FOLDER}',
  env: { TOKEN: 'Bearer ${TOKEN}', KEY: '${env:KEY}', ASKED: '${input:key}', FIXED: 'hunter2' },
};

const KEYS: { readonly [id in ClientId]?: string } = {
  vscode: 'servers',
  zed: 'context_servers',
  codex: 'mcp_servers',
};

/** One server, as the client has read it; JSON is close enough to TOML's inline tables. */
function entryOf(id: ClientId, server: object = SERVER): ServerEntry {
  const format = 'jsonc';
  const text = JSON.stringify({ [KEYS[id] ?? 'mcpServers']: { one: server } });
  const read = clientOf(id).read({ client: id, scope: 'user', path: '/x.json', format }, text);
  const [entry] = (read as ReadConfig).entries;
  if (entry === undefined) throw new Error('no entry');
  return entry;
}

test.each([
  ['claude-code', ['PLAIN', 'TOKEN']],
  ['claude-desktop', []],
  ['codex', []],
  ['copilot-cli', ['PLAIN', 'BARE', 'TOKEN']],
  ['cursor', ['PREFIXED', 'KEY', 'FOLDER']],
  ['gemini-cli', ['PLAIN', 'BARE', 'TOKEN']],
  ['vscode', ['PREFIXED', 'KEY', 'FOLDER']],
  ['windsurf', ['PREFIXED', 'KEY', 'FOLDER']],
  ['zed', []],
  ['custom', ['PLAIN', 'PREFIXED', 'TOKEN', 'KEY', 'FOLDER']],
] as const)('%s misses what it would look up and not find', (id, names) => {
  verifies('F-004', 'EC-STDIO-026');
  expect(unresolved(entryOf(id), clientOf(id), {}).toSorted()).toEqual([...names].toSorted());
});

test('a variable that is set is not missing, even when it is empty', () => {
  verifies('EC-STDIO-026');
  const env = { PLAIN: '', TOKEN: 'x' };
  expect(unresolved(entryOf('claude-code'), { ...clientOf('claude-code') }, env)).toEqual([]);
});

test('a variable with a default in one place can be missing in another', () => {
  const entry = entryOf('claude-code', { command: 'x', args: ['${A:-1}', '${A}'] });
  expect(unresolved(entry, { ...clientOf('claude-code') }, {})).toEqual(['A']);
});

function expandedEntry(
  { command, args }: Pick<ServerEntry, 'command' | 'args'>,
  client: Pick<Client, 'expands'>,
  env: { readonly [name: string]: string },
) {
  const expand = (text: string) => expandText(text, client, env);
  return { command: command === undefined ? undefined : expand(command), args: args?.map(expand) };
}

test('each client expands its own syntax, and nothing else', () => {
  verifies('F-004');
  const env = { BIN: 'bunx', PLAIN: 'p', PREFIXED: 'q', token: 'never', BARE: 'never' };
  const kept = ['${input:token}', '${workspaceFolder}/x', '$BARE', '${1}'];
  expect(expandedEntry(entryOf('claude-code'), { ...clientOf('claude-code') }, env)).toEqual({
    command: 'bunx',
    args: ['p', '${env:PREFIXED}', ...kept],
  });
  expect(expandedEntry(entryOf('windsurf'), { ...clientOf('windsurf') }, env)).toEqual({
    command: '${BIN:-npx}',
    args: ['${PLAIN}', 'q', ...kept],
  });
  const gemini = expandText('$BARE/${PLAIN}$BAREST', { ...clientOf('gemini-cli') }, env);
  expect(gemini).toBe('never/p$BAREST');
  expect(expandedEntry(entryOf('codex'), { ...clientOf('codex') }, env)).toEqual({
    command: '${BIN:-npx}',
    args: ['${PLAIN}', '${env:PREFIXED}', ...kept],
  });
});

test('a default counts where there is no value, and a reference with neither stays', () => {
  verifies('F-004');
  const entry = entryOf('claude-code', {
    command: '${A:-/usr/bin/a:-b}',
    args: ['${B:-}', '${C}'],
  });
  expect(expandedEntry(entry, { ...clientOf('claude-code') }, {})).toEqual({
    command: '/usr/bin/a:-b',
    args: ['', '${C}'],
  });
});

test('a value that looks like a reference is not expanded again', () => {
  const entry = entryOf('claude-code', { command: '${A}' });
  expect(expandedEntry(entry, { ...clientOf('claude-code') }, { A: '${B}', B: 'no' }).command).toBe(
    '${B}',
  );
});

test('an entry keeps the names of variables, and nothing of the environment', () => {
  const said = JSON.stringify(
    entryOf('custom', { ...SERVER, env: { A: '${B:-hunter2}', C: 'hunter3' } }),
  );
  expect(said).toContain('"B"');
  expect(said).not.toContain('hunter');
});

describe('a word that a client may have made of a written one', () => {
  const claude = { ...clientOf('claude-code'), env: { A: 'set' } } as const;
  test.each([
    ['plain', 'plain', true],
    ['plain', 'other', false],
    ['${A}/x', 'set/x', true],
    ['${A}/x', 'other/x', false],
    ['${UNSET}/x.y', 'anything/x.y', true],
    ['${UNSET}/x.y', 'anything/x-y', false],
    ['${UNSET:-b}', 'anything', true],
    ['${workspaceFolder}', 'anything', false],
  ])('%j as %j: %j', (written, word, may) => {
    expect(mayExpandTo(written, word, claude)).toBe(may);
  });

  test('may have a variable without braces in it', () => {
    const gemini = { ...clientOf('gemini-cli'), env: { A: 'set' } };
    expect(mayExpandTo('$A/$UNSET.y', 'set/anything.y', gemini)).toBe(true);
    expect(mayExpandTo('$A/x', 'other/x', gemini)).toBe(false);
    expect(mayExpandTo('$A/x', 'set/x', claude)).toBe(false);
  });

  test('is the same word where the client expands nothing', () => {
    expect(mayExpandTo('${UNSET}', 'anything', { ...clientOf('codex'), env: {} })).toBe(false);
    expect(mayExpandTo('${UNSET}', '${UNSET}', { ...clientOf('codex'), env: {} })).toBe(true);
  });

  test('may be anything in place of what an editor alone knows', () => {
    expect(mayExpandTo('${workspaceFolder}/x', '/me/x', { ...clientOf('vscode'), env: {} })).toBe(
      true,
    );
    expect(mayExpandTo('${input:key}', 'anything', { ...clientOf('vscode'), env: {} })).toBe(true);
  });
});
