// The policy on the page: what its rules did, and how it is changed, tried and saved.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { runAgent } from '../e2e/run-agent.ts';
import { runSub } from '../e2e/sub.ts';
import { openBrowser, openPage, overflow, PHONE, seriousFindings } from './browser.ts';
import { PageHome } from './page-home.ts';
import { RecordedRun } from './recorded-run.ts';

const rule = (id: string, tool: string) => `  - rule_id: ${id}
    kind: deny
    enabled: true
    severity: warn
    match: { tool_name: { glob: ["${tool}"] } }
    effect: { action: BLOCK, reason_code: NO, message: Not here. }
`;
const POLICY = `policy_id: house
version: "1"
mode: control
defaults: { decision_on_error: BLOCK }
selectors: {}
rules:
${rule('no-delete', 'delete_*')}`;
const STRICTER = POLICY.replace('version: "1"', 'version: "2"') + rule('no-sums', 'get-sum');
const TESTS = `policy: policy.yaml
tests:
  - name: sums are refused
    call: { server_name: files, tool_name: get-sum, args: { a: 1, b: 2 } }
    expect: { decision: BLOCK, rule: no-sums }
`;

let browser: Browser;
let home: PageHome;
let file = '';
beforeAll(async () => {
  browser = await openBrowser();
  home = await PageHome.start((folder) => {
    mkdirSync(join(folder, 'work'));
    file = join(folder, '.subluminal', 'policy.yaml');
    writeFileSync(file, POLICY, { mode: 0o600 });
  });
  const run = new RecordedRun({ runId: 'run-1', startMs: Date.now() - 60_000 });
  run.call({ tool: 'delete_repo', action: 'BLOCK', ruleId: 'no-delete', summary: 'Not here.' });
  run.call({ tool: 'get-sum', args: { a: 1, b: 2 } });
  await home.record(run.end());
});
afterAll(async () => {
  await browser.close();
  await home.stop();
});
beforeEach(() => writeFileSync(file, POLICY, { mode: 0o600 }));

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const editor = (page: Page) => page.getByRole('textbox', { name: 'Policy text' });
const tool = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Tools' }).getByRole('link', { name }).click();

test('the active policy stands there with what its rules did, and a viewer only looks', async () => {
  const { page, troubles } = await openPage(browser);
  await home.open(page, 'policy', 'viewer');
  await page.getByRole('row', { name: /no-delete.*1/ }).waitFor();
  const line = page.getByRole('listitem').filter({ hasText: 'rule_id: no-delete' });
  await line.getByText(/1 hit,/).waitFor();
  expect(await page.getByRole('link', { name: 'Edit' }).count()).toBe(0);
  await page.goto(`${home.url}/policy?tab=edit`);
  await page.getByRole('row', { name: /no-delete/ }).waitFor();
  expect(await editor(page).count()).toBe(0);
  expect(await seriousFindings(page)).toEqual([]);
  expect(troubles).toEqual([]);
});

test('a policy is edited, linted, tested, compared, replayed and saved, and the next run follows it', async () => {
  const { page, troubles } = await openPage(browser);
  await home.open(page, 'policy?tab=edit');
  // What is wrong is told while one types, and leads to its line.
  await editor(page).fill(POLICY.replace('kind: deny', 'kind: denny'));
  const problem = page.getByRole('button', { name: /error.*8:/ }).first();
  await problem.waitFor();
  expect(await button(page, 'Save policy…').isDisabled()).toBe(true);
  await problem.click();
  expect(await page.evaluate('document.activeElement.selectionStart')).toBe(
    POLICY.split('\n').slice(0, 7).join('\n').length + 1,
  );
  // What is typed outlives a reload.
  await editor(page).fill(STRICTER);
  page.removeAllListeners('dialog');
  page.on('dialog', (dialog) => void dialog.accept());
  await page.reload();
  await page.getByText('Not saved.').waitFor();
  expect(await editor(page).inputValue()).toBe(STRICTER);

  await tool(page, 'Tests');
  await page.getByLabel('Tests, as').fill(TESTS);
  await button(page, 'Run tests').click();
  await page.getByText('1 passed, 0 failed').waitFor();
  await editor(page).fill(POLICY);
  await page.getByText('The policy has been edited since').waitFor();
  await editor(page).fill(STRICTER);
  await tool(page, 'Diff');
  await page.getByText('tightens').first().waitFor();
  await tool(page, 'Replay');
  await button(page, 'Replay').click();
  await page.getByText(/2 calls of 1 run decided again: .*1 stricter/).waitFor();
  await page.getByRole('link', { name: 'files/get-sum' }).waitFor();
  expect(await seriousFindings(page)).toEqual([]);

  // The last look, then it is saved; by keys alone.
  await button(page, 'Save policy…').press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Save this policy?' });
  await dialog.getByText('1 stricter').waitFor();
  await dialog.getByRole('button', { name: 'Save policy' }).press('Enter');
  await page.getByText(/^Saved\./).waitFor();
  expect(readFileSync(file, 'utf8')).toBe(STRICTER);
  const calls = [['files', 'get-sum', { a: 1, b: 2 }]] as const;
  const words = ['run', '--', ...runAgent({ servers: ['files'], calls })];
  const agent = await runSub(words, { cwd: join(home.folder, 'work'), env: home.env });
  expect(agent.stdout).toContain('agent: ["BLOCK"]');
  expect(troubles).toEqual([]);
});

test('a file that changed meanwhile is not overwritten, and the text stays', async () => {
  const { page } = await openPage(browser, { viewport: PHONE });
  await home.open(page, 'policy?tab=edit');
  await editor(page).fill(STRICTER);
  await page.getByText('Not saved.').waitFor();
  await button(page, 'Save policy…').click();
  const dialog = page.getByRole('dialog');
  const save = dialog.getByRole('button', { name: 'Save policy' });
  await expect.poll(() => save.isEnabled()).toBe(true);
  const other = POLICY.replace('house', 'changed');
  writeFileSync(file, other);
  await save.click();
  await dialog.getByRole('alert').waitFor();
  await page.keyboard.press('Escape');
  await page.getByText('The file changed since you began to edit it.').waitFor();
  expect(await editor(page).inputValue()).toBe(STRICTER);
  expect(readFileSync(file, 'utf8')).toBe(other);
  expect(await overflow(page)).toBe(0);
  await button(page, 'Keep my text').click();
  await page.getByText('Not saved.').waitFor();
  await tool(page, 'Suggest');
  await button(page, 'Suggest from calls').click();
  await button(page, 'Replace the edited text').click();
  await expect.poll(() => editor(page).inputValue()).not.toBe(STRICTER);
  await button(page, 'Discard').click();
  expect(await editor(page).inputValue()).toBe(other);
});
