// Steward as one process: opens its parts, wires them, and closes them in turn.
import { join } from 'node:path';
import { type Failure, type GuardrailsFile, isFailure, tableFailure } from '@subluminal/contracts';
import { compileBundle } from '@subluminal/core/policy';
import { createRedactor } from '@subluminal/core/scan';
import { resolveSecretRef, type SecretPlaces } from '@subluminal/gateway/config';
import type { AgentRun } from '@subluminal/plane/agent-run';
import { type Desk, openDesk } from '@subluminal/plane/approvals';
import { type AgentRuns, startAgentRuns } from '@subluminal/plane/apps/agent-run';
import type { LoadResult } from '@subluminal/plane/config';
import { sha256 } from '@subluminal/plane/crypto';
import { ensurePrivateFolder, errorText, takeLockBlocking, thisSystem } from '@subluminal/plane/os';
import { uuidv7 } from 'uuidv7';
import {
  followStewardConfig,
  type LiveStewardConfig,
  type StewardConfig,
} from '../config/index.ts';
import { controlSocket, serveControl } from '../control/index.ts';
import { replyFor } from '../egress/index.ts';
import { openGuardian } from '../guardian/index.ts';
import { type Conversation, type Journal, openJournal } from '../journal/index.ts';
import { Conversations, channelOf, type LoopLimits, stepJudge } from '../loop/index.ts';
import { type Memory, openMemory } from '../memory/index.ts';
import { openModels, type StewardModels } from '../models/index.ts';
import { compilePermissions } from '../permissions/index.ts';
import { type ChangeRecord, fileRoots } from '../staging/index.ts';
import { accountedModels } from './accounted-models.ts';
import { startBackgroundWork } from './background-work.ts';
import { type RunningChannels, startChannels } from './channel-replies.ts';
import { controlHandlers } from './control-handlers.ts';
import { ReplyDelivery } from './deliver-replies.ts';
import { knowledge } from './knowledge.ts';
import { type OpenChanges, openChanges } from './open-changes.ts';
import { ownServers } from './own-servers.ts';

export interface StewardOptions {
  readonly loaded: Extract<LoadResult, { readonly ok: true }>;
  readonly env: { readonly [name: string]: string | undefined };
  readonly places: SecretPlaces;
  readonly configFolder: string;
  readonly version: string;
  readonly log: (line: string) => void;
}

export interface RunningSteward {
  readonly kind: 'steward';
  readonly socket: string;
  close(): Promise<void>;
}

const MICROS = 1_000_000;
const MINUTE_MS = 60_000;

/** Closes what was opened, the last first, whatever fails. */
class OpenParts {
  readonly #closers: (() => unknown)[] = [];

  add<T>(part: T, close: (part: T) => unknown): T {
    this.#closers.push(() => close(part));
    return part;
  }

  async close(): Promise<void> {
    for (const close of this.#closers.splice(0).toReversed()) {
      await Promise.resolve()
        .then(close)
        .catch(() => undefined);
    }
  }
}

export async function startSteward(options: StewardOptions): Promise<RunningSteward | Failure> {
  const opened = new OpenParts();
  try {
    const socket = await open(options, opened);
    if (typeof socket === 'string') {
      return { kind: 'steward', socket, close: () => opened.close() };
    }
    await opened.close();
    return socket;
  } catch (cause) {
    await opened.close();
    return isFailure(cause) ? cause : tableFailure('SUB_STEWARD_START', `${errorText(cause)}.`);
  }
}

interface Parts extends StewardOptions {
  readonly live: LiveStewardConfig;
  readonly journal: Journal;
  readonly memory: Memory;
  readonly models: StewardModels;
  readonly runs: AgentRuns;
  readonly changes: OpenChanges;
  readonly approvals: Desk;
  readonly opened: OpenParts;
}

