// Puts one rule in front of another one in the text of a bundle. Nothing else of it changes.
import type { Position } from '@subluminal/core/policy';
import { type NewRule, ruleJson, ruleLines } from './rule.ts';

const MARK = '\uFEFF';

/** The text with the rule in it; `at` is where the other rule begins. */
export function insertRule(text: string, rule: NewRule, at: Position): string {
  const mark = text.startsWith(MARK) ? MARK : '';
  const body = text.slice(mark.length);
  const end = body.includes('\r\n') ? '\r\n' : '\n';
  const lines = body.split('\n');
  const dash = dashOf(lines, at);
  if (dash === undefined) return mark + insertInside(body, lines, { rule, at, end });
  const { line, indent } = dash;
  const first = aboveComments(lines, line, indent);
  const isSpaced = first > 0 && (lines[first - 1] ?? '').trim() === '';
  const own = [...ruleLines(rule, indent), ...(isSpaced ? [''] : [])];
  const carriage = end === '\r\n' ? '\r' : '';
  lines.splice(first, 0, ...own.map((one) => one + carriage));
  return mark + lines.join('\n');
}

/** The line of the dash that the rule stands behind; undefined when it stands in a flow list. */
function dashOf(
  lines: readonly string[],
  { line, column }: Position,
): { readonly line: number; readonly indent: string } | undefined {
  const before = (lines[line - 1] ?? '').slice(0, column - 1);
  const here = /^([ ]*)-[ \t]+$/.exec(before);
  if (here !== null) return { line: line - 1, indent: here[1] ?? '' };
  if (before.trim() !== '') return undefined;
  // The dash may have a line of its own.
  for (let at = line - 2; at >= 0; at--) {
    const text = (lines[at] ?? '').replace(/\r$/, '');
    const alone = /^([ ]*)-[ \t]*(?:#.*)?$/.exec(text);
    if (alone !== null) return { line: at, indent: alone[1] ?? '' };
    if (text.trim() !== '' && !text.trimStart().startsWith('#')) return undefined;
  }
  return undefined;
}

/** What is said right above a rule is about that rule. */
function aboveComments(lines: readonly string[], line: number, indent: string): number {
  let first = line;
  while (first > 0 && (lines[first - 1] ?? '').startsWith(`${indent}#`)) first--;
  return first;
}

interface Inside {
  readonly rule: NewRule;
  readonly at: Position;
  readonly end: string;
}

function insertInside(body: string, lines: readonly string[], { rule, at, end }: Inside): string {
  const start = lines.slice(0, at.line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  const offset = start + at.column - 1;
  const before = body.slice(start, offset);
  const gap = before.trim() === '' ? `${end}${before}` : ' ';
  return `${body.slice(0, offset)}${ruleJson(rule)},${gap}${body.slice(offset)}`;
}
