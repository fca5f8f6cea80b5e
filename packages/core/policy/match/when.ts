// `when:` conditions in CEL over the call and the identity. Loaded only when a bundle has one.
import { type ASTNode, Environment, type ParseResult } from '@marcbachmann/cel-js';
import { isJsonObject, type JsonObject, type JsonValue } from '@subluminal/contracts';
import { contains } from '../../patterns/contains.ts';
import { compileRegex } from '../../patterns/regex.ts';
import type { Call } from '../model/call.ts';
import { type ConditionPart, unmetParts } from './when-parts.ts';
import { type ConditionSurvey, childrenOf, isTooMuch, PARTS_MAX, surveyed } from './when-survey.ts';

/** What a condition sees; built once per call, and only when some condition is reached. */
export interface WhenContext {
  readonly variables: { readonly [name: string]: unknown };
  readonly nodes: number;
  readonly bytes: number;
  /** Grows while tag rules are evaluated. */
  readonly riskClass: readonly string[];
}
type WhenOutcome = boolean | { readonly failed: string };
export type WhenTest = (context: WhenContext) => WhenOutcome;
export type WhenResult =
  | { readonly ok: true; readonly test: WhenTest; readonly needsArgs: boolean }
  | { readonly ok: false; readonly message: string; readonly offset: number };

type CelValue = null | boolean | number | bigint | string | readonly CelValue[] | CelMap;
type CelMap = { readonly [key: string]: CelValue };

/** Functions of the library that the agent's data could make slow, and what replaces them. */
const REPLACED = new Map([
  ['contains', 'contains_in_linear_time'],
  ['matches', 'matches_in_linear_time'],
  ['split', 'split_up_to_a_limit'],
]);

const MATCHERS_MAX = 1_024;
const matchers = new Map<string, (text: string) => boolean>();

const environment = new Environment({
  unlistedVariablesAreDyn: false,
  homogeneousAggregateLiterals: false,
})
  .registerVariable('call', {
    schema: {
      server_name: 'string',
      tool_name: 'string',
      args_hash: 'string',
      bytes_in: 'int',
      risk_class: 'list<string>',
    },
  })
  .registerVariable('identity', {
    schema: {
      run_id: 'string',
      agent_id: 'string',
      client: 'string',
      env: 'string',
      principal: 'string',
      workload: 'map<string, dyn>',
    },
  })
  .registerVariable('args', 'map<string, dyn>')
  // The library's own `matches` is a backtracking RegExp, so every use of it is renamed to this.
  .registerFunction('string.matches_in_linear_time(string): bool', (text: string, regex: string) =>
    matcherOf(regex)(text),
  )
  .registerFunction('string.contains_in_linear_time(string): bool', contains)
  .registerFunction('string.split_up_to_a_limit(string): list<string>', splitUpTo)
  .registerFunction('string.split_up_to_a_limit(string, int): list<string>', splitUpTo);

/** Compiles one condition; type errors, unknown names and unsafe patterns are found here. */
export function compileWhen(source: string): WhenResult {
  try {
    const parsed = environment.parse(source);
    const survey = surveyed(parsed.ast);
    if (survey.fault !== undefined) return { ok: false, ...survey.fault };
    const checked = parsed.check();
    if (!checked.valid) return failure(checked.error);
    if (checked.type !== 'bool' && checked.type !== 'dyn') {
      return { ok: false, message: `it gives ${checked.type}, not true or false`, offset: 0 };
    }
    return { ok: true, test: testOf(replaced(source), survey), needsArgs: survey.readsArgs };
  } catch (cause) {
    return failure(cause);
  }
}

/** The tree of a condition that has been found valid, for lint. */
export function parseWhen(source: string): ASTNode {
  return environment.parse(source).ast;
}

/** Why a condition was not true: the parts that were wrong, and what they saw. */
export function explainWhen(source: string, context: WhenContext): readonly ConditionPart[] {
  const { ast } = environment.parse(source);
  if (isTooMuch(surveyed(ast), loadOf(context))) return [];
  return unmetParts(source, ast, (expression) => {
    try {
      return { value: replaced(expression)(context.variables) };
    } catch {
      return undefined;
    }
  });
}

function loadOf({ nodes, bytes, riskClass }: WhenContext) {
  return { items: nodes + riskClass.length, bytes };
}

function testOf(run: ParseResult, survey: ConditionSurvey): WhenTest {
  return (context) => {
    if (isTooMuch(survey, loadOf(context))) return { failed: 'the arguments are too large for it' };
    try {
      const result: unknown = run(context.variables);
      return typeof result === 'boolean' ? result : { failed: 'it gave no true or false' };
    } catch (cause) {
      return { failed: summaryOf(cause) };
    }
  };
}

/** The same condition with safe functions. Renamed in a tree of its own, before it is bound. */
function replaced(source: string): ParseResult {
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

/** Makes the variables for one call. Whole numbers become CEL ints, as people expect. */
export function whenContext(call: Call, riskClass: readonly string[]): WhenContext {
  const counter = { nodes: 0 };
  const { identity } = call;
  return {
    variables: {
      args: celMap(call.args ?? {}, counter),
      call: {
        server_name: call.server_name,
        tool_name: call.tool_name,
        args_hash: call.args_hash,
        bytes_in: BigInt(call.bytes_in),
        risk_class: riskClass,
      },
      identity: {
        run_id: identity.run_id,
        agent_id: identity.agent_id,
        client: identity.client,
        env: identity.env,
        principal: identity.principal ?? '',
        workload: celMap(identity.workload ?? {}, counter),
      },
    },
    nodes: counter.nodes,
    bytes: Math.max(call.bytes_in, counter.nodes),
    riskClass,
  };
}

function celValue(value: JsonValue, counter: { nodes: number }): CelValue {
  counter.nodes += 1;
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value;
  if (value === null || typeof value !== 'object') return value;
  if (isJsonObject(value)) return celMap(value, counter);
  return value.map((item) => celValue(item, counter));
}

function celMap(value: JsonObject, counter: { nodes: number }): CelMap {
  // `fromEntries` makes `__proto__` an ordinary key.
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, celValue(item, counter)]),
  );
}

function failure(cause: unknown): WhenResult {
  const range = isLocated(cause) ? cause.range : undefined;
  return { ok: false, message: summaryOf(cause), offset: range?.start ?? 0 };
}

function isLocated(cause: unknown): cause is { readonly range?: { readonly start: number } } {
  return typeof cause === 'object' && cause !== null && 'range' in cause;
}

function summaryOf(cause: unknown): string {
  if (cause instanceof RangeError) return 'it nests too deep';
  if (!(cause instanceof Error)) return String(cause);
  const summary = 'summary' in cause && typeof cause.summary === 'string' ? cause.summary : '';
  const words = summary || (cause.message.split('\n')[0] ?? 'it failed');
  // The library writes some of its messages as sentences; ours go on behind a colon.
  return /^[A-Z][a-z]/.test(words) ? words.charAt(0).toLowerCase() + words.slice(1) : words;
}
