// Which way a change of one field goes. Each function knows one way in which a field can matter.
import type { JsonValue } from '@subluminal/contracts';
import { combineEffects, type Effect, reversed } from './change.ts';
import { isSame, objectOf, type Relate, type Relation, type Value } from './relation.ts';

/**
 * What a rule does to the calls it matches. An allow rule is `idle` while it stands before no
 * rule that would have stopped a call: then it decides nothing that would not have happened.
 */
type Polarity = 'restricts' | 'allows' | 'idle' | 'tags';

interface FieldChange {
  readonly before: Value;
  readonly after: Value;
  readonly polarity: Polarity;
  /** The whole rule or document around the field, old and new. */
  readonly around: { readonly before: JsonValue; readonly after: JsonValue };
}
type Direction = (change: FieldChange) => Effect;

/** From the mildest to the strictest. */
const MODES = ['observe', 'guardrails', 'control'];
const ACTIONS = ['ALLOW', 'THROTTLE', 'REJECT_WITH_HINT', 'BLOCK', 'TERMINATE_RUN'];
/** Counters: the finer the scope, the more counters there are to use up. */
const COUNTER_SCOPES = ['server_tool', 'tool', 'run'];
/** Repeats and duplicates: `run` tells servers apart as `server_tool` does, `tool` does not. */
const CALL_SCOPES = [['server_tool', 'run'], ['tool']];

const alters: Direction = () => 'alters';
const none: Direction = () => 'none';

/** A value that gets stricter along a list; values in one group are equally strict. */
function stricterAlong(order: readonly (string | readonly string[])[]): Direction {
  const rank = (value: Value) =>
    order.findIndex((group) =>
      typeof group === 'string' ? group === value : group.some((name) => name === value),
    );
  return ({ before, after }) => upwards(rank(before), rank(after), 'tightens');
}

/** A number that lets more pass as it grows. Without it there is no limit. */
const moreLoosens: Direction = ({ before, after }) =>
  upwards(numberOr(before, Infinity), numberOr(after, Infinity), 'loosens');

/** A number that stops more as it grows. Without it nothing is stopped. */
const moreTightens: Direction = ({ before, after }) =>
  upwards(numberOr(before, 0), numberOr(after, 0), 'tightens');

/** A switch that lets more pass when it is on. */
const onLoosens: Direction = ({ before, after }) =>
  upwards(Number(before === true), Number(after === true), 'loosens');

/** A field that matters only while another one is set, before or after. */
function onlyWith(path: string, direction: Direction): Direction {
  return (change) => {
    const { before, after } = change.around;
    const set = valueAt(before, path) !== undefined || valueAt(after, path) !== undefined;
    return set ? direction(change) : 'none';
  };
}

/** The scope of a breaker: errors are counted by counter, repeats by call. */
const breakerScope: Direction = (change) =>
  combineEffects([
    onlyWith('effect.breaker.error_threshold', stricterAlong(COUNTER_SCOPES))(change),
    onlyWith('effect.breaker.repeat_threshold', stricterAlong(CALL_SCOPES))(change),
  ]);

/** Whether a rule is there and in force. */
const presence: Direction = ({ before, after, polarity }) => {
  const effect = upwards(Number(before === true), Number(after === true), 'tightens');
  if (polarity === 'restricts' || effect === 'none') return effect;
  if (polarity === 'allows') return reversed(effect);
  return polarity === 'tags' ? 'alters' : 'none';
};

/** Whom the policy is for: those it leaves out are not governed at all. */
function selecting(relate: Relate): Direction {
  return ({ before, after }) => ifNarrowed(relate(before, after), 'loosens');
}

/** Which calls a rule matches: fewer is looser for a rule that stops, tighter for an allow. */
function matching(relate: Relate): Direction {
  return ({ before, after, polarity }) => {
    const effect = ifNarrowed(relate(before, after), 'loosens');
    if (polarity === 'restricts' || effect === 'none') return effect;
    if (polarity === 'allows') return reversed(effect);
    return polarity === 'tags' ? 'alters' : 'none';
  };
}

/** A hint's words are free; its kind and its corrections are read by machines. */
const hint: Direction = ({ before, after, around }) => {
  const comesOrGoes = before === undefined || after === undefined;
  // In control mode a deny with a hint answers with the hint instead of a block.
  if (comesOrGoes && valueAt(around.after, 'kind') === 'deny') return 'alters';
  const [old, current] = [objectOf(before), objectOf(after)];
  const same = isSame(old['suggest'], current['suggest']);
  return same && isSame(old['hint_kind'], current['hint_kind']) ? 'none' : 'alters';
};

function ifNarrowed(relation: Relation, narrowed: Effect): Effect {
  if (relation === 'same') return 'none';
  if (relation === 'different') return 'alters';
  return relation === 'narrower' ? narrowed : reversed(narrowed);
}

function upwards(before: number, after: number, up: Effect): Effect {
  if (before === after) return 'none';
  return after > before ? up : reversed(up);
}

function numberOr(value: Value, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

/** The value at a dotted path of field names. */
function valueAt(value: Value, path: string): Value {
  let found = value;
  for (const name of path.split('.')) found = objectOf(found)[name];
  return found;
}

export type { Direction, FieldChange, Polarity };
export {
  ACTIONS,
  alters,
  breakerScope,
  CALL_SCOPES,
  COUNTER_SCOPES,
  hint,
  MODES,
  matching,
  moreLoosens,
  moreTightens,
  none,
  onLoosens,
  onlyWith,
  presence,
  selecting,
  stricterAlong,
  valueAt,
};
