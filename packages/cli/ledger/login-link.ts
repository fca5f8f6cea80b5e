// A link that opens the page of a daemon once.
import { join } from 'node:path';
import {
  API_ENDPOINTS,
  API_ERROR,
  API_LOGIN_LINK,
  type Failure,
  failure,
  isObject,
  type LedgerRole,
  parseAs,
  tableFailure,
} from '@subluminal/contracts';
import type { LedgerHome } from '@subluminal/plane/daemon';
import type { LedgerStatus } from '@subluminal/plane/ingest';
import { parseJson, readPrivateFile } from '@subluminal/plane/os';
import manifest from '../package.json' with { type: 'json' };

export interface LoginLink {
  readonly kind: 'link';
  readonly url: string;
  readonly expires_at_ms: number;
}

const ASK_MS = 10_000;
const ADDRESS_BYTES_MAX = 65_536;
const ANOTHER = 'Run `sub ledgerd --stop`, then `sub ui`.';

/** Why no daemon of this configuration can serve the page. */
export function pageOff({ config }: LedgerHome): Failure | undefined {
  if (config['ledger.http'] !== 'off') return undefined;
  const message = 'the page has no address: `ledger.http` is "off".';
  const fix = 'Set it to "127.0.0.1:0", run `sub ledgerd --stop`, then `sub ui`.';
  return failure('SUB_UI_ADDRESS', message, fix);
}

/** Asks the daemon that runs. */
export async function loginLink(
  home: LedgerHome,
  { http, http_error, version }: LedgerStatus,
  role: LedgerRole,
): Promise<LoginLink | Failure> {
  if (http_error !== undefined) return tableFailure('SUB_UI_ADDRESS', http_error);
  if (http === undefined) {
    const message = 'the page has no address: the daemon was started without its HTTP API.';
    return failure('SUB_UI_ADDRESS', message, ANOTHER);
  }
  if (http.page === undefined) {
    if (version === manifest.version) return tableFailure('SUB_UI_PAGES');
    const message = `the daemon that runs is of version ${version}, which has no page.`;
    return failure('SUB_UI_ADDRESS', message, ANOTHER);
  }
  const token = tokenOf(home, http.url);
  if (token === undefined) {
    const message = `the token of ${http.url} cannot be read.`;
    return failure('SUB_UI_ADDRESS', message, ANOTHER);
  }
  return askForLink(http.url, token, role);
}

/** Only of the daemon that was asked for its address. */
function tokenOf({ paths }: LedgerHome, url: string): string | undefined {
  const limits = { bytesMax: ADDRESS_BYTES_MAX, isSecret: true };
  const read = readPrivateFile(join(paths.run, 'ledger.json'), limits);
  const address = read.kind === 'read' ? parseJson(read.bytes.toString('utf8')) : undefined;
  if (!isObject(address) || address['url'] !== url) return undefined;
  return typeof address['token'] === 'string' ? address['token'] : undefined;
}

async function askForLink(
  url: string,
  token: string,
  role: LedgerRole,
): Promise<LoginLink | Failure> {
  try {
    const response = await fetch(`${url}${API_ENDPOINTS.loginLink.path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ role }),
      redirect: 'error',
      signal: AbortSignal.timeout(ASK_MS),
    });
    const answer: unknown = await response.json();
    const link = parseAs(API_LOGIN_LINK, answer);
    if (response.ok && link.ok) {
      const { path, expires_at_ms } = link.value;
      return { kind: 'link', url: url + path, expires_at_ms };
    }
    const refused = parseAs(API_ERROR, answer);
    const why = refused.ok ? refused.value.error.message : `status ${response.status}`;
    return tableFailure('SUB_UI_ADDRESS', `The daemon gave no link: ${why}`);
  } catch (cause) {
    return tableFailure('SUB_UI_ADDRESS', `The daemon gave no link (${String(cause)}).`);
  }
}
