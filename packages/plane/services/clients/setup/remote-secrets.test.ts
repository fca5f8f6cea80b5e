// Tokens in the headers of servers with an address, moved into a real store and back.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { clientOf } from '../index.ts';
import { envOf, importMoving, Machine, restoreAll } from './testing/machine.ts';

let machine: Machine;
beforeEach(() => {
  machine = new Machine();
});
afterEach(() => machine.end());

const TOKEN = 'Bearer tk-7Qe2Lm9Zx4Rv8Bn1';
const KEY = 'k7Qe2Lm9Zx4Rv8Bn1';
const URL = 'https://mcp.example.com/mcp';

const CONFIGS = [
  [
    'claude-code',
    `{
  "mcpServers": {
    "far": {
      "type": "http",
      "url": "${URL}",
      "headers": { "Authorization": "${TOKEN}", "X-Region": "eu" }
    },
    "only": { "type": "sse", "url": "${URL}", "headers": { "X-Api-Key": "${KEY}" } }
  }
}
`,
  ],
  [
    'codex',
    `[mcp_servers.far] # far away
url = "${URL}"

[mcp_servers.far.http_headers]
Authorization = "${TOKEN}" # mine
X-Region = "eu"

[mcp_servers.only]
url = '${URL}'
http_headers = { "X-Api-Key" = '${KEY}' }
`,
  ],
] as const;

function configPath(id: string): string {
  return join(machine.folder, 'home', id === 'codex' ? '.codex/config.toml' : '.claude.json');
}

test.each(CONFIGS)('of %s go into the store and come back byte for byte', async (id, text) => {
  const options = machine.options({ client: clientOf(id) });
  const path = configPath(id);
  machine.write(text, path);
  const { files } = await importMoving(options);
  const after = readFileSync(path, 'utf8');
  expect(after).toContain('Authorization=MCP_HEADER_AUTHORIZATION');
  expect(after).toContain('X-Api-Key=MCP_HEADER_X_API_KEY');
  for (const secret of [TOKEN, KEY]) {
    expect(after).not.toContain(secret);
    expect(machine.holding(secret)).toEqual([]);
  }
  expect(files[0]?.moves).toHaveLength(2);
  expect(files[0]?.secrets).toEqual([]);
  expect(readFileSync(join(machine.folder, 'sub', 'config.toml'), 'utf8')).toContain(
    `url = "${URL}"`,
  );
  expect((await envOf(options, 'far', { url: URL })).env).toEqual({
    MCP_HEADER_AUTHORIZATION: TOKEN,
  });
  expect((await envOf(options, 'far', { url: `${URL}/other` })).env).toEqual({});
  expect((await envOf(options, 'far', { words: ['node'] })).env).toEqual({});
  expect(await restoreAll(options)).toEqual([]);
  expect(readFileSync(path, 'utf8')).toBe(text);
});

test.each(CONFIGS)(
  'of %s stay with a second import, and come back after edits',
  async (id, text) => {
    const options = machine.options({ client: clientOf(id) });
    const path = configPath(id);
    machine.write(text, path);
    await importMoving(options);
    const after = readFileSync(path, 'utf8');
    await importMoving(options);
    expect(readFileSync(path, 'utf8')).toBe(after);
    const edit = (one: string) =>
      id === 'codex' ? `model = "x"\n${one}` : one.replace('{', '{\n  "theme": "dark",');
    writeFileSync(path, edit(after));
    expect(await restoreAll(options)).toEqual([]);
    const back = readFileSync(path, 'utf8');
    for (const secret of [TOKEN, KEY]) expect(back).toContain(secret);
    const file = {
      client: id,
      scope: 'user',
      path,
      format: id === 'codex' ? 'toml' : 'json',
    } as const;
    const read = clientOf(id).read(file, back);
    const entries = read.kind === 'config' ? read.entries : [];
    expect(entries.map(({ remote }) => remote?.headers.map(({ name }) => name).toSorted())).toEqual(
      [['Authorization', 'X-Region'], ['X-Api-Key']],
    );
  },
);
