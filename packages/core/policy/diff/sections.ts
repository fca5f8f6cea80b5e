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
import type { Field } from '../changes/field.ts';
import {
  isSame,
  listOf,
  objectOf,
  type Relate,
  relation,
  type Value,
} from '../changes/relation.ts';

/** From the mildest to the strictest. */
const ACTIONS = ['allow', 'tag', 'redact', 'ask', 'block'];
/** Nobody is asked about what has come back already. */
const INBOUND_ACTIONS = ['allow', 'tag', 'redact', ['ask', 'block']];

const CLASSES = {
  secret: 'secrets',
  personal: 'personal data',
  injection: 'injection',
  hidden_text: 'hidden text',
} as const;

/** `follow` is between `tag` and `block`; whether it asks depends on the other actions. */
const unscanned: ChangeDirection = (change) => {
  const both = new Set([change.before, change.after]);
  if (both.has('follow') && both.has('ask')) return 'mixed';
  return stricterAlong(['allow', 'tag', 'follow', 'ask', 'block'])(change);
};

/** A section: without it nothing is looked at. */
const present: ChangeDirection = ({ after }) => (after === undefined ? 'loosens' : 'tightens');

export const SECTION_FIELDS: readonly (Field & { readonly section: 'content' | 'taint' })[] = [
  { section: 'content', path: 'content', words: 'the content section', direction: present },
  { section: 'taint', path: 'taint', words: 'the taint section', direction: present },
];

export const CONTENT_FIELDS: readonly Field[] = [
  ...actions('content.outbound', 'in calls', ACTIONS),
  ...actions('content.inbound', 'in answers', INBOUND_ACTIONS),
  ...actions('content.definitions', 'in definitions', ACTIONS),
  {
    path: 'content.confidence_min',
    words: 'the confidence that is needed',
    direction: stricterAlong(['certain', 'likely', 'hint']),
  },
  {
    path: 'content.unscanned',
    words: 'the action on what cannot be looked at',
    direction: unscanned,
  },
  {
    path: 'content.external_content',
    words: 'the marking of text from servers',
    direction: stricterAlong(['off', 'mark']),
  },
  { path: 'content.max_result_chars', words: 'the longest answer', direction: moreLoosens },
  ...approval('content.approval'),
  {
    path: 'content.suppressions',
    words: 'the list of suppressions',
    direction: ({ before, after }) => suppressions(listOf(before), listOf(after)),
  },
];

export const TAINT_FIELDS: readonly Field[] = [
  {
    path: 'taint.on_taint',
    words: 'the action on taint',
    direction: stricterAlong(['tag', 'ask', 'block']),
  },
  {
    path: 'taint.sources',
    words: 'the list of sources',
    direction: ({ before, after }) => sources(listOf(before), listOf(after)),
  },
  {
    path: 'taint.default_trust',
    words: 'the trust in all other answers',
    direction: stricterAlong(['trusted', 'untrusted']),
  },
  {
    path: 'taint.trusted_clears',
    words: 'what trusted answers clear',
    direction: stricterAlong(['any', 'earlier']),
  },
  set('taint.sinks', 'the list of sinks', { entries: sinkEntries, more: 'tightens' }),
  {
    path: 'taint.default_sinks',
    words: 'counting the built-in sinks',
    direction: (change) => reversed(onLoosens(change)),
  },
  set('taint.by_shape', 'the list of shapes', { entries: texts, more: 'tightens' }),
  ...(['emails', 'hosts', 'urls', 'paths', 'commands'] as const).map((name) =>
    set(`taint.allow.${name}`, `the list of allowed ${name}`, { entries: texts, more: 'loosens' }),
  ),
  {
    path: 'taint.rule_of_two.mode',
    words: 'the rule of two',
    direction: stricterAlong(['off', 'ask', 'block']),
  },
  ruleOfTwoTools(),
  ...approval('taint.approval'),
];

function actions(
  path: string,
  where: string,
  order: readonly (string | readonly string[])[],
): readonly Field[] {
  return Object.entries(CLASSES).map(([name, words]) => ({
    path: `${path}.${name}`,
    words: `the action on ${words} ${where}`,
    direction: stricterAlong(order),
  }));
}

function approval(path: string): readonly Field[] {
  return [
    { path: `${path}.wait`, words: 'the way of waiting', direction: alters },
    { path: `${path}.timeout_ms`, words: 'the time that a person has', direction: alters },
  ];
}

/** A list of which each entry counts by itself. */
interface SetField {
  readonly entries: (value: Value) => ReadonlySet<string>;
  /** What an entry more does. */
  readonly more: Effect;
}

function set(path: string, words: string, { entries, more }: SetField): Field {
  const relate: Relate = (before, after) => {
    const [old, current] = [entries(before), entries(after)];
    return relation({
      beforeCoversAfter: [...current].every((entry) => old.has(entry)),
      afterCoversBefore: [...old].every((entry) => current.has(entry)),
    });
  };
  const direction: ChangeDirection = ({ before, after }) => {
    switch (relate(before, after)) {
      case 'same':
        return 'none';
      case 'wider':
        return more;
      case 'narrower':
        return reversed(more);
      case 'different':
        return 'mixed';
    }
  };
  return { path, words, direction, relate };
}

function texts(value: Value): ReadonlySet<string> {
  return new Set(listOf(value).map((item) => JSON.stringify(item)));
}

/** Each name of an argument by itself: a sink that gets one more is not another sink. */
function sinkEntries(value: Value): ReadonlySet<string> {
  return spread(value, 'args', ['kind', 'server', 'tool']);
}

function spread(value: Value, list: string, rest: readonly string[]): ReadonlySet<string> {
  const entries = new Set<string>();
  for (const item of listOf(value)) {
    const shared = rest.map((name) => valueAt(item, name) ?? null);
    for (const one of listOf(valueAt(item, list))) entries.add(JSON.stringify([...shared, one]));
  }
  return entries;
}

/** What tools bring into a run matters only where the rule is on, before or after. */
function ruleOfTwoTools(): Field {
  const tools = set('taint.rule_of_two.tools', 'the list of what tools bring', {
    entries: (value) => spread(value, 'adds', ['server', 'tool']),
    more: 'tightens',
  });
  const isOff = (policy: JsonValue) => valueAt(policy, 'taint.rule_of_two.mode') === 'off';
  return {
    ...tools,
    direction: (change) => {
      const { before, after } = change.around;
      return isOff(before) && isOff(after) ? 'none' : tools.direction(change);
    },
  };
}

/** The first source that fits holds: less trust is taking a trusted one out, or an untrusted one in. */
function sources(before: readonly JsonValue[], after: readonly JsonValue[]): Effect {
  if (onlyLoses(before, after)) return onlyLoses(after, before) ? 'none' : 'tightens';
  return onlyLoses(after, before) ? 'loosens' : 'mixed';
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
function suppressions(before: readonly JsonValue[], after: readonly JsonValue[]): Effect {
  const [old, current] = [endings(before), endings(after)];
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
