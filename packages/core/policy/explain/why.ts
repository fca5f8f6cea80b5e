// Why a rule or a policy was not meant: the first part that did not fit, expected and actual.
import {
  type ArgsMatch,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type NameMatch,
  type Rule,
  type Selectors,
} from '@subluminal/contracts';
import { hoursInWords, untilOpenMs } from '../../text/quantities.ts';
import { visible } from '../../text/visible.ts';
import { settled } from '../match/certainty.ts';
import { type Engines, type MatchInput, own, textTests, windowOf } from '../match/match.ts';
import type { Call, Identity } from '../model/call.ts';
import type { RuleSubject } from '../model/subjects.ts';
import { ruleRole } from '../rules/index.ts';

/** What a rule saw when it was evaluated. */
export interface RuleView {
  readonly call: Call;
  /** The risk classes that the call had by then. */
  readonly riskClass: readonly string[];
  readonly nowMs: number;
  readonly engines: Engines;
  readonly disk: MatchInput['disk'];
  readonly command: MatchInput['command'];
  /** Takes secrets out of the values that are shown. */
  readonly redact: (text: string) => string;
}

const TEXT_LENGTH_MAX = 80;
const CONDITION_LENGTH_MAX = 160;
const ITEMS_MAX = 8;
const HOUR_MS = 3_600_000;

/** The part of a rule that a call did not fit. */
export interface Mismatch {
  readonly part: (typeof MATCH_PARTS)[number] | 'when';
  readonly why: string;
  /** With `when`: the parts of the condition that were not as they should be. */
  readonly conditions?: readonly ShownCondition[];
}

interface ShownCondition {
  readonly expression: string;
  readonly gave: boolean | null;
  /** By their names; null where a value is missing. */
  readonly values: { readonly [name: string]: string | null };
}

/** Why an enabled rule did not match. Looks in the order in which matching does. */
export function mismatchOf(rule: Rule, seen: RuleView): Mismatch {
  const { match, when } = rule;
  const { args } = seen.call;
  const parts = {
    subjects: () => subjectMismatch(match.subjects, seen.call.subject),
    server_name: () => nameMismatch('server_name', match.server_name, seen),
    tool_name: () => nameMismatch('tool_name', match.tool_name, seen),
    provider: () => nameMismatch('provider', match.provider, seen),
    model: () => nameMismatch('model', match.model, seen),
    risk_class: () => classMismatch(match.risk_class, seen.riskClass),
    time: () => timeMismatch(match.time ?? {}, seen.nowMs),
    args: () => args && (argsMismatch(match.args ?? {}, seen) ?? judgedMismatch(rule, args, seen)),
  };
  for (const part of MATCH_PARTS) {
    const why = parts[part]();
    if (why !== undefined) return { part, why };
  }
  // All else fits, so it can only have been the condition.
  const conditions = when === undefined ? [] : conditionsOf(when, seen);
  const words = conditionWords(conditions);
  const why = words === '' ? 'when gave false' : `when: ${words}`;
  return { part: 'when', why, conditions };
}

const MATCH_PARTS = [
  'subjects',
  'server_name',
  'tool_name',
  'provider',
  'model',
  'risk_class',
  'time',
  'args',
] as const;

/** The parts of a condition that kept it from being true, and what they saw. */
export function conditionsOf(when: string, seen: RuleView): readonly ShownCondition[] {
  const { engines, call, riskClass } = seen;
  const parts = engines.explainWhen(when, engines.whenContext(call, riskClass, seen.command()));
  return parts.map(({ expression, gave, values }) => ({
    expression: visible(expression, CONDITION_LENGTH_MAX),
    gave,
    values: Object.fromEntries(
      values.map(({ name, value }) => [
        visible(name, TEXT_LENGTH_MAX),
        value === undefined ? null : shown(value, seen),
      ]),
    ),
  }));
}

/** The parts in one line: `X` is false (args.a is 1), `Y` fails (args.b is missing). */
export function conditionWords(conditions: readonly ShownCondition[]): string {
  const words = conditions.map(({ expression, gave, values }) => {
    const given = Object.entries(values).map(([name, value]) => {
      return value === null ? `${name} is missing` : `${name} is ${value}`;
    });
    const result = gave === null ? 'fails' : `is ${gave}`;
    return `\`${expression}\` ${result}${given.length === 0 ? '' : ` (${given.join(', ')})`}`;
  });
  return words.join(', ');
}

