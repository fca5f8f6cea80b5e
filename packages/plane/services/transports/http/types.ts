// How a server that is reached by HTTP is told who calls. The transport knows no OAuth.
import type { Failure } from '@subluminal/contracts';

/** A server's refusal of a request for want of authorization. */
export interface AuthorizationChallenge {
  readonly status: 401 | 403;
  /** The header `WWW-Authenticate`, as the server wrote it. */
  readonly wwwAuthenticate: string | undefined;
  /** The header `Authorization` that it refused. */
  readonly refused: string | undefined;
}

/** The authorization of one principal towards one server. */
export interface Authorization {
  /** The value of the header `Authorization`; undefined when there is none yet. */
  header(): Promise<string | undefined | Failure>;
  /** The server has refused a request. `retry`: another header is there now. A failure says what the user must do. */
  challenged(challenge: AuthorizationChallenge): Promise<'retry' | Failure>;
}
