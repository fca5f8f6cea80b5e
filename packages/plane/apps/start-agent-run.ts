// Runs of agents that live in this process: what they share, from its opening to the end of the last of them.
import {
  type EventBody,
  eventWriter,
  type Failure,
  failure,
  isFailure,
} from '@subluminal/contracts';
import type { Snapshot } from '@subluminal/core/policy';
import type { SecretValue } from '@subluminal/core/scan';
import { uuidv7 } from 'uuidv7';
import { ensurePrivateFolder } from '../os/index.ts';
import type { AgentEntry, AgentServed } from '../services/agent-run/agent-server.ts';
import { openAgentRun } from '../services/agent-run/open-agent-run.ts';
import type { AgentRun } from '../services/agent-run/types.ts';
import { Recorder } from '../services/governor/events.ts';
import {
  type LoadedSettings,
  openEventSink,
  openServerGates,
  sessionLimits,
} from '../services/governor/session-settings.ts';
import { openRunCedar } from '../services/run/cedar.ts';
import { finderOptions } from '../services/self-protection/finder-options.ts';
import type { GateFacts } from '../services/serve/sessions/served-session.ts';
import { type BatchingSink, sharedSink } from '../services/sink/index.ts';
import { identify } from '../stores/identity/index.ts';
import {
  type GrowingRedactor,
  growingRedactor,
  loadRedactor,
} from '../stores/vault/load-redactor.ts';

export interface AgentRunsOptions {
  /** The settings of this machine. */
  readonly loaded: LoadedSettings;
  readonly env: { readonly [name: string]: string | undefined };
  readonly cwd: string;
  /** Such as `steward`. */
  readonly agentId: string;
  readonly warn: (text: string) => void;
  /** Sees each line of the record as it is written. It must not throw. */
  readonly watch?: (line: string) => void;
}

export interface AgentRunOpening {
  readonly policy: Snapshot;
  /** The files that the policy was made from: no call may name them. */
  readonly policyPaths: readonly string[];
  readonly servers: readonly AgentEntry[];
  /** For whom it runs; the user of this machine unless given. */
  readonly principal?: string;
  /** What is said of the run at its start. */
  readonly meta?: { readonly [name: string]: string };
}

export interface AgentRuns {
  open(opening: AgentRunOpening): AgentRun;
  /** Records what a person has decided about a change that a run has proposed, also after its end. */
  recordChange(runId: string, change: EventBody<'change_decision'>['change']): void;
  /** A secret that tools of our own use: none of them gets it in a call, gives it in an answer, or has it on record. */
  readonly learnSecret: (secret: SecretValue) => void;
  /** Ends all runs, and writes what is not written yet. */
  close(): Promise<void>;
}

const FLUSH_MS = 5_000;
/** Passwords and keys of accounts, which are short. */
const SECRETS_MAX = 64;

export async function startAgentRuns(options: AgentRunsOptions): Promise<AgentRuns | Failure> {
  const { env, warn } = options;
  const loaded = governed(options.loaded);
  const { paths } = loaded;
  for (const folder of [paths.home, paths.run, paths.spool]) {
    const unsafe = ensurePrivateFolder(folder);
    if (unsafe !== undefined) return unsafe;
  }
  const patterns = loaded.config['redact.extra_patterns'];
  const redactor = await loadRedactor(patterns, []);
  if (isFailure(redactor)) return redactor;
  const redaction = growingRedactor(redactor, { patterns, values: [], learnedMax: SECRETS_MAX });
  const sink = openEventSink(env, loaded, warn);
  if (typeof sink === 'string') return failure('SUB_FILE_WRITE', sink, 'Check `events.sink`.');
  const cedar = await openRunCedar({ config: loaded.config, tell: warn });
  if (isFailure(cedar)) {
    await sink.close(FLUSH_MS);
    return cedar;
  }
  const runs = new Set<AgentRun>();
  const shared = {
    ...options,
    loaded,
    sink: sharedSink(watched(sink, options.watch)),
    judge: cedar?.judge,
    redaction,
  };
  return {
    open: (opening) => {
      const run = openRun(shared, opening, () => runs.delete(run));
      runs.add(run);
      return run;
    },
    recordChange: (runId, change) => {
      const producer = { ...producerOf(shared, {}), run_id: runId };
      const recorder = new Recorder(eventWriter(producer), shared.sink, warn);
      recorder.record('change_decision', { change });
      shared.sink.push();
    },
    learnSecret: redaction.add,
    close: async () => {
      try {
        await Promise.all([...runs].map((run) => run.close()));
      } finally {
        // Whatever a run leaves behind, its record is written.
        await cedar?.close();
        await sink.close(FLUSH_MS);
      }
    },
  };
}

