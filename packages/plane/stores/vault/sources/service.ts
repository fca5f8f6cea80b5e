// What is needed to ask a service for a secret: where it is, and by what right.
import { type Fetched, type NotFetched, readSecretFile } from '../secret-file.ts';
import { baseOf } from './http-json.ts';

export type Env = { readonly [name: string]: string | undefined };

export interface ServiceSettings {
  readonly address?: string | null;
  readonly tokenFile?: string | null;
}

/** The names of a service: how the messages call it, and the variables that its own tools read. */
export interface ServiceNames {
  readonly title: string;
  readonly addressVariable: string;
  readonly tokenVariable: string;
  readonly settings: string;
  /** Where its own tools keep the token, when there is such a place. */
  readonly tokenPath?: string;
}

export type Service =
  | { readonly ok: true; readonly base: URL; readonly token: string }
  | NotFetched;

const TOKEN_LENGTH_MAX = 16_384;

/**
 * The settings weigh more than the variables: whoever starts the shim may have set those. For the same
 * reason a token that is kept in a file goes to the address of the settings alone.
 */
export function serviceOf(names: ServiceNames, settings: ServiceSettings, env: Env): Service {
  const { title, addressVariable, settings: keys } = names;
  const address = settings.address || env[addressVariable];
  if (!address) {
    const fix = `Set ${keys}_addr in the table [secrets] of config.toml, or ${addressVariable}.`;
    return notFetched(`nobody says where ${title} is`, fix);
  }
  const base = baseOf(address);
  if (!base.ok) {
    return notFetched(`${title}: ${base.message}`, `Correct ${keys}_addr, or ${addressVariable}.`);
  }
  const token = tokenOf(names, settings, env);
  if (!token.ok) return token;
  // A header of two lines is two headers.
  if (
    token.value === '' ||
    token.value.length > TOKEN_LENGTH_MAX ||
    !/^[!-~]+$/.test(token.value)
  ) {
    return notFetched(`the token for ${title} is no token`, 'Give it as one line of plain text.');
  }
  return { ok: true, base: base.url, token: token.value };
}

function tokenOf(names: ServiceNames, { address, tokenFile }: ServiceSettings, env: Env): Fetched {
  const { title, addressVariable, tokenVariable, settings: keys, tokenPath } = names;
  const value = env[tokenVariable];
  if (!address) {
    if (value && !tokenFile) return { ok: true, value };
    const fix = `Set ${keys}_addr in the table [secrets] of config.toml: a token that is kept in a file is not sent to where ${addressVariable} says.`;
    return notFetched(`there is no token for ${title} in ${tokenVariable}`, fix);
  }
  if (tokenFile) return readSecretFile(tokenFile);
  if (value) return { ok: true, value };
  const kept = tokenPath === undefined ? undefined : readSecretFile(tokenPath);
  if (kept !== undefined && (kept.ok || !kept.isMissing)) return kept;
  const fix = `Set ${keys}_token_file in the table [secrets] of config.toml, or ${tokenVariable}.`;
  return notFetched(`there is no token for ${title}`, fix);
}

export function notFetched(message: string, fix: string): NotFetched {
  return { ok: false, isMissing: false, message, fix };
}

export function missing(message: string, fix: string): NotFetched {
  return { ok: false, isMissing: true, message, fix };
}
