// What Steward stands on: its folders, databases, models, desks and runs, opened in turn and closed in the other.
import { join } from 'node:path';
import {
  type Failure,
  failure,
  type IntegrationsFile,
  isFailure,
  tableFailure,
} from '@subluminal/contracts';
import { formatProblem } from '@subluminal/core/source';
import type { SecretPlaces } from '@subluminal/gateway/config';
import { type Desk, type Owner, openDesk } from '@subluminal/plane/approvals';
import {
  type AgentRuns,
  type AgentRunsOptions,
  startAgentRuns,
} from '@subluminal/plane/apps/agent-run';
import type { LoadResult } from '@subluminal/plane/config';
import {
  ensurePrivateFolder,
  errorText,
  processInfo,
  takeLockBlocking,
  thisSystem,
} from '@subluminal/plane/os';
import type { SubAgentPool } from '../agents/index.ts';
import {
  followStewardConfig,
  type LiveStewardConfig,
  type StewardConfig,
} from '../config/index.ts';
import { skillLibrary } from '../expansion/index.ts';
import { type Journal, openJournal } from '../journal/index.ts';
import { RecalledRuns } from '../loop/index.ts';
import type { Memory } from '../memory/index.ts';
import { openModels, type StewardModels } from '../models/index.ts';
import { Monitor } from '../monitor/index.ts';
import { sandboxUpstream } from '../sandbox/index.ts';
import { type ChangeRecord, type ChangeSet, fileRoots } from '../staging/index.ts';
import { accountedModels } from './accounted-models.ts';
import type { ChangeQuestions } from './change-questions.ts';
import { type OpenChanges, openChanges } from './open-changes.ts';
import { openOwnMemory } from './open-own-memory.ts';
import { openSubAgents } from './open-sub-agents.ts';
import type { OwnServerParts } from './own-servers.ts';
import { type UsedSecrets, usedSecrets } from './used-secrets.ts';

export interface StewardOptions {
  readonly loaded: Extract<LoadResult, { readonly ok: true }>;
  readonly env: { readonly [name: string]: string | undefined };
  readonly places: SecretPlaces;
  readonly configFolder: string;
  /** The program that tools of others run in: sandbox-worker.mjs. */
  readonly sandboxWorker: string;
  /** The launcher of `sub`, for a coding agent under `sub run`. */
  readonly sub: string;
  readonly version: string;
  readonly log: (line: string) => void;
}

export interface Parts extends StewardOptions {
  readonly live: LiveStewardConfig;
  readonly journal: Journal;
  readonly memory: Memory;
  readonly models: StewardModels;
  readonly runs: AgentRuns;
  readonly own: OwnServerParts;
  readonly changes: OpenChanges;
  /** Who asks about changes, once channels are open. */
  readonly ask: { questions?: ChangeQuestions };
  readonly approvals: Desk;
  readonly subAgents: SubAgentPool;
  readonly secrets: UsedSecrets;
  readonly opened: OpenParts;
}

/** Closes what was opened, the last first, whatever fails. */
export class OpenParts {
  readonly #closers: (() => unknown)[] = [];
  readonly #log: (line: string) => void;

  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  add<T>(part: T, close: (part: T) => unknown): T {
    this.#closers.push(() => close(part));
    return part;
  }

