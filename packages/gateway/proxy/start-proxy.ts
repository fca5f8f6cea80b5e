// `sub proxy`: the proxy of a developer's machine. It sends turns to the gateway that this machine is logged in to.
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { rootCertificates } from 'node:tls';
import {
  type Failure,
  failure,
  isFailure,
  type Producer,
  tableFailure,
} from '@subluminal/contracts';
import type { Actions } from '@subluminal/core/detect';
import type { Config, HomePaths } from '@subluminal/plane/config';
import { callIds, sha256 } from '@subluminal/plane/crypto';
import { fingerprintsIn } from '@subluminal/plane/governor/fingerprints';
import { isLoopbackHost, systemCode } from '@subluminal/plane/os';
import { type BatchingSink, fileSink, ledgerSink, offSink } from '@subluminal/plane/sink';
import { openUpstream, proxyOf, type Upstream } from '@subluminal/plane/upstream';
import { uuidv7 } from 'uuidv7';
import { isOlder } from '../api/proxy-version.ts';
import { TurnInspector } from '../inspect/index.ts';
import { ownEndpoint } from '../local/upstreams.ts';
import { listedHeaders } from '../providers/client-headers.ts';
import { askedTurn } from '../serve/turn-routes.ts';
import {
  type Attempt,
  coreWires,
  createTurnEngine,
  forwardModels,
  rememberingWires,
} from '../turns/index.ts';
import { FileFingerprints } from './file-fingerprints.ts';
import { GatewayClient } from './gateway-client.ts';
import type { GatewayLogin } from './login.ts';
import { ProxyGovernor, type ProxyServices } from './proxy-governor.ts';
import { openProxyServer } from './proxy-server.ts';
import { RepoBinder } from './repo-binding-file.ts';
import { RepoReader } from './repo-facts.ts';
import { SessionRuns } from './session-runs.ts';
import { warmInspector } from './warm-inspector.ts';

export interface ProxyOptions {
  readonly config: Config;
  readonly paths: HomePaths;
  readonly producer: Producer;
  readonly login: GatewayLogin;
  readonly version: string;
  readonly port: number;
  readonly passesEvents: boolean;
  /** Nobody takes the events: the ledger has to be started. */
  readonly wakeLedger: () => void;
  /** One line for the person who runs it. */
  readonly log: (line: string) => void;
}

export interface RunningProxy {
  readonly kind: 'running';
  readonly url: string;
  readonly mode: 'gateway' | 'own';
  close(): Promise<void>;
}

/** The gateway decides: the proxy only says what it has found. */
export const FOUND_ONLY: Actions = {
  outbound: { secret: 'tag', personal: 'tag', injection: 'allow', hidden_text: 'allow' },
  inbound: { secret: 'tag', personal: 'tag', injection: 'allow', hidden_text: 'allow' },
  confidenceMin: 'likely',
  blockConfidence: 'likely',
  unscanned: 'tag',
};
/** How long a proxy that ends waits for open streams. */
export const DRAIN_MS = 30_000;
const HEALTH_MS = 3_000;
const MODELS_MS = 30_000;

export async function startProxy(options: ProxyOptions): Promise<RunningProxy | Failure> {
  const { login, config, version, log, port } = options;
  const upstream = openGatewayLink(config, login.gatewayUrl);
  if (isFailure(upstream)) return upstream;
  const { gatewayUrl, apiKey } = login;
  const client = new GatewayClient({ gatewayUrl, apiKey, upstream, version, timeoutMs: HEALTH_MS });
  const problem = await checkVersion(client, options);
  if (problem !== undefined) {
    await upstream.close();
    return problem;
  }
  const sink = openSink(options);
  if (isFailure(sink)) return sink;
  const services = servicesOf(options, { client, sink });
  warmInspector(services.inspector);
  const nowMs = () => performance.now();
  const onDefect = (_trace: string, cause: unknown) => log(`A defect: ${String(cause)}`);
  const engine = createTurnEngine({ wires: rememberingWires(), upstream, nowMs, onDefect });
  const server = await openProxyServer({
    port,
    home: options.paths.home,
    turn: (request, response, peer) => {
      const asked = askedTurn(request);
      if (asked === undefined || asked.kind === 'forward') return false;
      if (asked.kind === 'models') {
        const attempt = modelsAttempt(login, request.url ?? '');
        const route = { upstream, wires: coreWires, attempt, wire: asked.wire, path: '' };
        void forwardModels(request, response, route);
        return true;
      }
      const governor = new ProxyGovernor(services, peer);
      void engine.handle(request, response, { ...asked, governor });
      return true;
    },
    told: toldBy(options, { client, services }),
  });
  const close = async () => {
    if (!isFailure(server)) await server.close(DRAIN_MS);
    await services.runs.close();
    await upstream.close();
  };
  if (!isFailure(server)) return { kind: 'running', url: server.url, mode: 'gateway', close };
  await close();
  return server;
}

export function machineIdOf({ source }: Producer): string {
  return sha256(`${hostname()}:${source.host_id}`).slice(0, 32);
}

