// The `content` section of a bundle: what may travel in calls, answers and definitions.
import { APPROVAL, FULL_APPROVAL } from './bundle-parts.ts';
import {
  array,
  closed,
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

const SECRET = 'Keys, tokens and passwords.';
const PERSONAL = 'Data about people.';
const INJECTION = 'Text that gives orders to a model.';
const HIDDEN_TEXT = 'Characters that a person does not see.';

const TRAVELLING = closed({
  secret: optional(CONTENT_ACTION, SECRET),
  personal: optional(CONTENT_ACTION, PERSONAL),
  injection: optional(CONTENT_ACTION, INJECTION),
  hidden_text: optional(CONTENT_ACTION, HIDDEN_TEXT),
});
const DEFINED = closed({
  secret: optional(DEFINITION_ACTION, SECRET),
  personal: optional(DEFINITION_ACTION, PERSONAL),
  injection: optional(DEFINITION_ACTION, INJECTION),
  hidden_text: optional(DEFINITION_ACTION, HIDDEN_TEXT),
});
const FULL_TRAVELLING = closed({
  secret: required(CONTENT_ACTION, SECRET),
  personal: required(CONTENT_ACTION, PERSONAL),
  injection: required(CONTENT_ACTION, INJECTION),
  hidden_text: required(CONTENT_ACTION, HIDDEN_TEXT),
});
const FULL_DEFINED = closed({
  secret: required(DEFINITION_ACTION, SECRET),
  personal: required(DEFINITION_ACTION, PERSONAL),
  injection: required(DEFINITION_ACTION, INJECTION),
  hidden_text: required(DEFINITION_ACTION, HIDDEN_TEXT),
});

const exact = string({ lengthMax: 256 });

const SUPPRESSION = closed({
  rule: required(exact, 'The rule that raised the false alarm.'),
  server: required(exact, 'The server, by its whole name.'),
  tool: required(exact, 'The tool, by its whole name.'),
  fingerprint: required(exact, 'The value, as the finding names it.'),
  expires: required(formatted('rfc3339'), 'From when on it is void.'),
});
const SUPPRESSIONS = array(SUPPRESSION, { itemsMax: SUPPRESSIONS_MAX });
const RESULT_CHARS = integer({ min: 1, max: RESULT_CHARS_MAX });

const DOCS = {
  outbound: 'What is done about findings in the arguments of calls.',
  inbound: 'What is done about findings in answers; `ask` counts as `block` there.',
  definitions: 'What is done about findings in definitions and instructions; `block` hides a tool.',
  confidence_min: 'What is less sure than this is tagged and nothing more.',
  unscanned:
    'What is done about content that could not be looked at; `follow`: the strictest of `block` and `ask` that its direction has, else `tag`.',
  external_content: 'Whether text from servers is marked as such.',
  max_result_chars:
    'The longest answer in characters; the rest is cut and told, longer structured content refused.',
  approval: 'How a person is asked.',
  suppressions: 'False alarms: one value of one rule on one tool, until a day.',
} as const;

/** As written: what is left out has the value of `CONTENT_DEFAULTS`. */
export const CONTENT_SECTION = closed({
  outbound: optional(TRAVELLING, DOCS.outbound),
  inbound: optional(TRAVELLING, DOCS.inbound),
  definitions: optional(DEFINED, DOCS.definitions),
  confidence_min: optional(CONFIDENCE, DOCS.confidence_min),
  unscanned: optional(UNSCANNED_ACTION, DOCS.unscanned),
  external_content: optional(EXTERNAL_CONTENT, DOCS.external_content),
  max_result_chars: optional(RESULT_CHARS, DOCS.max_result_chars),
  approval: optional(APPROVAL, DOCS.approval),
  suppressions: optional(SUPPRESSIONS, DOCS.suppressions),
});

/** With nothing left out, as snapshots have it. */
export const FULL_CONTENT = closed({
  outbound: required(FULL_TRAVELLING, DOCS.outbound),
  inbound: required(FULL_TRAVELLING, DOCS.inbound),
  definitions: required(FULL_DEFINED, DOCS.definitions),
  confidence_min: required(CONFIDENCE, DOCS.confidence_min),
  unscanned: required(UNSCANNED_ACTION, DOCS.unscanned),
  external_content: required(EXTERNAL_CONTENT, DOCS.external_content),
  max_result_chars: required(RESULT_CHARS, DOCS.max_result_chars),
  approval: required(FULL_APPROVAL, DOCS.approval),
  suppressions: required(SUPPRESSIONS, DOCS.suppressions),
});

export type ContentSection = Infer<typeof CONTENT_SECTION>;
export type FullContentSection = Infer<typeof FULL_CONTENT>;
export type ContentAction = Infer<typeof CONTENT_ACTION>;
export type ContentSuppression = Infer<typeof SUPPRESSION>;

export const CONTENT_DEFAULTS: FullContentSection = {
  outbound: { secret: 'block', personal: 'tag', injection: 'allow', hidden_text: 'tag' },
  inbound: { secret: 'redact', personal: 'tag', injection: 'tag', hidden_text: 'redact' },
  definitions: { secret: 'tag', personal: 'allow', injection: 'block', hidden_text: 'block' },
  confidence_min: 'likely',
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
 * anything, it must not be enough to make a message hard to read.
 */
export function unscannedAction(
  section: FullContentSection,
  direction: 'outbound' | 'inbound' | 'definitions',
): Exclude<FullContentSection['unscanned'], 'follow'> {
  const { unscanned } = section;
  if (unscanned !== 'follow') return unscanned;
  const actions: readonly ContentAction[] = Object.values(section[direction]);
  if (actions.includes('block')) return 'block';
  return actions.includes('ask') ? 'ask' : 'tag';
}
