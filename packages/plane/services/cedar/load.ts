// Policies from a folder: every `*.cedar`, at most one `*.cedarschema`, and `entities.json`. Or from
// one file; a schema and entities may be elsewhere.
import { readdir, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import type { Problem } from '@subluminal/core/policy';
import { fileProblem, readRegularFile } from '../../os/index.ts';
import { openParts, wholePiece } from './open.ts';
import { problemOf } from './problems.ts';
import { splitPolicies } from './split.ts';
import type { CedarOpened } from './types.ts';

const FILES_MAX = 200;
const BYTES_MAX = 1_048_576;
const CODE = 'SUB_CEDAR_FILES';

interface TextFile {
  readonly file: string;
  readonly text: string;
}

/** What a folder holds that is ours, sorted by name; other files are left alone. */
function isOurs(name: string): boolean {
  if (name.startsWith('.')) return false;
  return name.endsWith('.cedar') || name.endsWith('.cedarschema') || name === 'entities.json';
}

/** Where policies, their schema and their entities are. */
export interface CedarPlace {
  /** A folder, or one file of policies. */
  readonly policies: string;
  readonly schema?: string | undefined;
  readonly entities?: string | undefined;
  /** Refuses what others can write; told of only unless said so. */
  readonly isStrict?: boolean | undefined;
}

/** The files of a place, by what they are. */
interface CedarFiles {
  readonly policies: readonly string[];
  readonly schemas: readonly string[];
  readonly entities: readonly string[];
}

export async function loadCedar(place: CedarPlace): Promise<CedarOpened> {
  let files: CedarFiles;
  try {
    files = await filesOf(place);
  } catch (cause) {
    const reason = reasonOf(cause);
    const isGone = reason === 'ENOENT' || reason === 'ENOTDIR';
    const message = isGone ? 'this does not exist' : `the policies cannot be read: ${reason}`;
    const fix = isGone
      ? 'Name a folder of Cedar policies, or one file of them.'
      : 'Check the path.';
    return failed(place.policies, message, fix);
  }
  const all = [...files.policies, ...files.schemas, ...files.entities];
  if (all.length > FILES_MAX) {
    return failed(place.policies, `there are more than ${FILES_MAX} files`, 'Put some into one.');
  }
  const texts = new Map<string, TextFile>();
  const problems: Problem[] = [];
  let bytesLeft = BYTES_MAX;
  for (const file of all) {
    const read = readText(file, bytesLeft);
    if ('problem' in read) problems.push(read.problem);
    else {
      bytesLeft -= Buffer.byteLength(read.text);
      texts.set(file, read);
    }
  }
  const unsafe = unsafeFiles(place, all);
  if (place.isStrict === true) problems.push(...unsafe);
  if (problems.length > 0) return { ok: false, problems };
  const textOf = (file: string) => texts.get(file) ?? { file, text: '' };
  const opened = await openTexts(files, { textOf, place: place.policies });
  return place.isStrict === true
    ? opened
    : { ...opened, problems: [...unsafe, ...opened.problems] };
}

/** The folder as well: whoever can write to it adds policies. */
function unsafeFiles(place: CedarPlace, files: readonly string[]): readonly Problem[] {
  const told = new Map<string, Problem>();
  for (const file of [place.policies, ...files]) {
    const found = fileProblem(file);
    if (found === undefined) continue;
    const message = `${found.path} ${found.why}`;
    const level = place.isStrict === true ? 'error' : 'warning';
    const words = { code: 'SUB_FILE_UNSAFE', message, fix: found.fix } as const;
    told.set(found.path, problemOf(file, { ...words, level }));
  }
  return [...told.values()];
}

/** What is named outside of a folder stands beside what is in it. */
export async function filesOf({ policies, schema, entities }: CedarPlace): Promise<CedarFiles> {
  const isFolder = (await stat(policies)).isDirectory();
  const names = isFolder ? (await readdir(policies)).filter(isOurs).toSorted() : [];
  const within = names.map((name) => join(policies, name));
  return {
    policies: isFolder ? within.filter((file) => file.endsWith('.cedar')) : [policies],
    schemas: distinct([...within.filter((file) => file.endsWith('.cedarschema')), schema]),
    entities: distinct([...within.filter((file) => basename(file) === 'entities.json'), entities]),
  };
}

/** A file that is in the folder may be named as well. */
function distinct(files: readonly (string | undefined)[]): readonly string[] {
  const named = files.flatMap((file) => (file === undefined ? [] : [file]));
  return [...new Map(named.map((file) => [resolve(file), file])).values()];
}

function openTexts(
  files: CedarFiles,
  { textOf, place }: { readonly textOf: (file: string) => TextFile; readonly place: string },
): Promise<CedarOpened> | CedarOpened {
  const [schema, secondSchema] = files.schemas;
  if (secondSchema !== undefined) {
    return failed(secondSchema, 'there is a second schema', 'Put both into one file.');
  }
  const [entities, secondEntities] = files.entities;
  if (secondEntities !== undefined) {
    return failed(secondEntities, 'there are entities in a second file', 'Put both into one.');
  }
  const given = entities === undefined ? undefined : parsed(textOf(entities));
  if (given !== undefined && 'problem' in given) return { ok: false, problems: [given.problem] };
  return openParts({
    place,
    sources: files.policies.flatMap((file) => sourcesIn(textOf(file))),
    ...(schema === undefined ? {} : { schema: wholePiece(schema, textOf(schema).text) }),
    ...(given === undefined ? {} : { entities: given }),
  });
}

/** A policy without an `@id` is called by its file, with its place in it when there are several. */
function sourcesIn({ file, text }: TextFile) {
  const stem = basename(file, '.cedar');
  const pieces = splitPolicies(file, text);
  return pieces.map((piece, index) => {
    return { piece, id: pieces.length === 1 ? stem : `${stem}#${index + 1}` };
  });
}

function readText(file: string, bytesMax: number): TextFile | { readonly problem: Problem } {
  const problem = (message: string, fix: string) => {
    return { problem: problemOf(file, { code: CODE, message, fix }) };
  };
  const read = readRegularFile(file, { bytesMax });
  if (read.kind === 'missing') return problem('the file does not exist any more', 'Try again.');
  if (read.kind === 'unreadable' && read.code === 'TOO_LARGE') {
    return problem(`all files together have more than ${BYTES_MAX} bytes`, 'Split the policies.');
  }
  if (read.kind === 'unreadable') return problem(`this ${read.why}`, read.fix);
  try {
    return { file, text: new TextDecoder('utf-8', { fatal: true }).decode(read.bytes) };
  } catch {
    return problem('the file is not valid UTF-8', 'Save it as UTF-8.');
  }
}

function parsed({ file, text }: TextFile) {
  try {
    const given: unknown = JSON.parse(text);
    return { file, given };
  } catch (cause) {
    const message = `the file is no JSON: ${reasonOf(cause)}`;
    const fix = 'Write a list of entities.';
    return { problem: problemOf(file, { code: 'SUB_CEDAR_ENTITIES', message, fix }) };
  }
}

function failed(file: string, message: string, fix: string): CedarOpened {
  return { ok: false, problems: [problemOf(file, { code: CODE, message, fix })] };
}

function reasonOf(cause: unknown): string {
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string')
    return cause.code;
  return cause instanceof Error ? cause.message : String(cause);
}
