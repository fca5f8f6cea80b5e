// A rule's match, compiled: what depends on names alone, and what depends on the call.
import {
  type ArgsMatch,
  type Bundle,
  type HoursFields,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type Match,
  type NameMatch,
  type Rule,
  type Selectors,
} from '@subluminal/contracts';
import { compileGlob, type NameTest } from '../../patterns/glob.ts';
import type { RegexResult } from '../../patterns/regex.ts';
import { regexSource } from '../../patterns/regex-size.ts';
import type { ProjectPaths } from '../../ports.ts';
import type { CommandOutline } from '../../shell/index.ts';
import { type Hours, readHours, untilOpenMs } from '../../text/quantities.ts';
import type { Call, Identity } from '../model/call.ts';
import type { RuleRole } from '../model/rule-role.ts';
import type { RuleSubject } from '../model/subjects.ts';
import type { ArgPredicate, JudgedCall } from './arg-predicates.ts';
import { allOf, type Certainty, settled } from './certainty.ts';
import { namePatterns } from './names.ts';
import type { DiskView } from './path-args.ts';
import { PATH_FIELDS } from './path-patterns.ts';
import type { WhenContext, WhenResult, WhenTest } from './when.ts';
import type { ConditionPart } from './when-parts.ts';

/** Everything a rule may look at, besides the names. */
export interface MatchInput {
  readonly call: Call;
  /** The risk classes of the call; grows while tag rules are evaluated. */
  readonly riskSet: Set<string>;
  readonly nowMs: number;
  /** Built on first use: most calls meet no `when:`. */
  when(): WhenContext;
  /** Built on first use as well, and shared: all rules see the disk at the same time. */
  disk(): DiskView;
  /** The shell commands of the call, read on first use. */
  command(): CommandOutline | undefined;
}

/** A call as its rules see it. Most calls meet no rule that asks for more than the names. */
export class LazyInput implements MatchInput {
  readonly call: Call;
  readonly nowMs: number;
  readonly riskSet: Set<string>;
  private readonly riskClass: readonly string[];
  private readonly engines: Engines;
  private seenDisk: DiskView | undefined;
  private seenWhen: WhenContext | undefined;
  private outline: { readonly found: CommandOutline | undefined } | undefined;

  /** `riskClass` grows with the set. */
  constructor(
    engines: Engines,
    given: Pick<MatchInput, 'call' | 'nowMs'> & { readonly riskClass: readonly string[] },
  ) {
    this.call = given.call;
    this.nowMs = given.nowMs;
    this.riskSet = new Set(given.riskClass);
    this.riskClass = given.riskClass;
    this.engines = engines;
    this.seenDisk = undefined;
    this.seenWhen = undefined;
    this.outline = undefined;
  }

  when(): WhenContext {
    const { engines, call, riskClass } = this;
    this.seenWhen ??= engines.whenContext(call, riskClass, this.command());
    return this.seenWhen;
  }

  disk(): DiskView {
    this.seenDisk ??= this.engines.diskView();
    return this.seenDisk;
  }

  command(): CommandOutline | undefined {
    this.outline ??= { found: this.engines.commandOf(this.call) };
    return this.outline.found;
  }
}

export type MatchResult = 'yes' | 'no' | 'uninspected' | { readonly failed: string };

export interface CompiledMatch {
  /** The outcome depends on these two names only, so it is remembered per pair. */
  readonly names: (serverName: string, toolName: string) => boolean;
  readonly subjects: ReadonlySet<RuleSubject>;
  /** Absent when the names say it all. */
  readonly call?: (input: MatchInput) => MatchResult;
}

const HOUR_MS = 3_600_000;
const ONLY_TOOLS: readonly RuleSubject[] = ['tool'];

/** Compiles a match that parsing has already found valid; what is invalid throws. */
export function compileMatch(rule: Rule, role: RuleRole, engines: Engines): CompiledMatch {
  const { match } = rule;
  const wanted = namePatterns(match);
  const server = nameTest(wanted.server, engines);
  const tool = nameTest(wanted.tool, engines);
  const names = (serverName: string, toolName: string) => server(serverName) && tool(toolName);
  const call = callTest(rule, role, engines);
  const subjects = new Set(match.subjects ?? ONLY_TOOLS);
  return call === undefined ? { names, subjects } : { names, subjects, call };
}

function nameTest(names: NameMatch | undefined, engines: Engines): NameTest {
  if (names === undefined) return () => true;
  const tests = textTests(names, engines);
  return (name) => tests.some((test) => test(name));
}

