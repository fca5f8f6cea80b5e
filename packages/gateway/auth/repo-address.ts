// One text for one repository, however its remote is written: `git@host:org/repo.git`, `https://token@host/org/repo`.

const SCP = /^(?:[^@/\s]+@)?([A-Za-z0-9._-]+|\[[0-9A-Fa-f:]+\]):(?!\/\/)(.+)$/;
const SCHEMES: ReadonlySet<string> = new Set(['http:', 'https:', 'ssh:', 'git:', 'git+ssh:']);
const LENGTH_MAX = 1_024;

/**
 * `host/path` in lower case, without credentials and port. Lower case throughout: the common hosts serve `Org/Repo`
 * and `org/repo` alike, and another spelling must not make another repository. Undefined for what is no remote.
 */
export function repoAddress(remote: string): string | undefined {
  if (remote.length > LENGTH_MAX) return undefined;
  const scp = SCP.exec(remote);
  const parts = scp === null ? urlParts(remote) : { host: scp[1] ?? '', path: scp[2] ?? '' };
  if (parts === undefined) return undefined;
  const path = decoded(parts.path);
  const segments = path?.split('/').filter((segment) => segment !== '') ?? [];
  const isOdd = segments.length === 0 || segments.some((one) => one === '.' || one === '..');
  if (parts.host === '' || isOdd) return undefined;
  const address = `${parts.host}/${segments.join('/')}`.toLowerCase();
  return address.endsWith('.git') ? address.slice(0, -'.git'.length) : address;
}

function urlParts(remote: string): { readonly host: string; readonly path: string } | undefined {
  if (!URL.canParse(remote)) return undefined;
  const { protocol, hostname, pathname } = new URL(remote);
  return SCHEMES.has(protocol) ? { host: hostname, path: pathname } : undefined;
}

function decoded(path: string): string | undefined {
  try {
    const plain = decodeURIComponent(path);
    // oxlint-disable-next-line no-control-regex -- Nothing of a repository's name.
    return /[\u0000-\u0020\u007f?#\\]/.test(plain) ? undefined : plain;
  } catch {
    return undefined;
  }
}
