import * as fc from 'fast-check';
import { parse as parseJson } from 'jsonc-parser';
import { parse as parseToml } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { verifies } from '../../../../test/requirements.ts';
import { clientOf } from './registry.ts';
import { readShimCommand } from './shim-command.ts';
import { type Generated, generated, LAYOUTS } from './testing/configs.ts';
import { SAMPLES } from './testing/samples.ts';
import { readDocument } from './text/document.ts';
import { applyEdits, removeValue } from './text/edits.ts';
import { entryTextAt } from './text/entry-text.ts';
import type {
  ConfigFile,
  Edit,
  EntryChange,
  ReadConfig,
  ServerEntry,
  ShimCall,
  ValuePath,
} from './types.ts';

const CALL: ShimCall = {
  program: ['/usr/bin/node', '/opt/sub/bin/sub.mjs'],
  flags: ['--policy', '/etc/policy.yaml'],
};
const BEFORE_DASHES = ['/opt/sub/bin/sub.mjs', 'shim', '--server-name'];

function read(file: ConfigFile, text: string): ReadConfig {
  const config = clientOf(file.client).read(file, text);
  if (config.kind === 'failure') throw new Error(config.message);
  return config;
}

function planned(config: ReadConfig, chosen: readonly ServerEntry[] = config.entries) {
  return clientOf(config.file.client).plan(config, chosen, CALL);
}

/** By parsers that know nothing of positions. */
function dataOf(text: string, { format }: ConfigFile): unknown {
  return format === 'toml' ? parseToml(text) : parseJson(text.replace(/^\uFEFF/, ''));
}

const isGovernable = ({ transport, remote }: ServerEntry): boolean =>
  transport === 'stdio' || remote !== undefined;

describe('the samples', () => {
  test.each(SAMPLES)(
    'of $client, $path: every server with a command goes through a shim',
    (sample) => {
      verifies('F-006', 'F-007');
      const config = read(sample, sample.text);
      const { text, changes } = planned(config);
      const after = read(sample, text);
      expect(after.entries.map(({ name, transport }) => [name, transport])).toEqual(
        sample.found.map(([name, transport]) => [
          name,
          transport === 'remote' ? 'stdio' : transport,
        ]),
      );
      for (const [index, entry] of after.entries.entries()) {
        const [, transport, original] = sample.found[index] ?? [];
        const governed = {
          program: CALL.program,
          serverName: entry.name,
          wrapId: undefined,
          command: original,
        };
        expect([entry.governed]).toMatchObject([transport === 'unknown' ? undefined : governed]);
        expect(entry.governed?.remote !== undefined).toBe(transport === 'remote');
      }
      expect(changes).toHaveLength(config.entries.filter(isGovernable).length);
    },
  );
});

test('only the two values differ, in the manner of those that were there', () => {
  verifies('F-006');
  const file = { client: 'cursor', scope: 'user', path: '/x', format: 'jsonc' } as const;
  const text = `{
  // mine
  "mcpServers": {
    "a": {
      "command": "npx", // the usual one
      "args": ["-y", "x"],
      "env": { "KEY": "\${KEY}" }
    },
    "b": { "command": "b" }
  }
}
`;
  const { text: after, changes } = planned(read(file, text));
  const [program] = CALL.program;
  const shim = (name: string, ...original: readonly string[]): string =>
    [...BEFORE_DASHES, name, ...CALL.flags, '--', ...original]
      .map((one) => JSON.stringify(one))
      .join(', ');
  expect(after).toBe(
    text
      .replace('"npx"', `"${program}"`)
      .replace('["-y", "x"]', `[${shim('a', 'npx', '-y', 'x')}]`)
      .replace('{ "command": "b" }', `{ "command": "${program}", "args": [${shim('b', 'b')}] }`),
  );
  expect(changes).toMatchObject([
    {
      name: 'a',
      at: { command: ['mcpServers', 'a', 'command'], args: ['mcpServers', 'a', 'args'] },
      before: {
        command: { value: 'npx', text: '"npx"' },
        args: { value: ['-y', 'x'], text: '["-y", "x"]' },
      },
      after: { command: { value: program, text: `"${program}"` } },
    },
    { name: 'b', before: { command: { value: 'b', text: '"b"' }, args: null } },
  ]);
});

test('references stay as they are written, so that no secret is put into a file', () => {
  verifies('EC-STDIO-026');
  const file = { client: 'claude-code', scope: 'project', path: '/x', format: 'json' } as const;
  const text = JSON.stringify({ mcpServers: { a: { command: '${BIN}', args: ['${KEY:-x}'] } } });
  const { text: after } = planned(read(file, text));
  expect(after).toContain('"--","${BIN}","${KEY:-x}"');
});

test('an entry of single projects says which one it is of', () => {
  const file = { client: 'claude-code', scope: 'user', path: '/x', format: 'json' } as const;
  const text = JSON.stringify({ projects: { '/p': { mcpServers: { a: { command: 'x' } } } } });
  expect(planned(read(file, text)).changes).toMatchObject([{ name: 'a', project: '/p' }]);
});

