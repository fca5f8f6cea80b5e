// What goes wrong between a server, its authorization server and us, in words that say what to do.
import { type Failure, failure } from '@subluminal/contracts';
import { visible } from '@subluminal/core/visible';

const URL_LENGTH_MAX = 256;
const TEXT_LENGTH_MAX = 200;
/** What a shell takes as one word. */
const PLAIN_WORD = /^[A-Za-z0-9_./:@%+=,-]+$/;

/** Up to the last `@` before the path, as URLs are parsed. */
const CREDENTIALS = /^([^/?#]*\/\/)[^/?#]*@/;

/** An address, safe to print: without its password. */
export function shownUrl(url: string): string {
  return visible(url.replace(CREDENTIALS, '$1…@'), URL_LENGTH_MAX);
}

/** A text of others, safe to print. */
export function shownText(text: string): string {
  return visible(text, TEXT_LENGTH_MAX);
}

export function discoveryFailure(message: string, fix = REPORT): Failure {
  return failure('SUB_AUTH_DISCOVERY', message, fix);
}

const REPORT = 'Check the address of the server. If it is right, its operator must correct this.';

export interface LoginWords {
  readonly server: string;
  /** Empty for the user of this home. */
  readonly principal: string;
  /** `sub serve` reaches the server: its configuration names it, and whoever is told this may be far away. */
  readonly isServed?: boolean | undefined;
}

/** The command that logs in to a server; scopes only where a shell takes them as they are. */
function loginCommand(
  { server, principal, isServed = false }: LoginWords,
  scopes: readonly string[] = [],
): string {
  const name = PLAIN_WORD.test(server) ? server : 'SERVER';
  const who = PLAIN_WORD.test(principal) ? `"${principal}"` : 'ID';
  const forWhom = principal === '' ? '' : ` --principal ${who}`;
  const list = scopes.length > 0 && scopes.every((scope) => PLAIN_WORD.test(scope)) ? scopes : [];
  const scope = list.length === 0 ? '' : ` --scope "${list.join(' ')}"`;
  return `sub auth login ${name}${isServed ? ' --config FILE' : ''}${forWhom}${scope}`;
}

/** Who is to run it, and where. */
export function loginFix(words: LoginWords, scopes: readonly string[] = []): string {
  const where = words.isServed
    ? 'on the machine of `sub serve`, with its configuration as FILE'
    : 'in a terminal';
  return `Run \`${loginCommand(words, scopes)}\` ${where}.`;
}

export function loginNeeded(
  words: LoginWords,
  why: string,
  scopes: readonly string[] = [],
): Failure {
  const message = `the server \`${shownText(words.server)}\` needs authorization: ${why}.`;
  return failure('SUB_AUTH_REQUIRED', message, loginFix(words, scopes));
}

/** The store needs somebody who types its passphrase, or unlocks the keychain, and there is nobody. */
export function storeClosed(server: string, problem: Failure): Failure {
  if (problem.code !== 'SUB_VAULT_KEY') return problem;
  const message = `the login of \`${shownText(server)}\` cannot be used: ${problem.message}`;
  const fix =
    'Write the passphrase into a file of mode 0600, and set `secrets.passphrase_file` in config.toml to its path; or run `sub secrets rotate --key --protect keychain` (or `file`) in a terminal.';
  return failure(problem.code, message, fix);
}