/** The globs and regexes of a match, each a test. */
export function textTests(
  { glob = [], regex = [], ignore_case = false }: NameMatch,
  engines: Pick<Engines, 'regex'>,
): readonly NameTest[] {
  return [
    ...glob.map((text) => valid(compileGlob(text, { ignoresCase: ignore_case }), text).test),
    ...regex.map((text) => valid(engines.regex(regexSource(text, ignore_case)), text).test),
  ];
}

function callTest(rule: Rule, role: RuleRole, engines: Engines): CompiledMatch['call'] {
  const { match } = rule;
  const classes = match.risk_class;
  const isTime = match.time === undefined ? undefined : timeTest(match.time);
  const predicates = match.args === undefined ? [] : argsPredicates(match.args);
  const judge = argsJudge(match, engines);
  const when = rule.when === undefined ? undefined : valid(engines.when(rule.when), rule.when);
  const needsArgs = predicates.length > 0 || judge !== undefined || when?.needsArgs === true;
  if (!classes && !isTime && !needsArgs && !when) return undefined;
  return (input) => {
    if (classes && !classes.some((name) => input.riskSet.has(name))) return 'no';
    if (isTime?.(input.nowMs) === false) return 'no';
    if (needsArgs) {
      // Looked at only where it matters: a call parses its arguments on first use.
      const { args } = input.call;
      if (args === undefined) return 'uninspected';
      if (!predicates.every((fits) => fits(args))) return 'no';
      const judged =
        judge === undefined ? 'yes' : settled(judge(judgedCall(input, args, role)), role);
      if (judged === 'no') return 'no';
      if (judged === 'in_doubt') return { failed: 'its paths can be read in more than one way' };
    }
    return when === undefined ? 'yes' : conditionResult(when.test, input);
  };
}

function judgedCall(input: MatchInput, args: JsonObject, role: RuleRole): JudgedCall {
  const disk = () => input.disk();
  const command = () => input.command();
  return { call: input.call, args, role, disk, command };
}

function conditionResult(test: WhenTest, input: MatchInput): MatchResult {
  const result = test(input.when());
  if (typeof result !== 'boolean') return result;
  return result ? 'yes' : 'no';
}

function timeTest({
  utc_hours,
  hours,
  not_hours,
}: NonNullable<Match['time']>): (nowMs: number) => boolean {
  const within = hours && windowOf(hours);
  const outside = not_hours && windowOf(not_hours);
  return (nowMs) =>
    (utc_hours === undefined || utc_hours.includes(utcHour(nowMs))) &&
    (within === undefined || untilOpenMs(within, nowMs) === 0) &&
    (outside === undefined || untilOpenMs(outside, nowMs) > 0);
}

/** A window that the reader has found valid. */
export function windowOf(fields: HoursFields): Hours {
  const hours = readHours(fields);
  if (typeof hours === 'string') throw new Error(`an invalid window of hours: ${hours}`);
  return hours;
}

function utcHour(nowMs: number): number {
  return Math.floor(nowMs / HOUR_MS) % 24;
}

function argsJudge(match: Match, engines: Engines): ((seen: JudgedCall) => Certainty) | undefined {
  const predicates = engines.argPredicates(match);
  if (predicates.length === 0) return undefined;
  return (seen) => allOf(predicates, ({ judge }) => judge(seen));
}

type ArgsTest = (args: JsonObject) => boolean;

function argsPredicates(match: ArgsMatch): ArgsTest[] {
  const tests: ArgsTest[] = [];
  for (const key of match.has_keys ?? []) tests.push((args) => Object.hasOwn(args, key));
  for (const [key, wanted] of Object.entries(match.key_equals ?? {})) {
    tests.push((args) => own(args, key) === wanted);
  }
  for (const [key, wanted] of Object.entries(match.key_in ?? {})) {
    tests.push((args) => wanted.some((value) => own(args, key) === value));
  }
  for (const [key, range] of Object.entries(match.numeric_range ?? {})) {
    const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = range;
    tests.push((args) => {
      const value = own(args, key);
      return typeof value === 'number' && value >= min && value <= max;
    });
  }
  return tests;
}

/** Only what the agent sent: `toString` is no argument. */
export function own(args: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(args, key) ? args[key] : undefined;
}

function valid<R extends { readonly ok: boolean }>(result: R, source: string): R & { ok: true } {
  if (isValid(result)) return result;
  throw new Error(`an invalid pattern reached the compiler: ${source.slice(0, 100)}`);
}

function isValid<R extends { readonly ok: boolean }>(result: R): result is R & { ok: true } {
  return result.ok;
}

// The parts of compiling that are heavy to load. A bundle that has no regex and no `when:` never
// loads them, so a shim that only matches names starts without them.

