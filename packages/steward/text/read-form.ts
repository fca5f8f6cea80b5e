// A YAML file of the configuration, read by its shape: its value, or everything that is wrong, with places.
import { type ConfigFileForm, withDefaults } from '@subluminal/contracts';
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

export interface FormSource {
  /** The path below the folder. */
  readonly file: string;
  readonly bytes: Uint8Array;
}

export type ReadForm<T> =
  | {
      readonly ok: true;
      readonly value: T;
      readonly source: SourceTree;
      /** Findings of further checks as problems, with their places. */
      readonly place: (findings: readonly SourceFinding[]) => readonly Problem[];
    }
  | { readonly ok: false; readonly problems: readonly Problem[] };

const CODES = { field: 'SUB_STEWARD_FIELD', value: 'SUB_STEWARD_VALUE' } as const;

/** What people call these fields elsewhere. */
const SYNONYMS: ReadonlyMap<string, string> = new Map([
  ['api_key', 'key_ref'],
  ['key', 'key_ref'],
  ['url', 'base_url'],
  ['token', 'token_ref'],
  ['bot_token', 'token_ref'],
  ['password', 'password_ref'],
  ['mail', 'email'],
  ['mcp_servers', 'servers'],
  ['mcpservers', 'servers'],
  ['args', 'command'],
  ['overrides', 'limits'],
  ['rate', 'rate_limit'],
  ['max_steps', 'steps'],
  ['cost', 'usd'],
  ['allowed_hosts', 'hosts'],
]);

export function readForm<T>(
  { file, bytes }: FormSource,
  { shape, parse }: ConfigFileForm<T>,
): ReadForm<T> {
  const fields = Object.keys(shape.fields).filter((name) => name !== 'version');
  const start = `Start with ${fields
    .slice(0, 3)
    .map((name) => `\`${name}:\``)
    .join(', ')}.`;
  const source = readSource({ file, bytes });
  if (!source.ok) {
    const words = { code: 'SUB_STEWARD_SYNTAX', noun: 'configuration', start } as const;
    return { ok: false, problems: source.problems.map((one) => reworded(one, words)) };
  }
  const parsed = parse(withDefaults(shape, valueOf(source.tree)));
  if (parsed.ok) {
    return { ok: true, value: parsed.value, source, place: (found) => placed(found, file, source) };
  }
  const words = { title: `\`${file}\``, start, codes: CODES, synonyms: SYNONYMS };
  const findings = explainShape(parsed.mismatches.slice(0, PROBLEMS_MAX), source.tree, words);
  return { ok: false, problems: placed(findings, file, source) };
}
