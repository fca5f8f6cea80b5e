// Why an upstream did not answer, or stopped in the middle.
import { visible } from '@subluminal/core/visible';
import { errors } from 'undici';
import { PrivateAddressError } from '../public-address.ts';

export interface UpstreamFault {
  readonly kind: 'fault';
  readonly class: 'timeout' | 'disconnect' | 'malformed' | 'aborted';
  /** For a log and for the client: it names no address and no secret. */
  readonly message: string;
  /** Nothing was sent: there was no connection, or none to trust. */
  readonly unsent?: 'unreachable' | 'untrusted';
}

const TIMEOUTS: { readonly [code: string]: string } = {
  UND_ERR_HEADERS_TIMEOUT: 'The upstream did not begin to answer in time.',
  UND_ERR_BODY_TIMEOUT: 'The upstream stopped in the middle of its answer.',
  ETIMEDOUT: 'The upstream could not be reached in time.',
};
const UNREACHED: { readonly [code: string]: string } = {
  ECONNREFUSED: 'The upstream refuses connections.',
  ENOTFOUND: 'The name of the upstream is not known.',
  EAI_AGAIN: 'The name of the upstream could not be looked up.',
  EHOSTUNREACH: 'There is no way to the upstream.',
  ENETUNREACH: 'There is no way to the upstream.',
};
const CONNECT_TIMEOUT = 'UND_ERR_CONNECT_TIMEOUT';
const CERTIFICATE = /^(?:ERR_TLS|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_)/;
/** The other end speaks another protocol, or another version of TLS. */
const TLS = /^(?:ERR_SSL|EPROTO$)/;
const CUT = 'The upstream closed the connection before its answer was complete.';
const MALFORMED = /^(?:HPE_|Z_|ERR_BROTLI|ERR_BUFFER|UND_ERR_RES_CONTENT)/;
const CODE_LENGTH_MAX = 64;

export function fault(kind: UpstreamFault['class'], message: string): UpstreamFault {
  return { kind: 'fault', class: kind, message };
}

export function faultFrom(cause: unknown): UpstreamFault {
  const code = codeOf(cause);
  if (cause instanceof Error && cause.name === 'AbortError') return fault('aborted', 'Aborted.');
  if (cause instanceof PrivateAddressError) {
    const message = 'The name of the upstream leads to a private network.';
    return { ...fault('disconnect', message), unsent: 'unreachable' };
  }
  if (cause instanceof errors.HTTPParserError || MALFORMED.test(code ?? '')) {
    const detail = code === undefined ? '' : ` (${shown(code)})`;
    return fault('malformed', `The upstream sends what is not valid HTTP${detail}.`);
  }
  if (code === undefined) return fault('disconnect', CUT);
  const late = TIMEOUTS[code];
  if (late !== undefined) return fault('timeout', late);
  return unsentFault(code) ?? fault('disconnect', CUT);
}

function unsentFault(code: string): UpstreamFault | undefined {
  if (code === CONNECT_TIMEOUT) {
    const late = fault('timeout', 'The upstream could not be reached in time.');
    return { ...late, unsent: 'unreachable' };
  }
  const message = UNREACHED[code];
  if (message !== undefined) return { ...fault('disconnect', message), unsent: 'unreachable' };
  if (CERTIFICATE.test(code)) {
    const untrusted = `The certificate of the upstream is not trusted (${shown(code)}).`;
    return { ...fault('disconnect', untrusted), unsent: 'untrusted' };
  }
  if (!TLS.test(code)) return undefined;
  const other = `The upstream does not speak TLS as expected (${shown(code)}).`;
  return { ...fault('disconnect', other), unsent: 'unreachable' };
}

function shown(code: string): string {
  return visible(code, CODE_LENGTH_MAX);
}

function codeOf(cause: unknown): string | undefined {
  if (typeof cause !== 'object' || cause === null) return undefined;
  if ('code' in cause && typeof cause.code === 'string') return cause.code;
  // Several addresses were tried, and each failed.
  if (cause instanceof AggregateError) return codeOf(cause.errors[0]);
  return undefined;
}

export function isFault(value: object): value is UpstreamFault {
  return 'kind' in value && value.kind === 'fault';
}
