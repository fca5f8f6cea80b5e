// `npm run bench -- ui`: the page over a ledger of 100,000 calls, in a real browser: the first view, scrolling,
// memory, the size of the bundle, and how soon a call is seen.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { openBrowser, openPage } from '../test/ui/browser.ts';
import { PageHome } from '../test/ui/page-home.ts';
import { RecordedRun } from '../test/ui/recorded-run.ts';
import { goalLine, leastLine, percentile, readBenchOptions, UsageError } from './measure.ts';
import { isBuilt } from './stdio/ways.ts';

interface PageFigures {
  readonly calls: number;
  /** From the navigation to the first rows on the screen, nothing in the browser's cache. */
  readonly firstViewMs: number;
  readonly frames: FrameFigures;
  /** The same with all rows in memory. */
  readonly framesWhenFull: FrameFigures;
  readonly rowsLoaded: number;
  readonly heapMb: number;
  readonly bundleKb: number;
  /** From the request that records a call to its row on the screen. */
  readonly seenMs: number;
}

interface FrameFigures {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  /** Of the frames that took less than 20 ms. */
  readonly share: number;
}

const CALLS = 100_000;
const CALLS_MAX = 1_000_000;
const CALLS_PER_RUN = 1_000;
const CALL_MS = 700;
const REFUSED_EACH = 12;
const WHEELS = 240;
const WHEEL_PX = 600;
const SEEN = 20;
const DIST = fileURLToPath(new URL('../packages/web/dist', import.meta.url));
const SCROLLER = 'document.querySelector("[role=grid]").parentElement';

async function fill(home: PageHome, calls: number): Promise<void> {
  const startMs = Date.now() - calls * CALL_MS;
  for (let first = 0; first < calls; first += CALLS_PER_RUN) {
    const made = new RecordedRun({ runId: `run-${first}`, startMs: startMs + first * CALL_MS });
    for (let at = first; at < Math.min(calls, first + CALLS_PER_RUN); at++) {
      const isRefused = at % REFUSED_EACH === 0;
      made.call({
        tool: `tool_${at % 40}`,
        args: { path: `/srv/app/src/module-${at % 500}/file-${at}.ts`, limit: at },
        afterMs: CALL_MS - 12,
        ...(isRefused && { action: 'BLOCK', ruleId: 'no-env' }),
      });
    }
    await home.record(made.end());
  }
}

/** Notes when the first row is painted: the second frame after it came into the document. */
const NOTE_FIRST_ROW = `new MutationObserver((_, observer) => {
  if (document.querySelector('[data-row]') === null) return;
  observer.disconnect();
  requestAnimationFrame(() => requestAnimationFrame(() => { globalThis.firstRowMs = performance.now(); }));
}).observe(document, { childList: true, subtree: true });`;

async function firstView(page: Page, home: PageHome): Promise<number> {
  await home.open(page, 'settings');
  // Logging in has loaded the same files.
  const session = await page.context().newCDPSession(page);
  await session.send('Network.clearBrowserCache');
  await page.addInitScript(NOTE_FIRST_ROW);
  await page.goto(`${home.url}/live?since=all`);
  await page.locator('[data-row]').first().waitFor();
  return page.evaluate<number>(`new Promise((resolve) => {
    const look = () => globalThis.firstRowMs ? resolve(globalThis.firstRowMs) : requestAnimationFrame(look);
    look();
  })`);
}

async function scrolled(page: Page): Promise<FrameFigures> {
  await page.evaluate(`{
    globalThis.frames_ms = [];
    let last = performance.now();
    const note = (now) => {
      globalThis.frames_ms.push(now - last);
      last = now;
      if (!globalThis.isScrolled) requestAnimationFrame(note);
    };
    globalThis.isScrolled = false;
    requestAnimationFrame(note);
  }`);
  await page.getByRole('grid').hover();
  for (let wheel = 0; wheel < WHEELS; wheel++) await page.mouse.wheel(0, WHEEL_PX);
  const all = await page.evaluate<number[]>('(globalThis.isScrolled = true, globalThis.frames_ms)');
  const framesMs = Float64Array.from(all.slice(1)).toSorted();
  const totalMs = framesMs.reduce((sum, ms) => sum + ms, 0);
  return {
    perSecond: (framesMs.length * 1_000) / totalMs,
    p50Ms: percentile(framesMs, 50),
    p95Ms: percentile(framesMs, 95),
    share: framesMs.filter((ms) => ms < 20).length / framesMs.length,
  };
}

