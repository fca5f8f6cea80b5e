// `sub serve`: a governed reverse proxy for MCP servers, from its configuration to the end of its last session.
import { isDeepStrictEqual } from 'node:util';
import {
  type Failure,
  failure,
  isFailure,
  POLICY_HELD_BACK,
  type Producer,
} from '@subluminal/contracts';
import { formatProblem, type Problem } from '@subluminal/core/source';
import { visible } from '@subluminal/core/visible';
import { uuidv7 } from 'uuidv7';
import { ensurePrivateFolder, errorText, watchFiles } from '../os/index.ts';
import { proxyOf } from '../os/upstream/index.ts';
import { type StartedPolicy, startPolicy } from '../services/governor/policy-start.ts';
import { awaitRunHub, callRunHub } from '../services/governor/run-hub.ts';
import {
  type LoadedSettings,
  openEventSink,
  openServerGates,
  sessionLimits,
} from '../services/governor/session-settings.ts';
import { openRunCedar } from '../services/run/cedar.ts';
import { finderOptions } from '../services/self-protection/finder-options.ts';
import { createAuthenticator } from '../services/serve/auth/index.ts';
import { loadServeConfig, type ServeConfig } from '../services/serve/config/serve-config.ts';
import { McpEndpoint } from '../services/serve/http/endpoint.ts';
import {
  openListener,
  type Readiness,
  type ServeListener,
} from '../services/serve/http/listener.ts';
import { BodyReader } from '../services/serve/http/read-body.ts';
import { ServeRuns } from '../services/serve/sessions/serve-runs.ts';
import type { ServedServer } from '../services/serve/sessions/served-server.ts';
import { ServedServers } from '../services/serve/sessions/served-servers.ts';
import type { SessionSurroundings } from '../services/serve/sessions/served-session.ts';
import { Sessions } from '../services/serve/sessions/session-desk.ts';
import { type BatchingSink, sharedSink } from '../services/sink/index.ts';
import { mayAnswerElsewhere } from '../stores/config/index.ts';
import { identify } from '../stores/identity/index.ts';
import { followPolicy, POLICY_BROKEN } from '../stores/policy/follow-policy.ts';
import { hasPolicy } from '../stores/policy/untrusted-alone.ts';
import { policyFailureText } from '../stores/policy/watch-policy.ts';

export interface StartServeOptions {
  readonly file: string;
  /** The settings of this machine. */
  readonly loaded: LoadedSettings;
  readonly env: { readonly [name: string]: string | undefined };
  readonly cwd: string;
  readonly flags: { readonly [flag: string]: string | undefined };
  readonly log: (line: string) => void;
}

export interface RunningServe {
  readonly kind: 'running';
  readonly url: string;
  readonly servers: readonly string[];
  /** Reads the configuration again. */
  reload(): void;
  /** Takes no new sessions, lets open calls end, and ends; `isCut` says that it must be over at once. */
  close(isCut: () => boolean): Promise<void>;
}

export type StartedServe =
  | RunningServe
  | Failure
  | { readonly kind: 'invalid'; readonly problems: readonly Problem[] };

const CONFIG_EVERY_MS = 1_000;
const FLUSH_MS = 5_000;
const CUT_MS = 1_000;
const WORDS_MAX = 2_000;
const NO_POLICY =
  'There is no policy: calls are recorded, and only those that would change the governance itself are refused.';

export async function startServe(options: StartServeOptions): Promise<StartedServe> {
  const { file, loaded, env, log } = options;
  const config = loadServeConfig(file);
  if (isFailure(config)) return config;
  if (!config.ok) return { kind: 'invalid', problems: config.problems };
  for (const warning of config.problems) log(formatProblem(warning));
  const { paths, config: settings } = loaded;
  for (const folder of [paths.home, paths.run, paths.spool]) {
    const unsafe = ensurePrivateFolder(folder);
    if (unsafe === undefined) continue;
    if (settings.profile === 'production') return unsafe;
    log(`${unsafe.message} ${unsafe.fix}`);
  }
  const policy = await startPolicy(options, loaded, log);
  if (isFailure(policy)) {
    return failure('SUB_USAGE', policyFailureText(policy), 'Check it with `sub policy lint`.');
  }
  if (!hasPolicy(policy.snapshot)) log(NO_POLICY);
  const sink = openEventSink(env, loaded, log);
  if (typeof sink === 'string') return failure('SUB_FILE_WRITE', sink, 'Check `events.sink`.');
  const cedar = await openRunCedar({ config: settings, tell: log });
  if (isFailure(cedar)) return cedar;
  const serve = new Serve(options, config.config, { policy, sink, judge: cedar?.judge });
  cedar?.recordTo((status, reason) => serve.runs.recordHealth(status, reason));
  const started = await serve.start();
  const release = async (flushMs: number): Promise<void> => {
    await cedar?.close();
    await sink.close(flushMs);
  };
  if (isFailure(started)) {
    await release(FLUSH_MS);
    return started;
  }
  const close = async (isCut: () => boolean): Promise<void> => {
    await started.close(isCut);
    await release(isCut() ? CUT_MS : FLUSH_MS);
  };
  return { ...started, close };
}

