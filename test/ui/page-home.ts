// A real `sub ledgerd` with a home of its own, and links into its page.
import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { API_ENDPOINTS, type ApiLoginLink, type LedgerRole } from '@subluminal/contracts';
import type { Page } from 'playwright-core';
import { ended, ensureBuilt, startSub } from '../e2e/sub.ts';
import type { RecordedRun } from './recorded-run.ts';

interface ServedAt {
  readonly url: string;
  readonly token: string;
}

export class PageHome {
  readonly folder: string;
  /** For commands that shall use the same home. */
  readonly env: { readonly [name: string]: string };
  readonly #daemon: ChildProcess;
  readonly #served: ServedAt;

  private constructor(folder: string, daemon: ChildProcess, served: ServedAt) {
    this.folder = folder;
    this.env = environmentOf(folder);
    this.#daemon = daemon;
    this.#served = served;
  }

  /** `prepare` may put files into the home before the daemon starts. */
  static async start(prepare: (folder: string) => void = () => undefined): Promise<PageHome> {
    ensureBuilt();
    const folder = mkdtempSync(join(tmpdir(), 'sub-page-'));
    const run = join(folder, '.subluminal', 'run');
    mkdirSync(run, { recursive: true, mode: 0o700 });
    prepare(folder);
    const daemon = startSub(['ledgerd', '--foreground'], {
      cwd: folder,
      env: environmentOf(folder),
    });
    const said = ended(daemon);
    const file = join(run, 'ledger.json');
    await Promise.race([
      appears(run, file),
      said.then(({ stderr }) => Promise.reject(new Error(`the daemon has ended: ${stderr}`))),
    ]);
    const served = JSON.parse(readFileSync(file, 'utf8')) as ServedAt;
    return new PageHome(folder, daemon, served);
  }

  get url(): string {
    return this.#served.url;
  }

  /** Records runs; committed when it resolves. */
  async record(...runs: readonly RecordedRun[]): Promise<void> {
    for (const { runId, lines } of runs) {
      const target = `${this.url}${API_ENDPOINTS.ingest.path}?producer=${runId}-${++this.#posted}&seq=0`;
      const headers = {
        authorization: `Bearer ${this.#served.token}`,
        'content-type': 'application/x-ndjson',
      };
      const body = lines.splice(0).join('\n');
      const answer = await fetch(target, { method: 'POST', headers, body });
      const taken = await answer.text();
      if (!answer.ok || !taken.includes('"rejected":0')) throw new Error(`not taken: ${taken}`);
    }
  }

  #posted = 0;

  async loginLink(role: LedgerRole = 'owner'): Promise<string> {
    const answer = await fetch(`${this.url}${API_ENDPOINTS.loginLink.path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${this.#served.token}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ role }),
    });
    if (!answer.ok) throw new Error(`no link: ${await answer.text()}`);
    const { path } = (await answer.json()) as ApiLoginLink;
    return this.url + path;
  }

  /** Logs in and opens a view: `live`, `runs/RUN`. */
  async open(page: Page, view: string, role: LedgerRole = 'owner'): Promise<void> {
    await page.goto(await this.loginLink(role));
    await page.getByRole('navigation', { name: 'Views' }).waitFor();
    await page.goto(`${this.url}/${view}`);
    await page.getByRole('navigation', { name: 'Views' }).waitFor();
  }

  async stop(): Promise<void> {
    const gone = new Promise((resolve) => this.#daemon.once('close', resolve));
    if (this.#daemon.exitCode === null && this.#daemon.kill('SIGTERM')) await gone;
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function environmentOf(folder: string) {
  return { HOME: folder, SUB_HOME: join(folder, '.subluminal') };
}

async function appears(folder: string, file: string): Promise<void> {
  const watcher = watch(folder);
  try {
    if (existsSync(file)) return;
    await new Promise<void>((resolve) => {
      watcher.on('change', () => {
        if (existsSync(file)) resolve();
      });
    });
  } finally {
    watcher.close();
  }
}
