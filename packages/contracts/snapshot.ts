// Contract B, the other half: a policy as compiled, and the file in which it travels.
import { BUNDLE } from './bundle.ts';
import { FULL_CONTENT } from './bundle-content.ts';
import { FULL_TAINT } from './bundle-taint.ts';
import {
  boolean,
  closed,
  formatted,
  type Infer,
  oneOf,
  open,
  optional,
  required,
  string,
} from './shape/shape.ts';

/** The format of compiled snapshots; a shim refuses one that it does not know. */
export const SNAPSHOT_FORMAT = 'subluminal.snapshot.v1';

const { policy_id, version, mode, defaults, selectors, rules, hint_delivery } = BUNDLE.fields;

/**
 * Every default expanded, globs normalised, and nothing in it that does not change a decision:
 * what is hashed, signed and stored.
 */
const SNAPSHOT_FIELDS = {
  format: required(oneOf(SNAPSHOT_FORMAT), 'How to read it.'),
  policy_id,
  version,
  mode,
  hint_delivery: required(hint_delivery.shape, 'How a refusal is delivered.'),
  defaults: required(
    closed({
      decision_on_error: defaults.shape.fields.decision_on_error,
      fail_open_read_tools: required(boolean(), 'Let read-like calls pass even then.'),
    }),
    'What holds where no rule speaks.',
  ),
  selectors,
  rules,
  content: optional(FULL_CONTENT, 'Since 0.2.0: what may travel; absent, nothing is scanned.'),
  taint: optional(
    FULL_TAINT,
    'Since 0.2.0: what content from outside may reach; absent, nothing is followed.',
  ),
  commands: optional(
    closed({
      opaque: required(
        oneOf('ask', 'block', 'allow'),
        'What happens to one that is not understood.',
      ),
    }),
    'Since 0.2.0: how shell commands are treated; absent where no rule matches on them.',
  ),
  self_protection: optional(
    oneOf('off'),
    'Since 0.2.0: calls may name what governs them; absent, they may not.',
  ),
};

const SNAPSHOT = closed({
  ...SNAPSHOT_FIELDS,
  tightened_by: optional(
    closed(SNAPSHOT_FIELDS),
    'Since 0.2.0: a policy that is applied as well; the stricter decision wins.',
  ),
});

export const SNAPSHOT_FILE = open({
  snapshot: required(SNAPSHOT, 'The compiled policy.'),
  policy_hash: required(formatted('sha256'), 'SHA-256 over the canonical bytes of `snapshot`.'),
  signature: optional(
    open({
      alg: required(oneOf('ed25519'), 'The algorithm.'),
      key_id: required(string({ lengthMax: 128 }), 'Which key made it.'),
      value: required(string({ lengthMax: 256 }), 'The signature, in base64.'),
    }),
    'Over the format, a newline, and the canonical bytes of `snapshot`.',
  ),
});

export type SnapshotDocument = Infer<typeof SNAPSHOT>;
export type SnapshotFile = Infer<typeof SNAPSHOT_FILE>;
