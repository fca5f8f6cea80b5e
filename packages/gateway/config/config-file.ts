// One file of the configuration: its value, what is wrong with it, and where.
import {
  type BudgetsFile,
  type ConfigFileForm,
  type GatewayFile,
  type ObjectShape,
  type PoolsFile,
  type PricingFile,
  type ReposFile,
  type TeamsFile,
  type UsersFile,
  type WebhooksFile,
  withDefaults,
} from '@subluminal/contracts';
import {
  explainShape,
  PROBLEMS_MAX,
  type Problem,
  placed,
  readSource,
  reworded,
  type SourceFinding,
  type SourceTree,
  valueOf,
} from '@subluminal/core/source';

export interface ConfigFile<T> {
  /** The path below the folder, with `/`. */
  readonly name: string;
  /** Undefined when the file is broken: then nothing can be said about what refers to it. */
  readonly value: T | undefined;
  readonly source: SourceTree | undefined;
  /** Reports something wrong at a place in this file. */
  readonly report: (finding: SourceFinding) => void;
  /** All that is wrong, in the order of the file. */
  readonly problems: () => readonly Problem[];
}

/** The files of the folder, each with its value or with what is wrong. */
export interface ConfigFiles {
  readonly gateway: ConfigFile<GatewayFile>;
  readonly pools: ConfigFile<PoolsFile>;
  readonly budgets: ConfigFile<BudgetsFile>;
  readonly pricing: ConfigFile<PricingFile>;
  readonly webhooks: ConfigFile<WebhooksFile>;
  readonly users: ConfigFile<UsersFile>;
  readonly teams: ConfigFile<TeamsFile>;
  readonly repos: ConfigFile<ReposFile>;
}

/** A file with its content; without bytes, it is not there. */
export interface FileContent {
  readonly name: string;
  readonly bytes: Uint8Array | undefined;
}

const CODES = { field: 'SUB_GATEWAY_FIELD', value: 'SUB_GATEWAY_VALUE' } as const;

/** What people call these fields elsewhere. */
const SYNONYMS: ReadonlyMap<string, string> = new Map([
  ['api_key', 'key_ref'],
  ['key', 'key_ref'],
  ['token', 'key_ref'],
  ['base_url', 'url'],
  ['endpoint', 'endpoint_id'],
  ['secret', 'secret_ref'],
  ['team', 'team_id'],
  ['user', 'user_id'],
  ['repo', 'repo_id'],
  ['region', 'data_residency'],
  ['trust', 'trust_tier'],
  ['capabilities', 'supports'],
  ['fallback', 'fallback_pool'],
  ['attempts', 'max_attempts'],
  ['timeout', 'timeout_ms'],
  ['cap', 'cap_usd'],
  ['limit', 'cap_usd'],
  ['monthly', 'team_monthly'],
  ['daily', 'user_daily'],
]);

/** Reads a file by its shape. One that is not there is empty: its shape says whether that will do. */
export function readConfigFile<T>(
  { name, bytes }: FileContent,
  { shape, parse }: ConfigFileForm<T>,
): ConfigFile<T> {
  if (bytes === undefined) {
    const empty = parse(withDefaults(shape, emptyFile(shape)));
    return fileOf(name, { value: empty.ok ? empty.value : undefined });
  }
  const title = `\`${name}\``;
  const read = readSource({ file: name, bytes });
  if (!read.ok) return broken(name, read.problems);
  const parsed = parse(withDefaults(shape, valueOf(read.tree)));
  if (parsed.ok) return fileOf(name, { value: parsed.value, source: read });
  const words = { title, start: startOf(shape), codes: CODES, synonyms: SYNONYMS };
  const findings = explainShape(parsed.mismatches.slice(0, PROBLEMS_MAX), read.tree, words);
  return fileOf(name, { source: read, findings });
}

/** Reads a file that another reader judges: here only what is reported counts. */
export function readConfigText({
  name,
  bytes,
}: {
  readonly name: string;
  readonly bytes: Uint8Array;
}): ConfigFile<unknown> {
  const read = readSource({ file: name, bytes });
  return read.ok ? fileOf(name, { value: valueOf(read.tree), source: read }) : broken(name, []);
}

/** A file whose text cannot be read. */
export function broken<T>(name: string, problems: readonly Problem[]): ConfigFile<T> {
  const start = 'Write it, or remove the file.';
  const code = 'SUB_GATEWAY_SYNTAX' as const;
  const own = problems.map((problem) => reworded(problem, { code, noun: 'file', start }));
  return { name, value: undefined, source: undefined, report: () => {}, problems: () => own };
}

interface FileParts<T> {
  readonly value?: T | undefined;
  readonly source?: SourceTree;
  readonly findings?: readonly SourceFinding[];
}

function fileOf<T>(name: string, { value, source, findings = [] }: FileParts<T>): ConfigFile<T> {
  const all = [...findings];
  return {
    name,
    value,
    source,
    report: (finding) => {
      all.push(finding);
    },
    problems: () =>
      source === undefined ? all.map((one) => atStart(one, name)) : placed(all, name, source),
  };
}

/** What is wrong with a file that is not there is wrong at its start. */
export function atStart(finding: SourceFinding, file: string): Problem {
  const { level = 'error', code, message, fix } = finding;
  return { level, code, file, position: { line: 1, column: 1 }, path: '', message, fix };
}

/** A file that is not there lists nothing. */
function emptyFile({ fields }: ObjectShape): unknown {
  const lists = Object.entries(fields).filter(([, { shape }]) => shape.kind === 'array');
  return Object.fromEntries(lists.map(([name]) => [name, []]));
}

function startOf(shape: ObjectShape): string {
  const fields = Object.keys(shape.fields);
  const named = fields.filter((field) => field !== 'version').map((field) => `\`${field}:\``);
  return `Start with ${named.slice(0, 3).join(', ')}.`;
}
