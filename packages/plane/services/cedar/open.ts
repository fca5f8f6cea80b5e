// Policies, a schema and entities → something that decides, or everything that is wrong with them.
import { createHash } from 'node:crypto';
import { type Engine, loadEngine } from './engine.ts';
import { readEntities, uidsIn } from './entities.ts';
import { ready } from './evaluate.ts';
import { type PolicySource, readPolicies, usesOf } from './policies.ts';
import { type Piece, problemOf } from './problems.ts';
import { readSchema, validatePolicies } from './schema.ts';
import type { CedarOpened } from './types.ts';

export interface CedarTexts {
  /** By id; each text is one policy. */
  readonly policies: Readonly<Record<string, string>>;
  /** Declarations beside our own: `type Arguments = { … };` and types that it needs. */
  readonly schema?: string;
  readonly entities?: unknown;
}

/** Everything as it was found, with its places. */
export interface CedarParts {
  /** The folder or file, where there is one. */
  readonly place?: string;
  readonly sources: readonly PolicySource[];
  readonly schema?: Piece;
  readonly entities?: { readonly file: string; readonly given: unknown };
}

/** Opens policies that are given as texts. */
export async function openCedar(texts: CedarTexts): Promise<CedarOpened> {
  const sources = Object.entries(texts.policies).map(([id, text]): PolicySource => {
    return { id, piece: wholePiece(id, text) };
  });
  return openParts({
    sources,
    ...(texts.schema === undefined ? {} : { schema: wholePiece('schema', texts.schema) }),
    ...(texts.entities === undefined
      ? {}
      : { entities: { file: 'entities', given: texts.entities } }),
  });
}

export async function openParts(parts: CedarParts): Promise<CedarOpened> {
  const engine = await loadEngine();
  try {
    return openWith(engine, parts);
  } catch (cause) {
    // The engine ends itself on text that it never expected; that text is not to be used.
    const message = cause instanceof Error ? cause.message : String(cause);
    const fix = 'Take out what was changed last.';
    return {
      ok: false,
      problems: [problemOf(nameOf(parts), { code: 'SUB_CEDAR_FILES', message, fix })],
    };
  }
}

function nameOf({ place = 'policies' }: CedarParts): string {
  return place;
}

function openWith(engine: Engine, parts: CedarParts): CedarOpened {
  if (parts.sources.length === 0) {
    // Without a policy every call is denied, which nobody wants to be told by the calls.
    const message = 'there is no policy';
    const fix = 'Write one into a `*.cedar` file, like `permit (principal, action, resource);`.';
    return {
      ok: false,
      problems: [problemOf(nameOf(parts), { code: 'SUB_CEDAR_FILES', message, fix })],
    };
  }
  const schema = readSchema(engine, parts.schema);
  const { policies, problems: found } = readPolicies(engine, parts.sources);
  if (!schema.ok) return { ok: false, problems: [...schema.problems, ...found] };
  const problems = [...found, ...validatePolicies(engine, policies, schema.text)];
  const { file, given } = parts.entities ?? { file: 'entities', given: [] };
  const entities = readEntities(engine, given, { file, schema: schema.text });
  if (!entities.ok) return { ok: false, problems: [...problems, ...entities.problems] };
  if (problems.some(({ level }) => level === 'error')) return { ok: false, problems };
  const asking = {
    uses: usesOf(policies),
    types: schema.types,
    entities: entities.entities,
    named: policies.flatMap(({ json }) => uidsIn(json)),
  };
  return { ok: true, cedar: ready({ engine, policies, asking, hash: hashOf(parts) }), problems };
}

/** The same for the same texts in any order of files. */
function hashOf({ sources, schema, entities }: CedarParts): string {
  const policies = sources.map(({ id, piece }) => JSON.stringify([id, piece.text])).toSorted();
  const content = JSON.stringify([policies, schema?.text ?? '', entities?.given ?? []]);
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}

export function wholePiece(file: string, text: string): Piece {
  return { file, fileText: text, start: 0, text };
}
