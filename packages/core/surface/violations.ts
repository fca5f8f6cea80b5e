// What a call's arguments break: parameters that must not be there, and values beyond their limits.
import { isJsonObject, type JsonObject, type JsonValue } from '@subluminal/contracts';
import { brokenLimit } from './manifest/limits.ts';
import type { ParamRules } from './manifest/lookup.ts';
import { isBounded } from './names/bounded.ts';
import { below, means, type ParamPath, ROOT } from './names/param-paths.ts';

export type Violation =
  | { readonly kind: 'blocked' | 'stripped'; readonly path: string }
  | { readonly kind: 'limit'; readonly path: string; readonly expected: string };

const BOUNDS = { depthMax: 64, valuesMax: 100_000 };
const VIOLATIONS_MAX = 20;

interface ArgumentWalk {
  readonly rules: ParamRules;
  readonly found: Violation[];
  isWhole: boolean;
}

/** Looks at every value of the arguments; undefined when they are too deep or too large for that. */
export function violationsOf(
  rules: ParamRules,
  args: JsonObject,
): readonly Violation[] | undefined {
  if (!rules.any) return [];
  if (!isBounded(args, BOUNDS)) return undefined;
  const walk: ArgumentWalk = { rules, found: [], isWhole: true };
  visit(walk, args, ROOT);
  return walk.isWhole ? walk.found : undefined;
}

function visit(walk: ArgumentWalk, value: JsonValue, path: ParamPath): void {
  if (walk.found.length >= VIOLATIONS_MAX) return;
  checkLimits(walk, value, path);
  if (value === null || typeof value !== 'object') return;
  if (Array.isArray(value)) {
    const items: readonly JsonValue[] = value;
    for (const item of items) visit(walk, item, path);
    return;
  }
  for (const [name, item] of Object.entries(value)) {
    const at = below(path, name);
    if (at.isCut) {
      walk.isWhole = false;
      return;
    }
    const kind = forbiddenKind(walk.rules, at);
    if (kind === undefined) visit(walk, item, at);
    else walk.found.push({ kind, path: at.shown });
  }
}

function forbiddenKind(rules: ParamRules, path: ParamPath): 'blocked' | 'stripped' | undefined {
  if (rules.strips.some((pattern) => means(pattern, path))) return 'stripped';
  return rules.blocked.some((pattern) => means(pattern, path, rules.tool)) ? 'blocked' : undefined;
}

function checkLimits({ rules, found }: ArgumentWalk, value: JsonValue, path: ParamPath): void {
  if (path.depth === 0) return;
  for (const { pattern, limit } of rules.constrained) {
    if (!means(pattern, path)) continue;
    const expected = brokenLimit(limit, value);
    if (expected !== undefined) found.push({ kind: 'limit', path: path.shown, expected });
  }
}

/** The arguments without what is forbidden and with numbers moved into their range. */
export function corrected(rules: ParamRules, args: JsonObject): JsonObject | null {
  const fixed = mend(rules, args, ROOT);
  if (!isJsonObject(fixed) || !isFaithful(fixed)) return null;
  return violationsOf(rules, fixed)?.length === 0 ? fixed : null;
}

function mend(rules: ParamRules, value: JsonValue, path: ParamPath): JsonValue {
  if (typeof value === 'number') return clamped(rules, value, path);
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((item: JsonValue) => mend(rules, item, path));
  const kept: [string, JsonValue][] = [];
  for (const [name, item] of Object.entries(value)) {
    const at = below(path, name);
    if (forbiddenKind(rules, at) === undefined) kept.push([name, mend(rules, item, at)]);
  }
  return Object.fromEntries(kept);
}

function clamped(rules: ParamRules, value: number, path: ParamPath): number {
  return rules.constrained.reduce((number, { pattern, limit }) => {
    if (!means(pattern, path)) return number;
    const { minimum = number, maximum = Math.max(number, minimum) } = limit;
    return Math.min(Math.max(number, minimum), maximum);
  }, value);
}

/** A number that lost digits when it was read must not be sent back. */
function isFaithful(value: JsonValue): boolean {
  if (typeof value === 'number') {
    return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
  }
  if (value === null || typeof value !== 'object') return true;
  const items: readonly JsonValue[] = Object.values(value);
  return items.every(isFaithful);
}
