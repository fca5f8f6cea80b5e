// What a server's command starts, as its binding names it: the program, and the files that its words
// name. Looked up as the client would, from what its entry and this terminal say.
import { resolve } from 'node:path';
import { findProgram, realFile, writerProblem } from '../../../../os/index.ts';
import { filesNamed } from '../../../../stores/vault/index.ts';
import { expanded, type ValuePath } from '../../index.ts';
import type { Document } from '../../text/document.ts';
import type { FoundConfig } from '../configs.ts';
import { projectOf } from '../recorded.ts';

export interface BoundProgram {
  readonly program: string;
  readonly files: readonly string[];
}

interface Starting {
  readonly found: FoundConfig;
  readonly document: Document;
  /** Where the entry, or the part of it that holds its environment, stands. */
  readonly path: ValuePath;
  /** The folder of the project that the entry is for, if it is for one alone. */
  readonly project: string | undefined;
  readonly command: readonly string[];
  /** How the binding names the command. */
  readonly bound: readonly string[];
  readonly env: { readonly [name: string]: string | undefined };
}

/** A text says why nothing can be bound, in words that end no sentence. */
export function boundProgram(starting: Starting): BoundProgram | string {
  const { document, path, command, bound, env } = starting;
  const folder = folderOf(starting);
  const expand = expander(starting, folder);
  const words = command.map(expand);
  const [word = ''] = words;
  const ownPath = document.valueAt([...path, 'env', 'PATH']);
  const searched = typeof ownPath === 'string' ? expand(ownPath) : env['PATH'];
  if (word.includes('${') || searched?.includes('${')) {
    return 'its program depends on a variable that is not known here';
  }
  const vague = folder === undefined ? words.find(isRelativePath) : undefined;
  if (vague !== undefined) {
    return `${vague} is looked for in a folder that only the client knows: name it by its whole path`;
  }
  const cwd = folder ?? '/';
  const program = findProgram(word, { cwd, path: searched });
  const real = program === undefined ? undefined : realFile(program);
  if (program === undefined || real === undefined) {
    return `its program ${word} is not found here: name it by its whole path`;
  }
  const files = filesNamed(bound, { words, cwd });
  for (const one of [real, ...files]) {
    const hand = writerProblem(one);
    if (hand !== undefined) return `${one} ${hand}`;
  }
  return { program, files };
}

/** What starts with a dot, or looks like a script: a package may have a slash in its name too. */
function isRelativePath(word: string): boolean {
  return /^\.{1,2}(?:\/|$)/.test(word) || /^[^/-].*\.(?:[cm]?[jt]sx?|py|rb|pl|php|sh)$/.test(word);
}

function folderOf({ found: { file }, document, path, project }: Starting): string | undefined {
  const home = project ?? (file.scope === 'project' ? projectOf(file.path) : undefined);
  const own = document.valueAt([...path, 'cwd']);
  if (typeof own !== 'string' || own.includes('${')) return home;
  return home === undefined && !own.startsWith('/') ? undefined : resolve(home ?? '/', own);
}

function expander({ found: { client }, env }: Starting, folder: string | undefined) {
  return (text: string): string => {
    const placed = folder === undefined ? text : text.replaceAll('${workspaceFolder}', folder);
    return expanded({ command: placed, args: [] }, client, env).command ?? placed;
  };
}
