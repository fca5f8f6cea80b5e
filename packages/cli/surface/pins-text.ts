// Changes of a server for a person to look at. Every text in them is the server's.
import type { Colors } from '../terminal/io.ts';
import { harmless, shortened } from '../terminal/text.ts';
import {
  areOther,
  type Comparison,
  type FieldChange,
  type Seen,
  type ToolChange,
  toolNamed,
} from './pins-view.ts';

interface Shown {
  readonly seen: Pick<Seen, 'tools' | 'instructions'>;
  readonly colors: Colors;
  /** Definitions in full, because they are to be accepted: nothing may hide behind a cut. */
  readonly isFull: boolean;
}

const NAME_LENGTH_MAX = 120;
const LINE_LENGTH_MAX = 400;

const named = (name: string): string => harmless(shortened(name, NAME_LENGTH_MAX));

/** One or more lines for one change; none for what is the same. */
function changeLines(change: ToolChange, shown: Shown): readonly string[] {
  const { colors } = shown;
  const name = named(change.name);
  switch (change.kind) {
    case 'same':
      return [];
    case 'added':
      return [colors.green(`+ ${name}  new`), ...definitionLines(change.name, shown)];
    case 'removed':
      return [colors.red(`- ${name}  gone`)];
    case 'changed':
      return [
        colors.yellow(`~ ${name}  changed`),
        ...diffLines(change.diff, colors),
        ...(shown.isFull ? ['    as it is now:', ...definitionLines(change.name, shown)] : []),
      ];
    case 'ambiguous':
      return [colors.red(`! ${name}  is there twice, and the two differ`)];
    case 'unpinnable':
      return [colors.red(`! ${name}  is too large, too deep or one too many to be known`)];
  }
}

/** Field by field. */
function diffLines(diff: readonly FieldChange[], colors: Colors): readonly string[] {
  return diff.flatMap(({ kind, path, before, after }) => [
    `    ${harmless(path === '' ? '(all of it)' : path)}${kind === 'changed' ? '' : `  ${kind}`}`,
    ...(before === undefined ? [] : [colors.red(`      - ${harmless(before)}`)]),
    ...(after === undefined ? [] : [colors.green(`      + ${harmless(after)}`)]),
  ]);
}

function definitionLines(name: string, { seen, isFull }: Shown): readonly string[] {
  const tool = toolNamed(seen.tools, name);
  if (!isFull) {
    const says: unknown = tool?.['description'];
    if (typeof says !== 'string' || says === '') return [];
    return [`    says: ${harmless(shortened(says, LINE_LENGTH_MAX))}`];
  }
  const lines = (JSON.stringify(tool, null, 2) ?? '').split('\n');
  return lines.map((line) => `    ${longLine(line)}`);
}

/** A long line is broken, never cut. */
function longLine(line: string): string {
  const parts = harmless(line).match(new RegExp(`.{1,${LINE_LENGTH_MAX}}`, 'gu')) ?? [];
  return parts.join('\n      ');
}

function instructionLines(
  change: Comparison['instructions'],
  { seen, colors, isFull }: Shown,
): readonly string[] {
  if (change === 'unknown' || change === 'same') return [];
  if (change === 'unpinnable') return [colors.red('! instructions  too large to be known')];
  const text = seen.instructions ?? '(none)';
  const whole = text.split('\n').map((line) => `    ${longLine(line)}`);
  if (change !== 'added') {
    const now = isFull ? ['    as they are now:', ...whole] : [];
    return [colors.yellow('~ instructions  changed'), ...diffLines(change, colors), ...now];
  }
  const short = [`    ${harmless(shortened(text, LINE_LENGTH_MAX))}`];
  return [colors.green('+ instructions  not known yet'), ...(isFull ? whole : short)];
}

export function comparisonLines(comparison: Comparison, shown: Shown): readonly string[] {
  const renames = comparison.renamed.map(
    ({ from, to }) => `> ${named(from)} → ${named(to)}  renamed: all but the name is the same`,
  );
  return [
    ...renames,
    ...comparison.tools.flatMap((change) => changeLines(change, shown)),
    ...instructionLines(comparison.instructions, shown),
  ];
}

/** Like `1 changed, 2 new`. */
export function countWords({ tools, instructions }: Comparison): string {
  const count = (...kinds: readonly ToolChange['kind'][]) =>
    tools.filter(({ kind }) => kinds.includes(kind)).length;
  const parts = [
    [count('changed'), 'changed'],
    [count('added'), 'new'],
    [count('removed'), 'gone'],
    [count('ambiguous', 'unpinnable'), 'unusable'],
  ] as const;
  const words = parts.flatMap(([number, word]) => (number === 0 ? [] : [`${number} ${word}`]));
  return [...words, ...(areOther(instructions) ? ['other instructions'] : [])].join(', ');
}
