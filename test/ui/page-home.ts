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
  #daemon: ChildProcess | undefined;
  #served: ServedAt = { url: '', token: '' };

  private constructor(folder: string) {
    this.folder = folder;
    this.env = environmentOf(folder);
  }

  /** `prepare` may put files into the home before the daemon starts. */
  static async start(prepare: (folder: string) => void = () => undefined): Promise<PageHome> {
    ensureBuilt();
    const folder = mkdtempSync(join(tmpdir(), 'sub-page-'));
    mkdirSync(join(folder, '.subluminal', 'run'), { recursive: true, mode: 0o700 });
    prepare(folder);
    const home = new PageHome(folder);
    await home.startDaemon();
    return home;
  }

  async startDaemon(): Promise<void> {
    const run = join(this.folder, '.subluminal', 'run');
    const daemon = startSub(['ledgerd', '--foreground'], { cwd: this.folder, env: this.env });
    this.#daemon = daemon;
    const said = ended(daemon);
    const file = join(run, 'ledger.json');
    await Promise.race([
      appears(run, file),
      said.then(({ stderr }) => Promise.reject(new Error(`the daemon has ended: ${stderr}`))),
    ]);
    this.#served = JSON.parse(readFileSync(file, 'utf8')) as ServedAt;
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

  async stopDaemon(): Promise<void> {
    const daemon = this.#daemon;
    const gone = new Promise((resolve) => daemon?.once('close', resolve));
    if (daemon?.exitCode === null && daemon.kill('SIGTERM')) await gone;
  }

  async stop(): Promise<void> {
    await this.stopDaemon();
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
