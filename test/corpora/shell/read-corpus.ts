// Command lines with what they touch, written by hand.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface ShellCase {
  readonly line: string;
  readonly programs: readonly string[];
  readonly reads: readonly string[];
  readonly trees: readonly string[];
  readonly writes: readonly string[];
  readonly hosts: readonly string[];
  readonly opaque: readonly string[];
  /** Only where it is told: what is named beyond what is read and written. */
  readonly paths: readonly string[] | undefined;
}

/** Letters that nobody sees, and signs that a text file has no place for. */
const ESCAPE = /␍|␉|\\u\{([0-9a-f]+)\}/g;

/** The cases of one file in this folder. */
export function shellCorpus(name: string): readonly ShellCase[] {
  const text = readFileSync(join(import.meta.dirname, `${name}.txt`), 'utf8');
  return text
    .split(/\n{2,}/)
    .map((block) => block.split('\n').filter((line) => line !== '' && !line.startsWith('#')))
    .filter((lines) => lines.length > 0)
    .map(caseOf);
}

function unescaped(line: string): string {
  return line.replace(ESCAPE, (sign: string, point?: string) => {
    if (point !== undefined) return String.fromCodePoint(Number.parseInt(point, 16));
    return sign === '␍' ? '\r' : '\t';
  });
}

function caseOf(written: readonly string[]): ShellCase {
  const lines = written.map(unescaped);
  const told = lines.at(-1) ?? '';
  const command = lines.slice(0, -1);
  if (!told.startsWith('--') || !command.every((line) => /^[$>]( |$)/.test(line))) {
    throw new Error(`not a case: ${lines.join(' ⏎ ')}`);
  }
  const line = command.map((one) => one.slice(2)).join('\n');
  const [programs = '', ...others] = told.slice(2).split(' | ');
  const fields = new Map(others.map((field) => [field.split(' ', 1)[0] ?? '', field]));
  const listed = (field: string) => wordsIn((fields.get(field) ?? '').slice(field.length));
  return {
    line,
    programs: wordsIn(programs),
    reads: listed('reads'),
    trees: listed('trees'),
    writes: listed('writes'),
    hosts: listed('hosts'),
    opaque: listed('opaque'),
    paths: fields.has('paths') ? listed('paths') : undefined,
  };
}

/** Words between blanks; one with blanks stands between double quotes. */
function wordsIn(text: string): readonly string[] {
  return (text.match(/"[^"]*"|[^ ]+/g) ?? []).map((word) => word.replace(/^"(.*)"$/, '$1'));
}
