// Policies from a folder: every `*.cedar`, at most one `*.cedarschema`, and `entities.json`. Or from
// one file; a schema and entities may be elsewhere.
import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import type { Problem } from '@subluminal/core/policy';
import { fileProblem, readRegularFile } from '../../os/index.ts';
import manifest from '../../package.json' with { type: 'json' };
import { findUids, readEntities } from './entities.ts';
import { createEvaluator, type Engine, loadEngine } from './evaluate.ts';
import {
  cedarProblem,
  type PolicyText,
  readPolicies,
  splitPolicies,
  usedArguments,
  wholeText,
} from './parse-policies.ts';
import { readSchema, validatePolicies } from './schema.ts';
import type { CedarOpened } from './types.ts';

/** Where policies, their schema and their entities are. */
export interface CedarPaths {
  /** A folder, or one file of policies. */
  readonly policies: string;
  readonly schema?: string | undefined;
  readonly entities?: string | undefined;
  /** Refuses files that others can write to; by default they only cause a warning. */
  readonly isStrict?: boolean | undefined;
}

/** Policies, a schema and entities as they were read. */
export interface CedarSources {
  /** The folder or file, for messages. */
  readonly path: string;
  readonly policies: readonly PolicyText[];
  readonly schema?: PolicyText | undefined;
  readonly entities?: { readonly file: string; readonly given: unknown } | undefined;
}

interface CedarFiles {
  readonly policies: readonly string[];
  readonly schemas: readonly string[];
  readonly entities: readonly string[];
}

const FILES_MAX = 200;
const BYTES_MAX = 1_048_576;

export async function loadCedar(paths: CedarPaths): Promise<CedarOpened> {
  let files: CedarFiles;
  try {
    files = await cedarFiles(paths);
  } catch (cause) {
    const reason = causeText(cause);
    return reason === 'ENOENT' || reason === 'ENOTDIR'
      ? failedAt(
          paths.policies,
          'this does not exist',
          'Name a folder or a file of Cedar policies.',
        )
      : failedAt(paths.policies, `the policies cannot be read: ${reason}`, 'Check the path.');
  }
  const all = [...files.policies, ...files.schemas, ...files.entities];
  if (all.length > FILES_MAX) {
    return failedAt(paths.policies, `there are more than ${FILES_MAX} files`, 'Put some into one.');
  }
  const texts = new Map<string, string>();
  const problems: Problem[] = [];
  let bytesLeft = BYTES_MAX;
  for (const file of all) {
    const text = readText(file, bytesLeft);
    if (typeof text !== 'string') problems.push(text);
    else {
      bytesLeft -= Buffer.byteLength(text);
      texts.set(file, text);
    }
  }
  const unsafe = unsafeFiles(paths, all);
  if (paths.isStrict === true) problems.push(...unsafe);
  if (problems.length > 0) return { ok: false, problems };
  const opened = await openTexts(files, texts, paths.policies);
  if (paths.isStrict === true) return opened;
  return { ...opened, problems: [...unsafe, ...opened.problems] };
}

/** Checks the folder as well: who can write to it can add policies. */
function unsafeFiles(paths: CedarPaths, files: readonly string[]): readonly Problem[] {
  const byPath = new Map<string, Problem>();
  for (const file of [paths.policies, ...files]) {
    const found = fileProblem(file);
    if (found === undefined) continue;
    const message = `${found.path} ${found.why}`;
    const level = paths.isStrict === true ? 'error' : 'warning';
    const text = { code: 'SUB_FILE_UNSAFE', message, fix: found.fix, level } as const;
    byPath.set(found.path, cedarProblem(file, text));
  }
  return [...byPath.values()];
}

/** The files of the folder, and those that are named outside of it. */
export async function cedarFiles({ policies, schema, entities }: CedarPaths): Promise<CedarFiles> {
  const isFolder = (await stat(policies)).isDirectory();
  const names = isFolder ? (await readdir(policies)).toSorted() : [];
  const files = names.filter((name) => !name.startsWith('.')).map((name) => join(policies, name));
  return {
    policies: isFolder ? files.filter((file) => file.endsWith('.cedar')) : [policies],
    schemas: distinct([...files.filter((file) => file.endsWith('.cedarschema')), schema]),
    entities: distinct([...files.filter((file) => basename(file) === 'entities.json'), entities]),
  };
}

/** A file that is in the folder may be named as well. */
function distinct(files: readonly (string | undefined)[]): readonly string[] {
  const named = files.flatMap((file) => file ?? []);
  return [...new Map(named.map((file) => [resolve(file), file])).values()];
}

