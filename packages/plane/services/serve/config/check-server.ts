// One entry of `servers`: an address or a command, and nothing that belongs to the other.
import type { ServeFileServer } from '@subluminal/contracts';
import type { Path, SourceFinding } from '@subluminal/core/source';
import { quote } from '@subluminal/core/visible';
import { isHeaderName, isLoopback, isOwnHeader } from '../../transports/http/address.ts';

type ReportFinding = (finding: SourceFinding) => void;

const CODE = 'SUB_SERVE_VALUE';
const OF_URL = [
  ...(['transport', 'headers', 'header_env', 'bearer_env', 'pass_token'] as const),
  'login',
] as const;
const OF_COMMAND = ['env', 'cwd'] as const;
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Whether the entry can be used; what is wrong is reported. */
export function checkServer(server: ServeFileServer, path: Path, report: ReportFinding): boolean {
  const isRemote = server.url !== undefined;
  if (isRemote === (server.command !== undefined)) {
    const message = 'a server has either `url` or `command`';
    const fix = isRemote ? 'Remove one of them.' : 'Add one of them.';
    report({ code: CODE, path, message, fix });
    return false;
  }
  for (const field of isRemote ? OF_COMMAND : OF_URL) {
    if (server[field] === undefined) continue;
    const message = `\`${field}\` means nothing for a server with \`${isRemote ? 'url' : 'command'}\``;
    report({ code: CODE, path: [...path, field], atKey: true, message, fix: 'Remove it.' });
  }
  if (server.pass_token === true && server.login !== undefined) {
    const message = '`login` means nothing where the token of the caller is passed on';
    report({ code: CODE, path: [...path, 'login'], atKey: true, message, fix: 'Remove one.' });
  }
  if (server.url !== undefined) checkUrl(server.url, [...path, 'url'], report);
  checkHeaders(server, path, report);
  return true;
}

function checkUrl(text: string, path: Path, report: ReportFinding): void {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    const message = `${quote(text)} is no http or https URL`;
    return report({
      code: CODE,
      path,
      message,
      fix: 'Write it like `https://mcp.example.com/mcp`.',
    });
  }
  if (url.username !== '' || url.password !== '') {
    const fix = 'Use `bearer_env` or `header_env`.';
    return report({ code: CODE, path, message: 'a URL holds no credentials here', fix });
  }
  if (url.protocol === 'http:' && !isLoopback(url.href)) {
    const message = 'calls and tokens would travel unencrypted';
    report({ code: CODE, path, level: 'warning', message, fix: 'Use https where you can.' });
  }
}

function checkHeaders(server: ServeFileServer, path: Path, report: ReportFinding): void {
  const named = [
    ...Object.entries(server.headers ?? {}).map((entry) => ['headers', ...entry] as const),
    ...Object.entries(server.header_env ?? {}).map((entry) => ['header_env', ...entry] as const),
  ];
  for (const [field, name, value] of named) {
    const at = { code: CODE, path: [...path, field, name] } as const;
    if (!isHeaderName(name)) {
      report({
        ...at,
        atKey: true,
        message: `${quote(name)} is no name of a header`,
        fix: 'Correct it.',
      });
    } else if (isOwnHeader(name)) {
      const message = `the transport writes the header ${quote(name)} itself`;
      report({ ...at, atKey: true, message, fix: 'Remove it.' });
    } else if (field === 'headers' && !HEADER_VALUE.test(value)) {
      report({ ...at, message: 'the value cannot stand in a header', fix: 'Use ASCII alone.' });
    } else if (field === 'headers' && name.toLowerCase() === 'authorization') {
      const message = 'a credential does not belong into this file';
      report({ ...at, message, fix: 'Use `bearer_env` or `header_env`.' });
    } else if (field === 'header_env' && !VARIABLE.test(value)) {
      report({ ...at, message: `${quote(value)} is no name of a variable`, fix: 'Correct it.' });
    }
  }
}
