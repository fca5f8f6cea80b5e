// The frame of the page: login, views, keys, themes, roles.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBrowser, openPage, overflow, PHONE, seriousFindings } from './browser.ts';
import { PageHome } from './page-home.ts';

let browser: Browser;
let home: PageHome;
beforeAll(async () => {
  [browser, home] = await Promise.all([openBrowser(), PageHome.start()]);
});
afterAll(async () => {
  await browser.close();
  await home.stop();
});

describe('the page', () => {
  test('is opened by a link that works once, and stays open after a reload', async () => {
    const { page, troubles } = await openPage(browser);
    const link = await home.loginLink();
    await page.goto(link);
    await page.getByRole('navigation', { name: 'Views' }).waitFor();
    await page.waitForURL(`${home.url}/live`);
    await page.reload();
    await page.getByRole('navigation', { name: 'Views' }).waitFor();
    // A link of another site may say anything.
    const odd = ['live?panel=%25', 'runs?compare=%25E0', 'runs/%E0%A4', 'approvals?tab=__proto__'];
    for (const address of odd) {
      await page.goto(`${home.url}/${address}`);
      await page.getByRole('navigation', { name: 'Views' }).waitFor();
    }
    await page.getByRole('heading', { name: 'Approvals', exact: true }).waitFor();
    const other = await openPage(browser);
    await other.page.goto(home.url);
    await other.page.getByText('This browser is not logged in').waitFor();
    await other.page.goto(link);
    await other.page.getByRole('alert').waitFor();
    expect(await other.page.getByText('sub ui', { exact: true }).isVisible()).toBe(true);
    expect(troubles).toEqual([]);
  });

  test('shows every view by keys alone', async () => {
    const { page, troubles } = await openPage(browser);
    await home.open(page, 'live');
    const views = {
      r: 'Runs',
      a: 'Approvals',
      p: 'Policy',
      s: 'Servers',
      c: 'Cost',
      d: 'Ledger',
      l: 'Live',
    };
    for (const [key, title] of Object.entries(views)) {
      await page.keyboard.press('g');
      await page.keyboard.press(key);
      await page.locator('[aria-current=page]', { hasText: title }).waitFor();
    }
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).getByText('Go to Hints').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(troubles).toEqual([]);
  });

  test('says that its daemon is gone, and goes on by itself when it is back', async () => {
    const { page } = await openPage(browser);
    await home.open(page, 'live');
    await page.getByText('No calls in this time.').waitFor();
    await home.stopDaemon();
    await page.getByText('The daemon does not answer').waitFor();
    // Its files were not asked for before.
    await page.getByRole('link', { name: 'Runs' }).click();
    await page.getByRole('button', { name: 'Reload the page' }).waitFor();
    await home.startDaemon();
    await page.getByText('No runs yet.').waitFor();
    expect(await page.getByText('The daemon does not answer').count()).toBe(0);
  });

  test('asks for a login when the session has ended', async () => {
    const { page, troubles } = await openPage(browser);
    await home.open(page, 'settings');
    await page.context().clearCookies();
    await page.keyboard.press('g');
    await page.keyboard.press('r');
    await page.getByText('sub ui', { exact: true }).waitFor();
    await page.goto(await home.loginLink());
    await page.getByRole('navigation', { name: 'Views' }).waitFor();
    expect(troubles).toEqual([]);
  });

  test.each(['light', 'dark'] as const)(
    'has no serious finding of axe in %s',
    async (colorScheme) => {
      const { page } = await openPage(browser, { colorScheme });
      await home.open(page, 'settings');
      expect(await seriousFindings(page)).toEqual([]);
    },
  );

  test('fits on a phone', async () => {
    const { page } = await openPage(browser, { viewport: PHONE });
    await home.open(page, 'settings');
    expect(await overflow(page)).toBe(0);
  });
});