function openTexts(
  files: CedarFiles,
  texts: ReadonlyMap<string, string>,
  path: string,
): Promise<CedarOpened> | CedarOpened {
  const textOf = (file: string) => texts.get(file) ?? '';
  const [schema, secondSchema] = files.schemas;
  if (secondSchema !== undefined) {
    return failedAt(secondSchema, 'there is a second schema', 'Put both into one file.');
  }
  const [file, secondEntities] = files.entities;
  if (secondEntities !== undefined) {
    return failedAt(secondEntities, 'there are entities in a second file', 'Put both into one.');
  }
  let entities: CedarSources['entities'];
  try {
    entities = file === undefined ? undefined : { file, given: JSON.parse(textOf(file)) };
  } catch (cause) {
    const message = `the file is no JSON: ${causeText(cause)}`;
    const text = { code: 'SUB_CEDAR_ENTITIES', message, fix: 'Write a list of entities.' } as const;
    return { ok: false, problems: [cedarProblem(file ?? path, text)] };
  }
  return openSources({
    path,
    policies: files.policies.flatMap((name) => namedPolicies(name, textOf(name))),
    schema: schema === undefined ? undefined : wholeText(schema, textOf(schema)),
    entities,
  });
}

/** A policy without an `@id` is called by its file, with its number when there are several. */
function namedPolicies(file: string, text: string): readonly PolicyText[] {
  const stem = basename(file, '.cedar');
  const policies = splitPolicies(file, text);
  if (policies.length === 1) return policies.map((policy) => ({ ...policy, id: stem }));
  return policies.map((policy, index) => ({ ...policy, id: `${stem}#${index + 1}` }));
}

function readText(file: string, bytesMax: number): string | Problem {
  const wrong = (message: string, fix: string) =>
    cedarProblem(file, { code: 'SUB_CEDAR_FILES', message, fix });
  const read = readRegularFile(file, { bytesMax });
  if (read.kind === 'missing') return wrong('the file does not exist any more', 'Try again.');
  if (read.kind === 'unreadable' && read.code === 'TOO_LARGE') {
    return wrong(`all files together have more than ${BYTES_MAX} bytes`, 'Split the policies.');
  }
  if (read.kind === 'unreadable') return wrong(`this ${read.why}`, read.fix);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(read.bytes);
  } catch {
    return wrong('the file is not valid UTF-8', 'Save it as UTF-8.');
  }
}

function failedAt(file: string, message: string, fix: string): CedarOpened {
  return { ok: false, problems: [cedarProblem(file, { code: 'SUB_CEDAR_FILES', message, fix })] };
}

function causeText(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message;
}

/** Makes an evaluator from the texts, or lists everything that is wrong with them. */
export async function openSources(sources: CedarSources): Promise<CedarOpened> {
  let engine: Engine;
  try {
    engine = await loadEngine();
  } catch (cause) {
    return noEngine(sources.path, causeText(cause));
  }
  try {
    return openWithEngine(engine, sources);
  } catch (cause) {
    // The engine panics on some texts; such a text must not be used.
    return failedAt(sources.path, causeText(cause), 'Take out what was changed last.');
  }
}

/** Cedar is an optional dependency, which `npm i --omit=optional` leaves out. */
function noEngine(path: string, cause: string): CedarOpened {
  const version = manifest.dependencies['@cedar-policy/cedar-wasm'];
  const fix = `Install it beside sub: npm i -g @cedar-policy/cedar-wasm@${version}`;
  return failedAt(path, `the engine for Cedar policies is not installed (${cause})`, fix);
}

function openWithEngine(engine: Engine, sources: CedarSources): CedarOpened {
  if (sources.policies.length === 0) {
    // Without a policy every call would be denied.
    const fix = 'Write one into a `*.cedar` file, like `permit (principal, action, resource);`.';
    return failedAt(sources.path, 'there is no policy', fix);
  }
  const schema = readSchema(engine, sources.schema);
  const { policies, problems: found } = readPolicies(engine, sources.policies);
  if (!schema.ok) return { ok: false, problems: [...schema.problems, ...found] };
  const problems = [...found, ...validatePolicies(engine, policies, schema.text)];
  const { file, given } = sources.entities ?? { file: 'entities', given: [] };
  const entities = readEntities(engine, given, { file, schema: schema.text });
  if (!('get' in entities)) return { ok: false, problems: [...problems, ...entities] };
  if (problems.some(({ level }) => level === 'error')) return { ok: false, problems };
  const input = {
    uses: usedArguments(policies),
    types: schema.types,
    entities,
    named: policies.flatMap(({ json }) => findUids(json)),
  };
  const hash = contentHash(sources);
  return { ok: true, cedar: createEvaluator({ engine, policies, input, hash }), problems };
}

/** Does not depend on the order of the files. */
function contentHash({ policies, schema, entities }: CedarSources): string {
  const texts = policies.map(({ id, text }) => JSON.stringify([id, text])).toSorted();
  const content = JSON.stringify([texts, schema?.text ?? '', entities?.given ?? []]);
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}
