// The fields of the sections beside the rules, and which way their changes go.
import type { JsonValue } from '@subluminal/contracts';
import { combineEffects, type Effect, reversed } from '../changes/change.ts';
import {
  alters,
  type ChangeDirection,
  moreLoosens,
  onLoosens,
  stricterAlong,
  valueAt,
} from '../changes/directions.ts';
import { type Field, fieldsOf } from '../changes/field.ts';
import {
  isSame,
  listOf,
  objectOf,
  type Relate,
  relatedSets,
  type Value,
} from '../changes/relation.ts';

/** From the mildest to the strictest. */
const ACTIONS = ['allow', 'tag', 'redact', 'ask', 'block'];
/** Nobody is asked about what has come back already. */
const INBOUND_ACTIONS = ['allow', 'tag', 'redact', ['ask', 'block']];

/** `follow` is between `tag` and `block`; whether it asks depends on the other actions. */
const unscanned: ChangeDirection = (change) => {
  const both = new Set([change.before, change.after]);
  if (both.has('follow') && both.has('ask')) return 'mixed';
  return stricterAlong(['allow', 'tag', 'follow', 'ask', 'block'])(change);
};

/** A section: without it nothing is looked at. */
const present: ChangeDirection = ({ after }) => (after === undefined ? 'loosens' : 'tightens');

const APPROVAL = {
  'approval.wait': ['the way of waiting', alters],
  'approval.timeout_ms': ['the time that a person has', alters],
} as const;

/** A section that comes or goes is one change; of one that stays, each field is. */
export const SECTIONS: readonly { readonly whole: Field; readonly fields: readonly Field[] }[] = [
  {
    whole: { path: 'content', words: 'the content section', direction: present },
    fields: [
      ...actions('content.outbound', 'in calls', stricterAlong(ACTIONS)),
      ...actions('content.inbound', 'in answers', stricterAlong(INBOUND_ACTIONS)),
      ...actions('content.definitions', 'in definitions', stricterAlong(ACTIONS)),
      ...fieldsOf('content', {
        confidence_min: [
          'the confidence that is needed',
          stricterAlong(['certain', 'likely', 'hint']),
        ],
        block_confidence: [
          'the confidence that is needed to block',
          stricterAlong(['certain', 'likely', 'hint']),
        ],
        unscanned: ['the action on what cannot be looked at', unscanned],
        external_content: ['the marking of text from servers', stricterAlong(['off', 'mark'])],
        max_result_chars: ['the longest answer', moreLoosens],
        ...APPROVAL,
        suppressions: ['the list of suppressions', suppressions],
      }),
    ],
  },
  {
    whole: { path: 'taint', words: 'the taint section', direction: present },
    fields: [
      ...fieldsOf('taint', {
        on_taint: ['the action on taint', stricterAlong(['tag', 'ask', 'block'])],
        sources: ['the list of sources', sources],
        default_trust: ['the trust in all other answers', stricterAlong(['trusted', 'untrusted'])],
        trusted_clears: ['what trusted answers clear', stricterAlong(['any', 'earlier'])],
        default_sinks: ['counting the built-in sinks', (change) => reversed(onLoosens(change))],
        'rule_of_two.mode': ['the rule of two', stricterAlong(['off', 'ask', 'block'])],
        ...APPROVAL,
      }),
      // Each name of an argument by itself: a sink that gets one more is not another sink.
      setField('taint.sinks', 'the list of sinks', (value) =>
        spread(value, 'args', ['kind', 'server', 'tool']),
      ),
      setField('taint.by_shape', 'the list of shapes', texts),
      ...['emails', 'hosts', 'urls', 'paths', 'commands'].map((name) => {
        const allowed = setField(`taint.allow.${name}`, `the list of allowed ${name}`, texts);
        const direction: ChangeDirection = (change) => reversed(allowed.direction(change));
        return { ...allowed, direction };
      }),
      ruleOfTwoTools(),
    ],
  },
];

