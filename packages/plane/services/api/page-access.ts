// Who has opened the page: links that log in once, and the sessions that they begin.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import {
  type ApiLoginLink,
  type Infer,
  LEDGER_SESSION,
  type LedgerRole,
  LOGIN_PATH,
  parseAs,
} from '@subluminal/contracts';
import { PageSessions } from '../../os/crypto/index.ts';
import { isOtherUsers, parseJson, type System } from '../../os/index.ts';
import { type HttpFailure, httpFailure } from './http-failure.ts';
import { LoginCodes } from './login-codes.ts';
import type { PersonGuard } from './person-guard.ts';

interface PageAccessOptions {
  readonly secret: string;
  readonly port: number;
  readonly user: string;
  readonly nowMs: () => number;
  readonly system: System;
  readonly mayDecide: PersonGuard;
}

type PageSession = Infer<typeof LEDGER_SESSION>;

const SESSION_MS = 7 * 24 * 60 * 60 * 1_000;
/** The daemon is reached on this machine alone, without TLS. */
const PLAIN = { isSecure: false };

export class PageAccess {
  readonly #options: PageAccessOptions;
  readonly #codes: LoginCodes;
  readonly #sessions: PageSessions;
  /** Connections, by whether another user has them. */
  readonly #foreign = new WeakMap<Socket, boolean>();

  constructor(options: PageAccessOptions) {
    this.#options = options;
    const { secret, port, nowMs } = options;
    this.#codes = new LoginCodes(nowMs);
    // A browser keeps one cookie of a name for all ports: daemons of two homes would log each other out.
    this.#sessions = new PageSessions({ cookieName: `sub_session_${port}`, secret });
  }

  link(role: LedgerRole): ApiLoginLink {
    const { code, expiresAtMs } = this.#codes.issue(role);
    return { path: `${LOGIN_PATH}#${code}`, expires_at_ms: expiresAtMs };
  }

  /** The page token and the cookie of a new session. */
  login(
    code: string,
    socket: Socket,
  ): { readonly pageToken: string; readonly setCookie: string } | HttpFailure {
    // The code is used up in any case: somebody else has seen it.
    const role = this.#codes.redeem(code);
    if (role === undefined || this.#isForeign(socket)) return httpFailure(401, 'SUB_API_LOGIN');
    const { user, nowMs, mayDecide } = this.#options;
    const inside = mayDecide(socket);
    if (inside !== undefined) return inside;
    const session: PageSession = { role, user, expires_at_ms: nowMs() + SESSION_MS };
    return this.#sessions.begin(JSON.stringify(session), { ...PLAIN, maxAgeMs: SESSION_MS });
  }

  logout(): string {
    return this.#sessions.end(PLAIN);
  }

  /** The session whose two halves a request shows. */
  session(
    { headers, socket }: IncomingMessage,
    pageToken: string | undefined,
  ): PageSession | undefined {
    const text = this.#sessions.read(headers.cookie, pageToken);
    const parsed = text === undefined ? undefined : parseAs(LEDGER_SESSION, parseJson(text));
    if (parsed?.ok !== true || parsed.value.expires_at_ms <= this.#options.nowMs())
      return undefined;
    // Whoever listens on our port while no daemon runs gets both halves from a page that is still open.
    return this.#isForeign(socket) ? undefined : parsed.value;
  }

  #isForeign(socket: Socket): boolean {
    const known = this.#foreign.get(socket) ?? isOtherUsers(socket, this.#options.system);
    this.#foreign.set(socket, known);
    return known;
  }
}
