// Live: calls as they happen, the search, the recorder, keys alone, hostile text.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifies } from '../requirements.ts';
import { openBrowser, openPage, overflow, PHONE, seriousFindings } from './browser.ts';
import { PageHome } from './page-home.ts';
import { RecordedRun } from './recorded-run.ts';

const MINUTE_MS = 60_000;
const startMs = Date.now() - 60 * MINUTE_MS;

let browser: Browser;
let home: PageHome;
const run = new RecordedRun({ runId: 'run-1', startMs });
beforeAll(async () => {
  [browser, home] = await Promise.all([openBrowser(), PageHome.start()]);
  for (let at = 0; at < 40; at++) {
    const isRefused = at % 8 === 0;
    run.call({
      tool: at % 2 === 0 ? 'read_file' : 'git_log',
      args: { path: `/srv/app/file-${at}.ts` },
      afterMs: MINUTE_MS,
      ...(isRefused && { action: 'BLOCK', ruleId: 'no-env' }),
    });
  }
  run.turn();
  await home.record(run);
});
afterAll(async () => {
  await browser.close();
  await home.stop();
});

function rows(page: Page) {
  return page.getByRole('grid', { name: 'Calls' }).locator('[data-row]');
}

async function openLive(query = '') {
  const { page, troubles } = await openPage(browser);
  await home.open(page, `live${query}`);
  await rows(page).first().waitFor();
  return { page, troubles };
}

function row(page: Page, callId: string, runId = 'run-1') {
  return page.locator(`[data-row="${runId} ${callId}"]`);
}

/** The words of the connection stand there once it is open. */
async function isLive(page: Page) {
  await page
    .getByRole('status')
    .filter({ hasText: /^live$/ })
    .waitFor();
}

