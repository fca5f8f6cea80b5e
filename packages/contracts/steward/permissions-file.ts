// permissions.yaml: which actions Steward may take, on which channel, and how often.
import { HOURS } from '../shape/hours.ts';
import {
  array,
  closed,
  defaulted,
  type Infer,
  integer,
  oneOf,
  optional,
  record,
  string,
} from '../shape/shape.ts';

/** From the mildest to the strictest. */
export const PERMISSION_TIERS = [
  'auto_execute',
  'log_and_execute',
  'human_approval',
  'forbidden',
] as const;
export type PermissionTier = (typeof PERMISSION_TIERS)[number];

/** Where a message can come from; `schedule` is Steward's own clock. */
export const STEWARD_CHANNELS = [
  'terminal',
  'web',
  'telegram',
  'slack',
  'whatsapp',
  'signal',
  'discord',
  'schedule',
] as const;
export type StewardChannel = (typeof STEWARD_CHANNELS)[number];

const short = string({ lengthMax: 64 });
const words = optional(string({ lengthMax: 1_000 }), 'For people.');
const actions = array(string({ lengthMax: 96 }), { itemsMax: 500 });

const LIMITS = closed({
  rate_limit: optional(short, 'Calls of each action, like `30/minute`.'),
  cooldown: optional(short, 'The pause between two calls of an action, like `30s`.'),
  hours: optional(HOURS, 'The hours in which it is open; at other times it is refused.'),
});

const tierActions = defaulted(actions, [], 'Actions, `SERVER.TOOL`; globs like `files.*` too.');
const constraints = defaulted(LIMITS, {}, 'Limits of all its actions.');
const TIER = closed({ description: words, actions: tierActions, constraints });

const CONFIRMATION = closed({
  channel: defaulted(oneOf('same_as_request'), 'same_as_request', 'Where a person is asked.'),
  show: optional(
    array(oneOf('action', 'params', 'reasoning', 'guardian_verdict'), { itemsMax: 4 }),
    'What is shown: always all four.',
  ),
  timeout: defaulted(short, '5m', 'How long a person has.'),
});

const ASKING_TIER = closed({
  description: words,
  actions: tierActions,
  constraints,
  confirmation: defaulted(CONFIRMATION, {}, 'How a person is asked.'),
});

const CHANNEL = closed({
  max_tier: defaulted(
    oneOf('auto_execute', 'log_and_execute', 'human_approval'),
    'human_approval',
    'Actions of a stricter tier are refused here; an action of no tier is `human_approval`.',
  ),
  human_approval: defaulted(actions, [], 'Actions that need a person here.'),
  forbidden: defaulted(actions, [], 'Actions that are refused here.'),
  constraints: defaulted(LIMITS, {}, 'Limits of all actions here.'),
});

export const PERMISSIONS_FILE = closed({
  version: defaulted(integer({ min: 1, max: 1 }), 1, 'The version of this form: 1.'),
  tiers: defaulted(
    closed({
      auto_execute: defaulted(TIER, {}, 'Runs.'),
      log_and_execute: defaulted(TIER, {}, 'Runs, and its record carries this tier.'),
      human_approval: defaulted(ASKING_TIER, {}, 'Runs once a person has agreed.'),
      forbidden: defaulted(
        closed({ description: words, actions: tierActions }),
        {},
        'Never runs, whatever a model says.',
      ),
    }),
    {},
    'The actions by tier. An action of several tiers has the strictest; one of none is `human_approval`.',
  ),
  limits: defaulted(
    record(LIMITS),
    {},
    'Limits of single actions, by action or glob, on top of those of their tier.',
  ),
  channels: defaulted(
    record(CHANNEL),
    {},
    'What is stricter on a channel, by its name. A channel can only tighten.',
  ),
});

export type PermissionsFile = Infer<typeof PERMISSIONS_FILE>;
export type PermissionLimits = Infer<typeof LIMITS>;
