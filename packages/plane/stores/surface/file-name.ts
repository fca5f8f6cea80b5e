// The file of a server's manifest. A server's name is anybody's text, so it must not lead out of
// the folder, and two names must never share a file.

const PLAIN = /^[A-Za-z0-9._-]$/;
const EXTENSION = '.yaml';

/** The name, percent-encoded by the bytes of UTF-8 where it is no letter, digit, `.`, `_` or `-`. */
export function manifestFileName(server: string): string {
  const encoded = Array.from(server, (char) => (PLAIN.test(char) ? char : percentEncoded(char)));
  return `${encoded.join('')}${EXTENSION}`;
}

function percentEncoded(char: string): string {
  const bytes = [...Buffer.from(char, 'utf8')];
  return bytes.map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}
