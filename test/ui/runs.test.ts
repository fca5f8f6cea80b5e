// Runs on the page: all of them, one as a timeline, one call, and two side by side.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runAgent } from '../e2e/run-agent.ts';
import { runSub } from '../e2e/sub.ts';
import { verifies } from '../requirements.ts';
import { openBrowser, openPage, overflow, PHONE, seriousFindings } from './browser.ts';
import { PageHome } from './page-home.ts';
import { RecordedRun } from './recorded-run.ts';

const POLICY = `policy_id: house
version: "1"
mode: control
defaults: { decision_on_error: BLOCK }
selectors: {}
rules:
  - rule_id: no-sums
    kind: deny
    enabled: true
    severity: warn
    match: { tool_name: { glob: ["get-sum"] } }
    effect: { action: BLOCK, reason_code: NO_SUMS, message: Sums are for people. }
`;
const EDIT = { file_path: 'src/limits.ts', old_string: 'max = 10', new_string: 'max = 20' };
const HOUR_MS = 3_600_000;

let browser: Browser;
let home: PageHome;
beforeAll(async () => {
  browser = await openBrowser();
  home = await PageHome.start((folder) => {
    mkdirSync(join(folder, 'work'));
    writeFileSync(join(folder, '.subluminal', 'policy.yaml'), POLICY);
  });
  await Promise.all([realRun(), home.record(recorded('before', 3), recorded('after', 5))]);
});
afterAll(async () => {
  await browser.close();
  await home.stop();
});

/** A governed agent: the same call twice, and one that is refused. */
async function realRun(): Promise<void> {
  const echo = ['files', 'echo', { message: 'hello', ...EDIT }] as const;
  const sum = ['files', 'get-sum', { a: 1, b: 2 }] as const;
  const agent = runAgent({ servers: ['files'], calls: [echo, echo, sum] });
  await runSub(['run', '--agent-id', 'coder', '--', ...agent], {
    cwd: join(home.folder, 'work'),
    env: home.env,
  });
}

/** With turns, an hour of idle time, and texts that are redacted and cut. */
function recorded(runId: string, writes: number): RecordedRun {
  const run = new RecordedRun({ runId, agentId: 'fixer', startMs: Date.now() - 3 * HOUR_MS });
  run.turn();
  // Nested more deeply than can be written.
  const result = '['.repeat(6_000) + ']'.repeat(6_000);
  run.call({ args: { token: '[REDACTED:github-token]' }, isTruncated: true, result });
  run.call({ action: 'REJECT_WITH_HINT', ruleId: 'use-rg', summary: 'Slow.', hint: 'Use rg.' });
  for (let at = 0; at < writes; at++) {
    const args = { path: `/srv/${at}`, content: 'x' };
    run.call({ server: 'git', tool: 'write_file', args, afterMs: at === 0 ? HOUR_MS : 500 });
  }
  return run.end();
}

const runRow = (page: Page, agent: string) => page.getByRole('row', { name: agent }).first();
const panel = (page: Page) => page.getByRole('complementary', { name: 'Detail' });
const part = (page: Page, title: string) =>
  panel(page).locator('details', { has: page.getByRole('heading', { name: title, exact: true }) });

test('a run is found, opened, and each of its calls explained and tried with another policy', async () => {
  verifies('SL-12', 'T-G', 'T-G.3');
  const { page, troubles } = await openPage(browser);
  await home.open(page, 'runs');
  await runRow(page, 'coder').waitFor();
  expect(await runRow(page, 'coder').innerText()).toMatch(/succeeded[\s\S]*coder[\s\S]*3\n1\n/);
  await runRow(page, 'fixer')
    .getByRole('img', { name: /calls, 1 refused/ })
    .waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await page.getByLabel('agent', { exact: true }).selectOption('coder');
  await runRow(page, 'fixer').waitFor({ state: 'detached' });
  expect(page.url()).toContain('agent=coder');

  // The run: lanes, and the same calls as a table.
  await runRow(page, 'coder').click();
  await page.getByRole('list', { name: 'Lanes' }).getByText('files').waitFor();
  await page.getByRole('img', { name: '3 calls in 1 lanes, 1 refused' }).waitFor();
  await page.getByRole('row', { name: /files\/echo.*↻ 2/ }).waitFor();
  await page.getByRole('row', { name: /block.*files\/get-sum.*no-sums/ }).click();

  // The call: why, by what, and as it was recorded.
  await panel(page).getByRole('heading', { name: 'files/get-sum' }).waitFor();
  await panel(page)
    .getByText(/^Why\? .*no-sums.*Sums are for people\./)
    .waitFor();
  await part(page, 'Gates and rules')
    .getByRole('row', { name: /no-sums deny decided/ })
    .waitFor();
  await part(page, 'Arguments').getByText('a: 1').waitFor();
  await part(page, 'Events').locator('summary').first().click();
  await part(page, 'Events').getByText('tool_call_decision').click();
  await part(page, 'Events').getByText('action: BLOCK').waitFor();
  expect(
    await panel(page)
      .getByText(/^sub show /)
      .innerText(),
  ).toMatch(/ --run /);

  // What another policy would have decided.
  await part(page, 'What if').locator('summary').click();
  const editor = panel(page).getByRole('textbox', { name: 'Policy to try' });
  await expect.poll(() => editor.inputValue()).toContain('no-sums');
  await editor.fill(POLICY.replace('get-sum', 'delete_*'));
  await panel(page).getByRole('button', { name: 'Try on this call' }).click();
  const result = panel(page).getByRole('region', { name: 'Result of the trial' });
  await result.getByText('Looser than what was decided.').waitFor();
  expect(await result.innerText()).toMatch(/block\s+no-sums\s+●\s+allow\s+no rule/);
  await result.getByRole('list', { name: 'Rules that changed' }).getByText('no-sums').waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  // What was tried is the draft of the editor.
  await panel(page).getByRole('link', { name: 'Open in Policy' }).click();
  await expect
    .poll(() => page.getByRole('textbox', { name: 'Policy text' }).inputValue())
    .toContain('delete_*');
  await page.goBack();

  // An edit of a file is shown as a diff; the panel closes, and back leads back.
  await page
    .getByRole('row', { name: /files\/echo/ })
    .first()
    .click();
  await part(page, 'File edits').getByText('max = 20').waitFor();
  await page.keyboard.press('Escape');
  await panel(page).waitFor({ state: 'detached' });
  await page.goBack();
  await panel(page).waitFor();
  expect(troubles).toEqual([]);
});

