// What commands and the page ask of a running Steward, over its socket.
import { type Parsed, parserFor } from '../shape/check.ts';
import {
  array,
  boolean,
  closed,
  type Infer,
  integer,
  nullable,
  type ObjectShape,
  oneOf,
  open,
  optional,
  required,
  string,
} from '../shape/shape.ts';
import { ACKNOWLEDGE_ALERTS, STEWARD_ALERT, STEWARD_MONITOR_RULE } from './alert-shapes.ts';
import {
  APPROVE_CHANGE,
  CHANGE_EDIT,
  CHANGE_NAMED,
  REJECT_CHANGE,
  REVOKE_PART,
  ROLL_BACK_CHANGE,
  SKILL_FOLDER,
  STEWARD_CHANGE,
  STEWARD_CHANGE_VIEW,
  STEWARD_CHANGES,
  STEWARD_EXPANSION,
} from './change-shapes.ts';
import {
  CONFIRM_MEMORY,
  DECIDE_MEMORY_REQUEST,
  FORGET_MEMORY,
  MEMORY_QUERY,
  MEMORY_SEARCH,
  SET_CORE_FACT,
  STEWARD_CORE_FACTS,
  STEWARD_DONE,
  STEWARD_FORGOTTEN,
  STEWARD_MEMORIES,
  STEWARD_MEMORY_AUDIT,
  STEWARD_MEMORY_FOUND,
  STEWARD_MEMORY_REVIEW,
} from './memory-shapes.ts';
import { PAIRED_SENDER, PAIRED_SENDERS, PAIRING_CODE, UNPAIR } from './pairing-shapes.ts';

const words = string({ lengthMin: 0 });
const name = string({ lengthMax: 256 });
const count = integer({ min: 0 });
const TIME_MS = integer({ min: 0 });
const TEXT_LENGTH_MAX = 100_000;
/** What the journal keeps of a text, and the mark of a cut. */
const text = string({ lengthMin: 0, lengthMax: 200_100 });
const LIST_MAX = 1_000;
const WAIT_MS_MAX = 60_000;

const STEWARD_STEP = open({
  n: required(count, 'Its number in the task.'),
  server: required(words, 'The server; empty where the model named no tool that is there.'),
  tool: required(words, 'The tool.'),
  args: required(open({}), 'The arguments that the model proposed.'),
  reasoning: required(text, 'Why, in the words of the model.'),
  state: required(
    oneOf('proposed', 'judged', 'sent', 'forwarded', 'done', 'refused', 'failed', 'unknown'),
    '`unknown`: it was sent, and nobody knows whether it took effect.',
  ),
  judgements: required(
    array(
      open({
        by: required(words, 'Who judged: `guardian`, `egress`, `rates`.'),
        verdict: required(words, '`ALLOW`, `BLOCK` or `ESCALATE_TO_HUMAN`.'),
        reason: required(words, 'Why. Hostile text.'),
      }),
      { itemsMax: 16 },
    ),
    'What was thought of it before the policy decided.',
  ),
  call_id: required(nullable(words), 'The call of the ledger.'),
  run_id: required(nullable(words), 'The run of the ledger that has this call.'),
  result: required(nullable(text), 'What the model was told.'),
});

const STEWARD_TASK = open({
  id: required(words, 'The task.'),
  conversation_id: required(words, 'Its conversation.'),
  purpose: required(words, 'The chain of models that does it.'),
  asked_by: required(oneOf('user', 'agent'), 'Whose words the request is.'),
  request: required(text, 'What was asked for.'),
  state: required(oneOf('waiting', 'running', 'done', 'stopped', 'failed'), 'How it stands.'),
  reason: required(nullable(words), 'Why it was stopped or failed.'),
  cost_micros: required(count, 'What its models cost, in millionths of a dollar.'),
  created_at_ms: required(TIME_MS, 'When it was asked for.'),
  ended_at_ms: required(nullable(TIME_MS), 'When it ended.'),
  steps: required(
    array(STEWARD_STEP, { itemsMax: LIST_MAX }),
    'What the model proposed, in order.',
  ),
});

const STEWARD_MESSAGE = open({
  n: required(count, 'Counts up over all conversations.'),
  role: required(
    oneOf('user', 'assistant', 'notice'),
    'Who says it; a notice is of Steward itself.',
  ),
  text: required(text, 'The message. Hostile text, as everything that a model wrote.'),
  task_id: required(nullable(words), 'The task that it belongs to.'),
  at_ms: required(TIME_MS, 'When.'),
});

