// Hands questions of the page to a running Steward, and its answers back. Who may look and who may decide is the
// request guard's; what a method takes and answers stands in its shapes.
import {
  type ApiEndpoint,
  type Failure,
  isFailure,
  isObject,
  STEWARD_CONTROL,
  STEWARD_ENDPOINTS,
  type StewardMethod,
} from '@subluminal/contracts';
import { askSteward, controlSocket } from '../steward-socket/index.ts';
import type { ApiAnswer } from './http-answer.ts';
import type { HttpFailure } from './http-failure.ts';
import { type ApiApp, get, post } from './routes.ts';

interface StewardRelayOptions {
  /** The folder of Steward's socket. */
  readonly runDir: string;
  /** Whom the daemon belongs to. */
  readonly user: string;
}

const PREFIX = '/api/v1/steward/';
/** Longer than Steward lets a question wait for news, and than a commit of git takes. */
const ANSWER_MS_MAX = 90_000;
const ENDPOINTS: readonly ApiEndpoint[] = Object.values(STEWARD_ENDPOINTS);

export function addSteward(app: ApiApp, { runDir, user }: StewardRelayOptions): void {
  const socket = controlSocket(runDir);
  for (const { path, query, input: body } of ENDPOINTS) {
    const method = path.slice(PREFIX.length);
    if (!isMethod(method)) throw new Error(`Steward has no method ${method}.`);
    const who = takesWho(method) ? { person: user, channel: 'web' } : {};
    const relay = async (asked: unknown, gone: AbortSignal): Promise<ApiAnswer> => {
      const signal = AbortSignal.any([gone, AbortSignal.timeout(ANSWER_MS_MAX)]);
      const input = { ...(isObject(asked) && asked), ...who };
      const answer = await askSteward(socket, method, { input, signal });
      return isFailure(answer) ? httpFailureOf(answer) : answer;
    };
    if (body === undefined) {
      get(app, { path, query }, (asked, _, context) => relay(asked, context.req.raw.signal));
    } else {
      post(app, { path, query, input: body }, (asked, _, context) =>
        relay(asked, context.req.raw.signal),
      );
    }
  }
}

function isMethod(name: string): name is StewardMethod {
  return Object.hasOwn(STEWARD_CONTROL, name);
}

/** Who it is for comes from the session, never from the page. */
function takesWho(method: StewardMethod): boolean {
  return Object.hasOwn(STEWARD_CONTROL[method].takes.fields, 'person');
}

/** Failures that are not the fault of the request. */
const STATUSES: { readonly [code: string]: HttpFailure['status'] } = {
  SUB_STEWARD_AWAY: 503,
  SUB_CHANGE_UNKNOWN: 404,
  SUB_CHANGE_CONFLICT: 409,
  SUB_INTERNAL: 500,
};

function httpFailureOf({ kind, code, message, fix }: Failure): HttpFailure {
  return { kind, code, message, fix, status: STATUSES[code] ?? 400 };
}
