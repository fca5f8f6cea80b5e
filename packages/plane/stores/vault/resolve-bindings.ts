// From references to what a server is started with. Values are given out by functions alone, so
// that no dump of a result, as text or as JSON, can show one.
import { type Failure, isFailure } from '@subluminal/contracts';
import type { SecretValue } from '@subluminal/core/scan';
import type { SecretBinding, Servers } from '../config/index.ts';
import { fitsStart } from './bound-command.ts';
import type { ExternalSourceOptions } from './external-sources.ts';
import { fetchLocal, variablesOf } from './fetch-secret.ts';
import { unusableSecret } from './secret-file.ts';
import type { SecretEnv } from './secret-service.ts';

export interface ResolveOptions extends Omit<ExternalSourceOptions, 'settings'> {
  readonly serverName: string;
  /** The command of the server, where it is known; otherwise no secret bound to a command is given. */
  readonly command?: readonly string[];
  /** The address of a server that is reached by one; then `command` says nothing. */
  readonly url?: string;
  /** The folder that the server is started in; `/` unless given. */
  readonly cwd?: string;
  /** All servers with bindings: a secret of one server is kept from the others. */
  readonly servers: Servers;
  readonly settings?: ExternalSourceOptions['settings'];
}

/** What the event `secret_injection` says about one binding. */
export interface Injection {
  readonly inject_as: string;
  readonly secret_ref: string;
  readonly source: SecretBinding['source'];
  readonly success: boolean;
  readonly server_name: string;
}

export interface ResolvedSecrets {
  /** One for each binding of the server, in order. */
  readonly injected: readonly Injection[];
  /** What could not be injected, and why. */
  readonly problems: readonly SecretFailure[];
  /** The environment for the server: with its secrets, without what they were taken from. */
  readonly serverEnv: () => SecretEnv;
  /** What the redactor must know. */
  readonly secretValues: () => readonly SecretValue[];
}

interface BindingOutcome {
  readonly binding: SecretBinding;
  readonly fetched: string | Failure;
}

/** The redactor looks for values of these lengths and for so many of them, and for no others. */
const LENGTH_MIN = 4;
const LENGTH_MAX = 65_536;
const VALUES_MAX = 128;

/** What opens the places where secrets are kept. No server gets it, wherever secrets come from there. */
const VAULT_TOKEN = 'VAULT_TOKEN';
const CONNECT_TOKEN = 'OP_CONNECT_TOKEN';

/** Fetches the secrets of one server. A missing one is reported, never guessed. */
export async function resolveBindings(options: ResolveOptions): Promise<ResolvedSecrets> {
  const { serverName, servers, env } = options;
  const bindings = servers.get(serverName)?.secretBindings ?? [];
  const candidates = bindings.map((one) => ({ binding: one, unfit: unfitFor(one, options) }));
  const outcomes = await fetchAll(chosenOf(candidates, options), options);
  const serverEnv = environment(outcomes, { env, taken: takenNames(servers) });
  const values = toRedact(outcomes, options);
  return {
    injected: outcomes.map(({ binding, fetched }) => ({
      inject_as: binding.injectAs,
      secret_ref: binding.secretRef,
      source: binding.source,
      success: !isFailure(fetched),
      server_name: serverName,
    })),
    problems: outcomes.flatMap(problemOf),
    serverEnv: () => serverEnv,
    secretValues: () => values,
  };
}

interface Candidate {
  readonly binding: SecretBinding;
  /** Why the secret is not for this command; undefined when it is. */
  readonly unfit: Failure | undefined;
}

/** Most servers have only variables and files: nothing more is loaded for them. */
async function fetchAll(
  candidates: readonly Candidate[],
  options: ResolveOptions,
): Promise<readonly BindingOutcome[]> {
  const isExternal = candidates.some(({ binding: { source }, unfit }) => {
    return unfit === undefined && (source === 'keychain' || source === 'vault');
  });
  const external = isExternal ? await openExternal(options) : undefined;
  const outcomes = candidates.map(async ({ binding, unfit }): Promise<BindingOutcome> => {
    if (unfit !== undefined) return { binding, fetched: unfit };
    const { source, secretRef } = binding;
    const fetched =
      source === 'env' || source === 'file'
        ? fetchLocal(source, secretRef, options)
        : await external?.fetch({ source, secretRef });
    if (fetched === undefined) throw new Error('a source of secrets was not opened');
    return { binding, fetched: checkedValue(binding, fetched) };
  });
  try {
    return await Promise.all(outcomes);
  } finally {
    await external?.close();
  }
}

async function openExternal({ settings = {}, ...options }: ResolveOptions) {
  const { openExternalSources } = await import('./external-sources.ts');
  return openExternalSources({ ...options, settings });
}

/**
 * Of several bindings for one variable, the one for this command. Without one, the first is reported,
 * unless the server has a value of its own for the variable.
 */