function subjectMismatch(
  wanted: readonly RuleSubject[] = ['tool'],
  actual: RuleSubject = 'tool',
): string | undefined {
  return wanted.includes(actual)
    ? undefined
    : `it is for ${listed(wanted)}, and this is a ${actual}`;
}

function nameMismatch(
  field: 'server_name' | 'tool_name' | 'provider' | 'model',
  names: NameMatch | undefined,
  { call, engines }: RuleView,
): string | undefined {
  if (names === undefined) return undefined;
  const { glob = [], regex = [] } = names;
  const isServer = field === 'server_name' || field === 'provider';
  const name = isServer ? call.server_name : call.tool_name;
  if (textTests(names, engines).some((test) => test(name))) return undefined;
  const wanted = listed([...glob, ...regex.map((one) => `/${one}/`)]);
  return `${field} ${quotedText(name)} matches none of ${wanted}`;
}

function classMismatch(
  wanted: readonly string[] | undefined,
  actual: readonly string[],
): string | undefined {
  if (wanted === undefined || wanted.some((name) => actual.includes(name))) return undefined;
  return `risk_class has none of ${listed(wanted)}; the call has ${listed(actual)}`;
}

function timeMismatch(
  { utc_hours, hours, not_hours }: NonNullable<Rule['match']['time']>,
  nowMs: number,
): string | undefined {
  const within = hours && windowOf(hours);
  const outside = not_hours && windowOf(not_hours);
  if (within !== undefined && untilOpenMs(within, nowMs) > 0) {
    return `the time is not ${hoursInWords(within)}`;
  }
  if (outside !== undefined && untilOpenMs(outside, nowMs) === 0) {
    return `the time is ${hoursInWords(outside)}`;
  }
  return hourMismatch(utc_hours, nowMs);
}

function hourMismatch(hours: readonly number[] | undefined, nowMs: number): string | undefined {
  const hour = Math.floor(nowMs / HOUR_MS) % 24;
  if (hours === undefined || hours.includes(hour)) return undefined;
  return `the hour is ${hour} UTC, none of ${listed(hours.map(String))}`;
}

function argsMismatch(match: ArgsMatch, seen: RuleView): string | undefined {
  const { args = {} } = seen.call;
  const argument = (key: string) => argumentWords(key, seen);
  for (const key of match.has_keys ?? []) {
    if (!Object.hasOwn(args, key)) return argument(key);
  }
  for (const [key, wanted] of Object.entries(match.key_equals ?? {})) {
    if (own(args, key) !== wanted) return `${argument(key)}, not ${shown(wanted, seen)}`;
  }
  for (const [key, wanted] of Object.entries(match.key_in ?? {})) {
    if (wanted.some((value) => own(args, key) === value)) continue;
    return `${argument(key)}, none of ${listed(wanted.map((value) => JSON.stringify(value)))}`;
  }
  for (const [key, { min, max }] of Object.entries(match.numeric_range ?? {})) {
    const value = own(args, key);
    const fits = typeof value === 'number' && value >= (min ?? value) && value <= (max ?? value);
    if (!fits) return `${argument(key)}, not in ${min ?? ''}..${max ?? ''}`;
  }
  return undefined;
}

/** The first predicate about paths, about all texts or about commands that did not match. */
function judgedMismatch(rule: Rule, args: JsonObject, seen: RuleView): string | undefined {
  const { engines, command } = seen;
  const role = ruleRole(rule);
  for (const { name, patterns, judge, parts } of engines.argPredicates(rule.match)) {
    if (parts !== undefined && command() === undefined) return 'the call runs no command';
    const judged = judge({ ...seen, args, role });
    if (settled(judged, role) !== 'no') continue;
    if (name === 'command.opaque') {
      return patterns.includes('true')
        ? 'all of the command is understood'
        : 'a part of the command is not understood';
    }
    const unmet = (parts?.({ ...seen, args, role }) ?? []).filter((part) => part.judged !== 'yes');
    const what = unmet.length === 0 || role !== 'allows' ? '' : `: ${listedParts(unmet, seen)}`;
    const isOpaque = parts !== undefined && (command()?.opaque.length ?? 0) > 0;
    const doubt = isOpaque
      ? ', for a part of the command is not understood'
      : ', for it can be read in more than one way';
    const words = `${visible(name, TEXT_LENGTH_MAX)} does not match ${listed(patterns)}`;
    return `${words}${judged === 'maybe' ? doubt : what}`;
  }
  return undefined;
}

