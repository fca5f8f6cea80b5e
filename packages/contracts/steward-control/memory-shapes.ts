// What people ask of Steward's memory, and what they decide about it.
import {
  array,
  boolean,
  closed,
  integer,
  nullable,
  number,
  oneOf,
  open,
  optional,
  required,
  string,
} from '../shape/shape.ts';
import { DECIDER } from './decider.ts';

const words = string({ lengthMin: 0 });
const name = string({ lengthMax: 256 });
const count = integer({ min: 0 });
const TIME_MS = integer({ min: 0 });
const share = number({ min: 0, max: 1 });
const LIST_MAX = 1_000;
const FORGET_MAX = 1_000;

const PROVENANCE = oneOf(
  'user_instruction',
  'agent_observation',
  'external_content',
  'tool_result',
);
const STATE = oneOf('active', 'review', 'quarantined');

const STEWARD_MEMORY = open({
  id: required(words, 'The entry.'),
  text: required(words, 'What is remembered. Hostile text.'),
  provenance: required(PROVENANCE, 'Whose words they are.'),
  source: required(
    open({
      server: optional(words, 'The server that it came from.'),
      tool: optional(words, 'Its tool.'),
      sender: optional(words, 'Who wrote it, as the source says.'),
    }),
    'Where it came from.',
  ),
  state: required(STATE, 'Only what is active comes back in searches.'),
  reasons: required(array(words, { itemsMax: 100 }), 'Why it waits for the user.'),
  tags: required(array(words, { itemsMax: 100 }), 'Kinds of personal data in it.'),
  created_at_ms: required(TIME_MS, 'When it was added.'),
  confirmed_at_ms: required(nullable(TIME_MS), 'When the user vouched for it.'),
  last_used_at_ms: required(nullable(TIME_MS), 'When it last came back in a search.'),
  trust: required(share, 'Follows from its provenance and from the confirmation of the user.'),
  freshness: required(share, 'What is left of its influence.'),
});

export const MEMORY_QUERY = closed({
  containing: optional(string({ lengthMax: 1_000 }), 'Only entries that hold this text.'),
  provenance: optional(PROVENANCE, 'Only these.'),
  state: optional(STATE, 'Only these.'),
  before: optional(name, 'The id of the last entry of the page before.'),
  limit: optional(integer({ min: 1, max: 200 }), 'How many; 50.'),
});

export const STEWARD_MEMORIES = open({
  entries: required(array(STEWARD_MEMORY, { itemsMax: LIST_MAX }), 'The newest first.'),
  counts: required(
    open({
      active: required(count, 'Come back in searches.'),
      review: required(count, 'Wait for the user.'),
      quarantined: required(count, 'Look like instructions, and wait for the user.'),
    }),
    'How many there are in each state.',
  ),
  vectors: required(nullable(words), 'The model that searches by meaning; null without one.'),
});

export const MEMORY_SEARCH = closed({
  text: required(string({ lengthMax: 1_000 }), 'What to look for, in words.'),
  limit: optional(integer({ min: 1, max: 50 }), 'The best so many; 8.'),
});

export const STEWARD_MEMORY_FOUND = open({
  entries: required(array(STEWARD_MEMORY, { itemsMax: LIST_MAX }), 'The best first.'),
});

export const STEWARD_MEMORY_AUDIT = open({
  checked: required(count, 'Entries that were looked at.'),
  findings: required(
    array(
      open({
        kind: required(
          oneOf('tampered', 'injected', 'contradiction', 'flood'),
          'What is wrong with it.',
        ),
        id: required(words, 'The entry.'),
        detail: required(words, 'More about it. Hostile text in part.'),
      }),
      { itemsMax: LIST_MAX },
    ),
    'What was found; the entries wait for the user.',
  ),
  unlisted: required(count, 'Findings beyond these.'),
});

export const STEWARD_CORE_FACTS = open({
  facts: required(
    array(
      open({
        key: required(words, 'Its name.'),
        value: required(words, 'What the user has set.'),
        set_at_ms: required(TIME_MS, 'When.'),
      }),
      { itemsMax: LIST_MAX },
    ),
    'What only the user changes.',
  ),
});

export const STEWARD_MEMORY_REVIEW = open({
  entries: required(array(STEWARD_MEMORY, { itemsMax: LIST_MAX }), 'What waits for a look.'),
  requests: required(
    array(
      open({
        id: required(words, 'The request.'),
        kind: required(oneOf('forget', 'core'), 'What the agent asks for.'),
        text: required(words, 'What would be forgotten, or the fact that would be set.'),
        reason: required(words, 'Why, in the words of the agent.'),
        created_at_ms: required(TIME_MS, 'When it asked.'),
      }),
      { itemsMax: LIST_MAX },
    ),
    'What the agent asks the user to do.',
  ),
});

const NAMED = { id: required(name, 'The entry.') };

const FORGOTTEN = {
  ids: optional(array(name, { itemsMin: 1, itemsMax: FORGET_MAX }), 'These entries.'),
  containing: optional(
    string({ lengthMax: 1_000 }),
    'All entries, core facts and requests that hold this text. Either this or `ids`.',
  ),
};

export const STEWARD_FORGOTTEN = open({
  entries: required(count, 'Entries that are gone.'),
  core_facts: required(count, 'Core facts that are gone.'),
  requests: required(count, 'Requests that are gone.'),
  journal_texts: required(count, 'Texts of conversations and tasks that held it.'),
  journal_texts_left: required(count, 'Those of tasks that are under way, which still hold it.'),
});

const REQUEST_DECIDED = {
  id: required(name, 'The request.'),
  verdict: required(oneOf('accept', 'reject'), 'What the user says to it.'),
};

const FACT_SET = {
  key: required(string({ lengthMax: 256 }), 'Its name.'),
  value: required(string({ lengthMin: 0, lengthMax: 4_096 }), 'Empty takes it out.'),
};

/** What the page sends; its server knows who it is for. */
export const MEMORY_NAMED = closed(NAMED);
export const MEMORY_FORGET = closed(FORGOTTEN);
export const MEMORY_REQUEST_DECIDED = closed(REQUEST_DECIDED);
export const CORE_FACT_SET = closed(FACT_SET);

export const CONFIRM_MEMORY = closed({ ...NAMED, ...DECIDER });
export const FORGET_MEMORY = closed({ ...FORGOTTEN, ...DECIDER });
export const DECIDE_MEMORY_REQUEST = closed({ ...REQUEST_DECIDED, ...DECIDER });
export const SET_CORE_FACT = closed({ ...FACT_SET, ...DECIDER });

export const STEWARD_DONE = open({ is_done: required(boolean(), 'True.') });
