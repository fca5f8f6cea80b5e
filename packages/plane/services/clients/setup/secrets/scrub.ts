// Copies of a config that earlier commands have kept beside its record, for people: what has moved
// into the store must not stay in them.
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { CONFIG_BYTES_MAX } from '../../store/config-file.ts';
import { readOwn, writeOwn } from '../../store/files.ts';
import type { Store } from '../../store/ports.ts';
import type { Move } from './moved.ts';

interface Scrubbed {
  /** Those that could not be changed, and still hold it. */
  readonly holding: readonly string[];
  /** Those that held it behind escapes, and are gone. */
  readonly removed: readonly string[];
}

export function scrubCopies(key: string, moves: readonly Move[], { paths }: Store): Scrubbed {
  const [holding, removed]: [string[], string[]] = [[], []];
  for (const name of moves.length === 0 ? [] : copiesOf(key, paths.backups)) {
    const path = join(paths.backups, name);
    try {
      const text = readOwn(path, CONFIG_BYTES_MAX)?.toString('utf8') ?? '';
      const clean = moves.reduce((left, { value, secret }) => without(left, value(), secret), text);
      const plain = unescaped(clean);
      if (moves.some(({ value }) => plain.includes(value()))) {
        rmSync(path);
        removed.push(path);
      } else if (clean !== text) writeOwn(path, Buffer.from(clean));
    } catch {
      holding.push(path);
    }
  }
  return { holding, removed };
}

function copiesOf(key: string, folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => name.startsWith(`${key}.`));
  } catch {
    return [];
  }
}

function without(text: string, value: string, secret: string): string {
  const escaped = JSON.stringify(value).slice(1, -1);
  return text.replaceAll(escaped, `sub://${secret}`).replaceAll(value, `sub://${secret}`);
}

const SHORT: { readonly [letter: string]: string } = {
  b: '\b',
  t: '\t',
  n: '\n',
  f: '\f',
  r: '\r',
  e: '\u001b',
};
const ESCAPE = /\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|x([0-9A-Fa-f]{2})|[ \t]*\r?\n\s*|([^]))/g;

/** What its strings say, whichever program has written them. */
function unescaped(text: string): string {
  return text.replaceAll(ESCAPE, (_all, ...groups: readonly (string | undefined)[]) => {
    const [four, eight, two, sign] = groups;
    const hex = four ?? eight ?? two;
    if (hex === undefined) return sign === undefined ? '' : (SHORT[sign] ?? sign);
    const code = Number.parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : '';
  });
}
