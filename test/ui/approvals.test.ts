// Approvals on the page: a real agent under `sub run` waits, and goes on when somebody decides in the browser.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isFailure } from '@subluminal/contracts';
import { openDesk } from '@subluminal/plane/approvals';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { runAgent } from '../e2e/run-agent.ts';
import { ended, ROOT, startSub } from '../e2e/sub.ts';
import { verifies } from '../requirements.ts';
import { openBrowser, openPage, overflow, PHONE, seriousFindings } from './browser.ts';
import { startDemoGateway } from './demo-gateway.ts';
import { PageHome } from './page-home.ts';

const POLICY = `policy_id: asking
version: "1"
mode: control
defaults: { decision_on_error: BLOCK }
selectors: {}
rules:
  - rule_id: ask-echo
    kind: approval
    enabled: true
    severity: warn
    match: { tool_name: { glob: ["echo"] } }
    effect: { message: Echoing needs a person., approval: { wait: hold, timeout_ms: 600000 } }
`;
const EDIT = { file_path: 'src/limits.ts', old_string: 'max = 10', new_string: 'max = 20' };

let browser: Browser;
let home: PageHome;
beforeAll(async () => {
  browser = await openBrowser();
  home = await PageHome.start((folder) => {
    mkdirSync(join(folder, 'work'));
    writeFileSync(join(folder, 'policy.yaml'), POLICY);
  });
});
afterAll(async () => {
  await browser.close();
  await home.stop();
});

/** A governed agent that echoes these, one after the other; what it prints at its end. */
function agentThatEchoes(...messages: readonly string[]) {
  const calls = messages.map((message) => ['files', 'echo', { message, ...EDIT }] as const);
  const words = ['run', '--policy', join(home.folder, 'policy.yaml'), '--agent-id', 'coder', '--'];
  const child = startSub([...words, ...runAgent({ servers: ['files'], calls })], {
    cwd: join(home.folder, 'work'),
    env: home.env,
  });
  const end = ended(child);
  // A test that failed leaves no call that waits to the next one.
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await end;
  });
  return end;
}

const call = (page: Page) => page.getByRole('region', { name: 'The call' });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

