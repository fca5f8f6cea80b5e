// Paths in one spelling: one kind of slash, no `.`, and `..` resolved as far as it goes.

/** How many folders above, and how many segments below, are looked at. */
const STEPS_MAX = 64;
const HOME = /^(?:~[\w.-]{0,32}|\$\{?\w{1,64}\}?|%\w{1,64}%)$/;
const FILE_SCHEME = /^file:(?:\/\/(?:localhost|127\.0\.0\.1)(?=\/)|\/{2}(?=\/)|\/{2}|(?=\/))/i;
/** The folder that a process works in, under another name. */
const PROCESS_FOLDER =
  /^\/+(?:\.\/+)*proc\/+(?:self|thread-self|\d{1,10})(?:\/+task\/+\d{1,10})?\/+cwd(?=\/|$)/;
const PROCESS_ROOTS =
  /^(?:\/proc\/(?:self|thread-self|\d{1,10})(?:\/task\/\d{1,10})?\/root(?=\/|$))+/;

/** The path, its case kept; undefined when there is nothing of a path in it. */
export function pathOf(word: string): string | undefined {
  // The system ends the name of a file there.
  const [name = ''] = word.split('\0', 1);
  const slashes = withoutScheme(name).replaceAll('\\', '/').replace(PROCESS_FOLDER, '.');
  const absolute = slashes.startsWith('/');
  const kept: string[] = [];
  for (const segment of slashes.split('/')) {
    if (segment === '' || segment === '.') continue;
    const above = kept.at(-1);
    if (segment !== '..') kept.push(segment);
    // Where a home folder lies is not known, so what is above it is not, either.
    else if (above !== undefined && kept.length === 1 && HOME.test(above)) kept[0] = segment;
    else if (above !== undefined && above !== '..') kept.pop();
    // Above the root is the root.
    else if (!absolute) kept.push(segment);
  }
  if (kept.length === 0) return undefined;
  return absolute ? fromRoot(`/${kept.join('/')}`) : kept.join('/');
}

/** A file URI as a path; a host that is none is the first folder. */
function withoutScheme(name: string): string {
  const rest = name.replace(FILE_SCHEME, '');
  return rest === name || rest.startsWith('/') ? rest : `/${rest}`;
}

/** Linux shows the whole disk again below each process. */
function fromRoot(path: string): string {
  return path.replace(PROCESS_ROOTS, '') || '/';
}

/** A path that climbs out of where it starts may end anywhere: also as seen from the root. */
export function climbedTo(path: string): string | undefined {
  const rest = path.replace(/^(?:\.\.\/)+/, '');
  return rest === path || rest === '..' ? undefined : fromRoot(`/${rest}`);
}

/** Written as a path and as nothing else: from the root, the home folder, a drive, or `./`. */
export function isRooted(word: string): boolean {
  return /^(?:\/(?!\/)|~[\w.-]{0,32}[/\\]|\.{1,2}[/\\]|[a-z]:[/\\]|\\\\|file:\/\/)/i.test(word);
}

/** `and/or` is no path; `src/index.ts` and `a/b/c` are. */
export function looksLikePath(word: string): boolean {
  if (!/[/\\]/.test(word)) return false;
  if (isRooted(word)) return true;
  const segments = word.split(/[/\\]+/).filter((segment) => segment !== '');
  return segments.length > 2 || (segments.length === 2 && /\.\w{1,8}$/.test(word));
}

/** The folders that a path is in, nearest first; `/tmp` or `src` alone says nothing. */
export function pathsAbove(path: string): readonly string[] {
  const above: string[] = [];
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    const folder = path.slice(0, end);
    if (folder.includes('/', 1)) above.push(folder);
    if (above.length >= STEPS_MAX) break;
  }
  return above;
}

/** The path as seen from each folder above it, longest first: two segments at least. */
export function pathsBelow(path: string): readonly string[] {
  const segments = path.split('/').filter((segment) => segment !== '');
  const below: string[] = [];
  const first = Math.max(path.startsWith('/') ? 0 : 1, segments.length - STEPS_MAX);
  for (let from = first; from <= segments.length - 2; from++) {
    below.push(segments.slice(from).join('/'));
  }
  return below;
}
