// How a kind of rule decides. Each kind is a folder of `policy/rules` and one line in each of its two
// registries: `index.ts` for deciding, `reviews.ts` for lint, diff and explanations. The shape of its
// effect belongs to contract B, because the schemas need it without the core: it is one line of `RULE`
// in `contracts/bundle.ts`, and the registry's type holds the two together.
import { isObject, type Rule } from '@subluminal/contracts';
import type { Finding, Path } from '../../source/problem.ts';
import type { CallMoment } from '../counters/scope.ts';
import type { CounterTable, TableLimits } from '../counters/table.ts';
import type { Call } from '../model/call.ts';
import type { RuleRole } from '../model/rule-role.ts';
import type { Tally, Trip } from '../model/trip.ts';

/** The tables in which a rule counts, by their names. */
export type RuleSlot = { readonly [table: string]: CounterTable<unknown> };

/** The outcome of one rule for one call. */
export type RuleResult<S extends RuleSlot = RuleSlot> =
  | { readonly kind: 'tag'; readonly classes: readonly string[] }
  | { readonly kind: 'allow'; readonly reasonCode: string; readonly summary: string }
  | { readonly kind: 'stop'; readonly trip: Trip }
  | { readonly kind: 'ask'; readonly trip: Trip }
  | { readonly kind: 'approved' }
  | {
      readonly kind: 'count';
      readonly slot: S;
      readonly tally: Tally;
      readonly trip: Trip | undefined;
    };

/** A limit that was reached, as events report it. */
export interface TripReport {
  readonly scope: 'run' | 'tool' | 'server_tool';
  readonly cause: 'errors' | 'repeats';
  readonly windowMs: number;
}

/** How calls of a counter are given out in advance, so that another process can count them by itself. */
export interface Leasing<R extends Rule = Rule, S extends RuleSlot = RuleSlot> {
  /** Whether each call takes the same from the counter, so that a number of calls says it all. */
  allows(rule: R): boolean;
  /** The key under which it counts a call. */
  key(rule: R, call: Call): string;
  /** How many calls still pass. */
  left(rule: R, key: string, slot: S): number;
  /** Takes calls out of the counter; a negative number puts calls in. */
  take(rule: R, taken: TakenCalls, slot: S): S;
  /** Leaves no call in the counter. */
  close(rule: R, taken: Omit<TakenCalls, 'calls'>, slot: S): S;
}

export interface TakenCalls {
  readonly key: string;
  readonly calls: number;
  readonly nowMs: number;
}

/** Methods, not function fields: a kind is called with rules and slots of its own kind only. */
export interface RuleKind<R extends Rule = Rule, S extends RuleSlot = RuleSlot> {
  readonly role: RuleRole;
  /** With the role `counts`: the field of `effect.<kind>` with the action at the limit. */
  readonly actionField?: string;
  /** What its fields may look like, in YAML flow style, for the fix that an error proposes. */
  readonly examples: { readonly [field: string]: string };
  /** Finds what the shape of the effect cannot rule out. */
  check?(rule: R, path: Path): readonly Finding[];
  /** Writes out the defaults of the effect. */
  normalize(rule: R): R;
  /** The limits of the tables in which a rule counts; absent for a kind without state. */
  tables?(rule: R): { readonly [T in keyof S]: TableLimits };
  /** Decides one call. Runs for every matching call, so it must be quick. */
  decide(rule: R, moment: CallMoment, slot: S): RuleResult<S>;
  /** Counts that a call it has looked at passes. */
  passed?(rule: R, moment: CallMoment, slot: S): S;
  /** Counts that a forwarded call it has looked at failed. */
  failed?(rule: R, moment: CallMoment, slot: S): S;
  /** Counts what a turn has cost that it reserved `call.cost_micros` for; nothing for one that did not run. */
  settled?(rule: R, ended: { readonly moment: CallMoment; readonly micros: number }, slot: S): S;
  /** Whether calls of several servers share a counter: one process cannot know them all. */
  countsAcrossServers?(rule: R): boolean;
  /** Absent for a kind whose shared counters only one process can keep. */
  readonly leasing?: Leasing<R, S>;
  /** The risk classes that a rule adds. */
  classes?(rule: R): readonly string[];
  /** What an event reports when the rule stops a call; absent for kinds without such an event. */
  report?(rule: R, reasonCode: string, tally: Tally): TripReport;
}

/** The part of an effect that bears the name of its kind, such as `effect.budget`. */
export function effectSection({ kind, effect }: Rule): { readonly [field: string]: unknown } {
  const section: unknown = Object.entries(effect).find(([name]) => name === kind)?.[1];
  return isObject(section) ? section : {};
}

/** The effect with its reason code written out. */
export function withReason<E extends { readonly reason_code?: string }>(
  effect: E,
  reasonCode: string,
): E & { readonly reason_code: string } {
  return { ...effect, reason_code: effect.reason_code ?? reasonCode };
}
