// The address of a server and the headers that its requests carry, as a user gives them.
import { type Failure, failure } from '@subluminal/contracts';
import { visible } from '@subluminal/core/visible';
import { isLoopbackHost } from '../../../os/loopback-host.ts';

interface ServerAddress {
  readonly url: string;
  /** What the user should know of it. */
  readonly warning: string | undefined;
}

const URL_LENGTH_MAX = 4_096;
const SHOWN_LENGTH_MAX = 200;
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,256}$/;
/** Visible ASCII, blanks inside, and Latin-1 as HTTP allows it; no line break. */
const HEADER_VALUE = /^[\x20-\x7e\t\x80-\xff]{0,65536}$/;
/** The transport writes these itself. */
const OWN_HEADERS = new Set([
  ...['accept', 'accept-encoding', 'connection', 'content-length', 'content-type', 'expect'],
  ...[
    'host',
    'keep-alive',
    'last-event-id',
    'mcp-protocol-version',
    'mcp-session-id',
    'mcp-method',
  ],
  ...['mcp-name', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'],
]);

export function isHeaderName(name: string): boolean {
  return HEADER_NAME.test(name);
}

/** Whether the transport writes this header itself. */
export function isOwnHeader(name: string): boolean {
  return OWN_HEADERS.has(name.toLowerCase());
}

export function isLoopback(url: string): boolean {
  return isLoopbackHost(new URL(url).hostname);
}

export function readAddress(text: string): ServerAddress | Failure {
  if (text.length > URL_LENGTH_MAX || !URL.canParse(text)) {
    return refused(`\`${visible(text, SHOWN_LENGTH_MAX)}\` is no URL.`);
  }
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return refused(`\`${visible(url.protocol, 20)}\` is neither https nor http.`);
  }
  if (url.username !== '' || url.password !== '') {
    const fix =
      'Give it by `--header-env` or `--bearer-env`: a URL is seen in process lists and logs.';
    return failure('SUB_REMOTE_ADDRESS', 'The address of the server has a password in it.', fix);
  }
  url.hash = '';
  const isOpen = url.protocol === 'http:' && !isLoopback(url.href);
  const warning = isOpen
    ? `${url.origin} is reached without encryption: others on the way can read and change everything, tokens too`
    : undefined;
  return { url: url.href, warning };
}

function refused(message: string): Failure {
  const fix = 'Write the whole address, like https://mcp.example.com/mcp.';
  return failure('SUB_REMOTE_ADDRESS', message, fix);
}

/** A header as it is sent. A failure does not show the value, which may be a secret. */
export function readHeader(name: string, value: string): readonly [string, string] | Failure {
  const shown = visible(name, 100);
  if (!isHeaderName(name)) {
    return failure(
      'SUB_REMOTE_HEADER',
      `\`${shown}\` is no name of a header.`,
      'Write it as `Name: value`.',
    );
  }
  if (isOwnHeader(name)) {
    return failure(
      'SUB_REMOTE_HEADER',
      `The header \`${shown}\` is written by \`sub\` itself.`,
      'Leave it out.',
    );
  }
  const trimmed = value.trim();
  if (HEADER_VALUE.test(trimmed)) return [name, trimmed];
  const message = `The value of the header \`${shown}\` has characters that no header can have.`;
  return failure('SUB_REMOTE_HEADER', message, 'Write it on one line, without control characters.');
}
