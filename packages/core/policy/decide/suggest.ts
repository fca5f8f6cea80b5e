// Corrected arguments, computed by the corrections of a rule.
import type { JsonObject, JsonValue, Suggest } from '@subluminal/contracts';
import { own } from '../match/match.ts';

const DEPTH_MAX = 64;

/**
 * The arguments with the rule's corrections, or null when nothing would change or the values
 * can't be repeated faithfully: a number that lost digits when it was read must not be sent back.
 */
export function suggestArgs(recipe: Suggest, args: JsonObject): JsonObject | null {
  const corrected = new Map<string, JsonValue>(Object.entries(args));
  for (const key of recipe.drop ?? []) corrected.delete(key);
  for (const [key, range] of Object.entries(recipe.clamp ?? {})) {
    const value = corrected.get(key);
    if (typeof value !== 'number') continue;
    const atLeast = Math.max(value, range.min ?? value);
    corrected.set(key, Math.min(atLeast, range.max ?? atLeast));
  }
  for (const [key, allowed] of Object.entries(recipe.one_of ?? {})) {
    const [first] = allowed;
    if (first === undefined || !corrected.has(key)) continue;
    if (!allowed.some((value) => value === own(args, key))) corrected.set(key, first);
  }
  if (!changed(args, corrected)) return null;
  if (![...corrected.values()].every((value) => isFaithful(value, 0))) return null;
  return Object.fromEntries(corrected);
}

function changed(args: JsonObject, corrected: ReadonlyMap<string, JsonValue>): boolean {
  const keys = Object.keys(args);
  if (keys.length !== corrected.size) return true;
  return keys.some((key) => corrected.get(key) !== args[key]);
}

function isFaithful(value: JsonValue, depth: number): boolean {
  if (typeof value === 'number') {
    return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
  }
  if (value === null || typeof value !== 'object') return true;
  if (depth >= DEPTH_MAX) return false;
  return Object.values(value).every((item: JsonValue) => isFaithful(item, depth + 1));
}
