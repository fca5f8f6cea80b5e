// `when:` conditions in CEL over the call and the identity. Loaded only when a bundle has one.
import { type ASTNode, Environment, type ParseResult } from '@marcbachmann/cel-js';
import type { JsonObject, JsonValue } from '@subluminal/contracts';
import type { Call } from '../types.ts';
import { isJsonObject } from './match.ts';
import { compileRegex } from './regex.ts';

/** What a condition sees; built once per call, and only when some condition is reached. */
interface WhenContext {
  readonly variables: { readonly [name: string]: unknown };
  readonly nodes: number;
  readonly bytes: number;
}
type WhenOutcome = boolean | { readonly failed: string };
type WhenTest = (context: WhenContext) => WhenOutcome;
type WhenResult =
  | { readonly ok: true; readonly test: WhenTest; readonly needsArgs: boolean }
  | { readonly ok: false; readonly message: string; readonly offset: number };

type CelValue = null | boolean | number | bigint | string | readonly CelValue[] | CelMap;
type CelMap = { readonly [key: string]: CelValue };

const LOOP_DEPTH_MAX = 3;
/** Bounds loops × data: an agent chooses the arguments, and must not choose how long we think. */
const STEPS_MAX = 50_000_000;
const LOOPS = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);
/** A split makes many items of one text, so it is a size of its own in the bound on loops. */
const PARTS_MAX = 1_000;
/** Functions of the library that the agent's data could make slow, and what replaces them. */
const REPLACED = new Map([
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
  .registerFunction('string.split_up_to_a_limit(string): list<string>', splitUpTo)
  .registerFunction('string.split_up_to_a_limit(string, int): list<string>', splitUpTo);

/** Compiles one condition; type errors, unknown names and unsafe patterns are found here. */
function compileWhen(source: string): WhenResult {
  try {
    const parsed = environment.parse(source);
    const survey = surveyed(parsed.ast);
    if (survey.problem !== undefined) return { ok: false, ...survey.problem };
    const checked = parsed.check();
    if (!checked.valid) return failure(checked.error);
    if (checked.type !== 'bool' && checked.type !== 'dyn') {
      return { ok: false, message: `it gives ${checked.type}, not true or false`, offset: 0 };
    }
    const run = survey.replaces ? replaced(source) : parsed;
    return { ok: true, test: testOf(run, survey), needsArgs: survey.readsArgs };
  } catch (cause) {
    return failure(cause);
  }
}

function testOf(run: ParseResult, { loopDepth, splits }: Survey): WhenTest {
  return (context) => {
    const items = context.nodes + splits * Math.min(PARTS_MAX, context.bytes + 1);
    if (loopDepth > 0 && items ** loopDepth * context.bytes > STEPS_MAX) {
      return { failed: 'the arguments are too large for its loops' };
    }
    try {
      const result: unknown = run(context.variables);
      return typeof result === 'boolean' ? result : { failed: 'it gave no true or false' };
    } catch (cause) {
      return { failed: summaryOf(cause) };
    }
  };
}

interface Survey {
  readonly loopDepth: number;
  readonly splits: number;
  readonly replaces: boolean;
  readonly readsArgs: boolean;
  readonly problem?: { readonly message: string; readonly offset: number };
}

/** Walks the tree once: how deep loops nest, which patterns it matches, whether it needs `args`. */
function surveyed(root: ASTNode): Survey {
  let loopDepth = 0;
  let splits = 0;
  let replaces = false;
  let readsArgs = false;
  let problem: Survey['problem'];
  const visit = (node: ASTNode, depth: number): void => {
    if (node.op === 'id' && node.args === 'args') readsArgs = true;
    const called = node.op === 'rcall' ? node.args[0] : undefined;
    const inside = called !== undefined && LOOPS.has(called) ? depth + 1 : depth;
    loopDepth = Math.max(loopDepth, inside);
    if (called !== undefined && REPLACED.has(called)) replaces = true;
    if (called === 'matches') problem ??= patternProblem(node);
    if (called === 'split') splits += 1;
    for (const child of childrenOf(node)) visit(child, inside);
  };
  visit(root, 0);
  if (loopDepth > LOOP_DEPTH_MAX) {
    problem ??= { message: `loops nest deeper than ${LOOP_DEPTH_MAX}`, offset: root.start };
  }
  return { loopDepth, splits, replaces, readsArgs, ...(problem && { problem }) };
}

function patternProblem(node: ASTNode): Survey['problem'] {
  if (node.op !== 'rcall') return undefined;
  const pattern = node.args[2][0];
  if (pattern?.op !== 'value' || typeof pattern.args !== 'string') {
    return { message: '`matches` needs its pattern written out as a string', offset: node.start };
  }
  const compiled = compileRegex(pattern.args);
  return compiled.ok ? undefined : { message: compiled.message, offset: pattern.start };
}

function childrenOf(node: ASTNode): readonly ASTNode[] {
  const found: ASTNode[] = [];
  const collect = (value: unknown): void => {
    if (isNode(value)) found.push(value);
    else if (Array.isArray(value)) for (const item of value) collect(item);
  };
  collect(node.args);
  return found;
}

function isNode(value: unknown): value is ASTNode {
  return typeof value === 'object' && value !== null && 'op' in value && 'args' in value;
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
  const compiled = compileRegex(pattern);
  if (!compiled.ok) throw new Error(`unsafe pattern: ${compiled.message}`);
  if (matchers.size >= MATCHERS_MAX) matchers.clear();
  matchers.set(pattern, compiled.test);
  return compiled.test;
}

/** Makes the variables for one call. Whole numbers become CEL ints, as people expect. */
function whenContext(call: Call, riskClass: readonly string[]): WhenContext {
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
  return summary || (cause.message.split('\n')[0] ?? 'it failed');
}

export type { WhenContext, WhenResult, WhenTest };
export { compileWhen, whenContext };
