// Opens the secret store of this user: its folder, its passphrase, and the servers that are bound to it.
import { existsSync } from 'node:fs';
import { type Failure, failure, isFailure } from '@subluminal/contracts';
import {
  type ConfigFailure,
  ensurePrivateFolder,
  loadConfig,
  type Servers,
} from '@subluminal/plane/config';
import {
  openVault,
  type Protection,
  type Purpose,
  type VaultOptions,
} from '@subluminal/plane/vault';
import type { Outcome } from '../input/command.ts';
import type { Io } from '../terminal/io.ts';
import { plural } from '../terminal/text.ts';
import { type Person, personAt } from './ask-person.ts';

export interface SecretsHome {
  readonly kind: 'home';
  readonly options: VaultOptions;
  readonly servers: Servers;
  readonly home: string;
  /** Undefined without a terminal. */
  readonly person: Person | undefined;
  /** Makes the home where it is not there yet. */
  readonly makeHome: () => Failure | undefined;
}

/** Runs `work` with the store of this user, and leaves the terminal as it was. */
export async function withSecrets(
  io: Io,
  work: (secrets: SecretsHome) => Promise<Outcome>,
): Promise<Outcome> {
  const person = personAt(io);
  try {
    const found = await findSecrets(io, person);
    return isFailure(found) ? found : await work(found);
  } finally {
    await person?.close();
  }
}

/** Loads the configuration. A home that others can write to is refused; one that is not there is not made. */
async function findSecrets(io: Io, person: Person | undefined): Promise<SecretsHome | Failure> {
  const loaded = await loadConfig({ env: process.env, cwd: process.cwd() });
  if (!loaded.ok) return configFailure(loaded.problems);
  const { config, paths, servers } = loaded;
  const unsafe = existsSync(paths.home) ? ensurePrivateFolder(paths.home) : undefined;
  if (unsafe !== undefined) return unsafe;
  const options: VaultOptions = {
    home: paths.home,
    nowMs: () => Date.now(),
    passphraseFile: config['secrets.passphrase_file'],
    ...(person && { askPassphrase: asker(io, person) }),
  };
  const makeHome = () => ensurePrivateFolder(paths.home);
  return { kind: 'home', options, servers, home: paths.home, person, makeHome };
}

function configFailure([first, ...others]: readonly ConfigFailure[]): Failure {
  const { code, where, message, fix } = first ?? UNREADABLE;
  const more = others.length === 0 ? '' : ` (and ${plural(others.length, 'other problem')})`;
  return failure(code, `${where}: ${message}${more}.`, fix);
}

const UNREADABLE: ConfigFailure = {
  kind: 'failure',
  code: 'SUB_CONFIG_VALUE',
  where: 'config.toml',
  message: 'it cannot be read',
  fix: 'Correct it first.',
};

/** Asks at most once for each: a store is opened more than once by some commands. */
function asker(io: Io, person: Person): (purpose: Purpose) => Promise<string | undefined> {
  const known = new Map<string, string>();
  return async (purpose) => {
    const before = known.get(purpose);
    if (before !== undefined) return before;
    const given = await (purpose === 'open' ? typed(person, OPEN) : chosen(io, person, purpose));
    if (given !== undefined) known.set(purpose, given);
    return given;
  };
}

const OPEN = 'Passphrase of the store (not shown): ';
const NEW = 'New passphrase for the store (not shown): ';
const OFFER =
  'New passphrase for the store (not shown; empty for a key file of mode 0600 instead): ';

async function typed(person: Person, question: string): Promise<string | undefined> {
  const answer = await person.hidden(question);
  return answer.kind === 'line' ? answer.text : undefined;
}

/** Twice, because nobody can see a slip. */
async function chosen(io: Io, person: Person, purpose: Purpose): Promise<string | undefined> {
  const first = await typed(person, purpose === 'offer' ? OFFER : NEW);
  if (!first) return first;
  const second = await typed(person, 'The same again: ');
  if (first === second) return first;
  io.err.write('sub: the two differ.\n');
  return undefined;
}

/**
 * Opens the store before anything else is asked for: a wrong passphrase is told at once, and nobody
 * holds the lock while a person types.
 */
export async function tryOpen(options: VaultOptions): Promise<Failure | undefined> {
  if (options.askPassphrase === undefined) return undefined;
  const opened = await openVault(options);
  if (opened?.kind === 'failure') return opened;
  opened?.close();
  return undefined;
}

export function unknownSecret(name: string, more = ''): Failure {
  const fix = `Run \`sub secrets list\` to see the names${more}.`;
  return failure('SUB_SECRET_UNKNOWN', `the store has no secret \`${name}\`.`, fix);
}

/** The servers that are bound to a secret of the store. */
export function serversBoundTo(name: string, servers: Servers): readonly string[] {
  return [...servers].flatMap(([server, { secretBindings }]) =>
    secretBindings.some(({ source, secretRef }) => source === 'vault' && secretRef === name)
      ? [server]
      : [],
  );
}

export function protectionText(protection: Protection, home: string): string {
  switch (protection) {
    case 'keychain':
      return 'the key is in the keychain of this system';
    case 'passphrase':
      return 'the key comes from a passphrase';
    case 'file':
      return `the key is in ${home}/vault.key; whoever can read both files can read the secrets`;
  }
}