/** The parts of a command by which a rule has matched; empty for a rule that asks for none. */
export function commandParts(rule: Rule, seen: RuleView): string {
  const { call, engines } = seen;
  const { args } = call;
  if (rule.match.command === undefined || args === undefined) return '';
  const judged = { ...seen, args, role: ruleRole(rule) };
  const matched = engines.argPredicates(rule.match).flatMap(({ name, parts }) => {
    const found = (parts?.(judged) ?? []).filter((part) => part.judged !== 'no');
    return found.length === 0 ? [] : [`${name} ${listedParts(found, seen)}`];
  });
  return matched.length === 0 ? '' : ` (${matched.join('; ')})`;
}

function listedParts(parts: readonly { readonly text: string }[], { redact }: RuleView): string {
  return listed(parts.map(({ text }) => redact(text)));
}

function argumentWords(key: string, seen: RuleView): string {
  const name = `args.${visible(key, TEXT_LENGTH_MAX)}`;
  const value = own(seen.call.args ?? {}, key);
  return value === undefined ? `${name} is missing` : `${name} is ${shown(value, seen)}`;
}

/** Why the policy is not for this agent; undefined when it is. */
export function selectorMismatch(selectors: Selectors, identity: Identity): string | undefined {
  const { env, agent_id, client, workload = {} } = selectors;
  const { labels = {}, ...lists } = workload;
  const actual = identity.workload ?? {};
  const given = own(actual, 'labels');
  const actualLabels = isJsonObject(given) ? given : {};
  return (
    notListed('env', env, identity.env) ??
    notListed('agent_id', agent_id, identity.agent_id) ??
    notListed('client', client, identity.client) ??
    firstOf(lists, (field, values) => notListed(`workload.${field}`, values, own(actual, field))) ??
    firstOf(labels, (key, value) =>
      notListed(
        `workload.labels.${visible(key, TEXT_LENGTH_MAX)}`,
        [value],
        own(actualLabels, key),
      ),
    )
  );
}

function firstOf<V>(
  fields: { readonly [name: string]: V },
  why: (name: string, value: V) => string | undefined,
): string | undefined {
  for (const [name, value] of Object.entries(fields)) {
    const found = why(name, value);
    if (found !== undefined) return found;
  }
  return undefined;
}

function notListed(
  field: string,
  wanted: readonly string[] | undefined,
  actual: JsonValue | undefined,
): string | undefined {
  if (wanted === undefined) return undefined;
  if (typeof actual === 'string' && wanted.includes(actual)) return undefined;
  const is =
    actual === undefined ? 'is missing' : `is ${visible(JSON.stringify(actual), TEXT_LENGTH_MAX)}`;
  return `${field} ${is}, none of ${listed(wanted)}`;
}

/** A few of many; "none" for an empty list. */
export function listed(items: readonly string[]): string {
  if (items.length === 0) return 'none';
  const some = items.slice(0, ITEMS_MAX).map((item) => visible(item, TEXT_LENGTH_MAX));
  const more = items.length - some.length;
  return some.join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** A value of a call, without secrets; those of conditions have whole numbers as bigints. */
function shown(value: unknown, { redact }: Pick<RuleView, 'redact'>): string {
  const text = JSON.stringify(value, (_, item: unknown) => {
    return typeof item === 'bigint' ? Number(item) : item;
  });
  return visible(redact(text), TEXT_LENGTH_MAX);
}

export function quotedText(text: string): string {
  return `\`${visible(text, TEXT_LENGTH_MAX)}\``;
}
