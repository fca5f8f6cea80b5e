// Which way a change of one field goes. Each function knows one way in which a field can matter.
import type { JsonValue } from '@subluminal/contracts';
import { own } from '../match/match.ts';
import { combineEffects, type Effect, type Reach, reversed } from './change.ts';
import {
  exactly,
  isSame,
  listOf,
  objectOf,
  type Relate,
  type Relation,
  textsIn,
  type Value,
} from './relation.ts';

export interface FieldChange {
  readonly before: Value;
  readonly after: Value;
  /** What it does when the rule, or the policy's word on failures, takes hold of more calls. */
  readonly reach: Reach;
  /** The whole rule or document around the field, old and new. */
  readonly around: { readonly before: JsonValue; readonly after: JsonValue };
}
export type ChangeDirection = (change: FieldChange) => Effect;

/** From the mildest to the strictest. */
export const ACTIONS = ['ALLOW', 'THROTTLE', 'REJECT_WITH_HINT', 'BLOCK', 'TERMINATE_RUN'];
/** Counters: the finer the scope, the more counters there are to use up. */
export const COUNTER_SCOPES = ['server_tool', 'tool', 'run'];
/** Repeats and duplicates: `run` tells servers apart as `server_tool` does, `tool` does not. */
export const CALL_SCOPES = [['server_tool', 'run'], ['tool']];

export const alters: ChangeDirection = () => 'alters';
export const none: ChangeDirection = () => 'none';

/** A value that gets stricter along a list; values in one group are equally strict. */
export function stricterAlong(order: readonly (string | readonly string[])[]): ChangeDirection {
  const rank = (value: Value) =>
    order.findIndex((group) =>
      typeof group === 'string' ? group === value : group.some((name) => name === value),
    );
  return ({ before, after }) => upwards(rank(before), rank(after), 'tightens');
}

/** A number that lets more pass as it grows. Without it there is no limit. */
export const moreLoosens: ChangeDirection = ({ before, after }) =>
  upwards(numberOr(before, Infinity), numberOr(after, Infinity), 'loosens');

/** A number that stops more as it grows. Without it nothing is stopped. */
export const moreTightens: ChangeDirection = ({ before, after }) =>
  upwards(numberOr(before, 0), numberOr(after, 0), 'tightens');

/** A limit: the rule stops more calls or fewer, and with them what other rules would have done. */
export function trips(direction: ChangeDirection): ChangeDirection {
  return (change) => along(direction(change), change.reach, change.reach.applying);
}

/** What is said where failures stop a call, or stop doing so. */
export function stopsFailures(direction: ChangeDirection): ChangeDirection {
  return (change) => along(direction(change), change.reach, change.reach.all);
}

/** A switch that lets more pass when it is on. */
export const onLoosens: ChangeDirection = ({ before, after }) =>
  upwards(Number(before === true), Number(after === true), 'loosens');

/** A field that matters only while another one is set, before or after. */
export function onlyWith(path: string, direction: ChangeDirection): ChangeDirection {
  return (change) => {
    const { before, after } = change.around;
    const set = valueAt(before, path) !== undefined || valueAt(after, path) !== undefined;
    return set ? direction(change) : 'none';
  };
}

/** Whether a rule is there and in force. */
export const presence: ChangeDirection = ({ before, after, reach }) =>
  along(upwards(Number(before === true), Number(after === true), 'tightens'), reach, reach.all);

/** Whom the policy is for: those it leaves out are not governed at all. */
export function selecting(relate: Relate): ChangeDirection {
  return ({ before, after }) => ifNarrowed(relate(before, after), 'loosens');
}

/** Which calls a rule is looked at for. */
export function matching(relate: Relate): ChangeDirection {
  return ({ before, after, reach }) => along(widening(relate(before, after)), reach, reach.all);
}

/** Which arguments it asks for: where the arguments can't be seen, a rule that asks fails. */
export function matchingArgs(relate: Relate): ChangeDirection {
  return ({ before, after, reach, around }) => {
    const both = [around.before, around.after];
    const hasWhen = both.some((rule) => valueAt(rule, 'when') !== undefined);
    const [old, current] = both.map((rule) => asksForArgs(valueAt(rule, 'match.args')));
    return along(widening(relate(before, after)), reach, () =>
      combineEffects([
        // A condition is looked at only where the arguments fit.
        hasWhen ? reach.all() : reach.applying(),
        old === current ? 'none' : reach.evaluated(),
        // Without arguments to see it failed, where it might not even apply.
        old === current || !hasWhen ? 'none' : reversed(reach.failing()),
      ]),
    );
  };
}

function asksForArgs(match: Value): boolean {
  return Object.values(objectOf(match)).some(
    (part) => listOf(part).length > 0 || Object.keys(objectOf(part)).length > 0,
  );
}

/** A condition can be seen to come and to go; how two of them relate can't be told. */
export const condition: ChangeDirection = ({ before, after, reach }) =>
  along(widening(exactly(before, after)), reach, () =>
    combineEffects([reach.applying(), reach.evaluated()]),
  );

/** The classes that a tag adds. */
export const classes: ChangeDirection = ({ before, after, reach }) => {
  const [old, current] = [textsIn(before), textsIn(after)];
  const added = current.filter((name) => !old.includes(name));
  const dropped = old.filter((name) => !current.includes(name));
  const effect = combineEffects([reach.tagging(added), reversed(reach.tagging(dropped))]);
  return effect === 'none' ? reach.otherwise : effect;
};

/** A hint's words are free; its kind and its corrections are read by machines. */
export const hint: ChangeDirection = ({ before, after }) => {
  const [old, current] = [objectOf(before), objectOf(after)];
  const same = isSame(old['suggest'], current['suggest']);
  return same && isSame(old['hint_kind'], current['hint_kind']) ? 'none' : 'alters';
};

function ifNarrowed(relation: Relation, narrowed: Effect): Effect {
  if (relation === 'same') return 'none';
  if (relation === 'different') return 'alters';
  return relation === 'narrower' ? narrowed : reversed(narrowed);
}

/** As if more always meant stricter; `along` puts in what more really means. */
function widening(relation: Relation): Effect {
  return ifNarrowed(relation, 'loosens');
}

/** What more of something does when it tightens, the reverse when it loosens. */
function along(effect: Effect, { otherwise }: Reach, more: () => Effect): Effect {
  if (effect === 'none') return 'none';
  const found = more();
  if (found === 'none') return otherwise;
  if (effect === 'loosens') return reversed(found);
  return effect === 'tightens' ? found : effect;
}

function upwards(before: number, after: number, up: Effect): Effect {
  if (before === after) return 'none';
  return after > before ? up : reversed(up);
}

function numberOr(value: Value, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

/** The value at a dotted path of field names. */
export function valueAt(value: Value, path: string): Value {
  let found = value;
  for (const name of path.split('.')) found = own(objectOf(found), name);
  return found;
}