function actions(path: string, where: string, direction: ChangeDirection): readonly Field[] {
  return fieldsOf(path, {
    secret: [`the action on secrets ${where}`, direction],
    personal: [`the action on personal data ${where}`, direction],
    injection: [`the action on injection ${where}`, direction],
    hidden_text: [`the action on hidden text ${where}`, direction],
  });
}

/** A list of which each entry counts by itself, and one more tightens. */
function setField(
  path: string,
  words: string,
  entries: (value: Value) => ReadonlySet<string>,
): Field {
  const relate: Relate = (before, after) => relatedSets(entries(before), entries(after));
  const effects = {
    same: 'none',
    wider: 'tightens',
    narrower: 'loosens',
    different: 'mixed',
  } as const;
  return { path, words, relate, direction: ({ before, after }) => effects[relate(before, after)] };
}

function texts(value: Value): ReadonlySet<string> {
  return new Set(listOf(value).map((item) => JSON.stringify(item)));
}

/** One entry for each item of an inner list, with the other fields beside it. */
function spread(value: Value, list: string, rest: readonly string[]): ReadonlySet<string> {
  const entries = listOf(value).flatMap((item) => {
    const shared = rest.map((name) => valueAt(item, name) ?? null);
    return listOf(valueAt(item, list)).map((one) => JSON.stringify([...shared, one]));
  });
  return new Set(entries);
}

/** What tools bring into a run matters only where the rule is on, before or after. */
function ruleOfTwoTools(): Field {
  const tools = setField('taint.rule_of_two.tools', 'the list of what tools bring', (value) =>
    spread(value, 'adds', ['server', 'tool']),
  );
  const isOff = (policy: JsonValue) => valueAt(policy, 'taint.rule_of_two.mode') === 'off';
  const direction: ChangeDirection = (change) => {
    const { before, after } = change.around;
    return isOff(before) && isOff(after) ? 'none' : tools.direction(change);
  };
  return { ...tools, direction };
}

/** The first source that fits holds: less trust is taking a trusted one out, or an untrusted one in. */
function sources({ before, after }: { readonly before: Value; readonly after: Value }): Effect {
  const [old, current] = [listOf(before), listOf(after)];
  if (onlyLoses(old, current)) return onlyLoses(current, old) ? 'none' : 'tightens';
  return onlyLoses(current, old) ? 'loosens' : 'mixed';
}

/** Whether the second list is the first, without some that are trusted, with more that are not. */
function onlyLoses(before: readonly JsonValue[], after: readonly JsonValue[]): boolean {
  let [old, current] = [0, 0];
  while (old < before.length || current < after.length) {
    const [left, right] = [before[old], after[current]];
    if (left !== undefined && right !== undefined && isSame(left, right)) {
      old += 1;
      current += 1;
    } else if (left !== undefined && valueAt(left, 'trust') === 'trusted') old += 1;
    else if (right !== undefined && valueAt(right, 'trust') === 'untrusted') current += 1;
    else return false;
  }
  return true;
}

/** One more loosens, and so does a later end. */
function suppressions({
  before,
  after,
}: {
  readonly before: Value;
  readonly after: Value;
}): Effect {
  const [old, current] = [endings(listOf(before)), endings(listOf(after))];
  const names = new Set([...old.keys(), ...current.keys()]);
  return combineEffects(
    [...names].map((name): Effect => {
      const [was, is] = [old.get(name) ?? 0, current.get(name) ?? 0];
      if (was === is) return 'none';
      return is > was ? 'loosens' : 'tightens';
    }),
  );
}

/** Until when each finding is silenced. */
function endings(list: readonly JsonValue[]): ReadonlyMap<string, number> {
  const ends = new Map<string, number>();
  for (const item of list) {
    const { expires, ...what } = objectOf(item);
    const name = JSON.stringify(Object.entries(what).toSorted(([a], [b]) => (a < b ? -1 : 1)));
    const endMs = typeof expires === 'string' ? Date.parse(expires) : Number.POSITIVE_INFINITY;
    ends.set(name, Math.max(ends.get(name) ?? 0, endMs));
  }
  return ends;
}
