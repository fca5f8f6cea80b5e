// The hosts in the words of a command, and the files in addresses.

const URL =
  /^([a-z][a-z0-9+.-]{1,40}):\/\/(?:[^/?#@\s]{0,512}@)?(\[[^\]]{0,64}\]|[^/?#:\s]{0,255})/i;
const SOCKET = /^\/dev\/(?:tcp|udp)\/([^/]+)/;
const SCP = /^(?:[^@/:\s]{1,64}@)?(\[[^\]]{1,64}\]|[^@/:\s]{1,255}):(?!\/\/)(.*)$/s;
const HOST = /^(?:[^@/:\s]{1,64}@)?(\[[^\]]{1,64}\]|[\w.*-]{1,255})(?::[\w*-]{1,8})?(?:[/?#]|$)/;

function folded(host: string): string {
  return host
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
}

/** The host of an address with a scheme, empty for one without a host, or nothing for another text. */
export function hostOfUrl(text: string): string | undefined {
  const host = URL.exec(text)?.[2];
  return host === undefined ? undefined : folded(host);
}

/** `/dev/tcp/HOST/PORT`, which bash opens as a connection. */
export function hostOfSocket(path: string): string | undefined {
  const host = SOCKET.exec(path.replace(/\/{2,}/g, '/'))?.[1];
  return host === undefined ? undefined : folded(host);
}

/** `user@host:path`. */
export function hostOfRemote(text: string): string | undefined {
  if (/^[./~]/.test(text)) return undefined;
  const [, host, path] = SCP.exec(text) ?? [];
  // A drive of Windows.
  if (host === undefined || (/^[A-Za-z]$/.test(host) && path?.startsWith('\\'))) return undefined;
  return folded(host);
}

/** A host by itself, or an address without a scheme. */
export function hostAlone(text: string): string | undefined {
  const host = hostOfUrl(text) ?? HOST.exec(text)?.[1];
  return host === undefined ? undefined : folded(host);
}

/** The files of `file:///x`, as it is written and as curl reads it: `%65`, `{a,b}` and `[a-c]` stand for letters. */
export function filesInUrl(text: string): readonly string[] {
  const [, path] = /^file:\/\/(?:localhost|127\.0\.0\.1)?(\/.*)$/is.exec(text) ?? [];
  if (path === undefined) return [];
  const meant = path
    .replace(/\{[^{}]{0,256}\}|\[[^[\]]{0,256}\]/g, '*')
    .replace(/%([0-7][0-9a-f])/gi, (_sign, code: string) =>
      String.fromCharCode(Number.parseInt(code, 16)),
    );
  return [...new Set([path, meant])];
}
