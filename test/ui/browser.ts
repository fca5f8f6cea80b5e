// A real Chromium for the tests of the page: `CHROME_PATH`, or the one inside an npm package.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { ROOT } from '../e2e/sub.ts';

const CACHE = join(ROOT, 'node_modules', '.cache', 'subluminal');
const UNPACKED = join(CACHE, 'chromium');
/** Nothing but the page is asked for, and nobody may download anything. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** Several workers may come first: each unpacks into a folder of its own, and one of them stays. */
async function chromiumPath(): Promise<string> {
  const given = process.env['CHROME_PATH'];
  if (given !== undefined && given !== '') return given;
  const program = join(UNPACKED, 'chromium');
  if (existsSync(program)) return program;
  mkdirSync(CACHE, { recursive: true });
  const part = mkdtempSync(join(CACHE, 'chromium-'));
  const script = join(ROOT, 'test', 'ui', 'unpack-chromium.mjs');
  const env = { ...process.env, TMPDIR: part };
  await promisify(execFile)(process.execPath, [script], { env });
  try {
    renameSync(part, UNPACKED);
  } catch (cause) {
    rmSync(part, { recursive: true, force: true });
    if (!existsSync(program)) throw cause;
  }
  return program;
}

export async function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: await chromiumPath(), args: FLAGS });
}

export interface OpenPage {
  readonly page: Page;
  /** What went wrong in the page: errors, refused content, requests to somewhere else. */
  readonly troubles: readonly string[];
}

export const PHONE = { width: 390, height: 844 } as const;

/** A page of its own, as another person would have it. */
export async function openPage(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<OpenPage> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  const troubles: string[] = [];
  page.on('pageerror', (cause) => troubles.push(`error: ${cause.message}`));
  page.on('console', (message) => {
    // A refused request is shown by the page itself.
    const isRefusal = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isRefusal) troubles.push(`console: ${message.text()}`);
  });
  page.on('dialog', (dialog) => {
    troubles.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  let origin = '';
  page.on('request', (request) => {
    const { origin: asked, protocol } = new URL(request.url());
    if (request.isNavigationRequest() && origin === '') origin = asked;
    const isOurs = asked === origin || protocol === 'data:' || protocol === 'blob:';
    if (!isOurs) troubles.push(`request: ${request.url()}`);
  });
  return { page, troubles };
}

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly impact: string | null;
    readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
  }[];
}

/** What axe-core finds that keeps people out: serious and critical. */
export async function seriousFindings(page: Page): Promise<readonly string[]> {
  // By the debugger: the policy of the page allows no script from elsewhere.
  await page.evaluate(readFileSync(AXE, 'utf8'));
  const { violations } = await page.evaluate<AxeResult>('axe.run({ resultTypes: ["violations"] })');
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.slice(0, 3).map(({ html, failureSummary = '' }) => `${id}: ${html} ${failureSummary}`),
    );
}

/** By how many pixels the page is wider than its window. */
export async function overflow(page: Page): Promise<number> {
  return page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
}
