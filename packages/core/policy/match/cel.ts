// CEL as all conditions use it: no function takes longer than its input is long, and what goes wrong is put into
// words. Loaded only when something has a condition.
import { type ASTNode, Environment, type ParseResult } from '@marcbachmann/cel-js';
import { isJsonObject, type JsonObject, type JsonValue } from '@subluminal/contracts';
import { contains } from '../../patterns/contains.ts';
import { compileRegex } from '../../patterns/regex.ts';
import { childrenOf, PARTS_MAX } from './when-survey.ts';

export type CelValue = null | boolean | number | bigint | string | readonly CelValue[] | CelMap;
export type CelMap = { readonly [key: string]: CelValue };

/** Functions of the library that the agent's data could make slow, and what replaces them. */
const REPLACED = new Map([
  ['contains', 'contains_in_linear_time'],
  ['matches', 'matches_in_linear_time'],
  ['split', 'split_up_to_a_limit'],
]);

const MATCHERS_MAX = 1_024;
const matchers = new Map<string, (text: string) => boolean>();

/** An environment without variables, in which an unknown name is an error. */
export function boundedEnvironment(): Environment {
  return (
    new Environment({ unlistedVariablesAreDyn: false, homogeneousAggregateLiterals: false })
      // The library's own `matches` is a backtracking RegExp, so every use of it is renamed to this.
      .registerFunction(
        'string.matches_in_linear_time(string): bool',
        (text: string, regex: string) => matcherOf(regex)(text),
      )
      .registerFunction('string.contains_in_linear_time(string): bool', contains)
      .registerFunction('string.split_up_to_a_limit(string): list<string>', splitUpTo)
      .registerFunction('string.split_up_to_a_limit(string, int): list<string>', splitUpTo)
  );
}

/** The same condition with safe functions. Renamed in a tree of its own, before it is bound. */
export function boundedCondition(environment: Environment, source: string): ParseResult {
  const parsed = environment.parse(source);
  const rename = (node: ASTNode): void => {
    if (node.op === 'rcall') node.args[0] = REPLACED.get(node.args[0]) ?? node.args[0];
    for (const child of childrenOf(node)) rename(child);
  };
  rename(parsed.ast);
  const checked = parsed.check();
  if (!checked.valid) throw checked.error ?? new Error('it does not compile');
  return parsed;
}

function splitUpTo(text: string, separator: string, limit?: bigint): string[] {
  if (limit === 0n) return [];
  const parts = text.split(separator, PARTS_MAX + 1);
  const wanted = limit === undefined || limit < 0n ? parts.length : Number(limit);
  if (parts.length > PARTS_MAX) throw new Error(`a split into more than ${PARTS_MAX} parts`);
  if (parts.length <= wanted) return parts;
  return [...parts.slice(0, wanted - 1), parts.slice(wanted - 1).join(separator)];
}

function matcherOf(pattern: string): (text: string) => boolean {
  const known = matchers.get(pattern);
  if (known !== undefined) return known;
  const compiled = compileRegex(pattern, 'text');
  if (!compiled.ok) throw new Error(`unsafe pattern: ${compiled.message}`);
  if (matchers.size >= MATCHERS_MAX) matchers.clear();
  matchers.set(pattern, compiled.test);
  return compiled.test;
}

export function celValue(value: JsonValue, counter: { nodes: number }): CelValue {
  counter.nodes += 1;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (value === null || typeof value !== 'object') return value;
  if (isJsonObject(value)) return celMap(value, counter);
  return value.map((item) => celValue(item, counter));
}

/** The values of an object for CEL, counted. Whole numbers become CEL ints. */
export function celMap(value: JsonObject, counter: { nodes: number }): CelMap {
  // `fromEntries` makes `__proto__` an ordinary key.
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, celValue(item, counter)]),
  );
}

/** What the library threw or reported, as a message and the place in the source. */
export function celFault(cause: unknown): { readonly message: string; readonly offset: number } {
  const range = isLocated(cause) ? cause.range : undefined;
  return { message: celSummary(cause), offset: range?.start ?? 0 };
}

function isLocated(cause: unknown): cause is { readonly range?: { readonly start: number } } {
  return typeof cause === 'object' && cause !== null && 'range' in cause;
}

export function celSummary(cause: unknown): string {
  if (cause instanceof RangeError) return 'it nests too deep';
  if (!(cause instanceof Error)) return String(cause);
  const summary = 'summary' in cause && typeof cause.summary === 'string' ? cause.summary : '';
  const words = summary || (cause.message.split('\n')[0] ?? 'it failed');
  // The library writes some of its messages as sentences; ours go on behind a colon.
  return /^[A-Z][a-z]/.test(words) ? words.charAt(0).toLowerCase() + words.slice(1) : words;
}
