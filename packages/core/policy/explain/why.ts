// Why a rule or a policy was not meant: the first part that did not fit, expected and actual.
import type {
  ArgsMatch,
  JsonObject,
  JsonValue,
  NameMatch,
  Rule,
  Selectors,
} from '@subluminal/contracts';
import { visible } from '../../text/visible.ts';
import { settled } from '../match/certainty.ts';
import {
  type ArgPredicate,
  argPredicates,
  type Engines,
  isJsonObject,
  own,
  textTests,
} from '../match/match.ts';
import type { Call, Identity } from '../model/call.ts';

/** What a rule saw when it was evaluated. */
export interface RuleView {
  readonly call: Call;
  /** The risk classes that the call had by then. */
  readonly riskClass: readonly string[];
  readonly nowMs: number;
  readonly engines: Engines;
}

const TEXT_LENGTH_MAX = 80;
const ITEMS_MAX = 8;
const HOUR_MS = 3_600_000;

/** Why an enabled rule did not match. Looks in the order in which matching does. */
export function mismatchOf({ match, kind }: Rule, seen: RuleView): string {
  const { args } = seen.call;
  return (
    nameMismatch('server_name', match.server_name, seen) ??
    nameMismatch('tool_name', match.tool_name, seen) ??
    classMismatch(match.risk_class, seen.riskClass) ??
    hourMismatch(match.time?.utc_hours, seen.nowMs) ??
    (args === undefined ? undefined : argsMismatch(match.args ?? {}, args)) ??
    (args === undefined
      ? undefined
      : judgedMismatch(argPredicates(match, seen.engines), { args, kind })) ??
    // All else fits, so it can only have been the condition.
    'when gave false'
  );
}

function nameMismatch(
  field: 'server_name' | 'tool_name',
  names: NameMatch | undefined,
  { call, engines }: RuleView,
): string | undefined {
  if (names === undefined) return undefined;
  const { glob = [], regex = [] } = names;
  if (textTests(names, engines).some((test) => test(call[field]))) return undefined;
  const wanted = listed([...glob, ...regex.map((one) => `/${one}/`)]);
  return `${field} ${quotedText(call[field])} matches none of ${wanted}`;
}

function classMismatch(
  wanted: readonly string[] | undefined,
  actual: readonly string[],
): string | undefined {
  if (wanted === undefined || wanted.some((name) => actual.includes(name))) return undefined;
  return `risk_class has none of ${listed(wanted)}; the call has ${listed(actual)}`;
}

function hourMismatch(hours: readonly number[] | undefined, nowMs: number): string | undefined {
  const hour = Math.floor(nowMs / HOUR_MS) % 24;
  if (hours === undefined || hours.includes(hour)) return undefined;
  return `the hour is ${hour} UTC, none of ${listed(hours.map(String))}`;
}

function argsMismatch(match: ArgsMatch, args: JsonObject): string | undefined {
  for (const key of match.has_keys ?? []) {
    if (!Object.hasOwn(args, key)) return argument(args, key);
  }
  for (const [key, wanted] of Object.entries(match.key_equals ?? {})) {
    if (own(args, key) !== wanted) return `${argument(args, key)}, not ${shown(wanted)}`;
  }
  for (const [key, wanted] of Object.entries(match.key_in ?? {})) {
    if (wanted.some((value) => own(args, key) === value)) continue;
    return `${argument(args, key)}, none of ${listed(wanted.map((value) => JSON.stringify(value)))}`;
  }
  for (const [key, { min, max }] of Object.entries(match.numeric_range ?? {})) {
    const value = own(args, key);
    const fits = typeof value === 'number' && value >= (min ?? value) && value <= (max ?? value);
    if (!fits) return `${argument(args, key)}, not in ${min ?? ''}..${max ?? ''}`;
  }
  return undefined;
}

/** The first predicate about paths, or about all texts, that did not match. */
function judgedMismatch(
  predicates: readonly ArgPredicate[],
  { args, kind }: { readonly args: JsonObject; readonly kind: Rule['kind'] },
): string | undefined {
  for (const { name, patterns, judge } of predicates) {
    const judged = judge(args);
    if (settled(judged, kind) !== 'no') continue;
    const doubt = judged === 'maybe' ? ', for it can be read in more than one way' : '';
    return `${visible(name, TEXT_LENGTH_MAX)} does not match ${listed(patterns)}${doubt}`;
  }
  return undefined;
}

function argument(args: JsonObject, key: string): string {
  const name = `args.${visible(key, TEXT_LENGTH_MAX)}`;
  const value = own(args, key);
  return value === undefined ? `${name} is missing` : `${name} is ${shown(value)}`;
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
  const is = actual === undefined ? 'is missing' : `is ${shown(actual)}`;
  return `${field} ${is}, none of ${listed(wanted)}`;
}

/** A few of many; "none" for an empty list. */
export function listed(items: readonly string[]): string {
  if (items.length === 0) return 'none';
  const some = items.slice(0, ITEMS_MAX).map((item) => visible(item, TEXT_LENGTH_MAX));
  const more = items.length - some.length;
  return some.join(', ') + (more > 0 ? ` and ${more} more` : '');
}

function shown(value: JsonValue): string {
  return visible(JSON.stringify(value), TEXT_LENGTH_MAX);
}

export function quotedText(text: string): string {
  return `\`${visible(text, TEXT_LENGTH_MAX)}\``;
}
