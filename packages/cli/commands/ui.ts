import { isFailure, LEDGER_ROLE } from '@subluminal/contracts';
import { openBrowser } from '../auth/open-browser.ts';
import { defineCommand, orThrow, printout } from '../input/command.ts';
import { loginLink, pageOff } from '../ledger/login-link.ts';
import { startDaemon } from '../ledger/start-daemon.ts';
import { findLedger } from '../ledger/user-ledger.ts';
import { harmlessLine } from '../terminal/text.ts';

export const command = defineCommand({
  description:
    'Opens the page of this machine in the browser: live calls, runs, approvals, policy and more. Starts the daemon of the ledger when none runs, and lets it stay. The link logs in one browser, once, within two minutes.',
  options: {
    'no-open': 'Open no browser: only print the link',
    role: {
      kind: 'choice',
      values: LEDGER_ROLE.values,
      doc: 'What the page may do: `owner` (everything, the default) or `viewer` (only look)',
    },
  },
  requires: 'terminal',
  examples: ['sub ui', 'sub ui --role viewer', 'sub ui --no-open --json'],
  exitCodes: {
    0: 'the link is printed',
    2: 'wrong flags, no person at a terminal, no daemon, or no page',
  },
  run: async ({ options }) => {
    const home = orThrow(await findLedger());
    const { role = 'owner' } = options;
    const off = pageOff(home);
    if (off !== undefined) return off;
    const { status } = orThrow(await startDaemon(home));
    const link = await loginLink(home, status, role);
    if (isFailure(link)) return link;
    const { url, expires_at_ms } = link;
    const opened = !options['no-open'] && (await openBrowser(url));
    const how = opened
      ? 'The page opens in the browser. If none has opened, open this link:'
      : 'Open this link in a browser; it works once, within two minutes:';
    return printout({ url, role, expires_at_ms, opened }, `${how}\n${harmlessLine(url)}`);
  },
});
