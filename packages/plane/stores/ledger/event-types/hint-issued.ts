import { addHint } from '../store/projection.ts';
import type { EventMember } from './types.ts';

/** No line in `sub tail`: the decision brings the hint already. */
export const hintIssued: EventMember<'hint_issued'> = {
  project(into, { run_id, call, hint }, { atMs }) {
    addHint(into, { run_id, call_id: call.call_id }, { ...hint, atMs });
  },
};
