// The `content` section of a bundle: what may travel in calls, answers and definitions.
import { APPROVAL, FULL_APPROVAL } from './bundle-parts.ts';
import {
  array,
  closed,
  complete,
  type EnumShape,
  formatted,
  type Infer,
  integer,
  oneOf,
  optional,
  required,
  string,
} from './shape/shape.ts';

const CONTENT_ACTION = oneOf('allow', 'tag', 'redact', 'ask', 'block');
/** A definition travels whole or not at all, and nobody is asked about one. */
const DEFINITION_ACTION = oneOf('allow', 'tag', 'block');
/** There is nothing to redact in what nobody looked at. `follow`: see `unscannedAction`. */
const UNSCANNED_ACTION = oneOf('allow', 'tag', 'follow', 'ask', 'block');
const CONFIDENCE = oneOf('certain', 'likely', 'hint');
const EXTERNAL_CONTENT = oneOf('off', 'mark');

const SUPPRESSIONS_MAX = 1_000;
const RESULT_CHARS_MAX = 1_000_000_000;

/** The same four classes of findings, with the actions that are open to a direction. */
function actionsFrom<const V extends string>(action: EnumShape<V>) {
  return closed({
    secret: optional(action, 'Keys, tokens and passwords.'),
    personal: optional(action, 'Data about people.'),
    injection: optional(action, 'Text that gives orders to a model.'),
    hidden_text: optional(action, 'Characters that a person does not see.'),
  });
}
const TRAVELLING = actionsFrom(CONTENT_ACTION);
const DEFINED = actionsFrom(DEFINITION_ACTION);

const exact = string({ lengthMax: 256 });

const SUPPRESSION = closed({
  rule: required(exact, 'The rule that raised the false alarm.'),
  server: required(exact, 'The server, by its whole name.'),
  tool: required(exact, 'The tool, by its whole name.'),
  fingerprint: required(exact, 'The value, as the finding names it.'),
  expires: required(formatted('rfc3339'), 'From when on it is void.'),
});

/** As written: what is left out has the value of `CONTENT_DEFAULTS`. */
export const CONTENT_SECTION = closed({
  outbound: optional(TRAVELLING, 'What is done about findings in the arguments of calls.'),
  inbound: optional(
    TRAVELLING,
    'What is done about findings in answers; `ask` counts as `block` there.',
  ),
  definitions: optional(
    DEFINED,
    'What is done about findings in definitions and instructions; `block` hides a tool.',
  ),
  confidence_min: optional(CONFIDENCE, 'What is less sure than this is tagged and nothing more.'),
  block_confidence: optional(
    CONFIDENCE,
    'What is less sure than this is not blocked: a call asks a person, an answer is redacted. Definitions are blocked from `confidence_min` on.',
  ),
  unscanned: optional(
    UNSCANNED_ACTION,
    'What is done about content that could not be looked at; `follow`: the strictest of `block` and `ask` that its direction has, else `tag`.',
  ),
  external_content: optional(EXTERNAL_CONTENT, 'Whether text from servers is marked as such.'),
  max_result_chars: optional(
    integer({ min: 1, max: RESULT_CHARS_MAX }),
    'The longest answer in characters; the rest is cut and told, longer structured content refused.',
  ),
  approval: optional(APPROVAL, 'How a person is asked.'),
  suppressions: optional(
    array(SUPPRESSION, { itemsMax: SUPPRESSIONS_MAX }),
    'False alarms: one value of one rule on one tool, until a day.',
  ),
});

const full = complete(CONTENT_SECTION).fields;

/** With nothing left out, as snapshots have it. */
export const FULL_CONTENT = closed({
  ...full,
  outbound: required(complete(TRAVELLING), full.outbound.doc),
  inbound: required(complete(TRAVELLING), full.inbound.doc),
  definitions: required(complete(DEFINED), full.definitions.doc),
  approval: required(FULL_APPROVAL, full.approval.doc),
});

export type ContentSection = Infer<typeof CONTENT_SECTION>;
export type FullContentSection = Infer<typeof FULL_CONTENT>;
export type ContentAction = Infer<typeof CONTENT_ACTION>;

export const CONTENT_DEFAULTS: FullContentSection = {
  outbound: { secret: 'block', personal: 'tag', injection: 'allow', hidden_text: 'tag' },
  inbound: { secret: 'redact', personal: 'tag', injection: 'block', hidden_text: 'redact' },
  definitions: { secret: 'tag', personal: 'allow', injection: 'block', hidden_text: 'block' },
  confidence_min: 'likely',
  block_confidence: 'certain',
  unscanned: 'follow',
  external_content: 'mark',
  max_result_chars: 200_000,
  approval: { wait: 'hold', timeout_ms: 300_000 },
  suppressions: [],
};

/** A section with every default written out. */
export function fullContent(section: ContentSection): FullContentSection {
  return {
    ...CONTENT_DEFAULTS,
    ...section,
    outbound: { ...CONTENT_DEFAULTS.outbound, ...section.outbound },
    inbound: { ...CONTENT_DEFAULTS.inbound, ...section.inbound },
    definitions: { ...CONTENT_DEFAULTS.definitions, ...section.definitions },
    approval: { ...CONTENT_DEFAULTS.approval, ...section.approval },
  };
}

/**
 * What is done about content of a direction that could not be looked at. Where a policy stops
 * anything, it must not be enough to make a message hard to read. Injection in answers is a matter of
 * confidence: a policy that blocks only what is certain does not block a picture for its size.
 */
export function unscannedAction(
  section: FullContentSection,
  direction: 'outbound' | 'inbound' | 'definitions',
): Exclude<FullContentSection['unscanned'], 'follow'> {
  const { unscanned } = section;
  if (unscanned !== 'follow') return unscanned;
  const isByConfidence = direction === 'inbound' && section.block_confidence === 'certain';
  const { injection, ...others } = section[direction];
  const actions: ContentAction[] = Object.values(others);
  if (!isByConfidence) actions.push(injection);
  if (actions.includes('block')) return 'block';
  return actions.includes('ask') ? 'ask' : 'tag';
}
