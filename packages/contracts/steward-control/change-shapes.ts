// Changes that Steward proposes: to files, to its configuration, its skills, servers and tools. People decide.
import {
  array,
  boolean,
  closed,
  integer,
  nullable,
  oneOf,
  open,
  optional,
  required,
  string,
} from '../shape/shape.ts';
import { DECIDER } from './decider.ts';

const words = string({ lengthMin: 0 });
const name = string({ lengthMax: 256 });
const path = string({ lengthMax: 4_096 });
const TIME_MS = integer({ min: 0 });
const LIST_MAX = 1_000;
const FILES_MAX = 100;
/** Longer ones are shown as a diff alone. */
const TEXT_LENGTH_MAX = 200_000;
const text = string({ lengthMin: 0, lengthMax: TEXT_LENGTH_MAX });
const DIFF_LENGTH_MAX = 1_000_000;

export const STEWARD_CHANGE = open({
  id: required(words, 'The change.'),
  kind: required(oneOf('files', 'config', 'skill', 'server', 'tool'), 'What it would change.'),
  state: required(
    oneOf('open', 'committing', 'committed', 'rejected', 'rolled_back'),
    '`open`: it waits for a person. `committing`: its files are being written.',
  ),
  why: required(words, "The agent's reason. Hostile text."),
  run_id: required(words, 'The run that proposed it.'),
  proposed_at_ms: required(TIME_MS, 'When.'),
  is_modified: required(boolean(), 'Whether the user has edited the proposed text.'),
  by: required(nullable(words), 'Who decided.'),
  decided_at_ms: required(nullable(TIME_MS), 'When.'),
  paths: required(array(path, { itemsMax: FILES_MAX }), 'The files.'),
});

export const STEWARD_CHANGES = open({
  changes: required(array(STEWARD_CHANGE, { itemsMax: LIST_MAX }), 'The newest first.'),
});

export const STEWARD_CHANGE_VIEW = open({
  change: required(STEWARD_CHANGE, 'The change.'),
  sha256: required(words, 'Approving takes it: nothing else than what was seen is approved.'),
  loosens: required(
    array(words, { itemsMax: LIST_MAX }),
    'What it would let pass that is stopped now.',
  ),
  notes: required(
    array(words, { itemsMax: LIST_MAX }),
    'What a proposed skill, server or tool is and may do, in words.',
  ),
  files: required(
    array(
      open({
        path: required(path, 'The file.'),
        to: required(nullable(path), 'Of a rename: where it goes.'),
        kind: required(oneOf('create', 'edit', 'delete', 'rename'), 'What would happen to it.'),
        before: required(nullable(text), 'Null for a binary file, and for a long one.'),
        after: required(nullable(text), 'The same once the change is made.'),
        diff: required(
          string({ lengthMin: 0, lengthMax: DIFF_LENGTH_MAX }),
          'A unified diff, safe to print.',
        ),
      }),
      { itemsMax: FILES_MAX },
    ),
    'What would happen to each file.',
  ),
});

const EXPANSION_KIND = oneOf('skill', 'server', 'tool');

export const STEWARD_EXPANSION = open({
  parts: required(
    array(
      open({
        kind: required(EXPANSION_KIND, 'What it is.'),
        name: required(words, 'Its name.'),
        about: required(words, 'What it is for, or how it is reached. Hostile text.'),
      }),
      { itemsMax: LIST_MAX },
    ),
    'Skills, servers and tools that are in use.',
  ),
  problems: required(array(words, { itemsMax: LIST_MAX }), 'What is there and not used, and why.'),
});

export const CHANGE_NAMED = closed({ id: required(name, 'The change.') });

const SEEN = {
  id: required(name, 'The change.'),
  sha256: required(string({ lengthMin: 64, lengthMax: 64 }), 'Of the change as it was seen.'),
};
const ROLLBACK = {
  id: required(name, 'The change.'),
  is_forced: optional(boolean(), 'Also over what somebody has changed since; files only.'),
};

const PART = {
  kind: required(EXPANSION_KIND, 'What is revoked.'),
  name: required(name, 'Its name.'),
};

/** What the page sends; its server knows who it is for. */
export const EXPANSION_PART = closed(PART);
export const CHANGE_SEEN = closed(SEEN);
export const CHANGE_ROLLBACK = closed(ROLLBACK);
export const CHANGE_EDIT = closed({
  ...SEEN,
  path: required(path, 'The file.'),
  text: required(text, 'What stands there instead of the proposed text.'),
});

export const APPROVE_CHANGE = closed({ ...SEEN, ...DECIDER });
export const REJECT_CHANGE = closed({ id: required(name, 'The change.'), ...DECIDER });
export const ROLL_BACK_CHANGE = closed({ ...ROLLBACK, ...DECIDER });
export const REVOKE_PART = closed({ ...PART, ...DECIDER });

export const SKILL_FOLDER = closed({
  folder: required(path, 'A folder with a SKILL.md, by its absolute path.'),
});
