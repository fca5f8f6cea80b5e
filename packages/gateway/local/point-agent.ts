// How an agent is started so that its turns come to the run: by its environment, by its arguments, or not at all
// where its own settings would lead it elsewhere.
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Failure, failure, isObject } from '@subluminal/contracts';
import { visible } from '@subluminal/core/visible';
import { parseJson, readRegularFile } from '@subluminal/plane/os';
import type { AgentLaunch } from '@subluminal/plane/run';
import { parse } from 'smol-toml';
import { TOKEN_HEADER } from './upstreams.ts';

export interface AgentStart {
  readonly client: string;
  readonly env: AgentLaunch['env'];
  readonly command: readonly string[];
  readonly cwd: string;
}

/** The address of the run, and what admits to it. */
export interface RunAddress {
  readonly url: string;
  readonly token: string;
}

const TOKEN_VAR = 'SUB_MODELS_TOKEN';
const FILE_BYTES_MAX = 1_048_576;
const NAME_LENGTH_MAX = 200;

/** The environment alone, for agents that are nothing special, and for a shell. */
function modelEnv(
  { url, token }: RunAddress,
  env: AgentLaunch['env'],
): { readonly [name: string]: string } {
  const at = `${url}/t/${token}`;
  const direct = [env['NO_PROXY'] ?? env['no_proxy'] ?? '', '127.0.0.1', 'localhost'];
  const noProxy = direct.filter((part) => part !== '').join(',');
  return {
    ANTHROPIC_BASE_URL: `${at}/anthropic`,
    OPENAI_BASE_URL: `${at}/openai`,
    // A proxy must not get in between.
    NO_PROXY: noProxy,
    no_proxy: noProxy,
  };
}

export function pointAgent(
  start: AgentStart,
  address: RunAddress,
  codex: CodexProvider,
): AgentLaunch {
  const env = { ...start.env, ...modelEnv(address, start.env) };
  if (start.client !== 'codex') return { env, command: start.command };
  const [program = '', ...args] = start.command;
  const command = [program, ...codexFlags(address, codex), ...args];
  return { env: { ...env, [TOKEN_VAR]: address.token }, command };
}

/** Why the turns of this agent would not come here; undefined when they will. */
export function escapeOf(start: AgentStart): Failure | undefined {
  if (start.client === 'claude') return claudeEscape(start);
  return start.client === 'codex' ? codexEscape(start) : undefined;
}

/** What makes Claude Code speak to something else, wherever it is set. */
const ELSEWHERE = ['CLAUDE_CODE_USE_BEDROCK', 'CLAUDE_CODE_USE_VERTEX', 'CLAUDE_CODE_USE_FOUNDRY'];

function claudeEscape({ env, cwd, command }: AgentStart): Failure | undefined {
  const set = ELSEWHERE.find((name) => isOn(env[name]));
  if (set !== undefined) return escaped(`${set} is set`, 'Unset it, or run without --models.');
  const home = env['CLAUDE_CONFIG_DIR'] || join(env['HOME'] || homedir(), '.claude');
  const files = [
    '/etc/claude-code/managed-settings.json',
    join(home, 'settings.json'),
    join(cwd, '.claude', 'settings.json'),
    join(cwd, '.claude', 'settings.local.json'),
  ];
  const given = settingsArgument(command);
  const sources = files.map((file) => [file, readJson(file)] as const);
  if (given !== undefined) {
    const text = given.trimStart().startsWith('{') ? given : (readText(resolve(cwd, given)) ?? '');
    sources.push(['the argument --settings', parseJson(text)]);
  }
  for (const [source, settings] of sources) {
    const own = isObject(settings) && isObject(settings['env']) ? settings['env'] : {};
    const name = ['ANTHROPIC_BASE_URL', ...ELSEWHERE].find((one) => isOn(own[one]));
    if (name === undefined) continue;
    const what = `${visible(source, NAME_LENGTH_MAX)} sets ${name}, which weighs more than the environment`;
    return escaped(what, `Take ${name} out of it, and set it in the environment.`);
  }
  return undefined;
}

const SETTINGS = '--settings';

/** A file or JSON, as Claude Code takes it. */
function settingsArgument(command: readonly string[]): string | undefined {
  const at = command.findIndex((word) => word === SETTINGS || word.startsWith(`${SETTINGS}=`));
  const word = command[at];
  return word === SETTINGS ? command[at + 1] : word?.slice(SETTINGS.length + 1);
}

function isOn(value: unknown): boolean {
  return value !== undefined && value !== '' && value !== '0' && value !== 'false';
}