const STEWARD_CONVERSATION = open({
  id: required(words, 'The conversation.'),
  channel: required(words, 'The channel.'),
  person: required(words, 'Who, as the channel names them.'),
  run_id: required(nullable(words), 'The last run of the ledger.'),
  created_at_ms: required(TIME_MS, 'When it began.'),
});

export const STEWARD_STATUS = open({
  pid: required(count, 'The process.'),
  version: required(words, 'The version of Subluminal.'),
  started_at_ms: required(TIME_MS, 'When it started.'),
  config_folder: required(words, 'Where its configuration is.'),
  config_problems: required(
    array(words, { itemsMax: LIST_MAX }),
    'What is wrong with the folder, with file and line; the last good one is in force.',
  ),
  restart_needed: required(
    array(words, { itemsMax: LIST_MAX }),
    'What has changed in the folder, and is in force after a restart.',
  ),
  servers: required(array(words, { itemsMax: LIST_MAX }), 'The servers whose tools it has.'),
  shared_model: required(
    nullable(words),
    'The model that is both agent and guardian; null where the guardian has one of its own.',
  ),
  channels: required(
    array(
      open({
        name: required(words, 'The channel.'),
        trouble: required(nullable(words), 'What is wrong with it.'),
      }),
      { itemsMax: 32 },
    ),
    'Where it can be reached beside terminal and page.',
  ),
  open_tasks: required(array(STEWARD_TASK, { itemsMax: LIST_MAX }), 'Tasks that have not ended.'),
  spending: required(
    array(
      open({
        purpose: required(words, 'What the models were asked for.'),
        turns: required(count, 'Questions to models.'),
        steps: required(count, 'Proposals.'),
        input_tokens: required(count, 'Tokens that were read.'),
        output_tokens: required(count, 'Tokens that were written.'),
        cost_micros: required(count, 'In millionths of a dollar.'),
        work_ms: required(count, 'Time of work.'),
      }),
      { itemsMax: 32 },
    ),
    'Of this day (UTC), by purpose.',
  ),
  memory: required(
    open({
      engine: required(oneOf('sqlite', 'postgres'), 'Where it is kept.'),
      vectors: required(nullable(words), 'The model that searches by meaning; null without one.'),
      trouble: required(nullable(words), 'Why there is none.'),
      waiting: required(count, 'Entries and requests that wait for the user.'),
      last_audit: required(
        nullable(
          open({
            at_ms: required(TIME_MS, 'When it ended.'),
            findings: required(count, 'What it found.'),
          }),
        ),
        'The last daily audit.',
      ),
    }),
    'What it remembers.',
  ),
  pending_confirmations: required(count, 'Calls of its runs that wait for a person.'),
  pending_changes: required(count, 'Staged changes and proposals that wait for a person.'),
  alerts: required(
    array(STEWARD_ALERT, { itemsMax: LIST_MAX }),
    'What the monitor has found within a day, the newest first.',
  ),
  monitor_rules: required(
    array(STEWARD_MONITOR_RULE, { itemsMax: 32 }),
    'What the monitor looks for.',
  ),
});

export const STEWARD_CONVERSATIONS = open({
  conversations: required(array(STEWARD_CONVERSATION, { itemsMax: LIST_MAX }), 'Newest first.'),
});

export const STEWARD_TASKS = open({
  tasks: required(array(STEWARD_TASK, { itemsMax: LIST_MAX }), 'Newest first.'),
});

/** A message to Steward. */
const MESSAGE = {
  thread: optional(name, 'Another conversation of the same person; without it, the usual one.'),
  text: required(string({ lengthMax: TEXT_LENGTH_MAX }), 'The message; `/stop` ends the tasks.'),
};
const STEWARD_SEND = closed({
  channel: required(oneOf('terminal', 'web'), 'Where the person is.'),
  person: required(name, 'Who, by the name of the user of this machine.'),
  ...MESSAGE,
});
/** What the page sends; its server knows who it is for. */
export const PAGE_MESSAGE = closed(MESSAGE);

export const STEWARD_TAKEN = open({
  kind: required(oneOf('task', 'stopped'), 'What became of the message.'),
  conversation_id: required(words, 'The conversation.'),
  task_id: required(nullable(words), 'The task that it became.'),
});

export const STEWARD_STOP = closed({
  conversation_id: required(name, 'The conversation.'),
  task_id: optional(name, 'One task; without it, all of the conversation.'),
});

