// The `taint` section of a bundle: where content comes from, and what it may reach.
import { APPROVAL, FULL_APPROVAL, glob } from './bundle-parts.ts';
import {
  array,
  boolean,
  closed,
  complete,
  type Infer,
  oneOf,
  optional,
  required,
} from './shape/shape.ts';

const TRUST = oneOf('trusted', 'untrusted');
const ON_TAINT = oneOf('ask', 'block', 'tag');
const CLEARS = oneOf('earlier', 'any');
const SINK_KIND = oneOf('recipient', 'url', 'path', 'command', 'id');
const RUN_FLAG = oneOf('untrusted_input', 'private_data', 'egress_or_change');
const RULE_OF_TWO_MODE = oneOf('ask', 'block', 'off');

const globs = array(glob, { itemsMin: 1, itemsMax: 500 });
const server = optional(glob, 'A glob of servers; all of them.');
const tool = optional(glob, 'A glob of tools; all of them.');

const SOURCE = closed({
  server,
  tool,
  trust: required(TRUST, 'Whether what they answer is trusted.'),
});

const SINK = closed({
  kind: required(SINK_KIND, 'What the argument names.'),
  args: required(globs, 'Globs of argument names.'),
  server,
  tool,
});

const ALLOW = closed({
  emails: optional(globs, 'Addresses that may always be written to.'),
  hosts: optional(globs, 'Hosts that may always be reached.'),
  urls: optional(globs, 'Addresses that may always be reached.'),
  paths: optional(globs, 'Paths that may always be touched.'),
  commands: optional(globs, 'Commands that may always be run.'),
});

const CLASSED = closed({
  server,
  tool,
  adds: required(array(RUN_FLAG, { itemsMax: 3 }), 'What a call of them brings into the run.'),
});

const RULE_OF_TWO = closed({
  mode: required(RULE_OF_TWO_MODE, 'What happens when a run would have all three.'),
  tools: optional(array(CLASSED, { itemsMax: 1_000 }), 'What each tool brings into the run.'),
});

/** As written: what is left out has the value of `TAINT_DEFAULTS`. */
export const TAINT_SECTION = closed({
  on_taint: optional(
    ON_TAINT,
    'What happens when something read from an untrusted place reaches a sink.',
  ),
  sources: optional(
    array(SOURCE, { itemsMax: 1_000 }),
    'Whose answers are trusted; the first that fits holds.',
  ),
  default_trust: optional(TRUST, 'What holds for all other answers.'),
  trusted_clears: optional(
    CLEARS,
    'Whether a trusted answer clears a value only when it came first, or always.',
  ),
  sinks: optional(
    array(SINK, { itemsMax: 500 }),
    'Arguments through which something leaves the run or changes.',
  ),
  default_sinks: optional(boolean(), 'Whether the built-in sinks count too.'),
  by_shape: optional(
    array(oneOf('recipient', 'url', 'path'), { itemsMax: 3 }),
    'Values that are a sink wherever they stand, by what they look like.',
  ),
  allow: optional(ALLOW, 'What is good whoever named it.'),
  rule_of_two: optional(
    RULE_OF_TWO,
    'Of untrusted input, private data and outside effects, a run has at most two.',
  ),
  approval: optional(APPROVAL, 'How a person is asked.'),
});

const full = complete(TAINT_SECTION).fields;

/** With nothing left out, as snapshots have it. */
export const FULL_TAINT = closed({
  ...full,
  rule_of_two: required(complete(RULE_OF_TWO), full.rule_of_two.doc),
  approval: required(FULL_APPROVAL, full.approval.doc),
});

export type TaintSection = Infer<typeof TAINT_SECTION>;
export type FullTaintSection = Infer<typeof FULL_TAINT>;
export type TaintSink = Infer<typeof SINK>;

export const TAINT_DEFAULTS: FullTaintSection = {
  on_taint: 'ask',
  sources: [],
  default_trust: 'untrusted',
  trusted_clears: 'earlier',
  sinks: [],
  default_sinks: true,
  by_shape: ['recipient', 'url'],
  allow: {},
  rule_of_two: { mode: 'off', tools: [] },
  approval: { wait: 'hold', timeout_ms: 300_000 },
};

/** A section with every default written out. */
export function fullTaint(section: TaintSection): FullTaintSection {
  return {
    ...TAINT_DEFAULTS,
    ...section,
    rule_of_two: { ...TAINT_DEFAULTS.rule_of_two, ...section.rule_of_two },
    approval: { ...TAINT_DEFAULTS.approval, ...section.approval },
  };
}
