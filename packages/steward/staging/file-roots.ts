// Which files the agent may see at all: those in the folders that the user gave it. What a path leads to counts, not
// what it looks like.
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { quote } from '@subluminal/core/visible';
import {
  attempt,
  type FileRead,
  type Located,
  PathLookup,
  pinFolder,
  readRegularFile,
  realPath,
} from '@subluminal/plane/os';

export interface FileRootsOptions {
  /** The first is the workspace, where relative paths start. */
  readonly folders: readonly [string, ...string[]];
  /** Folders in them that stay closed: our own state and configuration. */
  readonly closed?: readonly string[];
}

export interface FileRoots {
  /** Their true paths. */
  readonly folders: readonly [string, ...string[]];
  /** Where a path leads when all links are followed; a text says why it may not be used. */
  locate(path: string): Located | string;
  /** Whether a true path is in a folder of the user's and in none that is closed, and may hold no keys. */
  isOpen(path: string): boolean;
}

/** Files that hold keys; `.env.example`, `.env.sample` and `.env.template` stay open. */
const SECRET_FILE =
  /(?:^|\/)(?:\.env(?!\.(?:example|sample|template)$)(?:\.[^/]*)?|\.(?:npmrc|netrc|pypirc|pgpass|git-credentials)|id_(?:rsa|dsa|ecdsa|ed25519)|[^/]*\.(?:pem|key|p12|pfx|jks|keystore|kdbx)|\.(?:ssh|gnupg|aws|azure|kube)(?:\/.*)?)$/i;

export function fileRoots({ folders, closed = [] }: FileRootsOptions): FileRoots {
  const [workspace, ...others] = folders;
  const roots: [string, ...string[]] = [realPath(workspace), ...others.map(realPath)];
  // What is not there yet may be made later.
  const isClosed = (path: string): boolean =>
    closed.some((folder) => isInside(realPath(folder), path));
  const isOpen = (path: string): boolean =>
    roots.some((root) => isInside(root, path)) && !isClosed(path) && !SECRET_FILE.test(path);
  const locate = (path: string): Located | string => {
    const found = new PathLookup().locate(isAbsolute(path) ? path : join(roots[0], path));
    if (found === undefined) return `${quote(path)} is no path of a file.`;
    if (isOpen(found.path)) return found;
    if (SECRET_FILE.test(found.path)) return `${quote(path)} may hold keys, and is closed to you.`;
    const where = roots.map((root) => quote(root)).join(', ');
    return `${quote(path)} is not in a folder that is open to you: ${where}.`;
  };
  return { folders: roots, locate, isOpen };
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || !(way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way));
}

/** Reads a file at a true path, in the folder that this path leads to now, and through no link. */
export function readTruePath(path: string, bytesMax: number): FileRead {
  const missing = { kind: 'missing', code: 'ENOENT' } as const;
  const folder = attempt(() => pinFolder(dirname(path)));
  if (folder === undefined || folder === 'moved') return missing;
  try {
    return readRegularFile(folder.at(basename(path)), { bytesMax, noFollow: true });
  } finally {
    folder.close();
  }
}
