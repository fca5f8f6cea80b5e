// Pictures of each view, light and dark, from the data of the demo: docs/ui. The clock of the page stands still, so
// that "4m ago" is the same at every start.
//   npm run screenshots [-- NAME…]
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { ROOT } from '../e2e/sub.ts';
import { openBrowser, openPage, PHONE } from './browser.ts';
import { RELEASE_RUN } from './demo-day.ts';
import { startDemoGateway } from './demo-gateway.ts';
import { startDemoHome } from './demo-home.ts';
import { smallPng } from './small-png.ts';

interface Picture {
  readonly name: string;
  readonly address: string;
  /** What is seen when all is there. */
  readonly until: (page: Page) => Promise<unknown>;
  readonly isPhone?: boolean;
}

const OUT = join(ROOT, 'docs', 'ui');
const PAGES = join(ROOT, 'packages', 'web', 'dist');
const THEMES = ['light', 'dark'] as const;
/** What the page takes for now: a little after the last thing that has happened. */
const AHEAD_MS = 20_000;
const AFTERNOON = 15;

const row = (name: RegExp) => (page: Page) => page.getByRole('row', { name }).first().waitFor();
const text = (words: string | RegExp) => (page: Page) => page.getByText(words).first().waitFor();

/** The call that waits, with the diff of its edit. */
async function openEdit(page: Page): Promise<void> {
  await page.getByRole('row', { name: /edit_file/ }).click();
  await page.getByText('timeout-minutes: 60').first().waitFor();
}

/** A turn that one provider did not take, and another did. */
async function openTrace(page: Page): Promise<void> {
  await page
    .getByRole('row', { name: /gpt-5\.5/ })
    .first()
    .click();
  await page.getByRole('complementary').getByText('gpt-5.5').first().waitFor();
}

/** The file that waits, with its diff. */
async function openChange(page: Page): Promise<void> {
  await page.getByRole('row', { name: /team-day\.md/ }).click();
  await page.getByRole('table', { name: 'Changes' }).waitFor();
}

async function chatWaits(page: Page): Promise<void> {
  await page.getByRole('region', { name: 'Confirmation' }).getByText('du -sh').first().waitFor();
}

async function chatFromItsBeginning(page: Page): Promise<void> {
  await chatWaits(page);
  await page.getByRole('article', { name: 'You' }).first().scrollIntoViewIfNeeded();
}

const LEDGER: readonly Picture[] = [
  { name: 'live', address: 'live', until: row(/search_mail/) },
  {
    name: 'call',
    address: `live?q=decision%3Arefused&panel=call%2F${RELEASE_RUN}%2Fc7`,
    until: text('no-secret-files'),
  },
  { name: 'runs', address: 'runs', until: row(/release/) },
  { name: 'run', address: `runs/${RELEASE_RUN}`, until: row(/merge_pull_request/) },
  { name: 'approvals', address: 'approvals', until: openEdit },
  { name: 'policy', address: 'policy', until: row(/no-secret-files/) },
  { name: 'policy-edit', address: 'policy?tab=edit', until: text('policy_id') },
  { name: 'servers', address: 'servers', until: text('postgres') },
  { name: 'server', address: 'servers/postgres', until: text('list_tables') },
  { name: 'hints', address: 'hints', until: text('no-double-changes') },
  { name: 'cost', address: 'cost?range=24h', until: text('claude-opus-4-7') },
  { name: 'ledger', address: 'ledger', until: text('Verify') },
  { name: 'secrets', address: 'secrets', until: text('github_token') },
  { name: 'settings', address: 'settings', until: text('Logged in as') },
  { name: 'steward', address: 'steward', until: chatFromItsBeginning },
  { name: 'steward-memory', address: 'steward/memory', until: text('The team day is in Ghent.') },
  { name: 'steward-files', address: 'steward/files', until: openChange },
  { name: 'steward-monitor', address: 'steward/monitor', until: text('Injected instructions') },
  { name: 'steward-phone', address: 'steward', until: chatWaits, isPhone: true },
  { name: 'approvals-phone', address: 'approvals', until: openEdit, isPhone: true },
];
const GATEWAY: readonly Picture[] = [
  { name: 'gateway-cost', address: 'cost', until: text('payments') },
  { name: 'gateway-budgets', address: 'cost?tab=budgets', until: text('Payments') },
  { name: 'gateway-trace', address: 'cost?tab=routing', until: openTrace },
  { name: 'gateway-people', address: 'settings?tab=people', until: text('margaret') },
];