test('two runs are chosen and compared, and a call that is not whole says so, by keys alone', async () => {
  verifies('T-G.2');
  const { page, troubles } = await openPage(browser, { colorScheme: 'dark' });
  await home.open(page, 'runs');
  await runRow(page, 'fixer').waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('r');
  // The two recorded ones are older than the real one.
  for (const key of ['j', 'j', 'x', 'j', 'x']) await page.keyboard.press(key);
  await page.getByRole('button', { name: 'Compare 2 of 2' }).waitFor();
  await page.keyboard.press('c');
  const tools = page.getByRole('table', { name: 'Tools of both runs' });
  await tools.getByRole('row', { name: /git\/write_file.*[+−]2/ }).waitFor();
  const facts = page.getByRole('table', { name: 'Facts of both runs' });
  await facts.getByRole('row', { name: /Calls .*[+−]2/ }).waitFor();
  const order = page.getByRole('grid', { name: 'Order of calls' });
  await order
    .getByTitle(/^Only [AB]$/)
    .nth(1)
    .waitFor();
  expect(await order.getByTitle('Both', { exact: true }).count()).toBe(6);
  expect(await seriousFindings(page)).toEqual([]);

  // The second call of both.
  for (const key of ['j', 'j', 'Enter']) await page.keyboard.press(key);
  await part(page, 'Arguments').getByText('1 redacted').waitFor();
  await part(page, 'Arguments').getByText('not whole').waitFor();
  await part(page, 'Result').getByText('not whole').waitFor();
  // The panel follows.
  await page.keyboard.press('j');
  await part(page, 'Hint').getByText('Use rg.').waitFor();
  await panel(page)
    .getByRole('link', { name: /^(?:before|after)$/ })
    .press('Enter');
  await page.getByRole('heading', { name: 'fixer' }).waitFor();
  await page.getByRole('list', { name: 'Lanes' }).getByText('model').waitFor();
  await page.keyboard.press('+');
  await expect.poll(() => page.url()).toMatch(/from=\d+&to=\d+/);
  await page.keyboard.press('0');
  await expect.poll(() => page.url()).not.toContain('from=');
  expect(troubles).toEqual([]);
});

test('a run is followed while it goes on, and fits a phone', async () => {
  const { page, troubles } = await openPage(browser, { viewport: PHONE, hasTouch: true });
  const run = new RecordedRun({ runId: 'going', agentId: 'walker', startMs: Date.now() - 5_000 });
  run.call();
  await home.record(run);
  await home.open(page, 'runs');
  await runRow(page, 'walker').getByText('running').waitFor();
  expect(await overflow(page)).toBe(0);
  await runRow(page, 'walker').tap();
  await page.getByRole('img', { name: /^1 calls in 1 lanes/ }).waitFor();
  run.call({
    server: 'shell',
    tool: 'run',
    args: { command: 'ls' },
    action: 'BLOCK',
    ruleId: 'no-shell',
  });
  await home.record(run);
  await page.getByRole('img', { name: /^2 calls in 2 lanes, 1 refused/ }).waitFor();
  await page.getByRole('row', { name: /shell\/run/ }).tap();
  await panel(page).getByRole('heading', { name: 'shell/run' }).waitFor();
  expect(await overflow(page)).toBe(0);
  expect(await seriousFindings(page)).toEqual([]);
  await home.record(run.end('FAILED'));
  await panel(page).getByRole('button', { name: 'Close (Esc)' }).tap();
  await page.getByText('failed').waitFor();
  expect(troubles).toEqual([]);
});
