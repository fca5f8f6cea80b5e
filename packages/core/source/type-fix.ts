// How to write a value that has the wrong type, or is out of its bounds.
import type { Mismatch } from '@subluminal/contracts';
import { harmlessJson, quote } from '../text/visible.ts';
import type { ScalarTree, Tree } from './tree.ts';

/** A field with nothing behind its colon. */
export function emptyFix(name: string, example: string | undefined): string {
  if (name === 'match') return 'Write `match: {}` to match every call.';
  if (example === undefined) return 'Give it a value, or remove the field.';
  return `Give it a value, like \`${name}: ${example}\`.`;
}

const PATTERN_LENGTH_MAX = 60;
const PATTERNS_SHOWN_MAX = 4;

/** A name where an object with patterns is wanted: the most natural mistake of all. */
function matchFix(name: string, tree: Tree): string | undefined {
  const patterns = patternsIn(tree);
  if (patterns === undefined) return undefined;
  const glob = `{ glob: [${patterns.join(', ')}] }`;
  if (name === 'match') return `Write \`match: { tool_name: ${glob} }\`.`;
  const isName = name === 'tool_name' || name === 'server_name';
  return isName ? `Write \`${name}: ${glob}\`.` : undefined;
}

function patternsIn(tree: Tree): readonly string[] | undefined {
  const items = tree.kind === 'list' ? tree.items : [tree];
  if (items.length === 0 || items.length > PATTERNS_SHOWN_MAX) return undefined;
  const texts = items.flatMap((item) => {
    return item.kind === 'scalar' && typeof item.value === 'string' ? [item.value] : [];
  });
  if (texts.length < items.length) return undefined;
  return texts.map((text) => harmlessJson(JSON.stringify(cut(text))));
}

function cut(text: string): string {
  return text.length <= PATTERN_LENGTH_MAX ? text : `${text.slice(0, PATTERN_LENGTH_MAX)}…`;
}

export function typeFix(name: string, expected: string, tree: Tree): string {
  if (expected.startsWith('true or false') && tree.kind === 'scalar') {
    const word = String(tree.value).toLowerCase();
    if (/^(?:true|yes|on)$/.test(word)) return 'Write `true`, without quotes.';
    const isFalse = /^(?:false|no|off)$/.test(word);
    return isFalse ? 'Write `false`, without quotes.' : 'Write `true` or `false`.';
  }
  if (/^a (whole )?number/.test(expected)) return durationFix(name, tree) ?? numberFix(tree);
  if (expected.startsWith('a list')) {
    return tree.kind === 'scalar'
      ? `Write it as a list: \`[${shortened(tree)}]\`.`
      : 'Write it as a list, with `- ` before each item.';
  }
  if (expected.startsWith('an object')) {
    return matchFix(name, tree) ?? 'Write it as `name: value` lines below the field.';
  }
  if (tree.kind === 'scalar') return `Put quotes around it: \`"${shortened(tree)}"\`.`;
  return 'Write one value, in quotes.';
}

const UNITS_MS: readonly (readonly [unit: RegExp, unitMs: number])[] = [
  [/^(?:ms|msecs?|milliseconds?)$/i, 1],
  [/^(?:s|secs?|seconds?)$/i, 1_000],
  [/^(?:m|mins?|minutes?)$/i, 60_000],
  [/^(?:h|hrs?|hours?)$/i, 3_600_000],
  [/^(?:d|days?)$/i, 86_400_000],
];

/** Durations are numbers of milliseconds; undefined for other fields. */
export function durationFix(name: string, tree: Tree): string | undefined {
  if (!name.endsWith('_ms')) return undefined;
  const text = tree.kind === 'scalar' && typeof tree.value === 'string' ? tree.value : '';
  const [, count, unit = ''] = /^(\d{1,15}(?:\.\d{1,3})?) ?([a-z]{1,12})$/i.exec(text.trim()) ?? [];
  const unitMs = UNITS_MS.find(([pattern]) => pattern.test(unit))?.[1];
  if (count === undefined || unitMs === undefined) return undefined;
  return `Write \`${name}: ${Math.round(Number(count) * unitMs)}\`: durations are in milliseconds.`;
}

/** YAML 1.2 has no signs between digits, but people and other languages do. */
function numberFix(tree: Tree): string {
  if (tree.kind !== 'scalar' || typeof tree.value !== 'string') return 'Write a number.';
  if (/^-?\d+(\.\d+)?$/.test(tree.value)) return 'Remove the quotes.';
  const sign = /^\d{1,20}([_,' ])\d/.exec(tree.value)?.[1];
  if (sign === undefined || !/^[\d_,' ]{1,40}$/.test(tree.value)) return 'Write a number.';
  return `Write ${tree.value.replace(/[_,' ]/g, '')}, without the \`${sign}\`.`;
}

export function valueFix({ expected }: Mismatch, tree: Tree): string {
  if (tree.kind === 'list') {
    return tree.items.length === 0 ? 'Add an item, or remove the field.' : 'Shorten the list.';
  }
  if (tree.kind !== 'scalar') return 'Write it as described.';
  if (typeof tree.value === 'number') return 'Use a number that fits.';
  if (tree.value === '') return 'Give it a value, or remove the field.';
  return expected.includes('at most') ? 'Shorten the text.' : 'Write it in that form.';
}

/** The value as it was written, safe to print and not too long. */
export function written(tree: Tree): string {
  if (tree.kind === 'list') return `a list of ${tree.items.length}`;
  if (tree.kind === 'map') return 'an object';
  if (tree.value === null) return 'nothing';
  if (tree.value === '') return 'an empty string';
  return quote(typeof tree.value === 'string' ? JSON.stringify(tree.value) : tree.raw);
}

function shortened(tree: ScalarTree): string {
  return quote(tree.raw).slice(1, -1);
}