/** Scrolls to the end until there is no more; gives how many rows there are. */
async function loadAll(page: Page, calls: number): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => {
    const grid = document.querySelector('[role=grid]');
    let [rows, sameMs] = [0, performance.now()];
    const step = () => {
      ${SCROLLER}.scrollTop = ${SCROLLER}.scrollHeight;
      const now = Number(grid.getAttribute('aria-rowcount')) - 1;
      if (now !== rows) [rows, sameMs] = [now, performance.now()];
      if (rows >= ${Math.min(calls, CALLS)} || performance.now() - sameMs > 5000) resolve(rows);
      else requestAnimationFrame(step);
    };
    step();
  })`);
}

async function heapMb(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  return usedSize / 1e6;
}

function bundleKb(): number {
  const files = readdirSync(DIST, { recursive: true, encoding: 'utf8' });
  const sizes = files
    .filter((file) => /\.(?:js|css)$/.test(file))
    .map((file) => gzipSync(readFileSync(join(DIST, file))).length);
  return sizes.reduce((sum, bytes) => sum + bytes, 0) / 1_000;
}

async function seenMs(page: Page, home: PageHome): Promise<number> {
  await page.evaluate(`${SCROLLER}.scrollTop = 0`);
  await page
    .getByRole('status')
    .filter({ hasText: /^live$/ })
    .waitFor();
  const times: number[] = [];
  for (let at = 0; at < SEEN; at++) {
    const made = new RecordedRun({ runId: `seen-${at}`, startMs: Date.now() });
    const key = JSON.stringify(
      `[data-row="seen-${at} ${made.call({ afterMs: 0, latencyMs: 0 })}"]`,
    );
    const seen = page.evaluate<number>(`new Promise((resolve) => {
      const look = () => document.querySelector(${key}) === null
        ? requestAnimationFrame(look)
        : requestAnimationFrame(() => resolve(Date.now()));
      look();
    })`);
    const startMs = Date.now();
    await home.record(made);
    times.push((await seen) - startMs);
  }
  return percentile(Float64Array.from(times).toSorted(), 50);
}

async function figuresOf(calls: number): Promise<PageFigures> {
  const [browser, home] = await Promise.all([openBrowser(), PageHome.start()]);
  try {
    await fill(home, calls);
    const { page } = await openPage(browser);
    const firstViewMs = await firstView(page, home);
    const seen = await seenMs(page, home);
    const frames = await scrolled(page);
    const rowsLoaded = await loadAll(page, calls);
    await page.evaluate(`${SCROLLER}.scrollTop = 0`);
    const framesWhenFull = await scrolled(page);
    const memory = { rowsLoaded, heapMb: await heapMb(page) };
    const sizes = { bundleKb: bundleKb(), ...memory };
    return { calls, firstViewMs, frames, framesWhenFull, seenMs: seen, ...sizes };
  } finally {
    await browser.close();
    await home.stop();
  }
}

function framesText(name: string, { perSecond, p50Ms, p95Ms, share }: FrameFigures): string {
  const times = `p50 ${p50Ms.toFixed(1)} ms, p95 ${p95Ms.toFixed(1)} ms`;
  return `  ${name}: ${perSecond.toFixed(0)} frames a second, ${times}, ${(share * 100).toFixed(0)} % under 20 ms\n`;
}

/** `--samples` is the number of calls in the ledger. */
export async function run(args: readonly string[]): Promise<void> {
  const { json, samples: calls } = readBenchOptions(args, CALLS);
  if (calls > CALLS_MAX) throw new UsageError(`--samples takes at most ${CALLS_MAX} calls here`);
  if (!isBuilt()) throw new UsageError('`sub` is not built: run `npm run build` first');
  const found = await figuresOf(calls);
  if (json) {
    process.stdout.write(`${JSON.stringify({ title: 'ui', ...found })}\n`);
    return;
  }
  process.stdout.write(
    [
      `The page over a ledger of ${calls} calls\n`,
      framesText('scrolling while rows are loaded', found.frames),
      framesText(`scrolling with ${found.rowsLoaded} rows in memory`, found.framesWhenFull),
      goalLine('first view, ms', found.firstViewMs, 1_500),
      leastLine(
        'frames a second',
        Math.min(found.frames.perSecond, found.framesWhenFull.perSecond),
        50,
      ),
      goalLine('JS heap, MB', found.heapMb, 200),
      goalLine('bundle, KB gzip', found.bundleKb, 250),
      goalLine('a recorded call is seen, ms', found.seenMs, 300),
    ].join(''),
  );
}
