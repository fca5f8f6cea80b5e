// Reads the header `WWW-Authenticate` (RFC 9110, section 11.6.1) of a server that wants a bearer token.
import { isScope } from '../../stores/config/index.ts';

export interface BearerChallenge {
  readonly resourceMetadata: string | undefined;
  /** Undefined where none is named. */
  readonly scopes: readonly string[] | undefined;
  readonly error: string | undefined;
}

const HEADER_LENGTH_MAX = 8_192;
const PARAMS_MAX = 64;
const SCOPES_MAX = 100;
const TOKEN = String.raw`[!#$%&'*+.^_\x60|~0-9A-Za-z-]+`;
/** A parameter, or the scheme that begins a challenge, with a token68 behind it. */
const PART = new RegExp(
  String.raw`[\s,]*(?:(${TOKEN})\s*=\s*(?:"((?:[^"\\]|\\.)*)"|(${TOKEN}))(?=[\s,]|$)|(${TOKEN})(?:\s+[A-Za-z0-9._~+/-]+=*(?=\s*(?:,|$)))?)`,
  'ys',
);

/** Undefined where no challenge is for a bearer token. Of several the first counts. */
export function bearerChallenge(header: string | undefined): BearerChallenge | undefined {
  const text = header?.slice(0, HEADER_LENGTH_MAX) ?? '';
  let params: Map<string, string> | undefined;
  let isBearer = false;
  PART.lastIndex = 0;
  for (let count = 0; count < PARAMS_MAX; count++) {
    const found = PART.exec(text);
    if (found === null) break;
    const [, name, quoted, plain, scheme] = found;
    if (scheme !== undefined) {
      if (isBearer) break;
      isBearer = scheme.toLowerCase() === 'bearer';
      if (isBearer) params = new Map();
    } else if (isBearer && name !== undefined && params?.has(name.toLowerCase()) === false) {
      params.set(name.toLowerCase(), quoted?.replaceAll(/\\(.)/gs, '$1') ?? plain ?? '');
    }
  }
  if (params === undefined) return undefined;
  const scope = params.get('scope');
  return {
    resourceMetadata: params.get('resource_metadata'),
    scopes: scope === undefined ? undefined : scopesIn(scope),
    error: params.get('error'),
  };
}

/** The scopes of a list that is separated by spaces; what is none is left out. */
export function scopesIn(text: string): readonly string[] {
  const scopes = text.split(' ').filter(isScope);
  return [...new Set(scopes)].slice(0, SCOPES_MAX);
}
