// `sub proxy`: the local proxy between the agents of this machine and the gateway of a team.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { isFailure } from '@subluminal/contracts';
import { limitHeapGrowth } from '@subluminal/gateway/heap-growth';
import {
  openLogin,
  proxyLog,
  readLogin,
  runningProxy,
  startOwnProxy,
  startProxy,
  startProxyProcess,
  stopProxy,
  takePlace,
} from '@subluminal/gateway/proxy';
import { homePaths, mayAnswerElsewhere } from '@subluminal/plane/config';
import { startLedgerd } from '@subluminal/plane/daemon';
import { attempt } from '@subluminal/plane/os';
import {
  badUsage,
  defineCommand,
  done,
  EXIT,
  type OptionValues,
  type Outcome,
  orThrow,
  printout,
  textOption,
} from '../input/command.ts';
import { type DeveloperMachine, developerMachine, vaultOf } from '../proxy/developer-machine.ts';
import { healthOf, sessionsOf, sessionText, stateText } from '../proxy/proxy-text.ts';
import type { Io } from '../terminal/io.ts';
import { harmless, harmlessLine } from '../terminal/text.ts';
import { untilSignal } from '../terminal/until-signal.ts';

const START_OPTIONS = {
  port: textOption('PORT', 'The port of 127.0.0.1 to listen on (default: 7777)'),
  config: textOption('FILE', 'Settings to use instead of config.toml of the home'),
  foreground: 'Serve in this process until a signal ends it, and log to standard error',
  'passthrough-aicg-events':
    'Pass the events of the gateway on to the client, for development; refused in production',
};
type StartOptions = OptionValues<typeof START_OPTIONS>;

export const start = defineCommand({
  description:
    'Starts the proxy in the background, or says that it runs. Agents send their turns to it (`sub env` says how), and it sends them to the gateway with the key of `sub login` instead of theirs. It fails closed: without the gateway no turn passes, unless `proxy.fallback` says otherwise. On a machine that is not logged in your own policy decides, and turns go to the providers with the keys of the agents.',
  options: START_OPTIONS,
  examples: ['sub proxy start', 'sub proxy start --port 7801 --foreground'],
  exitCodes: {
    0: 'the proxy runs, or served and has ended',
    2: 'wrong flags, or it did not start',
  },
  requires: 'person',
  run: async ({ options }, io) => {
    const machine = await developerMachine({ port: options.port }, options.config);
    const isProduction = process.env['SUB_ENV']?.startsWith('prod') === true;
    if (options['passthrough-aicg-events'] && isProduction) {
      const message = '--passthrough-aicg-events is for development, and SUB_ENV says production.';
      return badUsage(message, 'Leave it out.');
    }
    if (options.foreground) return serve(machine, options, io);
    const before = runningProxy(machine.paths.run);
    if (before !== undefined) return stateOutcome(machine, false);
    return startBehind(machine, options);
  },
});

async function startBehind(machine: DeveloperMachine, options: StartOptions): Promise<Outcome> {
  const [, launcher = ''] = process.argv;
  const passes = options['passthrough-aicg-events'] ? ['--passthrough-aicg-events'] : [];
  const config = options.config === undefined ? [] : ['--config', machine.paths.config];
  const port = String(machine.config['proxy.port']);
  const started = await startProxyProcess({
    runDir: machine.paths.run,
    command: [launcher, 'proxy', 'start', '--foreground', '--port', port, ...config, ...passes],
    env: { ...process.env, SUB_HOME: machine.paths.home },
  });
  if (isFailure(started)) return { ...started, message: `${started.message}${lastWords(machine)}` };
  return stateOutcome(machine, true);
}

const STALE =
  'This machine has logged in or out since then: run `sub proxy stop`, then `sub proxy start`.';

async function stateOutcome({ paths }: DeveloperMachine, isNew: boolean): Promise<Outcome> {
  const state = runningProxy(paths.run);
  if (state === undefined) {
    return printout({ running: false }, 'No proxy runs.\n', EXIT.findings);
  }
  const [health, sessions] = await Promise.all([healthOf(state), sessionsOf(state)]);
  const document = {
    running: true,
    pid: state.identity.pid,
    url: state.url,
    mode: state.mode,
    version: state.version,
    started_at: state.startedAt,
    health,
    sessions,
  };
  const hasLogin = readLogin(paths.home) !== undefined;
  const stale = hasLogin === (state.mode === 'gateway') ? [] : [STALE];
  const lines = [...stateText(state, health, isNew), ...stale, ...sessions.map(sessionText)];
  return printout(document, lines.map(harmlessLine).join(''));
}

async function serve(machine: DeveloperMachine, options: StartOptions, io: Io): Promise<Outcome> {
  process.umask(0o077);
  const log = (line: string) =>
    io.err.write(`${new Date().toISOString()} proxy: ${harmless(line)}\n`);
  const { config, paths } = machine;
  const login = orThrow(await openLogin(vaultOf(machine)));
  const place = orThrow(takePlace(paths.run));
  try {
    const shared = {
      ...machine,
      port: config['proxy.port'],
      wakeLedger: () => void startLedgerd({ env: process.env, paths, config }),
      log,
    };
    const passesEvents = options['passthrough-aicg-events'];
    const proxy = orThrow(
      login === undefined
        ? await startOwnProxy({
            ...shared,
            env: process.env,
            hasChannel: mayAnswerElsewhere(machine),
          })
        : await startProxy({ ...shared, login, passesEvents }),
    );
    limitHeapGrowth();
    // Whoever reads where it is may end it at once.
    await untilSignal(async ({ signal }) => {
      place.tell({ url: proxy.url, mode: proxy.mode, version: machine.version });
      log(`It listens on ${proxy.url}, for ${login?.gatewayUrl ?? 'the providers'}.`);
      if (!signal.aborted) await once(signal, 'abort');
    });
    log('It takes no more turns, and ends when those under way have ended.');
    await proxy.close();
    return done(EXIT.fine);
  } finally {
    place.leave();
  }
}

const LOG_SHOWN_LENGTH_MAX = 500;

/** The end of the log, as a cause. */
function lastWords({ paths }: DeveloperMachine): string {
  const text = attempt(() => readFileSync(proxyLog(paths.run), 'utf8')) ?? '';
  const line = text.trimEnd().split('\n').at(-1) ?? '';
  return line === '' ? '' : ` Its log ends: ${line.slice(-LOG_SHOWN_LENGTH_MAX)}`;
}

export const stop = defineCommand({
  description:
    'Ends the proxy. It takes no more turns, waits for open streams for half a minute at most, and ends.',
  examples: ['sub proxy stop'],
  exitCodes: { 0: 'no proxy runs', 2: 'wrong flags, or it has not ended' },
  requires: 'person',
  run: async () => {
    const { run } = homePaths(process.env);
    const state = runningProxy(run);
    if (state === undefined) return printout({ stopped: null }, 'No proxy runs.\n');
    orThrow(await stopProxy(state));
    const { pid } = state.identity;
    return printout({ stopped: pid }, `The proxy (pid ${pid}) has ended.\n`);
  },
});

export const status = defineCommand({
  description:
    'Shows whether the proxy runs, where it listens, whether the gateway takes its key, and what the sessions that are open have cost.',
  examples: ['sub proxy status', 'sub proxy status --json'],
  exitCodes: { 0: 'the proxy runs', 1: 'no proxy runs', 2: 'wrong flags' },
  run: async () => stateOutcome(await developerMachine(), false),
});