describe('live', () => {
  test('a call appears without a reload, and its end in the same row', async () => {
    verifies('SL-12', 'T-G');
    const { page, troubles } = await openLive();
    await isLive(page);
    const other = new RecordedRun({ runId: 'run-2', agentId: 'writer', startMs: Date.now() });
    other.call({ tool: 'deploy', args: { path: '/srv/live.ts' }, isPending: true, afterMs: 0 });
    await home.record(other);
    const added = row(page, 'c1', 'run-2');
    await added.waitFor();
    expect(await added.textContent()).toContain('path=/srv/live.ts');
    expect(await added.textContent()).toContain('running');
    expect(await rows(page).first().getAttribute('data-row')).toBe('run-2 c1');
    other.endPending();
    await home.record(other);
    await added.filter({ hasText: '5 ms' }).waitFor();
    expect(await added.textContent()).not.toContain('running');
    expect(await added.count()).toBe(1);
    expect(troubles).toEqual([]);
  });

  test('new calls wait while the list is paused or scrolled, and a pill brings them', async () => {
    const { page } = await openLive('?since=all');
    await isLive(page);
    await page.keyboard.press('Space');
    await page
      .getByRole('status')
      .filter({ hasText: /^paused$/ })
      .waitFor();
    const other = new RecordedRun({ runId: 'run-3', startMs: Date.now() });
    const first = other.call({ afterMs: 0 });
    other.call({ afterMs: 1 });
    await home.record(other);
    const pill = page.getByRole('button', { name: '2 new' });
    await pill.waitFor();
    expect(await row(page, first, 'run-3').count()).toBe(0);
    await pill.click();
    await row(page, first, 'run-3').waitFor();
    await page.getByRole('button', { name: 'Go on (space)' }).click();
    const grid = page.getByRole('grid', { name: 'Calls' });
    await grid.hover();
    await page.mouse.wheel(0, 280);
    await expect
      .poll(() =>
        page.evaluate<number>('document.querySelector("[role=grid]").parentElement.scrollTop'),
      )
      .toBeGreaterThan(200);
    const before = await page.locator('[data-row="run-1 c20"]').boundingBox();
    const late = other.call({ afterMs: 2 });
    await home.record(other);
    await page.getByRole('button', { name: '1 new' }).waitFor();
    expect(await page.locator('[data-row="run-1 c20"]').boundingBox()).toEqual(before);
    await page.getByRole('button', { name: '1 new' }).click();
    await row(page, late, 'run-3').waitFor();
  });

  test('the search filters as it is typed, completes, and says what is wrong', async () => {
    const { page } = await openLive();
    await page.keyboard.press('/');
    const field = page.getByRole('combobox', { name: 'Search calls' });
    await page.keyboard.type('deci');
    await page.getByRole('option', { name: /^decision:/ }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.keyboard.type('ref');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Tab');
    expect(await field.inputValue()).toBe('decision:refused ');
    // The list is in the way of what was found.
    await page.getByRole('listbox').waitFor({ state: 'detached' });
    await page.keyboard.press('ArrowDown');
    await page.getByRole('option', { name: /^tool:/ }).waitFor();
    await expect.poll(() => rows(page).count()).toBe(5);
    await page.keyboard.type('tool:read');
    await page.getByRole('option', { name: 'read_file' }).waitFor();
    await page.keyboard.type('_* ');
    await expect.poll(() => rows(page).count()).toBe(5);
    await page.keyboard.insertText('nonsense:x ');
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').textContent()).toContain('There is no filter nonsense');
    await expect.poll(() => rows(page).count()).toBe(5);
    await page.keyboard.press('Escape');
    expect(await page.locator('[role=combobox]:focus').count()).toBe(0);
    expect(new URL(page.url()).searchParams.get('q')).toContain('decision:refused');
    await field.fill('model:claude-*');
    await page.getByText('No call fits.').waitFor();
    await page.getByRole('button', { name: 'Clear the search' }).click();
    await rows(page).first().waitFor();
  });

  test('the recorder goes back and forward in time', async () => {
    const { page } = await openLive('?since=1h');
    await expect
      .poll(() => page.locator('[data-part=bars] path').first().getAttribute('d'))
      .toMatch(/^M/);
    const track = await page.locator('[data-part=track]').boundingBox();
    const bars = await page.locator('[data-part=bars]').boundingBox();
    if (track === null || bars === null) throw new Error('There is no recorder.');
    const newest = await rows(page).first().getAttribute('data-row');
    await page.mouse.move(track.x + track.width - 2, track.y + 8);
    await page.mouse.down();
    await page.mouse.move(track.x + track.width * 0.8, track.y + 8, { steps: 3 });
    await page.mouse.move(track.x + track.width * 0.5, track.y + 8, { steps: 6 });
    // While it is dragged, the list follows.
    await row(page, 'c40').waitFor({ state: 'detached' });
    await row(page, 'c20').waitFor();
    await page.mouse.up();
    await page.waitForURL(/at=\d+/);
    const slider = page.getByRole('slider', { name: 'Moment shown' });
    await slider.focus();
    for (let step = 0; step < 3; step++) await page.keyboard.press('Shift+ArrowRight');
    await row(page, 'c36').waitFor();
    await page.reload();
    await row(page, 'c36').waitFor();
    expect(await row(page, 'c40').count()).toBe(0);
    await page.getByRole('button', { name: 'Live', exact: true }).click();
    await page.locator(`[data-row="${newest}"]`).waitFor();
    // A span of the histogram narrows the range.
    await page.mouse.move(bars.x + bars.width * 0.3, bars.y + 20);
    await page.mouse.down();
    await page.mouse.move(bars.x + bars.width * 0.5, bars.y + 20, { steps: 4 });
    await page.mouse.up();
    await page.waitForURL(/from=\d+&to=\d+/);
    await row(page, 'c40').waitFor({ state: 'detached' });
    expect(await rows(page).count()).toBeGreaterThan(5);
    await page.goBack();
    await row(page, 'c40').waitFor();
  });

  test('keys alone are enough', async () => {
    const { page, troubles } = await openLive('?q=run:run-1');
    for (const key of ['j', 'j', 'k', 'j']) await page.keyboard.press(key);
    await page.keyboard.press('Enter');
    await page.waitForURL(/panel=call%2Frun-1%2Fc40/);
    await page.getByRole('complementary', { name: 'Detail' }).waitFor();
    await page.keyboard.press('j');
    await page.waitForURL(/panel=call%2Frun-1%2Fc39/);
    await page.keyboard.press('Escape');
    await page.getByRole('complementary', { name: 'Detail' }).waitFor({ state: 'detached' });
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(troubles).toEqual([]);
  });
});

const HOSTILE = [
  '<img src=x onerror=alert(1)>',
  '</script><script>alert(2)</script>',
  '"><svg onload=alert(3)>',
  'javascript:alert(4)',
  '\u001B[2J\u001B]8;;http://evil.example\u0007link',
  '\u202Eexe.txt\u2066hidden\u2069',
  'nul\u0000here\u200B\uFEFF',
  `long ${'x'.repeat(7_000)}`,
];

test('hostile text stays text', async () => {
  const evil = new RecordedRun({ runId: 'evil', agentId: '<b>agent</b>', startMs: Date.now() });
  for (const [at, text] of HOSTILE.entries()) {
    const name = text.slice(0, 200);
    evil.call({
      server: at % 2 === 0 ? name : 'files',
      tool: at % 2 === 0 ? 'read' : name,
      args: { path: text, [name]: text },
      result: at === 0 ? 'y'.repeat(15_000) : text.slice(0, 4_000),
      summary: name,
      ...(at % 2 === 0 && { action: 'BLOCK', ruleId: 'r' }),
      afterMs: 1,
    });
  }
  await home.record(evil);
  const { page, troubles } = await openLive('?q=run:evil');
  await expect.poll(() => rows(page).count()).toBe(HOSTILE.length);
  const made = 'main img, main script, main svg[onload], main b, main a[href*=evil]';
  expect(await page.locator(made).count()).toBe(0);
  const text = (await page.getByRole('grid').textContent()) ?? '';
  expect(text).toContain('<img src=x onerror=alert(1)>');
  expect(text).toMatch(/␛\[2J/);
  // oxlint-disable-next-line no-control-regex -- That is what must not be there.
  expect(text).not.toMatch(/[\u0000-\u0008\u001B\u202E\u2066\u200B\uFEFF]/);
  await page.getByRole('combobox', { name: 'Search calls' }).fill(`"${HOSTILE[0] ?? ''}"`);
  await expect.poll(() => rows(page).count()).toBe(1);
  for (const key of ['Escape', 'j', 'Enter']) await page.keyboard.press(key);
  await page.getByRole('complementary', { name: 'Detail' }).waitFor();
  expect(await page.locator('aside img, aside script, aside b').count()).toBe(0);
  expect(troubles).toEqual([]);
});

test.each(['light', 'dark'] as const)('axe finds nothing serious in %s', async (colorScheme) => {
  const { page } = await openPage(browser, { colorScheme });
  await home.open(page, 'live?q=decision:refused');
  await rows(page).first().waitFor();
  expect(await page.locator('html').getAttribute('data-theme')).toBe(colorScheme);
  expect(await seriousFindings(page)).toEqual([]);
});

test('it fits on a phone', async () => {
  const { page } = await openPage(browser, { viewport: PHONE });
  await home.open(page, 'live');
  await rows(page).first().waitFor();
  expect(await overflow(page)).toBe(0);
  await rows(page).first().click();
  await page.getByRole('complementary', { name: 'Detail' }).waitFor();
});
