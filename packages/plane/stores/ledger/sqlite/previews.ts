// Previews of calls, read from the lines that brought them, and a search for a text in them.
import { isObject } from '@subluminal/contracts';
import { parseJson } from '../../../os/index.ts';
import { previewHolder, storable, withoutNul } from '../chain/event-line.ts';
import type { Connection } from './connection.ts';
import { lineAt, lineFinder } from './line-blocks.ts';
import type { SqlRow } from './load.ts';
import { integerOrNull } from './rows.ts';

export const PREVIEW_COLUMNS = 'p.args_seq, p.result_seq';

export interface Previews {
  readonly args: (row: SqlRow) => string | null;
  readonly result: (row: SqlRow) => string | null;
  /** Whether one of the two may hold a text, in whatever case; a first sieve. */
  readonly mayHold: (row: SqlRow) => boolean;
}

/** For one look at rows with the columns of previews. */
export function previewsOf(connection: Connection, text = ''): Previews {
  const packed = lineFinder(connection);
  const mayStandIn = lineSieve(text);
  const at = (row: SqlRow, column: string) => {
    const seq = integerOrNull(row, column);
    return seq === null ? null : lineAt(connection, seq, packed);
  };
  const may = (row: SqlRow, column: string) => {
    const seq = integerOrNull(row, column);
    if (seq === null) return false;
    const bytes = packed(seq);
    if (bytes !== null) return mayStandIn(bytes.toString('latin1'));
    const line = lineAt(connection, seq, packed);
    return line !== null && mayStandIn(Buffer.from(line, 'utf8').toString('latin1'));
  };
  return {
    args: (row) => previewIn(at(row, 'args_seq'), 'args_preview'),
    result: (row) => previewIn(at(row, 'result_seq'), 'result_preview'),
    mayHold: (row) => may(row, 'args_seq') || may(row, 'result_seq'),
  };
}

function previewIn(line: string | null, name: 'args_preview' | 'result_preview'): string | null {
  const value = line === null ? undefined : parseJson(withoutNul(line));
  const holder = isObject(value) ? previewHolder(value) : undefined;
  const preview = holder?.['preview'];
  const text = isObject(preview) ? preview[name] : undefined;
  return typeof text === 'string' ? storable(text) : null;
}

/** JSON may spell a letter in other ways than we do: then the line must be read. */
const IS_SPELLED = /\\[u/]/;

/** Whether the bytes of a line, each as a character, may hold a text of its preview. */
export function lineSieve(text: string): (bytes: string) => boolean {
  const written = JSON.stringify(text).slice(1, -1);
  const wanted = Buffer.from(written, 'utf8').toString('latin1').toLowerCase();
  return (bytes) => bytes.toLowerCase().includes(wanted) || IS_SPELLED.test(bytes);
}

/** Whether a text stands in another one; ASCII letters match in either case, as SQLite's LIKE has it. */
export function textTest(text: string): (within: string | null) => boolean {
  const wanted = folded(text);
  return (within) => within !== null && folded(within).includes(wanted);
}

function folded(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
