// The tools of clients that read whole folders, as `grep -r` does, by the names that the clients give them.
import type { JsonObject, JsonValue } from '@subluminal/contracts';
import { globAlternatives } from '../patterns/glob.ts';
import type { ToolNames } from './command-args.ts';

interface FolderTool {
  /** The argument that names folders; without one, it is the folder that the client works in. */
  readonly folders?: string;
  /** The argument with globs of the files that are read. */
  readonly globs?: string;
  /** The argument that names a type of files, as ripgrep has them. */
  readonly type?: string;
  /** An argument with which the tool goes into the folders of version control, unless it has this value. */
  readonly skipsHistory?: { readonly key: string; readonly value: boolean };
}

/** What is read of folders. */
export interface FoldersRead {
  readonly folders: readonly string[];
  /** Of which every file that is read matches one, without braces; undefined where all files are read. */
  readonly globs: readonly string[] | undefined;
  /** Whether the folders of version control are left out that no glob names. */
  readonly skipsHistory: boolean;
}

const GREP: FolderTool = { folders: 'path', globs: 'glob', type: 'type' };
const COPILOT_GREP: FolderTool = { ...GREP, folders: 'paths' };
const GEMINI_GREP: FolderTool = {
  folders: 'dir_path',
  globs: 'include_pattern',
  skipsHistory: { key: 'no_ignore', value: false },
};
const READ_MANY: FolderTool = {
  globs: 'include',
  skipsHistory: { key: 'useDefaultExcludes', value: true },
};
/** A client ignores arguments that it does not have: a name that is missing here means all files. */
const TOOLS: ReadonlyMap<string, FolderTool> = new Map([
  ['claude-code Grep', GREP],
  ['copilot-cli Grep', COPILOT_GREP],
  ['copilot-cli grep', COPILOT_GREP],
  ['copilot-cli rg', COPILOT_GREP],
  ['cursor Grep', GREP],
  ['cursor grep', GREP],
  ['cursor codebase_search', { folders: 'target_directories' }],
  ['gemini-cli grep_search', GEMINI_GREP],
  ['gemini-cli search_file_content', GEMINI_GREP],
  ['gemini-cli read_many_files', READ_MANY],
]);

/** Types of ripgrep with all that they take in. Others are not known to leave out anything: `sh` has `.env`. */
const TYPES: Readonly<Record<string, string>> = {
  'c h': '*.{c,h,H,cats,hh,hpp,c.in,h.in,H.in}',
  'cs csharp': '*.cs',
  css: '*.{css,scss}',
  go: '*.go',
  html: '*.{htm,html,ejs}',
  java: '*.{java,jsp,jspx,properties}',
  'js jsx': '*.{js,jsx,vue,cjs,mjs}',
  json: '{*.json,composer.lock,*.sarif}',
  kotlin: '*.{kt,kts}',
  'md markdown': '*.{markdown,md,mdown,mdwn,mdx,mkd,mkdn}',
  'py python': '*.{py,pyi}',
  ruby: '{config.ru,Gemfile,.irbrc,Rakefile,*.gemspec,*.rb,*.rbw,*.rake}',
  rust: '*.rs',
  swift: '*.swift',
  'ts tsx typescript': '*.{ts,tsx,cts,mts}',
  yaml: '*.{yaml,yml}',
};
const TYPE_GLOBS: ReadonlyMap<string, string> = new Map(
  Object.entries(TYPES).flatMap(([names, glob]) => names.split(' ').map((name) => [name, glob])),
);

const GLOBS_MAX = 64;
/** Globs that all searching programs read in the same way. */
const PLAIN_GLOB = /^[\w.*?{},/@+~ -]+$/;
/** Texts that some clients take for an argument that is not there. */
const ABSENT = /^(?:null|undefined)?$/;

function toolOf({ server_name, tool_name }: ToolNames): FolderTool | undefined {
  return TOOLS.get(`${server_name} ${tool_name}`);
}

/** Whether a client's tool reads whole folders. */
export function readsFolders(tool: ToolNames): boolean {
  return toolOf(tool) !== undefined;
}

/** The folders that a call of a client's tool reads; undefined for other tools. */
export function foldersRead(tool: ToolNames, args: JsonObject): FoldersRead | undefined {
  const found = toolOf(tool);
  if (found === undefined) return undefined;
  // A hook tells the folder of the client where it is not that of the project.
  const start = typeof args['cwd'] === 'string' ? args['cwd'] : '.';
  const named = textsAt(args, found.folders).flatMap((text) =>
    text === '' ? '.' : splitText(text),
  );
  const folders = named.map((folder) => placedIn(start, folder));
  const given = textsAt(args, found.globs).filter((text) => text !== '');
  const globs = globsIn(given, textsAt(args, found.type));
  const { key = '', value } = found.skipsHistory ?? {};
  const isDefault = args[key] === undefined || args[key] === value;
  const skipsHistory = isDefault && (globs !== undefined || given.every(isExclusion));
  if (globs === undefined) return { folders, globs, skipsHistory };
  const starts = globs.map(fixedStart).filter((fixed) => fixed !== '');
  const below = starts.flatMap((fixed) => [
    placedIn(start, fixed),
    ...folders.map((folder) => `${folder}/${fixed}`),
  ]);
  return { folders: [...new Set([...folders, ...below])], globs, skipsHistory };
}

/** What of a glob names a folder: what it matches may lie deep below the folder of a search. */
function fixedStart(glob: string): string {
  return glob.replace(/(?:^|\/)[^/]*[*?][\s\S]*$/, '');
}

function placedIn(start: string, folder: string): string {
  return /^[/~]/.test(folder) || start === '.' ? folder : `${start}/${folder}`;
}

/** Whether a text only says which files are left out. */
function isExclusion(text: string): boolean {
  return text.split(/\s+/).every((part) => /^![^!]/.test(part));
}

function globsIn(
  given: readonly string[],
  types: readonly string[],
): readonly string[] | undefined {
  const named = given.flatMap(splitText).filter((glob) => !isExclusion(glob));
  // ripgrep goes by the type of a file only where no glob names it.
  const wanted = named.length > 0 ? named : types.map((type) => TYPE_GLOBS.get(type) ?? '');
  const all = wanted.flatMap((glob) => {
    const isPlain = PLAIN_GLOB.test(glob) && !glob.includes('..');
    const written = isPlain ? globAlternatives(glob) : [];
    return Array.isArray(written) && written.length > 0 ? written : [''];
  });
  const isKnown = all.every((glob) => !/^[./]*$/.test(glob));
  return all.length <= GLOBS_MAX && isKnown ? all : undefined;
}

/** Some clients take one text for several. */
function splitText(text: string): readonly string[] {
  const parts = text.split(/\s+/).flatMap((part) => (/[{}]/.test(part) ? part : part.split(',')));
  return [...new Set([text, ...parts])].filter((part) => part !== '');
}

/** The texts of an argument; an empty one where a client takes it for one that is not there. */
function textsAt(args: JsonObject, key: string | undefined): readonly string[] {
  const value: JsonValue | undefined = key === undefined ? undefined : args[key];
  const items: readonly (JsonValue | undefined)[] = Array.isArray(value) ? value : [value];
  const texts = items.map((item) => (typeof item === 'string' ? item.trim() : ''));
  return texts.length === 0 ? [''] : texts.map((text) => (ABSENT.test(text) ? '' : text));
}
