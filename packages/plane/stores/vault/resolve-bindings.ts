// From references to what a server is started with. Values are given out by functions alone, so
// that no dump of a result, as text or as JSON, can show one.
import { isAbsolute, join } from 'node:path';
import type { Failure } from '@subluminal/contracts';
import { fitsStart, type StartFault } from './bound-command.ts';
import type { ExternalSourceSettings } from './external-sources.ts';
import type { Keychain } from './keychain.ts';
import { type Fetched, readSecretFile } from './secret-file.ts';

type Source = 'env' | 'file' | 'keychain' | 'vault';

export interface SecretBinding {
  readonly injectAs: string;
  /** For `vault`: a name in our own store, or `vault://…`, or `op://…`. */
  readonly secretRef: string;
  readonly source: Source;
  readonly redact: boolean;
  /** What the server must be started by to get it; anything without one. */
  readonly command?: readonly string[];
  /** The program that the command must start, and the files that its words must name. */
  readonly program?: string;
  readonly files?: readonly string[];
}

export interface BoundServer {
  readonly secretBindings: readonly SecretBinding[];
}

type Env = { readonly [name: string]: string | undefined };

export interface ResolveOptions {
  readonly serverName: string;
  /** What starts the server, where that is known; without it no secret that is bound to a command is given. */
  readonly command?: readonly string[];
  /** The folder that it is started in; `/` unless given. */
  readonly cwd?: string;
  /** All that have bindings: what is bound to one server is kept from the others. */
  readonly servers: ReadonlyMap<string, BoundServer>;
  /** The environment that the shim was started with. */
  readonly env: Env;
  /** `$SUB_HOME`. */
  readonly home: string;
  /** What `~` stands for. */
  readonly userHome: string;
  /** Where secrets are that are neither in a variable nor in a file. */
  readonly settings?: ExternalSourceSettings;
  /** Null for none; else that of the system. */
  readonly keychain?: Keychain | null;
}

/** What the event `secret_injection` says about one binding. */
export interface Injection {
  readonly inject_as: string;
  readonly secret_ref: string;
  readonly source: Source;
  readonly success: boolean;
  readonly server_name: string;
}

/** A value to take out of all that is recorded; the name is its reference. */
export interface SecretValue {
  readonly name: string;
  readonly value: string;
}

export interface ResolvedSecrets {
  /** One for each binding of the server, in order. */
  readonly injected: readonly Injection[];
  /** What could not be injected, and why. */
  readonly problems: readonly SecretFailure[];
  /** The environment for the server: with its secrets, without what they were taken from. */
  readonly serverEnv: () => Env;
  /** What the redactor must know. */
  readonly secretValues: () => readonly SecretValue[];
}

interface Outcome {
  readonly binding: SecretBinding;
  readonly fetched: Fetched;
}

/** The redactor looks for values of these lengths and for so many of them, and for no others. */
const LENGTH_MIN = 4;
const LENGTH_MAX = 65_536;
const VALUES_MAX = 128;

/** What opens the places where secrets are kept. No server gets it, wherever secrets come from there. */
const VAULT_TOKEN = 'VAULT_TOKEN';
const CONNECT_TOKEN = 'OP_CONNECT_TOKEN';

/** Fetches the secrets of one server. What is missing is told, never guessed. */
export async function resolveBindings(options: ResolveOptions): Promise<ResolvedSecrets> {
  const { serverName, servers, env } = options;
  const all = servers.get(serverName)?.secretBindings ?? [];
  const fits = new Map(all.map((one) => [one, fitOf(one, options)]));
  const fitting: Fitting = (one) => fits.get(one) ?? OF_ANOTHER;
  const outcomes = await fetchAll(chosenOf(all, fitting, options), fitting, options);
  const serverEnv = environment(outcomes, { env, taken: takenNames(servers) });
  const values = toRedact(outcomes, options);
  return {
    injected: outcomes.map(({ binding, fetched }) => ({
      inject_as: binding.injectAs,
      secret_ref: binding.secretRef,
      source: binding.source,
      success: fetched.ok,
      server_name: serverName,
    })),
    problems: outcomes.flatMap(problemOf),
    serverEnv: () => serverEnv,
    secretValues: () => values,
  };
}

