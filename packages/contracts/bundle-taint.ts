// The `taint` section of a bundle: where content comes from, and what it may reach.
import { APPROVAL, FULL_APPROVAL, glob } from './bundle-parts.ts';
import { array, boolean, closed, type Infer, oneOf, optional, required } from './shape/shape.ts';

const TRUST = oneOf('trusted', 'untrusted');
const ON_TAINT = oneOf('ask', 'block', 'tag');
const CLEARS = oneOf('earlier', 'any');
const SINK_KIND = oneOf('recipient', 'url', 'path', 'command');
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

const MODE_DOC = 'What happens when a run would have all three.';
const TOOLS_DOC = 'What each tool brings into the run.';
const TOOLS = array(CLASSED, { itemsMax: 1_000 });

const RULE_OF_TWO = closed({
  mode: required(RULE_OF_TWO_MODE, MODE_DOC),
  tools: optional(TOOLS, TOOLS_DOC),
});
const FULL_RULE_OF_TWO = closed({
  mode: required(RULE_OF_TWO_MODE, MODE_DOC),
  tools: required(TOOLS, TOOLS_DOC),
});

const SOURCES = array(SOURCE, { itemsMax: 1_000 });
const SINKS = array(SINK, { itemsMax: 500 });
const BY_SHAPE = array(oneOf('recipient', 'url', 'path'), { itemsMax: 3 });

const DOCS = {
  on_taint: 'What happens when something read from an untrusted place reaches a sink.',
  sources: 'Whose answers are trusted; the first that fits holds.',
  default_trust: 'What holds for all other answers.',
  trusted_clears: 'Whether a trusted answer clears a value only when it came first, or always.',
  sinks: 'Arguments through which something leaves the run or changes.',
  default_sinks: 'Whether the built-in sinks count too.',
  by_shape: 'Values that are a sink wherever they stand, by what they look like.',
  allow: 'What is good whoever named it.',
  rule_of_two: 'Of untrusted input, private data and outside effects, a run has at most two.',
  approval: 'How a person is asked.',
} as const;

/** As written: what is left out has the value of `TAINT_DEFAULTS`. */
export const TAINT_SECTION = closed({
  on_taint: optional(ON_TAINT, DOCS.on_taint),
  sources: optional(SOURCES, DOCS.sources),
  default_trust: optional(TRUST, DOCS.default_trust),
  trusted_clears: optional(CLEARS, DOCS.trusted_clears),
  sinks: optional(SINKS, DOCS.sinks),
  default_sinks: optional(boolean(), DOCS.default_sinks),
  by_shape: optional(BY_SHAPE, DOCS.by_shape),
  allow: optional(ALLOW, DOCS.allow),
  rule_of_two: optional(RULE_OF_TWO, DOCS.rule_of_two),
  approval: optional(APPROVAL, DOCS.approval),
});

/** With nothing left out, as snapshots have it. */
export const FULL_TAINT = closed({
  on_taint: required(ON_TAINT, DOCS.on_taint),
  sources: required(SOURCES, DOCS.sources),
  default_trust: required(TRUST, DOCS.default_trust),
  trusted_clears: required(CLEARS, DOCS.trusted_clears),
  sinks: required(SINKS, DOCS.sinks),
  default_sinks: required(boolean(), DOCS.default_sinks),
  by_shape: required(BY_SHAPE, DOCS.by_shape),
  allow: required(ALLOW, DOCS.allow),
  rule_of_two: required(FULL_RULE_OF_TWO, DOCS.rule_of_two),
  approval: required(FULL_APPROVAL, DOCS.approval),
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
