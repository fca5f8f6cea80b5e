// A diff for people: plain lines, one per change.
import type { JsonValue } from '@subluminal/contracts';
import { visible } from '../../text/visible.ts';
import type { PolicyChange, PolicyDiff } from '../changes/change.ts';

const MARKS = { critical: '!', warn: '~', info: '·' } as const;
const PATH_LENGTH_MAX = 120;
const VALUE_LENGTH_MAX = 80;
const SUMMARY_LENGTH_MAX = 200;

export function formatDiff(diff: PolicyDiff): string {
  if (diff.same) return 'No changes.';
  const { critical, warn, info, loosens, mixed, tightens } = diff.summary;
  const total = diff.changes.length;
  return [
    ...diff.changes.map(formatChange),
    '',
    `${total} ${total === 1 ? 'change' : 'changes'}: ${critical} critical, ${warn} warn, ${info} info; ` +
      `${loosens} ${loosens === 1 ? 'loosens' : 'loosen'}, ${mixed > 0 ? `${mixed} mixed, ` : ''}${tightens} ${tightens === 1 ? 'tightens' : 'tighten'}.`,
  ].join('\n');
}

function formatChange(change: PolicyChange): string {
  const path = visible(change.path, PATH_LENGTH_MAX);
  const summary = visible(change.summary, SUMMARY_LENGTH_MAX);
  const effect = change.effect === 'none' ? '' : ` (${change.effect})`;
  return `${MARKS[change.severity]} ${path}: ${valuesOf(change)}${summary}${effect}`;
}

function valuesOf({ change, path, before, after }: PolicyChange): string {
  if (change === 'moved') return `place ${shown(before)} → ${shown(after)}; `;
  // A whole rule is too much for a line; its summary names it.
  if (change !== 'changed' && path.endsWith(']')) return '';
  return `${shown(before)} → ${shown(after)}; `;
}

function shown(value: JsonValue): string {
  return value === null ? '–' : visible(JSON.stringify(value), VALUE_LENGTH_MAX);
}