/** The socket that it answers on. */
async function open(options: StewardOptions, opened: OpenParts): Promise<string | Failure> {
  const parts = await openParts(options, opened);
  if (isFailure(parts)) return parts;
  const { journal, memory, changes, live, log, loaded } = parts;
  const conversations = opened.add(wiredConversations(parts), (one) => one.close());
  const change = { conversations, parts };
  const channels = await openedChannels(parts, conversations);
  if (isFailure(channels)) return channels;
  const delivery = new ReplyDelivery({ journal, reply: channels.reply, log });
  opened.add(delivery, (one) => one.stop());
  const startedAtMs = Date.now();
  const about = () => ({
    pid: process.pid,
    version: options.version,
    started_at_ms: startedAtMs,
    config_folder: live.current().folder,
    servers: live.current().servers.map(({ name }) => name),
    channels: [...channels.state()],
  });
  const socket = controlSocket(loaded.paths.run);
  const control = await serveControl(
    socket,
    controlHandlers({
      ...{ journal, conversations, memory, desks: changes.desks, about, nowMs: Date.now },
      pending: () => pendingOf(parts),
    }),
  );
  if (isFailure(control)) return control;
  opened.add(control, (one) => one.close());
  const heartbeat = () => live.current().guardrails.heartbeat;
  const work = { journal, conversations, heartbeat, nowMs: Date.now, log };
  opened.add(startBackgroundWork(work), (one) => one.stop());
  onConfigChange.set(live, () => void usePolicies(change));
  conversations.resume();
  return socket;
}

/** What to do when the folder has changed, once everything is there. */
const onConfigChange = new WeakMap<LiveStewardConfig, () => void>();

async function openParts(options: StewardOptions, opened: OpenParts): Promise<Parts | Failure> {
  const { loaded, env, places, configFolder, log } = options;
  const { paths } = loaded;
  const state = join(paths.home, 'steward');
  for (const folder of [paths.home, paths.run, paths.spool, state]) {
    const unsafe = ensurePrivateFolder(folder);
    if (unsafe !== undefined) return unsafe;
  }
  const lock = takeLockBlocking({ folder: paths.run, name: 'steward' });
  if (lock.kind === 'held') {
    return tableFailure('SUB_STEWARD_START', `It runs already (pid ${lock.pid}).`);
  }
  opened.add(lock, (one) => one.release());
  const live = await openConfig(configFolder, log);
  if (isFailure(live)) return live;
  opened.add(live, (one) => one.stop());
  const journal = await openJournal(join(state, 'journal.db'), Date.now);
  if (isFailure(journal)) return journal;
  opened.add(journal, (one) => one.close());
  const memory = opened.add(await openMemory({ home: paths.home }), (one) => one.close());
  // Outside of the home, which no agent may touch.
  const workspace = join(places.userHome, 'Steward');
  const unsafe = ensurePrivateFolder(workspace);
  if (unsafe !== undefined) return unsafe;
  const runs = await startAgentRuns({ loaded, env, cwd: workspace, agentId: 'steward', warn: log });
  if (isFailure(runs)) return runs;
  opened.add(runs, (one) => one.close());
  const { config, prices } = loaded;
  const chains = () => live.current().integrations.models;
  const settings = { config, paths, prices, hasChannel: true, tell: log };
  const asked = openModels({ ...settings, chains, secrets: places });
  const models = opened.add(asked, (one) => one.close());
  const approvals = openDesk({ home: paths.home, ports: approvalPorts(log) });
  if (isFailure(approvals)) return approvals;
  const { folder, integrations } = live.current();
  const folders = [workspace, ...integrations.files.folders] as const;
  const roots = fileRoots({ folders, closed: [paths.home, folder] });
  const record = ({ runId, change }: ChangeRecord) => runs.recordChange(runId, change);
  const changes = await openChanges({ state, configFolder: folder, roots, record, log });
  return { ...options, live, journal, memory, models, runs, changes, approvals, opened };
}

function approvalPorts(warn: (line: string) => void) {
  return { nowMs: () => Date.now(), uuid: () => thisSystem().uuidByTime(), warn };
}

async function openConfig(
  folder: string,
  log: (line: string) => void,
): Promise<LiveStewardConfig | Failure> {
  const live = await followStewardConfig({
    folder,
    changed: () => {
      if (live.kind === 'live') onConfigChange.get(live)?.();
    },
    rejected: (problems) => log(`The configuration is broken: ${problems[0]?.message ?? ''}`),
  });
  if (live.kind === 'live') return live;
  const [first] = live.problems;
  const detail = first === undefined ? folder : `${first.file ?? folder}: ${first.message}`;
  return tableFailure('SUB_STEWARD_START', `${detail} (\`sub steward init\` writes a first one)`);
}

