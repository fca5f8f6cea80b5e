// Servers as TOML of a random style: headers, dotted keys, inline tables, arrays of tables.

import * as fc from 'fast-check';
import type { ValuePath } from '../tree.ts';
import {
  type Data,
  data,
  fieldsOf,
  keys,
  type Server,
  type Styled,
  servers,
  type Tape,
  tapes,
} from './styled.ts';

interface Style {
  readonly tape: Tape;
  readonly eol: string;
}

type Pair = readonly [string, Data];

/** A random TOML text with servers in `mcp_servers`. */
export function styledToml(): fc.Arbitrary<Styled> {
  const others = fc.uniqueArray(fc.tuple(keys, data), { maxLength: 3, selector: ([key]) => key });
  return fc.record({ tape: tapes, servers, others }).map((parts) => {
    const { tape } = parts;
    const style: Style = { tape, eol: tape.oneOf('\n', '\r\n') };
    const around = parts.others.filter(([key]) => key !== 'mcp_servers' && key !== 'last');
    const layout = tape.oneOf(...LAYOUTS);
    const lines = [
      ...around.map((pair) => line(style, pairText(pair, style))),
      ...layout.write(parts.servers, style),
      ...(tape.chance(2) ? [line(style, '[last]'), line(style, 'command = "no"')] : []),
    ];
    const text = lines.join('');
    const whole = tape.chance(3) ? text.replace(/(?:\r\n|\n)+$/, '') : text;
    return {
      text: `${tape.chance(4) ? '\uFEFF' : ''}${whole}`,
      servers: parts.servers,
      paths: parts.servers.map(({ name }, index) => layout.path(name, index)),
    };
  });
}

interface Layout {
  write(from: readonly Server[], style: Style): string[];
  path(name: string, index: number): ValuePath;
}

const byName = (name: string): ValuePath => ['mcp_servers', name];

const LAYOUTS: readonly [Layout, ...Layout[]] = [
  { path: byName, write: (from, style) => from.flatMap((one) => headed(one, style)) },
  {
    path: byName,
    write: (from, style) => [
      line(style, `[${style.tape.oneOf('', ' ')}mcp_servers${style.tape.oneOf('', '\t')}]`),
      ...from.flatMap((one) => dotted(one, [], style)),
    ],
  },
  {
    path: byName,
    write: (from, style) => [
      line(style, '[ "mcp_servers" ]'),
      ...from.map((one) =>
        line(style, `${writeKey(one.name, style)} = ${inline(fieldsOf(one), style)}`),
      ),
    ],
  },
  {
    path: byName,
    write: (from, style) => from.flatMap((one) => dotted(one, ['mcp_servers'], style)),
  },
  {
    path: byName,
    write: (from, style) => {
      const items = from.map(
        (one) => `${writeKey(one.name, style)}=${inline(fieldsOf(one), style)}`,
      );
      return [line(style, `mcp_servers = ${enclose(items, style, '{}')}`)];
    },
  },
  {
    path: (_name, index) => ['mcp_servers', index],
    write: (from, style) =>
      from.flatMap((one) => [
        line(style, '[[mcp_servers]]'),
        ...fieldsOf(one).map((pair) => line(style, pairText(pair, style))),
      ]),
  },
];

/** Tables among the fields may get headers of their own, behind everything else. */
function headed(server: Server, style: Style): string[] {
  const { tape } = style;
  const header = `mcp_servers${tape.oneOf('.', ' . ')}${writeKey(server.name, style)}`;
  const fields = fieldsOf(server);
  const isOwn = ([, value]: Pair): boolean => isTable(value);
  const own = tape.chance(2) ? fields.filter(isOwn) : [];
  const rest = fields.filter((pair) => !own.includes(pair));
  return [
    line(style, `[${header}]`),
    ...rest.map((pair) => line(style, pairText(pair, style))),
    ...own.flatMap(([name, value]) => [
      line(style, `[${header}.${writeKey(name, style)}]`),
      ...(isTable(value) ? Object.entries(value) : []).map((pair) =>
        line(style, pairText(pair, style)),
      ),
    ]),
  ];
}