function servicesOf(
  options: ProxyOptions,
  { client, sink }: { readonly client: GatewayClient; readonly sink: BatchingSink },
): ProxyServices {
  const { login, producer, paths, version, log, passesEvents, config } = options;
  const machineId = machineIdOf(producer);
  return {
    login,
    policy: {
      policy_id: 'gateway',
      policy_version: 'remote',
      policy_hash: sha256(`gateway ${login.gatewayUrl}`),
    },
    machineId,
    version,
    inspector: new TurnInspector({
      fingerprint: fingerprintsIn(paths.home).of,
      classes: ['secret', 'personal'],
      actions: FOUND_ONLY,
    }),
    files: new FileFingerprints(),
    repos: new RepoReader(),
    binder: new RepoBinder({ client, machineId, tell: log }),
    runs: new SessionRuns({ producer, sink, runDir: paths.run, warn: log }),
    newCallId: callIds(),
    passesEvents,
    warn: log,
    fallback:
      config['proxy.fallback'] === 'own'
        ? { anthropic: config['proxy.anthropic_url'], openai: config['proxy.openai_url'] }
        : undefined,
  };
}

/** Too old is refused; a gateway that is away is said, and may come back. */
async function checkVersion(
  client: GatewayClient,
  { version, log }: ProxyOptions,
): Promise<Failure | undefined> {
  const checked = await client.checkVersion();
  if (isFailure(checked)) {
    log(`${checked.message} No turn passes until it can be.`);
    return undefined;
  }
  const { minimum_version: minimum, gateway_version: latest, message } = checked;
  if (!checked.is_supported) {
    return tableFailure('SUB_PROXY_VERSION', `This is ${version}; it asks for ${minimum}.`);
  }
  const isBehind = isOlder(version, latest);
  const news = isBehind ? `The gateway is ${latest}, this is ${version}: update soon.` : null;
  const told = message ?? news;
  if (told !== null) log(told);
  return undefined;
}

/** Connections to the gateway: with the certificates of the settings, by the proxy of the network. */
export function openGatewayLink(config: Config, gatewayUrl: string): Upstream | Failure {
  const read = (path: string | null) => (path === null ? undefined : readFileSync(path, 'utf8'));
  try {
    const ca = read(config['proxy.ca_file']);
    const cert = read(config['proxy.cert_file']);
    const key = read(config['proxy.key_file']);
    const tls = {
      // The system's authorities hold as well.
      ...(ca !== undefined && { ca: [...rootCertificates, ca].join('\n') }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
    };
    const isLocal = isLoopbackHost(new URL(gatewayUrl).hostname);
    return openUpstream({ tls, ...(!isLocal && { proxy: proxyOf(process.env) }) });
  } catch (cause) {
    const message = `A certificate for the gateway cannot be read (${systemCode(cause)}).`;
    return failure('SUB_FILE_READ', message, 'Check `proxy.ca_file`, `cert_file` and `key_file`.');
  }
}

/** Where the events of the proxy go. */
export function openSink({
  config,
  paths,
  log,
  wakeLedger,
}: Pick<ProxyOptions, 'config' | 'paths' | 'log' | 'wakeLedger'>): BatchingSink | Failure {
  const sink = config['events.sink'];
  const queueBytes = config['limits.queue_bytes'];
  if (sink.kind === 'off') return offSink();
  if (sink.kind === 'file') return fileSink(sink.path, { queueBytes, warn: log });
  return ledgerSink({
    socketPath: config['ledger.socket'],
    spoolDir: paths.spool,
    producer: uuidv7(),
    limits: { queueBytes },
    warn: log,
    onNobody: wakeLedger,
  });
}

function toldBy(
  { login, version, log }: ProxyOptions,
  { client, services }: { readonly client: GatewayClient; readonly services: ProxyServices },
) {
  const { gatewayUrl, userId, teamId } = login;
  return {
    version: () => ({ version }),
    sessions: () => ({ sessions: services.runs.list() }),
    whoami: () => ({
      mode: 'gateway',
      gateway_url: gatewayUrl,
      user_id: userId,
      team_id: teamId,
      machine_id: services.machineId,
    }),
    health: async () => {
      const who = await client.whoami();
      if (!isFailure(who)) return { status: 'ok', mode: 'gateway', gateway_url: gatewayUrl };
      const { code, message, fix } = who;
      log(message);
      return {
        status: 'degraded',
        mode: 'gateway',
        gateway_url: gatewayUrl,
        problem: { code, message, fix },
      };
    },
  };
}

/** The list of models that the gateway has for this user. */
function modelsAttempt({ gatewayUrl, apiKey }: GatewayLogin, path: string): Attempt {
  const [plain = ''] = path.split('?', 1);
  return {
    attemptNo: 1,
    provider: {
      name: 'openai_compat',
      wires: () => [],
      hasCountTokens: true,
      url: ({ endpoint }) => endpoint.url,
      headers: (from) => ({
        ...listedHeaders(from, ['anthropic-version']),
        authorization: `Bearer ${apiKey}`,
      }),
    },
    endpoint: ownEndpoint('openai_compat', `${gatewayUrl}${plain}`),
    model: '',
    credentials: { kind: 'none' },
    timeoutMs: MODELS_MS,
    release: () => {},
  };
}
