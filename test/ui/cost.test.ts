// What model calls cost, at a gateway and on the own machine; and what a gateway's page shows and changes beside it.
import { join } from 'node:path';
import { GATEWAY_ENDPOINTS, type GatewayRole } from '@subluminal/contracts';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ROOT } from '../e2e/sub.ts';
import { verifies } from '../requirements.ts';
import { openBrowser, openPage, overflow, PHONE, seriousFindings } from './browser.ts';
import { type DemoGateway, startDemoGateway } from './demo-gateway.ts';
import { PageHome } from './page-home.ts';
import { RecordedRun } from './recorded-run.ts';

let browser: Browser;
let demo: DemoGateway;
beforeAll(async () => {
  browser = await openBrowser();
  demo = await startDemoGateway({ pages: join(ROOT, 'packages', 'web', 'dist') });
});
afterAll(async () => {
  await demo.close();
  await browser.close();
});

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const row = (page: Page, table: string, name: RegExp) =>
  page.getByRole('table', { name: table }).getByRole('row', { name });

async function logIn(page: Page, role: GatewayRole): Promise<void> {
  await page.goto(demo.url);
  await page.getByLabel('log in with your API key').fill(demo.keys[role]);
  await button(page, 'Log in').click();
  await page.getByRole('navigation', { name: 'Views' }).waitFor();
}

async function statusOf(key: string): Promise<number> {
  const target = demo.url + GATEWAY_ENDPOINTS.whoami.path;
  return (await fetch(target, { headers: { authorization: `Bearer ${key}` } })).status;
}