function chosenOf(candidates: readonly Candidate[], { env }: ResolveOptions): readonly Candidate[] {
  const chosen = new Map<string, Candidate>();
  for (const one of candidates) {
    const variable = one.binding.injectAs.toUpperCase();
    const other = chosen.get(variable);
    // Of those that are not given, one with the words of this command says most.
    const isNearer = isOfAnother(other?.unfit) && !isOfAnother(one.unfit);
    if (other === undefined || one.unfit === undefined || isNearer) chosen.set(variable, one);
  }
  return [...chosen.values()].filter(
    ({ binding, unfit }) => unfit === undefined || !env[binding.injectAs],
  );
}

/** The name of a server alone gives no right to its secrets: any config may use the name. */
function unfitFor(
  { command, program, files, url }: SecretBinding,
  { command: words, cwd = '/', env, url: address }: ResolveOptions,
): Failure | undefined {
  if (url !== undefined) {
    return address !== undefined && isSameAddress(url, address) ? undefined : OF_ANOTHER_ADDRESS;
  }
  if (command === undefined) return undefined;
  if (address !== undefined) return OF_ANOTHER;
  if (words === undefined) return OF_ANOTHER;
  const fit = fitsStart({ command, program, files }, { words, cwd, path: env['PATH'] });
  if (fit === 'fits') return undefined;
  return fit === 'other' ? OF_ANOTHER : fit;
}

function isSameAddress(one: string, other: string): boolean {
  return URL.canParse(one) && URL.canParse(other) && new URL(one).href === new URL(other).href;
}

function isOfAnother(unfit: Failure | undefined): boolean {
  return unfit === OF_ANOTHER || unfit === OF_ANOTHER_ADDRESS;
}

const OF_ANOTHER = unusableSecret(
  'it is bound to another command than the one that this server is started by.',
  'Give one of the two servers another name in the config of its client. If this one is to have the secret, correct `command` of the binding in config.toml.',
);

const OF_ANOTHER_ADDRESS = unusableSecret(
  'it is bound to another address than the one that this server is reached by.',
  'Give one of the two servers another name in the config of its client. If this one is to have the secret, correct `url` of the binding in config.toml.',
);

/** So short a value stands in many a text that has nothing to do with it. */
export function isTooShortToRedact(value: string): boolean {
  return value.trim().length < LENGTH_MIN;
}

/** A value that could not be recognized in a text again must not be injected as a redacted one. */
function checkedValue({ redact }: SecretBinding, value: string | Failure): string | Failure {
  if (isFailure(value)) return value;
  if (value.trim() === '') return unusableSecret('it is empty.', 'Write the secret there.');
  if (redact && isTooShortToRedact(value)) {
    const fix = 'Use a longer secret, or set `redact = false` when it may be recorded.';
    return unusableSecret('it is too short to be redacted.', fix);
  }
  if (value.length <= LENGTH_MAX) return value;
  return unusableSecret('it is too long.', `Give at most ${LENGTH_MAX} characters.`);
}

/** Every variable that some server's secret comes from. */
function takenNames(servers: Servers): readonly string[] {
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
  outcomes: readonly BindingOutcome[],
  { env, taken }: { readonly env: SecretEnv; readonly taken: readonly string[] },
): SecretEnv {
  const gone = new Set([...taken, ...outcomes.map(({ binding }) => binding.injectAs)]);
  const kept = Object.entries(env).filter(([name]) => !gone.has(name));
  const added = outcomes.flatMap(({ binding, fetched }) =>
    isFailure(fetched) ? [] : [[binding.injectAs, fetched] as const],
  );
  return Object.fromEntries([...kept, ...added]);
}

/** What was fetched, and what the agent may hold of any server's: it could send that here. */
function toRedact(
  outcomes: readonly BindingOutcome[],
  { servers, env }: ResolveOptions,
): readonly SecretValue[] {
  const own = outcomes.flatMap(({ binding, fetched }) =>
    binding.redact && !isFailure(fetched) ? [{ name: binding.secretRef, value: fetched }] : [],
  );
  const held = [...servers.values()].flatMap(({ secretBindings }) =>
    secretBindings.flatMap((binding) => {
      const { source, secretRef, redact } = binding;
      // The token of a service is always redacted, also when one of its secrets is not.
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
  return !isTooShortToRedact(value) && value.length <= LENGTH_MAX;
}

function problemOf({ binding, fetched }: BindingOutcome): readonly SecretFailure[] {
  if (!isFailure(fetched)) return [];
  const { injectAs, secretRef } = binding;
  const code = fetched.code === 'SUB_SECRET_MISSING' ? fetched.code : 'SUB_SECRET_UNUSABLE';
  return [{ ...fetched, code, injectAs, secretRef }];
}

/** Why a secret could not be injected. It names places only, never a value. */
export interface SecretFailure extends Failure {
  readonly code: 'SUB_SECRET_MISSING' | 'SUB_SECRET_UNUSABLE';
  readonly injectAs: string;
  readonly secretRef: string;
}

/** One line a person can act on. */
export function formatSecretFailure(failed: SecretFailure): string {
  const { code, injectAs, secretRef, message, fix } = failed;
  return `secret \`${secretRef}\` for ${injectAs}: error: ${message} ${fix} [${code}]`;
}