export const STEWARD_STOPPED = open({ count: required(count, 'How many tasks were ended.') });

export const STEWARD_UPDATES_QUERY = closed({
  conversation_id: required(name, 'The conversation.'),
  after: required(count, 'Messages behind this number.'),
  version: optional(count, 'What the last answer gave: waits until something has changed.'),
  wait_ms: optional(integer({ min: 0, max: WAIT_MS_MAX }), 'How long at most; 0.'),
});

export const STEWARD_UPDATES = open({
  version: required(count, 'For the next question.'),
  run_id: required(nullable(words), 'The run whose calls may wait for a person.'),
  sub_agent_runs: required(
    array(words, { itemsMax: LIST_MAX }),
    'The runs of sub-agents that work for it: their calls may wait for a person as well.',
  ),
  messages: required(array(STEWARD_MESSAGE, { itemsMax: LIST_MAX }), 'In their order.'),
  tasks: required(array(STEWARD_TASK, { itemsMax: LIST_MAX }), 'The open tasks and the last one.'),
  open_changes: required(
    array(
      open({
        id: required(words, 'The change.'),
        sha256: required(words, 'Another one when it has grown or was edited.'),
      }),
      { itemsMax: LIST_MAX },
    ),
    'Changes that were proposed here and wait for a person. None while a task is open, which may add to them.',
  ),
  is_idle: required(boolean(), 'Nothing is left to do in this conversation.'),
});

export const STEWARD_TASKS_QUERY = closed({
  conversation_id: optional(name, 'Only those of this conversation.'),
  limit: optional(integer({ min: 1, max: 200 }), 'How many; 50.'),
});

/** What each method takes. */
export interface StewardInputs {
  readonly status: object;
  readonly conversations: object;
  readonly tasks: Infer<typeof STEWARD_TASKS_QUERY>;
  readonly send: Infer<typeof STEWARD_SEND>;
  readonly stop: Infer<typeof STEWARD_STOP>;
  readonly updates: Infer<typeof STEWARD_UPDATES_QUERY>;
  readonly 'alerts/acknowledge': Infer<typeof ACKNOWLEDGE_ALERTS>;
  readonly memory: Infer<typeof MEMORY_QUERY>;
  readonly 'memory/core': object;
  readonly 'memory/core/set': Infer<typeof SET_CORE_FACT>;
  readonly 'memory/review': object;
  readonly 'memory/confirm': Infer<typeof CONFIRM_MEMORY>;
  readonly 'memory/forget': Infer<typeof FORGET_MEMORY>;
  readonly 'memory/decide': Infer<typeof DECIDE_MEMORY_REQUEST>;
  readonly 'memory/search': Infer<typeof MEMORY_SEARCH>;
  readonly 'memory/audit': object;
  readonly paired: object;
  readonly pair: Infer<typeof PAIRING_CODE>;
  readonly unpair: Infer<typeof UNPAIR>;
  readonly changes: object;
  readonly 'changes/show': Infer<typeof CHANGE_NAMED>;
  readonly 'changes/approve': Infer<typeof APPROVE_CHANGE>;
  readonly 'changes/reject': Infer<typeof REJECT_CHANGE>;
  readonly 'changes/modify': Infer<typeof CHANGE_EDIT>;
  readonly 'changes/rollback': Infer<typeof ROLL_BACK_CHANGE>;
  readonly expansion: object;
  readonly 'expansion/revoke': Infer<typeof REVOKE_PART>;
  readonly 'expansion/add-skill': Infer<typeof SKILL_FOLDER>;
}
export type StewardMethod = keyof StewardInputs;

