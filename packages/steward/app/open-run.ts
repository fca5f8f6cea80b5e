// The run of a conversation: its policy, its servers and its models, from its opening on.
import { isDeepStrictEqual } from 'node:util';
import type { StewardChannel } from '@subluminal/contracts';
import type { Snapshot } from '@subluminal/core/policy';
import type { AgentRun } from '@subluminal/plane/agent-run';
import type { StewardConfig } from '../config/index.ts';
import type { Conversation } from '../journal/index.ts';
import { type Conversations, channelOf } from '../loop/index.ts';
import { permissionsSnapshot } from '../permissions/index.ts';
import { EXPANSION, expansionServers, expansionSettings } from './expansion-servers.ts';
import type { Parts } from './open-parts.ts';
import { configuredServers, installedTools, ownServers, subAgentsServer } from './own-servers.ts';

/** A configuration never changes, a new one takes its place: each of its policies is compiled once. */
const policies = new WeakMap<StewardConfig, Map<StewardChannel, Promise<Snapshot>>>();

function policyFor(config: StewardConfig, conversation: Conversation): Promise<Snapshot> {
  const { permissions, guardrails } = config;
  const channel = channelOf(conversation.channel);
  const known = policies.get(config) ?? new Map<StewardChannel, Promise<Snapshot>>();
  policies.set(config, known);
  const policy = known.get(channel) ?? permissionsSnapshot(permissions, { channel, guardrails });
  known.set(channel, policy);
  return policy;
}

/** Throws why not. */
export async function openRun(parts: Parts, conversation: Conversation): Promise<AgentRun> {
  const { live, runs, models, own } = parts;
  const config = live.current();
  let id = '';
  const run = runs.open({
    policy: await policyFor(config, conversation),
    policyPaths: [config.folder],
    servers: [...ownServers(own, { conversation, runId: () => id }), ...config.servers],
    meta: { channel: conversation.channel, conversation: conversation.id },
  });
  ({ id } = run);
  const failed = await models.openRun(run.turns);
  if (failed !== undefined) {
    await run.close();
    throw new Error(failed.message);
  }
  return run;
}

/** Puts a changed configuration in force in the runs that are open, and says what waits for a restart. */
export async function useConfig(
  parts: Parts,
  conversations: Conversations,
  before: StewardConfig,
): Promise<void> {
  const { live, log } = parts;
  const now = live.current();
  // First, and for all: a server may take its time to start.
  await conversations.forEachRun(async (run, conversation) =>
    run.usePolicy(await policyFor(now, conversation)),
  );
  await conversations.forEachRun(async (run, conversation) => {
    await changeServers(parts, run, before);
    if (conversation.parentId !== null) return;
    await changeExpansion(parts, run, before);
    await changeSubAgents(parts, { run, conversation, before });
  });
  const waits = restartNeeds(before, now);
  if (waits.length > 0) log(`Changed, and in force after a restart: ${waits.join(', ')}.`);
}

async function changeServers(parts: Parts, run: AgentRun, before: StewardConfig): Promise<void> {
  const { live, own, log } = parts;
  const now = live.current();
  const others = changedNames(byName(before.servers), byName(now.servers));
  for (const name of others.gone) await run.removeServer(name);
  for (const { name, why } of await addAll(run, others.fresh)) log(`${name}: ${why}`);
  if (isDeepStrictEqual(ownSettings(before), ownSettings(now))) return;
  for (const name of CONFIGURED) await run.removeServer(name);
  for (const { name, why } of await addAll(run, configuredServers(own))) log(`${name}: ${why}`);
}

async function changeExpansion(parts: Parts, run: AgentRun, before: StewardConfig): Promise<void> {
  const { live, own, log } = parts;
  if (isDeepStrictEqual(expansionSettings(before), expansionSettings(live.current()))) return;
  for (const name of EXPANSION) await run.removeServer(name);
  const servers = expansionServers(own, () => run.id);
  for (const { name, why } of await addAll(run, servers)) log(`${name}: ${why}`);
}

interface ChangedRun {
  readonly run: AgentRun;
  readonly conversation: Conversation;
  readonly before: StewardConfig;
}

/** Whether there is a coding agent decides about the tools. */
async function changeSubAgents(
  { live, own, log }: Parts,
  { run, conversation, before }: ChangedRun,
): Promise<void> {
  const hasCoding = ({ integrations }: StewardConfig) => integrations.coding !== undefined;
  if (hasCoding(before) === hasCoding(live.current())) return;
  const server = subAgentsServer(own, conversation.id);
  await run.removeServer(server.name);
  for (const { name, why } of await addAll(run, [server])) log(`${name}: ${why}`);
}

/** Names of `configuredServers`. */
const CONFIGURED = ['web', 'email', 'calendar'] as const;

function ownSettings({ integrations, guardrails }: StewardConfig) {
  const { email, calendar, web } = integrations;
  return { email, calendar, web, hosts: guardrails.egress.hosts };
}

/** Tools that were installed or removed, in the runs that are open. */
export async function useTools({ own, log }: Parts, conversations: Conversations): Promise<void> {
  await conversations.forEachRun(async (run) => {
    await run.removeServer('tools');
    for (const { why } of await addAll(run, installedTools(own))) log(`tools: ${why}`);
  });
}

async function addAll(run: AgentRun, entries: readonly Parameters<AgentRun['addServer']>[0][]) {
  const refused: { name: string; why: string }[] = [];
  for (const entry of entries) {
    const why = await run.addServer(entry);
    if (why !== undefined) refused.push({ name: entry.name, why });
  }
  return refused;
}

function byName<T extends { readonly name: string }>(entries: readonly T[]) {
  return new Map(entries.map((entry) => [entry.name, entry]));
}

/** A server whose entry has changed goes and comes again. */
function changedNames<T>(before: ReadonlyMap<string, T>, now: ReadonlyMap<string, T>) {
  const isKept = (name: string) => isDeepStrictEqual(before.get(name), now.get(name));
  return {
    gone: [...before.keys()].filter((name) => !isKept(name)),
    fresh: [...now].filter(([name]) => !isKept(name)).map(([, entry]) => entry),
  };
}

/** What is read at the start alone. */
export function restartNeeds(before: StewardConfig, now: StewardConfig): readonly string[] {
  const names = ['channels', 'webhooks', 'files', 'embeddings', 'memory'] as const;
  return names
    .filter((name) => !isDeepStrictEqual(before.integrations[name], now.integrations[name]))
    .map((name) => `${name} of integrations.yaml`);
}