test('a held call is decided on the page, and the agent goes on', async () => {
  const { page, troubles } = await openPage(browser);
  const other = await openPage(browser);
  await home.open(page, 'approvals');
  await home.open(other.page, 'approvals', 'viewer');
  await page.getByText('No call waits for you.').waitFor();

  // The first waits; it appears without a reload, with all that there is to know.
  const agent = agentThatEchoes('one', 'two', 'three');
  await call(page).getByRole('heading', { name: 'files/echo' }).waitFor();
  await call(page).getByText('Echoing needs a person.').waitFor();
  await call(page).getByText('max = 20').first().waitFor();
  await call(page).getByRole('link', { name: 'ask-echo' }).waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await other.page.getByText('This page may only look.').waitFor();
  expect(await button(other.page, 'Approve').count()).toBe(0);
  const third = await openPage(browser);
  await home.open(third.page, 'live');
  await third.page.getByRole('row', { name: /ask files\/echo/ }).waitFor();

  // By keys alone, with a step to confirm; what was decided can be seen in another tab.
  const question = page.getByRole('dialog', { name: 'Approve this call?' });
  await page.keyboard.press('a');
  await question.waitFor();
  await page.keyboard.press('Escape');
  // Not only closed: the page must have heard of it.
  await page.locator('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('a');
  await question.waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('status').getByText('Approved.').waitFor();
  await call(other.page).getByText('approved').waitFor();

  // A grant is shown in words before it is given.
  await page.getByRole('link', { name: 'Next call that waits' }).click();
  await button(page, 'Grant…').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('With exactly').or(dialog.getByText('With these')).first().waitFor();
  await dialog.getByLabel('For a time').check();
  await dialog.getByLabel('Some may differ').check();
  await dialog.getByLabel('What message may be').selectOption('anything');
  await dialog.getByLabel('What file_path may be').selectOption('like');
  await dialog.getByLabel('What file_path must be like').fill('lib/*');
  await dialog.getByRole('alert').waitFor();
  expect(await button(page, 'Approve and grant').isDisabled()).toBe(true);
  await dialog.getByLabel('What file_path must be like').fill('src/*');
  await dialog.getByText('file_path is a text like src/*').waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await button(page, 'Approve and grant').click();
  await page.getByRole('status').getByText('Approved.').waitFor();
  // The third is covered by it.
  expect((await agent).stdout).toContain('agent: ["ok","ok","ok"]');

  // The grant is taken back; what was decided is listed.
  await page.getByRole('link', { name: 'Grants' }).click();
  await page.getByRole('row', { name: /active.*files\/echo/ }).click();
  await button(page, 'Revoke').click();
  await page.getByRole('row', { name: /revoked.*files\/echo/ }).waitFor();
  await page.getByRole('link', { name: 'History' }).click();
  const decided = page.getByRole('row', { name: /approved.*files\/echo/ });
  await decided.nth(1).waitFor();
  expect(await decided.count()).toBe(2);
  expect([...troubles, ...other.troubles]).toEqual([]);
});

test('on a phone, one is rejected with a note by large buttons, and a second is told that it was too late', async () => {
  const { page, troubles } = await openPage(browser, { viewport: PHONE, hasTouch: true });
  await home.open(page, 'approvals');
  const agent = agentThatEchoes('one');
  await page.getByRole('row', { name: /files\/echo/ }).tap();
  await button(page, 'Reject').waitFor();
  for (const name of ['Reject', 'Grant…', 'Approve']) {
    const box = await button(page, name).boundingBox();
    expect(box?.height).toBeGreaterThanOrEqual(44);
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeGreaterThan(PHONE.height * 0.8);
  }
  expect(await overflow(page)).toBe(0);
  expect(await seriousFindings(page)).toEqual([]);

  // Somebody else's page does not hear of the decision, as with a lost connection.
  const late = await openPage(browser);
  await home.open(late.page, new URL(page.url()).pathname.slice(1));
  await button(late.page, 'Approve').waitFor();
  await late.page.routeWebSocket(/.*/, () => undefined);
  await late.page.route('**/api/v1/approvals*', (route) => route.abort());
  await late.page.route(/\/api\/v1\/approvals\/[^/]+$/, (route) => route.abort());

  await page.getByLabel('Note').fill('Not today.');
  await button(page, 'Reject').tap();
  await page.getByRole('status').getByText('Rejected.').waitFor();
  expect((await agent).stdout).toContain('agent: ["BLOCK"]');
  await late.page.getByLabel('Note').fill('Fine.');
  await button(late.page, 'Approve').click();
  await late.page.getByText('Nothing was changed: it had ended before you decided.').waitFor();
  await late.page.getByText('Not today.').first().waitFor();
  expect([...troubles, ...late.troubles]).toEqual([]);
});

test('at a gateway, an admin of the team approves a turn that waits, and a developer cannot', async () => {
  verifies('R-P1.7');
  const demo = await startDemoGateway({ pages: join(ROOT, 'packages', 'web', 'dist') });
  try {
    const opened = await Promise.all(
      (['team_admin', 'developer'] as const).map(async (role) => {
        const { page, troubles } = await openPage(browser, { colorScheme: 'dark' });
        await page.goto(demo.url);
        await page.getByLabel('log in with your API key').fill(demo.keys[role]);
        await button(page, 'Log in').click();
        await page.getByRole('link', { name: 'Approvals' }).click();
        await page.getByRole('row', { name: /linus/ }).click();
        return { page, troubles };
      }),
    );
    const [admin, developer] = opened;
    if (admin === undefined || developer === undefined) throw new Error('two pages');
    await developer.page.getByText('An admin of the team can approve or reject it.').waitFor();
    await admin.page.getByText('Opus needs a second pair of eyes.').first().waitFor();
    expect(await seriousFindings(admin.page)).toEqual([]);
    await button(admin.page, 'Approve').click();
    expect((await demo.waiting)?.status).toBe(200);
    await developer.page.getByText('approved').first().waitFor();
    // What the policy makes of a turn is explained to them.
    await admin.page.getByRole('link', { name: 'Policy' }).click();
    await button(admin.page, 'Explain').click();
    await admin.page.getByText('require_approval').first().waitFor();
    expect(await seriousFindings(admin.page)).toEqual([]);
    expect(opened.flatMap(({ troubles }) => troubles)).toEqual([]);
  } finally {
    await demo.close();
  }
});

test('what an agent says of its call, and what was thought of it, stands beside the call', async () => {
  const ports = { nowMs: Date.now, uuid: () => crypto.randomUUID() };
  const desk = openDesk({ home: join(home.folder, '.subluminal'), ports });
  if (isFailure(desk)) throw new Error(desk.message);
  const hash = 'a'.repeat(64);
  const asked = desk.queue.ask({
    call: {
      run_id: 'run-1',
      call_id: 'call-1',
      server: 'email',
      tool: 'send',
      args_hash: hash,
      policy_hash: hash,
      rule_id: 'gate:judgement',
      args: { to: 'bob@example.com' },
      args_complete: true,
      risk: [],
      reason: 'The call was judged.',
    },
    agent: { agent_id: 'steward', client: 'custom', env: 'dev' },
    wait: 'hold',
    timeoutMs: 60_000,
    askedBy: { pid: process.pid, start: 'now' },
    about: {
      reasoning: 'The invoice is due. <b>Trust me.</b>',
      task: 'bills',
      channel: 'telegram',
      request: 'Pay my bills.',
      judgements: [{ by: 'egress', verdict: 'ESCALATE_TO_HUMAN', reason: 'a stranger' }],
    },
  });
  if (asked.kind !== 'asked') throw new Error(JSON.stringify(asked));
  onTestFinished(() => {
    desk.queue.end(asked.id, { state: 'cancelled', by: 'test', channel: 'test' });
  });
  const { page, troubles } = await openPage(browser);
  await home.open(page, 'approvals');
  await call(page).getByRole('heading', { name: 'email/send' }).waitFor();
  for (const text of ['Pay my bills.', '<b>Trust me.</b>', 'escalate to human: a stranger']) {
    await call(page).getByText(text).waitFor();
  }
  expect(await seriousFindings(page)).toEqual([]);
  expect(troubles).toEqual([]);
});
