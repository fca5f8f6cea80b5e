// Generated configs of every client, in many hands: order, indentation, comments, line ends, quotes.
import * as fc from 'fast-check';
import type { ClientId, ConfigFile } from '../types.ts';

export interface Server {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[] | undefined;
  readonly env: { readonly [name: string]: string };
  readonly isRemote: boolean;
  /** Which of the ways to write it, where there are several. */
  readonly way: number;
  readonly isChosen: boolean;
}

interface Style {
  readonly indent: string;
  readonly lineBreak: string;
  readonly isOneLine: boolean;
  readonly hasComments: boolean;
  readonly hasTrailingCommas: boolean;
  readonly hasMark: boolean;
  readonly hasFinalBreak: boolean;
  readonly isReversed: boolean;
}

export interface Generated {
  readonly file: ConfigFile;
  readonly text: string;
  readonly servers: readonly Server[];
}

const word = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.constantFrom(
    '-y',
    '--',
    '$HOME',
    '"',
    "'",
    '\\',
    '# x',
    '// x',
    '/* x */',
    'ä€𝄞',
    'a\nb',
    '\t',
  ),
);
// A lone surrogate has no bytes, so no file holds one.
const text = word.map((one) => Buffer.from(one).toString());
const servers: fc.Arbitrary<readonly Server[]> = fc.uniqueArray(
  fc.record({
    name: fc.oneof(fc.stringMatching(/^[a-z][a-z0-9_-]{0,10}$/), text).filter(isUsable),
    command: text.filter((one) => one !== ''),
    args: fc.option(fc.array(text, { maxLength: 4 }), { nil: undefined }),
    env: fc.dictionary(fc.stringMatching(/^X[A-Z]{0,5}$/), text, { maxKeys: 2 }),
    isRemote: fc.boolean(),
    way: fc.nat(3),
    isChosen: fc.boolean(),
  }),
  { selector: ({ name }) => name, maxLength: 5 },
);

