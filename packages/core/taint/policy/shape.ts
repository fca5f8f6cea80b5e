// The fields of a taint section: what is not here is an unknown field.
import type { Infer } from '@subluminal/contracts';
import { choice, closed, list, may, must } from '../../section-shape.ts';
import { RUN_FLAGS, SINK_KINDS } from '../types.ts';

const GLOB = { kind: 'string', lengthMin: 1, lengthMax: 1_024 } as const;
const GLOBS = { kind: 'array', items: GLOB, itemsMin: 1, itemsMax: 500 } as const;

const SOURCE = closed({
  server: may(GLOB),
  tool: may(GLOB),
  trust: must(choice('trusted', 'untrusted')),
});

const SINK = closed({
  kind: must(choice(...SINK_KINDS)),
  args: must(GLOBS),
  server: may(GLOB),
  tool: may(GLOB),
});

const ALLOW = closed({
  emails: may(GLOBS),
  hosts: may(GLOBS),
  urls: may(GLOBS),
  paths: may(GLOBS),
  commands: may(GLOBS),
});

const CLASSED = closed({
  server: may(GLOB),
  tool: may(GLOB),
  adds: must(list(choice(...RUN_FLAGS), RUN_FLAGS.length)),
});

const RULE_OF_TWO = closed({
  mode: must(choice('off', 'ask', 'block')),
  tools: may(list(CLASSED, 1_000)),
});

/** A taint section as written. */
const TAINT_SECTION = closed({
  on_taint: may(choice('ask', 'block', 'tag')),
  sources: may(list(SOURCE, 1_000)),
  default_trust: may(choice('trusted', 'untrusted')),
  trusted_clears: may(choice('earlier', 'any')),
  sinks: may(list(SINK, 500)),
  default_sinks: may({ kind: 'boolean' }),
  by_shape: may(list(choice('recipient', 'url', 'path'), 3)),
  allow: may(ALLOW),
  rule_of_two: may(RULE_OF_TWO),
});

type TaintSection = Infer<typeof TAINT_SECTION>;
type SinkRule = Infer<typeof SINK>;

export type { SinkRule, TaintSection };
export { TAINT_SECTION };
