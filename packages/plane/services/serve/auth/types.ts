// Who calls `sub serve`.
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';

/** The caller of a request. Sessions and runs belong to one principal. */
export interface Principal {
  /** Unique among all issuers and keys, and the same for each request of this caller. */
  readonly id: string;
  readonly kind: 'local' | 'key' | 'jwt';
  /** As a person would name it; hostile text. */
  readonly name: string;
  /** Its own token, which goes to an upstream only where the config says so for that upstream. */
  readonly token: string | undefined;
  /** What its access hangs on: the digest of its key, or its issuer. */
  readonly grantedBy?: string;
}

export type Authenticated =
  | {
      readonly kind: 'principal';
      readonly principal: Principal;
      /** When its token ends, in milliseconds since 1970: a stream must not outlive it. */
      readonly untilMs?: number;
    }
  /** With `WWW-Authenticate` where it belongs. 503: it cannot be known now who calls. */
  | {
      readonly kind: 'refused';
      readonly status: 401 | 403 | 503;
      readonly headers: OutgoingHttpHeaders;
      readonly message: string;
    };

export interface Authenticator {
  /** `server`: the name in the path of the request. */
  authenticate(request: IncomingMessage, server: string): Promise<Authenticated>;
  /** Whether a caller whom another configuration has let in would still get in: if not, its sessions end. */
  retains(principal: Principal, server: string): boolean;
  /** The body of a metadata document (RFC 9728) that this path asks for, if it does. */
  metadata(path: string): string | undefined;
  /** Ends the connections to issuers. */
  close(): Promise<void>;
}