/** Arguments by which a user chooses another provider: they come after ours, and win. */
const CODEX_OPTION = /^(?:--oss|--local-provider|--profile)(?:=|$)|^-p/;
const CODEX_SETTING =
  /^(?:(?:-c|--config)=?)?[\s"']*(?:model_provider|profile|openai_base_url|chatgpt_base_url|model_providers[.\s"'][^=]*|profiles[.\s"'][^=]*|model_providers|profiles)[\s"']*=/;

function codexEscape({ command }: AgentStart): Failure | undefined {
  const [, ...args] = command;
  const end = args.indexOf('--');
  const chosen = args
    .slice(0, end === -1 ? undefined : end)
    .find((word) => CODEX_OPTION.test(word) || CODEX_SETTING.test(word));
  if (chosen === undefined) return undefined;
  const what = `the argument ${visible(chosen, NAME_LENGTH_MAX)} chooses a provider`;
  return escaped(what, 'Choose the provider in config.toml, or run without --models.');
}

function escaped(what: string, fix: string): Failure {
  const message = `The model calls of this agent cannot be governed: ${what}.`;
  return failure('SUB_MODELS_ESCAPE', message, fix);
}

/** The provider that Codex is configured for. */
export type CodexProvider =
  | { readonly kind: 'openai' }
  | { readonly kind: 'own'; readonly name: string; readonly baseUrl: string };

const PLAIN_NAME = /^[A-Za-z0-9_-]{1,64}$/;

export function codexProvider({ env }: Pick<AgentStart, 'env'>): CodexProvider | Failure {
  const home = env['CODEX_HOME'] || join(env['HOME'] || homedir(), '.codex');
  const file = join(home, 'config.toml');
  const text = readText(file);
  if (text === undefined) return { kind: 'openai' };
  const config = parsedToml(text);
  if (config === undefined)
    return escaped(`${visible(file, NAME_LENGTH_MAX)} cannot be read`, 'Correct it.');
  const profile = memberOf(memberOf(config, 'profiles'), config['profile']);
  const name = profile?.['model_provider'] ?? config['model_provider'] ?? 'openai';
  if (name === 'openai') return { kind: 'openai' };
  const provider = memberOf(memberOf(config, 'model_providers'), name);
  const baseUrl = provider?.['base_url'];
  if (typeof name !== 'string' || !PLAIN_NAME.test(name) || typeof baseUrl !== 'string') {
    const what = `the provider ${visible(JSON.stringify(name), NAME_LENGTH_MAX)} of config.toml has no base_url`;
    return escaped(what, 'Give it one, or run without --models.');
  }
  return { kind: 'own', name, baseUrl };
}

function memberOf(table: unknown, name: unknown): { readonly [key: string]: unknown } | undefined {
  if (!isObject(table) || typeof name !== 'string' || !Object.hasOwn(table, name)) return undefined;
  const member = table[name];
  return isObject(member) ? member : undefined;
}

/** The token comes from the environment: everybody on the machine can read a command line. */
function codexFlags({ url }: RunAddress, codex: CodexProvider): readonly string[] {
  const base = quoted(`${url}/codex`);
  if (codex.kind === 'own') {
    const at = `model_providers.${codex.name}`;
    return [
      ...['-c', `${at}.base_url=${base}`],
      ...['-c', `${at}.env_http_headers.${TOKEN_HEADER}=${quoted(TOKEN_VAR)}`],
      ...['-c', `${at}.supports_websockets=false`],
    ];
  }
  const fields = [
    // The name that Codex itself gives it: some features go by it.
    'name="OpenAI"',
    `base_url=${base}`,
    'wire_api="responses"',
    'requires_openai_auth=true',
    'supports_websockets=false',
    `env_http_headers={${quoted(TOKEN_HEADER)}=${quoted(TOKEN_VAR)}}`,
  ];
  const provider = `model_providers.subluminal={${fields.join(',')}}`;
  return ['-c', provider, '-c', 'model_provider="subluminal"'];
}

/** A string of JSON is one of TOML too. */
function quoted(text: string): string {
  return JSON.stringify(text);
}

function readText(file: string): string | undefined {
  const read = readRegularFile(file, { bytesMax: FILE_BYTES_MAX });
  return read.kind === 'read' ? read.bytes.toString('utf8') : undefined;
}

function readJson(file: string): unknown {
  return parseJson(readText(file) ?? '');
}

function parsedToml(text: string): { readonly [key: string]: unknown } | undefined {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}
