// From a command line to a running shim: configuration, identity, policy and server, side by side.
import type { Producer, Profile } from '@subluminal/contracts';
import {
  type Config,
  ensurePrivateFolder,
  findPolicy,
  formatConfigProblem,
  type HomePaths,
  loadConfig,
  userHome,
} from '../../config/index.ts';
import { identify } from '../../identity/index.ts';
import { fileSink, ledgerSink, offSink, type PromptSink } from '../../sink/index.ts';
import { type SpawnResult, spawnServer } from '../../stdio/index.ts';
import { loadPolicy } from './policy.ts';
import { loadRedactor } from './redact.ts';
import { runShim, type ShimParts } from './shim.ts';

interface ShimOptions {
  readonly serverName: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: { readonly [name: string]: string | undefined };
  readonly cwd: string;
  /** What the command line gave, by the names of the flags. */
  readonly flags: { readonly [flag: string]: string | undefined };
}

type Started =
  | { readonly ok: true; readonly exitCode: number }
  | { readonly ok: false; readonly message: string };

const SERVER_NAME_LENGTH_MAX = 256;

/** Runs a shim to its end. A fault before the first byte is returned, not thrown. */
async function startShim(options: ShimOptions): Promise<Started> {
  const { serverName, env, cwd, flags } = options;
  if (serverName.length > SERVER_NAME_LENGTH_MAX) {
    return refused(`a server name has at most ${SERVER_NAME_LENGTH_MAX} characters`);
  }
  const loaded = await loadConfig({ env, flags, cwd });
  if (!loaded.ok) return refused(loaded.problems.map(formatConfigProblem).join('\n'));
  const { config, paths } = loaded;
  const folders = [paths.home, paths.run, paths.spool].map(ensurePrivateFolder);
  const problem = folders.find((one) => one !== undefined);
  const { profile } = config;
  if (problem !== undefined && profile === 'production')
    return refused(formatConfigProblem(problem));
  const { producer, runOrigin, warnings } = identify({
    env,
    cwd,
    paths,
    nowMs: Date.now(),
    profile,
  });
  for (const warning of warnings) process.stderr.write(`sub: ${warning}\n`);
  const policyPath = config['policy.path'] ?? foundPolicy(cwd, paths, env);
  const policy = await loadPolicy(policyPath, profile);
  if (!policy.ok) return refused(policy.message);
  const redaction = await loadRedactor(config['redact.extra_patterns']);
  if (!redaction.ok) return refused(redaction.message);
  const sink = sinkOf(config, paths, producer);
  if (typeof sink === 'string') return refused(sink);
  // The server starts last: a fault before it leaves nothing behind.
  const spawned = await spawn(options, producer);
  const exitCode = await runShim({
    serverName,
    spawned,
    snapshot: policy.snapshot,
    policyPath,
    profile,
    producer,
    tellsRun: runOrigin === 'given' ? env['SUB_RUN_HOSTED'] !== '1' : runOrigin !== 'joined',
    sink,
    redact: redaction.redact,
    limits: limitsOf(config, profile),
  });
  return { ok: true, exitCode };
}

function spawn(options: ShimOptions, producer: Producer): Promise<SpawnResult> {
  const { command, args, env, cwd } = options;
  return spawnServer({ command, args, env, cwd, shimId: producer.source.shim_id });
}

function foundPolicy(cwd: string, { home }: HomePaths, env: ShimOptions['env']): string | null {
  const found = findPolicy({ cwd, home, userHome: userHome(env) });
  return found.kind === 'found' ? found.path : null;
}

function sinkOf(config: Config, paths: HomePaths, producer: Producer): PromptSink | string {
  const target = config['events.sink'];
  switch (target.kind) {
    case 'off':
      return offSink();
    case 'file': {
      const opened = fileSink(target.path, { queueBytes: config['limits.queue_bytes'] });
      return opened.ok ? opened.sink : `${opened.message} ${opened.fix}`;
    }
    case 'ledger':
      return ledgerSink({
        socketPath: config['ledger.socket'],
        spoolDir: paths.spool,
        producer: producer.source.shim_id,
        limits: { queueBytes: config['limits.queue_bytes'] },
      });
  }
}

function limitsOf(config: Config, profile: Profile): ShimParts['limits'] {
  const capped = profile === 'production';
  return {
    inspectBytesMax: config['limits.max_inspect_bytes'],
    messageBytesMax: capped ? config['limits.max_message_bytes'] : Number.POSITIVE_INFINITY,
    previewBytesMax: config['previews.enabled'] ? config['limits.max_preview_bytes'] : 0,
    orphanMs: config['limits.request_timeout_ms'],
    graceMs: config['shutdown.grace_ms'],
    termMs: config['shutdown.term_grace_ms'],
  };
}

function refused(message: string): Started {
  return { ok: false, message };
}

export type { ShimOptions };
export { startShim };