  async close(): Promise<void> {
    for (const close of this.#closers.splice(0).toReversed()) {
      await Promise.resolve()
        .then(close)
        .catch((cause: unknown) => this.#log(`A part did not close: ${errorText(cause)}.`));
    }
  }
}

export async function openParts(
  options: StewardOptions,
  opened: OpenParts,
  changed: (config: StewardConfig) => void,
): Promise<Parts | Failure> {
  const { loaded, env, places, log } = options;
  const { paths } = loaded;
  const state = join(paths.home, 'steward');
  const unsafe = unsafeFolder([paths.home, paths.run, paths.spool, state]);
  if (unsafe !== undefined) return unsafe;
  const lock = takeLockBlocking({ folder: paths.run, name: 'steward' });
  if (lock.kind === 'held') {
    const message = `Steward runs already (pid ${lock.pid}).`;
    return failure('SUB_STEWARD_START', message, 'Run `sub steward stop` first.');
  }
  opened.add(lock, (one) => one.release());
  const live = await openConfig(options, changed);
  if (isFailure(live)) return live;
  opened.add(live, (one) => one.stop());
  const journal = await openJournal(join(state, 'journal.db'), Date.now);
  if (isFailure(journal)) return journal;
  opened.add(journal, (one) => one.close());
  const { folder, integrations } = live.current();
  const secrets = await secretsOf(integrations, places);
  const { home } = paths;
  const memory = await openOwnMemory({ journal, home, integrations, env, secrets, opened, log });
  if (isFailure(memory)) return memory;
  // Outside of the home, which no agent may touch.
  const workspace = join(places.userHome, 'Steward');
  const closed = ensurePrivateFolder(workspace);
  if (closed !== undefined) return closed;
  const guardrails = () => live.current().guardrails;
  const monitor = new Monitor({ journal, guardrails, nowMs: Date.now, log });
  const runs = await openRuns(options, live.current(), {
    cwd: workspace,
    watch: (line) => monitor.take(line),
  });
  if (isFailure(runs)) return runs;
  secrets.follow(opened.add(runs, (one) => one.close()).learnSecret);
  const models = opened.add(modelsOf(options, live, secrets), (one) => one.close());
  const approvals = openDesk({ home: paths.home, ports: approvalPorts(log) });
  if (isFailure(approvals)) return approvals;
  const upstream = opened.add(sandboxUpstream(), (one) => one.close());
  const secret = secrets.fetch;
  const folders = [workspace, ...integrations.files.folders] as const;
  const roots = fileRoots({ folders, closed: [paths.home, folder] });
  const ask: { questions?: ChangeQuestions } = {};
  const record = (told: ChangeRecord) => {
    runs.recordChange(told.runId, told.change);
    ask.questions?.decided(told);
  };
  const proposed = (set: ChangeSet) => ask.questions?.proposed(set);
  const changes = await openChanges({ state, configFolder: folder, roots, record, proposed, log });
  const sandbox = {
    ...{ workerFile: options.sandboxWorker, upstream, secret },
    protectedFolders: [paths.home, folder],
  };
  const pool = openSubAgents({ ...options, live, journal, secrets });
  const subAgents = opened.add(pool, (one) => one.stop());
  const own = {
    ...{ config: () => live.current(), env, secret, memory, journal, sandbox, log },
    ...{ staging: changes.staging, proposals: changes.proposals, nowMs: Date.now },
    ...{ subAgents, version: options.version, recalled: new RecalledRuns() },
    models: accountedModels(models, journal, Date.now),
    skills: skillLibrary(() => live.current().skillsFolder),
  };
  const desks = { changes, ask, approvals, subAgents, secrets, opened };
  return { ...options, live, journal, memory, models, runs, own, ...desks };
}

function unsafeFolder(folders: readonly string[]): Failure | undefined {
  for (const folder of folders) {
    const unsafe = ensurePrivateFolder(folder);
    if (unsafe !== undefined) return unsafe;
  }
  return undefined;
}

function modelsOf(
  { loaded, places, log }: StewardOptions,
  live: LiveStewardConfig,
  { fetch: secret }: UsedSecrets,
): StewardModels {
  const { config, paths, prices } = loaded;
  const chains = () => live.current().integrations.models;
  const settings = { config, paths, prices, hasChannel: true, tell: log };
  return openModels({ ...settings, chains, secrets: places, secret });
}

/** Those of the accounts are known before the first call. One that cannot be had is told where it is needed. */
async function secretsOf({ email, calendar }: IntegrationsFile, places: SecretPlaces) {
  const secrets = usedSecrets(places);
  for (const account of [email, calendar]) {
    if (account !== undefined) await secrets.fetch(account.password_ref);
  }
  return secrets;
}

async function openConfig(
  { configFolder: folder, log }: StewardOptions,
  changed: (config: StewardConfig) => void,
): Promise<LiveStewardConfig | Failure> {
  const live = await followStewardConfig({
    ...{ folder, changed },
    rejected: (problems) => {
      log('The configuration is broken, and the last good one stays in force:');
      for (const problem of problems) log(formatProblem(problem));
    },
  });
  if (live.kind === 'live') return live;
  const first = live.problems.find(({ level }) => level === 'error');
  if (first === undefined) return tableFailure('SUB_STEWARD_START', `${folder}.`);
  return tableFailure(
    'SUB_STEWARD_START',
    formatProblem({ ...first, file: join(folder, first.file) }),
  );
}

/** Its servers are limited by the manifests of its own folder. */
function openRuns(
  { loaded, env, log }: StewardOptions,
  { manifestsFolder }: StewardConfig,
  place: Pick<AgentRunsOptions, 'cwd' | 'watch'>,
): Promise<AgentRuns | Failure> {
  const config = { ...loaded.config, 'surface.manifests': manifestsFolder };
  const agent = { agentId: 'steward', warn: log };
  return startAgentRuns({ ...agent, loaded: { ...loaded, config }, env, ...place });
}

/** With who asks: the questions of a process that has ended end at once. */
function approvalPorts(warn: (line: string) => void) {
  const { pid } = process;
  const startOf = (id: number) => processInfo(id, thisSystem())?.start;
  return {
    ...{ nowMs: () => Date.now(), uuid: () => thisSystem().uuidByTime(), warn },
    self: { pid, start: startOf(pid) ?? 'unknown' },
    isGone: (owner: Owner) => startOf(owner.pid) !== owner.start,
  };
}
