import { describe, expect, test } from 'vitest';
import { clientOf } from '../registry.ts';
import type { ConfigFile, Format } from '../types.ts';
import { removeShims } from './undo-changes.ts';

const MANY = 5_000;
const CALL = { program: ['/usr/bin/node', '/opt/sub/bin/sub.mjs'], flags: [] };

/** Every other one has no arguments. */
function configOf(format: Format): string {
  const numbers = Array.from({ length: MANY }, (_, at) => at);
  if (format === 'toml') {
    const lines = (at: number) => (at % 2 === 0 ? '' : `args = ["-n", "${at}"]\n`);
    return numbers.map((at) => `[mcp_servers.s${at}]\ncommand = "run"\n${lines(at)}`).join('');
  }
  const servers = numbers.map((at): [string, object] => [
    `s${at}`,
    { command: 'run', ...(at % 2 === 0 ? {} : { args: ['-n', `${at}`] }) },
  ]);
  return JSON.stringify({ mcpServers: Object.fromEntries(servers) }, null, 2);
}

describe('a config that another program has changed meanwhile', () => {
  // What copies the whole config for each of them does not end within the time of a test.
  test.each([
    { client: clientOf('claude-code'), format: 'json', added: ['{\n', '{\n  "theme": "dark",\n'] },
    { client: clientOf('codex'), format: 'toml', added: ['', 'theme = "dark"\n'] },
  ] as const)('has all of $client.id back, of thousands of servers', (one) => {
    const { client, format, added } = one;
    const file: ConfigFile = { client: client.id, path: '/config', format, scope: 'user' };
    const text = configOf(format);
    const config = client.read(file, text);
    if (config.kind === 'failure') throw new Error(config.message);
    const { text: after, changes } = client.plan(config, config.entries, CALL);
    expect(changes).toHaveLength(MANY);
    const [old, now] = added;
    const ways = changes.map(({ before, after: ours, ...place }) => ({
      ...place,
      pairs: [{ before, after: ours }],
    }));
    const out = removeShims({ text: after.replace(old, now), format, ways });
    expect(out.kind === 'taken' && out.taken.length).toBe(MANY);
    expect(out.kind === 'taken' && out.text === text.replace(old, now)).toBe(true);
  });
});
