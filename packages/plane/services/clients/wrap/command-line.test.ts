import { expect, test } from 'vitest';
import { type ClientId, clientOf } from '../index.ts';
import { serversBeside } from './command-line.ts';

function beside(id: ClientId, ...words: readonly string[]): readonly string[] {
  const place = {
    platform: 'linux',
    userHome: '/no/home',
    project: '/no/project',
    env: {},
  } as const;
  return serversBeside({ client: clientOf(id), words, place, governed: ['/no/project/own.json'] });
}

test.each([
  ['a launcher with a -- of its own', 'npx', '--', 'claude', '--mcp-config', 'a.json'],
  ['a prompt before', 'claude', '-p', 'tidy up', '--mcp-config', 'a.json', '--verbose'],
  ['a file that is governed beside', 'claude', '--mcp-config', 'own.json', 'a.json'],
])('the command line of Claude Code brings the config behind %s', (_what, ...words) => {
  expect(beside('claude-code', ...words)).toEqual(['--mcp-config a.json']);
});

test('`--strict-mcp-config` is reported along with its configs', () => {
  const words = ['claude', '--strict-mcp-config', '--mcp-config', 'a.json'];
  expect(beside('claude-code', ...words)).toEqual(['--mcp-config a.json', '--strict-mcp-config']);
});

test.each([
  ['-c', 'mcp_servers.a.command="x"'],
  ['-cmcp_servers.a.command="x"'],
  ['-c=mcp_servers.a.command="x"'],
  ['--config', ' "mcp_servers"."a".command="x"'],
  ['--config=mcp_servers.a={command="x"}'],
])('the command line of Codex brings servers in %j', (...words) => {
  expect(beside('codex', 'codex', 'exec', ...words)).toEqual(['-c mcp_servers.a']);
});

test.each([
  ['claude-code', 'claude', '-p', 'what does --mcp-config do?'],
  ['claude-code', 'claude', '-c', 'mcp_servers.a.command="x"'],
  ['codex', 'codex', '-c', 'model="o3"'],
  ['codex', 'codex', '-p', '../../etc/passwd'],
  ['custom', './agent', '--mcp-config', 'a.json'],
] as const)('the command line of %s brings nothing in %j', (id, ...words) => {
  expect(beside(id, ...words)).toEqual([]);
});
