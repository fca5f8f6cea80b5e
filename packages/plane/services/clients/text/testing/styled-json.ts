// Servers as JSON or JSONC of a random style.

import * as fc from 'fast-check';
import {
  type Data,
  data,
  fieldsOf,
  fromPairs,
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
  readonly isJsonc: boolean;
  readonly step: string;
}

/** A random JSON or JSONC text with servers at `mcpServers`, further fields around them. */
export function styledJson(isJsonc: boolean): fc.Arbitrary<Styled> {
  const others = fc.uniqueArray(fc.tuple(keys, data), { maxLength: 3, selector: ([key]) => key });
  return fc.record({ tape: tapes, servers, others }).map((parts) => {
    const { tape } = parts;
    const style: Style = {
      tape,
      eol: tape.oneOf('\n', '\r\n', '\n', '\r'),
      isJsonc,
      step: tape.oneOf('  ', '\t', '    ', ''),
    };
    const around = parts.others.filter(([key]) => key !== 'mcpServers');
    const entries = parts.servers.map((one): [string, Data] => [
      one.name,
      fromPairs(fieldsOf(one)),
    ]);
    const split = tape.pick(around.length + 1);
    const top = [
      ...around.slice(0, split),
      ['mcpServers', new Ordered(entries, parts.servers)],
      ...around.slice(split),
    ] as const;
    const text = `${gap(style)}${writeObject(top, style, '')}${gap(style)}`;
    return {
      text: `${tape.chance(4) ? '\uFEFF' : ''}${text}`,
      servers: parts.servers,
      paths: parts.servers.map(({ name }) => ['mcpServers', name]),
    };
  });
}

/** Pairs in the order given, which an object would not keep for keys like `1`. */
class Ordered {
  readonly pairs: readonly (readonly [string, Data | Ordered])[];

  constructor(entries: readonly (readonly [string, Data])[], from: readonly Server[]) {
    this.pairs = entries.map(([name, value], index) => {
      const server = from[index];
      return [name, server === undefined ? value : new Ordered(fieldsOf(server), [])];
    });
  }
}

function write(value: Data | Ordered, style: Style, indent: string): string {
  if (value instanceof Ordered) return writeObject(value.pairs, style, indent);
  if (typeof value === 'string') return writeString(value, style);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (isList(value)) {
    const items = value.map((item) => write(item, style, indent + style.step));
    return writeItems(items, style, { indent, open: '[', close: ']' });
  }
  return writeObject(Object.entries(value), style, indent);
}

function isList(value: object): value is readonly Data[] {
  return Array.isArray(value);
}

function writeObject(
  pairs: readonly (readonly [string, Data | Ordered])[],
  style: Style,
  indent: string,
): string {
  const sign = style.tape.oneOf(': ', ':', ' : ', `${gap(style)}:${gap(style)}`);
  const items = pairs.map(
    ([key, value]) =>
      `${writeString(key, style)}${sign}${write(value, style, indent + style.step)}`,
  );
  return writeItems(items, style, { indent, open: '{', close: '}' });
}

function writeItems(
  items: readonly string[],
  style: Style,
  { indent, open, close }: { indent: string; open: string; close: string },
): string {
  const { tape, eol } = style;
  const trailing = style.isJsonc && items.length > 0 && tape.chance(3) ? ',' : '';
  const inner = `${eol}${indent}${style.step}`;
  switch (tape.pick(4)) {
    case 0: {
      const lines = items.map((item, at) => {
        const comma = at < items.length - 1 ? ',' : trailing;
        return `${inner}${item}${comma}${remark(style)}`;
      });
      return `${open}${lines.join('')}${eol}${indent}${close}`;
    }
    case 1:
      return `${open}${items.join(',')}${trailing}${close}`;
    case 2:
      return `${open} ${items.join(', ')}${trailing} ${close}`;
    default: {
      const joined = items.map((item) => `${gap(style)}${item}${gap(style)}`).join(',');
      return `${open}${joined}${trailing}${gap(style)}${close}`;
    }
  }
}

/** Behind an item, up to the end of the line. */
function remark({ tape, isJsonc }: Style): string {
  const space = tape.oneOf('', '', ' ', '\t');
  if (!isJsonc || !tape.chance(3)) return space;
  return `${space}${tape.oneOf('// a, "b": {', '/* c */', '/* d */ // e', '//')}`;
}

/** Where blanks may stand. */
function gap({ tape, isJsonc, eol }: Style): string {
  if (isJsonc && tape.chance(4)) {
    return tape.oneOf(
      `// "x": [${eol}`,
      '/* y */',
      `/* z${eol} */`,
      ` /**/${eol}`,
      `${eol}//,${eol} `,
    );
  }
  return tape.oneOf('', ' ', '', eol, `${eol}  `, '\t');
}

function writeString(value: string, { tape }: Style): string {
  const plain = JSON.stringify(value);
  if (!tape.chance(4)) return plain;
  const units = value.split('').map((unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
  return `"${units.join('')}"`;
}
