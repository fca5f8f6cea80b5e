// `sub auth`: who we are to remote servers.
import { isFailure } from '@subluminal/contracts';
import { ensurePrivateFolder, isClientId, isScope } from '@subluminal/plane/config';
import { logout as endGrant, type Grant, readGrants, startLogin } from '@subluminal/plane/oauth';
import { openVault } from '@subluminal/plane/vault';
import { type AuthTarget, withTarget } from '../auth/auth-home.ts';
import { awaitAnswer } from '../auth/await-answer.ts';
import { openBrowser } from '../auth/open-browser.ts';
import {
  badUsage,
  defineCommand,
  EXIT,
  type OptionValues,
  optional,
  orThrow,
  printout,
  textOption,
  textsOption,
} from '../input/command.ts';
import { protectionText, tryOpen, withSecrets } from '../secrets/secrets-home.ts';
import type { Io } from '../terminal/io.ts';
import { warn } from '../terminal/report-failure.ts';
import { tableText } from '../terminal/table.ts';
import { harmlessLine, plural } from '../terminal/text.ts';

const SERVER_DOC = 'The name of the server, as a client has it';
const URL_OPTION = textOption('URL', 'The address of the server, where no config names it');
const CONFIG_OPTION = textOption('FILE', 'A config of `sub serve` that names the server');
const PRINCIPAL_OPTION = textOption(
  'ID',
  'The caller of `sub serve` whose login it is (default: you)',
);
const NO_AUTH =
  'wrong flags, no such server, an authorization server that cannot be used, or a store that cannot be opened';
const ASKS = 'asks';
const TIMEOUT_S = 300;
const TIMEOUT_S_MAX = 3_600;

const LOGIN_OPTIONS = {
  url: URL_OPTION,
  config: CONFIG_OPTION,
  scope: textsOption('SCOPE', 'What to ask for beside what was granted; may be given again'),
  'client-id': textOption('ID', 'The id of a client that you have registered'),
  principal: PRINCIPAL_OPTION,
  'no-browser': 'Open no browser: print the address, and take the one that you paste',
  timeout: textOption('SECONDS', `How long to wait for the browser (default: ${TIMEOUT_S})`),
};

export const login = defineCommand({
  description:
    'Finds the authorization server of a remote server, opens the browser there, and keeps the tokens that you are granted in the store of secrets. Shims and `sub serve` use and renew them. Scopes that were granted before are asked for again.',
  args: { server: SERVER_DOC },
  options: LOGIN_OPTIONS,
  examples: [
    'sub auth login linear',
    'sub auth login tickets --url https://mcp.example.com/mcp --scope tickets:write',
    'sub auth login linear --no-browser',
  ],
  exitCodes: { 0: 'you are logged in', 2: NO_AUTH },
  requires: 'person',
  run: async ({ args, options }, io) => {
    const { server } = args;
    const { url, config, 'client-id': clientId } = options;
    const scopes = options.scope.flatMap((one) => one.split(' ')).filter((one) => one !== '');
    if (!scopes.every(isScope)) {
      return badUsage('--scope has what is no scope.', 'Write scopes, separated by spaces.');
    }
    if (clientId !== undefined && !isClientId(clientId)) {
      return badUsage('--client-id is no id of a client.', 'Write it as it was registered.');
    }
    const timeoutS = Number(options.timeout ?? TIMEOUT_S);
    if (!Number.isInteger(timeoutS) || timeoutS < 1 || timeoutS > TIMEOUT_S_MAX) {
      return badUsage('--timeout is no time.', `Write seconds, from 1 to ${TIMEOUT_S_MAX}.`);
    }
    return withTarget(io, { server, url, config, clientId }, async (target) => {
      // Before the browser: what it brings must find its place.
      await tryOpen(target.home.options);
      orThrow(ensurePrivateFolder(target.home.home));
      const grant = await loggedIn(target, { ...options, scopes, timeoutS }, io);
      await warnUnopened(target, io);
      return printout(grantDocument(grant), harmlessLine(loginText(grant)));
    });
  },
});

interface LoginWish extends OptionValues<typeof LOGIN_OPTIONS> {
  readonly scopes: readonly string[];
  readonly timeoutS: number;
}

async function loggedIn(target: AuthTarget, wish: LoginWish, io: Io): Promise<Grant> {
  const { server, url, settings, parts, home } = target;
  const { scopes, principal = '', timeoutS } = wish;
  const started = orThrow(await startLogin({ server, url, principal, scopes, settings }, parts));
  try {
    const asked = started.scopes.length === 0 ? '' : ` for: ${started.scopes.join(' ')}`;
    const width = Math.max(server.length, ASKS.length);
    io.err.write(harmlessLine(`${server.padEnd(width)}  ${url}`));
    io.err.write(harmlessLine(`${ASKS.padEnd(width)}  ${started.issuer}${asked}`));
    const isOpen = !wish['no-browser'] && (await openBrowser(started.url));
    const how = isOpen
      ? 'Log in in the browser. If none has opened, open this address:'
      : 'Open this address in a browser, and log in. On another machine it ends at a page that does not load: copy the address of that page.';
    io.err.write(`${how}\n${harmlessLine(started.url)}`);
    const way = { io, person: home.person, timeoutMs: timeoutS * 1_000, takesPaste: !isOpen };
    return orThrow(await started.finish(orThrow(await awaitAnswer(started, way))));
  } finally {
    started.close();
  }
}

