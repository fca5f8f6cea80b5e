// Paths as texts: joined and normalised as POSIX does it, without a look at any disk.

/** An absolute path without `.`, `..`, doubled slashes and a slash at its end. */
export function lexicalPath(path: string): string {
  const names: string[] = [];
  for (const name of path.split('/')) {
    if (name === '..') names.pop();
    else if (name !== '' && name !== '.') names.push(name);
  }
  return `/${names.join('/')}`;
}

/** A path that starts in a folder, unless it is absolute. */
export function absolutePath(path: string, folder: string): string {
  return path.startsWith('/') ? path : `${folder}/${path}`;
}

/** The names of a path below a folder that it is in, or that it is. */
export function namesBelow(path: string, folder: string): readonly string[] {
  return path
    .slice(folder.length)
    .split('/')
    .filter((name) => name !== '');
}

/** Whether a path is a folder or in it; both are absolute and normalised. */
export function isUnder(path: string, folder: string): boolean {
  if (!path.startsWith(folder)) return false;
  return path.length === folder.length || folder === '/' || path[folder.length] === '/';
}