function wiredConversations(parts: Parts): Conversations {
  const { live, journal, memory, models, log } = parts;
  const settings = () => live.current().guardrails.guardian;
  const accounted = accountedModels(models, journal, Date.now);
  const guardian = openGuardian({ models: accounted, settings, nowMs: Date.now });
  const redactor = createRedactor({});
  return new Conversations({
    ...{ journal, models, uuid: uuidv7, nowMs: Date.now, log },
    knowledge: knowledge({ identity: () => live.current().identity, memory }),
    judge: stepJudge({ guardian, config: () => live.current(), journal, nowMs: Date.now }),
    get limits() {
      return limitsOf(live.current().guardrails);
    },
    reply: ({ channel }, text) => replyFor(text, { isPrivate: isPrivate(channel), redactor }),
    openRun: (conversation) => openRun(parts, conversation),
    closeRun: async (run) => {
      models.closeRun(run.id);
      await run.close();
    },
  });
}

function isPrivate(channel: string): boolean {
  return channel !== 'slack' && channel !== 'discord';
}

function limitsOf({ task, day, heartbeat, circuit_breaker }: GuardrailsFile): LoopLimits {
  return {
    taskStepsMax: task.steps,
    taskCostMicrosMax: task.usd * MICROS,
    taskWorkMsMax: task.minutes * MINUTE_MS,
    dayStepsMax: day.steps,
    dayCostMicrosMax: day.usd * MICROS,
    dayWorkMsMax: day.minutes * MINUTE_MS,
    backgroundCostMicrosMax: heartbeat.usd_per_day * MICROS,
    repeatsMax: circuit_breaker.repeats,
  };
}

function policyFor({ permissions, guardrails }: StewardConfig, { channel }: Conversation) {
  const { bundle } = compilePermissions(permissions, { channel: channelOf(channel), guardrails });
  return compileBundle(bundle, { sha256 });
}

async function openRun(parts: Parts, conversation: Conversation): Promise<AgentRun> {
  const { live, runs, models, env, places, changes, memory, journal } = parts;
  const config = live.current();
  const policy = await policyFor(config, conversation);
  const secret = (ref: string) => resolveSecretRef(ref, places);
  const { integrations } = config;
  const guardrails = () => live.current().guardrails;
  const settings = { integrations, guardrails, env, secret };
  const { staging, proposals } = changes;
  const own = { ...settings, staging, proposals, memory, journal, nowMs: Date.now };
  let id = '';
  const run = runs.open({
    policy,
    policyPaths: [config.folder],
    servers: [...ownServers(own, conversation, () => id), ...config.servers],
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

/** Runs that are open follow the folder. */
async function usePolicies({
  conversations,
  parts: { live, log },
}: {
  readonly conversations: Conversations;
  readonly parts: Parts;
}): Promise<void> {
  await conversations
    .forEachRun(async (run, conversation) => {
      const snapshot = await policyFor(live.current(), conversation);
      await run.usePolicy(snapshot);
    })
    .catch((cause: unknown) => log(`The policy could not be changed: ${errorText(cause)}.`));
}

async function openedChannels(
  parts: Parts,
  conversations: Conversations,
): Promise<Pick<RunningChannels, 'reply' | 'state'> | Failure> {
  const { live, loaded, env, places, journal, approvals, log, opened } = parts;
  const { integrations } = live.current();
  const redactor = createRedactor({});
  const channels = await startChannels({
    ...{ integrations, env, approvals, journal, conversations, log, nowMs: Date.now },
    storeFile: join(loaded.paths.home, 'steward', 'channels.db'),
    secret: (ref) => resolveSecretRef(ref, places),
    redact: (text, { isPrivate: isOwn }) => replyFor(text, { isPrivate: isOwn, redactor }),
  });
  return isFailure(channels) ? channels : opened.add(channels, (one) => one.close());
}

function pendingOf({ approvals, journal, changes: { staging, proposals } }: Parts) {
  const listed = approvals.queue.list();
  const waiting = isFailure(listed) ? [] : listed.found;
  const isOurs = (runId: string) => journal.conversationOfRun(runId) !== undefined;
  return {
    pending_confirmations: waiting.filter(
      ({ state, request }) => state === 'pending' && isOurs(request.call.run_id),
    ).length,
    pending_changes: [...staging.list(), ...proposals.list()].filter(
      ({ state }) => state === 'open',
    ).length,
  };
}
