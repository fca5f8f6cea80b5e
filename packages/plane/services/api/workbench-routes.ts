// The endpoints that the workbench answers. What takes long runs once at a time, by its kind.
import { API_ENDPOINTS, catchFailure, type Failure, isFailure } from '@subluminal/contracts';
import type { ApiAnswer } from './http-answer.ts';
import { type HttpFailure, httpFailure, isHttpFailure } from './http-failure.ts';
import { type ApiApp, type AppContext, get, post } from './routes.ts';
import type { Workbench } from './workbench.ts';

type LoadWorkbench = () => Promise<Workbench>;

/** Policies: looked at, tried and saved. */
export function addPolicy(app: ApiApp, load: LoadWorkbench): void {
  const jobs = new JobSlots();
  const { policyActive, policyLint, policyTest, policyDiff } = API_ENDPOINTS;
  const { policyReplay, policyExplain, policySuggest, policySave } = API_ENDPOINTS;
  const answer = (work: (workbench: Workbench) => Promise<object>) => workbenchAnswer(load, work);
  const job = (kind: string, work: (workbench: Workbench) => Promise<object>) =>
    jobs.run(kind, () => answer(work));
  get(app, policyActive, (query) => answer(({ policy }) => policy.active(query)));
  post(app, policyLint, (input) => answer(({ policy }) => policy.lint(input)));
  post(app, policyDiff, (input) => answer(({ policy }) => policy.diff(input)));
  post(app, policySave, (input) => job('save', ({ policy }) => policy.save(input)));
  post(app, policyTest, (input, _, context) =>
    job('test', ({ policy }) => policy.test(input, signalOf(context))),
  );
  post(app, policyReplay, (input, _, context) =>
    job('replay', ({ policy }) => policy.replay(input, signalOf(context))),
  );
  post(app, policyExplain, (input, _, context) =>
    job('explain', ({ policy }) => policy.explain(input, signalOf(context))),
  );
  post(app, policySuggest, (input, _, context) =>
    job('suggest', ({ policy }) => policy.suggest(input, signalOf(context))),
  );
}

/** Aborted when the client has gone. */
function signalOf(context: AppContext): AbortSignal {
  return context.req.raw.signal;
}

/** Loads the workbench and answers what it gives, a failure with its status. */
export async function workbenchAnswer(
  load: LoadWorkbench,
  work: (workbench: Workbench) => Promise<object>,
): Promise<ApiAnswer> {
  const result = await catchFailure(async () => work(await load()));
  return isFailure(result) && !isHttpFailure(result) ? workbenchFailure(result) : result;
}

/** Failures that are not the fault of the request. */
const STATUSES: { readonly [code: string]: HttpFailure['status'] } = {
  SUB_API_NOT_FOUND: 404,
  SUB_API_BUSY: 503,
  SUB_HINT_UNKNOWN: 404,
  SUB_HINT_PROMOTE: 409,
  SUB_PINS_BUSY: 503,
  SUB_PINS_CHANGED: 409,
  SUB_PINS_UNREADABLE: 500,
  SUB_SERVER_LOOK: 409,
  SUB_SERVER_UNKNOWN: 404,
  SUB_LEDGER_BUSY: 503,
  SUB_POLICY_STALE: 409,
  SUB_LEDGER_QUERY: 400,
  SUB_FILE_WRITE: 500,
  SUB_INTERNAL: 500,
};

function workbenchFailure({ kind, code, message, fix }: Failure): HttpFailure {
  const status = STATUSES[code] ?? (code.startsWith('SUB_LEDGER_') ? 500 : 400);
  return { kind, code, message, fix, status };
}

const RETRY = { 'retry-after': '1' };

/** One piece of long work of each kind at a time. */
export class JobSlots {
  readonly #running = new Set<string>();

  async run(kind: string, work: () => Promise<ApiAnswer>): Promise<ApiAnswer> {
    if (this.#running.has(kind)) {
      const detail = `Another request of this kind (${kind}) is being worked on.`;
      return { ...httpFailure(503, 'SUB_API_BUSY', detail), headers: RETRY };
    }
    this.#running.add(kind);
    try {
      return await work();
    } finally {
      this.#running.delete(kind);
    }
  }
}
