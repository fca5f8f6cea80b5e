// One server of a registry, as far as it can be used: what it is, and how it would be reached or started.
import { isObject } from '@subluminal/contracts';
import { visible } from '@subluminal/core/visible';

export interface RegistryServer {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly version: string;
  readonly isDeprecated: boolean;
  readonly start: ListedStart | undefined;
}

/** As integrations.yaml writes it. */
export type ListedStart = (
  | { readonly kind: 'remote'; readonly url: string; readonly transport: 'http' | 'sse' }
  | {
      readonly kind: 'program';
      readonly command: readonly string[];
      readonly env: { readonly [name: string]: string };
    }
) & {
  /** What its user must give it: names of variables and headers. */
  readonly needs: readonly string[];
};

type Raw = { readonly [key: string]: unknown };

const NAME = /^(?=.{3,200}$)[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/;
const TEXT_LENGTH_MAX = 300;
const VALUE_LENGTH_MAX = 1_000;
const ITEMS_MAX = 30;
const OFFICIAL = 'io.modelcontextprotocol.registry/official';
const VERSION = /^[0-9A-Za-z][0-9A-Za-z.+_-]{0,99}$/;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,99}$/;
const FLAG = /^--?[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const CONTROL = /\p{Cc}/u;

/** How a package of each kind is started, of exactly the version that was listed. */
const RUNNERS: {
  readonly [type: string]: {
    readonly identifier: RegExp;
    command(identifier: string, version: string): readonly string[];
  };
} = {
  npm: {
    identifier: /^(?:@[a-z0-9~][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*$/,
    command: (identifier, version) => ['npx', '-y', `${identifier}@${version}`],
  },
  pypi: {
    identifier: /^[A-Za-z0-9][A-Za-z0-9._-]*$/,
    command: (identifier, version) => ['uvx', `${identifier}@${version}`],
  },
};

/** Undefined for what is no server, or no longer one. */
export function readRegistryServer(entry: unknown): RegistryServer | undefined {
  const server = isObject(entry) ? entry['server'] : undefined;
  if (!isObject(entry) || !isObject(server)) return undefined;
  const { name, description, version, title } = server;
  if (typeof name !== 'string' || !NAME.test(name)) return undefined;
  if (typeof description !== 'string' || typeof version !== 'string') return undefined;
  const meta = isObject(entry['_meta']) ? entry['_meta'][OFFICIAL] : undefined;
  const status = isObject(meta) ? meta['status'] : undefined;
  if (status === 'deleted') return undefined;
  const remotes = listOf(server['remotes']).flatMap((one) => remoteStart(one) ?? []);
  const programs = listOf(server['packages']).flatMap((one) => programStart(one) ?? []);
  return {
    name,
    ...(typeof title === 'string' && { title: visible(title, TEXT_LENGTH_MAX) }),
    description: visible(description, TEXT_LENGTH_MAX),
    version: visible(version, TEXT_LENGTH_MAX),
    isDeprecated: status === 'deprecated',
    // Code of others on this machine only where there is no other way.
    start: remotes[0] ?? programs[0],
  };
}

function remoteStart(remote: Raw): ListedStart | undefined {
  const { type, url } = remote;
  if (type !== 'streamable-http' && type !== 'sse') return undefined;
  if (typeof url !== 'string' || /[{}]/.test(url) || !URL.canParse(url)) return undefined;
  const { protocol, username, password } = new URL(url);
  if (protocol !== 'https:' || username !== '' || password !== '') return undefined;
  const needs = listOf(remote['headers']).flatMap(({ name }) =>
    typeof name === 'string' ? [visible(name, TEXT_LENGTH_MAX)] : [],
  );
  return { kind: 'remote', url, transport: type === 'sse' ? 'sse' : 'http', needs };
}

function programStart(wanted: Raw): ListedStart | undefined {
  const { registryType, identifier, version, transport, runtimeArguments } = wanted;
  const isStdio = isObject(transport) && transport['type'] === 'stdio';
  const runner = typeof registryType === 'string' && Object.hasOwn(RUNNERS, registryType);
  const kind = runner ? RUNNERS[registryType] : undefined;
  if (!isStdio || kind === undefined) return undefined;
  if (typeof identifier !== 'string' || !kind.identifier.test(identifier)) return undefined;
  if (typeof version !== 'string' || !VERSION.test(version) || version === 'latest') {
    return undefined;
  }
  // Options of the runner say what code is run: nobody but the user gives them.
  if (listOf(runtimeArguments).some(({ value }) => value !== '-y')) return undefined;
  const args = argumentsOf(listOf(wanted['packageArguments']));
  if (args === undefined) return undefined;
  const variables = variablesOf(listOf(wanted['environmentVariables']));
  return {
    kind: 'program',
    command: [...kind.command(identifier, version), ...args.words],
    env: variables.env,
    needs: [...args.needs, ...variables.needs],
  };
}

function argumentsOf(items: readonly Raw[]) {
  const words: string[] = [];
  const needs: string[] = [];
  for (const item of items) {
    const { type, name, valueHint } = item;
    const value = fixedValue(item);
    if (type === 'named') {
      if (typeof name !== 'string' || !FLAG.test(name)) return undefined;
      if (value !== undefined) words.push(name, value);
      else if (item['isRequired'] === true) needs.push(name);
    } else if (value !== undefined) words.push(value);
    else if (item['isRequired'] === true) needs.push(visible(String(valueHint), TEXT_LENGTH_MAX));
  }
  return { words, needs };
}

function variablesOf(items: readonly Raw[]) {
  const env: { [name: string]: string } = {};
  const needs: string[] = [];
  for (const item of items) {
    const { name, isSecret, isRequired } = item;
    if (typeof name !== 'string' || !VARIABLE.test(name)) continue;
    const value = isSecret === true ? undefined : fixedValue(item);
    if (value !== undefined) env[name] = value;
    else if (isRequired === true || isSecret === true) needs.push(name);
  }
  return { env, needs };
}

/** One that needs nothing of the user. */
function fixedValue({ value, default: fallback }: Raw): string | undefined {
  const text = value ?? fallback;
  if (typeof text !== 'string' || text.length > VALUE_LENGTH_MAX) return undefined;
  return /[{}]/.test(text) || CONTROL.test(text) ? undefined : text;
}

function listOf(value: unknown): readonly Raw[] {
  return Array.isArray(value) ? value.filter(isObject).slice(0, ITEMS_MAX) : [];
}
