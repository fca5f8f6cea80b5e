// A JWT of a trusted issuer: its signature, its times and its claims. Which servers it opens is decided for each
// request.
import { visible } from '@subluminal/core/visible';
import { decodeJwt, decodeProtectedHeader, errors, type JWTPayload, jwtVerify } from 'jose';
import { attempt } from '../../../os/index.ts';
import type { TrustedIssuer } from './auth-config.ts';
import { type IssuerKeys, KeysUnavailable } from './issuer-keys.ts';

/** What a token says of its bearer. */
export interface VerifiedToken {
  readonly issuer: TrustedIssuer;
  readonly subject: string;
  readonly name: string;
  readonly audiences: readonly string[];
  readonly scopes: ReadonlySet<string>;
  readonly groups: ReadonlySet<string>;
  readonly untilMs: number;
}

export type Verification =
  | { readonly kind: 'verified'; readonly token: VerifiedToken }
  /** For its bearer, who may be anybody: nothing of the token in it. */
  | { readonly kind: 'invalid'; readonly why: string }
  | { readonly kind: 'unavailable' };

export interface IssuerWithKeys {
  readonly issuer: TrustedIssuer;
  readonly keys: IssuerKeys;
}

/** Public keys only: with a secret of both sides, each side could make tokens. */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];
/** Access tokens (RFC 9068), and what issuers call them that are older than it. */
const TYPES: ReadonlySet<string> = new Set(['at+jwt', 'jwt']);
const SKEW_S = 30;
const SUBJECT_LENGTH_MAX = 255;
const NAME_LENGTH_MAX = 128;
const NAME_CLAIMS = ['name', 'preferred_username', 'email', 'client_id', 'azp'];
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}]/u;
const LIST_MAX = 1_000;

export async function verifyToken(
  token: string,
  issuers: ReadonlyMap<string, IssuerWithKeys>,
  nowMs: number,
): Promise<Verification> {
  // Read before it is believed, to find who could have signed it.
  const claimed = attempt(() => decodeJwt(token).iss);
  const type = attempt(() => decodeProtectedHeader(token).typ ?? 'JWT');
  if (type === undefined || claimed === undefined) return invalid('The token is no JWT.');
  const found = issuers.get(claimed);
  if (found === undefined) return invalid('The issuer of the token is not trusted here.');
  if (!TYPES.has(type.toLowerCase().replace(/^application\//, ''))) {
    return invalid('The token is no access token.');
  }
  const { issuer, keys } = found;
  try {
    const { payload } = await jwtVerify(token, (header, input) => keys.find(header, input), {
      algorithms: ALGORITHMS,
      issuer: issuer.issuer,
      requiredClaims: ['exp', 'aud', 'sub'],
      clockTolerance: SKEW_S,
      currentDate: new Date(nowMs),
    });
    return readClaims(payload, issuer, nowMs);
  } catch (cause) {
    if (cause instanceof KeysUnavailable) return { kind: 'unavailable' };
    return invalid(reason(cause));
  }
}

function readClaims(claims: JWTPayload, issuer: TrustedIssuer, nowMs: number): Verification {
  const { sub, exp, iat, cnf } = claims;
  if (
    typeof sub !== 'string' ||
    sub === '' ||
    sub.length > SUBJECT_LENGTH_MAX ||
    HIDDEN.test(sub)
  ) {
    return invalid('The claim `sub` of the token cannot be used.');
  }
  if (exp === undefined) return invalid('The token never ends.');
  if (iat !== undefined && iat * 1_000 > nowMs + SKEW_S * 1_000) {
    return invalid('The token is of the future.');
  }
  // Whoever has stolen it could show it, too (RFC 9449, section 7.2; RFC 8705, section 3).
  if (cnf !== undefined) return invalid('The token is bound to a key, which is not checked here.');
  return {
    kind: 'verified',
    token: {
      issuer,
      subject: sub,
      name: nameIn(claims, issuer) ?? visible(sub, NAME_LENGTH_MAX),
      audiences: textsIn(claims.aud),
      scopes: new Set([...wordsIn(claims['scope']), ...wordsIn(claims['scp'])]),
      groups: new Set(textsIn(claims[issuer.groups_claim])),
      untilMs: (exp + SKEW_S) * 1_000,
    },
  };
}

function nameIn(claims: JWTPayload, { name_claim }: TrustedIssuer): string | undefined {
  const names = name_claim === undefined ? NAME_CLAIMS : [name_claim];
  const values = names.map((name) => (Object.hasOwn(claims, name) ? claims[name] : undefined));
  const name = values.find((value) => typeof value === 'string' && value !== '');
  return typeof name === 'string' ? visible(name, NAME_LENGTH_MAX) : undefined;
}

/** One text, or a list of them. */
function textsIn(value: unknown): readonly string[] {
  const values: readonly unknown[] = Array.isArray(value) ? value.slice(0, LIST_MAX) : [value];
  return values.filter((one) => typeof one === 'string');
}

/** The same, where a text has several words. */
function wordsIn(value: unknown): readonly string[] {
  return typeof value === 'string' ? value.split(' ', LIST_MAX) : textsIn(value);
}

function invalid(why: string): Verification {
  return { kind: 'invalid', why };
}

function reason(cause: unknown): string {
  if (cause instanceof errors.JWTExpired) return 'The token has expired.';
  if (cause instanceof errors.JWTClaimValidationFailed) {
    return `The claim \`${visible(cause.claim, 32)}\` of the token does not hold.`;
  }
  if (cause instanceof errors.JWKSNoMatchingKey) return 'No key of the issuer fits the token.';
  if (cause instanceof errors.JOSEAlgNotAllowed) return 'The algorithm of the token is refused.';
  return 'The signature of the token does not hold.';
}
