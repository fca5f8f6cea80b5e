// guardrails.yaml: the limits of Steward, whatever its permissions say.
import {
  array,
  boolean,
  closed,
  defaulted,
  type Infer,
  integer,
  number,
  oneOf,
  optional,
  required,
  string,
} from '../shape/shape.ts';

const text = string({ lengthMax: 512 });
const short = string({ lengthMax: 64 });
const names = array(text, { itemsMax: 1_000 });
const count = (max: number) => integer({ min: 1, max });
const usd = number({ min: 0, max: 1_000_000 });

const CONTACT = closed({
  name: required(text, 'What you call them.'),
  emails: defaulted(names, [], 'Their addresses; `*@example.com` for a whole domain.'),
  handles: defaulted(names, [], 'Their phone numbers and names on channels.'),
});

export const GUARDRAILS_FILE = closed({
  version: defaulted(integer({ min: 1, max: 1 }), 1, 'The version of this form: 1.'),
  task: defaulted(
    closed({
      steps: defaulted(count(1_000), 40, 'Actions at most.'),
      usd: defaulted(usd, 1, 'Dollars for models at most.'),
      minutes: defaulted(
        count(1_440),
        30,
        'Minutes at most, without those of waiting for a person.',
      ),
    }),
    {},
    'What one task may take.',
  ),
  day: defaulted(
    closed({
      steps: defaulted(count(100_000), 1_000, 'Actions at most.'),
      usd: defaulted(usd, 10, 'Dollars for models at most.'),
      minutes: defaulted(count(1_440), 600, 'Minutes of work at most.'),
    }),
    {},
    'What one day may take.',
  ),
  circuit_breaker: defaulted(
    closed({
      actions: defaulted(short, '60/minute', 'Actions of a conversation, all together.'),
      repeats: defaulted(
        integer({ min: 2, max: 1_000 }),
        5,
        'The same call so often within the window is refused.',
      ),
      errors: defaulted(
        count(1_000),
        10,
        'After so many failed calls of a tool within the window, it is refused.',
      ),
      window: defaulted(short, '5m', 'The window of both.'),
    }),
    {},
    'What stops an agent that runs in a circle.',
  ),
  forbidden_patterns: defaulted(
    array(
      closed({
        pattern: required(string({ lengthMax: 1_024 }), 'An RE2 expression.'),
        why: optional(text, 'What the agent is told.'),
      }),
      { itemsMax: 100 },
    ),
    [],
    'Texts that no action may have anywhere in its parameters.',
  ),
  guardian: defaulted(
    closed({
      enabled: defaulted(boolean(), true, 'Whether a second model judges actions.'),
      skip: defaulted(
        array(oneOf('auto_execute', 'log_and_execute', 'human_approval'), { itemsMax: 3 }),
        ['auto_execute'],
        'Tiers whose actions it is not asked about.',
      ),
      timeout_s: defaulted(count(600), 30, 'How long it may take; then a person is asked.'),
    }),
    {},
    'The guardian.',
  ),
  egress: defaulted(
    closed({
      contacts: defaulted(
        array(CONTACT, { itemsMax: 1_000 }),
        [],
        'People who may be written to without being named.',
      ),
      hosts: defaulted(
        names,
        [],
        'Hosts that may be reached without asking; `*.example.com` for all below.',
      ),
      messages_per_hour: defaulted(count(10_000), 20, 'Messages in an hour; more ask a person.'),
      messages_per_day: defaulted(count(100_000), 100, 'Messages in a day; more ask a person.'),
      new_recipients_per_day: defaulted(
        count(10_000),
        10,
        'New recipients in a day; more ask a person.',
      ),
      body_chars: defaulted(
        integer({ min: 100, max: 1_000_000 }),
        20_000,
        'The longest message; a longer one asks a person.',
      ),
    }),
    {},
    'What may leave.',
  ),
  heartbeat: defaulted(
    closed({
      enabled: defaulted(boolean(), false, 'Whether Steward looks for work by itself.'),
      every: defaulted(short, '1h', 'How often.'),
      prompt: optional(string({ lengthMax: 8_192 }), 'What it does then.'),
      usd_per_day: defaulted(usd, 1, 'Dollars for heartbeat and schedules in a day.'),
    }),
    {},
    'Work without being asked.',
  ),
  journal_days: defaulted(
    count(3_650),
    90,
    'Days that conversations, ended tasks and their steps are kept.',
  ),
  sub_agents: defaulted(
    closed({
      max: defaulted(integer({ min: 0, max: 32 }), 3, 'Sub-agents at the same time; 0 for none.'),
      timeout_minutes: defaulted(count(1_440), 60, 'After so long one is ended and archived.'),
    }),
    {},
    'Sub-agents.',
  ),
  expansion: defaulted(
    closed({
      skills: defaulted(boolean(), true, 'Whether it may propose skills.'),
      servers: defaulted(boolean(), true, 'Whether it may propose MCP servers.'),
      tools: defaulted(boolean(), false, 'Whether it may propose tools that it has written.'),
    }),
    {},
    'What it may propose to become.',
  ),
  monitor: defaulted(
    closed({
      calls_per_minute: defaulted(count(100_000), 60, 'More calls of a tool are a spike.'),
      blocks_percent: defaulted(
        integer({ min: 1, max: 100 }),
        30,
        'A larger share of actions that the guardian blocks is told.',
      ),
      injections_per_hour: defaulted(count(10_000), 3, 'More findings of injection are told.'),
      quiet_hours: optional(
        closed({
          from: required(short, 'When they begin, like `"23:00"`.'),
          to: required(short, 'When they end.'),
          utc_offset: optional(short, 'The time zone, like `"+02:00"`; UTC.'),
        }),
        'Hours in which any action is told.',
      ),
      new_hosts: defaulted(
        boolean(),
        true,
        'Whether a host that was never reached before is told.',
      ),
      new_recipients: defaulted(boolean(), true, 'Whether a new recipient is told.'),
      alerts_per_day: defaulted(count(1_000), 10, 'Alerts in a day; the rest is only recorded.'),
    }),
    {},
    'What you are told of.',
  ),
});

export type GuardrailsFile = Infer<typeof GUARDRAILS_FILE>;
export type StewardContact = Infer<typeof CONTACT>;
