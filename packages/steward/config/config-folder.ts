// The files of the folder as bytes, and the hash of all of them.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { nearest } from '@subluminal/core/nearest';
import type { Problem, SourceFinding } from '@subluminal/core/source';
import { quote } from '@subluminal/core/visible';
import { attempt, fileProblem, readRegularFile } from '@subluminal/plane/os';

export const FILES = [
  'permissions.yaml',
  'integrations.yaml',
  'guardrails.yaml',
  'identity.md',
] as const;
export const MANIFESTS = 'mcp-manifests';

export const FILE_BYTES_MAX = 262_144;
const MANIFESTS_MAX = 256;
const REQUIRED: ReadonlySet<string> = new Set(['permissions.yaml', 'integrations.yaml']);

export interface FolderContent {
  readonly version: string;
  /** By path below the folder, with `/`. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly manifests: readonly string[];
  readonly problems: readonly Problem[];
}

/** Whether any of the files that must be there is. */
export function hasStewardConfig(folder: string): boolean {
  return [...REQUIRED].some((name) => existsSync(join(folder, name)));
}

/** Reads all files at once, so that what is checked is what was hashed. `changed` stands in for files on the disk. */
export function readFolder(
  folder: string,
  changed: ReadonlyMap<string, Uint8Array | undefined> = new Map(),
): FolderContent {
  const hash = createHash('sha256');
  const files = new Map<string, Uint8Array>();
  const problems: Problem[] = [];
  const manifests = manifestNames(folder, changed);
  for (const name of [...FILES, ...manifests]) {
    const bytes = changed.has(name) ? changed.get(name) : fromDisk(folder, name, problems);
    if (bytes !== undefined) {
      files.set(name, bytes);
      hash.update(`${name}\0${bytes.length}\0`).update(bytes);
    } else if (REQUIRED.has(name) && !problems.some(({ file }) => file === name)) {
      const fix = 'Write it, or start from the folder of `sub steward init`.';
      problems.push(atStart(name, finding('the file is missing', fix)));
    }
  }
  problems.push(...strayFiles(folder));
  return { version: hash.digest('hex'), files, manifests, problems };
}

function fromDisk(folder: string, name: string, problems: Problem[]): Uint8Array | undefined {
  const path = join(folder, name);
  const read = readRegularFile(path, { bytesMax: FILE_BYTES_MAX });
  if (read.kind === 'missing') return undefined;
  if (read.kind === 'unreadable') {
    problems.push(atStart(name, finding(`the file ${read.why}`, read.fix)));
    return undefined;
  }
  const open = fileProblem(path);
  if (open === undefined) return read.bytes;
  problems.push(atStart(name, finding(`${open.path} ${open.why}`, open.fix)));
  return undefined;
}

function manifestNames(
  folder: string,
  changed: ReadonlyMap<string, Uint8Array | undefined>,
): readonly string[] {
  const listed = attempt(() => readdirSync(join(folder, MANIFESTS))) ?? [];
  const names = [...listed.map((name) => `${MANIFESTS}/${name}`), ...changed.keys()].filter(
    (name) => name.startsWith(`${MANIFESTS}/`) && name.endsWith('.yaml'),
  );
  return [...new Set(names)].toSorted().slice(0, MANIFESTS_MAX);
}

/** A YAML file that nobody reads is likely a misspelt one. */
function strayFiles(folder: string): readonly Problem[] {
  const listed = attempt(() => readdirSync(folder)) ?? [];
  const known: readonly string[] = FILES;
  const stray = listed.filter((name) => /\.ya?ml$/i.test(name) && !known.includes(name));
  return stray.slice(0, 20).map((name) => {
    const meant = nearest(name, known);
    const about = meant === undefined ? '' : `; did you mean ${quote(meant)}?`;
    const fix = meant === undefined ? 'Remove it, or move it elsewhere.' : 'Rename it.';
    return atStart(name, { ...finding(`nothing reads this file${about}`, fix), level: 'warning' });
  });
}

function finding(message: string, fix: string): SourceFinding {
  return { code: 'SUB_STEWARD_FILE', path: [], message, fix };
}

export function atStart(
  file: string,
  { level = 'error', code, message, fix }: SourceFinding,
): Problem {
  return { level, code, file, position: { line: 1, column: 1 }, path: '', message, fix };
}
