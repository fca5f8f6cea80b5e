// The secrets that stand in plain text in the environments of a config's entries: where, never what.
import { isObject } from '@subluminal/contracts';
import { isReservedName } from '../../../../stores/config/values.ts';
import type { ReadConfig, ServerEntry, ValuePath } from '../../index.ts';
import { type Document, readDocument } from '../../text/document.ts';
import type { LooksLike } from './looks.ts';

export interface PlainSecret {
  /** The entry, and the server as the shim and the bindings know it. */
  readonly name: string;
  readonly project?: string;
  readonly server: string;
  readonly variable: string;
  readonly path: ValuePath;
  /** What starts the server behind its shim. */
  readonly command: readonly string[];
  /** Why it is taken for a secret. */
  readonly looks: string;
}

const PER_FILE_MAX = 256;
/** What a binding takes as the name of a variable. */
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

interface PlainSecrets {
  readonly secrets: readonly PlainSecret[];
  /** How many more there are. */
  readonly more: number;
}

export function plainSecrets(
  config: ReadConfig,
  entries: readonly ServerEntry[],
  looksLike: LooksLike,
): PlainSecrets {
  const document = documentOf(config);
  if (document === undefined) return { secrets: [], more: 0 };
  const found = entries.flatMap((entry) =>
    variablesOf(document, entry).flatMap(({ variable, path, value }): readonly PlainSecret[] => {
      const looks = VARIABLE.test(variable) ? looksLike(variable, value) : undefined;
      if (looks === undefined || isReservedName(variable)) return [];
      const { name, project } = entry;
      const of = { name, ...(project !== undefined && { project }), server: serverOf(entry) };
      return [{ ...of, variable, path, command: wordsOf(entry), looks }];
    }),
  );
  return {
    secrets: found.slice(0, PER_FILE_MAX),
    more: Math.max(0, found.length - PER_FILE_MAX),
  };
}

/** The name that its shim has, and its bindings. */
export function serverOf({ name, governed }: ServerEntry): string {
  return governed?.serverName ?? name;
}

/** What starts the server itself. */
export function wordsOf({ command, args = [], governed }: ServerEntry): readonly string[] {
  return governed?.command ?? (command === undefined ? [] : [command, ...args]);
}

export interface SetVariable {
  readonly variable: string;
  readonly path: ValuePath;
  readonly value: string;
}

/** What an entry sets for its server; older settings of Zed have it beside the path of the command. */
export function variablesOf(document: Document, { path, at }: ServerEntry): readonly SetVariable[] {
  const places = new Map(
    [path, at.command.slice(0, -1)].map((holder) => [JSON.stringify(holder), [...holder, 'env']]),
  );
  return [...places.values()].flatMap((place) => {
    const env = document.valueAt(place);
    return Object.entries(isObject(env) ? env : {}).flatMap(([variable, value]) =>
      typeof value === 'string' ? [{ variable, path: [...place, variable], value }] : [],
    );
  });
}

export function documentOf({ text, file, entries }: ReadConfig): Document | undefined {
  if (text.trim() === '') return undefined;
  const read = readDocument(
    text,
    file.format,
    entries.map(({ path }) => path),
  );
  return read.kind === 'document' ? read.document : undefined;
}