test.each([
  'mcp_servers.a.command = "x"\n',
  '[mcp_servers]\na.command = "x"\na.args = []\n',
  '[mcp_servers]\n"a".command = "x"\n',
  'mcp_servers = { a = { command = "x" } }\n',
  'mcp_servers = { a.command = "x" }\n',
  '[mcp_servers.a]\ncommand = """\nx"""\n',
  "[mcp_servers.a]\ncommand = '''x'''",
  '[mcp_servers.a]\r\ncommand = "x" # c\r\n[mcp_servers.a.env]\r\nA="b"',
  ' [ mcp_servers . "a" ] \n\tcommand="\\u0078"\n args = [ # c\n]\n',
])('a server of Codex is found however TOML writes it: %j', (text) => {
  verifies('F-003', 'F-006');
  const file = { client: 'codex', scope: 'user', path: '/x', format: 'toml' } as const;
  const { text: after } = planned(read(file, text));
  expect(read(file, after).entries).toMatchObject([{ name: 'a', governed: { command: ['x'] } }]);
});

test('an entry of another config is a defect of the caller', () => {
  const file = { client: 'cursor', scope: 'user', path: '/x', format: 'json' } as const;
  const one = read(file, '{"mcpServers":{"a":{"command":"x"}}}');
  const other = read(file, '{"mcpServers":{"a":{"command":"y"}}}');
  const none = read(file, '{"mcpServers":{}}');
  expect(() => planned(one, other.entries)).toThrow('not of the config');
  expect(() => planned(none, other.entries)).toThrow('not of the config');
});

describe.each(LAYOUTS)('any config of $client, like $path', (layout) => {
  const sample = generated(layout);
  const chosenOf = (config: ReadConfig, { servers }: Generated): readonly ServerEntry[] =>
    config.entries.filter(({ name }) => servers.find((one) => one.name === name)?.isChosen);

  test('differs by the chosen commands only', () => {
    fc.assert(
      fc.property(sample, (one) => {
        const config = read(one.file, one.text);
        const chosen = chosenOf(config, one);
        const { text, changes } = planned(config, chosen);
        expect(changes.map(({ name }) => name).toSorted()).toEqual(
          chosen
            .filter(isGovernable)
            .map(({ name }) => name)
            .toSorted(),
        );
        // Put back what is said to have been there, and all data is as it was.
        const data = dataOf(text, one.file);
        for (const { at, before, after } of changes) {
          expect([valueAt(data, at.command), valueAt(data, at.args)]).toEqual([
            after.command.value,
            after.args?.value,
          ]);
          if (before === null) {
            const path = at.command.slice(0, -1);
            setAt(data, path, valueAt(dataOf(one.text, one.file), path));
            continue;
          }
          setAt(data, at.command, before.command.value);
          setAt(data, at.args, before.args?.value);
        }
        expect(data).toEqual(dataOf(one.text, one.file));
      }),
    );
  });

  test('keeps every byte that is not of these values', () => {
    fc.assert(
      fc.property(sample, (one) => {
        const config = read(one.file, one.text);
        const { text, changes } = planned(config, chosenOf(config, one));
        expect(masked(text, one.file, changes)).toBe(masked(one.text, one.file, changes));
      }),
    );
  });

  test('starts the same servers as before, behind the shim', () => {
    fc.assert(
      fc.property(sample, (one) => {
        const config = read(one.file, one.text);
        const { text } = planned(config);
        for (const { name, command, args } of read(one.file, text).entries) {
          const server = one.servers.find((other) => other.name === name);
          if (server === undefined || server.isRemote) continue;
          expect(readShimCommand(command, args)).toMatchObject({
            serverName: name,
            command: [server.command, ...(server.args ?? [])],
          });
        }
      }),
    );
  });

  test('is left alone the second time', () => {
    fc.assert(
      fc.property(sample, (one) => {
        const config = read(one.file, one.text);
        const { text } = planned(config, chosenOf(config, one));
        const again = read(one.file, text);
        expect(planned(again, chosenOf(again, one))).toEqual({ text, changes: [] });
      }),
    );
  });
});

/** A text in which the values that may change are not told apart. */
function masked(text: string, { format }: ConfigFile, changes: readonly EntryChange[]): string {
  const inside = changes.map(({ at }) => at.command);
  const parsed = readDocument(text, format, inside);
  if (parsed.kind === 'broken') throw new Error(parsed.message);
  const { document } = parsed;
  const mask = (path: ValuePath): readonly Edit[] => {
    const span = document.spanAt(path);
    return span === undefined ? [] : [{ ...span, text: '…' }];
  };
  const edits = changes.flatMap(({ at, before, entry }) => {
    const whole = entry && entryTextAt(document, entry.path)?.span;
    if (before === null || whole !== undefined) return whole ? [{ ...whole, text: '…' }] : [];
    const isAdded = before.args === null && document.valueAt(at.args) !== undefined;
    return [...mask(at.command), ...(isAdded ? [removeValue(document, at.args)] : mask(at.args))];
  });
  return applyEdits(text, edits);
}

function holderOf(data: unknown, path: readonly (string | number)[]): object {
  const holder = valueAt(data, path.slice(0, -1));
  if (typeof holder !== 'object' || holder === null) throw new Error('no such value');
  return holder;
}

function valueAt(data: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (inner, key) =>
      typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : undefined,
    data,
  );
}

function setAt(data: unknown, path: readonly (string | number)[], value: unknown): void {
  const key = path.at(-1);
  if (key === undefined) throw new Error('no path');
  if (value === undefined) Reflect.deleteProperty(holderOf(data, path), key);
  else Reflect.set(holderOf(data, path), key, value);
}