function dotted(server: Server, prefix: readonly string[], style: Style): string[] {
  return fieldsOf(server).map(([name, value]) => {
    const parts = [...prefix, server.name, name].map((part) => writeKey(part, style));
    return line(style, `${parts.join(style.tape.oneOf('.', ' .\t'))} = ${write(value, style)}`);
  });
}

function isTable(value: Data): value is { readonly [key: string]: Data } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A line with blanks before it, a remark behind it, and others around it. */
function line({ tape, eol }: Style, content: string): string {
  const before = tape.chance(3) ? tape.oneOf(eol, `# [x] y = "z"${eol}`, `  ${eol}\t#${eol}`) : '';
  const behind = tape.oneOf('', '', ' ', ' # "c" = ]', '#', '\t# d');
  return `${before}${tape.oneOf('', '', '  ', '\t')}${content}${behind}${eol}`;
}

function pairText([name, value]: Pair, style: Style): string {
  return `${writeKey(name, style)}${style.tape.oneOf(' = ', '=', '\t=  ')}${write(value, style)}`;
}

function writeKey(name: string, { tape }: Style): string {
  if (/^[A-Za-z0-9_-]+$/.test(name) && !tape.chance(4)) return name;
  return /['\p{Cc}]/u.test(name) || tape.chance(2) ? basic(name) : `'${name}'`;
}

function write(value: Data, style: Style): string {
  if (typeof value === 'string') return writeString(value, style);
  if (typeof value === 'number' && style.tape.chance(4)) {
    return style.tape.oneOf(
      '1979-05-27 07:32:00Z',
      '1979-05-27',
      '07:32:00',
      '0xff',
      '-inf',
      '9223372036854775807',
    );
  }
  if (typeof value !== 'object' || value === null) return String(value);
  if (isTable(value)) return inline(Object.entries(value), style);
  return enclose(
    value.map((item) => write(item, style)),
    style,
    '[]',
  );
}

function inline(pairs: readonly Pair[], style: Style): string {
  return enclose(
    pairs.map((pair) => pairText(pair, style)),
    style,
    '{}',
  );
}

/** In one line, or in several with remarks. */
function enclose(items: readonly string[], { tape, eol }: Style, signs: '[]' | '{}'): string {
  const [open = '', close = ''] = signs;
  const isMany = tape.chance(3);
  const trailing = items.length > 0 && (signs === '[]' || isMany) && tape.chance(3) ? ',' : '';
  if (!isMany) {
    const space = tape.oneOf('', ' ');
    return `${open}${space}${items.join(tape.oneOf(', ', ','))}${trailing}${space}${close}`;
  }
  const lines = items.map((item, at) => {
    const comma = at < items.length - 1 ? ',' : trailing;
    return `${eol}${tape.oneOf('  ', '', '\t')}${item}${comma}${tape.oneOf('', ' # ], }', ' ')}`;
  });
  return `${open}${tape.oneOf('', ' # e')}${lines.join('')}${eol}${tape.oneOf('', '  ')}${close}`;
}

function writeString(value: string, { tape, eol }: Style): string {
  const isPlain = !/['\p{Cc}]/u.test(value);
  switch (tape.pick(5)) {
    case 0:
      return isPlain ? `'${value}'` : basic(value);
    case 1:
      return isPlain ? `'''${eol}${value}'''` : basic(value);
    case 2:
      return `""${basic(value)}""`;
    case 3: {
      const middle = [...value];
      const half = Math.floor(middle.length / 2);
      const [left, right] = [middle.slice(0, half), middle.slice(half)].map((part) =>
        basic(part.join(''))
          .slice(1, -1)
          .replace(/^[ \t]+/, spacesOf),
      );
      return `"""${eol}${left}\\${eol}  ${right}"""`;
    }
    default:
      return basic(value);
  }
}

/** Blanks behind a line that goes on would be dropped. */
function spacesOf(blanks: string): string {
  return [...blanks].map((blank) => (blank === ' ' ? '\\u0020' : '\\t')).join('');
}

function basic(value: string): string {
  const escaped = value.replace(/["\\\p{Cc}]/gu, (one) => {
    return `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  return `"${escaped}"`;
}