/** Most servers have variables and files alone: they wait for nothing and load nothing more. */
async function fetchAll(
  bindings: readonly SecretBinding[],
  fitting: Fitting,
  options: ResolveOptions,
): Promise<readonly Outcome[]> {
  const isFar = bindings.some(
    (one) => (one.source === 'keychain' || one.source === 'vault') && fitting(one) === 'fits',
  );
  const far = isFar ? await farSources(options) : undefined;
  const outcomes = bindings.map(async (binding): Promise<Outcome> => {
    const { source, secretRef } = binding;
    const fit = fitting(binding);
    if (fit !== 'fits') return { binding, fetched: { ok: false, isMissing: false, ...fit } };
    const near = source === 'env' || source === 'file';
    const fetched = near
      ? fetch({ source, secretRef }, options)
      : ((await far?.fetch({ source, secretRef })) ?? unreachable());
    return { binding, fetched: usable(binding, fetched) };
  });
  try {
    return await Promise.all(outcomes);
  } finally {
    await far?.close();
  }
}

/**
 * Of several for one variable, the one for this command. Where there is none, the first, to be told;
 * unless the server of that name has a value of its own, which is none of ours.
 */
function chosenOf(
  bindings: readonly SecretBinding[],
  fitting: Fitting,
  { env }: ResolveOptions,
): readonly SecretBinding[] {
  const chosen = new Map<string, SecretBinding>();
  for (const one of bindings) {
    const variable = one.injectAs.toUpperCase();
    const told = chosen.get(variable);
    // Of those that are not given, one with the words of this command says most.
    const isNearer = told && fitting(told) === OF_ANOTHER && fitting(one) !== OF_ANOTHER;
    if (told === undefined || fitting(one) === 'fits' || isNearer) chosen.set(variable, one);
  }
  return [...chosen.values()].filter((one) => fitting(one) === 'fits' || !env[one.injectAs]);
}

type Fitting = (binding: SecretBinding) => 'fits' | StartFault;

/** Any config may have a server of this name: that alone is no right to its secrets. */
function fitOf(
  { command, program, files }: SecretBinding,
  { command: words, cwd = '/', env }: ResolveOptions,
): 'fits' | StartFault {
  if (command === undefined) return 'fits';
  if (words === undefined) return OF_ANOTHER;
  const fit = fitsStart({ command, program, files }, { words, cwd, path: env['PATH'] });
  return fit === 'other' ? OF_ANOTHER : fit;
}

const OF_ANOTHER: StartFault = {
  message: 'it is bound to another command than the one that this server is started by',
  fix: 'Give one of the two servers another name in the config of its client. If this one is to have the secret, correct `command` of the binding in config.toml.',
};

async function farSources(options: ResolveOptions) {
  const { openExternalSources } = await import('./external-sources.ts');
  const { env, home, userHome, settings = {}, keychain } = options;
  return openExternalSources({
    env,
    home,
    userHome,
    settings,
    ...(keychain !== undefined && { keychain }),
  });
}

function unreachable(): never {
  throw new Error('a source of secrets was not opened');
}

interface NearBinding {
  readonly source: 'env' | 'file';
  readonly secretRef: string;
}

function fetch({ secretRef, source }: NearBinding, options: ResolveOptions): Fetched {
  if (source === 'file') return readSecretFile(pathOf(secretRef, options));
  const names = variablesOf(secretRef);
  const value = names.map((name) => options.env[name]).find((text) => text);
  if (value !== undefined) return { ok: true, value };
  const message = `neither ${names.join(' nor ')} is set`;
  const told = names.length > 1 ? message : `${names.join()} is not set`;
  const fix = 'Set it where the agent starts the shim, or bind the secret from a file.';
  return { ok: false, isMissing: true, message: told, fix };
}

/** The variable of that name, else the one in upper case: `github_token` is GITHUB_TOKEN, too. */
function variablesOf(secretRef: string): readonly string[] {
  return [...new Set([secretRef, secretRef.toUpperCase()])];
}

function pathOf(secretRef: string, { home, userHome }: ResolveOptions): string {
  if (secretRef.startsWith('$SUB_HOME/')) return join(home, secretRef.slice('$SUB_HOME/'.length));
  if (secretRef.startsWith('~/')) return join(userHome, secretRef.slice(2));
  return isAbsolute(secretRef) ? secretRef : join(home, 'secrets', secretRef);
}

