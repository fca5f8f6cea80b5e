// One spelling for the remote of a repository: `git@github.com:Acme/app.git` and
// `https://user@github.com/acme/app` are the same place.

const SCP = /^(?:[^@/\s]+@)?([^:/\s]+):(?!\/\/)(.+)$/;
const URL_FORM = /^(?:[a-z][a-z0-9+.-]*):\/\/(?:[^@/\s]*@)?([^/:\s]+)(?::\d+)?\/(.+)$/i;
const LENGTH_MAX = 2_048;

/** `github.com/acme/app`; undefined for what names no remote repository. Credentials never stay in it. */
export function remoteKey(remote: string): string | undefined {
  const text = remote.trim();
  if (text.length > LENGTH_MAX) return undefined;
  const [, host, path] = URL_FORM.exec(text) ?? SCP.exec(text) ?? [];
  if (host === undefined || path === undefined) return undefined;
  const parts = path
    .replace(/[?#].*$/, '')
    .split('/')
    .filter((part) => part !== '');
  const last = parts.pop()?.replace(/\.git$/i, '');
  if (!last || [...parts, last].some((part) => part === '.' || part === '..')) return undefined;
  return [host, ...parts, last].join('/').toLowerCase();
}