describe('at a gateway', () => {
  test('an admin sees what was spent, budgets and how a turn fell back', async () => {
    verifies('R-P1.7');
    const { page, troubles } = await openPage(browser);
    await page.goto(demo.url);
    await page.getByLabel('API key').fill('sk-sub-of-nobody');
    await button(page, 'Log in').click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByText('sub ui', { exact: true }).count()).toBe(0);
    await logIn(page, 'platform_admin');

    // By team over the last month; one team by its people.
    await page.keyboard.press('g');
    await page.keyboard.press('c');
    await page.getByRole('combobox', { name: 'Time' }).selectOption('30d');
    await page.getByRole('figure', { name: 'Cost by team over time' }).waitFor();
    await row(page, 'Cost by team', /Platform \$\d/).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('link', { name: 'Payments' }).click();
    await row(page, 'Cost by person', /linus/).waitFor();
    expect(await row(page, 'Cost by person', /ada/).count()).toBe(0);
    await page.goBack();
    await row(page, 'Cost by team', /Web and design/).waitFor();
    for (const group of ['repository', 'model', 'provider', 'task', 'rule']) {
      const label = `${group[0]?.toUpperCase()}${group.slice(1)}`;
      await page.getByLabel('Group by').selectOption({ label });
      await row(page, `Cost by ${group}`, /\$\d/).nth(2).waitFor();
    }

    await page.getByRole('link', { name: 'Budgets' }).click();
    await row(page, 'Budgets', /Payments.*warns/).waitFor();
    const bar = row(page, 'Budgets', /Payments/).getByRole('img');
    expect(await bar.getAttribute('aria-label')).toMatch(
      /^\$352\.\d\d settled and \$\d\d\.\d\d reserved of \$400\.00, warns from \$320\.00$/,
    );
    expect(await seriousFindings(page)).toEqual([]);

    // The latest routing, by keys: what was lost, and the trace of the turn that fell back.
    await page.getByRole('link', { name: 'Routing' }).click();
    await page.getByLabel('Only with a loss or an error').check();
    await page
      .getByRole('row', { name: /answered gpt-5\.4-mini.*▲ cache_control/ })
      .first()
      .waitFor();
    await page
      .getByRole('row', { name: /■ upstream_5xx claude-sonnet-4-6/ })
      .first()
      .click();
    const attempts = page.getByRole('region', { name: 'Attempts' }).getByRole('listitem');
    await attempts.first().getByText('Next in the chain: openai-prod gpt-5.5').waitFor();
    expect(await attempts.allTextContents()).toEqual([
      expect.stringMatching(/^1claude-sonnet-4-6atanthropic-prod■ upstream_5xx/),
      expect.stringMatching(/^2gpt-5\.5atopenai-prod● answered.*\$0\.12.*18,000 tokens in/),
    ]);
    expect(page.url()).toContain(encodeURIComponent(`trace/${demo.traces.fellBack}`));
    await page.getByRole('region', { name: 'Events' }).getByText('P-ROUTE-002').first().waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await attempts.first().waitFor({ state: 'detached' });

    // A turn that waits leads to its trace as well.
    await page.getByRole('link', { name: 'Approvals' }).click();
    await page.getByRole('row', { name: /linus/ }).click();
    await page.getByRole('region', { name: 'The turn' }).getByRole('link').last().click();
    await page.getByRole('region', { name: 'Events' }).getByText('approval_pending').waitFor();
    expect(troubles).toEqual([]);
  });

  test('the audit is searched and read to its end, page by page', async () => {
    const { page, troubles } = await openPage(browser);
    await logIn(page, 'platform_admin');
    await page.keyboard.press('g');
    await page.keyboard.press('d');
    const count = page.getByRole('search').getByRole('status');
    await count.getByText(/\d+\+ events/).waitFor();
    for (;;) {
      const before = (await count.textContent()) ?? '';
      if (!before.includes('+')) break;
      await page.evaluate("document.querySelector('[role=grid]').parentElement.scrollTo(0, 1e9)");
      await count.getByText(before, { exact: true }).waitFor({ state: 'detached' });
    }
    // Three weeks of turns, and what the people of the demo did.
    expect(Number.parseInt((await count.textContent()) ?? '', 10)).toBeGreaterThan(510);
    await page.keyboard.press('/');
    await page.keyboard.type('turn_blocked');
    await count.getByText('1 events').waitFor();
    await page.getByRole('row', { name: /turn_blocked margaret/ }).click();
    await page.getByText('It was sent to no provider.').waitFor();
    expect(page.url()).toContain('type=turn_blocked');
    expect(await seriousFindings(page)).toEqual([]);
    expect(troubles).toEqual([]);
  });

  test('an admin invites, changes a role and tests a webhook', async () => {
    const { page, troubles } = await openPage(browser);
    await logIn(page, 'platform_admin');
    await page.goto(`${demo.url}/settings?tab=people`);
    await page.getByLabel('User', { exact: true }).fill('barbara');
    await button(page, 'Invite').click();
    const dialog = page.getByRole('dialog', { name: 'Invite for barbara' });
    expect(await dialog.locator('code').textContent()).toMatch(/^\S{20,}$/);
    await button(page, 'Close').click();
    await row(page, 'Invites', /barbara developer ada/).waitFor();
    await button(page, 'Take back the invite of barbara').click();
    await row(page, 'Invites', /barbara/).waitFor({ state: 'detached' });

    expect(await page.getByLabel('Role of ada').isDisabled()).toBe(true);
    await page.getByLabel('Role of margaret').selectOption('team_admin');
    await page.getByText('is developer and becomes team_admin').waitFor();
    await button(page, 'Change role').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(() => page.getByLabel('Role of margaret').inputValue()).toBe('team_admin');
    expect(await seriousFindings(page)).toEqual([]);

    await page.getByRole('link', { name: 'Webhooks' }).click();
    await button(page, 'Test alerts').click();
    await page.getByText('● Delivered').waitFor();
    const hook = (await row(page, 'Webhooks', /alerts/).textContent()) ?? '';
    await page.getByLabel('Address, which').fill(/http\S+\/hook/.exec(hook)?.[0] ?? '');
    await page.getByLabel('Where the shared secret is').fill('env://DEMO_HOOK_SECRET');
    await page.getByLabel('policy_violation').check();
    await button(page, 'Add webhook').click();
    const added = row(page, 'Webhooks', /policy_violation API/);
    await added.getByRole('button', { name: 'Remove' }).click();
    await button(page, 'Remove').click();
    await added.waitFor({ state: 'detached' });
    expect(await seriousFindings(page)).toEqual([]);
    expect(troubles).toEqual([]);
  });

  test('a developer sees their own alone, makes a key that is shown once, and revokes it', async () => {
    const { page, troubles } = await openPage(browser, {
      viewport: PHONE,
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await logIn(page, 'developer');
    for (const view of ['cost?tab=routing', 'cost?tab=budgets', 'audit', 'settings', 'cost']) {
      await page.goto(`${demo.url}/${view}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      expect(await overflow(page), view).toBe(0);
    }
    await row(page, 'Cost by repository', /payments-core/).waitFor();
    const groups = await page.getByLabel('Group by').getByRole('option').allTextContents();
    expect(groups).toEqual(['Repository', 'Model', 'Provider', 'Task', 'Rule']);

    await page.goto(`${demo.url}/settings?tab=keys`);
    await page.getByLabel('Name, to tell keys apart').fill('<b>ci</b>\u202e');
    await button(page, 'Make a key').click();
    const dialog = page.getByRole('dialog', { name: 'New API key' });
    const key = (await dialog.locator('code').textContent()) ?? '';
    await dialog.getByRole('button', { name: 'Copy' }).click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(key);
    expect(await statusOf(key)).toBe(200);
    await button(page, 'Close').click();
    await page.getByText(key).waitFor({ state: 'detached' });
    const made = row(page, 'API keys', /<b>ci<\/b>\\u\{202e\}/);
    await made.getByRole('button', { name: 'Revoke' }).click();
    expect(await seriousFindings(page)).toEqual([]);
    await button(page, 'Revoke').click();
    await made.waitFor({ state: 'detached' });
    expect(await statusOf(key)).toBe(401);
    const tabs = page.getByRole('navigation', { name: 'Parts of Settings' }).getByRole('link');
    expect(await tabs.allTextContents()).toEqual(['Page', 'API keys']);
    expect(await overflow(page)).toBe(0);
    expect(troubles).toEqual([]);
  });
});

describe('on the own machine', () => {
  let home: PageHome;
  beforeAll(async () => {
    home = await PageHome.start();
  });
  afterAll(() => home.stop());

  test('the cost of recorded turns is shown, and the session can be ended', async () => {
    const { page, troubles } = await openPage(browser);
    await home.open(page, 'cost');
    await page.getByText('No turns in this time.').waitFor();
    const run = new RecordedRun({ runId: 'run-1', agentId: 'fixer', startMs: Date.now() - 60_000 });
    run.turn({ model: 'claude-opus-4-6', costMicros: 1_500_000 });
    run.turn({ provider: 'openai', model: '<img src=x onerror=alert(1)>', costMicros: 500_000 });
    await home.record(run.end());
    await page.reload();
    await row(page, 'Cost by model', /anthropic\/claude-opus-4-6 \$1\.50 75\.0 % 1/).waitFor();
    await row(page, 'Cost by model', /openai\/<img src=x onerror=alert\(1\)> \$0\.50/).waitFor();
    await page.getByText('$2.00', { exact: true }).waitFor();
    await page.getByText('sub stats --by model --from 7d').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByLabel('Group by').selectOption('run');
    await page.getByRole('combobox', { name: 'Time' }).selectOption('24h');
    await row(page, 'Cost by run', /run-1 \$2\.00/)
      .getByRole('link')
      .click();
    expect(new URL(page.url()).pathname).toBe('/runs/run-1');

    await page.keyboard.press('g');
    await page.keyboard.press(',');
    await page.getByLabel('Dark').check();
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
    expect(await page.getByText('owner', { exact: true }).isVisible()).toBe(true);
    expect(await seriousFindings(page)).toEqual([]);
    await button(page, 'Log out').click();
    await page.getByText('sub ui', { exact: true }).waitFor();
    expect(await page.getByLabel('API key').count()).toBe(0);
    expect(troubles).toEqual([]);
  });
});
