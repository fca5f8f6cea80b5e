// What is known about one call, and what looks after the ledger itself.
import { API_ENDPOINTS } from '@subluminal/contracts';
import { type ApiApp, get } from './routes.ts';
import type { Workbench } from './workbench.ts';
import { workbenchAnswer } from './workbench-routes.ts';

export function addRecords(app: ApiApp, load: () => Promise<Workbench>): void {
  const answer = (work: (workbench: Workbench) => Promise<object>) => workbenchAnswer(load, work);
  const { record } = API_ENDPOINTS;
  get(app, record, (_, { run_id = '', call_id = '' }) =>
    answer(({ records }) => records.call(run_id, call_id)),
  );
}
