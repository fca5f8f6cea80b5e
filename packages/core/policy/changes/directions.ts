// Which way a change of one field goes. Each function knows one way in which a field can matter.
import type { JsonValue } from '@subluminal/contracts';
import { own } from '../match/match.ts';
import { combineEffects, type Effect, type Reach, reversed, type Shift } from './change.ts';
import { exactly, isSame, listOf, objectOf, type Relate, textsIn, type Value } from './relation.ts';

export interface FieldChange {
  readonly before: Value;
  readonly after: Value;
  readonly reach: Reach;
  /** The whole rule or document around the field, old and new. */
  readonly around: { readonly before: JsonValue; readonly after: JsonValue };
}
export type ChangeDirection = (change: FieldChange) => Effect;

/** From the mildest to the strictest. */
const ACTIONS = ['ALLOW', 'THROTTLE', 'REJECT_WITH_HINT', 'BLOCK', 'TERMINATE_RUN'];
/** Counters: the finer the scope, the more counters there are to use up. */
const COUNTER_SCOPES = ['server_tool', 'tool', 'run'];
/** Repeats and duplicates: `run` separates servers as `server_tool` does, `tool` does not. */
const CALL_SCOPES = [['server_tool', 'run'], ['tool']];

export const alters: ChangeDirection = () => 'alters';
export const none: ChangeDirection = () => 'none';

/** A value that gets stricter along a list; values in one group are equally strict. */
export function stricterAlong(order: readonly (string | readonly string[])[]): ChangeDirection {
  const rank = (value: Value) =>
    order.findIndex((group) => [group].flat().some((name) => name === value));
  return ({ before, after }) => upwards(rank(before), rank(after), 'tightens');
}

export const action = stricterAlong(ACTIONS);
export const counterScope = stricterAlong(COUNTER_SCOPES);
export const callScope = stricterAlong(CALL_SCOPES);

/** A number that lets more pass as it grows. Without it there is no limit. */
export const moreLoosens: ChangeDirection = ({ before, after }) =>
  upwards(numberOr(before, Infinity), numberOr(after, Infinity), 'loosens');

/** A number that stops more as it grows. Without it nothing is stopped. */
export const moreTightens: ChangeDirection = ({ before, after }) =>
  upwards(numberOr(before, 0), numberOr(after, 0), 'tightens');

/** A switch that lets more pass when it is on. */
export const onLoosens: ChangeDirection = ({ before, after }) =>
  upwards(Number(before === true), Number(after === true), 'loosens');

/** A limit: the rule stops more calls or fewer, and with them what other rules would have done. */
export function trips(direction: ChangeDirection): ChangeDirection {
  return (change) => along(direction(change), change, ['applying']);
}

/** A setting by which failures stop a call, or stop doing so. */
export function stopsFailures(direction: ChangeDirection): ChangeDirection {
  return (change) => along(direction(change), change, ['all']);
}

/** Whether a rule is there and in force. */
export const presence: ChangeDirection = (change) =>
  along(reversed(onLoosens(change)), change, ['all']);

/** A field that matters only while another one is set, before or after. */
export function onlyWith(path: string, direction: ChangeDirection): ChangeDirection {
  return (change) => {
    const { before, after } = change.around;
    const set = valueAt(before, path) !== undefined || valueAt(after, path) !== undefined;
    return set ? direction(change) : 'none';
  };
}

/** A selector: the policy does not govern the agents that it leaves out. */
export function selecting(relate: Relate): ChangeDirection {
  return ({ before, after }) => RELATION_EFFECTS[relate(before, after)];
}

/** Which calls a rule is looked at for. */
export function matching(relate: Relate): ChangeDirection {
  return (change) => alongRelation(relate, change, ['all']);
}

/** Which arguments it asks for: where the arguments can't be seen, a rule that asks fails. */
export function matchingArgs(relate: Relate): ChangeDirection {
  return (change) => {
    const both = [change.around.before, change.around.after];
    const hasWhen = both.some((rule) => valueAt(rule, 'when') !== undefined);
    const [old, current] = both.map(
      (rule) =>
        asksForArgs(valueAt(rule, 'match.args')) ||
        ['match.any_arg', 'match.command'].some((path) => valueAt(rule, path) !== undefined),
    );
    // A condition is looked at only where the arguments fit.
    const shifts: Shift[] = [hasWhen ? 'all' : 'applying'];
    if (old !== current) shifts.push('evaluated');
    // Without arguments to see the rule failed, even where its condition might not hold.
    if (old !== current && hasWhen) shifts.push('sparing');
    return alongRelation(relate, change, shifts);
  };
}

function asksForArgs(match: Value): boolean {
  return Object.values(objectOf(match)).some(
    (part) => listOf(part).length > 0 || Object.keys(objectOf(part)).length > 0,
  );
}

/** Adding or dropping a condition has a direction; how two conditions relate is unknown. */
export const condition: ChangeDirection = (change) =>
  alongRelation(exactly, change, ['applying', 'evaluated']);

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

/** As if a wider condition always meant stricter. */
const RELATION_EFFECTS = {
  same: 'none',
  narrower: 'loosens',
  wider: 'tightens',
  different: 'alters',
} as const;

function alongRelation(relate: Relate, change: FieldChange, shifts: readonly Shift[]): Effect {
  return along(RELATION_EFFECTS[relate(change.before, change.after)], change, shifts);
}

/** What the shifts do when more calls are meant, the reverse when fewer are. */
function along(effect: Effect, { reach }: FieldChange, shifts: readonly Shift[]): Effect {
  if (effect === 'none') return 'none';
  const found = combineEffects(shifts.map(reach.more));
  if (found === 'none') return reach.otherwise;
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