/** What can be handed on; and `__proto__` is no name in a plain object. */
function isUsable(name: string): boolean {
  return name !== '' && name !== '__proto__' && !/\0|\$[\w{]/.test(name);
}

const style: fc.Arbitrary<Style> = fc.record({
  indent: fc.constantFrom('  ', '    ', '\t', ''),
  lineBreak: fc.constantFrom('\n', '\r\n'),
  isOneLine: fc.boolean(),
  hasComments: fc.boolean(),
  hasTrailingCommas: fc.boolean(),
  hasMark: fc.boolean(),
  hasFinalBreak: fc.boolean(),
  isReversed: fc.boolean(),
});

export type Layout = Pick<ConfigFile, 'client' | 'scope' | 'path' | 'format'> & {
  readonly tree: (list: readonly Server[]) => object;
};

/** Plain, or with what a shim must not have among its arguments. */
function addressOf(way: number): string {
  return `https://mcp.example.com/${way % 2 === 0 ? 'mcp' : 's/Zk3kd92mQx71bT0aPq4w'}`;
}

function entryOf({ command, args, env, isRemote, way }: Server): object {
  if (isRemote) return { url: addressOf(way), headers: env };
  return {
    ...(way > 1 ? { type: 'stdio' } : {}),
    command,
    ...(args === undefined ? {} : { args }),
    ...(way % 2 === 0 ? { env, disabled: way === 2 } : {}),
  };
}

function zedEntryOf(server: Server): object {
  const { command, args, env, isRemote, way } = server;
  if (isRemote || way % 2 === 0) return entryOf(server);
  return { settings: {}, command: { path: command, ...(args === undefined ? {} : { args }), env } };
}

const byName = (list: readonly Server[], entry: (one: Server) => object): object =>
  Object.fromEntries(list.map((one) => [one.name, entry(one)]));

const under =
  (...keys: readonly string[]) =>
  (list: readonly Server[]): object =>
    keys.reduceRight<object>((inner, key) => ({ [key]: inner }), byName(list, entryOf));

const others = {
  theme: 'x',
  'editor.list': [1, { a: null }, 'command'],
  nested: { command: 'no' },
};

function layoutOf(
  [client, scope]: readonly [ClientId, 'user' | 'project'],
  path: string,
  [format, tree]: readonly [ConfigFile['format'], Layout['tree']],
): Layout {
  return { client, scope, path, format, tree };
}

export const LAYOUTS: readonly Layout[] = [
  layoutOf(['claude-code', 'user'], '/h/.claude.json', ['json', claudeTree]),
  layoutOf(['claude-code', 'project'], '/p/.mcp.json', ['json', under('mcpServers')]),
  layoutOf(['claude-desktop', 'user'], '/h/c.json', ['json', under('mcpServers')]),
  layoutOf(['codex', 'user'], '/h/config.toml', ['toml', under('mcp_servers')]),
  layoutOf(['cursor', 'project'], '/p/mcp.json', ['jsonc', under('mcpServers')]),
  layoutOf(['vscode', 'project'], '/p/mcp.json', ['jsonc', under('servers')]),
  layoutOf(['vscode', 'user'], '/h/settings.json', ['jsonc', under('mcp', 'servers')]),
  layoutOf(['windsurf', 'user'], '/h/mcp_config.json', ['jsonc', under('mcpServers')]),
  layoutOf(['zed', 'user'], '/h/settings.json', ['jsonc', zedTree]),
  layoutOf(['custom', 'user'], '/h/any.json', ['jsonc', under('context_servers')]),
];

function claudeTree(list: readonly Server[]): object {
  const [own, local] = [list.filter(({ way }) => way < 2), list.filter(({ way }) => way >= 2)];
  return {
    mcpServers: byName(own, entryOf),
    projects: { '/p': { history: ['x'], mcpServers: byName(local, entryOf) } },
  };
}

function zedTree(list: readonly Server[]): object {
  return { context_servers: byName(list, zedEntryOf) };
}

/** A document in the making: numbers its comments, so that none can be mistaken for another. */
function createWriter({ lineBreak, indent, ...is }: Style, allowsMore: boolean) {
  let comments = 0;
  const comment = (): string => {
    comments += 1;
    return comments % 2 === 0 ? `/* c${comments} */` : `// c${comments} "command": {`;
  };
  const write = (value: unknown, depth: number): string => {
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    const isList = Array.isArray(value);
    const parts = isList
      ? value.map((one) => write(one, depth + 1))
      : ordered(Object.entries(value)).map(
          ([key, one]) =>
            `${JSON.stringify(key)}:${is.isOneLine ? '' : ' '}${write(one, depth + 1)}`,
        );
    const [open, close] = isList ? '[]' : '{}';
    if (parts.length === 0) return `${open}${close}`;
    if (is.isOneLine || (isList && depth % 2 === 0)) return `${open}${parts.join(', ')}${close}`;
    const lines = parts.map((part, index) => {
      const isLast = index === parts.length - 1;
      const comma = !isLast || (allowsMore && is.hasTrailingCommas) ? ',' : '';
      const said = allowsMore && is.hasComments ? ` ${comment()}` : '';
      return `${lineBreak}${indent.repeat(depth + 1)}${part}${comma}${said}`;
    });
    return `${open}${lines.join('')}${lineBreak}${indent.repeat(depth)}${close}`;
  };
  const ordered = <T>(list: readonly T[]): readonly T[] =>
    is.isReversed ? list.toReversed() : list;
  return (value: unknown): string =>
    `${is.hasMark ? '\uFEFF' : ''}${write(value, 0)}${is.hasFinalBreak ? lineBreak : ''}`;
}

/** A server as one of the ways that TOML has. */
function tomlOf(list: readonly Server[], { lineBreak, hasComments, isReversed }: Style): string {
  const lines: string[] = ['model = "x"', ''];
  const said = (name: string): string => (hasComments ? ` # ${name} command = "no"` : '');
  const inline = list.filter(({ way }) => way === 3);
  if (inline.length > 0) {
    lines.push(`[mcp_servers]${said('inline')}`);
    for (const one of inline) lines.push(`${quoted(one.name)} = { ${fieldsOf(one).join(', ')} }`);
  }
  for (const one of list.filter(({ way }) => way < 3)) {
    lines.push('', `[mcp_servers.${quoted(one.name)}]${said('table')}`);
    const fields = isReversed ? fieldsOf(one).toReversed() : fieldsOf(one);
    for (const field of fields) lines.push(`${field}${said('field')}`);
  }
  lines.push('', '[other]', 'command = "no"', '');
  return lines.join(lineBreak);
}

function fieldsOf({ command, args, isRemote, way, env }: Server): readonly string[] {
  if (isRemote) {
    const headers = Object.entries(env).map(([name, value]) => `${name} = ${quoted(value)}`);
    return [
      `url = ${quoted(addressOf(way))}`,
      ...(way % 2 === 0 ? [] : [`http_headers = { ${headers.join(', ')} }`]),
      ...(way === 1 ? ['startup_timeout_sec = 20', 'bearer_token_env_var = "TOKEN"'] : []),
    ];
  }
  const list = args?.map(quoted) ?? [];
  const isWide = way === 1 && list.length > 0;
  const written = isWide ? `[\n  ${list.join(', # x ]\n  ')},\n]` : `[${list.join(', ')}]`;
  return [
    `command = ${quoted(command)}`,
    ...(args === undefined ? [] : [`args = ${written}`]),
    `env = { ${Object.entries(env)
      .map(([name, value]) => `${name} = ${quoted(value)}`)
      .join(', ')} }`,
  ];
}

/** TOML escapes what JSON does, and DEL. */
function quoted(value: string): string {
  return JSON.stringify(value).replaceAll('\u007F', '\\u007F');
}

export function generated({ tree, ...file }: Layout): fc.Arbitrary<Generated> {
  return fc.tuple(servers, style).map(([list, how]) => ({
    file,
    servers: list,
    text:
      file.format === 'toml'
        ? tomlOf(list, how)
        : createWriter(how, file.format === 'jsonc')({ ...others, ...tree(list) }),
  }));
}
