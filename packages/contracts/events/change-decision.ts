// A person's decision about a change that an agent proposed, or about what an agent remembers.
import { array, formatted, oneOf, open, optional, required, string } from '../shape/shape.ts';

const CHANGED_FILE = open({
  path: required(string({ lengthMax: 4_096 }), 'The file.'),
  before: optional(formatted('sha256'), 'Its hash before; absent when there was no file.'),
  after: optional(formatted('sha256'), 'Its hash after; absent when there is no file any more.'),
});

const CHANGE_FIELDS = open({
  id: required(string({ lengthMax: 64 }), 'The proposed change.'),
  kind: required(
    oneOf('files', 'config', 'skill', 'server', 'tool', 'memory'),
    'What it would change. Of the memory, `title` repeats no text: what is forgotten must not stay here.',
  ),
  state: required(
    oneOf('approved', 'rejected', 'rolled_back', 'revoked'),
    'What the person decided. `rolled_back`: what was before is there again. `revoked`: it was taken away.',
  ),
  by: required(string({ lengthMax: 256 }), 'Who decided.'),
  channel: optional(string({ lengthMax: 64 }), 'By which channel.'),
  title: required(string({ lengthMax: 1_024 }), 'The change in words; safe to show.'),
  files: optional(array(CHANGED_FILE, { itemsMax: 100 }), 'The files that were changed.'),
  commit: optional(string({ lengthMax: 64 }), 'The commit of git that holds it.'),
});

export const CHANGE_DECISION = {
  change: required(CHANGE_FIELDS, 'Since 0.2.0: the change, and what became of it.'),
} as const;
