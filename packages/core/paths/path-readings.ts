// A text that is a path → the absolute paths that a server may open for it. Unlike the variants of a name,
// each of them is a way to read the whole text.
import type { ProjectPaths } from '../ports.ts';
import { absolutePath } from './lexical-path.ts';
import { decoded, isDecodedInPart, withoutUriBreaks } from './name-variants.ts';

export interface PathReadings {
  /** Absolute, but not normalised: a `..` behind a link leads elsewhere than one behind a folder. */
  readonly paths: readonly string[];
  /** False when a server may read it in a way that is not known here. */
  readonly isWhole: boolean;
}

type Folders = Pick<ProjectPaths, 'project' | 'home'>;

/** Longer than any path that a system opens. */
const LENGTH_MAX = 4_096;
const FILE_URI = /^file:(?:\/\/([^/?#]*))?([^?#]*)/i;
/** A scheme without a host, which some servers take for a path: `repo:///src/a.ts`. */
const HOSTLESS_URI = /^[a-z][a-z0-9+.-]{1,40}:\/\/(\/[^?#]*)/i;
/** Drives, shares and the homes of others: nothing is known of them here. */
const ELSEWHERE = /^(?:[a-z]:(?:[\\/]|$)|\\\\|~[^/\\])/i;
const HOME = /^(?:~|\$HOME|\$\{HOME\})(?=[/\\]|$)/;
/** Signs at the end of a name that Windows leaves out. */
const DROPPED_ENDS = /([^./\\\s])[. ]+(?=[/\\]|$)/g;

/** Every way to read a text as a path. */
export function pathReadings(text: string, folders: Folders): PathReadings {
  if (text.length > LENGTH_MAX) return { paths: [], isWhole: false };
  const paths = new Set<string>();
  let isWhole = !isDecodedInPart(text);
  const lines = lineCount(text);
  for (const one of new Set([text, withoutUriBreaks(text)].flatMap(decodings))) {
    const written = fromUri(one);
    // A line break that was a percent sign may stand for a NUL.
    if (written.some(isElsewhere) || lineCount(one) > lines) isWhole = false;
    for (const path of written.flatMap(spellings)) {
      const fromHome = path.replace(HOME, () => folders.home);
      paths.add(absolutePath(fromHome, folders.project));
    }
  }
  return { paths: [...paths], isWhole };
}

/** A URI is always decoded once; everything else may be. */
function decodings(text: string): readonly string[] {
  const texts = decoded(text);
  return texts.length > 1 && FILE_URI.test(text.trim()) ? texts.slice(1) : texts;
}

/** A NUL ends a path for some servers and makes it invalid for others. */
function isElsewhere(path: string): boolean {
  return ELSEWHERE.test(path.trim()) || path.includes('\0');
}

function lineCount(text: string): number {
  return text.split('\n').length;
}

function fromUri(text: string): readonly string[] {
  const [, host = '', path] = FILE_URI.exec(text.trim()) ?? [];
  // Of another machine, or without a path: `\\host` counts as elsewhere.
  if (path !== undefined) return /^(?:localhost)?$/i.test(host) ? [path] : [`\\\\${host}`];
  const hostless = HOSTLESS_URI.exec(text.trim())?.[1];
  return hostless === undefined ? [text] : [text, hostless];
}

/** A path as it is written, and as systems may take it that trim it or have other separators. */
function spellings(path: string): readonly string[] {
  return [path, path.trim(), path.replaceAll('\\', '/'), path.replace(DROPPED_ENDS, '$1')];
}
