// What the agent may do with its configuration: propose. Nothing here changes the folder.
import { join, relative, sep } from 'node:path';
import { type Failure, failure } from '@subluminal/contracts';
import { formatProblem } from '@subluminal/core/source';
import { quote } from '@subluminal/core/visible';
import { type ChangedFiles, FILE_BYTES_MAX, readStewardConfig } from '../config/index.ts';
import {
  type ChangeSet,
  type ChangeStore,
  type FileRoots,
  fileRoots,
  openStaging,
  type ProposedFile,
} from '../staging/index.ts';
import { kindOfPath } from './config-paths.ts';

export interface ProposedConfigFile {
  /** Below the configuration folder, with `/`. */
  readonly path: string;
  /** The whole new text; undefined to remove the file. */
  readonly text: string | undefined;
}

export interface ConfigProposal {
  /** The same key makes one proposal, however often it comes. */
  readonly key: string;
  readonly runId: string;
  readonly why: string;
  readonly files: readonly ProposedConfigFile[];
}

export interface ConfigPlace {
  readonly folder: string;
  /** Of proposals alone, and outside of the folder. */
  readonly store: ChangeStore;
}

export interface ConfigProposals {
  propose(proposal: ConfigProposal): Promise<ChangeSet | Failure>;
  list(): readonly ChangeSet[];
}

const FILES_MAX = 20;
const PROBLEMS_SHOWN = 5;

export function openConfigProposals({ folder, store }: ConfigPlace): ConfigProposals {
  const staging = openStaging(store, configRoots(folder));
  return {
    list: () => staging.list(),
    propose: async ({ files, ...about }) => {
      const problem = filesProblem(files) ?? (await configProblem(folder, changedBy(files)));
      if (problem !== undefined) return problem;
      return staging.stage({ ...about, files: files.map((file) => proposedFile(folder, file)) });
    },
  };
}

/** The folder without its history. */
export function configRoots(folder: string): FileRoots {
  return fileRoots({ folders: [folder], closed: [join(folder, '.git')] });
}

/** The paths of a change below the folder, with `/`. */
export function configPaths(folder: string, { files }: ChangeSet): readonly string[] {
  const [root] = configRoots(folder).folders;
  return files.map(({ path }) => relative(root, path).split(sep).join('/'));
}

/** What would be wrong with the files of a change; what is wrong elsewhere is none of its business. */
export async function configProblem(
  folder: string,
  changed: ChangedFiles,
): Promise<Failure | undefined> {
  const read = await readStewardConfig(folder, changed);
  if (read.kind === 'config') return undefined;
  const own = read.problems.filter(({ file, level }) => level === 'error' && changed.has(file));
  if (own.length === 0) return undefined;
  const lines = own.slice(0, PROBLEMS_SHOWN).map(formatProblem);
  const message = `The change would break the configuration:\n${lines.join('\n')}`;
  return failure('SUB_CHANGE_REFUSED', message, 'Correct it.');
}

function filesProblem(files: readonly ProposedConfigFile[]): Failure | undefined {
  if (files.length === 0 || files.length > FILES_MAX) {
    return refused(`A proposal has 1 to ${FILES_MAX} files.`);
  }
  for (const { path, text = '' } of files) {
    if (kindOfPath(path) === undefined) {
      return refused(`${quote(path)} is no file of the configuration.`);
    }
    // It would pass for a binary file, of which nobody sees what is in it.
    if (text.includes('\0')) return refused(`${quote(path)} would be no text.`);
    if (Buffer.byteLength(text) > FILE_BYTES_MAX) {
      return refused(`${quote(path)} would be larger than ${FILE_BYTES_MAX} bytes.`);
    }
  }
  return undefined;
}

function changedBy(files: readonly ProposedConfigFile[]): ChangedFiles {
  return new Map(files.map(({ path, text }) => [path, text === undefined ? text : bytesOf(text)]));
}

function proposedFile(folder: string, { path, text }: ProposedConfigFile): ProposedFile {
  return {
    path: join(folder, path),
    next: () => (text === undefined ? { kind: 'gone' } : { kind: 'content', bytes: bytesOf(text) }),
  };
}

function bytesOf(text: string): Buffer {
  return Buffer.from(text);
}

function refused(message: string): Failure {
  const fix =
    'Name permissions.yaml, integrations.yaml, guardrails.yaml, identity.md, or a file in mcp-manifests/.';
  return failure('SUB_CHANGE_REFUSED', message, fix);
}