interface ServeParts {
  readonly policy: StartedPolicy;
  readonly sink: BatchingSink;
  readonly judge: ConstructorParameters<typeof ServeRuns>[0]['judge'];
}

class Serve {
  readonly runs: ServeRuns;
  readonly #options: StartServeOptions;
  readonly #parts: ServeParts;
  readonly #servers: ServedServers;
  readonly #sessions: Sessions;
  /** One for all sessions of a server: what is protected is then looked up once for all of them. */
  readonly #protects = new WeakMap<ServedServer, ReturnType<typeof finderOptions>>();
  #config: ServeConfig;
  #authenticator: ReturnType<typeof createAuthenticator>;
  #policy: StartedPolicy;
  #listener: ServeListener | undefined;
  #watch: { look(): void; stop(): void } | undefined;
  /** Somebody waits for a word: after a signal, or after a configuration that was broken. */
  #tellsUnchanged = false;

  constructor(options: StartServeOptions, config: ServeConfig, parts: ServeParts) {
    const { loaded, env, log } = options;
    this.#options = options;
    this.#config = config;
    this.#parts = parts;
    this.#policy = parts.policy;
    this.#authenticator = this.#authenticatorFor(config);
    const isHosted = env['SUB_RUN_HOSTED'] === '1';
    const { sink, judge } = parts;
    this.runs = new ServeRuns({
      machine: machineOf(options, isHosted),
      isHosted,
      sink,
      judge,
      snapshot: () => this.#policy.snapshot,
      runDir: loaded.paths.run,
      idleMs: () => this.#config.limits.run_idle_s * 1_000,
      runsMax: () => this.#config.limits.sessions_per_principal,
      warn: log,
    });
    const around = this.#surroundings();
    this.#servers = new ServedServers(around);
    this.#sessions = new Sessions({
      around,
      runs: this.runs,
      limits: () => this.#config.limits,
      server: (name) => this.#servers.get(name),
      isUnready: (name) => this.#servers.isUnready(name),
      onDefect: (cause) => log(`A defect: ${visible(errorText(cause), WORDS_MAX)}`),
    });
  }

  async start(): Promise<RunningServe | Failure> {
    const problem = await this.#servers.use(this.#config.servers);
    if (problem !== undefined) return problem;
    const { inspectBytesMax, messageBytesMax } = sessionLimits(this.#options.loaded.config);
    const bodies = new BodyReader({ inspectBytesMax, messageBytesMax });
    const onDefect = (cause: unknown): void =>
      this.#options.log(`A defect: ${visible(errorText(cause), WORDS_MAX)}`);
    const listener = await openListener({
      config: () => this.#config,
      authenticator: () => this.#authenticator,
      endpoint: new McpEndpoint(this.#sessions, { bodies, messageBytesMax, onDefect }),
      readiness: () => this.#readiness(),
      onDefect,
    });
    if (isFailure(listener)) return listener;
    this.#listener = listener;
    const following = this.#followPolicy();
    this.#watchConfig();
    return {
      kind: 'running',
      url: listener.url,
      servers: [...this.#config.servers.keys()],
      reload: () => {
        this.#tellsUnchanged = true;
        this.#watch?.look();
      },
      close: async (isCut) => {
        following?.stop();
        this.#watch?.stop();
        await this.#close(isCut);
      },
    };
  }

  #readiness(): Readiness {
    const { readyCount, unreadyCount: serversNotReady } = this.#servers;
    if (this.#sessions.isDraining) return { status: 'draining', serversNotReady };
    const isNone = readyCount === 0 && serversNotReady > 0;
    return { status: isNone ? 'not_ready' : 'ready', serversNotReady };
  }

  async #close(isCut: () => boolean): Promise<void> {
    const graceMs = this.#config.limits.drain_s * 1_000;
    await this.#sessions.drain(graceMs, isCut);
    this.runs.close();
    await this.#listener?.close(isCut() ? 0 : CUT_MS);
    await this.#authenticator.close();
    await this.#servers.close();
  }

  /** Its files, which another configuration may name otherwise. */
  #watchConfig(): void {
    this.#watch?.stop();
    const { watched: paths } = this.#config;
    const read = (): Promise<void> => this.#reload();
    this.#watch = watchFiles({ paths, everyMs: CONFIG_EVERY_MS, read });
  }

  /** A broken configuration changes nothing. */
  async #reload(): Promise<void> {
    const { file, log } = this.#options;
    const loaded = loadServeConfig(file);
    if (isFailure(loaded)) return log(`${loaded.message} The last configuration stays.`);
    if (!loaded.ok) {
      this.#tellsUnchanged = true;
      log('The configuration is broken, and the last one stays:');
      for (const problem of loaded.problems) log(formatProblem(problem));
      return;
    }
    const { config } = loaded;
    if (JSON.stringify(written(config)) === JSON.stringify(written(this.#config))) {
      // A certificate may have been renewed, or a secret have been set.
      await this.#servers.use(this.#config.servers);
      const stale = this.#listener?.renew();
      if (this.#tellsUnchanged) log('The configuration has not changed.');
      this.#tellsUnchanged = false;
      return stale && log(`${stale.message} The last certificate stays.`);
    }
    const { listen } = this.#config;
    if (config.listen.host !== listen.host || config.listen.port !== listen.port) {
      log('Another `listen` holds from the next start on.');
    }
    const problem = await this.#servers.use(config.servers);
    if (problem !== undefined) return log(`${problem.message} The last configuration stays.`);
    const before = this.#authenticator;
    const { watched } = this.#config;
    this.#config = { ...config, listen };
    if (!isDeepStrictEqual(watched, config.watched)) this.#watchConfig();
    this.#authenticator = this.#authenticatorFor(config);
    const stale = this.#listener?.renew();
    if (stale !== undefined) log(`${stale.message} The last certificate stays.`);
    this.#tellsUnchanged = false;
    log(`The configuration has changed: ${[...config.servers.keys()].join(', ') || 'no servers'}.`);
    await before.close();
    await this.#sessions.endAll(({ server, principal }) => {
      const { name } = server.entry;
      return this.#servers.get(name) !== server || !this.#authenticator.retains(principal, name);
    });
    await this.#servers.closeGone();
  }

  #authenticatorFor({ auth }: ServeConfig): ReturnType<typeof createAuthenticator> {
    const { env, log: warn } = this.#options;
    return createAuthenticator(auth, { nowMs: Date.now, proxy: proxyOf(env), warn });
  }

  /** One watch for all sessions. */
  #followPolicy(): { stop(): void } | undefined {
    const { loaded, log } = this.#options;
    const { config } = loaded;
    return followPolicy({
      files: this.#policy.files,
      reload: config['policy.reload'],
      profile: config.profile,
      current: () => this.#policy.snapshot,
      use: async (snapshot) => {
        this.#policy = { ...this.#policy, snapshot };
        await Promise.all(
          [...this.#sessions.all()].map(({ session }) => session.usePolicy(snapshot)),
        );
      },
      heldBack: (reason) => {
        log(reason);
        this.runs.recordHealth('degraded', POLICY_HELD_BACK);
      },
      broken: (reason) => {
        log(`${POLICY_BROKEN}: ${reason}`);
        this.runs.recordHealth('degraded', POLICY_BROKEN);
      },
    });
  }

  #surroundings(): SessionSurroundings {
    const { loaded, env, log } = this.#options;
    const { config, paths } = loaded;
    return {
      env,
      loaded,
      limits: sessionLimits(config),
      warn: log,
      // It outlives each session.
      sink: sharedSink(this.#parts.sink),
      policy: () => this.#policy,
      hasChannel: mayAnswerElsewhere(loaded),
      openGates: (server, facts) => {
        const { snapshot, files } = this.#policy;
        const policies = files.sources.map(({ path }) => path);
        const protects =
          this.#protects.get(server) ??
          finderOptions(this.#placeOf(server), { config, paths, policies });
        this.#protects.set(server, protects);
        return openServerGates(loaded, log, {
          ...facts,
          hasPolicy: hasPolicy(snapshot),
          protects,
        });
      },
      reachHub: (serverName, producer) => this.#reachHub(serverName, producer),
    };
  }

  /** What its relative names start from. */
  #placeOf({ entry }: ServedServer) {
    const { env, cwd } = this.#options;
    if (entry.kind !== 'command') return { command: '', args: [], env, cwd };
    const [command = '', ...args] = entry.command;
    return { command, args, env, cwd: entry.cwd };
  }

  /** The hub of the run that has started this process. */
  async #reachHub(serverName: string, producer: Producer) {
    const { loaded, env, flags, log } = this.#options;
    const started = { program: [], words: [] };
    const caller = { serverName, env, flags, started, ...loaded, warn: log };
    const hub = await awaitRunHub(callRunHub(caller, loaded.config, log), caller);
    if (typeof hub === 'object') hub.use(producer);
    return hub;
  }
}

/** Without the run of an agent, each caller has runs of its own. */
function machineOf({ env, cwd, loaded }: StartServeOptions, isHosted: boolean): Producer {
  const { paths, config } = loaded;
  const own = isHosted ? env : { ...env, SUB_RUN_ID: uuidv7() };
  const { profile } = config;
  return identify({ env: own, cwd, paths, nowMs: Date.now(), profile }).producer;
}

/** What is compared to know whether a configuration has changed. */
function written(config: ServeConfig): unknown {
  return { ...config, servers: [...config.servers] };
}