const asked = process.argv.slice(2);
const isAsked = ({ name }: Picture) => asked.length === 0 || asked.includes(name);
// What a view that is gone has left.
const old = asked.length === 0 ? readdirSync(OUT).filter((file) => file.endsWith('.png')) : [];
for (const file of old) rmSync(join(OUT, file));

const browser = await openBrowser();
try {
  if (LEDGER.some(isAsked)) await takeLedger(browser);
  if (GATEWAY.some(isAsked)) await takeGateway(browser);
} finally {
  await browser.close();
}

async function takeLedger(from: Browser): Promise<void> {
  const demo = await startDemoHome(Date.now());
  try {
    await takeAll(from, LEDGER, {
      url: demo.home.url,
      nowMs: Date.now() + AHEAD_MS,
      logIn: (page) => demo.home.open(page, 'approvals'),
    });
  } finally {
    await demo.close();
  }
}

async function takeGateway(from: Browser): Promise<void> {
  const demo = await startDemoGateway({ pages: PAGES });
  try {
    await takeAll(from, GATEWAY, {
      url: demo.url,
      nowMs: Date.now() + AHEAD_MS,
      logIn: async (page) => {
        await page.goto(demo.url);
        await page.getByLabel('API key').fill(demo.keys.platform_admin);
        await page.getByRole('button', { name: 'Log in' }).click();
        await page.getByRole('navigation', { name: 'Views' }).waitFor();
      },
    });
  } finally {
    await demo.close();
  }
}

interface Place {
  readonly url: string;
  readonly nowMs: number;
  readonly logIn: (page: Page) => Promise<unknown>;
}

async function takeAll(from: Browser, pictures: readonly Picture[], place: Place): Promise<void> {
  for (const theme of THEMES) {
    const { page, troubles } = await openPage(from, {
      colorScheme: theme,
      reducedMotion: 'reduce',
      timezoneId: zoneWhereItIs(AFTERNOON, place.nowMs),
    });
    await page.clock.setFixedTime(place.nowMs);
    await place.logIn(page);
    for (const picture of pictures.filter(isAsked)) await take(page, picture, { theme, place });
    await page.context().close();
    if (troubles.length > 0) throw new Error(troubles.join('\n'));
  }
}

async function take(
  page: Page,
  { name, address, until, isPhone = false }: Picture,
  { theme, place }: { readonly theme: string; readonly place: Place },
): Promise<void> {
  await page.setViewportSize(isPhone ? PHONE : { width: 1440, height: 900 });
  await page.goto(`${place.url}/${address}`);
  await until(page);
  await page.getByLabel(/^\d+ waiting$/).waitFor();
  // The chat always waits for news, so the network is never idle there.
  if (!name.startsWith('steward')) await page.waitForLoadState('networkidle');
  const picture = smallPng(await page.screenshot());
  writeFileSync(join(OUT, `${name}-${theme}.png`), picture);
  process.stdout.write(`${name}-${theme}.png ${Math.round(picture.length / 1024)} KB\n`);
}

/** The name of a time zone whose clocks show this hour: a working day looks like one. */
function zoneWhereItIs(hour: number, nowMs: number): string {
  const ahead = ((hour - new Date(nowMs).getUTCHours() + 36) % 24) - 12;
  return `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`;
}