/** So short a value stands in many a text that has nothing to do with it. */
export function isTooShortToRedact(value: string): boolean {
  return value.trim().length < LENGTH_MIN;
}

/** What cannot be found again in a text must not be injected as something that is. */
function usable({ redact }: SecretBinding, fetched: Fetched): Fetched {
  if (!fetched.ok) return fetched;
  const { value } = fetched;
  const unusable = { ok: false, isMissing: false } as const;
  if (value.trim() === '') {
    return { ...unusable, message: 'it is empty', fix: 'Write the secret there.' };
  }
  if (redact && isTooShortToRedact(value)) {
    const fix = 'Use a longer secret, or set `redact = false` when it may be recorded.';
    return { ...unusable, message: `it is too short to be redacted`, fix };
  }
  if (value.length <= LENGTH_MAX) return fetched;
  return { ...unusable, message: 'it is too long', fix: `Give at most ${LENGTH_MAX} characters.` };
}

/** Every variable that some server's secret comes from. */
function takenNames(servers: ResolveOptions['servers']): readonly string[] {
  return [...servers.values()].flatMap(({ secretBindings }) => secretBindings.flatMap(takenBy));
}

/** The variables that a secret comes from, or the way to it. */
function takenBy({ source, secretRef }: SecretBinding): readonly string[] {
  if (source === 'env') return variablesOf(secretRef);
  if (source !== 'vault') return [];
  if (secretRef.startsWith('vault://')) return [VAULT_TOKEN];
  return secretRef.startsWith('op://') ? [CONNECT_TOKEN] : [];
}

/** First everything goes that is bound, then what was found is set: nothing of the agent's stays in its place. */
function environment(
  outcomes: readonly Outcome[],
  { env, taken }: { readonly env: Env; readonly taken: readonly string[] },
): Env {
  const gone = new Set([...taken, ...outcomes.map(({ binding }) => binding.injectAs)]);
  const kept = Object.entries(env).filter(([name]) => !gone.has(name));
  const added = outcomes.flatMap(({ binding, fetched }) =>
    fetched.ok ? [[binding.injectAs, fetched.value] as const] : [],
  );
  return Object.fromEntries([...kept, ...added]);
}

/** What was fetched, and what the agent may hold of any server's: it could send that here. */
function toRedact(
  outcomes: readonly Outcome[],
  { servers, env }: ResolveOptions,
): readonly SecretValue[] {
  const own = outcomes.flatMap(({ binding, fetched }) =>
    binding.redact && fetched.ok ? [{ name: binding.secretRef, value: fetched.value }] : [],
  );
  const held = [...servers.values()].flatMap(({ secretBindings }) =>
    secretBindings.flatMap((binding) => {
      const { source, secretRef, redact } = binding;
      // What opens a place is redacted, whatever is said of one secret in it.
      if (source === 'env' && !redact) return [];
      const values = takenBy(binding).flatMap((name) => env[name] ?? []);
      return values.filter(isFindable).map((value) => ({ name: secretRef, value }));
    }),
  );
  // Its own come first: they may not fall to the limit.
  const each = new Map<string, SecretValue>();
  for (const secret of [...own, ...held]) {
    if (!each.has(secret.value)) each.set(secret.value, secret);
  }
  return [...each.values()].slice(0, VALUES_MAX);
}

function isFindable(value: string): boolean {
  return value.trim().length >= LENGTH_MIN && value.length <= LENGTH_MAX;
}

function problemOf({ binding, fetched }: Outcome): readonly SecretFailure[] {
  if (fetched.ok) return [];
  const { injectAs, secretRef } = binding;
  const code = fetched.isMissing ? 'SUB_SECRET_MISSING' : 'SUB_SECRET_UNUSABLE';
  return [
    { kind: 'failure', code, injectAs, secretRef, message: fetched.message, fix: fetched.fix },
  ];
}

/** Why a secret could not be injected. It names places only, never a value. */
export interface SecretFailure extends Failure {
  readonly code: 'SUB_SECRET_MISSING' | 'SUB_SECRET_UNUSABLE';
  readonly injectAs: string;
  readonly secretRef: string;
}

/** One line a person can act on. */
export function formatSecretFailure({
  code,
  injectAs,
  secretRef,
  message,
  fix,
}: SecretFailure): string {
  return `secret \`${secretRef}\` for ${injectAs}: error: ${message}. ${fix} [${code}]`;
}
