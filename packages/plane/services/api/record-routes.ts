// What is known about one call, and what looks after the ledger itself.
import { API_ENDPOINTS } from '@subluminal/contracts';
import { type ApiApp, get, post } from './routes.ts';
import type { Workbench } from './workbench.ts';
import { workbenchAnswer } from './workbench-routes.ts';

export function addRecords(app: ApiApp, load: () => Promise<Workbench>): void {
  const answer = (work: (workbench: Workbench) => Promise<object>) => workbenchAnswer(load, work);
  const { record, ledger, verify, prune } = API_ENDPOINTS;
  get(app, record, (_, { run_id = '', call_id = '' }) =>
    answer(({ records }) => records.call(run_id, call_id)),
  );
  get(app, ledger, () => answer(({ records }) => records.ledger()));
  post(app, verify, (input) => answer(({ records }) => records.verify(input)));
  post(app, prune, (input) => answer(({ records }) => records.prune(input)));
}
