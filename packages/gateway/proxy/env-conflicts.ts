// The variables of `sub env`, and what would win over them: other values in the environment, and the clients' own config
// files.
import { join } from 'node:path';
import { isObject } from '@subluminal/contracts';
import { attempt, parseJson, readRegularFile } from '@subluminal/plane/os';
import { parse as parseToml } from 'smol-toml';
import { NOOP_KEY } from './turn-session.ts';

export interface EnvConflict {
  /** The variable, or the file and the key in it. */
  readonly where: string;
  readonly why: string;
}

interface ConflictSources {
  readonly env: { readonly [name: string]: string | undefined };
  readonly userHome: string;
  readonly cwd: string;
  readonly wanted: { readonly [name: string]: string };
}

const BYTES_MAX = 1_048_576;
/** These send Claude Code elsewhere, or to another login, whatever its address is. */
const CLAUDE_VARIABLES = [
  'ANTHROPIC_AUTH_TOKEN',
  'CLAUDE_CODE_USE_BEDROCK',
  'CLAUDE_CODE_USE_VERTEX',
  'CLAUDE_CODE_USE_FOUNDRY',
] as const;

/** What sends the turns of agents to a proxy: with a placeholder for a key, unless they need one of their own. */
export function agentVariables(
  url: string,
  needsOwnKey: boolean,
): { readonly [name: string]: string } {
  return {
    ANTHROPIC_BASE_URL: `${url}/anthropic`,
    ...(!needsOwnKey && { ANTHROPIC_API_KEY: NOOP_KEY }),
    OPENAI_BASE_URL: `${url}/openai/v1`,
    ...(!needsOwnKey && { OPENAI_API_KEY: NOOP_KEY }),
  };
}

export function envConflicts(sources: ConflictSources): readonly EnvConflict[] {
  return [...inEnvironment(sources), ...inClaude(sources), ...inCodex(sources)];
}

/** Values are not shown: a key may be one. */
function inEnvironment({ env, wanted }: ConflictSources): readonly EnvConflict[] {
  const other = Object.entries(wanted).flatMap(([name, value]) => {
    const given = env[name];
    if (given === undefined || given === '' || given === value) return [];
    return [{ where: name, why: 'has another value in this environment' }];
  });
  const claude = CLAUDE_VARIABLES.filter((name) => (env[name] ?? '') !== '').map((name) => ({
    where: name,
    why: 'sends Claude Code elsewhere, or with other credentials',
  }));
  return [...other, ...claude];
}

/** `env` in the settings of Claude Code wins over the environment. */
function inClaude({ env, userHome, cwd, wanted }: ConflictSources): readonly EnvConflict[] {
  const home = env['CLAUDE_CONFIG_DIR'] || join(userHome, '.claude');
  const files = [
    join(home, 'settings.json'),
    join(cwd, '.claude', 'settings.json'),
    join(cwd, '.claude', 'settings.local.json'),
  ];
  const names: readonly string[] = [...Object.keys(wanted), ...CLAUDE_VARIABLES];
  return [...new Set(files)].flatMap((file) => {
    const settings = parseJson(textOf(file));
    if (!isObject(settings)) return [];
    const set = isObject(settings['env']) ? settings['env'] : {};
    const helper = settings['apiKeyHelper'];
    return [
      ...names
        .filter((name) => name in set && set[name] !== wanted[name])
        .map((name) => ({ where: `${file}: env.${name}`, why: 'wins over the environment' })),
      ...(typeof helper === 'string'
        ? [{ where: `${file}: apiKeyHelper`, why: 'gives Claude Code another key' }]
        : []),
    ];
  });
}

/** Codex takes its address from the provider of its config. */
function inCodex({ env, userHome, wanted }: ConflictSources): readonly EnvConflict[] {
  const file = join(env['CODEX_HOME'] || join(userHome, '.codex'), 'config.toml');
  const config: unknown = attempt(() => parseToml(textOf(file)));
  const name = isObject(config) ? config['model_provider'] : undefined;
  if (!isObject(config) || typeof name !== 'string') return [];
  const providers = isObject(config['model_providers']) ? config['model_providers'] : {};
  const provider = providers[name];
  const address = isObject(provider) ? provider['base_url'] : undefined;
  if (address === wanted['OPENAI_BASE_URL']) return [];
  return [{ where: `${file}: model_provider`, why: 'sends Codex to another address' }];
}

function textOf(file: string): string {
  const read = readRegularFile(file, { bytesMax: BYTES_MAX });
  return read.kind === 'read' ? read.bytes.toString('utf8') : '';
}
