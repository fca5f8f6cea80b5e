// Whether a conversation may repeat what others have written, and who that was. The host knows it: a model that was
// told something by a mail would say that it has seen it itself.
import type { Conversation, Journal } from '../journal/index.ts';
import { isFromElsewhere, type RecalledRuns } from '../loop/index.ts';
import type { MemorySource } from '../memory/index.ts';

interface OutsideParts {
  readonly journal: Journal;
  readonly recalled: RecalledRuns;
}

/** Servers that only give back what the user and Steward have put there. */
const INSIDE: ReadonlySet<string> = new Set([
  ...['reminders', 'contacts', 'config', 'skills', 'toolsmith'],
]);
/** The same of a server that has others. */
const INSIDE_TOOLS: ReadonlySet<string> = new Set(['memory.remember', 'memory.forget_request']);
/** What the model may still see of: more than these are not in its context. */
const TASKS_LOOKED_AT = 20;
const MESSAGES_LOOKED_AT = 60;

/** Of what a conversation knows from outside, the last; undefined while it is clean. */
export function lastOutside(
  { journal, recalled }: OutsideParts,
  { id }: Pick<Conversation, 'id'>,
  runId: string,
): MemorySource | undefined {
  const tasks = { tasksMax: TASKS_LOOKED_AT };
  const read = journal.history
    .heardIn(id, tasks)
    .findLast(({ server, tool }) => !INSIDE.has(server) && !INSIDE_TOOLS.has(`${server}.${tool}`));
  if (read !== undefined) return { server: read.server, tool: read.tool };
  if (recalled.hasOutside(runId)) return { server: 'memory', tool: 'search' };
  // A model wrote its task, after it had read whatever it had read.
  const isGiven = journal
    .lastTasksOf(id, TASKS_LOOKED_AT)
    .some(({ askedBy }) => askedBy !== 'user');
  const isTold = journal
    .lastMessages(id, MESSAGES_LOOKED_AT)
    .some((message) => isFromElsewhere(journal, message));
  return isGiven || isTold ? { server: 'agents', tool: 'result' } : undefined;
}
