// Verifies the ledger for the API, once at a time, by `sub ledger verify` in a process of its own: it reads everything,
// and the daemon must not wait for that.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import {
  type ApiVerify,
  type ApiVerifyJob,
  type ApiVerifyReport,
  type Failure,
  failure,
  isFailure,
  isObject,
  parseVerifyReport,
  tableFailure,
} from '@subluminal/contracts';
import { launcher, type WorkbenchHost } from '@subluminal/plane/daemon';
import { parseJson } from '@subluminal/plane/os';
import { readProgress } from '../ledger/verify-text.ts';

/** At most 100 findings, each a sentence. */
const REPORT_LENGTH_MAX = 4_194_304;
const TIMEOUT_MS = 3_600_000;
const FAILED_FIX = 'Run `sub ledger verify` to see more.';

export class VerifyJobs {
  readonly #host: WorkbenchHost;
  #last: ApiVerifyJob | null = null;

  constructor(host: WorkbenchHost) {
    this.#host = host;
  }

  get last(): ApiVerifyJob | null {
    return this.#last;
  }

  async start({ quick = false }: ApiVerify): Promise<ApiVerifyJob | Failure> {
    if (this.#last?.state === 'running') return tableFailure('SUB_API_BUSY', 'A verify runs.');
    const sub = launcher();
    if (sub === undefined) {
      return failure('SUB_INTERNAL', 'The command `sub` was not found.', FAILED_FIX);
    }
    const { lastSeq: total } = this.#host.ledger;
    const begun = { started_at_ms: Date.now(), ended_at_ms: null, error: null, report: null };
    const job: ApiVerifyJob = { state: 'running', ...begun, quick, checked: 0, total };
    this.#last = job;
    void this.#run(sub, job);
    return job;
  }

  async #run(sub: string, job: ApiVerifyJob): Promise<void> {
    const onProgress = (checked: number) => {
      this.#last = { ...job, checked: Math.min(checked, job.total) };
    };
    const { env, closing } = this.#host;
    const ended = await verified({ sub, env, closing, quick: job.quick, onProgress }).catch(
      (cause: unknown) => {
        this.#host.log(`the ledger could not be verified: ${String(cause)}`);
        return failure('SUB_INTERNAL', 'The ledger could not be verified.', FAILED_FIX);
      },
    );
    const end = { ...job, checked: this.#last?.checked ?? 0, ended_at_ms: Date.now() };
    if (isFailure(ended)) {
      const { code, message, fix } = ended;
      this.#last = { ...end, state: 'failed', error: { code, message, fix } };
    } else this.#last = { ...end, state: 'done', checked: job.total, report: ended };
  }
}

interface VerifyProcess {
  readonly sub: string;
  readonly env: WorkbenchHost['env'];
  readonly closing: AbortSignal;
  readonly quick: boolean;
  readonly onProgress: (checked: number) => void;
}

async function verified(options: VerifyProcess): Promise<ApiVerifyReport | Failure> {
  const { sub, env, closing, quick, onProgress } = options;
  const args = [sub, 'ledger', 'verify', '--json', '--progress', ...(quick ? ['--quick'] : [])];
  const child = spawn(process.execPath, args, {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: TIMEOUT_MS,
    signal: closing,
    // It has nothing to put in order.
    killSignal: 'SIGKILL',
  });
  const lines = createInterface({ input: child.stderr });
  lines.on('line', (line) => {
    const [checked] = readProgress(line) ?? [];
    if (checked !== undefined) onProgress(checked);
  });
  const [text] = await Promise.all([textOf(child.stdout), once(child, 'close')]);
  const document = parseJson(text);
  const report = parseVerifyReport(document);
  if (report.ok) return report.value;
  const error = isObject(document) ? document['error'] : undefined;
  const message = isObject(error) ? error['message'] : undefined;
  const why = typeof message === 'string' ? message : 'The ledger could not be verified.';
  return failure('SUB_LEDGER_IO', why, FAILED_FIX);
}

async function textOf(output: Readable): Promise<string> {
  let text = '';
  output.setEncoding('utf8');
  for await (const part of output) if (text.length < REPORT_LENGTH_MAX) text += String(part);
  return text;
}