/** What each method answers. */
export interface StewardAnswers {
  readonly status: Infer<typeof STEWARD_STATUS>;
  readonly conversations: Infer<typeof STEWARD_CONVERSATIONS>;
  readonly tasks: Infer<typeof STEWARD_TASKS>;
  readonly send: Infer<typeof STEWARD_TAKEN>;
  readonly stop: Infer<typeof STEWARD_STOPPED>;
  readonly updates: Infer<typeof STEWARD_UPDATES>;
  readonly 'alerts/acknowledge': Infer<typeof STEWARD_DONE>;
  readonly memory: Infer<typeof STEWARD_MEMORIES>;
  readonly 'memory/core': Infer<typeof STEWARD_CORE_FACTS>;
  readonly 'memory/core/set': Infer<typeof STEWARD_CORE_FACTS>;
  readonly 'memory/review': Infer<typeof STEWARD_MEMORY_REVIEW>;
  readonly 'memory/confirm': Infer<typeof STEWARD_DONE>;
  readonly 'memory/forget': Infer<typeof STEWARD_FORGOTTEN>;
  readonly 'memory/decide': Infer<typeof STEWARD_DONE>;
  readonly 'memory/search': Infer<typeof STEWARD_MEMORY_FOUND>;
  readonly 'memory/audit': Infer<typeof STEWARD_MEMORY_AUDIT>;
  readonly paired: Infer<typeof PAIRED_SENDERS>;
  readonly pair: Infer<typeof PAIRED_SENDER>;
  readonly unpair: Infer<typeof STEWARD_DONE>;
  readonly changes: Infer<typeof STEWARD_CHANGES>;
  readonly 'changes/show': Infer<typeof STEWARD_CHANGE_VIEW>;
  readonly 'changes/approve': Infer<typeof STEWARD_CHANGE>;
  readonly 'changes/reject': Infer<typeof STEWARD_CHANGE>;
  readonly 'changes/modify': Infer<typeof STEWARD_CHANGE_VIEW>;
  readonly 'changes/rollback': Infer<typeof STEWARD_CHANGE>;
  readonly expansion: Infer<typeof STEWARD_EXPANSION>;
  readonly 'expansion/revoke': Infer<typeof STEWARD_CHANGE>;
  readonly 'expansion/add-skill': Infer<typeof STEWARD_CHANGE_VIEW>;
}

interface ControlMethod<I, A> {
  readonly takes: ObjectShape;
  readonly input: (value: unknown) => Parsed<I>;
  readonly answer: (value: unknown) => Parsed<A>;
}

function method<I, A>(takes: ObjectShape, gives: ObjectShape): ControlMethod<I, A> {
  return { takes, input: parserFor<I>(takes), answer: parserFor<A>(gives) };
}

/** Each is a POST to `/v1/NAME` with the JSON of its input, answered with that of its answer. */
export const STEWARD_CONTROL: {
  readonly [M in StewardMethod]: ControlMethod<StewardInputs[M], StewardAnswers[M]>;
} = {
  status: method(closed({}), STEWARD_STATUS),
  conversations: method(closed({}), STEWARD_CONVERSATIONS),
  tasks: method(STEWARD_TASKS_QUERY, STEWARD_TASKS),
  send: method(STEWARD_SEND, STEWARD_TAKEN),
  stop: method(STEWARD_STOP, STEWARD_STOPPED),
  updates: method(STEWARD_UPDATES_QUERY, STEWARD_UPDATES),
  'alerts/acknowledge': method(ACKNOWLEDGE_ALERTS, STEWARD_DONE),
  memory: method(MEMORY_QUERY, STEWARD_MEMORIES),
  'memory/core': method(closed({}), STEWARD_CORE_FACTS),
  'memory/core/set': method(SET_CORE_FACT, STEWARD_CORE_FACTS),
  'memory/review': method(closed({}), STEWARD_MEMORY_REVIEW),
  'memory/confirm': method(CONFIRM_MEMORY, STEWARD_DONE),
  'memory/forget': method(FORGET_MEMORY, STEWARD_FORGOTTEN),
  'memory/decide': method(DECIDE_MEMORY_REQUEST, STEWARD_DONE),
  'memory/search': method(MEMORY_SEARCH, STEWARD_MEMORY_FOUND),
  'memory/audit': method(closed({}), STEWARD_MEMORY_AUDIT),
  paired: method(closed({}), PAIRED_SENDERS),
  pair: method(PAIRING_CODE, PAIRED_SENDER),
  unpair: method(UNPAIR, STEWARD_DONE),
  changes: method(closed({}), STEWARD_CHANGES),
  'changes/show': method(CHANGE_NAMED, STEWARD_CHANGE_VIEW),
  'changes/approve': method(APPROVE_CHANGE, STEWARD_CHANGE),
  'changes/reject': method(REJECT_CHANGE, STEWARD_CHANGE),
  'changes/modify': method(CHANGE_EDIT, STEWARD_CHANGE_VIEW),
  'changes/rollback': method(ROLL_BACK_CHANGE, STEWARD_CHANGE),
  expansion: method(closed({}), STEWARD_EXPANSION),
  'expansion/revoke': method(REVOKE_PART, STEWARD_CHANGE),
  'expansion/add-skill': method(SKILL_FOLDER, STEWARD_CHANGE_VIEW),
};