export interface Engines {
  /** Compiles an expression over names. */
  readonly regex: (source: string) => RegexResult;
  readonly when: (source: string) => WhenResult;
  readonly whenContext: (
    call: Call,
    riskClass: readonly string[],
    command: CommandOutline | undefined,
  ) => WhenContext;
  readonly explainWhen: (source: string, context: WhenContext) => readonly ConditionPart[];
  readonly argPredicates: (match: Match) => readonly ArgPredicate[];
  /** Looks at the disk as it is now. */
  readonly diskView: () => DiskView;
  /** The shell commands in the arguments of a call. */
  readonly commandOf: (call: Call) => CommandOutline | undefined;
}

const COSTLY_MAX = 1_000;

/** Loads what the rules need, and nothing else. */
export async function enginesFor(rules: Bundle['rules'], paths?: ProjectPaths): Promise<Engines> {
  const needsWhen = rules.some((rule) => rule.when !== undefined);
  const needsRegex = rules.some(({ match: { server_name, tool_name, provider, model, any_arg } }) =>
    [server_name, tool_name, provider, model, any_arg].some((texts) => texts?.regex !== undefined),
  );
  const { compileRegex } = needsRegex
    ? await import('../../patterns/regex.ts')
    : { compileRegex: unloaded };
  const regex = once((source: string) => compileRegex(source, 'name'));
  const { argEngine } = rules.some(({ match }) => hasArgPredicates(match))
    ? await import('./arg-predicates.ts')
    : { argEngine: () => ({ argPredicates: () => [], diskView: unloaded }) };
  const { commandOf, ...ofCommands } = rules.some(({ match }) => readsCommands(match))
    ? await import('./command-predicates.ts')
    : NO_COMMANDS;
  const base = { regex, commandOf, ...argEngine({ regex, paths, ...ofCommands }) };
  if (!needsWhen) {
    return { ...base, when: unloaded, whenContext: unloaded, explainWhen: unloaded };
  }
  const { compileWhen, whenContext, explainWhen } = await import('./when.ts');
  return { ...base, when: once(compileWhen), whenContext, explainWhen };
}

/** A command may name a file from another folder than the one that it starts in. */
function readsCommands({ any_arg, command }: Match): boolean {
  const isAboutFiles = any_arg?.path_matches !== undefined || any_arg?.path_under !== undefined;
  return command !== undefined || isAboutFiles;
}

const NO_COMMANDS = {
  commandOf: () => undefined,
  commandPredicates: unloaded,
  commandFiles: () => () => 'no' as const,
};

function hasArgPredicates({ args = {}, any_arg, command }: Match): boolean {
  if (any_arg !== undefined || command !== undefined) return true;
  return PATH_FIELDS.some((field) => args[field] !== undefined);
}

/** Compiles each source once, and not too many of them: one may take milliseconds. */
function once<R>(compile: (source: string) => R): (source: string) => R {
  const known = new Map<string, R>();
  let costly = 0;
  return (source) => {
    const compiled = known.get(source);
    if (compiled !== undefined) return compiled;
    costly += 1 + (source.match(/\bmatches\b/g)?.length ?? 0);
    if (costly > COSTLY_MAX) throw new Error(`more than ${COSTLY_MAX} different patterns`);
    const fresh = compile(source);
    known.set(source, fresh);
    return fresh;
  };
}

/** Makes a value when it is asked for, and keeps it. */
export function onFirstUse<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

function unloaded(): never {
  throw new Error('an engine was used that the rules did not ask for');
}

/** Omitted selectors match all; lists are alternatives; all given selectors must match. */
export function selects(selectors: Selectors, identity: Identity): boolean {
  const { env, agent_id, client, workload } = selectors;
  if (env && !env.includes(identity.env)) return false;
  if (agent_id && !agent_id.includes(identity.agent_id)) return false;
  if (client && !client.includes(identity.client)) return false;
  return workload === undefined || selectsWorkload(workload, identity);
}

function selectsWorkload(wanted: NonNullable<Selectors['workload']>, identity: Identity): boolean {
  const actual = identity.workload ?? {};
  const { namespace, service_account, repo, branch, labels } = wanted;
  const lists = { namespace, service_account, repo, branch };
  for (const [field, values] of Object.entries(lists)) {
    if (values === undefined) continue;
    const value = own(actual, field);
    if (typeof value !== 'string' || !values.includes(value)) return false;
  }
  const given = own(actual, 'labels');
  const actualLabels = isJsonObject(given) ? given : {};
  return Object.entries(labels ?? {}).every(([key, value]) => own(actualLabels, key) === value);
}
