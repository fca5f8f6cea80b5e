// A way to reach a person. Several processes may run the same channel over the same queue: claims
// keep them from asking twice.
import type { Desk } from '../../stores/approvals/desk.ts';
import { Teller, type Telling } from './teller.ts';

export interface RunningChannel {
  /** Resolves when nothing of it is under way any more. */
  stop(): Promise<void>;
}

export interface Channel<C> {
  readonly name: string;
  start(desk: Desk, config: C): RunningChannel;
}

/** Tells of each request that waits, once, and of its end. */
export function tellEach(desk: Desk, name: string, telling: Telling): RunningChannel {
  const teller = new Teller(desk, name, telling);
  teller.begin();
  return teller;
}
