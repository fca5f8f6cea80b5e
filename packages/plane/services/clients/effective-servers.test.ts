import { stringify } from 'smol-toml';
import { expect, test } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { effectiveServers } from './effective-servers.ts';
import { clientOf } from './registry.ts';
import type { ClientId, ConfigScope, ReadConfig } from './types.ts';

function configOf(
  scope: ConfigScope,
  content: object,
  client: ClientId = 'claude-code',
): ReadConfig {
  const path = scope === 'user' ? '/home/u/.claude.json' : '/projects/app/.mcp.json';
  const file = { client, scope, path, format: 'json' } as const;
  const read = clientOf(client).read(file, JSON.stringify(content));
  if (read.kind === 'failure') throw new Error(read.message);
  return read;
}

const server = (command: string) => ({ command });
const user = configOf('user', {
  mcpServers: { both: server('user'), mine: server('mine'), quiet: server('quiet') },
  projects: {
    '/projects/app': {
      mcpServers: { local: server('local'), everywhere: server('local') },
      disabledMcpServers: ['quiet'],
      disabledMcpjsonServers: ['shared'],
    },
    '/projects/other': { mcpServers: { other: server('other') }, disabledMcpServers: ['mine'] },
  },
});
const project = configOf('project', {
  mcpServers: { both: server('project'), shared: server('shared'), everywhere: server('project') },
});

test("the project's servers win over the user's, and each says which file it is from", () => {
  verifies('EC-STDIO-025', 'F-002');
  const found = effectiveServers([user, project], '/projects/app');
  expect(found.map(({ entry, file }) => [entry.name, entry.command, file.scope])).toEqual([
    ['both', 'project', 'project'],
    ['mine', 'mine', 'user'],
    ['quiet', 'quiet', 'user'],
    ['local', 'local', 'user'],
    ['everywhere', 'local', 'user'],
    ['shared', 'shared', 'project'],
  ]);
  expect(found[0]?.overridden).toEqual([user.file]);
  expect(found[4]?.overridden).toEqual([project.file]);
});

test('the order in which files are given does not matter', () => {
  const byName = (list: ReturnType<typeof effectiveServers>) =>
    list
      .map(({ entry, file, isDisabled }) =>
        JSON.stringify([entry.name, entry.command, file.path, isDisabled]),
      )
      .toSorted();
  expect(byName(effectiveServers([project, user], '/projects/app'))).toEqual(
    byName(effectiveServers([user, project], '/projects/app')),
  );
});

test('a server that this project switches off is disabled, wherever it stands', () => {
  const disabled = effectiveServers([user, project], '/projects/app').filter(
    (one) => one.isDisabled,
  );
  expect(disabled.map(({ entry }) => entry.name)).toEqual(['quiet', 'shared']);
});

test('without a project, entries for single projects stand by themselves', () => {
  const found = effectiveServers([user, project]);
  expect(found.filter(({ entry }) => entry.name === 'everywhere')).toHaveLength(2);
  expect(found.some(({ entry }) => entry.name === 'other')).toBe(true);
  expect(found.some(({ isDisabled }) => isDisabled)).toBe(false);
});

test('clients do not override each other', () => {
  const cursor = configOf('project', { mcpServers: { both: server('cursor') } }, 'cursor');
  const found = effectiveServers([user, cursor], '/projects/app');
  expect(found.filter(({ entry }) => entry.name === 'both')).toHaveLength(2);
});

test('of equals, the last file counts', () => {
  const later = configOf('project', { mcpServers: { shared: server('later') } });
  const found = effectiveServers([project, later], '/projects/app');
  expect(found.find(({ entry }) => entry.name === 'shared')?.entry.command).toBe('later');
});

test.each([
  [{ command: 'node', args: ['a.js'] }, { args: ['b.js'] }, true],
  [{ command: 'node', args: ['a.js'] }, { command: 'other' }, true],
  [{ command: 'node', args: ['a.js'] }, { enabled: false }, true],
  [{ command: 'node', args: ['a.js'] }, { command: 'node', args: [] }, false],
  [{ command: 'node' }, { command: 'other' }, false],
])('Codex merges %j and %j: from both files %s', (below, above, is) => {
  const [lower, upper] = [below, above].map((one, index) => {
    const scope = index === 0 ? 'user' : 'project';
    const file = { client: 'codex', scope, path: '/x', format: 'toml' } as const;
    const read = clientOf('codex').read(file, stringify({ mcp_servers: { a: one } }));
    if (read.kind === 'failure') throw new Error(read.message);
    return read;
  });
  if (lower === undefined || upper === undefined) throw new Error('not read');
  expect(effectiveServers([lower, upper], '/projects/app')[0]?.isSplit).toBe(is);
  expect(effectiveServers([lower], '/projects/app')[0]?.isSplit).toBe(false);
});

test('other clients take whole entries', () => {
  const below = configOf('user', { mcpServers: { a: { command: 'x', args: ['y'] } } });
  const above = configOf('project', { mcpServers: { a: { command: 'z' } } });
  expect(effectiveServers([below, above], '/projects/app')[0]?.isSplit).toBe(false);
});
