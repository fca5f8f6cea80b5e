// The servers that live in this process, for one conversation: the loop cannot tell them from others.
import type { Failure } from '@subluminal/contracts';
import type { OwnServer } from '@subluminal/plane/agent-run';
import type { Conversation, Journal } from '../journal/index.ts';
import type { RecalledRuns } from '../loop/index.ts';
import type { AgentMemory } from '../memory/index.ts';
import { readInstalledTools, sandboxServer } from '../sandbox/index.ts';
import type { Staging } from '../staging/index.ts';
import { agentsServer, type SubAgentDesk } from '../tools/agents/index.ts';
import { calendarServer } from '../tools/calendar/index.ts';
import { configServer } from '../tools/config/index.ts';
import { contactsServer } from '../tools/contacts/index.ts';
import { emailServer } from '../tools/email/index.ts';
import { filesServer } from '../tools/files/index.ts';
import { memoryServer } from '../tools/memory/index.ts';
import { remindersServer } from '../tools/reminders/index.ts';
import { shellServer } from '../tools/shell/index.ts';
import { webServer } from '../tools/web/index.ts';
import { type ExpansionParts, expansionServers } from './expansion-servers.ts';
import { lastOutside } from './outside-reads.ts';

export interface OwnServerParts extends ExpansionParts {
  readonly secret: (ref: string) => Promise<string | Failure>;
  readonly staging: Staging;
  readonly memory: AgentMemory;
  readonly journal: Journal;
  readonly recalled: RecalledRuns;
  readonly subAgents: SubAgentDesk;
  readonly nowMs: () => number;
  readonly log: (line: string) => void;
}

/** Whose servers they are. `runId` is known once the run is open, and asked for by then. */
export interface ServersFor {
  readonly conversation: Conversation;
  readonly runId: () => string;
}

/** All of a new run. */
export function ownServers(parts: OwnServerParts, of: ServersFor): readonly OwnServer[] {
  const { config, env, staging, proposals, memory, journal, nowMs } = parts;
  const { conversation, runId } = of;
  const conversationId = conversation.id;
  return [
    // A sub-agent starts no others, nobody hears its reminders, and it proposes no other self.
    ...(conversation.parentId === null
      ? [
          subAgentsServer(parts, conversationId),
          remindersServer({ store: journal, conversationId, now: () => new Date(nowMs()) }),
          ...expansionServers(parts, runId),
          configServer({ proposals, runId }),
        ]
      : []),
    filesServer({ staging, runId }),
    shellServer({ roots: staging.roots, env }),
    contactsServer({ contacts: () => config().guardrails.egress.contacts }),
    memoryServer({
      memory,
      conversation: conversationId,
      readFromOutside: () => lastOutside(parts, conversation, runId()),
    }),
    ...configuredServers(parts),
    ...installedTools(parts),
  ];
}

export function subAgentsServer(parts: OwnServerParts, conversationId: string): OwnServer {
  const { config, subAgents: desk } = parts;
  const hasCoding = config().integrations.coding !== undefined;
  return agentsServer({ desk, conversationId, hasCoding });
}

/** Those that follow from the configuration; their settings are what they are made with. */
export function configuredServers(parts: OwnServerParts): readonly OwnServer[] {
  const { config, env, secret, nowMs } = parts;
  const { integrations, guardrails } = config();
  const { email, calendar, web } = integrations;
  const { search: settings } = web;
  const keyOf = async (ref: string | undefined) => (ref === undefined ? ref : secret(ref));
  const search = settings && { settings, key: () => keyOf(settings.key_ref) };
  const servers = [
    webServer({ hosts: guardrails.egress.hosts, env, ...(search && { search }) }),
    email && emailServer({ account: email, env, password: () => secret(email.password_ref) }),
    calendar &&
      calendarServer({
        ...{ account: calendar, env, nowMs },
        password: () => secret(calendar.password_ref),
      }),
  ];
  return servers.filter((one) => one !== undefined);
}

/** The tools of the configuration folder as one server; none where there are none. */
export function installedTools({ config, sandbox, log }: OwnServerParts): readonly OwnServer[] {
  const { tools, problems } = readInstalledTools(config().toolsFolder);
  for (const problem of problems) log(problem);
  return tools.length === 0 ? [] : [sandboxServer({ tools, ports: sandbox })];
}
