// Policies from a folder: every `*.cedar`, at most one `*.cedarschema`, and `entities.json`.
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Problem } from '@subluminal/core/policy';
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

async function loadCedarFolder(folder: string): Promise<CedarOpened> {
  let names: readonly string[];
  try {
    names = (await readdir(folder)).filter(isOurs).toSorted();
  } catch (cause) {
    return failed(folder, `the folder cannot be read: ${reasonOf(cause)}`, 'Check its path.');
  }
  return loadCedarFiles(names.map((name) => join(folder, name)));
}

/** The same for files that are named one by one. */
async function loadCedarFiles(files: readonly string[]): Promise<CedarOpened> {
  if (files.length > FILES_MAX) {
    return failed(files[0] ?? '', `there are more than ${FILES_MAX} files`, 'Put some into one.');
  }
  const problems: Problem[] = [];
  const texts: TextFile[] = [];
  let bytesLeft = BYTES_MAX;
  for (const file of files) {
    const read = await readText(file, bytesLeft);
    if ('problem' in read) problems.push(read.problem);
    else {
      bytesLeft -= Buffer.byteLength(read.text);
      texts.push(read);
    }
  }
  if (problems.length > 0) return { ok: false, problems };
  return openTexts(texts);
}

function openTexts(texts: readonly TextFile[]): Promise<CedarOpened> | CedarOpened {
  const schemas = texts.filter(({ file }) => file.endsWith('.cedarschema'));
  const [schema, second] = schemas;
  if (second !== undefined) {
    return failed(second.file, 'there is a second schema', 'Put both into one file.');
  }
  const entities = texts.find(({ file }) => basename(file) === 'entities.json');
  const given = entities === undefined ? undefined : parsed(entities);
  if (given !== undefined && 'problem' in given) return { ok: false, problems: [given.problem] };
  const sources = texts.filter(({ file }) => file.endsWith('.cedar')).flatMap(sourcesIn);
  return openParts({
    sources,
    ...(schema === undefined ? {} : { schema: wholePiece(schema.file, schema.text) }),
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

async function readText(
  file: string,
  bytesMax: number,
): Promise<TextFile | { readonly problem: Problem }> {
  const problem = (message: string, fix: string) => {
    return { problem: problemOf(file, { code: CODE, message, fix }) };
  };
  try {
    const info = await stat(file);
    if (!info.isFile()) return problem('this is no file', 'Remove it, or give it another name.');
    if (info.size > bytesMax) {
      return problem(`all files together have more than ${BYTES_MAX} bytes`, 'Split the policies.');
    }
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file));
    return { file, text };
  } catch (cause) {
    return problem(
      `the file cannot be read: ${reasonOf(cause)}`,
      'Save it as UTF-8 that you can read.',
    );
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

export { isOurs, loadCedarFiles, loadCedarFolder };
