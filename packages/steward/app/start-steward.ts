// Steward as one process: wires its parts and starts what works by itself.
import { join } from 'node:path';
import { type Failure, type GuardrailsFile, isFailure, tableFailure } from '@subluminal/contracts';
import { createRedactor } from '@subluminal/core/scan';
import { formatProblem } from '@subluminal/core/source';
import { errorText } from '@subluminal/plane/os';
import { controlSocket } from '@subluminal/plane/steward-socket';
import { uuidv7 } from 'uuidv7';
import type { StewardConfig } from '../config/index.ts';
import { serveControl } from '../control/index.ts';
import { replyFor } from '../egress/index.ts';
import { openGuardian } from '../guardian/index.ts';
import { Conversations, type LoopLimits, stepJudge } from '../loop/index.ts';
import { sharedModel } from '../models/index.ts';
import { accountedModels } from './accounted-models.ts';
import { startBackgroundWork } from './background-work.ts';
import { ChangeQuestions } from './change-questions.ts';
import { personOf, type RunningChannels, startChannels } from './channel-replies.ts';
import { controlHandlers } from './control-handlers.ts';
import { followConfig } from './follow-config.ts';
import { knowledge } from './knowledge.ts';
import { startMemoryAudit } from './open-own-memory.ts';
import { OpenParts, openParts, type Parts, type StewardOptions } from './open-parts.ts';
import { openRun, restartNeeds } from './open-run.ts';

export type { StewardOptions } from './open-parts.ts';

export interface RunningSteward {
  readonly kind: 'steward';
  readonly socket: string;
  close(): Promise<void>;
}

const MICROS = 1_000_000;
const MINUTE_MS = 60_000;

export async function startSteward(options: StewardOptions): Promise<RunningSteward | Failure> {
  const opened = new OpenParts(options.log);
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

/** The socket that it answers on. */
async function open(options: StewardOptions, opened: OpenParts): Promise<string | Failure> {
  let follow: () => void = () => undefined;
  const parts = await openParts(options, opened, () => follow());
  if (isFailure(parts)) return parts;
  const { journal, memory, changes, live, log, loaded } = parts;
  const conversations = opened.add(wiredConversations(parts), (one) => one.close());
  const channels = await openedChannels(parts, conversations);
  if (isFailure(channels)) return channels;
  const followed = opened.add(followConfig(parts, conversations), (one) => one.stop());
  follow = followed.changed;
  const questions = new ChangeQuestions({
    ...{ desks: changes.desks, channels: channels.desk, nowMs: Date.now, log },
    personOf: (runId) => personOf(journal, runId),
  });
  parts.ask.questions = opened.add(questions, (one) => one.stop());
  questions.resume();
  const startedAtMs = Date.now();
  const firstConfig = live.current();
  const about = () => ({
    pid: process.pid,
    version: options.version,
    started_at_ms: startedAtMs,
    config_folder: live.current().folder,
    config_problems: live.problems().map(formatProblem),
    restart_needed: [...restartNeeds(firstConfig, live.current())],
    servers: live.current().servers.map(({ name }) => name),
    shared_model: sharedModelOf(live.current()),
    channels: [...channels.state()],
  });
  const socket = controlSocket(loaded.paths.run);
  const control = await serveControl(
    { socket, ledgerSocket: loaded.config['ledger.socket'] },
    controlHandlers({
      ...{ journal, conversations, memory, desks: changes.desks, about, nowMs: Date.now },
      pairing: channels.pairing,
      expansion: {
        ...{ desk: changes.desks.proposals, proposals: changes.proposals, apply: followed.apply },
        config: async () => {
          await live.reload();
          return live.current();
        },
      },
      pending: () => pendingOf(parts),
      // It belongs to no run: it stands beside what the user did last.
      recordMemory: (change) =>
        parts.runs.recordChange(journal.lastConversation()?.runId ?? uuidv7(), change),
      guardrails: () => live.current().guardrails,
    }),
  );
  if (isFailure(control)) return control;
  opened.add(control, (one) => one.close());
  const guardrails = () => live.current().guardrails;
  const work = { journal, conversations, guardrails, nowMs: Date.now, log };
  opened.add(startBackgroundWork(work), (one) => one.stop());
  const audit = startMemoryAudit({ memory, journal, nowMs: Date.now, log });
  opened.add(audit, (one) => one.stop());
  // Those whose time is over are ended first.
  parts.subAgents.start(conversations);
  conversations.resume();
  return socket;
}

function wiredConversations(parts: Parts): Conversations {
  const { live, journal, memory, models, log } = parts;
  const { recalled } = parts.own;
  const settings = () => live.current().guardrails.guardian;
  const accounted = accountedModels(models, journal, Date.now);
  const guardian = openGuardian({ models: accounted, settings, nowMs: Date.now });
  const redactor = createRedactor({});
  return new Conversations({
    ...{ journal, models, uuid: uuidv7, nowMs: Date.now, log },
    knowledge: knowledge({
      identity: () => live.current().identity,
      memory,
      skills: parts.own.skills,
      recalled,
    }),
    judge: stepJudge({
      ...{ guardian, config: () => live.current(), journal, nowMs: Date.now },
      ...{ recalled, holdsSecret: parts.secrets.holds },
    }),
    get limits() {
      return limitsOf(live.current().guardrails);
    },
    reply: ({ channel }, text) =>
      replyFor(parts.secrets.redact(text), { isPrivate: isPrivate(channel), redactor }),
    stopProcesses: (...of) => parts.subAgents.stopProcesses(...of),
    openRun: (conversation) => openRun(parts, conversation),
    closeRun: async (run) => {
      models.closeRun(run.id);
      recalled.forget(run.id);
      await run.close();
    },
  });
}

function sharedModelOf({ integrations, guardrails }: StewardConfig): string | null {
  return (guardrails.guardian.enabled ? sharedModel(integrations.models) : undefined) ?? null;
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

async function openedChannels(
  parts: Parts,
  conversations: Conversations,
): Promise<RunningChannels | Failure> {
  const { live, loaded, env, secrets, journal, approvals, log, opened } = parts;
  const { integrations } = live.current();
  const redactor = createRedactor({});
  const channels = await startChannels({
    ...{ integrations, env, approvals, journal, conversations, log, nowMs: Date.now },
    storeFile: join(loaded.paths.home, 'steward', 'channels.db'),
    secret: secrets.fetch,
    redact: (text, { isPrivate: isOwn }) =>
      replyFor(secrets.redact(text), { isPrivate: isOwn, redactor }),
  });
  return isFailure(channels) ? channels : opened.add(channels, (one) => one.close());
}

function pendingOf({ approvals, journal, changes: { staging, proposals } }: Parts) {
  const listed = approvals.queue.list();
  const waiting = isFailure(listed) ? [] : listed.found;
  const isOurs = (runId: string) => journal.conversationOfRun(runId) !== undefined;
  const sets = [...staging.list(), ...proposals.list()];
  return {
    pending_confirmations: waiting.filter(
      ({ state, request }) => state === 'pending' && isOurs(request.call.run_id),
    ).length,
    pending_changes: sets.filter(({ state }) => state === 'open').length,
  };
}
