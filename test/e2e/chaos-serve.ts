// `sub serve` as a process that is killed, drained and started again, behind a front that stays where it is.
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endBearing, noneBearing } from '../contract/proc.ts';
import { type Ended, ended, runSub, startSub } from './sub.ts';
import { TcpFront } from './tcp-front.ts';

const LISTENING = /It listens on http:\/\/127\.0\.0\.1:(\d+)/;
const SERVER = 'shaky';

export class ChaosServe {
  readonly folder = mkdtempSync(join(tmpdir(), 'sub-serve-chaos-'));
  readonly front: TcpFront;
  /** Resolves when it takes requests, for now or again. */
  ready: Promise<void> = Promise.resolve();
  #child: ChildProcess | undefined;
  #over: Promise<Ended> | undefined;

  private constructor(front: TcpFront) {
    this.front = front;
  }

  /** Serves one server, as `entry` of its folder says. */
  static async open(entry: (folder: string) => object): Promise<ChaosServe> {
    const serve = new ChaosServe(await TcpFront.open());
    const config = {
      listen: '127.0.0.1:0',
      auth: { none: true },
      allowed_hosts: [`127.0.0.1:${serve.front.port}`],
      servers: { [SERVER]: entry(serve.folder) },
    };
    writeFileSync(join(serve.folder, 'serve.yaml'), JSON.stringify(config), { mode: 0o600 });
    await serve.start();
    return serve;
  }

  get path(): string {
    return `/mcp/${SERVER}`;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  start(): Promise<void> {
    this.ready = this.#start();
    return this.ready;
  }

  async #start(): Promise<void> {
    const child = startSub(['serve', '--config', 'serve.yaml'], this.#place);
    this.#child = child;
    this.#over = ended(child);
    const port = await new Promise<number>((resolve, reject) => {
      let log = '';
      child.stderr?.on('data', (text: string) => {
        log += text;
        const [, found] = LISTENING.exec(log) ?? [];
        if (found !== undefined) resolve(Number(found));
      });
      child.once('exit', () => reject(new Error(log)));
    });
    this.front.leadTo(port);
  }

  /** Ends it by a signal, and starts it again; gives back how it ended. */
  async restart(signal: 'SIGKILL' | 'SIGTERM'): Promise<Ended> {
    const stopped = this.stop(signal);
    this.ready = stopped.then(() => this.#start());
    await this.ready;
    return stopped;
  }

  /** A process that drains still answers those that have a connection. */
  async stop(signal: 'SIGKILL' | 'SIGTERM'): Promise<Ended> {
    this.#child?.kill(signal);
    const end = await this.#over;
    if (end === undefined) throw new Error('it was not started');
    this.front.leadTo(undefined);
    return end;
  }

  sub(...args: readonly string[]): Promise<Ended> {
    return runSub(args, this.#place);
  }

  async close(): Promise<void> {
    await this.front.close();
    endBearing([this.folder]);
    await noneBearing([this.folder]);
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  get #place() {
    const env = { HOME: this.folder, SUB_HOME: join(this.folder, 'home'), SUB_RUN_ID: '' };
    return { cwd: this.folder, env };
  }
}
