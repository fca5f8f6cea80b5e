// The servers that live in this process, for one conversation: the loop cannot tell them from others.
import type { Failure, GuardrailsFile, IntegrationsFile } from '@subluminal/contracts';
import type { OwnServer } from '@subluminal/plane/agent-run';
import type { Conversation, Journal } from '../journal/index.ts';
import type { AgentMemory } from '../memory/index.ts';
import type { ConfigProposals } from '../proposals/index.ts';
import type { Staging } from '../staging/index.ts';
import { calendarServer } from '../tools/calendar/index.ts';
import { configServer } from '../tools/config/index.ts';
import { contactsServer } from '../tools/contacts/index.ts';
import { emailServer } from '../tools/email/index.ts';
import { filesServer } from '../tools/files/index.ts';
import { memoryServer } from '../tools/memory/index.ts';
import { shellServer } from '../tools/shell/index.ts';

export interface OwnServerParts {
  readonly integrations: IntegrationsFile;
  readonly guardrails: () => GuardrailsFile;
  readonly env: { readonly [name: string]: string | undefined };
  readonly secret: (ref: string) => Promise<string | Failure>;
  readonly staging: Staging;
  readonly proposals: ConfigProposals;
  readonly memory: AgentMemory;
  readonly journal: Journal;
  readonly nowMs: () => number;
}

/** `runId` is known once the run is open, and asked for by then. */
export function ownServers(
  parts: OwnServerParts,
  conversation: Conversation,
  runId: () => string,
): readonly OwnServer[] {
  const { integrations, guardrails, env, secret, staging, proposals, memory, nowMs } = parts;
  const { email, calendar } = integrations;
  const { roots } = staging;
  return [
    filesServer({ staging, runId }),
    shellServer({ roots, env }),
    contactsServer({ contacts: () => guardrails().egress.contacts }),
    configServer({ proposals, runId }),
    memoryServer({
      memory,
      conversation: conversation.id,
      readFromOutside: () => lastOutside(parts.journal, conversation.id),
    }),
    ...(email === undefined
      ? []
      : [emailServer({ account: email, password: () => secret(email.password_ref) })]),
    ...(calendar === undefined
      ? []
      : [
          calendarServer({
            ...{ account: calendar, env, nowMs },
            password: () => secret(calendar.password_ref),
          }),
        ]),
  ];
}

/** Servers that only give back what the user and Steward have put there. */
const INSIDE: ReadonlySet<string> = new Set(['memory', 'reminders', 'contacts', '']);

/** What the present task has read last from outside. */
function lastOutside(journal: Journal, conversationId: string) {
  const [task] = journal.lastTasksOf(conversationId, 1);
  if (task === undefined) return undefined;
  const read = journal
    .steps(task.id)
    .findLast(({ server, state }) => state === 'done' && !INSIDE.has(server));
  return read && { server: read.server, tool: read.tool };
}