/** Shims have nobody to ask for a passphrase. */
async function warnUnopened({ home: { options, home } }: AuthTarget, io: Io): Promise<void> {
  if (options.passphraseFile) return;
  const opened = await openVault(options);
  if (opened === undefined || isFailure(opened)) return;
  opened.close();
  if (opened.protection !== 'passphrase') return;
  const how = 'set secrets.passphrase_file, or run `sub secrets rotate --key --protect keychain`';
  warn(io, `shims cannot open the store, because ${protectionText('passphrase', home)}: ${how}.`);
}

function loginText({ server, expiresAtMs, refreshToken }: Grant): string {
  const renewed = refreshToken === undefined ? 'then log in again' : 'and is renewed by itself';
  const ends =
    expiresAtMs === undefined ? '' : ` The token ends ${endText(expiresAtMs)}, ${renewed}.`;
  return `Logged in to ${server}.${ends}`;
}

const MINUTE_MS = 60_000;

function endText(atMs: number): string {
  const minutes = Math.round((atMs - Date.now()) / MINUTE_MS);
  if (minutes < 0) return 'already';
  return minutes < 120 ? `in ${plural(minutes, 'minute')}` : `at ${minuteText(atMs)}`;
}

function minuteText(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 16).replace('T', ' ');
}

/** Never a token. */
function grantDocument(grant: Grant) {
  const { expiresAtMs, obtainedAtMs, refreshToken } = grant;
  return {
    server: grant.server,
    url: grant.url,
    principal: grant.principal === '' ? null : grant.principal,
    issuer: grant.issuer,
    client_id: grant.client.id,
    scopes: grant.scopes,
    obtained_at: new Date(obtainedAtMs).toISOString(),
    expires_at: expiresAtMs === undefined ? null : new Date(expiresAtMs).toISOString(),
    refreshable: refreshToken !== undefined,
  };
}

const COLUMNS = [
  { title: 'SERVER', widthMin: 12 },
  { title: 'ADDRESS', widthMin: 20 },
  { title: 'FOR', dropped: 1 },
  { title: 'SCOPES', widthMin: 12 },
  'TOKEN ENDS',
  'RENEWED',
];

export const status = defineCommand({
  description:
    'Lists where you are logged in: the address, the scopes, when the token ends, and whether it is renewed by itself. Never shows a token.',
  args: { server: optional('Only this server') },
  examples: ['sub auth status', 'sub auth status linear --json'],
  exitCodes: {
    0: 'the list is printed; it may be empty',
    1: 'you are not logged in to the server that you named',
    2: NO_AUTH,
  },
  run: async ({ args }, io) => {
    return withSecrets(io, async ({ options }) => {
      const all = orThrow(await readGrants(options));
      const grants = all.filter(({ server }) => args.server === '' || server === args.server);
      const document = { logins: grants.map(grantDocument) };
      if (grants.length === 0) {
        const where = args.server === '' ? 'anywhere' : `to ${args.server}`;
        const exitCode = args.server === '' ? EXIT.fine : EXIT.findings;
        return printout(document, harmlessLine(`You are not logged in ${where}.`), exitCode);
      }
      const rows = grants.map((grant) => {
        const { server, url, principal, scopes, expiresAtMs, refreshToken } = grant;
        const ends = expiresAtMs === undefined ? 'unknown' : endText(expiresAtMs);
        const who = principal === '' ? 'you' : principal;
        return [
          server,
          url,
          who,
          scopes.join(' '),
          ends,
          refreshToken === undefined ? 'no' : 'yes',
        ];
      });
      return printout(document, tableText(COLUMNS, rows, { width: io.out.columns }));
    });
  },
});

export const logout = defineCommand({
  description:
    'Revokes the tokens at the authorization server, where it offers that, and forgets them. They are forgotten also where it cannot be told; then the command says so.',
  args: { server: SERVER_DOC },
  options: { url: URL_OPTION, config: CONFIG_OPTION, principal: PRINCIPAL_OPTION },
  examples: ['sub auth logout linear'],
  exitCodes: { 0: 'you are not logged in any more', 2: NO_AUTH },
  requires: 'person',
  run: async ({ args, options }, io) => {
    const { server } = args;
    const { url: given, config, principal = '' } = options;
    return withTarget(io, { server, url: given, config }, async ({ url, settings, parts }) => {
      const ended = orThrow(await endGrant({ url, principal }, settings, parts));
      if (ended === undefined) {
        const text = `You are not logged in to ${server}.`;
        return printout({ logged_out: false, revoked: false, issuer: null }, harmlessLine(text));
      }
      const { issuer, notRevoked } = ended;
      const isRevoked = notRevoked === undefined;
      if (!isRevoked) warn(io, `the tokens may still be valid: ${notRevoked}.`);
      const told = isRevoked
        ? 'The tokens are revoked and forgotten.'
        : 'The tokens are forgotten.';
      const text = harmlessLine(`Logged out of ${server}. ${told}`);
      return printout({ logged_out: true, revoked: isRevoked, issuer }, text);
    });
  },
});