function watched(sink: BatchingSink, watch: AgentRunsOptions['watch']): BatchingSink {
  if (watch === undefined) return sink;
  return {
    write: (written) => {
      sink.write(written);
      watch(written.line);
    },
    push: () => sink.push(),
    flush: (timeoutMs) => sink.flush(timeoutMs),
    close: (timeoutMs) => sink.close(timeoutMs),
    stats: () => sink.stats(),
  };
}

/** Nothing is only reported, and a terminal with a chat shows no lines about single messages. */
function governed(loaded: LoadedSettings): LoadedSettings {
  const level = loaded.config['log.level'];
  const config = {
    ...loaded.config,
    profile: 'production',
    'log.level': level === 'warn' ? 'error' : level,
  } as const;
  return { ...loaded, config };
}

interface SharedByRuns extends AgentRunsOptions {
  readonly sink: ReturnType<typeof sharedSink>;
  readonly judge: Parameters<typeof openAgentRun>[0]['judge'];
  readonly redaction: GrowingRedactor;
}

function openRun(shared: SharedByRuns, opening: AgentRunOpening, onClosed: () => void): AgentRun {
  const { loaded, env, warn, sink, judge, redaction } = shared;
  const { policy, servers, policyPaths, meta = {} } = opening;
  return openAgentRun({
    producer: producerOf(shared, opening),
    meta,
    judge,
    redaction,
    policy,
    servers,
    onClosed,
    around: {
      env,
      loaded,
      limits: sessionLimits(loaded.config),
      warn,
      sink,
      isQuiet: loaded.config['log.level'] !== 'debug',
      // The agent itself asks, on the channel of its user.
      hasChannel: true,
      openGates: (server, facts) => gatesFor(shared, server, { ...facts, policyPaths }),
    },
  });
}

function producerOf(
  { env, cwd, loaded, agentId }: SharedByRuns,
  { principal }: Pick<AgentRunOpening, 'principal'>,
): ReturnType<typeof identify>['producer'] {
  const own = {
    ...env,
    SUB_RUN_ID: uuidv7(),
    SUB_AGENT_ID: agentId,
    SUB_CLIENT: 'custom',
    ...(principal !== undefined && { SUB_PRINCIPAL: principal }),
  };
  const { profile } = loaded.config;
  return identify({ env: own, cwd, paths: loaded.paths, nowMs: Date.now(), profile }).producer;
}

function gatesFor(
  { loaded, env, cwd, warn }: SharedByRuns,
  { foreign }: AgentServed,
  { policyPaths: policies, ...facts }: GateFacts & { readonly policyPaths: readonly string[] },
): ReturnType<typeof openServerGates> {
  const { config, paths } = loaded;
  const entry = foreign?.entry;
  const [command = '', ...args] = entry?.kind === 'command' ? entry.command : [];
  const place = { command, args, env, cwd: entry?.kind === 'command' ? entry.cwd : cwd };
  const protects = finderOptions(place, { config, paths, policies });
  // Tools of our own change with our own versions, which nobody else can.
  const pinned = { ...config, ...(foreign === undefined && { 'pins.mode': 'off' as const }) };
  return openServerGates({ ...loaded, config: pinned }, warn, {
    ...facts,
    hasPolicy: true,
    protects,
  });
}
