// The way to a server that is reached by an address: its headers, who calls it, and the connections that the sessions of
// one caller share.
import { failure } from '@subluminal/contracts';
import type { SecretValue } from '@subluminal/core/scan';
import { isFault, type Upstream } from '../../../os/upstream/index.ts';
import type { ResolvedSecrets } from '../../../stores/vault/index.ts';
import { serverAuthorization } from '../../remote-server/authorization.ts';
import { readRemote } from '../../remote-server/remote-server.ts';
import { connectHttpServer, type HeaderList, upstreamFor } from '../../transports/http/index.ts';
import type { Authorization } from '../../transports/http/types.ts';
import type { ServerEnd } from '../../transports/types.ts';
import type { RemoteServer } from '../config/serve-config.ts';
import type { ServerCaller, ServerSurroundings } from './served-server.ts';

/** The headers of a server with their values; a failure says which one is missing. */
export function remoteHeaders(
  { url, transport, headers, headerEnv, bearerEnv }: RemoteServer,
  secrets: ResolvedSecrets,
): ReturnType<typeof readRemote> {
  const start = {
    url,
    transport,
    headers: Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    headerVariables: Object.entries(headerEnv).map(([name, variable]) => `${name}=${variable}`),
    bearerVariable: bearerEnv,
  };
  return readRemote(start, secrets);
}

interface RemoteSurroundings extends ServerSurroundings {
  /** Hears every token of this home that is used, so that it can be redacted. */
  readonly onToken: (token: SecretValue) => void;
}

/** The connections of one caller, for all its sessions. */
interface CallerConnections {
  readonly upstream: Upstream;
  sessions: number;
}

/**
 * Connections are kept for all sessions of a caller: a session of its own has none to begin with. Their number has a
 * limit, so that whoever shared them could keep others out with calls that never end.
 */
export class RemoteWay {
  readonly #entry: RemoteServer;
  readonly #around: RemoteSurroundings;
  readonly #headers: HeaderList;
  readonly #reported: (upstream: Upstream) => Upstream;
  /** By caller, as long as it has sessions. */
  readonly #connections = new Map<string, CallerConnections>();
  /** The grant of this home, for all callers that have none of their own. */
  readonly #shared: Authorization;

  constructor(entry: RemoteServer, around: RemoteSurroundings, headers: HeaderList) {
    this.#entry = entry;
    this.#around = around;
    this.#headers = headers;
    const { name: server, url } = entry;
    const tell = (text: string): void => around.warn(`The server ${server} ${text}`);
    this.#reported = reporter(tell);
    this.#shared = serverAuthorization({ server, url, isServed: true }, around);
  }

  /** The token of the caller goes on only where the configuration says so. */
  connect(caller: ServerCaller): ServerEnd {
    const { name: serverName, url, transport, passToken } = this.#entry;
    const authorization = passToken ? passedToken(serverName, caller.token) : this.#grant(caller);
    const { limits, env, warn } = this.#around;
    const { inspectBytesMax, messageBytesMax, orphanMs: requestMs } = limits;
    const connections = this.#enter(caller.principal.id);
    const end = connectHttpServer({
      serverName,
      url,
      transport,
      headers: this.#headers,
      authorization,
      limits: { inspectBytesMax, messageBytesMax, requestMs },
      env,
      upstream: connections.upstream,
      warn: (text) => warn(`${serverName}: ${text}`),
    });
    let closing: Promise<void> | undefined;
    const close = async (): Promise<void> => {
      await end.close();
      await this.#leave(caller.principal.id, connections);
    };
    return { ...end, close: () => (closing ??= close()) };
  }

  #enter(id: string): CallerConnections {
    const { url } = this.#entry;
    const known = this.#connections.get(id);
    if (known !== undefined) {
      known.sessions += 1;
      return known;
    }
    const upstream = this.#reported(upstreamFor(url, this.#around.env));
    const own = { upstream, sessions: 1 };
    this.#connections.set(id, own);
    return own;
  }

  async #leave(id: string, own: CallerConnections): Promise<void> {
    own.sessions -= 1;
    if (own.sessions > 0) return;
    this.#connections.delete(id);
    await own.upstream.close();
  }

  #grant({ principal: { id, kind }, onToken }: ServerCaller): Authorization {
    const { name: server, url, login } = this.#entry;
    if (login === 'shared') return this.#shared;
    // Whoever calls from this machine without a key is the user of this home.
    const who = kind === 'local' ? {} : { principal: id };
    const around = { ...this.#around, onToken };
    return serverAuthorization({ server, url, ...who, isServed: true }, around);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#connections.values()].map(({ upstream }) => upstream.close()));
  }
}

/** The log tells when a server cannot be reached, and when it is again; each failure is told to its agent alone. */
function reporter(tell: (text: string) => void): (upstream: Upstream) => Upstream {
  let isAway = false;
  return (upstream) => {
    const call: Upstream['call'] = async (request) => {
      const answer = await upstream.call(request);
      const isFailed = isFault(answer);
      // What became of a request that was sent says nothing of the way.
      if (isFailed && answer.unsent === undefined) return answer;
      if (isFailed && !isAway) tell(`cannot be reached. ${answer.message}`);
      if (!isFailed && isAway) tell('is reached again.');
      isAway = isFailed;
      return answer;
    };
    return { call, close: () => upstream.close() };
  };
}

/** The token that the caller has shown last in its session. The caller has to get another one where it is refused. */
function passedToken(server: string, token: () => string | undefined): Authorization {
  const header = async (): Promise<string | undefined> => {
    const value = token();
    return value === undefined ? undefined : `Bearer ${value}`;
  };
  return {
    header,
    challenged: async ({ status, refused }) => {
      if ((await header()) !== refused) return 'retry';
      const message = `the server ${server} refuses the token of the caller (HTTP ${status}).`;
      return failure('SUB_AUTH_REFUSED', message, 'Call with a token that it accepts.');
    },
  };
}
